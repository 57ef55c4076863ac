//! What decides the answer of a replay, as far as its source and its cluster show it.
//!
//! Three things are refused unless you say that they may be assumed ([`crate::Setup::assume`]): the slots or the containers of nodes that
//! neither the trace nor the cluster file gives, and the sizes of machines likewise. They decide who waits. The demo and workload files
//! name their machines themselves.

use resched_policies::{Finding, in_words};
use resched_sim::batch::{Loaded, SizeRule};
use resched_sim::cluster_file::{Containers, Nodes};
use resched_sim::hadoop::{Cluster, Kind, System};
use resched_sim::{Skipped, Work};
use resched_trace::run::Unfinished;
use resched_trace::store::Manifest;
use resched_trace::validity::{Fact, Grade, Validity};

/// Below this share, something that is made or unfinished does not decide an answer.
const SMALL: f64 = 0.05;
/// From this share on, it decides the answer alone.
const MOST: f64 = 0.5;

/// The facts about a replay of Hadoop's maps and reduces.
pub(crate) fn of_hadoop(
    (cluster, kinds): (&Cluster, &[Kind]),
    skipped: &Skipped,
    work: &Work,
    manifest: Option<&Manifest>,
    unfinished: Unfinished,
) -> Validity {
    let mut validity = Validity::default();
    validity.add(slots(cluster, kinds));
    if let Some(manifest) = manifest {
        placement(manifest, skipped, &mut validity);
        made(manifest, work, &mut validity);
    }
    cut_off(work, unfinished, &mut validity);
    validity
}

/// The facts about a replay of batch tasks.
pub(crate) fn of_batch(loaded: &Loaded, manifest: Option<&Manifest>, unfinished: Unfinished) -> Validity {
    let Loaded { machines, skipped, work, .. } = loaded;
    let mut validity = Validity::default();
    validity.add(sizes(machines.unknown_sizes(), machines.nodes().len() as u64));
    requests(skipped, work.tasks, &mut validity);
    if let Some(manifest) = manifest {
        made(manifest, work, &mut validity);
    }
    cut_off(work, unfinished, &mut validity);
    validity
}

/// The facts about the queues and pools of a policy that do not fit the jobs. A rule without a job changes nothing.
pub(crate) fn of_rules(policy: &str, findings: &[Finding]) -> Validity {
    let matter: Vec<Finding> =
        findings.iter().filter(|finding| !matches!(finding, Finding::Unused { .. })).cloned().collect();
    let mut validity = Validity::default();
    for line in in_words(policy, &matter) {
        validity.add(
            Fact::new("queues", Grade::Assumed, line + ".")
                .with_remedy("`resched site show` prints the rules and checks them against the trace."),
        );
    }
    validity
}

/// The problem of a cluster whose nodes offer what nobody gives, if there is one. Only slots for tasks of these kinds matter.
pub(crate) fn unknown_slots(cluster: &Cluster, kinds: &[Kind]) -> Option<String> {
    if cluster.assumed(kinds) == 0 {
        return None;
    }
    let (what, say, assumed) = match cluster.system() {
        System::Slots => {
            ("how many maps and reduces a node runs at once", "`--slots <maps>+<reduces>`", slots_assumed())
        }
        System::Containers => (
            "how much memory and how many vcores a node offers",
            "`containers.memory_mb` and `containers.vcores`",
            containers_assumed(),
        ),
    };
    let site = "a cluster file (`--cluster`; `resched calibrate` proposes one from the trace), or the configuration of your site (`--site-conf`)";
    Some(format!(
        "neither the trace nor the cluster file says {what}, and that decides who waits; give {say}, {site}. `--assume` (in a sweep \
         file, `assume = true`) takes Hadoop's defaults: {assumed}"
    ))
}

/// The problem of machines whose size nobody gives, if there is one.
pub(crate) fn unknown_sizes(machines: &resched_sim::batch::Machines) -> Option<String> {
    let (unknown, rule) = machines.unknown_sizes();
    (unknown > 0 && rule == SizeRule::Assumed).then(|| {
        format!(
            "neither the trace nor the cluster file gives the size of {unknown} machines, and that decides who waits; ingest the table of \
             machines too (Google's `machine_events`), give `--nodes <N> --cores <C>` or a cluster file (`--cluster`; `resched calibrate` \
             proposes one from the trace). `--assume` takes machines that are as large as the largest, or a core for each slot"
        )
    })
}

fn slots_assumed() -> String {
    format!("{0} + {0} slots", Nodes::ASSUMED_SLOTS)
}

fn containers_assumed() -> String {
    format!("{} MB and {} vcores", Containers::ASSUMED_MEMORY_MB, Containers::ASSUMED_VCORES)
}

fn slots(cluster: &Cluster, kinds: &[Kind]) -> Fact {
    let (all, assumed) = (cluster.nodes().len() as u64, cluster.assumed(kinds));
    let (about, what, default) = match cluster.system() {
        System::Slots => ("slots", "The slots", slots_assumed()),
        System::Containers => ("capacity", "The memory and the vcores", containers_assumed()),
    };
    if cluster.config.nodes.at_least && cluster.system() == System::Slots {
        let says = "The slots are a lower bound: the trace that they were fitted to shows no full nodes.";
        return Fact::new(about, Grade::Assumed, says).with_remedy("Give the true ones with --slots or --site-conf.");
    }
    if assumed == 0 {
        return Fact::new(about, Grade::Measured, format!("{what} of {} are given.", every(all, "node")));
    }
    Fact::new(about, Grade::Assumed, format!("{what} of {assumed} of {all} nodes are assumed: {default} each."))
        .with_remedy(
            "Give them with --slots, --cluster or --site-conf; `resched calibrate` proposes them from the trace.",
        )
}

fn sizes((unknown, rule): (u64, SizeRule), all: u64) -> Fact {
    let fact = |grade, says: String| Fact::new("capacity", grade, says);
    let remedy = "Give them with --cores, --memory or --cluster; `resched calibrate` proposes them from the trace.";
    match rule {
        _ if unknown == 0 => fact(Grade::Measured, format!("The sizes of {} are given.", every(all, "machine"))),
        SizeRule::Given => {
            fact(Grade::Measured, format!("The sizes of {unknown} of {all} machines are those of the cluster file."))
        }
        SizeRule::Median => {
            let says = format!("The sizes of {unknown} of {all} machines are assumed: the median of the others.");
            let small = (unknown as f64) < SMALL * all as f64;
            fact(if small { Grade::Measured } else { Grade::Assumed }, says).with_remedy(remedy)
        }
        SizeRule::Slots => {
            let says = format!("The sizes of {unknown} of {all} machines are assumed: one core for each slot.");
            fact(Grade::Assumed, says).with_remedy(remedy)
        }
        SizeRule::Assumed => {
            let says = format!("The sizes of {unknown} of {all} machines are assumed: nobody gives any.");
            fact(Grade::Assumed, says).with_remedy(remedy)
        }
    }
}

/// What tasks ask for, where the trace does not say.
fn requests(skipped: &Skipped, tasks: u64, validity: &mut Validity) {
    let count = |cause: &str| skipped.get(cause).copied().unwrap_or(0);
    let share = |n: u64| n as f64 / tasks.max(1) as f64;
    let (one_core, of_job) = (count("task-of-one-core"), count("task-with-request-of-its-job"));
    if share(one_core) >= SMALL {
        let says =
            format!("{} of the tasks give no request; each is assumed to take one core.", percent(share(one_core)));
        validity.add(Fact::new("requests", Grade::Assumed, says));
    }
    if share(of_job) >= SMALL {
        let says =
            format!("{} of the tasks are assumed to request what others of their job do.", percent(share(of_job)));
        validity.add(Fact::new("requests", Grade::Assumed, says));
    }
    let too_large = count("task-larger-than-any-machine");
    if share(too_large) >= SMALL {
        let says = format!("{too_large} tasks fit on no machine and are left out.");
        validity.add(
            Fact::new("capacity", Grade::Assumed, says).with_remedy("The machines of the cluster file are too small."),
        );
    }
}

/// Where the input of maps is.
fn placement(manifest: &Manifest, skipped: &Skipped, validity: &mut Validity) {
    let splits = manifest.rows.get("splits").copied().unwrap_or(0);
    if splits == 0 {
        let says = "The trace gives no place of input, so no map is near to its input or far from it.";
        validity.add(
            Fact::new("placement", Grade::Assumed, says)
                .with_remedy("Policies that wait for locality cannot differ from others here."),
        );
        return;
    }
    for (cause, what) in [
        ("split-host-drawn-anew", "drawn anew, because the cluster has other machines"),
        ("split-host-outside-cluster", "left out, because the cluster lacks their machines"),
    ] {
        let share = skipped.get(cause).copied().unwrap_or(0) as f64 / splits as f64;
        if share >= SMALL {
            let says = format!("{} of the places of input are {what}.", percent(share));
            validity.add(Fact::new("placement", Grade::Assumed, says));
        }
    }
}

/// Run times that a rule makes.
fn made(manifest: &Manifest, work: &Work, validity: &mut Validity) {
    if let Some(rule) = manifest.made.get("attempts.start") {
        let says = format!("The tasks and their run times are made by the rule `{rule}`, not observed.");
        let remedy = "Compare policies by them, but do not read the times as those of the cluster.";
        validity.add(Fact::new("run-times", Grade::Assumed, says).with_remedy(remedy));
        return;
    }
    let share = work.made_tasks as f64 / work.tasks.max(1) as f64;
    if share >= SMALL {
        let grade = if share >= MOST { Grade::NotAnswerable } else { Grade::Assumed };
        let says = format!(
            "The log has no run time for {} of the tasks; the cost model makes them from the others of their job.",
            percent(share)
        );
        validity.add(Fact::new("run-times", grade, says));
    }
}

/// Work that had not ended when the trace ended.
fn cut_off(work: &Work, unfinished: Unfinished, validity: &mut Validity) {
    let Work { unfinished_tasks, unfinished_jobs, jobs_before, .. } = *work;
    if jobs_before > 0 {
        let says =
            format!("{jobs_before} jobs were there before the trace began; they are replayed and count in no metric.");
        validity.add(Fact::new("population", Grade::Measured, says));
    }
    if unfinished_jobs == 0 {
        return;
    }
    let share = work.unfinished_share();
    let seen = format!(
        "{unfinished_tasks} tasks of {unfinished_jobs} of {} jobs had not ended when the trace ended ({} of the task time)",
        work.jobs,
        percent(share)
    );
    let many = unfinished_jobs as f64 >= MOST * work.jobs as f64;
    let decided = if many { Grade::NotAnswerable } else { Grade::Assumed };
    let (grade, says) = match unfinished {
        Unfinished::Drop => (
            if share >= SMALL { Grade::Assumed } else { Grade::Measured },
            format!(
                "{seen}; they hold their places until then, and their jobs count in no metric, so long jobs are missing."
            ),
        ),
        Unfinished::Cap => (
            decided,
            format!("{seen}; they count as done after the time that was seen of them, so times are lower bounds."),
        ),
        Unfinished::Estimate => (
            decided,
            format!(
                "{seen}; the run times of {} of them are drawn from the Kaplan–Meier estimate of their class. The others run longer than \
                 any that was seen to end; they hold their places, and their jobs count in no metric.",
                work.estimated_tasks
            ),
        ),
    };
    validity.add(Fact::new("unfinished", grade, says).with_remedy("Choose with --unfinished drop, cap or estimate."));
}

/// All of so many things.
fn every(all: u64, what: &str) -> String {
    if all == 1 { format!("the {what}") } else { format!("all {all} {what}s") }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
