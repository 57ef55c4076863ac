//! `*_conf.xml`: the settings a job ran with (`docs/formats/conf-xml.md`), reduced to those that bear on scheduling.
//!
//! Only the five entities of XML are expanded, so a document that defines others costs nothing.

use super::format::ReadAs;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::str::FromStr;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

/// The most bytes of a conf that are read; a real one has some 50 KB.
pub(crate) const LONGEST: u64 = 16 << 20;
/// The longest name or value that is kept (bytes): those that are wanted are short.
const LONGEST_VALUE: usize = 4 << 10;

/// The most resources beside memory and vcores that are kept.
const MOST_RESOURCES: usize = 16;

/// The settings of a job. `None`: the conf does not set it, or sets no limit (−1).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobConf {
    /// The queue it was submitted to.
    pub queue: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// How many maps it has: Hadoop sets it on submission to the number of splits.
    pub maps: Option<i64>,
    /// How many reduces it has.
    pub reduces: Option<i64>,
    /// Memory of a map's container, bytes.
    pub map_memory: Option<i64>,
    /// Memory of a reduce's container, bytes.
    pub reduce_memory: Option<i64>,
    /// Processor of a map's container, thousandths of a core.
    pub map_cpu: Option<i64>,
    /// Processor of a reduce's container, thousandths of a core.
    pub reduce_cpu: Option<i64>,
    /// The largest heap of a map's JVM (`-Xmx`), bytes.
    pub map_heap: Option<i64>,
    /// The largest heap of a reduce's JVM (`-Xmx`), bytes.
    pub reduce_heap: Option<i64>,
    /// The share of its maps, 0 to 1, that must have finished before its reduces start.
    pub slow_start: Option<f64>,
    /// Whether slow maps get a backup.
    pub map_speculative: Option<bool>,
    /// Whether slow reduces get a backup.
    pub reduce_speculative: Option<bool>,
    /// The size of the blocks that it writes, bytes.
    pub block_size: Option<i64>,
    /// What the containers of maps, and of reduces, take beside memory and vcores, by name.
    pub resources: [BTreeMap<String, u64>; 2],
    /// The version of Hadoop's defaults: `0.23.0` in all of Hadoop 2, `3.0.0` in Hadoop 3.
    pub version: Option<String>,
}

/// True if a file of this name is a job's conf: `…_conf.xml`, which may have one more extension (`.gz`).
pub fn is_conf_name(name: &str) -> bool {
    name.rsplit_once("_conf.xml").is_some_and(|(_, extension)| {
        extension.is_empty()
            || extension
                .strip_prefix('.')
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

/// What columns are read from in a conf, where the history lacks them.
pub(crate) const READS: &[ReadAs] = &[
    ("jobs.queue", &["mapreduce.job.queuename", "mapred.job.queue.name"]),
    ("jobs.name", &["mapreduce.job.name", "mapred.job.name"]),
    ("jobs.declared_maps", &["mapreduce.job.maps", "mapred.map.tasks"]),
    ("jobs.declared_reduces", &["mapreduce.job.reduces", "mapred.reduce.tasks"]),
    ("jobs.requested_memory", &["mapreduce.map.memory.mb", "mapred.job.map.memory.mb"]),
    ("jobs.requested_cpu", &["mapreduce.map.cpu.vcores"]),
    ("tasks.memory_request", &["mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb"]),
    ("tasks.cpu_request", &["mapreduce.map.cpu.vcores", "mapreduce.reduce.cpu.vcores"]),
    ("tasks.resources", &["mapreduce.map.resource.*", "mapreduce.reduce.resource.*"]),
];

/// Reads a conf, or the part before its damage. The flag says whether it was read to its end.
pub fn parse(input: &mut dyn BufRead) -> (JobConf, bool) {
    let mut settings = Settings::default();
    let whole = settings.read(input.take(LONGEST)).is_ok();
    (settings.conf(), whole)
}

/// The properties of a conf by name; their number is bounded by [`LONGEST`].
#[derive(Default)]
struct Settings(BTreeMap<String, String>);

impl Settings {
    fn read(&mut self, input: impl BufRead) -> Result<(), quick_xml::Error> {
        let mut reader = Reader::from_reader(input);
        reader.config_mut().allow_dangling_amp = true;
        let mut buffer = Vec::new();
        let mut property = Property::default();
        loop {
            match reader.read_event_into(&mut buffer)? {
                Event::Start(element) => match element.name().as_ref() {
                    "property" => property = Property::default(),
                    "name" => property.open = Some(Part::Name),
                    "value" => property.open = Some(Part::Value),
                    _ => property.open = None,
                },
                Event::Text(text) => property.push(&text.xml10_content()),
                Event::CData(text) => property.push(&text.xml10_content()),
                Event::GeneralRef(entity) => match entity.resolve_char_ref() {
                    Ok(Some(character)) => property.push(character.encode_utf8(&mut [0; 4])),
                    _ => property.push(resolve_predefined_entity(&entity).unwrap_or_default()),
                },
                Event::End(element) => {
                    property.open = None;
                    if element.name().as_ref() == "property" {
                        self.set(property.name.trim(), property.value.trim());
                    }
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
            buffer.clear();
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    fn conf(&self) -> JobConf {
        const MIB: i64 = 1 << 20;
        JobConf {
            queue: self.text(&["mapreduce.job.queuename", "mapred.job.queue.name"]),
            name: self.text(&["mapreduce.job.name", "mapred.job.name"]),
            maps: self.count(&["mapreduce.job.maps", "mapred.map.tasks"]),
            reduces: self.count(&["mapreduce.job.reduces", "mapred.reduce.tasks"]),
            map_memory: self.size(&["mapreduce.map.memory.mb", "mapred.job.map.memory.mb"], MIB),
            reduce_memory: self.size(&["mapreduce.reduce.memory.mb", "mapred.job.reduce.memory.mb"], MIB),
            map_cpu: self.size(&["mapreduce.map.cpu.vcores"], 1000),
            reduce_cpu: self.size(&["mapreduce.reduce.cpu.vcores"], 1000),
            map_heap: self
                .get(&["mapreduce.map.java.opts", "mapred.map.child.java.opts", "mapred.child.java.opts"])
                .and_then(heap),
            reduce_heap: self
                .get(&["mapreduce.reduce.java.opts", "mapred.reduce.child.java.opts", "mapred.child.java.opts"])
                .and_then(heap),
            slow_start: self
                .parse(&["mapreduce.job.reduce.slowstart.completedmaps", "mapred.reduce.slowstart.completed.maps"])
                .filter(|share| (0.0..=1.0).contains(share)),
            map_speculative: self.parse(&["mapreduce.map.speculative", "mapred.map.tasks.speculative.execution"]),
            reduce_speculative: self
                .parse(&["mapreduce.reduce.speculative", "mapred.reduce.tasks.speculative.execution"]),
            block_size: self.size(&["dfs.blocksize", "dfs.block.size"], 1),
            resources: ["mapreduce.map.resource.", "mapreduce.reduce.resource."].map(|begin| self.resources(begin)),
            version: self.text(&["hadoop.common.configuration.version"]),
        }
    }

    /// The amounts under names that begin so, but for memory and vcores.
    fn resources(&self, begin: &str) -> BTreeMap<String, u64> {
        let named = self.0.range(begin.to_owned()..).take_while(|(name, _)| name.starts_with(begin));
        let amount = |(name, value): (&String, &String)| {
            let name = name.strip_prefix(begin).filter(|name| !matches!(*name, "memory" | "memory-mb" | "vcores"))?;
            let amount = value.parse().ok().filter(|&amount| amount > 0)?;
            (!name.contains([',', '='])).then(|| (name.to_owned(), amount))
        };
        named.filter_map(amount).take(MOST_RESOURCES).collect()
    }

    /// The value of the first of these names that is set. Hadoop renamed its settings, and the new name counts.
    fn get(&self, names: &[&str]) -> Option<&str> {
        let value = names.iter().find_map(|name| self.0.get(*name))?;
        // `${…}` refers to a setting that is not in the file or would have to be expanded: its value is unknown.
        (!value.contains("${")).then_some(value)
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        self.get(names).map(str::to_owned)
    }

    fn parse<T: FromStr>(&self, names: &[&str]) -> Option<T> {
        self.get(names)?.parse().ok()
    }

    fn count(&self, names: &[&str]) -> Option<i64> {
        self.parse(names).filter(|&count| count >= 0)
    }

    /// A positive number of `unit`s; Hadoop writes −1 for "no limit".
    fn size(&self, names: &[&str], unit: i64) -> Option<i64> {
        self.parse::<i64>(names).filter(|&size| size > 0)?.checked_mul(unit)
    }
}

/// The heap in a JVM's options, such as `-server -Xmx640m`; the last one counts.
fn heap(options: &str) -> Option<i64> {
    let size = options.split_whitespace().filter_map(|option| option.strip_prefix("-Xmx")).next_back()?;
    let digits = size.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let shift = match size.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<i64>().ok().filter(|&size| size > 0)?.checked_mul(1 << shift)
}

#[derive(Clone, Copy)]
enum Part {
    Name,
    Value,
}

/// The property that is being read.
#[derive(Default)]
struct Property {
    open: Option<Part>,
    name: String,
    value: String,
}

impl Property {
    fn push(&mut self, text: &str) {
        let part = match self.open {
            Some(Part::Name) => &mut self.name,
            Some(Part::Value) => &mut self.value,
            None => return,
        };
        if part.len() + text.len() <= LONGEST_VALUE {
            part.push_str(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(text: &str) -> (JobConf, bool) {
        parse(&mut text.as_bytes())
    }

    #[test]
    fn comments_sources_blanks_and_missing_values_are_tolerated() {
        let (conf, whole) = conf(
            "<?xml version=\"1.0\"?><!-- licence --><configuration>\n\
             <property><!--Loaded from job.xml--><name> mapreduce.job.queuename\n</name><value>a &amp; &#x62;</value>\
             <source>x</source><source>y</source></property>\n\
             <property><name>mapreduce.job.name</name></property>\n\
             <property><name>mapreduce.map.memory.mb</name><value>\n1536\n</value><final>true</final></property>\n\
             <property><name>mapreduce.reduce.memory.mb</name><value>-1</value></property>\n\
             <property><name>mapreduce.map.cpu.vcores</name><value><![CDATA[2]]></value></property>\n\
             <property><name>mapreduce.reduce.cpu.vcores</name><value>${x}</value></property>\n\
             </configuration>\n",
        );
        assert!(whole);
        assert_eq!(
            conf,
            JobConf {
                queue: Some("a & b".to_owned()),
                map_memory: Some(1536 << 20),
                map_cpu: Some(2000),
                ..JobConf::default()
            }
        );
    }

    #[test]
    fn what_bears_on_scheduling_is_read_under_old_names_too() {
        let text: String = [
            ("mapred.map.tasks", "12"),
            ("mapred.reduce.tasks", "0"),
            ("mapred.child.java.opts", "-Xmx1g -server -Xmx640M -Djava.io.tmpdir=./tmp"),
            ("mapred.reduce.slowstart.completed.maps", "0.05"),
            ("mapred.map.tasks.speculative.execution", "true"),
            ("mapreduce.reduce.speculative", "false"),
            ("dfs.block.size", "134217728"),
        ]
        .iter()
        .map(|(name, value)| format!("<property><name>{name}</name><value>{value}</value></property>"))
        .collect();
        assert_eq!(
            conf(&format!("<configuration>{text}</configuration>")).0,
            JobConf {
                maps: Some(12),
                reduces: Some(0),
                map_heap: Some(640 << 20),
                reduce_heap: Some(640 << 20),
                slow_start: Some(0.05),
                map_speculative: Some(true),
                reduce_speculative: Some(false),
                block_size: Some(128 << 20),
                ..JobConf::default()
            }
        );
    }

    #[test]
    fn a_heap_of_another_shape_is_unknown() {
        for options in ["", "-Xms5m", "-Xmx", "-Xmxm", "-Xmx5q", "-Xmx-5m", "-Xmx9223372036854775807g", "-Xmx5é"] {
            assert_eq!(heap(options), None, "{options}");
        }
        assert_eq!(heap("-Xmx1024"), Some(1024));
    }

    #[test]
    fn the_new_name_wins_over_the_old_in_either_order() {
        let old = "<property><name>mapred.job.queue.name</name><value>old</value></property>";
        let new = "<property><name>mapreduce.job.queuename</name><value>new</value></property>";
        for text in [format!("<configuration>{old}{new}</configuration>"), format!("<c>{new}{old}</c>")] {
            assert_eq!(conf(&text).0.queue.as_deref(), Some("new"));
        }
        assert_eq!(conf(&format!("<c>{old}</c>")).0.queue.as_deref(), Some("old"));
    }

    #[test]
    fn an_entity_bomb_is_no_more_than_text() {
        let mut text = String::from("<!DOCTYPE c [<!ENTITY a0 \"boom\">");
        for level in 1..30 {
            let below = format!("&a{};", level - 1).repeat(10);
            text.push_str(&format!("<!ENTITY a{level} \"{below}\">"));
        }
        text.push_str("]><c><property><name>mapreduce.job.name</name><value>x&a29;y</value></property></c>");
        assert_eq!(conf(&text).0.name.as_deref(), Some("xy"));
    }

    #[test]
    fn what_stands_before_the_damage_is_kept() {
        let (found, whole) =
            conf("<c><property><name>mapreduce.job.name</name><value>n</value></property><property></value>");
        assert!(!whole);
        assert_eq!(found.name.as_deref(), Some("n"));
        assert_eq!(conf("no XML at all").0, JobConf::default());
        assert!(!parse(&mut &b"<c>\xff</c>"[..]).1);
    }

    #[test]
    fn conf_names_are_reported_from_histories() {
        assert!(is_conf_name("job_1_2_conf.xml"));
        assert!(is_conf_name("jt_1_job_1_2_conf.xml.gz"));
        assert!(!is_conf_name("job_1_2_conf.xml.old~"));
        assert!(!is_conf_name("job_1_2_user_conf"));
    }
}
