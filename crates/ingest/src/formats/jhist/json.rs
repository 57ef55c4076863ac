//! The JSON encoding: one event per line.

use std::io::BufRead;
use std::path::Path;

use super::event::Event;
use super::history::History;
use super::lines::{Line, read_line};
use crate::formats::lines::text_of;
use resched_tables::Error;
use resched_tables::cause;
use resched_tables::sink::{Damage, Sink};

/// Reads the events up to the end of the input. If a line does not parse, the rest of that line is lost.
pub(super) fn read(
    input: &mut dyn BufRead,
    path: &str,
    history: &mut History,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        number += 1;
        match read_line(input, &mut line).map_err(Error::io(Path::new(path), "read"))? {
            Line::End => return Ok(()),
            Line::TooLong => sink.skip(cause::DAMAGED_EVENT, 1),
            Line::Whole => {
                for event in serde_json::Deserializer::from_str(&text_of(&line)).into_iter::<Event<'_>>() {
                    match event {
                        Ok(event) => history.record(event, sink),
                        Err(error) if error.is_eof() && !line.ends_with(b"\n") => sink.skip(cause::CUT_EVENT, 1),
                        Err(error) => {
                            sink.skip(cause::DAMAGED_EVENT, 1);
                            let place = format!("line {number} behind the schema, column {}: ", error.column());
                            let remedy = "copy it from the cluster again";
                            let found = error.to_string();
                            sink.damage(&|| Damage::new(&place, "an event of a job's history", &found, remedy));
                        }
                    }
                }
            }
        }
    }
}
