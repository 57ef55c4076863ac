//! Events of Kubernetes (`kubectl get events`): what Kueue and the scheduler said they did, in the last hour.

use resched_tables::model::Ms;

use super::object::{Event, time_of};
use super::seen::{Condition, Kind, Pod, Seen, What, Workload};

/// The reasons of events about Workloads, with the condition that each stands for, and its reason.
const REASONS: [(&str, Kind); 3] =
    [("QuotaReserved", Kind::QuotaReserved), ("Admitted", Kind::Admitted), ("Preempted", Kind::Preempted)];
/// What begins the reason of an eviction.
const EVICTED: &str = "EvictedDueTo";
/// What stands before the name of a node.
const ASSIGNED: &str = " to ";

/// What an event says of an object, at its time; of several that are alike, at the first and the last. Nothing if it is about something
/// else.
pub(super) fn read(event: &Event) -> Vec<Seen> {
    let about = &event.involved_object;
    let times = [&event.first_timestamp, &event.last_timestamp, &event.event_time].map(|time| time_of(time.as_ref()));
    let mut times: Vec<Ms> = times.into_iter().flatten().collect();
    times.sort_unstable();
    times.dedup();
    let what = |at: Ms| match about.kind.as_str() {
        "Workload" => workload(event, at),
        "Pod" => pod(event, at),
        _ => None,
    };
    let seen = |at: Ms| {
        let of = Seen::of(&about.namespace, &about.name, what(at)?);
        Some(Seen { uid: about.uid.clone(), at: Some(at), ..of })
    };
    times.into_iter().filter_map(seen).collect()
}

fn workload(event: &Event, at: Ms) -> Option<What> {
    let (kind, reason) = match event.reason.strip_prefix(EVICTED) {
        Some(reason) => (Kind::Evicted, reason),
        None => REASONS.iter().find(|(reason, _)| *reason == event.reason).map(|(reason, kind)| (*kind, *reason))?,
    };
    // Events have whole seconds, as conditions do, or microseconds, which no condition has.
    let time = at - at.rem_euclid(1_000);
    let exact = (time != at).then_some(at);
    let (reason, message) = (reason.to_owned(), event.message.clone());
    let condition = Condition { kind, is: true, time, exact, is_hint: true, reason, message };
    Some(What::Workload(Box::new(Workload { conditions: vec![condition], ..Workload::default() })))
}

fn pod(event: &Event, at: Ms) -> Option<What> {
    if event.reason != "Scheduled" {
        return None;
    }
    let (_, node) = event.message.rsplit_once(ASSIGNED)?;
    Some(What::Pod(Box::new(Pod { node: Some(node.to_owned()), scheduled: Some(at), ..Pod::default() })))
}
