//! The jobs of a trace, counted by what decides where a configuration puts them.

use std::collections::BTreeMap;

/// What decides the queue or pool of a job, and the limits that hold for it. A text is empty if the trace does not say it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Submitter<'a> {
    /// The queue or partition.
    pub queue: &'a str,
    /// The user.
    pub user: &'a str,
    /// The user's group, or the account.
    pub group: &'a str,
    /// The quality of service.
    pub qos: &'a str,
}

/// The jobs of a trace, counted by what decides their queue or pool, and their limits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitters(BTreeMap<[String; 4], u64>);

/// One for each job.
impl<'a> FromIterator<Submitter<'a>> for Submitters {
    fn from_iter<I: IntoIterator<Item = Submitter<'a>>>(jobs: I) -> Self {
        let mut counted = Self::default();
        jobs.into_iter().for_each(|job| counted.add(job));
        counted
    }
}

/// Of pairs of a queue and a user, one for each job.
impl<'a> FromIterator<(&'a str, &'a str)> for Submitters {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(jobs: I) -> Self {
        jobs.into_iter().map(|(queue, user)| Submitter { queue, user, ..Submitter::default() }).collect()
    }
}

impl Submitters {
    /// Counts a job.
    pub fn add(&mut self, Submitter { queue, user, group, qos }: Submitter<'_>) {
        *self.0.entry([queue, user, group, qos].map(str::to_owned)).or_default() += 1;
    }

    /// The jobs by all of it.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Submitter<'_>, u64)> {
        self.0.iter().map(|([queue, user, group, qos], jobs)| (Submitter { queue, user, group, qos }, *jobs))
    }

    /// The jobs by queue and user, of which a pair may come several times.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = ((&str, &str), u64)> {
        self.all().map(|(job, jobs)| ((job.queue, job.user), jobs))
    }

    /// The number of jobs of each queue, of those that name one.
    pub(crate) fn queues(&self) -> BTreeMap<&str, u64> {
        self.by(|queue, _| queue)
    }

    /// The number of jobs of each name that is made of queue and user, of those that have one.
    pub(crate) fn by<'a>(&'a self, name: impl Fn(&'a str, &'a str) -> &'a str) -> BTreeMap<&'a str, u64> {
        let mut all = BTreeMap::new();
        for (Submitter { queue, user, .. }, jobs) in self.all() {
            let name = name(queue, user);
            if !name.is_empty() {
                *all.entry(name).or_default() += jobs;
            }
        }
        all
    }
}
