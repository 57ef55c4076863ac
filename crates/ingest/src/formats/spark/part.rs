//! Which part of a log a file is, as its first lines say it.

use super::event::Event;
use crate::formats::lines::head_lines;

/// The name of the last part of a log of Databricks. A date follows in those of earlier parts.
pub(crate) const DATABRICKS: &str = "eventlog";

/// What the first lines of a file say about its place in a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Place {
    /// The id of the application's context, which all parts of a log of Databricks share.
    pub(crate) context: Option<String>,
    /// The number of the part, from 0.
    pub(crate) number: Option<u64>,
    /// True if an application starts here.
    pub(crate) begins: bool,
}

/// The place that the first bytes of a file show.
pub(crate) fn part(head: &[u8]) -> Place {
    let mut place = Place::default();
    for line in head_lines(head) {
        match Event::parse(line) {
            Ok(Some(Event::Part(part))) if place.context.is_none() => {
                (place.context, place.number) = (part.context(), part.number);
            }
            Ok(Some(Event::LogStart(_) | Event::ApplicationStart(_))) => place.begins = true,
            _ => {}
        }
    }
    place
}
