//! What a fitted cluster file rests on.

use resched_tables::validity::{Fact, Grade, Validity};

use super::found::Calibration;

impl Calibration {
    /// The facts about the cluster file that is fitted: what the attempts do not determine keeps a default, and replays rest on it.
    pub fn validity(&self) -> Validity {
        match self.spark {
            Some(spark) => of_spark(spark.factors[1].value.is_some()),
            None => of_hadoop(self),
        }
    }
}

fn of_hadoop(found: &Calibration) -> Validity {
    let [rack, off] = found.locality;
    let fitted = [
        ("the heartbeat interval", found.heartbeat.interval),
        ("the launch overhead", found.heartbeat.launch_overhead),
        ("the factor of maps in the rack of their input", rack),
        ("the factor of maps elsewhere", off),
        ("slow-start", found.slowstart),
    ];
    let open: Vec<&str> = fitted.iter().filter(|(_, fitted)| fitted.value.is_none()).map(|(what, _)| *what).collect();
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
