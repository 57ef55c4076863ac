//! The readers, as functions of the bytes of one file that return whether they accept it. To refuse it is a good answer, too; only
//! a panic, a hang or too much memory is not.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use resched_analysis::metrics::named::Metric;
use resched_ingest::formats::mapped::{Map, suggest};
use resched_ingest::formats::tables::TableFormat;
use resched_ingest::formats::{Format, conf_xml};
use resched_ingest::{Options, ingest_into};
use resched_policies::{Engine, POLICIES, PolicySpec, Range, SiteConf};
use resched_sim::ClusterConfig;
use resched_sweep::SweepFile;
use resched_tables::Error;
use resched_tables::cause::Cause;
use resched_tables::model::{AttemptRow, CounterRow, JobRecord, JobRow, NodeRow, SplitRow, TaskRow};
use resched_tables::sink::{Collected, Sink};
use resched_tables::store::columns::Row;
use resched_tables::store::{MANIFEST, Rows, Trace, read_table};
use resched_workload::{Workload, generate};
use tempfile::TempDir;

/// The readers that are no formats, by name.
pub(crate) const READERS: &[(&str, Read)] = &[
    ("conf", conf),
    ("ingest", ingest),
    ("manifest", manifest),
    ("run", run),
    ("table", table_file),
    ("workload", workload),
    ("cluster", cluster),
    ("site", site),
    ("queues", queues),
    ("policy", policy),
    ("sweep", sweep),
    ("metric", metric),
    ("map", map),
];

/// Reads the bytes of a file, and returns whether it accepts them.
pub(crate) type Read = fn(&[u8]) -> bool;

/// The jobs of a workload that are made as well: a workload may ask for many.
const MOST_MADE: usize = 10;

pub(crate) fn format(format: &Format, input: &[u8]) -> bool {
    let recognised = (format.sniff)(input.get(..64 << 10).unwrap_or(input));
    let holds_something = [false, true].map(|counters| {
        let mut found = Collected { counters, ..Collected::default() };
        (format.read)(&mut &*input, "input", &mut found).is_ok() && found.jobs.len() + found.nodes.len() > 0
    });
    recognised && holds_something == [true; 2]
}

pub(crate) fn table(format: &TableFormat, input: &[u8]) -> bool {
    ingested(Some(format.name), input)
}

/// The way of a file through all of ingest: unpacking, recognition, reading, completion.
fn ingest(input: &[u8]) -> bool {
    ingested(None, input)
}

/// Whether the file has a job or a machine; without a format, its content decides which it has.
fn ingested(format: Option<&str>, input: &[u8]) -> bool {
    in_file(input, |file| {
        let options = Options { format: format.map(str::to_owned), threads: 1.try_into().ok(), ..Options::default() };
        let mut found = Collected { counters: true, ..Collected::default() };
        let done = ingest_into(&[file.to_path_buf()], &mut found, &options, &mut ());
        done.is_ok() && found.jobs.len() + found.nodes.len() > 0
    })
}

fn conf(input: &[u8]) -> bool {
    conf_xml::parse(&mut &*input).1
}

fn manifest(input: &[u8]) -> bool {
    as_file(MANIFEST, input, |folder| Trace::open(folder).is_ok())
}

fn run(input: &[u8]) -> bool {
    // With the seal that fits, since what is behind it is to be read.
    let value: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(input).ok();
    let sealed = value.and_then(|value| resched_tables::store::marker::encode(&value).ok());
    as_file(resched_tables::run::MARKER, sealed.as_deref().unwrap_or(input), |folder| {
        resched_tables::run::read(folder).is_ok()
    })
}

/// A table of a trace, of every kind that it may be.
fn table_file(input: &[u8]) -> bool {
    fn rows<R: Row>(input: &[u8]) -> bool {
        as_file(&format!("{}.parquet", R::TABLE), input, |folder| {
            let Ok(table) = read_table::<R>(folder, &resched_tables::store::Inventory::new()) else { return false };
            let rows = Rows::<R, _>::new(table.batches());
            // A few bytes can stand for very many equal rows; reading them all is a matter of time, not of safety.
            rows.take(100_000).all(|row| row.is_ok())
        })
    }
    let kinds =
        [rows::<JobRow>, rows::<TaskRow>, rows::<AttemptRow>, rows::<SplitRow>, rows::<NodeRow>, rows::<CounterRow>];
    kinds.map(|rows| rows(input)).contains(&true)
}

fn workload(input: &[u8]) -> bool {
    let workload = text(input).and_then(|text| Workload::parse(text, "workload.toml").ok());
    workload.is_some_and(|workload| {
        let mut made = FirstJobs(0);
        generate(&workload, 1, &mut made).is_ok() || made.0 == MOST_MADE
    })
}

/// Ends after the first jobs.
struct FirstJobs(usize);

impl Sink for FirstJobs {
    fn job(&mut self, _: JobRecord) -> Result<(), Error> {
        self.0 += 1;
        if self.0 < MOST_MADE { Ok(()) } else { Err(Error::Request("enough".to_owned())) }
    }

    fn node(&mut self, _: NodeRow) {}

    fn skip(&mut self, _: Cause, _: u64) {}
}

fn cluster(input: &[u8]) -> bool {
    text(input).is_some_and(|text| {
        let alone = ClusterConfig::parse(text).is_ok();
        let over_defaults = text.parse().is_ok_and(|settings| ClusterConfig::of_settings(settings).is_ok());
        alone && over_defaults
    })
}

/// A file of a site, of every kind that it may be.
fn site(input: &[u8]) -> bool {
    const NAMES: [&str; 14] = [
        "resource-types.xml",
        "node-resources.xml",
        "mapred-site.xml",
        "yarn-site.xml",
        "capacity-scheduler.xml",
        "mapred-queues.xml",
        "fair-scheduler.xml",
        "slurm.conf",
        "partitions.txt",
        "nodes.txt",
        "reservations.txt",
        "qos.txt",
        "associations.txt",
        "sacctmgr.cfg",
    ];
    NAMES.map(|name| as_file(name, input, |folder| SiteConf::read(folder).is_ok())).contains(&true)
}

/// A file of queues or pools, of every policy that reads one.
fn queues(input: &[u8]) -> bool {
    in_file(input, |file| {
        let mut accepted = false;
        for info in POLICIES {
            for parameter in info.parameters.iter().filter(|parameter| parameter.range == Range::File) {
                let spec = PolicySpec::parse(&format!("{}:{}={}", info.name, parameter.key, file.display()));
                accepted |= spec.is_ok_and(|spec| is_built(&spec));
            }
        }
        accepted
    })
}

fn policy(input: &[u8]) -> bool {
    let Some(text) = text(input) else { return false };
    let alone = PolicySpec::parse(text).is_ok_and(|spec| is_built(&spec));
    let grids = [Engine::Hadoop, Engine::Batch].map(|engine| PolicySpec::parse_grid(text, engine));
    let in_grid = grids.into_iter().flatten().map(|specs| specs.iter().take(16).filter(|spec| is_built(spec)).count());
    alone || in_grid.sum::<usize>() > 0
}

fn is_built(spec: &PolicySpec) -> bool {
    spec.build().is_ok() || spec.build_batch().is_ok()
}

fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

fn sweep(input: &[u8]) -> bool {
    text(input).is_some_and(|text| SweepFile::parse(text, Path::new("folder/sweep.toml")).is_ok())
}

fn metric(input: &[u8]) -> bool {
    let Some(text) = text(input) else { return false };
    // Whoever shows the problem cuts its place out of the text.
    Metric::named(text).map_err(|problem| (problem.to_string(), text.get(problem.at()).is_some())).is_ok()
}

/// A map, and behind a line of percent signs the table that it is for. The table alone also gives a first map.
fn map(input: &[u8]) -> bool {
    const MARK: &[u8] = b"\n%%%\n";
    let place = input.windows(MARK.len()).position(|window| window == MARK);
    let (map, table) = place.map_or((input, &[][..]), |place| (&input[..place], &input[place + MARK.len()..]));
    let suggested = suggest(&mut &*table, "input");
    let maps = [text(map).map(str::to_owned), suggested.ok()];
    maps.into_iter().flatten().filter_map(|map| Map::parse(&map, "map").ok()).any(|map| {
        let mut found = Collected::default();
        map.read_table(&mut &*table, "input", &mut found).is_ok() && !found.jobs.is_empty()
    })
}

/// Passes on the path of a file with these bytes.
fn in_file<T>(input: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static SCRATCH: OnceCell<Scratch> = const { OnceCell::new() };
    }
    SCRATCH.with(|scratch| {
        let scratch = scratch.get_or_init(Scratch::new);
        let file = scratch.file();
        scratch.must(&file, fs::write(&file, input));
        read(&file)
    })
}

/// Passes on a folder that has nothing but a file of this name with these bytes.
fn as_file<T>(name: &str, input: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    in_file(input, |file| {
        let folder = file.with_extension(name);
        if !folder.is_dir() {
            let made = fs::create_dir(&folder).and_then(|()| symlink(file, folder.join(name)));
            if let Err(error) = made {
                panic!("{}: {error}", folder.display());
            }
        }
        read(&folder)
    })
}

/// A folder for the inputs of a thread.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        match tempfile::tempdir() {
            Ok(folder) => Self(folder),
            Err(error) => panic!("no temporary folder: {error}"),
        }
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("input")
    }

    /// Without its disk, a run shows nothing.
    fn must(&self, path: &Path, done: io::Result<()>) {
        if let Err(error) = done {
            panic!("{}: {error}", path.display());
        }
    }
}
