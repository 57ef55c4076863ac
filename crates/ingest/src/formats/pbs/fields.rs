//! The fields of a record: `name=value` between blanks. A value with blanks is between quotation marks, with a backslash before such a
//! mark.
//!
//! Torque writes blanks in names of jobs as they are. A word without `=` therefore belongs to the value before it.

use std::cell::Cell;

use super::super::accounting;

/// A field that is read: its name, and the columns of the tables that it fills, or helps to fill.
#[derive(Debug)]
pub(super) struct Key {
    name: &'static str,
    fills: &'static [&'static str],
}

/// Declares the fields that are read: a constant each, which is its place in [`KEYS`].
macro_rules! keys {
    ($($id:ident: $name:literal => [$($fills:literal),*];)+) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of the constants")]
        enum Place { $($id),+ }
        $(pub(super) const $id: usize = Place::$id as usize;)+
        const KEYS: &[Key] = &[$(Key { name: $name, fills: &[$($fills),*] }),+];
    };
}

keys! {
    JOBNAME: "jobname" => ["jobs.name"];
    USER: "user" => ["jobs.user"];
    QUEUE: "queue" => ["jobs.queue"];
    ACCOUNT: "account" => ["jobs.group"];
    PROJECT: "project" => ["jobs.group"];
    GROUP: "group" => ["jobs.group"];
    QOS: "qos" => ["jobs.qos"];
    RESERVATION: "resvID" => ["jobs.reservation"];
    CTIME: "ctime" => ["jobs.submit", "attempts.queued"];
    QTIME: "qtime" => ["jobs.submit", "attempts.queued"];
    ETIME: "etime" => ["jobs.eligible", "attempts.queued"];
    START: "start" => ["jobs.launch", "tasks.start", "attempts.start"];
    END: "end" => ["jobs.finish", "tasks.finish", "attempts.finish"];
    EXIT_STATUS: "Exit_status" => ["jobs.outcome", "tasks.outcome", "attempts.outcome"];
    DEPEND: "depend" => ["jobs.depends_on"];
    EXEC_HOST: "exec_host" => ["attempts.host", "attempts.hosts", "nodes.host", "nodes.cpu", "jobs.requested_containers",
        "jobs.requested_cpu", "tasks.instances", "tasks.cpu_request", "tasks.machines"];
    WALLTIME: "Resource_List.walltime" => ["jobs.requested_time"];
    SELECT: "Resource_List.select" => ["jobs.requested_containers", "jobs.requested_cpu", "jobs.requested_memory", "tasks.instances",
        "tasks.cpu_request", "tasks.memory_request", "tasks.machines", "tasks.resources"];
    NODES: "Resource_List.nodes" => ["jobs.requested_containers", "jobs.requested_cpu", "tasks.instances", "tasks.cpu_request",
        "tasks.machines", "tasks.resources", "tasks.exclusive"];
    PROCS: "Resource_List.procs" => ["jobs.requested_containers", "jobs.requested_cpu", "tasks.instances", "tasks.cpu_request",
        "tasks.machines"];
    NCPUS: "Resource_List.ncpus" => ["jobs.requested_containers", "jobs.requested_cpu", "tasks.instances", "tasks.cpu_request",
        "tasks.machines"];
    MEM: "Resource_List.mem" => ["jobs.requested_memory", "tasks.memory_request"];
    PMEM: "Resource_List.pmem" => ["jobs.requested_memory", "tasks.memory_request"];
    NGPUS: "Resource_List.ngpus" => ["tasks.resources"];
    GPUS: "Resource_List.gpus" => ["tasks.resources"];
    NACCELERATORS: "Resource_List.naccelerators" => ["tasks.resources"];
    PLACE: "Resource_List.place" => ["tasks.machines", "tasks.exclusive"];
    NACCESSPOLICY: "Resource_List.naccesspolicy" => ["tasks.exclusive"];
    CPUT: "resources_used.cput" => ["attempts.cpu_ms"];
    USED_MEM: "resources_used.mem" => ["attempts.physical_memory"];
}

/// The fields that had a value: a bit for each of [`KEYS`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen(u64);

impl Seen {
    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The columns of the tables that are read, each with the name of its field.
    pub(super) fn reads(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let seen = KEYS.iter().enumerate().filter(move |(place, _)| self.0 & (1 << place) != 0);
        seen.flat_map(|(_, key)| key.fills.iter().map(|column| (*column, key.name)))
    }
}

/// The fields of a record. Of those that come twice, the last counts.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    all: Vec<(&'a str, &'a str)>,
    /// Those that were asked for and have a value, as in [`Seen`].
    seen: Cell<u64>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut all: Vec<(&str, &str)> = Vec::new();
        let mut rest = text.trim_start();
        while let Some((name, value)) = rest.split_once('=') {
            let (value, after) = value_of(value);
            all.push((name.trim_start(), value));
            rest = after.trim_start();
        }
        Self { all, seen: Cell::new(0) }
    }

    /// A value; empty if there is none.
    pub(super) fn text(&self, key: usize) -> &'a str {
        let Some(Key { name, .. }) = KEYS.get(key) else { return "" };
        let value = self.all.iter().rev().find(|(known, _)| known == name).map_or("", |(_, value)| value);
        self.seen.set(self.seen.get() | (u64::from(!value.is_empty()) << key));
        value
    }

    /// The fields that were asked for so far and have a value.
    pub(super) fn seen(&self) -> Seen {
        Seen(self.seen.get())
    }

    /// A time in seconds since the epoch, as ms; 0 is none.
    pub(super) fn time(&self, key: usize) -> Option<i64> {
        accounting::whole(self.text(key))?.checked_mul(1_000).filter(|&time| time > 0)
    }

    /// A duration, ms.
    pub(super) fn duration(&self, key: usize) -> Option<i64> {
        accounting::duration(self.text(key))
    }
}

/// The value at the start of a text, and what follows it.
fn value_of(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"')
        && let Some(end) = end_of_quoted(quoted)
    {
        let (value, rest) = quoted.split_at(end);
        return (value, rest.strip_prefix('"').unwrap_or(rest));
    }
    // It ends before the word that has the next `=` in it.
    let next = text.find('=').unwrap_or(text.len());
    let head = text.get(..next).unwrap_or(text);
    let end = match head.rfind(char::is_whitespace) {
        _ if next == text.len() => text.len(),
        Some(end) => end,
        // `a=b=c`: the value has the mark in it, up to the next blank.
        None => return inner(text),
    };
    let (value, rest) = text.split_at(end);
    (value.trim_end(), rest)
}

/// A value that has `=` in it, such as a `select` statement.
fn inner(text: &str) -> (&str, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    text.split_at(end)
}

/// Where the quotation mark is that ends a quoted text.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut is_behind_backslash = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_behind_backslash => return Some(at),
            _ => is_behind_backslash = byte == b'\\' && !is_behind_backslash,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_have_blanks_and_marks_in_them() {
        let text = r#"user=ann account="my \"big\" project" jobname=a b c queue=q Resource_List.select=2:ncpus=16:mem=4gb end=7 x="#;
        let fields = Fields::of(text);
        for (key, value) in [
            (USER, "ann"),
            (ACCOUNT, r#"my \"big\" project"#),
            (JOBNAME, "a b c"),
            (QUEUE, "q"),
            (SELECT, "2:ncpus=16:mem=4gb"),
            (END, "7"),
            (QOS, ""),
            (NODES, ""),
        ] {
            assert_eq!(fields.text(key), value, "{}", KEYS[key].name);
        }
        assert_eq!(fields.time(END), Some(7_000));
        let reads: Vec<_> = fields.seen().reads().filter(|(column, _)| column.starts_with("jobs.")).collect();
        // User, account, name, queue and end fill one each, and `select` three.
        assert_eq!(reads.len(), 5 + 3, "{reads:?}");
        assert!(reads.contains(&("jobs.group", "account")) && !reads.contains(&("jobs.qos", "qos")));
    }

    #[test]
    fn a_quotation_mark_that_nothing_ends_is_a_letter() {
        let fields = Fields::of("user=\"x y queue=2");
        assert_eq!((fields.text(USER), fields.text(QUEUE)), ("\"x y", "2"));
        assert_eq!(Fields::of("").all.len() + Fields::of("no fields here").all.len(), 0);
    }
}
