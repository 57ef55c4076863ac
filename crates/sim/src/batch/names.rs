//! Many short texts in few bytes.

use crate::Error;

/// Many short texts in one.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    pub(super) fn push(&mut self, name: &str) -> Result<(), Error> {
        self.text.push_str(name);
        let end = u32::try_from(self.text.len());
        self.ends.push(
            end.map_err(|_| Error::Config("the ids of jobs or tasks take more than 4 GB; cut the trace".to_owned()))?,
        );
        Ok(())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds one of other texts, which together have room.
    pub(super) fn copy(&mut self, from: &Self, place: usize) {
        self.text.push_str(from.get(place));
        self.ends.push(self.text.len() as u32);
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> &str {
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(place).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }
}
