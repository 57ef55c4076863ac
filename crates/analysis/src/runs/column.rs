//! Columns of values of jobs that grow as far as they are needed.

/// A value for each job. Jobs beyond its end have the default.
#[derive(Debug, Clone)]
pub(crate) struct Column<T>(Vec<T>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + Default> Column<T> {
    /// Changes the value of a job.
    #[inline]
    pub(crate) fn change(&mut self, job: u32, change: impl FnOnce(&mut T)) {
        let place = job as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, T::default());
        }
        if let Some(value) = self.0.get_mut(place) {
            change(value);
        }
    }

    /// The value of a job.
    #[inline]
    pub(crate) fn get(&self, job: u32) -> T {
        self.0.get(job as usize).copied().unwrap_or_default()
    }
}

/// The earliest of some times; of none, it is later than all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Earliest(i64);

impl Default for Earliest {
    fn default() -> Self {
        Self(i64::MAX)
    }
}

impl Earliest {
    #[inline]
    pub(crate) fn note(&mut self, time: i64) {
        self.0 = self.0.min(time);
    }

    /// The time; `None` of none.
    pub(crate) fn time(self) -> Option<i64> {
        (self.0 != i64::MAX).then_some(self.0)
    }
}

/// The latest, or the longest, of some times; of none, it is earlier than all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latest(i64);

impl Default for Latest {
    fn default() -> Self {
        Self(i64::MIN)
    }
}

impl Latest {
    #[inline]
    pub(crate) fn note(&mut self, time: i64) {
        self.0 = self.0.max(time);
    }

    /// The time; `None` of none.
    pub(crate) fn time(self) -> Option<i64> {
        (self.0 != i64::MIN).then_some(self.0)
    }
}
