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

/// How far a schedule agrees under a policy; `None` if its configuration is not one of the Fair Scheduler.
fn agreement(folders: &Folders, (world, config): (&str, &str), policy: &str) -> Option<Agreement> {
    let name = format!("{world}-{config}");
    let configuration = Configuration::read(folders, config)?;
    for warning in &configuration.site.warnings {
        eprintln!("{name}: {warning}");
    }
    let world = World::load(folders, world, &configuration.site.cluster, &configuration.queues);
    let spec = PolicySpec::parse(policy).unwrap().at_site(&configuration.site.site.clone().into()).unwrap();
    let rows = world.replay(&name, &mut *spec.build().unwrap());
    Some(compare(&name, &folders.of_3, rows, &[]))
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
        let policy = std::env::var("RESCHED_POLICY").unwrap_or_else(|_| "yarn-fair:rules=3.4".to_owned());
        let Some(agreement) = agreement(&folders, (&world, &config), &policy) else { continue };
        eprintln!("{agreement}");
        found.push(agreement);
    }
    found
}

fn preempts(config: &str) -> bool {
    config.starts_with("fairpre") || config.starts_with("fp") && !["fpct", "fprio"].contains(&config)
}

#[test]
fn every_row_without_preemption() {
    let found = agreements(|config| !preempts(config));
    let wrong: Vec<&str> = found.iter().filter(|agreement| !agreement.is_full()).map(Agreement::name).collect();
    assert!(wrong.is_empty(), "{} of {} schedules differ: {wrong:?}", wrong.len(), found.len());
}

/// Schedules with preemption that agree row for row. In the others, a hash table or a rule that is not known yet decides otherwise at some
/// time, and all that comes later is shifted.
const EQUAL: [&str; 7] = ["p5-fairpre", "p5-fairpre2", "y5-fairpre", "y5-fairpre2", "y6-fairpre", "y5-fp3", "y6-fp1"];

#[test]
fn preemption() {
    let found = agreements(preempts);
    let differs = |agreement: &&Agreement| EQUAL.contains(&agreement.name()) && !agreement.is_full();
    let wrong: Vec<&str> = found.iter().filter(differs).map(Agreement::name).collect();
    assert!(wrong.is_empty(), "{} of {} schedules differ: {wrong:?}", wrong.len(), found.len());
}

/// The rules of 3.4 that can be set, and a schedule that is another one without each. No schedule shows `demand_first` and
/// `headroom_within_limit`: all are equal row for row with the rule of 2014.
const SHOWN_BY: &[(&str, &str, &str)] = &[
    ("rare_reservations=false", "y1", "fair"),
    ("placeless_go_anywhere=false", "y1", "fairl"),
    ("asks_after_update=false", "p1", "fair"),
    ("dynamic_max_assign=false", "y1", "fairm"),
    ("max_am_share=-1", "y1", "fairam"),
    ("whole_master_limit=false", "p1", "fairam"),
    ("demand=places", "y4", "fairsz"),
    ("whole_demand=false", "y5", "fairq"),
    ("drf_breaks_ties=false", "y5", "fairdrf"),
    ("never_above_limit=false", "y5", "fairq"),
    ("starved_jobs_preempt=false", "y5", "fairpre"),
];

#[test]
fn each_rule_of_3_4_shows() {
    let Some(folders) = Folders::find() else { return };
    let mut unseen = Vec::new();
    for &(rule, world, config) in SHOWN_BY {
        let found = agreement(&folders, (world, config), &format!("yarn-fair:rules=3.4,{rule}")).unwrap();
        eprintln!("without {rule}: {found}");
        if found.is_full() {
            unseen.push(rule);
        }
    }
    assert!(unseen.is_empty(), "no row shows {unseen:?}");
}

/// Which schedules show a rule: `RESCHED_POLICY=yarn-fair:rules=3.4,RULE=false cargo test -p resched-policies --test yarn34 which -- --ignored`.
#[test]
#[ignore = "lists all schedules that differ under RESCHED_POLICY"]
fn which_schedules_show_a_rule() {
    let found = agreements(|config| !preempts(config));
    let differ: Vec<&str> = found.iter().filter(|agreement| !agreement.is_full()).map(Agreement::name).collect();
    eprintln!("{differ:?}");
}
