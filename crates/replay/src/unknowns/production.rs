//! What a production trace leaves open.

use resched_sim::batch::{LocalityCost, Machine, MissingLimit, SizeRule};
use resched_tables::cluster_file::NamedMachines;
use resched_tables::named::as_text;

use super::{Change, Changes, Open, SIGMAS, Unknown, other_ways, setup_with};
use crate::facts::SMALL;
use resched_policies::Engine;
use resched_tables::store::{LIKELY_HOSTS, Manifest};

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
        if rule == SizeRule::Use {
            let factor = |factor: f64, says: &str| {
                let change = setup_with(open, |setup| {
                    setup.cluster.machines.named = machines.nodes().iter().map(|node| times(node, factor)).collect();
                    (setup.cluster.machines.count, setup.cluster.machines.clones) = (None, None);
                });
                (says.to_owned(), change)
            };
            return Ok(vec![factor(0.5, "with machines half as large"), factor(2.0, "with machines twice as large")]);
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

/// A machine with so many times the cores of another.
fn times(machine: &Machine, factor: f64) -> NamedMachines {
    let resources = as_text(machine.resources.iter().map(|(name, amount)| (&**name, *amount)));
    let features: Vec<&str> = machine.features.iter().map(|feature| &**feature).collect();
    NamedMachines {
        hosts: machine.name.clone(),
        cores: (machine.capacity.cpu as f64 * factor / 1_000.0).max(0.001),
        memory: Some(machine.capacity.memory).filter(|&memory| memory > 0),
        resources,
        features: (!features.is_empty()).then(|| features.join(",")),
    }
}

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
        let unfinished = open.setup().unfinished;
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
        Ok(other_ways(unfinished).map(way).collect())
    },
};

/// How long users say that their jobs run.
pub(super) const LIMITS: Unknown = Unknown {
    name: "limits",
    title: "walltime limits",
    from: "three times the run time instead of the run time itself, because users ask for more than they need; or one limit for all, as a \
           site has that asks for none",
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
        Ok(vec![
            (format!("with limits of {LIMIT:.0} times the run time"), Change::Limits(MissingLimit::Times(LIMIT))),
            ("with one limit for all jobs, that of the longest".to_owned(), Change::Limits(MissingLimit::Longest)),
        ])
    },
};

/// How many times as long a task takes away from the machines that it prefers: within the error of a factor that was fitted, by a replay or by
/// `calibrate`, or with part of Rumen's if nothing shows it. A factor that you gave is not open.
pub(super) fn distance(open: &Open<'_>) -> Changes {
    let locality = open.config().cost.locality;
    let set = |factors: [f64; 3], says: &str| {
        let change = setup_with(open, |setup| {
            setup.cluster.cost.locality = factors;
            setup.given.insert("cost.locality".to_owned());
        });
        (says.to_owned(), change)
    };
    let sides = |[low, high]: [[f64; 3]; 2]| {
        let least = set(low, "with the least cost of distance that fits");
        Ok(vec![least, set(high, "with the largest cost of distance that fits")])
    };
    match open.world.batch()?.locality {
        Some(LocalityCost::Assumed) => {
            let [node, ..] = locality;
            let of = |share: f64| locality.map(|factor| node + (factor - node) * share);
            let half = set(of(0.5), "with half of Rumen's cost of distance");
            Ok(vec![half, set(of(1.0), "with Rumen's cost of distance")])
        }
        Some(LocalityCost::Fitted(fitted)) => sides([-SIGMAS, SIGMAS].map(|errors| fitted.at(errors))),
        Some(LocalityCost::Given([node, rack, off])) => {
            let errors = ["cost.locality.rack", "cost.locality.off"].map(|key| open.error_of(key));
            if errors.iter().all(Option::is_none) {
                return Ok(Vec::new());
            }
            let moved = |factor: f64, error: Option<f64>, sign: f64| {
                (factor + sign * SIGMAS * error.unwrap_or(0.0)).clamp(1e-3, 1e3)
            };
            sides([-1.0, 1.0].map(|sign| [node, moved(rack, errors[0], sign), moved(off, errors[1], sign)]))
        }
        None => Ok(Vec::new()),
    }
}

/// Which machines tasks prefer, where the log shows only some of them.
pub(super) fn places(open: &Open<'_>) -> Changes {
    let is_drawn = |manifest: &Manifest| manifest.made.get("splits.host").is_some_and(|rule| rule == LIKELY_HOSTS);
    if !open.manifest().is_some_and(is_drawn) {
        return Ok(Vec::new());
    }
    let drawn = |step: u64| {
        let seed = open.setup().seed.wrapping_add(step);
        let change = setup_with(open, |setup| setup.places = Some(seed));
        (format!("with other preferred hosts (seed {seed})"), change)
    };
    Ok([1, 2].map(drawn).into())
}
