//! The Fair Scheduler.

use std::collections::BTreeMap;
use std::path::Path;

use resched_policies::{PolicySpec, SiteConf};

use crate::folders::{Folders, is_chosen, manifest};
use crate::rows::{Agreement, compare};
use crate::world::World;

/// A configuration: the files of a site, and the queues of jobs that name them otherwise.
struct Configuration {
    site: SiteConf,
    /// Queue by the name in the trace.
    queues: BTreeMap<String, String>,
}

impl Configuration {
    fn read(folders: &Folders, name: &str) -> Option<Self> {
        let of_3 = &Folders::configurations(&folders.of_3)[name];
        if !of_3.is_null() {
            let site =
                SiteConf::read(&folders.of_3.join("configs").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let world = of_3["world"].as_object().into_iter().flatten();
            let queue = |(key, to): (&String, &serde_json::Value)| {
                Some((key.strip_prefix("queue.")?.to_owned(), to.as_str()?.to_owned()))
            };
            return (of_3["scheduler"] == "fair").then(|| Self { site, queues: world.filter_map(queue).collect() });
        }
        let of_2014 = &Folders::configurations(&folders.of_2014)[name];
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
        let world = World::load(&folders, &world, &configuration.site.cluster, &configuration.queues);
        let policy = std::env::var("RESCHED_POLICY").unwrap_or_else(|_| "yarn-fair:rules=3.4".to_owned());
        let spec = PolicySpec::parse(&policy).unwrap().at_site(&configuration.site.site.clone().into()).unwrap();
        let rows = world.replay(&name, &mut *spec.build().unwrap());
        let agreement = compare(&name, &folders.of_3, rows, &[]);
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
