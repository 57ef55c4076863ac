//! What a production trace leaves open.

use resched_sim::batch::{LocalityCost, SizeRule};

use super::{Change, Changes, Open, Unknown, other_ways};
use crate::facts::SMALL;
use crate::world::Setup;
use resched_policies::Engine;

/// A missing walltime limit is this many times the run time. Users ask for more than they need (Mu'alem and Feitelson 2001); how
/// much more is a choice.
const LIMIT: f64 = 3.0;

/// How large machines are.
pub(super) const SIZES: Unknown = Unknown {
    name: "sizes",
    title: "sizes of machines",
    from: "half and twice the assumed size",
    variants: |open| {
        if open.engine != Engine::Batch {
            return Ok(Vec::new());
        }
        let machines = &open.world.batch()?.machines;
        let (unknown, rule) = machines.unknown_sizes();
        let few = (unknown as f64) < SMALL * machines.nodes().len() as f64;
        if unknown == 0 || rule == SizeRule::Given || rule == SizeRule::Median && few {
            return Ok(Vec::new());
        }
        let usual = machines.largest();
        let set = |factor: f64, says: &str| {
            let of = |amount: u64| (amount as f64 * factor).max(1.0);
            let change = setup_with(open, |setup| {
                setup.cluster.machines.cores = Some(of(usual.cpu) / 1_000.0);
                if usual.memory > 0 {
                    setup.cluster.machines.memory = Some(of(usual.memory) as u64);
                }
            });
            (says.to_owned(), change)
        };
        Ok(vec![set(0.5, "with machines half as large"), set(2.0, "with machines twice as large")])
    },
};

/// What tasks request that the trace does not say.
pub(super) const REQUESTS: Unknown = Unknown {
    name: "requests",
    title: "requests that the trace lacks",
    from: "half a core and two cores for each task without a request",
    variants: |open| {
        if open.engine != Engine::Batch {
            return Ok(Vec::new());
        }
        let loaded = open.world.batch()?;
        let made = loaded.skipped.get("task-of-one-core").copied().unwrap_or(0) as f64;
        if made < SMALL * loaded.work.tasks.max(1) as f64 {
            return Ok(Vec::new());
        }
        let set = |millicores: u64, says: &str| {
            (says.to_owned(), setup_with(open, |setup| setup.unknown_request = Some(millicores)))
        };
        let half = "with half a core for each task without a request";
        Ok(vec![set(500, half), set(2_000, "with two cores for each task without a request")])
    },
};

/// How to treat work that is unfinished when the trace ends.
pub(super) const UNFINISHED: Unknown = Unknown {
    name: "unfinished",
    title: "unfinished work",
    from: "the other ways to treat it",
    variants: |open| {
        let own = open.setup().unfinished;
        let work = match open.engine {
            Engine::Hadoop => open.hadoop()?.loaded.work,
            Engine::Batch => open.world.batch()?.work,
        };
        // Hadoop's logs have no part of the run time of such a task, so that there is nothing to cap or to estimate from.
        if open.engine == Engine::Hadoop || work.unfinished_jobs == 0 {
            return Ok(Vec::new());
        }
        let way = |way| {
            let change = setup_with(open, |setup| setup.unfinished = way);
            (format!("with --unfinished {}", way.name()), change)
        };
        Ok(other_ways(own).map(way).collect())
    },
};

/// How long users say that their jobs run.
pub(super) const LIMITS: Unknown = Unknown {
    name: "limits",
    title: "walltime limits",
    from: "three times the run time instead of the run time itself, because users ask for more than they need",
    variants: |open| {
        if open.engine != Engine::Batch {
            return Ok(Vec::new());
        }
        let jobs = open.world.batch()?.workload.jobs();
        let without = jobs.iter().filter(|job| job.requested_time.is_none()).count() as f64;
        if without < SMALL * jobs.len() as f64 {
            return Ok(Vec::new());
        }
        // Of most policies, nothing changes; a variant without an effect is not counted.
        Ok(vec![(format!("with limits of {LIMIT:.0} times the run time"), Change::Limits(LIMIT))])
    },
};

/// How many times as long a task takes away from the machines that it prefers, if neither the log nor a cluster file says it. A factor
/// that a replay fits to its log, or that `calibrate` fitted, is not open.
pub(super) fn distance(open: &Open<'_>) -> Changes {
    if open.world.batch()?.locality != Some(LocalityCost::Assumed) {
        return Ok(Vec::new());
    }
    let [node, rack, off] = open.config().cost.locality;
    let of = |share: f64| [node, rack, off].map(|factor| node + (factor - node) * share);
    let set = |share: f64, says: &str| {
        let change = setup_with(open, |setup| {
            setup.cluster.cost.locality = of(share);
            setup.given.insert("cost.locality".to_owned());
        });
        (says.to_owned(), change)
    };
    Ok(vec![set(0.5, "with half of Rumen's cost of distance"), set(1.0, "with Rumen's cost of distance")])
}

fn setup_with(open: &Open<'_>, change: impl FnOnce(&mut Setup)) -> Change {
    let mut setup = open.setup().clone();
    change(&mut setup);
    Change::Setup(Box::new(setup))
}
