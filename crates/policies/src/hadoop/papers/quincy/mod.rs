//! Quincy: all waiting maps and all free slots at once, as the cheapest flow through a network (`docs/model/baselines.md`).
//!
//! **What it does.** Running a map far from its input has a cost for the data that must be moved, which is higher over
//! the core than inside a rack. Leaving a map waiting costs more the longer it has waited. The cheapest choice for all
//! maps and slots together is a flow ([`network`]), which also keeps each job within its fair share. With preemption,
//! running maps take part: a map that is no longer worth its slot is killed. It runs again where it is cheaper, or
//! later.
//!
//! **Source.** Quincy (SOSP 2009), with the constants of its model in Firmament. Decisions: a flow is solved at a
//! heartbeat that can launch a map, if since the last flow a job has arrived, a task has ended, or a `period` has
//! passed (waiting has become dearer). Each node launches its part of the flow at its next heartbeat. Shares have equal
//! weight and are no more than a job's demand. A job below its share, rounded down, gets slots before all others,
//! wherever they are. The waiting time of a map counts from its job's submission, even if the map runs or has run. A
//! map without known hosts costs nothing anywhere. Running maps count only in the flow of each `period` that decides
//! which maps to kill. The placements of that flow are not kept, and only the first attempt at a map is ever killed.
//! Reduces prefer no place and follow naive fair sharing. Among equally cheap flows, the solver prefers the first jobs,
//! racks and nodes, as far as its order of search allows. Its choice is always the same.

mod costs;
mod draft;
mod flow;
mod inputs;
mod network;
mod settled;

use resched_sim::hadoop::{AttemptEnd, AttemptId, Kind, Offer, Orders, Policy, System, View};
use resched_sim::{JobId, Ms, NodeId, TaskId, Violation};
use resched_tables::model::Reason;

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::ByJob;
use crate::parts::equal_order::EqualOrder;
use crate::parts::fair_share::{Claim, fair_shares};
use crate::settings::{choices, settings};
use costs::Costs;
use draft::{Bounds, Draft, is_movable};
use inputs::Inputs;
use network::Cost;
use settled::Settled;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "quincy",
    title: "Quincy: the cheapest flow of maps to slots",
    source: "Quincy (SOSP 2009)",
    family: Family::Reference,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(Quincy::new(Settings::read(values)?)))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// cost of moving input inside a rack
        psi: f64 = "psi" { default: 1, range: 0..=1_000_000, unit: "per GB" },
        /// cost of moving input between racks
        xi: f64 = "xi" { default: 2, range: 0..=1_000_000, unit: "per GB" },
        /// cost of leaving a map waiting
        omega: f64 = "omega" { default: 0.5, range: 0..=1_000_000, unit: "per s" },
        /// input of a map, if the trace does not say
        split_mb: f64 = "split_mb" { default: 64, range: 0..=1_000_000_000, unit: "MB" },
        /// bounds of a job's running maps; both: its fair share rounded down and up; most: only rounded up; none: no
        /// bounds
        fair: Fair = "fair" { choice: Fair::Both, },
        /// kill maps that would be cheaper elsewhere, or later
        preemption: bool = "preemption" { default: false },
        /// time after which costs are computed anew while maps wait
        period: Ms = "period" { default: 1000, range: 1..=86_400_000, unit: "ms" },
    }
}

/// By how much a share may be off a whole number and still be it: shares are found by bisection.
const SHARE_SLACK: f64 = 0.01;

/// The policy.
#[derive(Debug)]
struct Quincy {
    costs: Costs,
    fair: Fair,
    preemption: bool,
    period: Ms,
    inputs: ByJob<Inputs>,
    /// The maps that each node is to launch, by the last flow.
    plan: Vec<Vec<TaskId>>,
    /// The jobs with maps that it leaves waiting beside free slots, and why.
    left: Vec<(JobId, Reason)>,
    /// When that flow was solved; `None` if something has happened since.
    solved: Option<Ms>,
    /// The last flow with running maps, if it moved none.
    settled: Option<Settled>,
    order: EqualOrder,
}

choices! {
    /// Which bounds a job's running maps have.
    enum Fair {
        /// Its fair share, rounded down and up.
        Both = "both",
        /// Only that rounded up.
        Most = "most",
        None = "none",
    }
}

impl Quincy {
    fn new(settings: Settings) -> Self {
        let Settings { psi, xi, omega, split_mb, fair, preemption, period } = settings;
        Self {
            costs: Costs { psi, xi, omega, split_bytes: 1e6 * split_mb },
            fair,
            preemption,
            period,
            inputs: ByJob::default(),
            plan: Vec::new(),
            left: Vec::new(),
            solved: None,
            settled: None,
            order: EqualOrder::default(),
        }
    }

    /// How many maps each active job should run at least and at most.
    fn bounds(&self, view: View<'_>) -> Vec<Bounds> {
        if self.fair == Fair::None {
            return vec![Bounds { least: 0, most: u32::MAX }; view.jobs().len()];
        }
        let demand = |&job: &JobId| view.job(job).waiting(Kind::Map) + view.job(job).running(Kind::Map);
        let claims: Vec<Claim> =
            view.jobs().iter().map(|job| Claim { weight: 1.0, min_share: 0, demand: demand(job) }).collect();
        let of_share = |share: f64| Bounds {
            least: if self.fair == Fair::Both { (share + SHARE_SLACK) as u32 } else { 0 },
            most: (share - SHARE_SLACK).ceil() as u32,
        };
        fair_shares(&claims, view.slots(Kind::Map)).into_iter().map(of_share).collect()
    }

    /// Finds the cheapest flow of the waiting maps to the free slots, and takes it as the plan.
    fn solve(&mut self, view: View<'_>) {
        let mut draft = Draft::new(view, self.costs, |node| view.room(node, Kind::Map));
        for (&job, bounds) in view.jobs().iter().zip(self.bounds(view)) {
            if view.job(job).waiting(Kind::Map) > 0 {
                self.inputs[job].pass_over_launched(view);
                draft.add_job(job, bounds.beyond(view.job(job).running(Kind::Map)), &self.inputs[job]);
            }
        }
        let placements = draft.problem.solve();
        self.left = draft.left(&placements);
        self.plan.resize(view.node_count(), Vec::new());
        self.plan.iter_mut().for_each(Vec::clear);
        let mut next = vec![0; draft.waiting.len()];
        for placed in placements {
            let node = draft.problem.machines[placed.machine].node;
            let from = next[placed.group];
            next[placed.group] += placed.tasks as usize;
            self.plan[node.index()].extend_from_slice(&draft.waiting[placed.group][from..next[placed.group]]);
        }
        self.solved = Some(view.now());
    }

    /// The running maps that the cheapest flow of all maps does not leave where they are, and by how much the costs of this flow can
    /// grow before they are cut. Only first attempts are moved: else two maps could take each other's place for ever.
    fn evicted(&self, view: View<'_>) -> (Vec<AttemptId>, Cost) {
        let mut held = vec![0; view.node_count()];
        let mut staying = vec![0; view.jobs().len()];
        for (staying, &job) in staying.iter_mut().zip(view.jobs()) {
            for run in view.runs(job, Kind::Map).filter(|run| !is_movable(run)) {
                held[run.node.index()] += 1;
                *staying += u32::from(!run.dying);
            }
        }
        let slots = |node: NodeId| view.node_slots(node, Kind::Map).saturating_sub(held[node.index()]);
        let mut draft = Draft::new(view, self.costs, slots);
        for ((&job, bounds), staying) in view.jobs().iter().zip(self.bounds(view)).zip(staying) {
            draft.add_job(job, bounds.beyond(staying), &self.inputs[job]);
            draft.add_running(job, &self.inputs[job]);
        }
        let mut goes_to = vec![None; draft.waiting.len()];
        for placed in draft.problem.solve() {
            goes_to[placed.group] = Some(placed.machine);
        }
        let leaves = |&&(group, machine, _): &&(usize, usize, AttemptId)| goes_to[group] != Some(machine);
        (draft.running.iter().filter(leaves).map(|&(_, _, run)| run).collect(), draft.problem.spare())
    }
}

impl Policy for Quincy {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        self.inputs[job] = Inputs::of(job, view, self.costs);
        self.solved = None;
    }

    fn job_finished(&mut self, job: JobId, _view: View<'_>) {
        self.inputs.take(job);
        self.solved = None;
    }

    fn task_finished(&mut self, _ended: &AttemptEnd, _view: View<'_>) {
        self.solved = None;
    }

    fn task_waits(&mut self, task: TaskId, view: View<'_>) {
        self.inputs[view.job_of(task)].map_waits();
        self.solved = None;
    }

    fn node_lost(&mut self, _node: NodeId, _view: View<'_>) {
        self.solved = None;
    }

    fn period(&self) -> Option<Ms> {
        self.preemption.then_some(self.period)
    }

    fn tick(&mut self, view: View<'_>, orders: &mut Orders) {
        // Without a map that waits, no running one is in the way.
        if view.ready(Kind::Map) == 0 {
            return;
        }
        if self.settled.is_some_and(|settled| settled.holds(view, &self.costs)) {
            debug_assert!(self.evicted(view).0.is_empty(), "only time has passed");
            return;
        }
        let (evicted, spare) = self.evicted(view);
        self.settled = if evicted.is_empty() { Settled::now(view, spare) } else { None };
        evicted.into_iter().for_each(|run| orders.kill(run));
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if offer.free(Kind::Map) > 0 && offer.view().ready(Kind::Map) > 0 {
            let now = offer.view().now();
            // A set-up task may have taken a slot since.
            let planned = self.plan.get(offer.node().index()).map_or(0, Vec::len);
            let is_full = planned > offer.free(Kind::Map) as usize;
            if is_full || self.solved.is_none_or(|solved| now - solved >= self.period) {
                self.solve(offer.view());
            }
            for task in self.plan[offer.node().index()].drain(..) {
                offer.launch(task)?;
            }
            if offer.free(Kind::Map) > 0 {
                self.left.iter().for_each(|&(job, reason)| offer.view().pass_over(job, Kind::Map, reason));
            }
        }
        self.order.launch(offer, Kind::Reduce)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Launch, Scenario, job, map};
    use resched_sim::Ms;
    use resched_tables::model::{Locality, Reason};

    /// Where and when the only map of the second job starts: its 2 GB lie on node 0, which is busy, as are `busy` others; racks
    /// are {0, 1} and {2, 3}. It is submitted at 10.
    fn second_job(busy: &[usize], policy: &str) -> Option<(Ms, usize, Option<Locality>)> {
        let first = (0..4).filter(|node| *node == 0 || busy.contains(node)).map(|node| map(600_000).on(&[node]));
        let launches = Scenario::nodes(4, 1, 0)
            .racks(2)
            .heartbeat(100)
            .job(job("job_1_0001").each_map(first.collect()))
            .job(job("job_1_0002").at(10).maps(1, map(1_000).on(&[0])))
            .launches(policy);
        let second = launches.iter().find(|launch| launch.job == "job_1_0002");
        second.map(|launch| (launch.at, launch.node, launch.level))
    }

    #[test]
    fn a_map_accepts_a_worse_place_the_longer_it_waits() {
        let with = |busy: &[usize], more: &str| second_job(busy, &format!("quincy:period=100,split_mb=2000,{more}"));
        assert_eq!(with(&[], "fair=most"), Some((4_100, 1, Some(Locality::Rack))), "2 = 0.5 · 4 s");
        assert_eq!(with(&[1], "fair=most"), Some((8_100, 2, Some(Locality::Off))), "4 = 0.5 · 8 s");
        assert_eq!(with(&[1], "fair=most,xi=3"), Some((12_100, 2, Some(Locality::Off))));
        assert_eq!(with(&[1], "fair=both"), Some((100, 2, Some(Locality::Off))), "its share is due at once");
    }

    #[test]
    fn two_jobs_swap_places_where_each_is_near_its_data() {
        // Node 0 calls first. Naive fair sharing gives it to the first job, whose data is on node 1.
        let world = Scenario::nodes(2, 1, 0)
            .racks(2)
            .first_heartbeat(100)
            .job(job("job_1_0001").maps(1, map(1_000).on(&[1])))
            .job(job("job_1_0002").maps(1, map(1_000).on(&[0])));
        let local = |policy: &str| {
            let launches = world.launches(policy);
            launches.iter().filter(|launch| launch.level == Some(Locality::Node)).count()
        };
        assert_eq!((local("naive-fair"), local("quincy")), (0, 2));
    }

    /// Four slots; A fills them, B comes at 500.
    fn shared(policy: &str) -> Vec<Launch> {
        Scenario::nodes(2, 2, 0)
            .heartbeat(1_000)
            .job(job("job_1_0001").maps(8, map(60_000).on(&[0, 1])))
            .job(job("job_1_0002").at(500).maps(8, map(60_000).on(&[0, 1])))
            .launches(policy)
    }

    #[test]
    fn each_job_stays_within_its_fair_share() {
        let second = |policy: &str, at: Ms| {
            shared(policy).iter().filter(|launch| launch.at == at && launch.job == "job_1_0002").count()
        };
        assert_eq!(second("quincy", 60_000), 2);
        assert_eq!(second("quincy:fair=none", 60_000), 0, "A has waited for longer");
    }

    #[test]
    fn maps_left_waiting_are_near_no_free_slot_or_of_a_job_with_its_share() {
        // Node 1 is free. It is far from the input of the second map of A, which has its share once B has come, and from that of B.
        let world = Scenario::nodes(2, 1, 0)
            .heartbeat(100)
            .job(job("job_1_0001").maps(2, map(600_000).on(&[0])))
            .job(job("job_1_0002").at(10).maps(1, map(1_000).on(&[0])));
        let reasons = |job: &str| world.reasons("quincy:period=100,split_mb=2000,fair=most", job);
        let of_first = reasons("job_1_0001");
        assert!(of_first.contains(&(0, Reason::Locality, None)), "{of_first:?}");
        assert!(of_first.contains(&(100, Reason::Reserve, None)), "{of_first:?}");
        assert_eq!(reasons("job_1_0002")[2..], [(100, Reason::Locality, None), (4_100, Reason::None, None)]);
    }

    #[test]
    fn preemption_kills_what_is_beyond_the_share() {
        let launches = shared("quincy:preemption=true");
        let early: Vec<(Ms, &str)> = launches
            .iter()
            .filter(|launch| (1..60_000).contains(&launch.at))
            .map(|launch| (launch.at, launch.job.as_str()))
            .collect();
        assert_eq!(early.iter().map(|&(_, job)| job).collect::<Vec<_>>(), ["job_1_0002"; 2], "{early:?}");
        assert!(early.iter().all(|&(at, _)| at <= 4_000), "{early:?}");
        let killed = launches.iter().filter(|launch| launch.attempt > 0).count();
        assert_eq!(killed, 2, "each killed map runs again once");
    }
}
