//! Tables of 2019 as JSON lines.

use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::super::csv::{whole, whole_float};
use super::super::google::Facts;
use super::row::{Row, number_of};
use resched_tables::Error;
use resched_tables::cause;

/// The longest line (bytes): rows have some hundred, with many constraints some thousand.
pub(crate) const MAX_LINE: u64 = 64 << 10;
/// The number of lines at the start of a file that decide which table it is.
const SNIFFED_LINES: usize = 20;

/// The table to which most of the first lines belong.
pub(super) fn table(head: &[u8]) -> Option<&'static str> {
    if head.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let tables = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let tables: Vec<_> = tables.take(SNIFFED_LINES).map(table_of).collect();
    let first = tables.iter().flatten().next()?;
    // The last line may be cut.
    let such = tables.iter().filter(|table| table.as_ref() == Some(first)).count();
    (such * 2 >= tables.len()).then_some(*first)
}

/// The table of a row, by the fields that only this table has.
fn table_of(line: &[u8]) -> Option<&'static str> {
    let Value::Object(fields) = serde_json::from_slice(line).ok()? else { return None };
    let has = |name: &str| fields.contains_key(name);
    Some(match () {
        () if has("start_time") && has("end_time") && has("collection_id") => "instance_usage",
        () if !has("time") => return None,
        () if has("collection_id") && has("instance_index") => "instance_events",
        () if has("collection_id") && has("type") => "collection_events",
        () if has("machine_id") && has("type") => "machine_events",
        () if has("machine_id") && has("name") => "machine_attributes",
        () => return None,
    })
}

/// Reads the rows of `table`, one per line.
pub(super) fn read(table: &str, input: &mut dyn BufRead, path: &str, facts: &mut Facts<'_>) -> Result<(), Error> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = input.take(MAX_LINE).read_until(b'\n', &mut line).map_err(Error::io(Path::new(path), "read"))?;
        if length == 0 {
            return Ok(());
        }
        if length as u64 == MAX_LINE && line.last() != Some(&b'\n') {
            input.skip_until(b'\n').map_err(Error::io(Path::new(path), "read"))?;
            facts.skip(cause::OVERSIZED_RECORD);
            continue;
        }
        let known = match serde_json::from_slice::<Line>(&line) {
            Ok(line) => line.into_row().put(table, facts)?,
            Err(_) => line.trim_ascii().is_empty(),
        };
        if !known {
            facts.skip(cause::DAMAGED_RECORD);
        }
    }
}

/// A row of any table. Structs are nested or flattened, with a dot or an underscore between the names.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(default)]
    time: Number,
    #[serde(default, rename = "type")]
    event: Number,
    #[serde(default)]
    collection_id: Number,
    #[serde(default)]
    collection_type: Number,
    #[serde(default)]
    scheduling_class: Number,
    #[serde(default)]
    priority: Number,
    #[serde(default)]
    instance_index: Number,
    #[serde(default)]
    machine_id: Number,
    #[serde(default)]
    parent_collection_id: Number,
    #[serde(default)]
    start_after_collection_ids: Option<Vec<Number>>,
    #[serde(default, borrow)]
    user: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    collection_name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    collection_logical_name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    switch_id: Option<Cow<'a, str>>,
    #[serde(default, alias = "capacity")]
    resource_request: Option<Resources>,
    #[serde(
        default,
        rename = "resource_request.cpus",
        alias = "resource_request_cpus",
        alias = "capacity.cpus",
        alias = "capacity_cpus"
    )]
    cpus: Number,
    #[serde(
        default,
        rename = "resource_request.memory",
        alias = "resource_request_memory",
        alias = "capacity.memory",
        alias = "capacity_memory"
    )]
    memory: Number,
}

#[derive(Deserialize, Default)]
struct Resources {
    #[serde(default)]
    cpus: Number,
    #[serde(default)]
    memory: Number,
}

impl<'a> Line<'a> {
    fn into_row(self) -> Row<'a> {
        let resources = self.resource_request.unwrap_or_default();
        let text = |text: Option<Cow<'a, str>>| text.filter(|text| !text.is_empty());
        Row {
            time: self.time.whole,
            event: self.event.whole,
            collection_id: self.collection_id.whole,
            collection_type: self.collection_type.whole,
            scheduling_class: self.scheduling_class.whole,
            priority: self.priority.whole,
            instance_index: self.instance_index.whole,
            machine_id: self.machine_id.whole,
            user: text(self.user),
            name: text(self.collection_logical_name).or(text(self.collection_name)),
            parent: self.parent_collection_id.whole,
            after: self.start_after_collection_ids.into_iter().flatten().filter_map(|id| id.whole).collect(),
            cpus: resources.cpus.float.or(self.cpus.float),
            memory: resources.memory.float.or(self.memory.float),
            switch: text(self.switch_id),
        }
    }
}

/// A number, the text of a number, or the name of one; anything else is none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Number {
    whole: Option<i64>,
    float: Option<f64>,
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number, or a text that holds one")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
        Ok(Number { whole: Some(number), float: Some(number as f64) })
    }

    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        Ok(Number { whole: i64::try_from(number).ok(), float: Some(number as f64) })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        Ok(Number { whole: whole_float(number), float: Some(number) })
    }

    fn visit_str<E>(self, text: &str) -> Result<Number, E> {
        Ok(Number { whole: whole(text.as_bytes()).or_else(|| number_of(text)), float: text.parse().ok() })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Number, E> {
        Ok(Number::default())
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Number, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Number, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number::default())
    }
}
