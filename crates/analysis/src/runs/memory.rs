//! The memory that runs take once they are opened, estimated from the lengths of their tables.
//!
//! A Parquet file of a few megabytes may hold many millions of rows. So their number is read first, and what does not fit is refused
//! before anything is loaded.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use resched_tables::limits::Limit;
use resched_tables::model::{AttemptRow, DecisionRow, JobRow, ResourceRow};
use resched_tables::store::columns::Row;
use resched_tables::store::{Inventory, read_table};

use crate::metrics::named::{DEEPEST, LONGEST, UNITS};
use crate::{Error, Origin};

/// What a row of each table takes while a report is made of it (bytes), with texts of usual length.
const OF_JOB: u64 = 1_000;
const OF_ATTEMPT: u64 = 150;
const OF_OTHER: u64 = 200;

/// The most memory that the runs of a report may take, unless you allow more (bytes).
pub const MOST_MEMORY: u64 = 3_000_000_000;

/// The limits of this crate.
pub const LIMITS: &[Limit] = &[
    Limit::bytes(
        "memory of the tables of a report",
        MOST_MEMORY,
        "The request is refused before the tables are read. The error names the amount needed, estimated from the number of rows.",
    )
    .set_by("--most-memory"),
    Limit::bytes("expression of a metric", LONGEST as u64, "The request is refused."),
    Limit::number("nested parentheses in such an expression", DEEPEST as u64, "The request is refused."),
];

/// An amount of memory, written with its unit, such as `3GB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory(pub u64);

impl Default for Memory {
    fn default() -> Self {
        Self(MOST_MEMORY)
    }
}

/// In units of 100 MB, rounded up, so that an amount that is printed suffices if you give it.
impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.0.div_ceil(100_000_000);
        match tenths % 10 {
            0 => write!(f, "{}GB", tenths / 10),
            tenth => write!(f, "{}.{tenth}GB", tenths / 10),
        }
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected an amount of memory with its unit, such as 8GB, found `{text}`");
        let end = text.find(|letter: char| letter.is_alphabetic()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at_checked(end).ok_or_else(wrong)?;
        let unit = UNITS.iter().find(|(name, _, base)| *name == unit && *base == "bytes").ok_or_else(wrong)?;
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        // The conversion saturates.
        Some(number * unit.1).filter(|bytes| *bytes >= 1.0).map(|bytes| Self(bytes as u64)).ok_or_else(wrong)
    }
}

impl Memory {
    /// What these runs and traces take together.
    ///
    /// # Errors
    /// As [`crate::Run::open`].
    pub fn of(dirs: &[PathBuf]) -> Result<Self, Error> {
        dirs.iter().try_fold(Self(0), |Self(all), dir| Ok(Self(all.saturating_add(of_run(dir)?))))
    }

    /// Checks that these runs and traces do not take more than this.
    ///
    /// # Errors
    /// [`Error::Trace`], a wrong request, if they take more; as [`crate::Run::open`].
    pub fn check(self, dirs: &[PathBuf]) -> Result<(), Error> {
        self.check_needed(Self::of(dirs)?, dirs)
    }

    fn check_needed(self, needed: Self, dirs: &[PathBuf]) -> Result<(), Error> {
        if needed.0 <= self.0 {
            return Ok(());
        }
        let named = dirs.first().map_or(String::new(), |dir| dir.display().to_string());
        let others = if dirs.len() > 1 { format!(" and {} others", dirs.len() - 1) } else { String::new() };
        Err(Error::Trace(resched_tables::Error::Request(format!(
            "{named}{others}: expected tables that take at most {self} of memory, found some that take about {needed}; name fewer runs, cut \
             them with `resched scale`, or allow it with --most-memory {needed}"
        ))))
    }
}

fn of_run(dir: &Path) -> Result<u64, Error> {
    let origin = Origin::of(dir)?;
    let files = origin.files();
    let other = |table: &str| origin.rows().contains_key(table);
    let mut bytes = length::<JobRow>(dir, files)?.saturating_mul(OF_JOB);
    bytes = bytes.saturating_add(length::<AttemptRow>(dir, files)?.saturating_mul(OF_ATTEMPT));
    if other(DecisionRow::TABLE) {
        bytes = bytes.saturating_add(length::<DecisionRow>(dir, files)?.saturating_mul(OF_OTHER));
    }
    if other(ResourceRow::TABLE) {
        bytes = bytes.saturating_add(length::<ResourceRow>(dir, files)?.saturating_mul(OF_OTHER));
    }
    Ok(bytes)
}

/// The rows of a table, by its own file: the marker file may be damaged.
fn length<R: Row>(dir: &Path, files: &Inventory) -> Result<u64, Error> {
    Ok(read_table::<R>(dir, files)?.rows())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn tables_at_the_limit_are_read_and_larger_ones_name_what_suffices() {
        let dirs = ["R/fifo", "R/fair"].map(PathBuf::from);
        let limit = Memory::default();
        assert_eq!(limit, Memory(MOST_MEMORY));
        assert!(limit.check_needed(Memory(MOST_MEMORY), &dirs).is_ok());
        let error = limit.check_needed(Memory(MOST_MEMORY + 1), &dirs).unwrap_err();
        assert!(matches!(&error, Error::Trace(error) if error.is_request()));
        let problem = error.to_string();
        assert!(problem.contains("R/fifo and 1 others: expected tables that take at most 3GB of memory"), "{problem}");
        assert!(problem.contains("about 3.1GB") && problem.ends_with("--most-memory 3.1GB"), "{problem}");
    }

    #[test]
    fn amounts_are_read_and_what_is_printed_suffices() {
        for (text, bytes) in [("3GB", 3_000_000_000), ("1.5 GB", 1_500_000_000), ("2KiB", 2048), ("7 B", 7)] {
            assert_eq!(text.parse(), Ok(Memory(bytes)));
        }
        for text in ["", "3", "GB", "-1GB", "0GB", "3 s", "NaNGB", "3XB", "é"] {
            assert!(text.parse::<Memory>().unwrap_err().contains("8GB"), "{text}");
        }
        assert_eq!(Memory(3_000_000_000).to_string(), "3GB");
        for bytes in [1, 99_999_999, 100_000_001, 21_345_678_901] {
            assert!(Memory(bytes).to_string().parse::<Memory>().unwrap().0 >= bytes);
        }
    }
}
