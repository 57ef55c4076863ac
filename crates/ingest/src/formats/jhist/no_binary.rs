//! The binary encoding in a build without the feature `avro`: it is refused.

use std::io::BufRead;

use super::history::History;
use resched_tables::Error;
use resched_tables::sink::Sink;

/// Refuses the file, as its decoder is in a library that this build leaves out.
pub(super) fn read(_: &mut dyn BufRead, _: &[u8], path: &str, _: &mut History, _: &mut dyn Sink) -> Result<(), Error> {
    Err(Error::Source {
        path: path.to_owned(),
        place: "the first line, ".to_owned(),
        expected: "a history in JSON, as this build has no reader of binary ones".to_owned(),
        found: "Avro-Binary".to_owned(),
        remedy: "build resched with its feature `avro`".to_owned(),
    })
}
