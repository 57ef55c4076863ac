//! `*_conf.xml`: the settings a job ran with (`spec/formats.md` 3), reduced to those that a trace has columns for.
//!
//! Entities other than the five of XML are left as they stand, so a document that defines its own costs nothing.

use std::io::{BufRead, Read};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

/// The most bytes of a conf that are read; a real one has some 50 KB.
const LONGEST: u64 = 16 << 20;
/// The longest name or value that is kept (bytes): those that are wanted are short.
const LONGEST_VALUE: usize = 4 << 10;

/// What a conf says about its job. `None`: nothing, or that there is no such limit (−1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobConf {
    /// The queue it was submitted to.
    pub queue: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// Memory of a map's container, bytes.
    pub map_memory: Option<i64>,
    /// Memory of a reduce's container, bytes.
    pub reduce_memory: Option<i64>,
    /// Processor of a map's container, thousandths of a core.
    pub map_cpu: Option<i64>,
    /// Processor of a reduce's container, thousandths of a core.
    pub reduce_cpu: Option<i64>,
}

/// Whether a file of this name is a job's conf: `…_conf.xml`, which may have one more extension (`.gz`).
pub fn is_conf_name(name: &str) -> bool {
    name.rsplit_once("_conf.xml").is_some_and(|(_, extension)| {
        extension.is_empty()
            || extension
                .strip_prefix('.')
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

/// Reads a conf; the flag says whether it could be read to its end. What stands before the damage is kept.
pub fn parse(input: &mut dyn BufRead) -> (JobConf, bool) {
    let mut settings = Settings::default();
    let whole = read_properties(input.take(LONGEST), |name, value| settings.set(name, value)).is_ok();
    (settings.conf(), whole)
}

/// Calls `found` with the name and value of each property.
fn read_properties(input: impl BufRead, mut found: impl FnMut(&str, &str)) -> Result<(), quick_xml::Error> {
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
                    found(property.name.trim(), property.value.trim());
                }
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
        buffer.clear();
    }
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

/// A setting that Hadoop renamed; the new name counts where both are set.
#[derive(Default)]
struct Renamed {
    new: Option<String>,
    old: Option<String>,
}

#[derive(Default)]
struct Settings {
    queue: Renamed,
    name: Renamed,
    map_memory: Renamed,
    reduce_memory: Renamed,
    map_cpu: Renamed,
    reduce_cpu: Renamed,
}

impl Settings {
    fn set(&mut self, name: &str, value: &str) {
        let slot = match name {
            "mapreduce.job.queuename" => &mut self.queue.new,
            "mapred.job.queue.name" => &mut self.queue.old,
            "mapreduce.job.name" => &mut self.name.new,
            "mapred.job.name" => &mut self.name.old,
            "mapreduce.map.memory.mb" => &mut self.map_memory.new,
            "mapred.job.map.memory.mb" => &mut self.map_memory.old,
            "mapreduce.reduce.memory.mb" => &mut self.reduce_memory.new,
            "mapred.job.reduce.memory.mb" => &mut self.reduce_memory.old,
            "mapreduce.map.cpu.vcores" => &mut self.map_cpu.new,
            "mapreduce.reduce.cpu.vcores" => &mut self.reduce_cpu.new,
            _ => return,
        };
        if !value.is_empty() {
            *slot = Some(value.to_owned());
        }
    }

    fn conf(self) -> JobConf {
        JobConf {
            queue: self.queue.text(),
            name: self.name.text(),
            map_memory: self.map_memory.number(1 << 20),
            reduce_memory: self.reduce_memory.number(1 << 20),
            map_cpu: self.map_cpu.number(1000),
            reduce_cpu: self.reduce_cpu.number(1000),
        }
    }
}

impl Renamed {
    fn text(self) -> Option<String> {
        // `${…}` refers to a setting that is not in the file or would have to be expanded: it says nothing by itself.
        self.new.or(self.old).filter(|value| !value.contains("${"))
    }

    /// A positive number in units of `unit`; Hadoop writes −1 for "no limit".
    fn number(self, unit: i64) -> Option<i64> {
        self.text()?.parse::<i64>().ok().filter(|&number| number > 0)?.checked_mul(unit)
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
    fn conf_names_are_told_from_histories() {
        assert!(is_conf_name("job_1_2_conf.xml"));
        assert!(is_conf_name("jt_1_job_1_2_conf.xml.gz"));
        assert!(!is_conf_name("job_1_2_conf.xml.old~"));
        assert!(!is_conf_name("job_1_2_user_conf"));
    }
}
