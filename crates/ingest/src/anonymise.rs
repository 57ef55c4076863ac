//! Replaces the names in a trace, so that you can share it.
//!
//! Each name is replaced by a keyed hash (HMAC-SHA-256, the first 64 bits, hexadecimal). With one key, a name has the
//! same pseudonym in every trace. Without the key, nobody can test a guess.
//!
//! | replaced | by |
//! |---|---|
//! | job ids, also in the dependencies of other jobs | `job_<hash>` |
//! | task ids | `task_<job's hash>_m_000004` if the id gives kind and number in this way, else `task_<job's hash>_t<place in the job>` |
//! | names of jobs, users, groups, qualities of service, hosts, stages, counters and their groups | `<hash>` |
//! | features, labels and taints of machines, flavours, and the names of licences and other resources | name by name, as `<hash>`; counts and the marks between features stay |
//! | queues and racks | part by part (`root.a.b`, `/room/rack`), so that the hierarchy stays; a part is hashed with those above it |
//! | frameworks | `<hash>`, unless a reader of resched gives the name |
//! | the owner of an executor in `nodes`, and the applications of the manifest | as the group of their jobs |
//! | settings of applications | the queue by its pseudonym; others stay if they are numbers, sizes, durations or switches, or are dropped |
//! | error texts of failed attempts | nothing: they are dropped |
//! | paths of sources | `source-1`, …; their hashes by keyed ones |
//!
//! Times, sizes, counts, outcomes, priorities, requests and dependencies stay. So do Hadoop's own words `default`,
//! `root` and `default-rack`. Somebody who knows when jobs ran, or how large they were, can recognise them.
//!
//! Jobs are sorted by submission, and jobs of one instant by pseudonym. Machines are sorted by pseudonym. So the order
//! reveals nothing about names. Replays break ties by names, so a replay of the new trace is like a replay of the old
//! one with other draws.

mod lists;

use std::collections::BTreeMap;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use resched_tables::Error;
use resched_tables::model::{JobRecord, NodeRow, TaskRecord};
use resched_tables::placed;
use resched_tables::records::Source;
use resched_tables::sink::Applications;
use resched_tables::store::{Manifest, Out, StagedFile, TraceWriter, hex};
use resched_tables::whole;

/// Bytes of a key that resched makes.
const KEY_BYTES: usize = 32;
/// The fewest bytes of a key that you give: 128 bits.
const LEAST_KEY_BYTES: usize = 16;
/// The most rows that are held to sort jobs. A larger trace is read in several passes. Tests use a small number, so
/// that they need several passes, too.
const ROWS_HELD: u64 = if cfg!(test) { 10 } else { 2_000_000 };
/// The most pseudonyms that are kept for reuse.
const MOST_KEPT: usize = 1_000_000;

/// Words of Hadoop that name nobody.
const OWN_WORDS: [&str; 3] = ["default", "root", "default-rack"];
/// Settings of Spark whose value is a queue.
const YARN_QUEUE: &str = "spark.yarn.queue";
const POOL: &str = "spark.scheduler.pool";
/// Frameworks whose names the readers of resched give.
const FRAMEWORKS: [&str; 11] =
    ["mapreduce", "spark", "tez", "swf", "gwf", "kueue", "slurm", "pbs", "lsf", "gridengine", "table"];

/// Kinds of Kubernetes' objects whose names are those of frameworks, in small letters. Others may be a site's own.
const KINDS: [&str; 14] = [
    "job",
    "pod",
    "podgroup",
    "jobset",
    "rayjob",
    "raycluster",
    "pytorchjob",
    "mpijob",
    "tfjob",
    "trainjob",
    "leaderworkerset",
    "deployment",
    "replicaset",
    "statefulset",
];

/// The kind of thing that has a name. Two names of a kind have the same pseudonym if and only if they are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
enum Kind {
    Job = 1,
    JobName = 2,
    User = 3,
    Queue = 4,
    Group = 5,
    Framework = 6,
    Stage = 7,
    Host = 8,
    Rack = 9,
    Counter = 10,
    Source = 11,
    Qos = 12,
    Feature = 13,
    Resource = 14,
    Reservation = 15,
}

/// The secret from which pseudonyms are made.
pub struct Key(Hmac<Sha256>);

impl Key {
    /// The key in a file: its bytes as they are.
    ///
    /// # Errors
    /// [`Error::Request`] if it cannot be read or is too short.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |problem: String| Error::Request(format!("{}: {problem}; name another --key", path.display()));
        let bytes =
            whole::bytes(path, whole::MOST_TEXT).map_err(|error| wrong(format!("cannot read the key ({error})")))?;
        if bytes.len() < LEAST_KEY_BYTES {
            return Err(wrong(format!("expected a key of at least {LEAST_KEY_BYTES} bytes, found {}", bytes.len())));
        }
        Ok(Self::of(&bytes))
    }

    /// Makes a key and writes it to a new file that only its owner may read. The file appears when it is committed.
    ///
    /// # Errors
    /// [`Error::Request`] if the file already exists or cannot be made, [`Error::Io`] if it cannot be written.
    pub fn make(path: &Path) -> Result<(Self, StagedFile), Error> {
        if path.exists() {
            let problem = "expected no key file, found one; use it with --key, or move it away";
            return Err(Error::Request(format!("{}: {problem}", path.display())));
        }
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| Error::io(path, "make a random key for")(error.into()))?;
        let mut file = StagedFile::create_private(path)?;
        file.write_all(&bytes)?;
        Ok((Self::of(&bytes), file))
    }

    fn of(bytes: &[u8]) -> Self {
        // HMAC takes keys of any length, so this error cannot happen.
        let mac = Hmac::new_from_slice(bytes).unwrap_or_else(|_| Hmac::new(&Default::default()));
        Self(mac)
    }

    fn hash(&self, kind: Kind, text: &str) -> u64 {
        let mut mac = self.0.clone();
        mac.update(&[kind as u8]);
        mac.update(text.as_bytes());
        let hash: [u8; 32] = mac.finalize().into_bytes().into();
        u64::from_be_bytes(std::array::from_fn(|n| hash.get(n).copied().unwrap_or_default()))
    }
}

/// Writes the trace `source` to `out` with its names replaced. Returns the manifest as written.
///
/// # Errors
/// [`Error::Request`] if `source` is not a trace, or `out` is the same folder or cannot be written; otherwise as for reading and writing
/// tables. Then nothing is left behind.
pub fn anonymise(source: &Path, out: impl Into<Out>, key: &Key) -> Result<Manifest, Error> {
    let out = out.into();
    out.check_apart_from(source)?;
    let source = Source::open(source)?;
    let Some(manifest) = source.manifest() else {
        return Err(Error::Request("expected a trace, found a run; replay the anonymised trace instead".to_owned()));
    };
    let mut names = Names { key, kept: BTreeMap::new() };
    let mut writer = TraceWriter::create(out)?;
    let order = order(&source, key)?;
    if order.is_sorted() {
        for record in source.records()? {
            writer.job(&names.record(record?))?;
        }
    } else {
        let rows: u64 = manifest.rows.values().sum();
        let passes = rows.div_ceil(ROWS_HELD).max(1);
        let mut sorted = order;
        sorted.sort_unstable();
        let jobs = sorted.len().div_ceil(usize::try_from(passes).unwrap_or(usize::MAX)).max(1);
        for places in sorted.chunks(jobs) {
            write_pass(&source, places, &mut names, &mut writer)?;
        }
    }
    let mut nodes: Vec<NodeRow> = source.nodes()?.into_iter().map(|row| names.node(row)).collect();
    nodes.sort_by(|a, b| (a.time, &a.rack, &a.host, &a.group).cmp(&(b.time, &b.rack, &b.host, &b.group)));
    nodes.iter().try_for_each(|node| writer.node(node))?;
    let mut manifest = manifest.clone();
    manifest.applications = names.applications(&manifest.applications);
    for (number, source) in manifest.sources.iter_mut().enumerate() {
        source.path = format!("source-{}", number + 1);
        source.sha256 = hex(key.hash(Kind::Source, &source.sha256).to_be_bytes());
    }
    writer.finish(manifest)
}

/// True if a setting of an application is a number, a duration, a size, a version or a switch, under a name without free parts.
fn names_nobody(name: &str, value: &str) -> bool {
    const WORDS: [&str; 4] = ["true", "false", "FIFO", "FAIR"];
    let is_number = value.len() <= 20 && value.starts_with(|first: char| first.is_ascii_digit());
    let known = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') && !name.contains("eventqueue");
    known && (WORDS.contains(&value) || is_number)
}

/// The place of a job in the new trace: its submission and its pseudonym.
type Place = (Option<i64>, u64);

/// The places of the jobs, in the order of the old trace.
fn order(source: &Source, key: &Key) -> Result<Vec<Place>, Error> {
    source.jobs()?.map(|row| row.map(|row| (row.submit, key.hash(Kind::Job, &row.job_id)))).collect()
}

/// Writes the jobs of these places, which are sorted.
fn write_pass(source: &Source, places: &[Place], names: &mut Names<'_>, writer: &mut TraceWriter) -> Result<(), Error> {
    let mut held: BTreeMap<usize, JobRecord> = BTreeMap::new();
    for record in source.records()? {
        let record = record?;
        let place = (record.job.submit, names.key.hash(Kind::Job, &record.job.job_id));
        if let Ok(place) = places.binary_search(&place) {
            held.insert(place, names.record(record));
        }
    }
    held.values().try_for_each(|record| writer.job(record))
}

/// Replaces names by pseudonyms.
struct Names<'k> {
    key: &'k Key,
    /// Pseudonyms that are needed often.
    kept: BTreeMap<(Kind, String), String>,
}

impl Names<'_> {
    fn record(&mut self, mut record: JobRecord) -> JobRecord {
        let job = &mut record.job;
        let hash = self.hash(Kind::Job, &job.job_id);
        let job_id = format!("job_{hash}");
        let old_id = std::mem::replace(&mut job.job_id, job_id.clone());
        for (kind, text) in [
            (Kind::JobName, &mut job.name),
            (Kind::User, &mut job.user),
            (Kind::Queue, &mut job.queue),
            (Kind::Group, &mut job.group),
            (Kind::Framework, &mut job.framework),
            (Kind::Qos, &mut job.qos),
            (Kind::Reservation, &mut job.reservation),
            (Kind::Feature, &mut job.features),
            (Kind::Resource, &mut job.licenses),
            (Kind::Resource, &mut job.demand_resources),
        ] {
            self.replace(kind, text);
        }
        // Slurm's own words are no names, but some versions print names of nodes behind them.
        job.wait_reason.take_if(|reason| !reason.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        for id in job.depends_on.iter_mut().chain(&mut job.array).chain(&mut job.together) {
            *id = format!("job_{}", self.hash(Kind::Job, id));
        }
        let mut task_ids = BTreeMap::new();
        for (place, task) in record.tasks.iter_mut().enumerate() {
            let old = self.task(task, &old_id, &hash, place);
            if !record.counters.is_empty() {
                task_ids.insert(old, task.task.task_id.clone());
            }
        }
        for counter in &mut record.counters {
            counter.id = match counter.id.rsplit_once('/') {
                _ if counter.id == old_id => job_id.clone(),
                Some((task, attempt)) if task_ids.contains_key(task) && attempt.parse::<i64>().is_ok() => {
                    format!("{}/{attempt}", task_ids.get(task).cloned().unwrap_or_default())
                }
                _ => task_ids.get(&counter.id).cloned().unwrap_or_else(|| job_id.clone()),
            };
            counter.group = self.kept(Kind::Counter, &counter.group);
            counter.name = self.kept(Kind::Counter, &counter.name);
        }
        record
    }

    /// Names a task. Returns its old id.
    fn task(&mut self, record: &mut TaskRecord, old_job: &str, hash: &str, place: usize) -> String {
        let TaskRecord { task, splits, attempts } = record;
        let job_id = format!("job_{hash}");
        let task_id = match kind_and_number(&task.task_id, old_job) {
            Some(suffix) => format!("task_{hash}{suffix}"),
            None => format!("task_{hash}_t{place}"),
        };
        let old = std::mem::replace(&mut task.task_id, task_id.clone());
        task.job_id.clone_from(&job_id);
        self.replace(Kind::Stage, &mut task.stage);
        self.replace(Kind::Resource, &mut task.resources);
        for text in [&mut task.node_selector, &mut task.tolerations] {
            self.replace(Kind::Feature, text);
        }
        // What cannot be read is not kept: it might hold names.
        task.affinity = task.affinity.as_deref().and_then(|text| self.affinity(text));
        for stage in &mut task.depends_on {
            *stage = self.kept(Kind::Stage, stage);
        }
        for split in splits {
            split.task_id.clone_from(&task_id);
            self.replace(Kind::Host, &mut split.host);
            self.replace(Kind::Rack, &mut split.rack);
        }
        for attempt in attempts {
            attempt.job_id.clone_from(&job_id);
            attempt.task_id.clone_from(&task_id);
            self.replace(Kind::Host, &mut attempt.host);
            let places = attempt.hosts.as_deref().and_then(placed::places).unwrap_or_default();
            let places: Vec<(String, u32)> =
                places.iter().map(|(host, instances)| (self.kept(Kind::Host, host), *instances)).collect();
            // What cannot be read is not kept: it might hold names.
            attempt.hosts = (!places.is_empty())
                .then(|| placed::as_text(places.iter().map(|(host, instances)| (host.as_str(), *instances))));
            self.replace(Kind::Rack, &mut attempt.rack);
            self.replace(Kind::Feature, &mut attempt.flavors);
            attempt.error = None;
        }
        old
    }

    fn node(&mut self, mut node: NodeRow) -> NodeRow {
        node.host = self.kept(Kind::Host, &node.host);
        self.replace(Kind::Rack, &mut node.rack);
        self.replace(Kind::Group, &mut node.group);
        self.replace(Kind::Feature, &mut node.features);
        self.replace(Kind::Feature, &mut node.taints);
        self.replace(Kind::Resource, &mut node.resources);
        node
    }

    /// The settings of applications under their pseudonyms, without those that may name somebody.
    fn applications(&mut self, all: &Applications) -> Applications {
        let mut renamed = Applications::new();
        for (id, settings) in all {
            let mut kept = BTreeMap::new();
            for (name, value) in settings {
                let value = match name.as_str() {
                    YARN_QUEUE | POOL => Some(self.kept(Kind::Queue, value)),
                    _ => names_nobody(name, value).then(|| value.clone()),
                };
                kept.extend(value.map(|value| (name.clone(), value)));
            }
            renamed.insert(self.kept(Kind::Group, id), kept);
        }
        renamed
    }

    fn replace(&mut self, kind: Kind, text: &mut Option<String>) {
        if let Some(text) = text {
            *text = self.kept(kind, text);
        }
    }

    /// The pseudonym of a name that occurs often.
    fn kept(&mut self, kind: Kind, text: &str) -> String {
        let asked = (kind, text.to_owned());
        if let Some(name) = self.kept.get(&asked) {
            return name.clone();
        }
        let name = match kind {
            Kind::Rack => self.parts(kind, text, '/'),
            Kind::Queue => self.parts(kind, text, '.'),
            Kind::Feature => self.words(kind, text),
            Kind::Resource => self.resources(text),
            Kind::Framework if FRAMEWORKS.contains(&text) || KINDS.contains(&text) => text.to_owned(),
            _ => self.hash(kind, text),
        };
        if self.kept.len() < MOST_KEPT {
            self.kept.insert(asked, name.clone());
        }
        name
    }

    /// The pseudonym of a name in a hierarchy, part by part.
    fn parts(&self, kind: Kind, text: &str, between: char) -> String {
        let (mut name, mut end) = (String::new(), 0);
        for part in text.split(between) {
            if end > 0 {
                name.push(between);
            }
            end += part.len();
            match part {
                "" => {}
                kept if OWN_WORDS.contains(&kept) => name.push_str(kept),
                _ => name.push_str(&self.hash(kind, text.get(..end).unwrap_or(text))),
            }
            end += between.len_utf8();
        }
        name
    }

    fn hash(&self, kind: Kind, text: &str) -> String {
        format!("{:016x}", self.key.hash(kind, text))
    }
}

/// The part of the Hadoop id of a job's task that says what kind of task it is and its number: `_m_000004`.
fn kind_and_number<'t>(task_id: &'t str, job_id: &str) -> Option<&'t str> {
    let suffix = task_id.strip_prefix("task_")?.strip_prefix(job_id.strip_prefix("job_")?)?;
    let number = suffix.strip_prefix("_m_").or_else(|| suffix.strip_prefix("_r_"))?;
    let is_number = (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(suffix)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(key: &Key) -> Names<'_> {
        Names { key, kept: BTreeMap::new() }
    }

    #[test]
    fn one_key_gives_one_name_and_another_key_another() {
        let (one, same, other) = (Key::of(&[1; 32]), Key::of(&[1; 32]), Key::of(&[2; 32]));
        let name = |key: &Key, kind, text| names(key).kept(kind, text);
        assert_eq!(name(&one, Kind::User, "ann"), name(&same, Kind::User, "ann"));
        assert_ne!(name(&one, Kind::User, "ann"), name(&other, Kind::User, "ann"));
        assert_ne!(name(&one, Kind::User, "ann"), name(&one, Kind::Queue, "ann"));
        assert_eq!(name(&one, Kind::User, "ann").len(), 16);
    }

    /// RFC 4231, test case 2, through the same construction.
    #[test]
    fn the_hash_is_hmac_sha_256() {
        let mut mac = Key::of(b"Jefe").0;
        mac.update(b"what do ya want for nothing?");
        assert!(hex(mac.finalize().into_bytes()).starts_with("5bdcc146bf60754e6a042426089575c7"));
    }

    #[test]
    fn jobs_out_of_order_are_put_in_order_pass_by_pass() {
        let dir = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| dir.path().join(name));
        let mut writer = TraceWriter::create(&old).unwrap();
        for n in (0..20i64).rev() {
            let mut record = JobRecord::default();
            record.job.job_id = format!("job_{n}");
            record.job.submit = (n > 0).then_some(n / 2);
            for place in 0..n % 4 {
                let mut task = TaskRecord::default();
                (task.task.job_id, task.task.task_id) = (record.job.job_id.clone(), format!("task_{n}_m_{place}"));
                task.task.input_bytes = Some(n);
                record.tasks.push(task);
            }
            writer.job(&record).unwrap();
        }
        writer.finish(Manifest::default()).unwrap();
        let manifest = anonymise(&old, &new, &Key::of(&[3; 32])).unwrap();
        assert!(manifest.rows.values().sum::<u64>() > 4 * ROWS_HELD, "several passes");
        let records: Vec<JobRecord> =
            Source::open(&new).unwrap().records().unwrap().map(|record| record.unwrap()).collect();
        assert_eq!(records.len(), 20);
        assert!(records.is_sorted_by_key(|record| (record.job.submit, record.job.job_id.clone())));
        let mut sizes: Vec<i64> = records.iter().map(|record| record.tasks.len() as i64).collect();
        sizes.sort_unstable();
        assert_eq!(sizes.iter().sum::<i64>(), (0..20).map(|n| n % 4).sum::<i64>());
        for record in records {
            let b_tree_set: BTreeSet<_> = record.tasks.iter().map(|task| task.task.input_bytes).collect();
            assert!(b_tree_set.len() <= 1 && record.tasks.iter().all(|task| task.task.job_id == record.job.job_id));
        }
    }

    #[test]
    fn hierarchies_stay() {
        let key = Key::of(&[7; 32]);
        let mut names = names(&key);
        let [one, two, elsewhere] = ["/room1/a", "/room1/b", "/room2/a"].map(|rack| names.kept(Kind::Rack, rack));
        let parts = |rack: &str| rack.split('/').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parts(&one).len(), 3);
        assert_eq!(parts(&one)[1], parts(&two)[1]);
        assert_ne!(parts(&one)[2], parts(&elsewhere)[2], "racks of one name in two rooms are not one");
        assert_eq!(names.kept(Kind::Rack, "/default-rack"), "/default-rack");
        let queue = names.kept(Kind::Queue, "root.sales.default");
        assert!(queue.starts_with("root.") && queue.ends_with(".default") && !queue.contains("sales"), "{queue}");
    }

    #[test]
    fn settings_of_applications_keep_what_names_nobody() {
        let key = Key::of(&[7; 32]);
        let mut names = names(&key);
        let settings = [
            ("spark.scheduler.mode", "FAIR"),
            ("spark.locality.wait", "3s"),
            ("spark.version", "3.5.6"),
            (YARN_QUEUE, "root.ann"),
            ("spark.scheduler.allocation.file", "/home/ann/pools.xml"),
            ("spark.scheduler.listenerbus.eventqueue.ann.capacity", "10"),
        ];
        let b_tree_map: BTreeMap<String, String> =
            settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let renamed = names.applications(&BTreeMap::from([("app-ann".to_owned(), b_tree_map)]));
        let (id, settings) = renamed.into_iter().next().unwrap();
        assert_eq!(id, names.kept(Kind::Group, "app-ann"));
        let queue = names.kept(Kind::Queue, "root.ann");
        let expected = [
            ("spark.locality.wait", "3s"),
            ("spark.scheduler.mode", "FAIR"),
            ("spark.version", "3.5.6"),
            (YARN_QUEUE, queue.as_str()),
        ];
        assert_eq!(settings, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        let node = NodeRow { group: Some("app-ann".to_owned()), ..NodeRow::default() };
        assert_eq!(names.node(node).group, Some(id), "the owner of an executor is called as its jobs' group");
    }

    #[test]
    fn hadoop_task_ids_keep_kind_and_number_only() {
        let suffix = |task_id| kind_and_number(task_id, "job_ann_2");
        assert_eq!(suffix("task_ann_2_m_000021"), Some("_m_000021"));
        assert_eq!(suffix("task_ann_2_r_0"), Some("_r_0"));
        for other in [
            "task_ann_2",
            "ann_2_m_000001",
            "task_ann_3_m_1",
            "task_ann_2_m_",
            "task_ann_2_m_1234567890",
            "task_ann_2_m_1x",
        ] {
            assert_eq!(suffix(other), None, "{other}");
        }
    }

    #[test]
    fn a_key_file_is_made_once_and_for_its_owner_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.key");
        drop(Key::make(&path).unwrap());
        let (made, file) = Key::make(&path).unwrap();
        file.commit().unwrap();
        assert_eq!(Key::read(&path).unwrap().hash(Kind::User, "ann"), made.hash(Kind::User, "ann"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(Key::make(&path).is_err_and(|error| error.is_request()));
        std::fs::write(&path, "short").unwrap();
        assert!(Key::read(&path).is_err_and(|error| error.to_string().contains("at least 16 bytes")));
    }
}
