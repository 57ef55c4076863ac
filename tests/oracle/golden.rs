//! The rows of a golden schedule.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::support::shared;

/// How many rows are shown before a difference.
const CONTEXT: usize = 8;

/// A row, with the fields that a replay must reproduce.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    Assigned { at: i64, attempt: String, host: String, level: i64 },
    Notified { at: i64, attempt: String },
    Ended { at: i64, attempt: String, state: String },
    Job { job: String, submit: i64, launch: i64, finish: i64, state: String, node_local: u32, rack_local: u32 },
}

impl Row {
    pub(crate) fn time(&self) -> i64 {
        match self {
            Row::Assigned { at, .. } | Row::Notified { at, .. } | Row::Ended { at, .. } => *at,
            Row::Job { finish, .. } => *finish,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::Assigned { at, attempt, host, level } => write!(f, "A {at:>9} {attempt} on {host} level {level}"),
            Row::Notified { at, attempt } => write!(f, "M {at:>9} {attempt}"),
            Row::Ended { at, attempt, state } => write!(f, "F {at:>9} {attempt} {state}"),
            Row::Job { job, submit, launch, finish, state, node_local, rack_local } => write!(
                f,
                "J {finish:>9} {job} {state}, submitted {submit}, launched {launch}, {node_local} node-local, {rack_local} rack-local"
            ),
        }
    }
}

/// An attempt's run time and final state, from its A row.
pub(crate) struct Course {
    pub(crate) run: i64,
    pub(crate) state: String,
}

pub(crate) struct Golden {
    pub(crate) rows: Vec<Row>,
    pub(crate) courses: BTreeMap<String, Course>,
}

impl Golden {
    pub(crate) fn read(schedule: &str) -> Option<Self> {
        let path = shared(&format!("oracle/{schedule}.csv.gz"))?;
        let mut text = String::new();
        let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        MultiGzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut golden = Self { rows: Vec::new(), courses: BTreeMap::new() };
        for (number, line) in text.lines().enumerate() {
            let fields: Vec<&str> = line.split(',').collect();
            golden.row(&fields).unwrap_or_else(|| panic!("{}, line {}: {line}", path.display(), number + 1));
        }
        Some(golden)
    }

    fn row(&mut self, fields: &[&str]) -> Option<()> {
        let number = |place: usize| fields.get(place)?.parse::<i64>().ok();
        let text = |place: usize| Some((*fields.get(place)?).to_owned());
        let row = match *fields.first()? {
            "A" => {
                self.courses.insert(text(2)?, Course { run: number(6)?, state: text(7)? });
                let host = text(3)?.replace("\\.", ".");
                Row::Assigned { at: number(1)?, attempt: text(2)?, host, level: number(4)? }
            }
            "F" => Row::Ended { at: number(1)?, attempt: text(2)?, state: text(3)? },
            "M" => Row::Notified { at: number(1)?, attempt: text(2)? },
            "J" => Row::Job {
                job: text(1)?,
                submit: number(3)?,
                launch: number(4)?,
                finish: number(5)?,
                state: text(6)?,
                node_local: number(9)?.try_into().ok()?,
                rack_local: number(10)?.try_into().ok()?,
            },
            _ => return None,
        };
        self.rows.push(row);
        Some(())
    }
}

/// The first row that differs, with the rows before it. Assignments, orders and jobs are compared in the order of the
/// file. Ends are compared by instant and attempt, because a master without events for ends learns of them only later.
pub(crate) fn first_difference(golden: &[Row], found: &[Row]) -> Option<String> {
    let ends = |rows: &[Row]| {
        let mut ends: Vec<Row> = rows.iter().filter(|row| matches!(row, Row::Ended { .. })).cloned().collect();
        ends.sort();
        ends
    };
    let others =
        |rows: &[Row]| -> Vec<Row> { rows.iter().filter(|row| !matches!(row, Row::Ended { .. })).cloned().collect() };
    compare(&others(golden), &others(found)).or_else(|| compare(&ends(golden), &ends(found)))
}

fn compare(golden: &[Row], found: &[Row]) -> Option<String> {
    let place = (0..golden.len().max(found.len())).find(|&place| golden.get(place) != found.get(place))?;
    let show = |row: Option<&Row>| row.map_or_else(|| "nothing".to_owned(), Row::to_string);
    let mut text = format!("row {place} of {} differs\n", golden.len());
    for row in &golden[place.saturating_sub(CONTEXT)..place.min(golden.len())] {
        text += &format!("    both     {row}\n");
    }
    text += &format!("    expected {}\n    found    {}\n", show(golden.get(place)), show(found.get(place)));
    for row in golden.iter().skip(place + 1).take(CONTEXT) {
        text += &format!("    then     {row}\n");
    }
    Some(text)
}
