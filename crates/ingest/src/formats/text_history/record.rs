//! The grammar of one record: `<Type> KEY="value" KEY="value" … .`

/// The most keys of a record that are kept; a real one has some twenty.
pub(crate) const MOST_KEYS: usize = 256;

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordType {
    Meta,
    Job,
    Task,
    /// `MapAttempt` and `ReduceAttempt`: which one says nothing about the task's kind (`TASK_TYPE` does).
    Attempt,
    Unknown,
}

/// A parsed record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: RecordType,
    keys: Vec<(String, String)>,
    /// True if some of it was not `KEY="value"`.
    pub(super) damaged: bool,
}

impl Record {
    /// The value of a key, unless it is absent or empty. The last one wins.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let found = self.keys.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A whole number of at least 0: a count.
    pub(super) fn count(&self, key: &str) -> Option<i64> {
        self.get(key)?.trim().parse().ok().filter(|&count| count >= 0)
    }

    /// An instant in ms. 0 is what Hadoop writes for "not yet".
    pub(super) fn time(&self, key: &str) -> Option<i64> {
        self.count(key).filter(|&time| time > 0)
    }
}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// 0.20 and 1.x: `\x` stands for `x`, and ` .` ends a record.
    Escaped,
    /// 0.18: neither.
    Plain,
}

/// True if this line begins a record: a word and `KEY="`. In the escaped syntax no line inside a value looks like this.
pub(super) fn begins_record(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(kind, rest)| {
        !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphabetic()) && key_at(rest).is_some()
    })
}

/// The type of the record that begins with this line.
pub(super) fn record_type(line: &str) -> RecordType {
    match line.split(' ').next() {
        Some("Meta") => RecordType::Meta,
        Some("Job") => RecordType::Job,
        Some("Task") => RecordType::Task,
        Some("MapAttempt" | "ReduceAttempt") => RecordType::Attempt,
        _ => RecordType::Unknown,
    }
}

/// True if a line ends a record of the escaped syntax.
pub(super) fn ends_record(line: &str) -> bool {
    line.ends_with(" .")
}

/// Parses a record. Text that is not `KEY="value"` is skipped, so a damaged record keeps the keys that are whole.
pub(super) fn parse(text: &str, syntax: Syntax) -> Record {
    let (_, rest) = text.split_once(' ').unwrap_or((text, ""));
    let mut record = Record { kind: record_type(text), keys: Vec::new(), damaged: false };
    let mut rest = match syntax {
        Syntax::Escaped => rest.strip_suffix(" .").unwrap_or(rest),
        Syntax::Plain => rest,
    }
    .trim();
    while !rest.is_empty() {
        let Some((key, after)) = key_at(rest) else {
            record.damaged = true;
            let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
            rest = rest.get(word..).unwrap_or_default().trim_start();
            continue;
        };
        let value = match syntax {
            Syntax::Escaped => escaped_value(after),
            Syntax::Plain => plain_value(after),
        };
        // A value without an end leaves no end for any later one either.
        let Some((value, after)) = value.filter(|_| record.keys.len() < MOST_KEYS) else {
            record.damaged = true;
            break;
        };
        record.keys.push((key.to_owned(), value));
        rest = after.trim_start();
    }
    record
}

/// The key at the start of `text`, and the text after its `="`.
fn key_at(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')?;
    let (key, rest) = text.split_at_checked(end)?;
    let value = rest.strip_prefix("=\"")?;
    (!key.is_empty()).then_some((key, value))
}

/// A value up to the first quote that has no backslash before it, unescaped.
fn escaped_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return text.get(at + 1..).map(|after| (value, after)),
            '\\' => value.push(chars.next()?.1),
            _ => value.push(c),
        }
    }
    None
}

/// A value up to the first quote after which a key or the end of the record stands: 0.18 does not escape quotes.
fn plain_value(text: &str) -> Option<(String, &str)> {
    text.match_indices('"').find_map(|(at, _)| {
        let after = text.get(at + 1..)?;
        let ends = after.is_empty() || (after.starts_with(' ') && key_at(after.trim_start()).is_some());
        ends.then(|| (text.get(..at).unwrap_or_default().to_owned(), after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_unescaped() {
        let text = r#"Task TASKID="task_1_2_m_3" ERROR="say \"a\=b\"\.\\
second line" TOTAL="5" ."#;
        let record = parse(text, Syntax::Escaped);
        assert_eq!(record.kind, RecordType::Task);
        assert_eq!(record.get("ERROR"), Some("say \"a=b\".\\\nsecond line"));
        assert_eq!(record.count("TOTAL"), Some(5));
        assert!(!record.damaged);
    }

    #[test]
    fn a_cut_record_keeps_its_whole_keys() {
        let record = parse(r#"Task TASKID="t" TASK_TY ."#, Syntax::Escaped);
        assert!(record.damaged);
        assert_eq!(record.get("TASKID"), Some("t"));
        let record = parse(r#"Task junk TASKID="t" ERROR="never ends"#, Syntax::Escaped);
        assert!(record.damaged);
        assert_eq!(record.get("TASKID"), Some("t"));
        assert_eq!(record.get("ERROR"), None);
    }

    #[test]
    fn the_plain_syntax_keeps_backslashes_and_inner_quotes() {
        let record = parse(r#"Job JOBNAME="a "quoted" C:\dir" USER="u""#, Syntax::Plain);
        assert_eq!(record.get("JOBNAME"), Some(r#"a "quoted" C:\dir"#));
        assert_eq!(record.get("USER"), Some("u"));
    }

    #[test]
    fn the_last_of_repeated_keys_wins_and_zero_is_no_time() {
        let record = parse(r#"Job A="1" A="2" START_TIME="0" N="-1" ."#, Syntax::Escaped);
        assert_eq!(record.get("A"), Some("2"));
        assert_eq!(record.time("START_TIME"), None);
        assert_eq!(record.count("N"), None);
    }

    #[test]
    fn a_stack_trace_begins_no_record() {
        assert!(begins_record(r#"Meta VERSION="1" ."#));
        assert!(!begins_record("\tat org\\.apache\\.hadoop\\.mapred\\.TaskRunner\\.run(TaskRunner\\.java:424)"));
        assert!(!begins_record(r#"said x\="1""#));
    }

    #[test]
    fn a_flood_of_keys_is_bounded() {
        let of = |keys: usize| {
            let record = parse(&format!("Job {}.", "A=\"1\" ".repeat(keys)), Syntax::Escaped);
            (record.keys.len(), record.damaged)
        };
        assert_eq!([of(MOST_KEYS), of(MOST_KEYS + 1)], [(MOST_KEYS, false), (MOST_KEYS, true)]);
        let text = format!("Job {}", "A=\"1\" ".repeat(10_000));
        assert_eq!(parse(&text, Syntax::Escaped).keys.len(), MOST_KEYS);
    }
}
