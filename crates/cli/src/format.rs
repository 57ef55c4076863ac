//! The forms in which a command prints its result: a table for people, JSON and CSV for programs.

use std::fmt;

use resched_tables::words::{csv_cell, visible};
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::failure::Failure;
use crate::host::Host;
use crate::output::{Text, print, print_as_it_is};

/// The form in which a command prints its result.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[group(multiple = false)]
pub(crate) struct FormatArgs {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Print CSV instead of a table. Numbers are those of the JSON, with times in ms.
    #[arg(long)]
    csv: bool,
}

impl FormatArgs {
    /// Prints a result: one JSON value; or its rows as CSV; or what learns of it.
    pub(crate) fn print<R: Serialize, T: Into<Text>>(
        self,
        value: &impl Serialize,
        rows: &[R],
        reported: impl FnOnce() -> T,
    ) -> Result<(), Failure> {
        match (self.json, self.csv) {
            (true, _) => {
                describe(reported);
                print_as_it_is(&serde_json::to_string_pretty(value).map_err(unprintable)?)
            }
            (_, true) => print_as_it_is(&csv(rows)?),
            _ => print(reported()),
        }
    }

    /// Prints rows: each as a JSON object on its own line; or as CSV; or what learns of them.
    pub(crate) fn print_lines<R: Serialize, T: Into<Text>>(
        self,
        rows: &[R],
        reported: impl FnOnce() -> T,
    ) -> Result<(), Failure> {
        if !self.json {
            return self.print(&(), rows, reported);
        }
        describe(reported);
        let lines: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
        print_as_it_is(&lines.map_err(unprintable)?.join("\n"))
    }
}

/// Inside another program, what people would read goes with the JSON.
fn describe<T: Into<Text>>(reported: impl FnOnce() -> T) {
    if let Some(host) = Host::current() {
        host.describe(&reported().into().plain());
    }
}

fn unprintable(error: impl fmt::Display) -> Failure {
    Failure::work(error.to_string())
}

/// A value of an object that has no rows, as a row of CSV.
#[derive(Debug, Serialize)]
pub(crate) struct Named {
    what: String,
    value: String,
}

/// The values of an object, a row each. Those of an object in it have its name before theirs.
pub(crate) fn values_of(object: &impl Serialize) -> Result<Vec<Named>, Failure> {
    Ok(flat(object)?.into_iter().map(|(what, value)| Named { what, value }).collect())
}

/// Objects as CSV: a row each, a column for each name. A name that an object lacks is an empty cell, and a list is JSON.
fn csv<R: Serialize>(rows: &[R]) -> Result<String, Failure> {
    let rows: Vec<Vec<(String, String)>> = rows.iter().map(flat).collect::<Result<_, _>>()?;
    let mut heading: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !heading.contains(&name.as_str()) {
            heading.push(name);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |cells: Vec<&str>| writer.write_record(cells.into_iter().map(|cell| csv_cell(cell).into_owned()));
    if !heading.is_empty() {
        write(heading.clone()).map_err(unprintable)?;
    }
    for row in &rows {
        let cell = |name: &&str| row.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
        write(heading.iter().map(cell).collect()).map_err(unprintable)?;
    }
    let bytes = writer.into_inner().map_err(unprintable)?;
    String::from_utf8(bytes).map_err(unprintable)
}

/// The values of an object in their order, each with its name.
fn flat(object: &impl Serialize) -> Result<Vec<(String, String)>, Failure> {
    let json = serde_json::to_string(object).map_err(unprintable)?;
    let mut found = Vec::new();
    Below { name: String::new(), found: &mut found }
        .deserialize(&mut serde_json::Deserializer::from_str(&json))
        .map_err(unprintable)?;
    Ok(found)
}

/// Collects the values below a name.
struct Below<'a> {
    name: String,
    found: &'a mut Vec<(String, String)>,
}

impl Below<'_> {
    fn add(self, value: impl ToString) {
        self.found.push((self.name, value.to_string()));
    }
}

impl<'de> DeserializeSeed<'de> for Below<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Below<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let name = if self.name.is_empty() { key } else { format!("{}.{key}", self.name) };
            map.next_value_seed(Below { name, found: self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        // One by one: there may be a group for each of many users, and a value takes many times the bytes of its text.
        let mut text = String::from("[");
        while let Some(value) = list.next_element::<Value>()? {
            if text.len() > 1 {
                text.push(',');
            }
            text += &value.to_string();
        }
        text.push(']');
        self.found.push((self.name, text));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.add("");
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.add(value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.add(value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.add(value);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.add(value);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.add(visible(value));
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        name: &'static str,
        inner: Inner,
        list: Vec<u32>,
    }

    #[derive(Serialize)]
    struct Inner {
        wait: Option<i64>,
        share: f64,
    }

    #[test]
    fn a_list_is_the_json_of_its_values() {
        for list in ["[]", "[1]", "[[],{}]", r#"[{"b":1,"a":[null,2.5]},"x,\"y",false]"#] {
            let object: Value = serde_json::from_str(&format!("{{\"list\":{list}}}")).unwrap();
            let expected = object["list"].to_string();
            assert_eq!(flat(&object).unwrap(), [("list".to_owned(), expected)]);
        }
    }

    fn row(name: &'static str, wait: Option<i64>) -> Row {
        Row { name, inner: Inner { wait, share: 0.25 }, list: vec![1, 2] }
    }

    #[test]
    fn csv_has_the_values_of_the_json_in_their_order() {
        let found = csv(&[row("b", Some(-5)), row("=cmd(),\"x\"\u{1b}", None)]).unwrap();
        let expected =
            "name,inner.wait,inner.share,list\nb,-5,0.25,\"[1,2]\"\n\"'=cmd(),\"\"x\"\"\\u001b\",,0.25,\"[1,2]\"\n";
        assert_eq!(found, expected);
        assert_eq!(csv::<Row>(&[]).unwrap(), "");
    }

    #[test]
    fn an_object_has_a_row_for_each_value() {
        let found = values_of(&row("b", Some(7))).unwrap();
        let names: Vec<&str> = found.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(names, ["name", "inner.wait", "inner.share", "list"]);
        assert_eq!(found.iter().map(|row| row.value.as_str()).collect::<Vec<_>>(), ["b", "7", "0.25", "[1,2]"]);
    }
}
