//! The comparison of a replay with a golden schedule.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::world::Rows;

/// How many rows are shown before a difference.
const CONTEXT: usize = 6;

/// How far a replay and a golden schedule agree.
pub(crate) struct Agreement {
    name: String,
    /// Rows of the golden schedule, and those of them that the replay has, too.
    rows: [usize; 2],
    /// Of these, successful ends of tasks.
    ends: [usize; 2],
    /// The first row that differs.
    difference: Option<String>,
}

impl Agreement {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_full(&self) -> bool {
        self.difference.is_none()
    }

    /// The first row that differs, with those around it.
    pub(crate) fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, rows: [all, equal], ends: [all_ends, equal_ends], difference } = self;
        write!(text, "{name:14} rows {equal:6} of {all:6}  task ends {equal_ends:6} of {all_ends:6}")?;
        difference.as_ref().map_or(Ok(()), |difference| write!(text, "\n{difference}"))
    }
}

/// The rows of a golden file, without the fields that say nothing more: events in order, and ends.
fn golden(file: &Path) -> (Vec<String>, Vec<String>) {
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    let (mut events, mut ends) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let &[at, kind, job, task, host, level, _queue, ref rest @ ..] = &fields[..] else { panic!("{line}") };
        match kind {
            "A" => events.push(format!("{at},A,{job},{task},{host},{level},{}", rest[0])),
            "R" => events.push(format!("{at},R,{job},{task},{host}")),
            "U" => events.push(format!("{at},U,,,{host}")),
            "K" => events.push(format!("{at},K,{job},{task},{host},{}", rest[0])),
            "F" => ends.push(format!("{at},F,{job},{task},{host},{level},{},{},{}", rest[0], rest[1], rest[2])),
            "J" => events.push(format!("{at},J,{job},{},{},{}", rest[0], rest[1], rest[2])),
            // Submissions are input. A warning that is never carried out changes the schedule only through its order.
            "S" | "W" => {}
            _ => panic!("{}: {line}", file.display()),
        }
    }
    ends.sort_unstable();
    (events, ends)
}

/// How many rows are in both, each as often as in the one that has fewer.
fn in_both(one: &[String], other: &[String]) -> usize {
    let mut left = BTreeMap::<&str, usize>::new();
    one.iter().for_each(|row| *left.entry(row).or_default() += 1);
    let takes = |row: &&String| {
        let count = left.get_mut(row.as_str()).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    other.iter().filter(takes).count()
}

fn first_difference(golden: &[String], found: &[String]) -> Option<String> {
    let place = (0..golden.len().max(found.len())).find(|&place| golden.get(place) != found.get(place))?;
    let row = |rows: &[String], place: usize| rows.get(place).map_or("nothing", String::as_str).to_owned();
    let before = (place.saturating_sub(CONTEXT)..place).map(|place| format!("    both     {}\n", row(golden, place)));
    let after =
        (place..place + 4).map(|next| format!("    expected {:60} found {}\n", row(golden, next), row(found, next)));
    Some(before.chain(after).collect())
}

/// Puts events whose order means nothing into one order.
pub(crate) type Sort = fn(&mut [String]);

/// Compares a replay with the golden schedule of that name, the events of both in these orders.
pub(crate) fn compare(name: &str, root: &Path, rows: Rows<'_>, sorts: &[Sort]) -> Agreement {
    let (mut events, ends) = golden(&root.join(format!("golden/{name}.csv.gz")));
    let Rows { events: mut found, ends: mut found_ends, .. } = rows;
    sorts.iter().for_each(|sort| [&mut events, &mut found].into_iter().for_each(|events| sort(events)));
    found_ends.sort_unstable();
    let succeeded = |row: &&String| row.ends_with("SUCCEEDED");
    let successes: Vec<String> = ends.iter().filter(succeeded).cloned().collect();
    let equal_ends = in_both(&ends, &found_ends);
    Agreement {
        name: name.to_owned(),
        rows: [events.len() + ends.len(), in_both(&events, &found) + equal_ends],
        ends: [successes.len(), in_both(&successes, &found_ends)],
        difference: first_difference(&events, &found).or_else(|| first_difference(&ends, &found_ends)),
    }
}
