//! What decides the answer of a replay, as far as its source and its cluster show it.
//!
//! Three things are refused unless you say that they may be assumed ([`crate::Setup::assume`]): the slots or the containers of nodes that
//! neither the trace nor the cluster file gives, and the sizes of machines likewise. They decide who waits. The demo and workload files
//! name their machines themselves.

use std::collections::BTreeSet;

use resched_policies::{Finding, in_words};
use resched_sim::batch::{Loaded, LocalityCost, SizeRule, unit_of};
use resched_sim::cluster_file::{ClusterConfig, Containers, Nodes, SetUp};
use resched_sim::hadoop::{self, Cluster, Kind, System};
use resched_sim::{Skipped, Work};
use resched_tables::engine::System as TraceSystem;
use resched_tables::host_list::fold;
use resched_tables::run::Unfinished;
use resched_tables::store::{LIKELY_HOSTS, Manifest, Scaled};
use resched_tables::validity::{Fact, Grade, NEVER_START, Validity};
use resched_tables::words::{all_of, count, counted};

use crate::left_out;
pub(crate) use crate::share::SMALL;

/// From this share on, it decides the answer alone.
const MOST: f64 = 0.5;

/// How many standard errors a fitted value goes to each side: 95 % of the values are within them.
pub(crate) const SIGMAS: f64 = 2.0;
/// From this ratio of its ends on, the interval of a fitted factor is too wide for a measured answer.
const WIDE: f64 = 1.5;

/// The facts about a replay of Hadoop's maps and reduces.
pub(crate) fn of_hadoop(
    (cluster, kinds): (&Cluster, &[Kind]),
    loaded: &hadoop::Loaded,
    manifest: Option<&Manifest>,
    unfinished: Unfinished,
) -> Validity {
    let hadoop::Loaded { skipped, work, .. } = loaded;
    let mut validity = Validity::default();
    let own_machines = cluster.config.nodes.count.or(cluster.config.nodes.clones).is_none();
    slots(cluster, kinds, manifest.is_some_and(|manifest| own_machines && makes_nodes(manifest)), &mut validity);
    if let Some(manifest) = manifest {
        smaller_than_seen(cluster, kinds, loaded.at_once, manifest, &mut validity);
        placement(manifest, skipped, &mut validity);
        made(manifest, own_machines, &mut validity);
        without_run_time(work, &mut validity);
        scaled(manifest, &mut validity);
        left_out::of(manifest, &mut validity);
        started_late(cluster, loaded.starts, &mut validity);
    }
    begun_before(work, &mut validity);
    cut_off_log(work, unfinished).into_iter().for_each(|fact| validity.add(fact));
    validity
}

/// The facts about a replay of batch tasks. `fitted_off`: the standard error of the cost of distance, if the cluster file says that it was
/// fitted.
pub(crate) fn of_batch(
    loaded: &Loaded,
    manifest: Option<&Manifest>,
    unfinished: Unfinished,
    fitted_off: Option<f64>,
) -> Validity {
    let Loaded { machines, skipped, work, .. } = loaded;
    let system = manifest.and_then(|manifest| manifest.system).unwrap_or_default();
    let mut validity = Validity::default();
    validity.add(match machines.are_boundless() {
        true => Fact::new(
            "capacity",
            Grade::Assumed,
            "The trace has no nodes: quotas alone decide, as if each admitted pod found a node at once.",
        )
        .with_remedy(
            "Give nodes with --nodes and --cores, or with a cluster file; then admitted pods also wait for these.",
        ),
        false => sizes(machines.unknown_sizes(), machines.nodes().len() as u64),
    });
    requests(skipped, work.tasks, &mut validity);
    paces(skipped, work.tasks, &mut validity);
    if machines.slow_down() && loaded.workload.jobs().iter().any(|job| job.requested_time.is_some()) {
        let says = "Jobs on slow machines may run longer than their limits: it is assumed that nothing ends them.";
        validity.add(Fact::new("limits", Grade::Assumed, says));
    }
    if system == TraceSystem::Spark && machines.have_outages() {
        let says = "What finished tasks wrote on a machine that goes down is assumed to stay readable: no finished task runs again.";
        validity.add(Fact::new("capacity", Grade::Assumed, says));
    }
    too_large(loaded).into_iter().for_each(|fact| validity.add(fact));
    unasked(loaded).into_iter().for_each(|fact| validity.add(fact));
    loaded.locality.map(|cost| locality(cost, fitted_off, system)).into_iter().for_each(|fact| validity.add(fact));
    if let Some(manifest) = manifest {
        made(manifest, true, &mut validity);
        without_run_time(work, &mut validity);
        scaled(manifest, &mut validity);
        left_out::of(manifest, &mut validity);
    }
    begun_before(work, &mut validity);
    lost_tries(work).into_iter().for_each(|fact| validity.add(fact));
    cut_off_tasks(work, unfinished).into_iter().for_each(|fact| validity.add(fact));
    validity
}

/// The problem of a policy that places tasks on machines, in a world of quotas alone.
pub(crate) fn needs_machines(policy: &str) -> String {
    format!(
        "policy `{policy}`: expected machines, found a trace without nodes, which only quotas can hold back; give their number with `--nodes \
         <N> --cores <of each>`, or replay it with `kueue`"
    )
}

/// The fact about machines of the trace that the cluster lacks.
pub(crate) fn unknown_hosts(known: &BTreeSet<String>, of_trace: &BTreeSet<String>) -> Option<Fact> {
    let unknown: Vec<&str> = of_trace.difference(known).map(String::as_str).collect();
    if unknown.is_empty() {
        return None;
    }
    let says = format!(
        "The jobs of the trace ran on {} of which the configuration lacks {} ({}): the replay has other machines than the log.",
        counted(of_trace.len() as u64, "machine"),
        count(unknown.len() as u64),
        fold(unknown)
    );
    let remedy = "Give the configuration of the time of the log, or the number of machines with --nodes.";
    Some(Fact::new("capacity", Grade::Assumed, says).with_remedy(remedy))
}

/// Named resources of machines, such as GPUs, that no job asks for.
fn unasked(loaded: &Loaded) -> Option<Fact> {
    let Loaded { machines, workload, .. } = loaded;
    let offered: BTreeSet<&str> =
        machines.nodes().iter().flat_map(|machine| &machine.resources).map(|(name, _)| &**name).collect();
    let all = || workload.tasks_with_needs().flat_map(|(_, needs)| &needs.resources).map(|(name, _)| &**name);
    let asked: BTreeSet<&str> = if offered.is_empty() { BTreeSet::new() } else { all().collect() };
    // A job may ask for any GPU, and a machine has those of one kind.
    let kind = |name: &str| name.split(':').next().map(str::to_owned).unwrap_or_default();
    let is_asked = |name: &&str| asked.iter().any(|other| kind(other) == kind(name));
    let unasked: Vec<&str> = offered.iter().copied().filter(|name| !is_asked(name)).collect();
    if unasked.is_empty() {
        return None;
    }
    let says = format!(
        "The machines have {}, but no job of the trace asks for any, so that these jobs never wait for them.",
        unasked.join(", ")
    );
    let remedy = "List the jobs with their resources (for Slurm, `sacct` with AllocTRES or SubmitLine), or take these out of the machines.";
    Some(Fact::new("requests", Grade::Assumed, says).with_remedy(remedy))
}

/// The fact about limits that jobs waited for, as the log says, if the policy has none.
pub(crate) fn of_limits(work: &Work, has_limits: bool) -> Validity {
    let mut validity = Validity::default();
    if work.limited_jobs > 0 && !has_limits {
        let says = format!(
            "The log says that {} of {} jobs waited for a limit of their QOS or association, and no such limit is given.",
            count(work.limited_jobs),
            count(work.jobs)
        );
        let share = work.limited_jobs as f64 / work.jobs.max(1) as f64;
        validity.add(Fact::new("queues", grade_of(share), says).with_remedy(
            "Put `qos.txt` and `sacctmgr.cfg` into the folder of --site-conf, and compare policies that keep them.",
        ));
    }
    validity
}

/// The facts about the queues and pools of a policy that do not fit the jobs. A rule without a job changes nothing.
pub(crate) fn of_rules(policy: &str, findings: &[Finding]) -> Validity {
    // A limit is no guess, and a run that ends was not held by it.
    let matters = |finding: &&Finding| {
        !matches!(finding, Finding::Unused { .. } | Finding::Held { .. } | Finding::TooLarge { .. })
    };
    let matter: Vec<Finding> = findings.iter().filter(matters).cloned().collect();
    let mut validity = Validity::default();
    for line in in_words(policy, &matter) {
        validity.add(
            Fact::new("queues", Grade::Assumed, line + ".")
                .with_remedy("`resched site show` prints the rules and checks them against the trace."),
        );
    }
    validity
}

/// Jobs that fail in a replay although they succeeded in the trace.
pub(crate) fn failed_unlike_log(failed: u64, jobs: u64) -> Option<Fact> {
    if failed == 0 {
        return None;
    }
    let share = failed as f64 / jobs.max(1) as f64;
    let says = format!(
        "{} of {} jobs fail or are killed in this replay although they succeeded in the trace; they do not count as completed.",
        count(failed),
        count(jobs)
    );
    Some(Fact::new("population", if share < SMALL { Grade::Measured } else { grade_of(share) }, says))
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
        "neither the trace nor the cluster file says {what}, and waiting times depend on it; give {say}, {site}. `--assume` (in a \
         sweep file, `assume = true`) uses Hadoop's defaults: {assumed}"
    ))
}

/// The problem of machines whose size nobody gives, if there is one.
pub(crate) fn unknown_sizes(machines: &resched_sim::batch::Machines) -> Option<String> {
    let (unknown, rule) = machines.unknown_sizes();
    (unknown > 0 && rule == SizeRule::Assumed).then(|| {
        format!(
            "neither the trace nor the cluster file gives the size of {unknown} machines, and waiting times depend on it; ingest the table \
             of machines, too (Google's `machine_events`), or give `--nodes <N> --cores <C>` or a cluster file (`--cluster`; `resched \
             calibrate` proposes one from the trace). `--assume` makes them as large as the largest, or gives them a core for each slot{}",
            unit_of(machines.amounts())
        )
    })
}

fn slots_assumed() -> String {
    format!("{0} + {0} slots", Nodes::ASSUMED_SLOTS)
}

fn containers_assumed() -> String {
    format!("{} MB and {} vcores", Containers::ASSUMED_MEMORY_MB, Containers::ASSUMED_VCORES)
}

fn slots(cluster: &Cluster, kinds: &[Kind], made_nodes: bool, validity: &mut Validity) {
    let (all, assumed) = (cluster.nodes().len() as u64, cluster.assumed(kinds));
    let (about, what, default) = match cluster.system() {
        System::Slots => ("slots", "The slots", slots_assumed()),
        System::Containers => ("capacity", "The memory and the vcores", containers_assumed()),
    };
    let at_least = match cluster.system() {
        System::Slots => cluster.config.nodes.at_least,
        System::Containers => cluster.config.containers.at_least,
    };
    if assumed > 0 {
        let says = format!("{what} of {} of {} nodes are assumed: {default} each.", count(assumed), count(all));
        validity.add(Fact::new(about, Grade::Assumed, says).with_remedy(
            "Give them with --slots, --cluster or --site-conf; `resched calibrate` proposes them from the trace.",
        ));
    }
    if at_least {
        let says = format!("{what} are a lower bound: they were fitted to a trace without full nodes.");
        let remedy = "Give the true values with --slots, --cluster or --site-conf.";
        validity.add(Fact::new(about, Grade::Assumed, says).with_remedy(remedy));
    }
    if assumed == 0 && !at_least && !made_nodes {
        validity.add(Fact::new(about, Grade::Measured, format!("{what} of {} are given.", every(all, "node"))));
    }
}

fn sizes((unknown, rule): (u64, SizeRule), all: u64) -> Fact {
    let of = || format!("{} of {} machines", count(unknown), count(all));
    let fact = |grade, says: String| Fact::new("capacity", grade, says);
    let remedy = "Give them with --cores, --memory or --cluster; `resched calibrate` proposes them from the trace.";
    match rule {
        _ if unknown == 0 => fact(Grade::Measured, format!("The sizes of {} are given.", every(all, "machine"))),
        SizeRule::Use => {
            let says = format!(
                "The sizes of {} are assumed from their use in the log, which lists no machines: they are lower bounds.",
                every(all, "machine")
            );
            let remedy = "Give them with --site-conf (Slurm's `slurm.conf`), --cores or --cluster.";
            fact(Grade::Assumed, says).with_remedy(remedy)
        }
        SizeRule::Given => fact(Grade::Measured, format!("The sizes of {} are those of the cluster file.", of())),
        SizeRule::Median => {
            let says = format!("The sizes of {} are assumed: the median of the others.", of());
            let small = (unknown as f64) < SMALL * all as f64;
            fact(if small { Grade::Measured } else { Grade::Assumed }, says).with_remedy(remedy)
        }
        SizeRule::Slots => {
            let says = format!("The sizes of {} are assumed: one core for each slot.", of());
            fact(Grade::Assumed, says).with_remedy(remedy)
        }
        SizeRule::Assumed => {
            let says = format!("The sizes of {} are assumed: no source gives them.", of());
            fact(Grade::Assumed, says).with_remedy(remedy)
        }
    }
}

/// What tasks ask for, where the trace does not say.
fn requests(skipped: &Skipped, tasks: u64, validity: &mut Validity) {
    let skipped = |cause: &str| skipped.get(cause).copied().unwrap_or(0);
    let share = |n: u64| n as f64 / tasks.max(1) as f64;
    let (one_core, of_job) = (skipped("task-of-one-core"), skipped("task-with-request-of-its-job"));
    if share(one_core) >= SMALL {
        let says =
            format!("{} of the tasks give no request; each is assumed to take one core.", percent(share(one_core)));
        validity.add(Fact::new("requests", Grade::Assumed, says));
    }
    if share(of_job) >= SMALL {
        let says =
            format!("{} of the tasks are assumed to request as much as others of their job.", percent(share(of_job)));
        validity.add(Fact::new("requests", Grade::Assumed, says));
    }
}

/// Attempts whose time may hold the factor of a slow host, as nobody knows where they ran.
fn paces(skipped: &Skipped, tasks: u64, validity: &mut Validity) {
    let unknown = skipped.get("attempt-of-unknown-pace").copied().unwrap_or(0);
    let share = unknown as f64 / tasks.max(1) as f64;
    if share >= SMALL {
        let says = format!(
            "The trace does not say on which machine {} attempts ran: their times are taken as those of machines without a factor, \
             although `cost.host_factors` names some.",
            count(unknown)
        );
        validity.add(Fact::new("run-times", Grade::Assumed, says));
    }
}

/// The jobs that no policy could end, of so many: what they need is not there.
pub(crate) fn never_ended(first: &[&str], never: u64, jobs: u64) -> Option<Fact> {
    let says = format!(
        "Can never start: {} of {} ({}). The machines that they may use are not there, or a limit holds them for ever. They count in no \
         metric.",
        count(never),
        counted(jobs, "job"),
        named(first, never)
    );
    let remedy = "`resched site show` checks limits and partitions against the trace.";
    let share = never as f64 / jobs.max(1) as f64;
    (never > 0).then(|| Fact::new(NEVER_START, grade_if_large(share), says).with_remedy(remedy))
}

/// Some of so many jobs by their ids.
fn named(first: &[&str], all: u64) -> String {
    let more = if (first.len() as u64) < all { ", …" } else { "" };
    first.join(", ") + more
}

/// Tasks that fit on no machine, and jobs that have no other.
fn too_large(loaded: &Loaded) -> Option<Fact> {
    let Loaded { machines, skipped, work, .. } = loaded;
    let skipped = |cause: &str| skipped.get(cause).copied().unwrap_or(0);
    let (tasks, jobs) = (skipped("task-larger-than-any-machine"), skipped("job-larger-than-any-machine"));
    let all_jobs = work.jobs + jobs;
    let share = (tasks as f64 / work.tasks.max(1) as f64).max(jobs as f64 / all_jobs.max(1) as f64);
    if tasks == 0 {
        return None;
    }
    let first: Vec<&str> = loaded.too_large.first.iter().map(String::as_str).collect();
    let says = format!(
        "Can never start: {} of {} tasks fit on no machine and are left out (jobs {}), and so are {} of {} jobs.",
        count(tasks),
        count(work.tasks),
        named(&first, loaded.too_large.jobs),
        count(jobs),
        count(all_jobs)
    );
    let remedy = format!("Give larger machines with --cores, --memory or --cluster{}.", unit_of(machines.amounts()));
    Some(Fact::new(NEVER_START, grade_if_large(share), says).with_remedy(remedy))
}

/// The grade of an answer of which so much is missing: a small part does not decide it.
fn grade_if_large(share: f64) -> Grade {
    if share < SMALL { Grade::Measured } else { grade_of(share) }
}

/// How much longer batch tasks take away from the machines that they prefer.
fn locality(cost: LocalityCost, fitted_off: Option<f64>, system: TraceSystem) -> Fact {
    let of = |[_, rack, off]: [f64; 3]| {
        let [in_rack, elsewhere] = ["in the rack of its input", "elsewhere"].map(|text| system.says(text));
        format!("{rack:.2} times as long {in_rack} and {off:.2} times {elsewhere}")
    };
    let remedy = "Give it with `locality` in `[cost]` of a cluster file.";
    match cost {
        LocalityCost::Given(factors) => {
            let from = fitted_off.map_or_else(
                || "as the cluster file says".to_owned(),
                |error| format!("as `resched calibrate` fitted it (standard error {error:.2})"),
            );
            let [low, high] =
                [-SIGMAS, SIGMAS].map(|errors| (factors[2] + errors * fitted_off.unwrap_or(0.0)).max(1e-3));
            let grade = if high / low < WIDE { Grade::Measured } else { Grade::Assumed };
            Fact::new("placement", grade, format!("A task takes {}, {from}.", of(factors)))
        }
        LocalityCost::Fitted(fitted) => {
            let [racks, offs] = fitted.stages;
            let [low, high] = [-SIGMAS, SIGMAS].map(|errors| fitted.at(errors)[2]);
            let levels = [(racks, "in the rack of its input"), (offs, "elsewhere")];
            let stages = levels.into_iter().filter(|(stages, _)| *stages > 0);
            let stages = stages.map(|(number, level)| format!("{} {}", counted(number, "stage"), system.says(level)));
            let says = format!(
                "A task takes {} (95 %: {low:.2} to {high:.2}): fitted to the tasks of {}.",
                of(fitted.factors),
                all_of(&stages.collect::<Vec<_>>())
            );
            let grade = if high / low < WIDE { Grade::Measured } else { Grade::Assumed };
            Fact::new("placement", grade, says).with_remedy(remedy)
        }
        LocalityCost::Assumed => {
            let beside = system.says("from their input as beside it");
            let says = format!(
                "Tasks are assumed to take as long away {beside}: too few tasks of the trace ran away from there."
            );
            Fact::new("placement", Grade::Assumed, says).with_remedy(remedy)
        }
    }
}

/// The grade of an answer of which so much is made or missing.
fn grade_of(share: f64) -> Grade {
    if share >= MOST { Grade::NotAnswerable } else { Grade::Assumed }
}

/// Nodes that are smaller than what ran on them.
fn smaller_than_seen(cluster: &Cluster, kinds: &[Kind], seen: [u32; 3], manifest: &Manifest, validity: &mut Validity) {
    if manifest.made_whole("attempts.start").is_some() {
        return;
    }
    let offered = cluster.most_at_once();
    let in_containers = cluster.system() == System::Containers;
    let has = |kind| kinds.contains(&kind);
    let of = |which: usize, what: &str, counts: bool| {
        let (seen, offered) = (*seen.get(which)?, *offered.get(which)?);
        (counts && seen > offered).then(|| {
            format!("The trace ran up to {seen} {what} at once on a node, but this cluster offers only {offered}.")
        })
    };
    let says = match in_containers {
        true => vec![of(2, "tasks", true)],
        false => vec![of(0, "maps", has(Kind::Map)), of(1, "reduces", has(Kind::Reduce))],
    };
    let about = if in_containers { "capacity" } else { "slots" };
    for says in says.into_iter().flatten() {
        let remedy = "Give at least as many to compare with the observed run.";
        validity.add(Fact::new(about, Grade::Assumed, says).with_remedy(remedy));
    }
}

/// Where the input of maps is.
fn placement(manifest: &Manifest, skipped: &Skipped, validity: &mut Validity) {
    let splits = manifest.rows.get("splits").copied().unwrap_or(0);
    if splits == 0 {
        let says = "The trace gives no places of input, so no map is near its input or far from it, and policies that wait for \
                    locality cannot differ from others.";
        validity.add(Fact::new("placement", Grade::Assumed, says));
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

/// Something that decides an answer, and the column of the trace that has it.
struct Decides {
    /// `table.column`.
    column: &'static str,
    /// The word of [`Fact::about`].
    about: &'static str,
    /// What it means that a rule filled the column; the name of the rule follows.
    says: &'static str,
    remedy: &'static str,
}

/// What decides an answer if a rule made it. If all run times are made, nothing else is said of times.
const DECIDES: [Decides; 6] = [
    Decides {
        column: "tasks.task_id",
        about: "run-times",
        says: "The tasks and their run times are not observed; they are made",
        remedy: "Use them to compare policies, but do not take the times for times of the cluster.",
    },
    Decides {
        column: "nodes.host",
        about: "capacity",
        says: "The machines and their racks are not those of the cluster; they are made",
        remedy: "Give the number of machines with --nodes, or describe them with --cluster.",
    },
    Decides {
        column: "splits.host",
        about: "placement",
        says: "The places of input are drawn at random, so all numbers of locality depend on the draw; they are made",
        remedy: "",
    },
    Decides {
        column: "jobs.submit",
        about: "load",
        says: "The times between submissions are not those of the trace; they are made",
        remedy: "",
    },
    Decides {
        column: "attempts.start",
        about: "waiting",
        says: "The start times of tasks are not observed; they are made",
        remedy: "",
    },
    Decides {
        column: "tasks.cpu_request",
        about: "requests",
        says: "The requests of tasks are not observed; they are made",
        remedy: "",
    },
];

/// What rules made of all that decides an answer. `own_machines`: whether the machines are the trace's.
fn made(manifest: &Manifest, own_machines: bool, validity: &mut Validity) {
    let system = manifest.system.unwrap_or_default();
    let has_made_tasks = manifest.made.contains_key("tasks.task_id");
    for Decides { column, about, says, remedy } in DECIDES {
        let Some(rule) = manifest.made.get(column) else { continue };
        let rows = manifest.made_rows.get(column);
        let all = column.split('.').next().and_then(|table| manifest.rows.get(table)).copied().unwrap_or(0);
        let share = rows.map_or(1.0, |&rows| rows as f64 / all.max(1) as f64);
        let implied = column == "attempts.start" && has_made_tasks || column == "nodes.host" && !own_machines;
        if share < SMALL || implied {
            continue;
        }
        let part = rows.map_or_else(String::new, |_| format!(" for {} of the rows", percent(share)));
        // Only what is made in part can leave too little.
        // What follows what the log shows is a fair guess, however much it is.
        let is_blind = rule != LIKELY_HOSTS;
        let grade = if rows.is_some() && is_blind { grade_of(share) } else { Grade::Assumed };
        validity.add(
            Fact::new(about, grade, format!("{} by the rule `{rule}`{part}.", system.says(says))).with_remedy(remedy),
        );
    }
}

/// True if a rule made the machines of a trace.
fn makes_nodes(manifest: &Manifest) -> bool {
    manifest.made_whole("nodes.host").is_some()
}

/// Tasks whose run time the log lacks.
fn without_run_time(work: &Work, validity: &mut Validity) {
    let share = work.made_tasks as f64 / work.tasks.max(1) as f64;
    if share >= SMALL {
        let says = format!(
            "The log has no run time for {} of the tasks; the cost model estimates it from other tasks of their job.",
            percent(share)
        );
        validity.add(Fact::new("run-times", grade_of(share), says));
    }
}

/// True if the waits until jobs were initialised may decide an answer.
pub(crate) fn starts_decide(cluster: &ClusterConfig, starts: hadoop::Starts) -> bool {
    cluster.jobs.setup == SetUp::Logged && starts.share() >= SMALL
}

/// Jobs that waited long until they were initialised. A log that does not say when the master started cannot tell this wait from the
/// initialisation, which takes the same time under every scheduler.
fn started_late(cluster: &Cluster, starts: hadoop::Starts, validity: &mut Validity) {
    if !starts_decide(&cluster.config, starts) {
        return;
    }
    let try_it = "Try `setup = \"quickest\"` in `[jobs]` of a cluster file.";
    let (what, remedy) = match cluster.system() {
        System::Containers => (
            "the container of their application master",
            format!("Use the histories of the application masters (`.jhist`), which say when they started. {try_it}"),
        ),
        System::Slots => ("their turn to be initialised", try_it.to_owned()),
    };
    let says = format!(
        "In the log, {} waited {:.1} s longer than the quickest one, on average, before they were initialised. The log does not say how much \
         of it was a wait for {what}, which depends on the scheduler, so every policy is given this wait.",
        counted(starts.jobs, "job"),
        starts.excess() / 1_000.0
    );
    validity.add(Fact::new("waiting", Grade::Assumed, says).with_remedy(remedy));
}

/// What `resched scale` left of a trace.
fn scaled(manifest: &Manifest, validity: &mut Validity) {
    let Some(Scaled { jobs, nodes, .. }) = Scaled::of(manifest) else { return };
    if jobs < 1.0 {
        let says = format!(
            "The trace is a sample of {} of the jobs: its load, waiting times and sizes are not those of the whole.",
            percent(jobs)
        );
        validity.add(Fact::new("load", Grade::Assumed, says));
    }
    if nodes < 1.0 {
        let says = format!(
            "The trace has a sample of {} of the machines: the input of the others is moved to them.",
            percent(nodes)
        );
        validity.add(Fact::new("capacity", Grade::Assumed, says));
    }
}

/// Jobs that began before the trace.
fn begun_before(work: &Work, validity: &mut Validity) {
    if work.jobs_before > 0 {
        let jobs = counted(work.jobs_before, "job");
        let says = format!("{jobs} began before the trace: replayed, but counted in no metric.");
        validity.add(Fact::new("population", Grade::Measured, says));
    }
}

/// Tries that a machine or the scheduler ended, and that no replay repeats: the machines have that much less to do.
fn lost_tries(work: &Work) -> Option<Fact> {
    let share = work.lost_share();
    if work.lost_ms == 0 {
        return None;
    }
    let grade = if share < SMALL { Grade::Measured } else { grade_of(share) };
    let says = format!(
        "Tries that were lost, evicted or requeued took {} of the run time in the log. They are left out, so jobs wait less than they did.",
        percent(share)
    );
    Some(
        Fact::new("load", grade, says)
            .with_remedy("Look at the log's own waits: `resched explain` and `inspect` of the trace."),
    )
}

/// Jobs of Hadoop that had not ended when the log ended. The log has no run time for the tasks that they still had to do.
fn cut_off_log(work: &Work, unfinished: Unfinished) -> Option<Fact> {
    let so = match unfinished {
        Unfinished::Drop => "their jobs count in no metric, so long jobs are missing from the metrics",
        Unfinished::Cap | Unfinished::Estimate => "their jobs count",
    };
    cut_off(work, unfinished, &format!("; the cost model estimates their run times, and {so}."))
}

/// Batch tasks that had not ended when the trace ended. The trace has their run times until then.
fn cut_off_tasks(work: &Work, unfinished: Unfinished) -> Option<Fact> {
    let so = match unfinished {
        Unfinished::Drop => {
            "they hold their places until then. Their jobs count in no metric, so long jobs are missing from the metrics.".to_owned()
        }
        Unfinished::Cap => {
            "they count as done after their observed time, so times are lower bounds.".to_owned()
        }
        Unfinished::Estimate => format!(
            "the run times of {} of them are drawn from the Kaplan–Meier estimate of their class. The others run longer than any task \
             that ended; they hold their places, and their jobs count in no metric.",
            count(work.estimated_tasks)
        ),
    };
    cut_off(work, unfinished, &format!(" ({} of the task time); {so}", percent(work.unfinished_share())))
}

/// Work that had not ended when the trace ended, and what becomes of it.
fn cut_off(work: &Work, unfinished: Unfinished, so: &str) -> Option<Fact> {
    let Work { unfinished_tasks, unfinished_jobs, jobs, .. } = *work;
    if unfinished_jobs == 0 {
        return None;
    }
    let of_jobs = unfinished_jobs as f64 / jobs.max(1) as f64;
    let grade = match unfinished {
        Unfinished::Drop if work.unfinished_share().max(of_jobs) < SMALL => Grade::Measured,
        Unfinished::Cap | Unfinished::Estimate if of_jobs >= MOST => Grade::NotAnswerable,
        Unfinished::Drop | Unfinished::Cap | Unfinished::Estimate => Grade::Assumed,
    };
    let [unended, all] = [unfinished_jobs, jobs].map(count);
    let verb = if unfinished_tasks == 1 { "was" } else { "were" };
    let tasks = counted(unfinished_tasks, "task");
    let says = format!("{tasks} of {unended} of {all} jobs {verb} unfinished when the trace ended{so}");
    Some(Fact::new("unfinished", grade, says).with_remedy("Choose with --unfinished drop, cap or estimate."))
}

/// All of so many things.
fn every(all: u64, what: &str) -> String {
    if all == 1 { format!("the {what}") } else { format!("all {} {what}s", count(all)) }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use resched_sim::batch::Fitted;

    use super::*;

    /// A level that no stage of the log has tasks at is no evidence.
    #[test]
    fn a_cost_names_the_stages_that_it_is_fitted_to() {
        let fitted = |stages| {
            let fitted = Fitted { factors: [1.0, 1.1, 2.0], errors: [0.2, 0.1], stages };
            locality(LocalityCost::Fitted(fitted), None, TraceSystem::Spark).says
        };
        assert!(fitted([0, 4]).ends_with("fitted to the tasks of 4 stages at ANY."), "{}", fitted([0, 4]));
        assert!(
            fitted([1, 4]).ends_with("the tasks of 1 stage at RACK_LOCAL and 4 stages at ANY."),
            "{}",
            fitted([1, 4])
        );
    }
}
