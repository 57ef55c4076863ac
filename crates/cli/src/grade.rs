//! How far an answer can be trusted, in words: the one place where commands print grades and facts.

use resched_analysis::Origin;
use resched_analysis::calibration::Calibration;
use resched_tables::validity::{Fact, Grade, Validity};
use serde::Serialize;

/// What decides the answer, as sentences, the worst first; nothing if all of it was observed.
pub(crate) fn caveats(validity: &Validity) -> String {
    let line = |fact: &Fact| {
        format!("  {}: {} {}", fact.grade.in_words(), fact.says, fact.remedy).trim_end().to_owned() + "\n"
    };
    let lines: String = validity.caveats().into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{}\n{lines}", validity.grade().as_sentence()) }
}

/// The grade and its facts, also if nothing had to be assumed.
pub(crate) fn graded(validity: &Validity) -> String {
    match validity.caveats().is_empty() {
        true => format!("\nGrade: measured. {}\n", Grade::Measured.as_sentence()),
        false => caveats(validity),
    }
}

/// A result with its grade and facts, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Graded<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    /// How far it can be trusted: the worst grade of `validity`.
    grade: Grade,
    /// What decides it, and whether that was observed.
    validity: &'a Validity,
}

impl<'a, T: Serialize> Graded<'a, T> {
    /// A result and what it rests on.
    pub(crate) fn of(result: &'a T, validity: &'a Validity) -> Self {
        Self { result, grade: validity.grade(), validity }
    }
}

/// The facts about the numbers of one run or trace by itself: what its replay rested on, or what a rule made.
pub(crate) fn of_origin(origin: &Origin) -> Validity {
    match origin {
        Origin::Replay(info) => info.validity.clone(),
        Origin::Observed(manifest) => {
            let of_times = |column: &str| TIMES.contains(&column);
            let whole = |column: &&String| of_times(column) && manifest.made_whole(column).is_some();
            let made = manifest.made.iter().filter(|(column, _)| whole(column));
            let fact = |(column, rule): (&String, &String)| {
                let says = format!("`{column}` is made by the rule `{rule}`, not observed.");
                Fact::new("made", Grade::Assumed, says).with_remedy("Do not take these times for times of the cluster.")
            };
            Validity { facts: made.map(fact).collect() }
        }
    }
}

/// The columns with the times of a trace.
const TIMES: [&str; 8] = [
    "jobs.submit",
    "jobs.launch",
    "jobs.finish",
    "tasks.start",
    "tasks.finish",
    "attempts.start",
    "attempts.finish",
    "attempts.shuffle_finish",
];

/// The facts about a fitted cluster file: what the attempts do not determine keeps a default, and replays rest on it.
pub(crate) fn of_calibration(found: &Calibration) -> Validity {
    if let Some(own) = found.spark {
        return of_spark(own.factors[1].value.is_some());
    }
    let [rack, off] = found.locality;
    let fitted = [
        ("the heartbeat interval", found.heartbeat.interval),
        ("the launch overhead", found.heartbeat.launch_overhead),
        ("the factor of maps in the rack of their input", rack),
        ("the factor of maps elsewhere", off),
        ("slow-start", found.slowstart),
    ];
    let open: Vec<&str> = fitted.iter().filter(|(_, own)| own.value.is_none()).map(|(what, _)| *what).collect();
    let mut validity = Validity::default();
    if !open.is_empty() {
        let says = format!("The attempts do not determine {}; replays use the default.", open.join(", "));
        let remedy = "Add the values that you know to the cluster file: they may decide which policy is faster.";
        validity.add(Fact::new("calibration", Grade::Assumed, says).with_remedy(remedy));
    }
    for (what, slots) in [("map", found.map_slots), ("reduce", found.reduce_slots)] {
        if slots.most.is_some() && !slots.were_full() {
            let says = format!(
                "Fewer than half of the nodes ran this many {what}s at once, so the {what} slots are a lower bound."
            );
            let remedy = "Give the slots with --slots or in the cluster file.";
            validity.add(Fact::new("slots", Grade::Assumed, says).with_remedy(remedy));
        }
    }
    validity
}

/// The fact about a fitted cluster file of Spark: a factor that is not fitted is assumed to be 1 in replays.
fn of_spark(is_fitted: bool) -> Validity {
    let fact = if is_fitted {
        Fact::new("calibration", Grade::Measured, "The cost of running away from preferred hosts is fitted to the log.")
    } else {
        let says = "The log does not determine the cost of running away from preferred hosts; replays assume that there is none.";
        let remedy =
            "Give it with `locality` in `[cost]` of the cluster file: it decides whether a locality wait pays.";
        Fact::new("calibration", Grade::Assumed, says).with_remedy(remedy)
    };
    Validity { facts: vec![fact] }
}
