//! The Kaggle sample of the traces of 2019: one row per event of an instance, joined with its collection and usage.
//!
//! CSV with a header and quoted cells of several lines. Structs are written as Python does
//! (`{'cpus': 0.02, 'memory': None}`), lists as NumPy does. The numbers of events follow the alphabetical order of
//! their names, so the reader uses the names in `event`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use super::super::csv::{Piece, Record, Records, whole};
use super::super::google::Facts;
use super::row::{Row, number_of};
use resched_tables::Error;
use resched_tables::cause;

/// True if the first line names the columns of the sample.
pub(super) fn is_one(head: &[u8]) -> bool {
    let mut input = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut records = Records::new(&mut input, true);
    let Ok(Some(Piece::Record(header))) = records.next() else { return false };
    let names = columns(&header);
    ["time", "collection_id", "instance_index", "event"].iter().all(|name| names.contains_key(name.as_bytes()))
}

fn columns(header: &Record<'_>) -> BTreeMap<Vec<u8>, usize> {
    (0..header.len()).map(|number| (header.field(number).to_vec(), number)).collect()
}

/// Reads the sample.
pub(super) fn read(input: &mut dyn BufRead, path: &str, facts: &mut Facts<'_>) -> Result<(), Error> {
    let mut records = Records::new(input, true);
    let mut names: Option<BTreeMap<Vec<u8>, usize>> = None;
    while let Some(piece) = records.next().map_err(Error::io(Path::new(path), "read"))? {
        let record = match piece {
            Piece::Record(record) => record,
            Piece::Oversized => {
                facts.skip(cause::OVERSIZED_RECORD);
                continue;
            }
        };
        let Some(names) = &names else {
            names = Some(columns(&record));
            continue;
        };
        if record.len() != names.len() || !row(&record, names).put("instance_events", facts)? {
            facts.skip(cause::DAMAGED_RECORD);
        }
    }
    Ok(())
}

fn row<'t>(record: &Record<'t>, names: &BTreeMap<Vec<u8>, usize>) -> Row<'t> {
    let text = |name: &str| names.get(name.as_bytes()).and_then(|number| record.text(*number));
    let number = |name: &str| whole(text(name)?.as_bytes());
    let request = text("resource_request").unwrap_or_default();
    Row {
        time: number("time"),
        event: text("event").and_then(number_of),
        collection_id: number("collection_id"),
        collection_type: number("collection_type"),
        scheduling_class: number("scheduling_class"),
        priority: number("priority"),
        instance_index: number("instance_index"),
        machine_id: number("machine_id"),
        user: text("user").map(Cow::Borrowed),
        name: text("collection_logical_name").or(text("collection_name")).map(Cow::Borrowed),
        parent: None,
        after: list(text("start_after_collection_ids").unwrap_or_default()),
        cpus: entry(request, "'cpus':"),
        memory: entry(request, "'memory':"),
        switch: None,
    }
}

/// The number under `name` in a dictionary as Python writes it.
fn entry(dictionary: &str, name: &str) -> Option<f64> {
    let (_, rest) = dictionary.split_once(name)?;
    rest.split([',', '}']).next()?.trim().parse().ok()
}

/// The whole numbers in a list as NumPy or Python writes it.
fn list(list: &str) -> Vec<i64> {
    let parts = list.trim_matches(['[', ']']).split([' ', ',', '\n', '\r']);
    parts.filter_map(|part| whole(part.trim().as_bytes())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_and_lists_are_written_as_python_does() {
        let request = "{'cpus': 0.020660400390625, 'memory': None}";
        assert_eq!((entry(request, "'cpus':"), entry(request, "'memory':")), (Some(0.020660400390625), None));
        assert_eq!(list("[]"), Vec::<i64>::new());
        assert_eq!(list("[12 34\n 56]"), [12, 34, 56]);
    }
}
