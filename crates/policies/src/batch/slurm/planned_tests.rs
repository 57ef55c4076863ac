//! The plans of the backfill scheduler beside those that real Slurms logged: each cycle of a run, from what ran and waited then.
//!
//! Each row of a cycle is planned behind the reservations that Slurm itself made before it, so that one difference leads to no other.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use resched_sim::batch::{AttemptId, Launched, Observer, replay_seeded};
use resched_sim::{Error, Reports};
use resched_tables::host_list::expand;

use super::place::Part;
use super::*;
use crate::site::Site;
use crate::spec::PolicySpec;
use crate::testing::slurm_truth::{Row, jobs, loaded, number, runs_of, table};

/// Takes the jobs in, and starts only the first, so that there is a run.
struct Takes(Slurm, Option<AttemptId>);

impl Policy for Takes {
    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.0.task_waits(task, view);
    }

    fn schedule(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if self.1.is_none() {
            let first = self.0.queue.jobs()[0].clone();
            let begun = self.0.begun.as_mut().unwrap();
            let places = begun.place_now(&first, &first.machines).unwrap();
            self.1 = Some(offer.start_on(first.task, &begun.cluster.as_nodes(&places))?);
        }
        Ok(())
    }
}

struct Nobody;

impl Reports for Nobody {}

impl Observer for Nobody {
    fn launched(&mut self, _: &Launched<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn ended(&mut self, _: &Ended) -> Result<(), Error> {
        Ok(())
    }
}

/// The machines of each run.
const MACHINES: usize = 8;

/// The instants at which a cycle, an end and a start may come at once are handled in this order.
const CYCLE: u8 = 0;
const END: u8 = 1;
const START: u8 = 2;

/// How many rows of the logged plans there are, and how many have the same instant; and the same instant and machines.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Same {
    rows: usize,
    instants: usize,
    all: usize,
}

impl Same {
    fn note(&mut self, is_same: [bool; 2]) {
        self.rows += 1;
        self.instants += usize::from(is_same[0]);
        self.all += usize::from(is_same[0] && is_same[1]);
    }
}

/// What is alike of a run.
#[derive(Debug, Default, Clone, Copy)]
struct Found {
    /// The first planned row of each cycle.
    heads: Same,
    planned: Same,
    /// The starts: whether one was found, and on which machines.
    started: Same,
}

/// A run of Slurm, step by step.
struct Run<'r> {
    slurm: Slurm,
    rows: &'r [Row],
    /// Milliseconds of the epoch at 0 of the simulated clock.
    zero: Ms,
    /// The run that stands for all.
    run: AttemptId,
    found: Found,
}

/// An instant of a table, s with a fraction, in ms.
fn ms(row: &Row, column: &str) -> Ms {
    (row[column].parse::<f64>().unwrap() * 1e3).round() as Ms
}

impl Run<'_> {
    fn set_of(nodes: &str) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(MACHINES);
        expand(nodes, MACHINES).unwrap().iter().for_each(|name| set.insert(name[1..].parse().unwrap()));
        set
    }

    /// A job starts where it started.
    fn start(&mut self, task: TaskId) {
        let row = &self.rows[task.index()];
        let nodes = Self::set_of(&row["nodelist"]);
        let end = (number(row, "start") + number(row, "limit_minutes") * 60) * 1_000 - self.zero;
        let start = ms(row, "start_log") - self.zero;
        let waiting = self.slurm.queue.jobs().iter().find(|waiting| waiting.task == task).unwrap().clone();
        let begun = self.slurm.begun.as_mut().unwrap();
        begun.cluster.look_ahead(&waiting.request);
        let places = begun.cluster.place(&waiting.request, &nodes).unwrap_or_else(|| panic!("no room for {row:?}"));
        let places = begun.cluster.as_nodes(&places);
        begun.cluster.start(&waiting.request, &places);
        self.slurm.running.add(Unit {
            run: self.run,
            task,
            request: Rc::clone(&waiting.request),
            held: places.into(),
            start,
            end,
            taken: Rc::clone(&waiting.taken),
            standing: waiting.standing,
            rank: waiting.rank,
            is_over: false,
            leaves: false,
        });
    }

    fn end(&mut self, task: TaskId) {
        let id = self.slurm.running.units().find(|(_, unit)| unit.task == task).unwrap().0;
        let unit = self.slurm.running.take(id).unwrap();
        self.slurm.begun.as_mut().unwrap().cluster.end(&unit.request, &unit.held.places);
    }

    /// A cycle with these rows, before which these jobs have started.
    fn cycle(&mut self, rows: &[&Row], started: &BTreeSet<TaskId>) {
        let at = ms(rows[0], "cycle_at");
        let now = at.div_euclid(1_000) * 1_000 - self.zero;
        let waiting: Vec<Waiting> = self.slurm.queue.jobs().to_vec();
        self.slurm.plan.clear(now, now + self.slurm.set.bf_window, MACHINES);
        let mut is_head = true;
        for job in waiting.iter().filter(|job| !started.contains(&job.task)) {
            let row = &self.rows[job.task.index()];
            let logged = rows.iter().find(|logged| logged["job"] == row["job"]);
            let Some(logged) = logged.filter(|_| ms(row, "submit_log") <= at) else { continue };
            let planned = self.with_cycle(now, |cycle, running, begun| {
                cycle.plan(job, running, (&begun.preemption, &begun.reservations, &mut begun.cluster))
            });
            if logged["what"] == "started" {
                self.note_start(logged, &planned);
                self.start(job.task);
                let nodes = Self::set_of(&logged["nodes"]);
                let places: Places = nodes.ones().map(|from| Part { from, machines: 1, each: 1 }).collect();
                if job.closes_its_machines() {
                    self.with_cycle(now, |cycle, _, _| cycle.close(job, &places, MACHINES));
                }
            } else {
                self.note_plan(logged, &planned, std::mem::take(&mut is_head));
            }
        }
    }

    /// A job started in a cycle.
    fn note_start(&mut self, logged: &Row, planned: &Option<Planned>) {
        let places = match planned {
            Some(Planned::Now(room)) => Some(&room.places),
            _ => None,
        };
        let taken = places.map(|places| self.slurm.sets.taken(places, MACHINES).clone());
        let is_same = [taken.is_some(), taken == Some(Self::set_of(&logged["nodes"]))];
        self.found.started.note(is_same);
        self.show(is_same, logged, planned);
    }

    /// A job got a reservation in a cycle, which stays for the others.
    fn note_plan(&mut self, logged: &Row, planned: &Option<Planned>, is_head: bool) {
        let start = match planned {
            Some(Planned::At(start)) => Some(start),
            _ => None,
        };
        let taken = start.map(|start| self.slurm.sets.taken(&start.places, MACHINES).clone());
        let nodes = Self::set_of(&logged["nodes"]);
        let at = number(logged, "planned_start") * 1_000 - self.zero;
        let is_same = [start.is_some_and(|planned| planned.at == at), taken.as_ref() == Some(&nodes)];
        self.show(is_same, logged, planned);
        self.found.planned.note(is_same);
        if is_head {
            self.found.heads.note(is_same);
        }
        let from = (at + self.zero).div_euclid(60_000) * 60_000 - self.zero;
        self.slurm.plan.reserve(from, number(logged, "reserved_until") * 1_000 - self.zero, &nodes);
    }

    /// With `RESCHED_SHOW`, prints what differs.
    #[allow(clippy::print_stderr, reason = "on demand")]
    fn show(&self, is_same: [bool; 2], logged: &Row, planned: &Option<Planned>) {
        if is_same == [true; 2] || std::env::var_os("RESCHED_SHOW").is_none() {
            return;
        }
        eprintln!("{logged:?}: {planned:?} since {}; {:?}", self.zero, self.slurm.plan);
    }

    /// Does something as a cycle.
    fn with_cycle<R>(&mut self, now: Ms, run: impl FnOnce(&mut Cycle<'_>, &Running, &mut Begun) -> R) -> R {
        let Slurm { set, plan, sets, running, begun, .. } = &mut self.slurm;
        let begun = begun.as_mut().unwrap();
        let mut cycle = Cycle {
            set,
            rules: set.rules(),
            instant: now,
            now,
            same_until: Ms::MAX,
            zero: self.zero,
            plan,
            sets,
            reserved: &mut vec![0; begun.partitions.len()],
            tested: [Vec::new(), Vec::new()],
            started: 0,
        };
        run(&mut cycle, running, begun)
    }
}

/// The plans of a run under these settings.
fn found(version: &str, run: &str, set: &str) -> Option<Found> {
    let dir = runs_of(version)?.join(run);
    let rows = jobs(&dir);
    let loaded = loaded(&rows);
    let spec = PolicySpec::parse(&format!("slurm:priority=basic,{set}")).unwrap();
    let set = settings(spec.values(), &Site::default()).unwrap();
    let mut takes = Takes(Slurm::new(set, SlurmConf::default()), None);
    replay_seeded(&loaded.workload, &loaded.machines, ("slurm", &mut takes), 1, &mut Nobody, &mut |_| {}).unwrap();
    let zero = number(&rows[0], "submit") * 1_000;
    let mut run = Run { slurm: takes.0, rows: &rows, zero, run: takes.1.unwrap(), found: Found::default() };
    let plans = table(&dir, "backfill-plans.csv.gz");
    let mut events: Vec<(Ms, u8, usize)> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        events.push((ms(row, "start_log"), START, place));
        events.push((ms(row, "end_log"), END, place));
    }
    let cycles: BTreeSet<Ms> = plans.iter().map(|row| ms(row, "cycle_at")).collect();
    events.extend(cycles.into_iter().map(|at| (at, CYCLE, 0)));
    events.sort_unstable();
    let mut started = BTreeSet::new();
    for (at, kind, place) in events {
        let task = run.slurm.queue.jobs().iter().map(|job| job.task).find(|task| task.index() == place).unwrap();
        match kind {
            CYCLE => {
                let of_cycle: Vec<&Row> = plans.iter().filter(|row| ms(row, "cycle_at") == at).collect();
                run.cycle(&of_cycle, &started);
                let has_started =
                    |row: &Row| of_cycle.iter().any(|other| other["what"] == "started" && other["job"] == row["job"]);
                let tasks = run.slurm.queue.jobs().iter().map(|job| job.task);
                started.extend(tasks.filter(|task| has_started(&rows[task.index()])));
            }
            END => run.end(task),
            _ => {
                if started.insert(task) {
                    run.start(task);
                }
            }
        }
    }
    Some(run.found)
}

#[test]
#[allow(clippy::print_stderr, reason = "the figures are what the test is about")]
fn plans_are_those_of_slurm() {
    for (version, run) in
        [("22.05", "backfill"), ("22.05", "easy"), ("22.05", "nodes"), ("24.11", "backfill"), ("24.11", "nodes")]
    {
        let Some(Found { heads, planned, started }) = found(version, run, &format!("version={version}")) else {
            return;
        };
        eprintln!("{version} {run}: heads {heads:?}, plans {planned:?}, starts {started:?}");
        for same in [heads, planned, started] {
            assert!(same.rows > 50 && [same.instants, same.all] == [same.rows; 2], "{version} {run}: {same:?}");
        }
    }
}
