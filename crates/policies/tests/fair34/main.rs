//! The schedules of the Fair Scheduler of Hadoop 3.4.1, row by row, from the files of a site.
//!
//! Needs `oracle-yarn-3` and `oracle-yarn` in the folder of shared traces, which `RESCHED_SHARED` names. `RESCHED_SCHEDULES` chooses
//! among the schedules by words in their names: `RESCHED_SCHEDULES=y1-,fairq`.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod rows;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use resched_policies::{PolicySpec, SiteConf};
use rows::{Agreement, compare};
use world::World;

/// A folder of shared files. Without it, the test is skipped.
fn shared(folder: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = std::env::var_os("RESCHED_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let path = shared.join(folder);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var("RESCHED_REQUIRE_SHARED").is_ok_and(|value| value == "1");
    assert!(!required, "{} is missing", path.display());
    eprintln!("skipped: {} not found", path.display());
    None
}

/// The folders of the schedules of Hadoop 3.4.1 and of August 2014.
struct Folders {
    of_3: PathBuf,
    of_2014: PathBuf,
}

impl Folders {
    fn find() -> Option<Self> {
        Some(Self { of_3: shared("oracle-yarn-3")?, of_2014: shared("oracle-yarn")? })
    }

    /// A file in the one folder that has it.
    fn with(&self, file: &str) -> Option<PathBuf> {
        [&self.of_3, &self.of_2014].map(|root| root.join(file)).into_iter().find(|path| path.exists())
    }

    fn json(&self, root: &Path) -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(root.join("configs/configs.json")).unwrap()).unwrap()
    }
}

/// A configuration: the files of a site, and the queues of jobs that name them otherwise.
struct Configuration {
    site: SiteConf,
    /// Queue by the name in the trace.
    queues: BTreeMap<String, String>,
}

impl Configuration {
    fn read(folders: &Folders, name: &str) -> Option<Self> {
        let of_3 = &folders.json(&folders.of_3)[name];
        if !of_3.is_null() {
            let site =
                SiteConf::read(&folders.of_3.join("configs").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let world = of_3["world"].as_object().into_iter().flatten();
            let queue = |(key, to): (&String, &serde_json::Value)| {
                Some((key.strip_prefix("queue.")?.to_owned(), to.as_str()?.to_owned()))
            };
            return (of_3["scheduler"] == "fair").then(|| Self { site, queues: world.filter_map(queue).collect() });
        }
        let of_2014 = &folders.json(&folders.of_2014)[name];
        (of_2014["scheduler"] == "fair").then(|| {
            let site = Self::of_2014(of_2014, &folders.of_2014.join("configs"));
            Self { site, queues: BTreeMap::new() }
        })
    }

    /// The properties of a configuration as the files of a site.
    fn of_2014(configuration: &serde_json::Value, root: &Path) -> SiteConf {
        let dir = tempfile::tempdir().unwrap();
        let mut text = String::from("<configuration>\n");
        for (name, value) in configuration["hadoop"].as_object().unwrap() {
            let mut value = value.as_str().unwrap();
            if name == "yarn.scheduler.fair.allocation.file" {
                std::fs::copy(root.join(value), dir.path().join("fair-scheduler.xml")).unwrap();
                value = "fair-scheduler.xml";
            }
            text += &format!("<property><name>{name}</name><value>{value}</value></property>\n");
        }
        std::fs::write(dir.path().join("yarn-site.xml"), text + "</configuration>\n").unwrap();
        SiteConf::read(dir.path()).unwrap()
    }
}

/// The schedules of the manifest: worlds and configurations.
fn manifest(root: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root.join("golden/manifest.csv")).unwrap();
    let row = |line: &str| {
        let mut fields = line.split(',').map(str::to_owned);
        Some((fields.next()?, fields.next()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}

fn is_chosen(name: &str) -> bool {
    let chosen = std::env::var("RESCHED_SCHEDULES").unwrap_or_default();
    chosen.is_empty() || chosen.split(',').any(|word| format!("{name}-").contains(word))
}

/// Replays the schedules of the Fair Scheduler whose configuration is wanted.
fn agreements(wanted: impl Fn(&str) -> bool) -> Vec<Agreement> {
    let Some(folders) = Folders::find() else { return Vec::new() };
    let mut found = Vec::new();
    for (world, config) in manifest(&folders.of_3) {
        let name = format!("{world}-{config}");
        if !wanted(&config) || !is_chosen(&name) {
            continue;
        }
        let Some(configuration) = Configuration::read(&folders, &config) else { continue };
        for warning in &configuration.site.warnings {
            eprintln!("{name}: {warning}");
        }
        let world = World::load(&folders, &world, &configuration);
        let policy = std::env::var("RESCHED_POLICY").unwrap_or_else(|_| "yarn-fair:rules=3.4".to_owned());
        let spec = PolicySpec::parse(&policy).unwrap().at_site(&configuration.site.site.clone().into()).unwrap();
        let rows = world.replay(&name, &mut *spec.build().unwrap());
        let agreement = compare(&name, &folders.of_3, rows);
        eprintln!("{agreement}");
        found.push(agreement);
    }
    found
}

fn preempts(config: &str) -> bool {
    config.starts_with("fairpre") || config.starts_with("fp") && !["fpct", "fprio"].contains(&config)
}

fn has_gpus(config: &str) -> bool {
    config.starts_with("fgpu")
}

#[test]
fn every_row_without_preemption() {
    let found = agreements(|config| !preempts(config) && !has_gpus(config));
    let wrong: Vec<&str> = found.iter().filter(|agreement| !agreement.is_full()).map(Agreement::name).collect();
    assert!(wrong.is_empty(), "{} of {} schedules differ: {wrong:?}", wrong.len(), found.len());
}

/// Schedules with preemption that agree row for row. In the others, a hash table or a rule that is not known yet decides otherwise at some
/// time, and all that comes later is shifted.
const EQUAL: [&str; 6] = ["p5-fairpre2", "y5-fairpre", "y5-fairpre2", "y6-fairpre", "y5-fp3", "y6-fp1"];

#[test]
fn preemption() {
    let found = agreements(preempts);
    let differs = |agreement: &&Agreement| EQUAL.contains(&agreement.name()) && !agreement.is_full();
    let wrong: Vec<&str> = found.iter().filter(differs).map(Agreement::name).collect();
    assert!(wrong.is_empty(), "{} of {} schedules differ: {wrong:?}", wrong.len(), found.len());
}
