//! Whether the settings of a sweep stay better or worse than the baseline under what the data leaves open, as `replay` tests it.
//!
//! The settings of each world are replayed again with its first seed, in variants of the world. The key `robust` of the sweep file asks
//! for it: a sweep with many settings makes many replays more.

use std::collections::BTreeMap;

use resched_analysis::runs::beside::VariedRun;
use resched_analysis::statistics::sign::{Level, Sign, Variants, untested};
use resched_analysis::{Gathered, Population, Run};
use resched_compare::{Asked, Plan as Test};
use resched_policies::PolicySpec;
use resched_replay::{ReadBy, Threads};
use resched_tables::validity::{Fact, Grade};

use crate::Error;
use crate::cell::Cell;
use crate::local::Worlds;
use crate::plan::Plan;
use crate::statistics::{Group, baselines};

/// The most facts about signs. The others are counted.
const MOST_FACTS: usize = 3;

/// The facts about the signs of a sweep's settings against their baselines. `groups` are those of all cells.
///
/// # Errors
/// If a source or a cluster file has changed since the plan, or a replay fails.
pub(crate) fn facts(plan: &Plan, groups: &[Group<'_>], level: Level, threads: Threads) -> Result<Vec<Fact>, Error> {
    if groups.len() < 2 || level == Level::Off {
        return Ok(if groups.len() > 1 { vec![untested_sweep()] } else { Vec::new() });
    }
    let file = plan.sweep()?;
    let baselines = baselines(groups, &file);
    let mut of_baseline: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (group, baseline) in baselines.iter().enumerate() {
        if let Some(baseline) = baseline {
            of_baseline.entry(*baseline).or_default().push(group);
        }
    }
    let (mut signs, mut orders) = (Vec::new(), Vec::new());
    for (baseline, others) in of_baseline {
        let places: Vec<usize> = std::iter::once(baseline).chain(others).collect();
        let cells: Vec<&Cell> = places.iter().filter_map(|place| first_cell(plan, groups.get(*place)?)).collect();
        let labels: Vec<String> = places.iter().filter_map(|place| Some(groups.get(*place)?.label())).collect();
        let variants = in_variants(plan, &cells, &labels, level, threads)?;
        let baseline = labels.first().map_or("", String::as_str);
        signs.extend(variants.signs(baseline).into_iter().map(|sign| {
            let fact = sign.fact(&variants);
            (sign, fact)
        }));
        orders.extend(variants.order(baseline));
    }
    Ok(summed_up(signs).into_iter().chain(orders.into_iter().take(MOST_FACTS)).collect())
}

/// The cell of a group with its first seed.
fn first_cell<'p>(plan: &'p Plan, group: &Group<'_>) -> Option<&'p Cell> {
    let seed = *group.cells.keys().next()?;
    plan.cells.iter().find(|cell| {
        let texts = cell.texts();
        cell.seed == seed
            && (cell.source, cell.cluster) == group.place
            && cell.variant == group.variant
            && group.settings.iter().all(|(key, value)| texts.get(key) == Some(value))
    })
}

/// The settings of one world in its variants.
fn in_variants(
    plan: &Plan,
    cells: &[&Cell],
    labels: &[String],
    level: Level,
    threads: Threads,
) -> Result<Variants, Error> {
    let worlds = Worlds::new(plan, cells, false)?;
    let ready = cells.iter().map(|cell| worlds.of(cell)).collect::<Result<Vec<_>, _>>()?;
    let mut runs = threads.in_order(&ready, |(world, policy)| {
        let mut gathered = Gathered::default();
        let info = world.replay(policy, ReadBy(&mut gathered))?;
        Ok::<_, Error>(Run::of_gathered(info, gathered))
    })?;
    Population::share(&mut runs);
    let Some((world, _)) = ready.first() else { return Ok(Variants::default()) };
    let policies: Vec<PolicySpec> = ready.iter().map(|(_, policy)| policy.asked().clone()).collect();
    let varied = labels.iter().zip(cells);
    let varied = varied.map(|(label, cell)| VariedRun { label: label.clone(), sha256: cell.id.clone() }).collect();
    let asked = Asked { world, policies: &policies, runs: &runs, level, seeds: None };
    Ok(Test::of(asked)?.run(varied, threads, &|| {})?)
}

/// One fact for the signs that hold, and one for each that does not, or for all further ones.
fn summed_up(signs: Vec<(Sign, Fact)>) -> Vec<Fact> {
    let all = signs.len();
    let (sure, open): (Vec<_>, Vec<_>) = signs.into_iter().partition(|(_, fact)| fact.grade == Grade::Measured);
    let mut facts = Vec::new();
    if !sure.is_empty() {
        let says =
            format!("Of {all} settings, {} keep their side of the baseline whatever the log leaves open.", sure.len());
        facts.extend(sure.first().map(|(_, fact)| Fact { says, ..fact.clone() }));
    }
    let more = open.len().saturating_sub(MOST_FACTS);
    facts.extend(open.into_iter().take(MOST_FACTS).map(|(_, fact)| fact));
    if more > 0
        && let Some(last) = facts.last_mut()
    {
        last.says +=
            &format!(" Of {more} further settings, the sign or the size of the difference is not certain either.");
    }
    facts
}

/// That the sign of a sweep was not tested, and how to test it.
pub(crate) fn untested_sweep() -> Fact {
    untested().with_remedy("`--robust quick`, or robust = \"quick\" in the sweep file, tests it.")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cell_store::CellStore;
    use crate::file::SweepFile;
    use crate::local::{Replaying, carry_out};
    use crate::location::Location;
    use crate::merge::Merged;

    fn validity(robust: &str) -> resched_tables::validity::Validity {
        let folder = tempfile::tempdir().unwrap();
        let workload = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/sample-history.toml");
        fs::copy(workload, folder.path().join("w.toml")).unwrap();
        let path = folder.path().join("s.toml");
        let text = format!("name = \"two\"\nworkload = \"w.toml\"\n{robust}[variants.fifo]\n[variants.fair]\n");
        fs::write(&path, text).unwrap();
        let plan = Plan::new(&SweepFile::read(&path).unwrap()).unwrap();
        let store = CellStore::open(&Location::Folder(folder.path().join("S"))).unwrap();
        let cells: Vec<&Cell> = plan.cells.iter().collect();
        carry_out(&plan, &cells, &store, Replaying::from(Threads::ONE), &|_| {}).unwrap();
        Merged::read(plan, &store).unwrap().tested(Threads::ONE).unwrap().validity()
    }

    #[test]
    fn a_sweep_tests_its_sign_as_a_replay_does() {
        let says = |validity: resched_tables::validity::Validity| {
            let of_sign =
                validity.facts.into_iter().filter(|fact| fact.about == resched_analysis::statistics::sign::SIGN);
            of_sign.map(|fact| fact.says).collect::<Vec<_>>().concat()
        };
        assert!(says(validity("")).starts_with("It was not tested"));
        let tested = says(validity("robust = \"full\"\n"));
        assert!(!tested.is_empty() && !tested.contains("not tested"), "{tested}");
        assert!(tested.contains("fair") || tested.contains("whatever the log leaves open"), "{tested}");
    }
}
