//! One event of a history, decoded by field name from either encoding.
//!
//! Both encodings name the fields, so one set of types serves both. Unknown fields are ignored, and missing ones are
//! `None`. That covers all differences between Hadoop's versions and vendors' schemas. Avro's JSON encoding wraps a
//! value of a union in an object that names its branch (`{"string":"x"}`, `{"org.…JhCounters":{…}}`). The versions
//! differ in which fields are unions, so a value is accepted with and without the wrapper.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use crate::formats::json;

/// An event: its type and the record that belongs to it.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(rename = "event")]
    pub(super) record: Record<Fields<'a>>,
}

/// The fields that a trace needs, of all kinds of events.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Fields<'a> {
    #[serde(rename = "jobid", borrow)]
    pub(super) job_id: Text<'a>,
    pub(super) job_name: Text<'a>,
    pub(super) user_name: Text<'a>,
    pub(super) job_queue_name: Text<'a>,
    pub(super) priority: Text<'a>,
    pub(super) job_status: Text<'a>,
    pub(super) submit_time: Int,
    pub(super) launch_time: Int,
    pub(super) start_time: Int,
    pub(super) shuffle_finish_time: Int,
    pub(super) sort_finish_time: Int,
    pub(super) finish_time: Int,
    pub(super) total_maps: Int,
    pub(super) total_reduces: Int,
    pub(super) uberized: Flag,
    #[serde(rename = "taskid")]
    pub(super) task_id: Text<'a>,
    pub(super) task_type: Text<'a>,
    pub(super) split_locations: Text<'a>,
    pub(super) attempt_id: Text<'a>,
    pub(super) application_attempt_id: Text<'a>,
    pub(super) node_manager_host: Text<'a>,
    pub(super) tracker_name: Text<'a>,
    pub(super) hostname: Text<'a>,
    pub(super) rackname: Text<'a>,
    pub(super) locality: Text<'a>,
    pub(super) avataar: Text<'a>,
    pub(super) status: Text<'a>,
    pub(super) task_status: Text<'a>,
    pub(super) error: Text<'a>,
    pub(super) counters: Record<Counters<'a>>,
    pub(super) total_counters: Record<Counters<'a>>,
    pub(super) map_counters: Record<Counters<'a>>,
    pub(super) reduce_counters: Record<Counters<'a>>,
}

/// Counters by group.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Counters<'a> {
    #[serde(borrow)]
    pub(super) groups: Vec<Group<'a>>,
}

impl Counters<'_> {
    /// The value of a counter; `None` if it is absent or negative.
    pub(super) fn get(&self, family: Family, name: &str) -> Option<i64> {
        let groups = self.groups.iter().filter(|group| family.has(group.name.as_str()));
        let counter = groups.flat_map(|group| &group.counts).find(|counter| counter.name.as_str() == name)?;
        (counter.value >= 0).then_some(counter.value)
    }
}

/// One of Hadoop's own groups of counters, whose names differ by version.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Family {
    /// Bytes by file system.
    FileSystem,
    /// What a task did and used.
    Task,
}

impl Family {
    /// True if a group of that name belongs to it.
    pub(super) fn has(self, group: &str) -> bool {
        match self {
            Family::FileSystem => {
                matches!(group, "FileSystemCounters" | "org.apache.hadoop.mapreduce.FileSystemCounter")
            }
            Family::Task => {
                matches!(group, "org.apache.hadoop.mapred.Task$Counter" | "org.apache.hadoop.mapreduce.TaskCounter")
            }
        }
    }
}

/// A group of counters.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Group<'a> {
    #[serde(borrow)]
    pub(super) name: json::Text<'a>,
    pub(super) counts: Vec<Counter<'a>>,
}

/// A counter.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Counter<'a> {
    #[serde(borrow)]
    pub(super) name: json::Text<'a>,
    pub(super) value: i64,
}

/// A text; `None` if it is null, absent, empty or not a text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text<'a>(pub(super) Option<Cow<'a, str>>);

/// A number; `None` if it is null, absent, negative (−1 stands for unknown) or not a number.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Int(pub(super) Option<i64>);

/// Whether something holds; no if it is null, absent or not a truth value.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Flag(matches!(deserializer.deserialize_any(SimpleVisitor)?, Simple::Flag(true))))
    }
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(super) fn into_owned(self) -> Option<String> {
        self.0.map(Cow::into_owned)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Text(match deserializer.deserialize_any(SimpleVisitor)? {
            Simple::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Int(match deserializer.deserialize_any(SimpleVisitor)? {
            Simple::Int(number) if number >= 0 => Some(number),
            _ => None,
        }))
    }
}

/// The value of a field that is a text or a number.
enum Simple<'a> {
    Text(Cow<'a, str>),
    Int(i64),
    Flag(bool),
    Other,
}

impl<'de> Deserialize<'de> for Simple<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SimpleVisitor)
    }
}

struct SimpleVisitor;

impl<'de> Visitor<'de> for SimpleVisitor {
    type Value = Simple<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E>(self, is: bool) -> Result<Simple<'de>, E> {
        Ok(Simple::Flag(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Simple<'de>, E> {
        Ok(Simple::Int(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Simple<'de>, E> {
        Ok(i64::try_from(number).map_or(Simple::Other, Simple::Int))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Simple<'de>, E> {
        Ok(Simple::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Simple<'de>, E> {
        Ok(Simple::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Simple<'de>, E> {
        Ok(Simple::Text(Cow::Borrowed(text)))
    }

    fn visit_string<E>(self, text: String) -> Result<Simple<'de>, E> {
        Ok(Simple::Text(Cow::Owned(text)))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Simple<'de>, E> {
        Ok(Simple::Other)
    }

    fn visit_unit<E>(self) -> Result<Simple<'de>, E> {
        Ok(Simple::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Simple<'de>, A::Error> {
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Simple::Other)
    }

    /// The wrapper of a union's value: the value of its only entry counts.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Simple<'de>, A::Error> {
        let mut value = Simple::Other;
        while let Some((_, entry)) = entries.next_entry::<IgnoredAny, Simple>()? {
            value = entry;
        }
        Ok(value)
    }
}

/// A record that may be null (then it is the default) or wrapped as a union's value.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Record<T>(pub(super) T);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Record<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RecordVisitor(PhantomData)).map(Record)
    }
}

struct RecordVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for RecordVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a record or null")
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    /// A key with a dot is a branch's full name: field names have none.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<T, A::Error> {
        match entries.next_key::<json::Text<'de>>()? {
            None => Ok(T::default()),
            Some(key) if key.as_str().contains('.') => {
                let value = entries.next_value()?;
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(value)
            }
            key => T::deserialize(MapAccessDeserializer::new(Resumed { key: key.map(|key| key.0), rest: entries })),
        }
    }
}

/// The entries of an object whose first key has been looked at.
struct Resumed<'a, A> {
    key: Option<Cow<'a, str>>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Resumed<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.key.take() {
            Some(key) => seed.deserialize(key.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.rest.next_value_seed(seed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text<'_> {
        Text(Some(text.into()))
    }

    #[test]
    fn a_value_counts_with_and_without_a_wrapper() {
        let plain = r#"{"type":"T","event":{"a.b.C":{"locality":"X","finishTime":5,"counters":{"groups":[{"name":"g",
            "counts":[{"name":"c","displayName":"C","value":7}]}]}}}}"#;
        let wrapped = r#"{"event":{"a.b.C":{"locality":{"string":"X"},"finishTime":{"long":5},"counters":{"a.JhCounters":
            {"name":"n","groups":[{"counts":[{"value":7,"name":"c"}],"name":"g"}]}}}},"type":"T"}"#;
        let plain: Event = serde_json::from_str(plain).unwrap();
        assert_eq!(plain, serde_json::from_str(wrapped).unwrap());
        assert_eq!(plain.kind, text("T"));
        assert_eq!(plain.record.0.locality, text("X"));
        assert_eq!(plain.record.0.finish_time, Int(Some(5)));
        assert_eq!(plain.record.0.counters.0.groups[0].counts, [Counter { name: json::Text("c".into()), value: 7 }]);
    }

    #[test]
    fn what_is_unknown_is_none() {
        let event: Fields = serde_json::from_str(
            r#"{"locality":null,"avataar":"","error":[1],"status":7,"finishTime":-1,"startTime":1.5,"submitTime":"x",
            "launchTime":18446744073709551615,"counters":null,"totalCounters":{},"gpuUsages":[{"x":1}],"acls":{"a":" "}}"#,
        )
        .unwrap();
        assert_eq!(event, Fields::default());
    }
}
