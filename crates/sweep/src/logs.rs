//! The logs that a sweep replays, as judges of its replays. A cell by itself does not know whether its world explains what really happened.

use resched_analysis::Outline;
use resched_analysis::validation::log::{BesideLog, NoJudge};
use resched_compare::log::beside_log;
use resched_policies::PolicySpec;
use resched_replay::Threads;
use resched_tables::validity::Fact;

use crate::Error;
use crate::file::SweepFile;
use crate::plan::{Plan, SourceEntry};
use crate::site::SiteRules;
use crate::world::{Origin, WorldSpec};

/// The most policies of a sweep that are held against a log. Others are mostly the same with other parameters.
const MOST_POLICIES: usize = 3;

/// What each log says of the replay of what ran, on each cluster: the index of the source, that of the cluster, and the fact. What a sweep
/// varies in a world is a question, so the worlds are taken without it.
pub(crate) fn facts(plan: &Plan, file: &SweepFile) -> Vec<((usize, usize), Fact)> {
    let mut found = Vec::new();
    for (source, entry) in plan.sources.iter().enumerate() {
        if matches!(entry, SourceEntry::Workload(_)) {
            continue;
        }
        for cluster in 0..plan.clusters.len() {
            // The trace may not be where the cells are merged.
            let judged =
                judged(plan, file, (source, cluster)).unwrap_or(Some(BesideLog::without(NoJudge::NotReplayed)));
            found.extend(judged.map(|judged| ((source, cluster), judged.fact())));
        }
    }
    found
}

fn judged(plan: &Plan, file: &SweepFile, place: (usize, usize)) -> Result<Option<BesideLog>, Error> {
    let (Some(entry), Some(rules)) = (plan.sources.get(place.0), plan.clusters.get(place.1)) else { return Ok(None) };
    let path = entry.path();
    let origin = Origin::open(&path)?;
    let site = SiteRules::read(plan.site.as_deref())?;
    let spec = WorldSpec::new((&path, &origin), rules.as_deref(), (&site, file.treatment), &[])?;
    let mut policies: Vec<PolicySpec> = Vec::new();
    let of_place = || plan.cells.iter().filter(|cell| (cell.source, cell.cluster) == place);
    let name = file.variants.get(file.baseline).map(|variant| variant.name.as_str());
    let baseline = of_place().find(|cell| name == Some(cell.variant.as_str())).map_or("", |cell| cell.policy.as_str());
    // The baseline comes first, so that it is among the policies that are tried.
    for cell in of_place().filter(|cell| cell.policy == baseline).chain(of_place()) {
        let policy = PolicySpec::parse(&cell.policy).map_err(|error| Error::Work(error.to_string()))?;
        if policies.len() < MOST_POLICIES && !policies.iter().any(|known| known.label() == policy.label()) {
            policies.push(policy);
        }
    }
    let seed = file.seeds.first().copied().unwrap_or(1);
    Ok(beside_log::<Outline>(&spec.with_seed(seed), &policies, &[], baseline, Threads::ONE)?)
}
