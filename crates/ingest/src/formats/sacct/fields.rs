//! The fields of a line, also where free text holds the delimiter.
//!
//! `sacct` escapes nothing. A name of a job may hold the delimiter, so that the line has too many fields. Only columns of free text can
//! have swallowed it. The other columns have a shape: times, counts, states. If one way alone fits all shapes, it is taken.

use super::header::Header;
use super::id::Id;
use super::state::State;
use super::values::{duration, whole};

/// More fields too many than this are damage.
const MOST_EXTRA: usize = 64;

/// What a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Anything, also the delimiter.
    Free,
    /// Anything without the delimiter.
    Plain,
    /// An id of a job or a step.
    Id,
    State,
    /// A time, or that there is none.
    Time,
    /// A duration, or nothing.
    Duration,
    /// A whole number, or nothing.
    Count,
    /// A whole number.
    NeededCount,
}

impl Shape {
    fn of(name: &str) -> Self {
        match name {
            "JobName" | "Comment" | "AdminComment" | "SystemComment" | "SubmitLine" | "WorkDir" | "Container"
            | "Extra" | "StdOut" | "StdErr" | "StdIn" => Self::Free,
            "JobID" | "JobIDRaw" => Self::Id,
            "State" => Self::State,
            "Submit" | "Eligible" | "Start" | "End" => Self::Time,
            "Elapsed" | "Suspended" | "CPUTime" | "SystemCPU" | "UserCPU" | "TotalCPU" | "Reserved" | "Planned"
            | "ResvCPU" | "PlannedCPU" => Self::Duration,
            "AllocCPUS" | "ReqCPUS" | "NCPUS" | "ElapsedRaw" => Self::NeededCount,
            "AllocNodes" | "NNodes" | "ReqNodes" | "UID" | "GID" | "AssocID" | "QOSRAW" | "Priority" | "DBIndex"
            | "CPUTimeRAW" | "ResvCPURAW" | "PlannedCPURAW" => Self::Count,
            _ => Self::Plain,
        }
    }

    fn fits(self, text: &str) -> bool {
        match self {
            Self::Free | Self::Plain => true,
            Self::Id => {
                let id = text.split('.').next().unwrap_or_default();
                Id::parse(id).is_some()
            }
            Self::State => State::known(text).is_some(),
            Self::Time => is_time(text),
            Self::Duration => text.is_empty() || text == "INVALID" || duration(text).is_some(),
            Self::Count => text.is_empty() || whole(text).is_some(),
            Self::NeededCount => whole(text).is_some(),
        }
    }
}

/// Whether it looks like a time, in any form that has digits, or like that of a job that has none.
fn is_time(text: &str) -> bool {
    matches!(text, "Unknown" | "None" | "N/A") || text.starts_with(|first: char| first.is_ascii_digit())
}

/// The part of a line that a field is.
pub(super) type Span = (usize, usize);

/// Splits lines.
pub(super) struct Fields {
    shapes: Vec<Shape>,
    between: Vec<u8>,
    is_closed: bool,
    /// The fields of the last line.
    spans: Vec<Span>,
}

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// It has a field for each column.
    Even,
    /// It has too few.
    Short,
    /// It had too many, and one way to join them.
    Joined,
    /// It has too many, and none or several ways to join them.
    Long,
}

impl Fields {
    pub(super) fn of(header: &Header) -> Self {
        Self {
            shapes: header.names.iter().map(|name| Shape::of(name)).collect(),
            between: header.between.clone().into_bytes(),
            is_closed: header.is_closed,
            spans: Vec::new(),
        }
    }

    /// Whether a line surely is a step, whose id is in this column: it has a field for each column. Most lines of a list are steps, so
    /// this is quicker than to split them. A delimiter of several bytes is too rare for that.
    pub(super) fn is_step(&self, line: &str, column: usize) -> bool {
        let [byte] = self.between[..] else { return false };
        let line = line.as_bytes();
        let is_open = !self.is_closed || !line.ends_with(&self.between);
        let mut ends = memchr::memchr_iter(byte, line);
        if ends.clone().count() + usize::from(is_open) != self.shapes.len() {
            return false;
        }
        let from = column.checked_sub(1).and_then(|before| ends.nth(before)).map_or(0, |end| end + 1);
        let to = ends.next().unwrap_or(line.len());
        line.get(from..to).is_some_and(|id| id.contains(&b'.'))
    }

    /// Splits a line into the fields of the columns.
    pub(super) fn split(&mut self, line: &str) -> Split {
        self.spans.clear();
        let mut from = 0;
        let mut take = |at: usize| {
            self.spans.push((from, at));
            from = at + self.between.len();
        };
        match self.between[..] {
            [byte] => memchr::memchr_iter(byte, line.as_bytes()).for_each(&mut take),
            _ => memchr::memmem::find_iter(line.as_bytes(), &self.between).for_each(&mut take),
        }
        // A closed line ends with the delimiter.
        if !self.is_closed || from < line.len() {
            self.spans.push((from, line.len()));
        }
        match self.spans.len().cmp(&self.shapes.len()) {
            std::cmp::Ordering::Less => Split::Short,
            std::cmp::Ordering::Equal => Split::Even,
            std::cmp::Ordering::Greater => match self.join(line) {
                Some(spans) => {
                    self.spans = spans;
                    Split::Joined
                }
                None => Split::Long,
            },
        }
    }

    /// The text of a column in the line that was split last.
    pub(super) fn text<'l>(&self, line: &'l str, column: usize) -> &'l str {
        self.spans.get(column).and_then(|&(from, to)| line.get(from..to)).unwrap_or_default()
    }

    /// Whether each field has the shape of its column.
    pub(super) fn fit(&self, line: &str) -> bool {
        self.shapes
            .iter()
            .zip(&self.spans)
            .all(|(shape, &(from, to))| line.get(from..to).is_some_and(|t| shape.fits(t)))
    }

    /// The fields after those of free text are joined, if there is one way alone.
    fn join(&self, line: &str) -> Option<Vec<Span>> {
        let extra = self.spans.len() - self.shapes.len();
        if extra > MOST_EXTRA {
            return None;
        }
        let ways = self.ways(line, extra);
        let mut left = extra;
        let mut joined = Vec::with_capacity(self.shapes.len());
        for (column, shape) in self.shapes.iter().enumerate() {
            let more = if *shape == Shape::Free { left } else { 0 };
            let rest = ways.get(column + 1)?;
            let taken = (0..=more).filter(|taken| rest.get(left - taken) != Some(&0)).collect::<Vec<_>>();
            let [taken] = taken[..] else { return None };
            let first = column + (extra - left);
            let (from, _) = self.spans.get(first)?;
            let (_, to) = self.spans.get(first + taken)?;
            // The shapes of what comes before were checked by the ways of the columns before.
            (ways.get(column)?.get(left) == Some(&1)).then_some(())?;
            joined.push((*from, *to));
            left -= taken;
        }
        (left == 0).then_some(joined)
    }

    /// In how many ways (none, one, 2 for several) the columns from each on fit what is left of the line with so many fields too many.
    fn ways(&self, line: &str, extra: usize) -> Vec<Vec<u8>> {
        let columns = self.shapes.len();
        let mut ways = vec![vec![0_u8; extra + 1]; columns + 1];
        if let Some(done) = ways.last_mut().and_then(|last| last.first_mut()) {
            *done = 1;
        }
        for column in (0..columns).rev() {
            for left in 0..=extra {
                let found = self.ways_of(line, column, (extra, left), &ways);
                if let Some(own) = ways.get_mut(column).and_then(|own| own.get_mut(left)) {
                    *own = found;
                }
            }
        }
        ways
    }

    fn ways_of(&self, line: &str, column: usize, (extra, left): (usize, usize), ways: &[Vec<u8>]) -> u8 {
        let Some(shape) = self.shapes.get(column) else { return 0 };
        let after = |left: usize| ways.get(column + 1).and_then(|own| own.get(left)).copied().unwrap_or(0);
        if *shape == Shape::Free {
            return (0..=left).fold(0_u8, |sum, taken| sum.saturating_add(after(left - taken))).min(2);
        }
        let field = self.spans.get(column + extra - left).and_then(|&(from, to)| line.get(from..to));
        if field.is_some_and(|text| shape.fits(text)) { after(left) } else { 0 }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn split(header: &str, line: &str) -> (Split, Vec<String>) {
        let header = Header::parse(header).unwrap();
        let mut fields = Fields::of(&header);
        let split = fields.split(line);
        let texts = (0..header.names.len()).map(|column| fields.text(line, column).to_owned()).collect();
        (split, texts)
    }

    #[test]
    fn free_text_may_hold_the_delimiter() {
        let header = "JobID|JobName|State|NCPUS|SubmitLine|Elapsed";
        let (found, texts) = split(header, "1|a|b|COMPLETED|4|sbatch -J a|b|00:00:01");
        assert_eq!(found, Split::Joined);
        assert_eq!(texts, ["1", "a|b", "COMPLETED", "4", "sbatch -J a|b", "00:00:01"]);
        assert_eq!(split(header, "1|a|COMPLETED|4|sbatch|00:00:01").0, Split::Even);
        assert_eq!(split(header, "1|a|COMPLETED").0, Split::Short);
    }

    #[test]
    fn more_ways_than_one_are_none() {
        let header = "JobID|JobName|WorkDir|State|NCPUS";
        assert_eq!(split(header, "1|a|b|c|COMPLETED|4").0, Split::Long, "the name or the folder");
        assert_eq!(split("JobID|JobName|State|NCPUS", "1|a|COMPLETED|COMPLETED|x").0, Split::Long, "no way");
        let state = split("JobID|JobName|State|NCPUS", "1|a|COMPLETED|COMPLETED|4");
        assert_eq!((state.0, state.1[1].as_str()), (Split::Joined, "a|COMPLETED"));
    }

    #[test]
    fn closed_lines_end_with_the_delimiter() {
        let (found, texts) = split("JobID|JobName|State|", "1|a|COMPLETED|");
        assert_eq!((found, texts[2].as_str()), (Split::Even, "COMPLETED"));
        assert_eq!(split("JobID|JobName|State|", "1|a|b|COMPLETED|").1[1], "a|b");
    }
}
