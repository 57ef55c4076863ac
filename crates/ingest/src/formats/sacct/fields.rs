//! The fields of a line, also where free text holds the delimiter.
//!
//! `sacct` escapes nothing. A name of a job may hold the delimiter, so that the line has too many fields. Only columns of free text can
//! have swallowed it, and `Constraints`, where it means "or". The other columns have a shape: times, counts, states. Of the ways that fit
//! all shapes, the one is taken in which the other columns look most as in the lines before: a user, an account or a partition that is
//! known. If two are as good, the line is ambiguous.

use super::header::Header;
use super::id::Id;
use super::state::State;
use super::values::{duration, whole};
use crate::texts::Texts;

/// More fields too many than this are damage.
const MOST_EXTRA: usize = 64;

/// What a column may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Anything, also the delimiter.
    Free,
    /// A command or a path, also with the delimiter.
    FreeFrom(&'static [&'static str]),
    /// Words of letters, digits and the signs of `Constraints`, also with the delimiter between them.
    FreeWords,
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
    /// What the column of this name may hold.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "JobName" | "Comment" | "AdminComment" | "SystemComment" | "Container" | "Extra" => Self::Free,
            "SubmitLine" => Self::FreeFrom(&["sbatch", "srun", "salloc"]),
            "WorkDir" | "StdOut" | "StdErr" | "StdIn" => Self::FreeFrom(&["/"]),
            "Constraints" | "Reservation" | "WCKey" | "Licenses" => Self::FreeWords,
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

    /// True if it may hold this text.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Free | Self::FreeFrom(_) | Self::FreeWords | Self::Plain => true,
            Self::Id => {
                let id = text.split('.').next().unwrap_or_default();
                Id::parse(id).is_some()
            }
            Self::State => State::known(text).is_some(),
            Self::Time => is_time(text),
            Self::Duration => text.is_empty() || text == "INVALID" || duration(text).is_some(),
            // `DBIndex` of newer versions is larger than any count.
            Self::Count => text.bytes().all(|byte| byte.is_ascii_digit()),
            Self::NeededCount => whole(text).is_some(),
        }
    }
}

impl Shape {
    /// True if it may hold the delimiter.
    fn is_free(self) -> bool {
        matches!(self, Self::Free | Self::FreeFrom(_) | Self::FreeWords)
    }

    /// How much a text of several fields looks like one of this column; `None` if it cannot be one.
    fn score_joined(self, text: &str, between: &str) -> Option<i32> {
        match self {
            Self::FreeWords => text.split(between).all(is_words).then_some(2),
            Self::FreeFrom(starts) => Some(if starts.iter().any(|start| text.starts_with(start)) { 0 } else { -1 }),
            Self::Free => {
                let ends = [text.starts_with(between), text.ends_with(between)];
                Some(-ends.map(i32::from).iter().sum::<i32>())
            }
            _ => None,
        }
    }
}

/// True if it is made of words as a list of features has them: `skylake&ib`, `[rack1*2`, `(a`.
fn is_words(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.&*()[]{}!:,+=@/".contains(&byte);
    !text.is_empty() && text.bytes().all(is_sign)
}

/// True if it looks like a time, in any form that has digits, or like that of a job that has none.
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
    /// The values that plain columns had in the first rows: few columns have many.
    seen: Vec<Texts>,
    /// Rows of which the values were noted.
    learnt: usize,
}

/// So many rows show what stands in the columns.
const MOST_LEARNT: usize = 2_000;

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
            seen: header.names.iter().map(|_| Texts::default()).collect(),
            learnt: 0,
        }
    }

    /// How many columns there are.
    pub(super) fn columns(&self) -> usize {
        self.shapes.len()
    }

    /// The text between two columns.
    pub(super) fn between(&self) -> &str {
        std::str::from_utf8(&self.between).unwrap_or_default()
    }

    /// Notes what stands in the plain columns of a row, the line of which was split last.
    pub(super) fn learn(&mut self, line: &str) {
        if self.learnt >= MOST_LEARNT {
            return;
        }
        self.learnt += 1;
        for ((shape, seen), &(from, to)) in self.shapes.iter().zip(&mut self.seen).zip(&self.spans) {
            if let Some(text) = line.get(from..to).filter(|text| *shape == Shape::Plain && !text.is_empty()) {
                seen.keep(text);
            }
        }
    }

    /// How much the text of a column looks like those of other rows.
    fn score(&self, column: usize, text: &str) -> i32 {
        match (self.shapes.get(column), self.seen.get(column)) {
            (Some(Shape::Plain), Some(seen)) if !text.is_empty() => {
                if seen.find(text).is_some() {
                    2
                } else {
                    -1
                }
            }
            (Some(Shape::FreeFrom(starts)), _) if !text.is_empty() => {
                if starts.iter().any(|start| text.starts_with(start)) { 0 } else { -1 }
            }
            _ => 0,
        }
    }

    /// True if a line surely is a step, whose id is in this column: it has a field for each column. Most lines of a list are steps, so
    /// this is quicker than to split them. A delimiter of several bytes is too rare for that.
    pub(super) fn is_step(&self, line: &str, column: usize) -> bool {
        let [byte] = self.between[..] else { return false };
        let line = line.as_bytes();
        let mut ends = memchr::memchr_iter(byte, line);
        let from = column.checked_sub(1).and_then(|before| ends.nth(before)).map_or(0, |end| end + 1);
        let to = ends.next().unwrap_or(line.len());
        // The id mostly stands at the start, so that little of the row of a job is looked at.
        if !line.get(from..to).is_some_and(|id| id.contains(&b'.')) {
            return false;
        }
        let is_open = !self.is_closed || !line.ends_with(&self.between);
        memchr::memchr_iter(byte, line).count() + usize::from(is_open) == self.shapes.len()
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
            [byte] => for_each_place(byte, line.as_bytes(), &mut take),
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

    /// True if each field has the shape of its column.
    pub(super) fn fit(&self, line: &str) -> bool {
        self.shapes
            .iter()
            .zip(&self.spans)
            .all(|(shape, &(from, to))| line.get(from..to).is_some_and(|t| shape.fits(t)))
    }

    /// The fields after those of free text are joined in the best way, if there is one that is better than all others.
    fn join(&self, line: &str) -> Option<Vec<Span>> {
        let extra = self.spans.len() - self.shapes.len();
        if extra > MOST_EXTRA {
            return None;
        }
        let ways = self.ways(line, extra);
        let mut left = extra;
        let mut joined = Vec::with_capacity(self.shapes.len());
        for column in 0..self.shapes.len() {
            let best = ways.get(column)?.get(left).copied().flatten().filter(|best| best.is_alone)?;
            let first = column + (extra - left);
            let (from, _) = self.spans.get(first)?;
            let (_, to) = self.spans.get(first + best.taken)?;
            joined.push((*from, *to));
            left -= best.taken;
        }
        (left == 0).then_some(joined)
    }

    /// The best way in which the columns from each on fit what is left of the line with so many fields too many.
    fn ways(&self, line: &str, extra: usize) -> Vec<Vec<Option<Way>>> {
        let columns = self.shapes.len();
        let mut ways = vec![vec![None; extra + 1]; columns + 1];
        if let Some(done) = ways.last_mut().and_then(|last| last.first_mut()) {
            *done = Some(Way { score: 0, taken: 0, is_alone: true });
        }
        for column in (0..columns).rev() {
            for left in 0..=extra {
                let found = self.best(line, column, (extra, left), &ways);
                if let Some(way) = ways.get_mut(column).and_then(|way| way.get_mut(left)) {
                    *way = found;
                }
            }
        }
        ways
    }

    fn best(&self, line: &str, column: usize, (extra, left): (usize, usize), ways: &[Vec<Option<Way>>]) -> Option<Way> {
        let shape = self.shapes.get(column)?;
        let first = column + (extra - left);
        let most = if shape.is_free() { left } else { 0 };
        let mut best: Option<Way> = None;
        for taken in 0..=most {
            let Some(rest) = ways.get(column + 1).and_then(|way| way.get(left - taken)).copied().flatten() else {
                continue;
            };
            let (Some(&(from, _)), Some(&(_, to))) = (self.spans.get(first), self.spans.get(first + taken)) else {
                continue;
            };
            let Some(text) = line.get(from..to).filter(|text| shape.fits(text)) else { continue };
            let reached =
                if taken > 0 { shape.score_joined(text, self.between()) } else { Some(self.score(column, text)) };
            let Some(score) = reached else { continue };
            let way = Way { score: score + rest.score, taken, is_alone: rest.is_alone };
            best = Some(match best {
                Some(other) if other.score > way.score => other,
                Some(other) if other.score == way.score => Way { is_alone: false, ..other },
                _ => way,
            });
        }
        best
    }
}

/// Passes on each place at which a byte stands. Fields have few bytes, so eight are looked at in one step, and no search begins anew.
fn for_each_place(byte: u8, line: &[u8], mut see: impl FnMut(usize)) {
    const LOW: u64 = u64::MAX / 0xff * 0x7f;
    let (words, rest) = line.as_chunks::<8>();
    let pattern = u64::from(byte) * (u64::MAX / 0xff);
    for (number, word) in words.iter().enumerate() {
        // The highest bit of each byte that is equal.
        let other = u64::from_le_bytes(*word) ^ pattern;
        let mut found = !(((other & LOW) + LOW) | other | LOW);
        while found > 0 {
            see(number * 8 + found.trailing_zeros() as usize / 8);
            found &= found - 1;
        }
    }
    let from = line.len() - rest.len();
    rest.iter().enumerate().filter(|(_, found)| **found == byte).for_each(|(place, _)| see(from + place));
}

/// A way to join fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    /// How much the columns look as in other rows.
    score: i32,
    /// How many fields are joined to the first of the column.
    taken: usize,
    /// True if no other way is as good.
    is_alone: bool,
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

    /// In `Constraints`, the delimiter means "or".
    #[test]
    fn alternatives_of_features_do_not_move_the_other_columns() {
        let header = "JobID|JobName|User|Account|Partition|Constraints|State|NCPUS|Comment";
        let with = |lines: &[&str], line: &str| {
            let header = Header::parse(header).unwrap();
            let mut fields = Fields::of(&header);
            for line in lines {
                fields.split(line);
                fields.learn(line);
            }
            let split = fields.split(line);
            (split, (0..header.names.len()).map(|column| fields.text(line, column).to_owned()).collect::<Vec<_>>())
        };
        let known = ["1|a|u|g|p|knl|COMPLETED|1|", "2|b|u|g|p||COMPLETED|1|"];
        for lines in [&known[..], &[]] {
            let (found, texts) = with(lines, "71|a|u|g|p|c|knl|COMPLETED|1|");
            assert_eq!((found, texts[1..6].join(" ")), (Split::Joined, "a u g p c|knl".to_owned()));
        }
        let (found, texts) = with(&known, "71|a|x|u|g|p|knl|COMPLETED|1|");
        assert_eq!((found, texts[1..6].join(" ")), (Split::Joined, "a|x u g p knl".to_owned()), "the name has it");
        let (_, texts) = with(&known, "71|a|u|g|p|[rack1|rack2]|COMPLETED|1|x|y");
        assert_eq!((texts[5].as_str(), texts[8].as_str()), ("[rack1|rack2]", "x|y"));
        let all = "Comment|Constraints|ConsumedEnergy|ConsumedEnergyRaw|Container|CPUTime|JobID|State|NCPUS";
        let (found, texts) = split(all, "|cpu-a|cpu-b|0|0||00:00:01|7|COMPLETED|2");
        assert_eq!((found, texts[1].as_str(), texts[6].as_str()), (Split::Joined, "cpu-a|cpu-b", "7"));
    }

    #[test]
    fn bytes_are_found_wherever_they_stand() {
        let all: Vec<u8> =
            (0..=255).chain([b'|', 0, 0x80, b'|', b'|', 0xff, b'|' - 1, b'|' + 1, b'|' ^ 0x80]).collect();
        for from in 0..all.len() {
            for byte in [b'|', 0, 0x80, 0xff, b'a'] {
                let line = &all[from..];
                let mut found = Vec::new();
                for_each_place(byte, line, |place| found.push(place));
                assert_eq!(found, memchr::memchr_iter(byte, line).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn closed_lines_end_with_the_delimiter() {
        let (found, texts) = split("JobID|JobName|State|", "1|a|COMPLETED|");
        assert_eq!((found, texts[2].as_str()), (Split::Even, "COMPLETED"));
        assert_eq!(split("JobID|JobName|State|", "1|a|b|COMPLETED|").1[1], "a|b");
    }
}
