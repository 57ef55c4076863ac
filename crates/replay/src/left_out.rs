//! What a reader left out or could not express, as far as it decides an answer.
//!
//! Readers count each such thing by its cause (`skipped` in `trace.json`). [`CAUSES`] says what a cause means for an answer. Others, by
//! which records are lost, count with their share of all records.

use resched_tables::cause::{self, Cause, Kind};
use resched_tables::store::Manifest;
use resched_tables::validity::{Fact, Grade, Validity};
use resched_tables::words::count;

use crate::share::SMALL;

/// Something that a reader left out.
struct Matter {
    cause: Cause,
    /// The word of [`Fact::about`].
    about: &'static str,
    /// What it means, after the number of times, with its full stop.
    says: &'static str,
    remedy: &'static str,
    /// The table of which the number is a share; below 5 % of its rows, it does not decide the answer. `None`: it always does.
    of: Option<&'static str>,
}

/// The causes that matter by themselves.
const CAUSES: &[Matter] = &[
    Matter {
        cause: cause::MISSING_PART_OF_LOG,
        about: "population",
        says: "parts of a log that rolls over are missing, with their jobs, tasks and executors.",
        remedy: "Ingest all parts together.",
        of: None,
    },
    Matter {
        cause: cause::UBER_JOB,
        about: "run-times",
        says: "jobs ran their tasks one after another in the container of their master (uber mode). A replay gives each task a container.",
        remedy: "",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::STAGE_RETRY_GUESSED,
        about: "run-times",
        says: "tasks of later attempts at a stage are matched with those of the first by a guess, as the log does not say which they repeat.",
        remedy: "",
        of: Some("tasks"),
    },
    Matter {
        cause: cause::BARRIER_STAGE,
        about: "requests",
        says: "stages must start all their tasks together. A replay lets each start by itself.",
        remedy: "",
        of: None,
    },
    Matter {
        cause: cause::RESOURCE_PROFILE,
        about: "requests",
        says: "profiles let stages ask for other executors. A replay gives all tasks the requests of the application.",
        remedy: "",
        of: None,
    },
    Matter {
        cause: cause::TASK_WITHOUT_JOB,
        about: "population",
        says: "tasks belong to jobs whose start is not in the log, and are left out: the replay has less load than there was.",
        remedy: "Ingest the log from its beginning.",
        of: Some("tasks"),
    },
    Matter {
        cause: cause::FINISHED_COPY_LEFT_OUT,
        about: "population",
        says: "jobs that had not ended in one source have their ends in a later one, which came too late to count.",
        remedy: "Name the later sources first.",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::OUTLIVED_EXPIRED_JOBS,
        about: "population",
        says: "jobs were there before the first end that the sources have. Others that ended sooner have expired: long jobs count too much.",
        remedy: "Ingest lists of many moments together, or an audit log.",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::EARLIER_ADMISSION_LOST,
        about: "waiting",
        says: "admissions ended by evictions, and nothing says when they were: the jobs waited and held less than the log has.",
        remedy: "Ingest lists of many moments together, or an audit log.",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::PLACEMENT_REQUEST_NOT_READ,
        about: "placement",
        says: "jobs ask for places near other pods, spread, preferred, or by a topology. A replay places them without it.",
        remedy: "",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::NAMED_NODES_LEFT_OUT,
        about: "placement",
        says: "jobs asked for nodes by name, or excluded some. A replay places them on any.",
        remedy: "",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::TOPOLOGY_REQUEST_LEFT_OUT,
        about: "placement",
        says: "pod sets asked for nodes that lie together. A replay admits them as soon as there is quota.",
        remedy: "",
        of: Some("tasks"),
    },
    Matter {
        cause: cause::SHORTEST_LIMIT_LEFT_OUT,
        about: "queues",
        says: "jobs let backfill shorten their limits (--time-min). A replay keeps the whole limits.",
        remedy: "",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::DEPENDENCY_NOT_READ,
        about: "waiting",
        says: "jobs waited for others in a way that is not read. They wait as long as in the log, under every policy.",
        remedy: "",
        of: Some("jobs"),
    },
    Matter {
        cause: cause::DEPENDENCY_ON_UNKNOWN_JOB,
        about: "waiting",
        says: "jobs waited for jobs that the log lacks. They wait as long as in the log, under every policy.",
        remedy: "List a longer time.",
        of: Some("jobs"),
    },
];

/// Other causes by which records are lost, beside damage.
const TOO_MANY: [Cause; 6] = [
    cause::TOO_MANY_ATTEMPTS,
    cause::TOO_MANY_EXECUTORS,
    cause::TOO_MANY_JOBS,
    cause::TOO_MANY_NAMES,
    cause::TOO_MANY_PREFERRED_ROWS,
    cause::TOO_MANY_TASKS,
];

/// True if records are lost by a cause, by its name in a trace.
fn is_loss(name: &str) -> bool {
    Cause::named(name).is_some_and(|cause| cause.kind() == Kind::Damaged || TOO_MANY.contains(&cause))
}

/// Adds what readers left out of a trace.
pub(crate) fn of(manifest: &Manifest, validity: &mut Validity) {
    let rows = |table: &str| manifest.rows.get(table).copied().unwrap_or(0);
    let counted = |name: &str| manifest.skipped.get(name).copied().unwrap_or(0);
    for Matter { cause, about, says, remedy, of } in CAUSES {
        let times = counted(cause.name());
        let share = of.map_or(1.0, |table| times as f64 / rows(table).max(1) as f64);
        if times > 0 && share >= SMALL {
            validity.add(Fact::new(about, Grade::Assumed, format!("{} {says}", count(times))).with_remedy(*remedy));
        }
    }
    let lost: Vec<(&String, &u64)> = manifest.skipped.iter().filter(|(name, _)| is_loss(name)).collect();
    let all: u64 = lost.iter().fold(0, |sum, (_, n)| sum.saturating_add(**n));
    // A damaged record is mostly a job in a list, and an event of a task in a log.
    let records = rows("attempts").max(rows("tasks")).max(rows("jobs"));
    if all as f64 >= SMALL * records.saturating_add(all).max(1) as f64 && all > 0 {
        let causes: Vec<String> = lost.iter().map(|(name, n)| format!("{} × {name}", count(**n))).collect();
        let says =
            format!("Records of the sources could not be read ({}): what they say is missing.", causes.join(", "));
        let remedy = "Copy the sources again; `resched inspect` has all counts.";
        validity.add(Fact::new("population", Grade::Assumed, says).with_remedy(remedy));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(skipped: &[(&str, u64)]) -> Vec<String> {
        let mut manifest = Manifest::default();
        manifest
            .rows
            .extend([("jobs", 100), ("tasks", 1_000), ("attempts", 1_000)].map(|(table, n)| (table.to_owned(), n)));
        manifest.skipped.extend(skipped.iter().map(|(name, n)| ((*name).to_owned(), *n)));
        let mut validity = Validity::default();
        of(&manifest, &mut validity);
        validity.facts.into_iter().map(|fact| fact.says).collect()
    }

    #[test]
    fn a_cause_that_decides_is_a_fact_and_a_small_share_is_none() {
        assert_eq!(
            facts(&[("uber-job", 4), ("task-without-job", 49), ("damaged-line", 52), ("file-without-jobs", 99)]),
            [""; 0]
        );
        assert!(facts(&[("missing-part-of-log", 1)])[0].starts_with("1 parts of a log"));
        assert!(facts(&[("uber-job", 5)])[0].starts_with("5 jobs ran their tasks one after another"));
        assert!(facts(&[("outlived-expired-jobs", 5)])[0].contains("have expired"));
        assert_eq!(facts(&[("earlier-admission-lost", 4)]), [""; 0]);
        let lost = facts(&[("damaged-line", 50), ("too-many-attempts", 10)]);
        assert_eq!(
            lost,
            [
                "Records of the sources could not be read (50 × damaged-line, 10 × too-many-attempts): what they say is missing."
            ]
        );
    }
}
