//! Ids of jobs as `sacct` prints them.

use std::fmt;

use crate::codec::{Front, put};

/// Bounds a folded array: the largest `MaxArraySize` that Slurm allows is 4,000,001, and few arrays have more than this.
pub(crate) const MOST_PENDING: usize = 20_000;

/// The id of a job. Jobs sort by the number that `sbatch` printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id {
    pub(super) number: u64,
    pub(super) part: Part,
    /// Which of the jobs that had this id it is: 0 for the first, 2 for the second, and so on.
    pub(super) again: u32,
}

/// Which part of what was submitted under a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    /// All of it: `12`.
    Whole,
    /// A task of an array: `12_5`.
    Task(u64),
    /// A component of a heterogeneous job: `12+1`.
    Component(u64),
    /// The tasks of an array that have no id yet: `12_[3-5,9%2]`.
    Pending,
}

impl Id {
    pub(super) fn whole(number: u64) -> Self {
        Self { number, part: Part::Whole, again: 0 }
    }

    /// The id in a text, and the ranges of tasks in its brackets.
    pub(super) fn parse(text: &str) -> Option<(Self, &str)> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = text.split_at_checked(digits)?;
        let number = number.parse().ok()?;
        let (part, ranges) = match rest.as_bytes().first() {
            None => (Part::Whole, ""),
            Some(b'+') => (Part::Component(count(rest.get(1..)?)?), ""),
            Some(b'_') if rest.starts_with("_[") => (Part::Pending, rest.strip_prefix("_[")?.strip_suffix(']')?),
            // Tasks are sorted by the number after theirs.
            Some(b'_') => (Part::Task(count(rest.get(1..)?).filter(|&task| task < u64::MAX)?), ""),
            Some(_) => return None,
        };
        Some((Self { number, part, again: 0 }, ranges))
    }
}

impl Id {
    /// Adds it to `bytes`.
    pub(super) fn write(self, bytes: &mut Vec<u8>) {
        put(self.number, bytes);
        put(u64::from(self.again), bytes);
        match self.part {
            Part::Whole => bytes.push(0),
            Part::Pending => bytes.push(1),
            Part::Task(task) => {
                bytes.push(2);
                put(task, bytes);
            }
            Part::Component(component) => {
                bytes.push(3);
                put(component, bytes);
            }
        }
    }

    /// The id that was written so.
    pub(super) fn read(front: &mut Front<'_>) -> Option<Self> {
        let (number, again) = (front.number()?, front.count()?);
        let part = match front.byte()? {
            0 => Part::Whole,
            1 => Part::Pending,
            2 => Part::Task(front.number()?),
            _ => Part::Component(front.number()?),
        };
        Some(Self { number, part, again })
    }

    /// The number that `sbatch` printed, as text that no other job of the list has.
    pub(super) fn of_whole(self) -> String {
        Self { part: Part::Whole, ..self }.to_string()
    }

    /// The id as the list has it: of several jobs that had it, that of the first.
    pub(super) fn listed(self) -> Self {
        Self { again: 0, ..self }
    }
}

impl Id {
    /// Adds it as the tables have it.
    pub(super) fn show(self, text: &mut String) {
        show_number(self.number, text);
        let (mark, part) = match self.part {
            Part::Whole => ("", None),
            Part::Task(task) => ("_", Some(task)),
            Part::Component(component) => ("+", Some(component)),
            Part::Pending => ("_[]", None),
        };
        text.push_str(mark);
        part.into_iter().for_each(|part| show_number(part, text));
        if self.again > 0 {
            text.push('~');
            show_number(self.again.into(), text);
        }
    }
}

/// Adds the digits of a number. Each job has one, and a formatter takes longer.
fn show_number(number: u64, text: &mut String) {
    let (mut digits, mut first, mut rest) = ([0; 20], 20, number);
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        (*digit, first) = (b'0' + (rest % 10) as u8, place);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    text.extend(digits.iter().skip(first).map(|&digit| char::from(digit)));
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.show(&mut text);
        out.write_str(&text)
    }
}

/// A number without a sign.
fn count(digits: &str) -> Option<u64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The tasks in `3-5,9,20-40:4%2`, at most [`MOST_PENDING`]. The flag says whether there is more: `sacct` cuts a long list.
pub(super) fn pending_tasks(ranges: &str) -> (Vec<u64>, bool) {
    let list = ranges.split_once('%').map_or(ranges, |(list, _)| list);
    let mut tasks = Vec::new();
    let mut is_cut = false;
    for range in list.split(',') {
        let Some((first, last, step)) = parse_range(range) else {
            is_cut = true;
            continue;
        };
        let mut task = first;
        while task <= last {
            if tasks.len() >= MOST_PENDING {
                return (tasks, true);
            }
            tasks.push(task);
            let Some(next) = task.checked_add(step) else { break };
            task = next;
        }
    }
    (tasks, is_cut)
}

fn parse_range(range: &str) -> Option<(u64, u64, u64)> {
    let (ends, step) = range.split_once(':').map_or((range, "1"), |(ends, step)| (ends, step));
    let (first, last) = ends.split_once('-').unwrap_or((ends, ends));
    let (first, last, step) = (count(first)?, count(last)?, count(step)?);
    (first <= last && step > 0).then_some((first, last, step))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_printed() {
        for text in ["0", "12", "12_5", "12+1", "18446744073709551615_10"] {
            let (id, ranges) = Id::parse(text).unwrap();
            assert_eq!((id.to_string().as_str(), ranges), (text, ""));
        }
        let (id, ranges) = Id::parse("12_[3-5,9%2]").unwrap();
        assert_eq!((id, ranges), (Id { number: 12, part: Part::Pending, again: 0 }, "3-5,9%2"));
        for wrong in ["", "a", "12.batch", "12_", "12_x", "12+", "12_[3", "_1", "99999999999999999999"] {
            assert_eq!(Id::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn folded_tasks_are_unfolded_up_to_a_bound() {
        assert_eq!(pending_tasks("3-5,9%2"), (vec![3, 4, 5, 9], false));
        assert_eq!(pending_tasks("0-40:20"), (vec![0, 20, 40], false));
        assert_eq!(pending_tasks("1-2,..."), (vec![1, 2], true));
        assert_eq!(pending_tasks("5-3,1-2:0"), (vec![], true));
        let at = |last: usize| {
            let (tasks, is_cut) = pending_tasks(&format!("0-{last}"));
            (tasks.len(), is_cut)
        };
        assert_eq!(at(MOST_PENDING - 1), (MOST_PENDING, false));
        assert_eq!(at(MOST_PENDING), (MOST_PENDING, true));
        let (tasks, is_cut) = pending_tasks("0-18446744073709551615");
        assert_eq!((tasks.len(), is_cut), (MOST_PENDING, true));
    }
}
