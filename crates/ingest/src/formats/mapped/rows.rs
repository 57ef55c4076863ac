//! The rows of a table as CSV or JSON.

use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use super::super::csv::{Piece, Records};
use super::super::json::{Objects, Piece as Part};
use super::cell::Cell;
use super::map::{Kind, Map};
use super::parquet;
use super::take::{Take, places, without};
use resched_tables::Error;
use resched_tables::cause;

/// The longest record of CSV, and the longest object of JSON, bytes. Some tables have a curve of power in each row.
pub(crate) const MAX_ROW: usize = 4 << 20;
/// The most columns of CSV.
pub(crate) const MAX_COLUMNS: usize = 4_096;

/// Reads the rows of a table, with the values of the `used` columns.
///
/// # Errors
/// [`Error::Source`] if the table lacks a column or is damaged; errors of the disk and of `take`.
pub(super) fn read(
    map: &Map,
    used: &[&str],
    (input, path): (&mut dyn BufRead, &str),
    take: &mut dyn Take,
) -> Result<(), Error> {
    let first = super::super::json::first_byte(input).map_err(Error::io(Path::new(path), "read"))?;
    let is_parquet = input.fill_buf().is_ok_and(|head| head.starts_with(parquet::MAGIC));
    let kind = map.format.unwrap_or(match first {
        _ if is_parquet => Kind::Parquet,
        Some(b'{' | b'[') => Kind::Json,
        _ => Kind::Csv,
    });
    match kind {
        Kind::Parquet => parquet::read(map, used, path, take),
        Kind::Json => json(used, input, path, take),
        Kind::Csv => csv(map, used, (input, path), take),
    }
}

/// The names of the columns of a table, which are left in the input. Of JSON, those of the first object.
pub(super) fn names(input: &mut dyn BufRead, path: &str) -> Result<Vec<String>, Error> {
    let head = input.fill_buf().map_err(Error::io(Path::new(path), "read"))?;
    if head.starts_with(parquet::MAGIC) {
        return parquet::names(path);
    }
    let mut head = head;
    if head.trim_ascii_start().starts_with(b"{") || head.trim_ascii_start().starts_with(b"[") {
        let mut objects = Objects::new(&mut head, MAX_ROW);
        while let Ok(Some(piece)) = objects.next() {
            if let Part::Object { text, .. } = piece
                && let Ok(Value::Object(fields)) = serde_json::from_slice(text)
            {
                return Ok(fields.into_iter().map(|(name, _)| name).collect());
            }
        }
        return Ok(Vec::new());
    }
    let mut records = Records::of_table(&mut head, b',', (MAX_ROW, MAX_COLUMNS));
    match records.next() {
        Ok(Some(Piece::Record(record))) => {
            Ok((0..record.len()).map(|column| name(&record.field(column), column)).collect())
        }
        _ => Ok(Vec::new()),
    }
}

fn csv(map: &Map, used: &[&str], (input, path): (&mut dyn BufRead, &str), take: &mut dyn Take) -> Result<(), Error> {
    let delimiter = u8::try_from(map.delimiter).unwrap_or(b',');
    let mut records = Records::of_table(input, delimiter, (MAX_ROW, MAX_COLUMNS));
    let mut places = (!map.columns.is_empty()).then(|| places(map, used, &map.columns, path)).transpose()?;
    let mut number = 0_u64;
    while let Some(piece) = records.next().map_err(Error::io(Path::new(path), "read"))? {
        let record = match piece {
            Piece::Record(record) => record,
            Piece::Oversized => {
                number += 1;
                take.damaged(number, cause::OVERSIZED_ROW, "a longer row");
                continue;
            }
        };
        let Some(places) = &places else {
            let names: Vec<String> = (0..record.len()).map(|column| name(&record.field(column), column)).collect();
            places = Some(self::places(map, used, &names, path)?);
            continue;
        };
        number += 1;
        let cells: Vec<Cell<'_>> =
            places.iter().map(|place| place.map_or(Cell::None, |place| cell(record.field(place)))).collect();
        take.row(number, &cells)?;
    }
    Ok(())
}

/// The name of a column in a header.
fn name(field: &&[u8], column: usize) -> String {
    let text = String::from_utf8_lossy(field);
    if column == 0 { text.trim_start_matches('\u{feff}').to_owned() } else { text.into_owned() }
}

fn cell(field: &[u8]) -> Cell<'_> {
    if field.is_empty() { Cell::None } else { Cell::Text(super::super::lines::text_of(field)) }
}

fn json(used: &[&str], input: &mut dyn BufRead, path: &str, take: &mut dyn Take) -> Result<(), Error> {
    let mut objects = Objects::new(input, MAX_ROW);
    let mut number = 0_u64;
    let mut has_column = false;
    while let Some(piece) = objects.next().map_err(Error::io(Path::new(path), "read"))? {
        number += 1;
        let parsed = match piece {
            Part::Object { text, .. } => serde_json::from_slice::<Value>(text).map_err(|error| error.to_string()),
            Part::Junk => Err("something other than an object, or a longer one".to_owned()),
        };
        match parsed {
            Ok(object) => {
                let cells: Vec<Cell<'static>> = used.iter().map(|column| at(&object, column)).collect();
                has_column |= cells.iter().any(|cell| *cell != Cell::None);
                if !has_column && number == 1 {
                    let names = object.as_object().into_iter().flatten().map(|(name, _)| name.clone());
                    let column = used.first().copied().unwrap_or_default();
                    return Err(without(column, &names.collect::<Vec<_>>(), path));
                }
                take.row(number, &cells)?;
            }
            Err(found) => take.damaged(number, cause::DAMAGED_ROW, &found),
        }
    }
    Ok(())
}

/// The value at a path such as `attempts.0.start`. A name with dots in it counts as it is. A number is a place in a list, from its end if
/// it is negative; `*` are all entries, and `#` is their number.
pub(super) fn at(object: &Value, path: &str) -> Cell<'static> {
    if let Some(value) = object.get(path) {
        return value_of(value);
    }
    let mut found = vec![object];
    for step in path.split('.') {
        if step == "#" {
            let sum: usize = found.iter().map(|value| value.as_array().map_or(0, Vec::len)).sum();
            return i64::try_from(sum).map_or(Cell::None, Cell::Whole);
        }
        found = found.into_iter().flat_map(|value| inside(value, step)).collect();
    }
    match found.as_slice() {
        [] => Cell::None,
        [value] => value_of(value),
        several => Cell::List(several.iter().filter_map(|value| scalar(value)).collect()),
    }
}

/// The values that a step leads to.
fn inside<'v>(value: &'v Value, step: &str) -> Vec<&'v Value> {
    match value {
        Value::Object(fields) => fields.get(step).into_iter().collect(),
        Value::Array(entries) if step == "*" => entries.iter().collect(),
        Value::Array(entries) => {
            let place = step.parse::<i64>().ok().and_then(|place| {
                let from_end = i64::try_from(entries.len()).ok()?.checked_add(place)?;
                usize::try_from(if place < 0 { from_end } else { place }).ok()
            });
            place.and_then(|place| entries.get(place)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn value_of(value: &Value) -> Cell<'static> {
    match value {
        Value::Null | Value::Object(_) => Cell::None,
        Value::Bool(flag) => Cell::Text(Cow::Owned(flag.to_string())),
        Value::Number(number) => {
            number.as_i64().map(Cell::Whole).or_else(|| number.as_f64().map(Cell::Float)).unwrap_or(Cell::None)
        }
        Value::String(text) => Cell::Text(Cow::Owned(text.clone())),
        Value::Array(entries) => Cell::List(entries.iter().filter_map(scalar).collect()),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_into_an_object() {
        let object: Value = serde_json::from_str(
            r#"{"a.b":1,"t":[{"s":"x","g":[1,2]},{"s":"y","g":[3]}],"n":null,"l":["p","q"],"f":1.5}"#,
        )
        .unwrap();
        let text = |text: &str| Cell::Text(Cow::Owned(text.to_owned()));
        for (path, expected) in [
            ("a.b", Cell::Whole(1)),
            ("t.0.s", text("x")),
            ("t.-1.s", text("y")),
            ("t.*.g.#", Cell::Whole(3)),
            ("t.#", Cell::Whole(2)),
            ("t.*.s", Cell::List(vec!["x".to_owned(), "y".to_owned()])),
            ("l", Cell::List(vec!["p".to_owned(), "q".to_owned()])),
            ("f", Cell::Float(1.5)),
            ("n", Cell::None),
            ("t.9.s", Cell::None),
            ("t.-9.s", Cell::None),
            ("x.y", Cell::None),
        ] {
            assert_eq!(at(&object, path), expected, "{path}");
        }
    }
}
