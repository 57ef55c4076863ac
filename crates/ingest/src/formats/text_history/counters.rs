//! The two ways in which histories write counters, and the columns for some of them.

use resched_tables::model::{AttemptRow, TaskKind, TaskRow};

/// A counter; `name` is the name of Hadoop's enumeration where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) group: String,
    pub(super) name: String,
    pub(super) value: i64,
}

/// The most counters of one record that are kept; Hadoop's own limit is some hundred.
pub(crate) const MOST_COUNTERS: usize = 10_000;
/// The longest name of a counter or group (bytes): each counter holds a copy of its group's.
const LONGEST_NAME: usize = 1 << 10;

/// The groups of Hadoop's own counters: a user's group may hold a counter of the same name.
const SYSTEM_GROUPS: &[&str] = &[
    "FileSystemCounters",
    "org.apache.hadoop.mapred.Task$Counter",
    "org.apache.hadoop.mapreduce.FileSystemCounter",
    "org.apache.hadoop.mapreduce.TaskCounter",
    "File Systems",
    "Map-Reduce Framework",
];

/// The display names of 0.18, and the names of the enumeration.
const DISPLAY_NAMES: &[(&str, &str)] = &[
    ("HDFS bytes read", "HDFS_BYTES_READ"),
    ("HDFS bytes written", "HDFS_BYTES_WRITTEN"),
    ("Local bytes read", "FILE_BYTES_READ"),
    ("Local bytes written", "FILE_BYTES_WRITTEN"),
    ("Map input bytes", "MAP_INPUT_BYTES"),
    ("Map input records", "MAP_INPUT_RECORDS"),
    ("Map output bytes", "MAP_OUTPUT_BYTES"),
    ("Map output records", "MAP_OUTPUT_RECORDS"),
    ("Combine input records", "COMBINE_INPUT_RECORDS"),
    ("Combine output records", "COMBINE_OUTPUT_RECORDS"),
    ("Reduce input groups", "REDUCE_INPUT_GROUPS"),
    ("Reduce input records", "REDUCE_INPUT_RECORDS"),
    ("Reduce output records", "REDUCE_OUTPUT_RECORDS"),
    ("Spilled Records", "SPILLED_RECORDS"),
    ("Launched map tasks", "TOTAL_LAUNCHED_MAPS"),
    ("Launched reduce tasks", "TOTAL_LAUNCHED_REDUCES"),
    ("Data-local map tasks", "DATA_LOCAL_MAPS"),
    ("Rack-local map tasks", "RACK_LOCAL_MAPS"),
];

/// The counters in a `COUNTERS` value (already unescaped once), and whether all of it could be read.
pub(super) fn parse(text: &str) -> (Vec<Counter>, bool) {
    let mut counters = Vec::new();
    if text.starts_with('{') {
        let whole = parse_groups(text, &mut counters).is_some();
        return (counters, whole);
    }
    let mut whole = true;
    for entry in text.split(',') {
        match parse_displayed(entry) {
            Some(counter) if counters.len() < MOST_COUNTERS => counters.push(counter),
            _ => whole = false,
        }
    }
    (counters, whole)
}

/// 0.20 and later: `{(group)(display)[(name)(display)(value)]…}…`.
fn parse_groups(text: &str, counters: &mut Vec<Counter>) -> Option<()> {
    let mut rest = text;
    while !rest.is_empty() {
        let (group, after) = token(rest.strip_prefix('{')?)?;
        let (_, after) = token(after)?;
        rest = after;
        while let Some(entry) = rest.strip_prefix('[') {
            let (name, after) = token(entry)?;
            let (_, after) = token(after)?;
            let (value, after) = token(after)?;
            if counters.len() == MOST_COUNTERS {
                return None;
            }
            counters.push(Counter { group: group.clone(), name, value: value.parse().ok()? });
            rest = after.strip_prefix(']')?;
        }
        rest = rest.strip_prefix('}')?;
    }
    Some(())
}

/// A `(…)` of bounded length in which a backslash guards the next character, and what follows it.
fn token(text: &str) -> Option<(String, &str)> {
    let text = text.strip_prefix('(')?;
    let mut token = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next().filter(|_| token.len() <= LONGEST_NAME) {
        match c {
            ')' => return text.get(at + 1..).map(|after| (token, after)),
            '\\' => token.push(chars.next()?.1),
            _ => token.push(c),
        }
    }
    None
}

/// 0.18: `group.display name:value`.
fn parse_displayed(entry: &str) -> Option<Counter> {
    let (name, value) = entry.rsplit_once(':')?;
    let (group, display) = name.split_once('.').filter(|_| name.len() <= LONGEST_NAME)?;
    let known = DISPLAY_NAMES.iter().find(|(shown, _)| *shown == display);
    let name = known.map_or(display, |(_, name)| name).to_owned();
    Some(Counter { group: group.to_owned(), name, value: value.trim().parse().ok()? })
}

impl Counter {
    /// The name and value, if this is one of Hadoop's own counters and no negative sentinel.
    fn system(&self) -> Option<(&str, i64)> {
        (SYSTEM_GROUPS.contains(&self.group.as_str()) && self.value >= 0).then_some((&self.name, self.value))
    }

    /// Puts the value into the attempt's column for it; false if there is none.
    pub(super) fn fill_attempt(&self, row: &mut AttemptRow) -> bool {
        let Some((name, value)) = self.system() else { return false };
        let column = match name {
            "HDFS_BYTES_READ" => &mut row.hdfs_bytes_read,
            "HDFS_BYTES_WRITTEN" => &mut row.hdfs_bytes_written,
            "FILE_BYTES_READ" => &mut row.file_bytes_read,
            "FILE_BYTES_WRITTEN" => &mut row.file_bytes_written,
            "MAP_INPUT_BYTES" => &mut row.map_input_bytes,
            "MAP_OUTPUT_BYTES" => &mut row.map_output_bytes,
            "REDUCE_SHUFFLE_BYTES" => &mut row.reduce_shuffle_bytes,
            "SPILLED_RECORDS" => &mut row.spilled_records,
            "CPU_MILLISECONDS" => &mut row.cpu_ms,
            "PHYSICAL_MEMORY_BYTES" => &mut row.physical_memory,
            _ => return false,
        };
        *column = Some(value);
        true
    }

    /// Puts the value into the task's column for it; false if there is none. A map's input is what it read from HDFS
    /// and its output what it handed to the shuffle; a reduce's input is what it fetched and its output what it wrote.
    pub(super) fn fill_task(&self, row: &mut TaskRow) -> bool {
        let Some((name, value)) = self.system() else { return false };
        let column = match (row.kind, name) {
            (TaskKind::Map, "HDFS_BYTES_READ") | (TaskKind::Reduce, "REDUCE_SHUFFLE_BYTES") => &mut row.input_bytes,
            (TaskKind::Map, "MAP_OUTPUT_BYTES") | (TaskKind::Reduce, "HDFS_BYTES_WRITTEN") => &mut row.output_bytes,
            (TaskKind::Map, "MAP_INPUT_RECORDS") | (TaskKind::Reduce, "REDUCE_INPUT_RECORDS") => &mut row.input_records,
            (TaskKind::Map, "MAP_OUTPUT_RECORDS") | (TaskKind::Reduce, "REDUCE_OUTPUT_RECORDS") => {
                &mut row.output_records
            }
            _ => return false,
        };
        *column = Some(value);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(group: &str, name: &str, value: i64) -> Counter {
        Counter { group: group.to_owned(), name: name.to_owned(), value }
    }

    #[test]
    fn groups_are_escaped_a_second_time() {
        let (counters, whole) =
            parse(r"{(g\(1\))(shown)[(Physical memory \(bytes\) snapshot)(x)(7)][(b)(b)(-2)]}{(empty)(empty)}");
        assert!(whole);
        assert_eq!(counters, [counter("g(1)", "Physical memory (bytes) snapshot", 7), counter("g(1)", "b", -2)]);
    }

    #[test]
    fn what_stands_before_the_damage_is_kept() {
        for text in
            ["{(g)(g)[(a)(a)(1)][(b)(b)(x)]}", "{(g)(g)[(a)(a)(1)][(b)(b", "{(g)(g)[(a)(a)(1)]", "{(g)(g)[(a)(a)(1)]}x"]
        {
            assert_eq!(parse(text), (vec![counter("g", "a", 1)], false), "{text}");
        }
    }

    #[test]
    fn display_names_of_0_18_become_names_of_the_enumeration() {
        let (counters, whole) = parse("File Systems.HDFS bytes read:148926,User.a.b: c:3");
        assert!(whole);
        assert_eq!(counters, [counter("File Systems", "HDFS_BYTES_READ", 148_926), counter("User", "a.b: c", 3)]);
        assert!(!parse("File Systems.HDFS bytes read:").1);
    }

    #[test]
    fn floods_are_bounded() {
        for (surplus, is_whole) in [(0, true), (1, false)] {
            let flood = format!("{{(g)(g){}}}", "[(a)(a)(1)]".repeat(MOST_COUNTERS + surplus));
            let (counters, whole) = parse(&flood);
            assert_eq!((counters.len(), whole), (MOST_COUNTERS, is_whole));
            let displayed = vec!["g.a:1"; MOST_COUNTERS + surplus].join(",");
            let (counters, whole) = parse(&displayed);
            assert_eq!((counters.len(), whole), (MOST_COUNTERS, is_whole));
        }
        let long = "g".repeat(2 * LONGEST_NAME);
        assert_eq!(parse(&format!("{{({long})(g)[(a)(a)(1)]}}")), (Vec::new(), false));
        assert_eq!(parse(&format!("{long}.a:1")), (Vec::new(), false));
    }

    #[test]
    fn a_counter_of_the_users_own_fills_no_column() {
        let mut row = AttemptRow::default();
        assert!(!counter("mine", "HDFS_BYTES_READ", 5).fill_attempt(&mut row));
        assert!(!counter("FileSystemCounters", "HDFS_BYTES_READ", -1).fill_attempt(&mut row));
        assert_eq!(row.hdfs_bytes_read, None);
        assert!(counter("FileSystemCounters", "HDFS_BYTES_READ", 5).fill_attempt(&mut row));
        assert_eq!(row.hdfs_bytes_read, Some(5));
    }
}
