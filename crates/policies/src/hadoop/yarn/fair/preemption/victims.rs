//! Which containers are killed for starved jobs (`FSPreemptionThread`), and who gets their room (`FSSchedulerNode`).
//!
//! A starved job names requests. For each of their containers, the first node is taken whose free room and containers that may be killed
//! hold it with the fewest application masters. The containers are killed some seconds later, without another look. Until then and
//! after, their room is for that job as long as it is starved.
//!
//! **Decisions.** A kill that is due between two updates comes at the next one.

use std::collections::VecDeque;

use resched_sim::hadoop::{Ask, Kind, Offer, Orders, Resources, View};
use resched_sim::{AttemptId, JobId, Ms, NodeId, RackId, Violation};

use crate::hadoop::yarn::fair::{ROOT, Settings, YarnFair};
use crate::hadoop::yarn::hash_tables;

/// How many heartbeats of a node a starved job is given to take what was freed for it.
const HEARTBEATS: Ms = 4;

/// The preemption of Hadoop 3.4.
#[derive(Debug)]
pub(in crate::hadoop::yarn::fair) struct Killing {
    /// From the choice of a container to its kill, ms.
    wait: Ms,
    /// From then, beside some heartbeats, until the job is looked at again, ms.
    pause: Ms,
    threshold: f32,
    /// True if masters may be killed, if a queue does not say.
    masters: bool,
    /// What is to be killed, by time.
    due: VecDeque<(Ms, Vec<Victim>)>,
    /// By node.
    nodes: Vec<Promised>,
    /// The nodes as Hadoop goes through them.
    order: Vec<NodeId>,
}

/// A container that may be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Victim {
    job: JobId,
    /// `None`: the application master.
    run: Option<AttemptId>,
    /// Which container of the replay; 0 for a master.
    container: u64,
    size: Resources,
    /// True if it was killed, and its node has not reported its end.
    is_killed: bool,
}

/// What a job holds that is to be killed, and the numbers of its containers.
#[derive(Debug, Clone, Default)]
pub(in crate::hadoop::yarn::fair) struct Chosen {
    /// The containers; 0 is the master.
    containers: Vec<u64>,
    /// What they hold.
    size: Resources,
    /// The containers of the replay in the order in which they were made for the job.
    made: Vec<u64>,
    /// Which of them is the master, from 0.
    master: usize,
    /// The attempt at the job, from 1 less.
    attempt: u32,
}

/// What of a node is to be killed, and for whom.
#[derive(Debug, Default)]
struct Promised {
    /// Containers that are to be killed, by job and number.
    containers: Vec<(JobId, u64)>,
    /// What is kept for each job, in the order of the choices.
    jobs: Vec<Claim>,
    /// The sum of it.
    reserved: Resources,
    /// The most containers that were there at once.
    most: usize,
}

/// What of a node is kept for a job.
#[derive(Debug, Clone, Copy)]
struct Claim {
    job: JobId,
    kept: Resources,
    /// True if the attempt at the job is over for which it is kept. The node learns it at its next heartbeat.
    is_over: bool,
}

impl Promised {
    fn claim_of(&mut self, job: JobId) -> Option<&mut Claim> {
        self.jobs.iter_mut().find(|claim| claim.job == job && !claim.is_over)
    }

    /// Keeps only these claims.
    fn retain(&mut self, stays: impl Fn(&Claim) -> bool) {
        let gone = self.jobs.iter().filter(|claim| !stays(claim)).map(|claim| claim.kept);
        self.reserved = gone.fold(self.reserved, Resources::minus);
        self.jobs.retain(stays);
    }

    /// A job was given a container here.
    fn given(&mut self, job: JobId, size: Resources) {
        let Some(claim) = self.claim_of(job) else { return };
        let part = claim.kept.min(size);
        claim.kept = claim.kept.minus(part);
        self.reserved = self.reserved.minus(part);
        self.jobs.retain(|claim| claim.kept != Resources::NONE);
    }
}

/// A request of a starved job: for how large containers, where, and how many.
struct Wanted {
    size: Resources,
    nodes: Vec<NodeId>,
    count: u64,
}

impl Killing {
    pub(in crate::hadoop::yarn::fair) fn new(settings: &Settings) -> Self {
        Self {
            wait: settings.preemption_wait,
            pause: settings.starvation_check,
            threshold: settings.preemption_threshold as f32,
            masters: settings.am_preemption,
            due: VecDeque::new(),
            nodes: Vec::new(),
            order: Vec::new(),
        }
    }

    /// True if so much of the cluster is in use that containers are killed.
    fn is_due(&self, used: Resources, total: Resources) -> bool {
        let in_use = |used: u64, total: u64| used as f32 / total.max(1) as f32;
        self.threshold < in_use(used.cpu, total.cpu).max(in_use(used.memory, total.memory))
    }

    fn know_nodes(&mut self, view: View<'_>) {
        if self.nodes.len() < view.node_count() {
            self.nodes.resize_with(view.node_count(), Promised::default);
            let places = hash_tables::places(view.node_count());
            self.order = view.nodes().collect();
            self.order.sort_by_key(|&node| hash_tables::place(hash_tables::hash_of_node(view.host(node)), places));
        }
    }
}

impl YarnFair {
    /// Kills what is due now.
    pub(in crate::hadoop::yarn::fair) fn kill_due(&mut self, view: View<'_>, orders: &mut Orders) {
        let Some(killing) = &mut self.killing else { return };
        killing.know_nodes(view);
        while let Some((_, victims)) = killing.due.pop_front_if(|(at, _)| *at <= view.now()) {
            for victim in victims {
                match victim.run {
                    Some(run) => {
                        let is_there = |attempt_view: &resched_sim::hadoop::AttemptView| {
                            attempt_view.container == victim.container && !attempt_view.taken_back
                        };
                        if view.attempt(run).filter(is_there).is_some() {
                            orders.preempt(run);
                        }
                    }
                    None if self.apps[victim.job].chosen.containers.contains(&0) => orders.preempt_master(victim.job),
                    None => {}
                }
            }
        }
    }

    /// Chooses containers for starved jobs.
    pub(in crate::hadoop::yarn::fair) fn choose_victims(&mut self, view: View<'_>) {
        let (used, total) = (self.queues[ROOT].used, view.yarn().total());
        if !self.killing.as_ref().is_some_and(|killing| killing.is_due(used, total)) {
            return;
        }
        let mut line = self.find_starved(view);
        while let Some(job) = line.take(|job| self.apps[job].needs.all()) {
            self.choose_for(job, self.apps[job].needs.all(), view);
        }
    }

    fn choose_for(&mut self, job: JobId, lack: Resources, view: View<'_>) {
        let mut all = Vec::new();
        for wanted in self.starved_requests(job, lack, view) {
            for _ in 0..wanted.count {
                let best = self.best_for(&wanted, view).filter(|(_, victims)| !victims.is_empty());
                let Some((node, victims)) = best else { continue };
                self.promise(job, node, &victims);
                all.extend(victims);
            }
        }
        let Some(killing) = &mut self.killing else { return };
        if !all.is_empty() {
            killing.due.push_back((view.now() + killing.wait, all));
        }
        let pause = killing.wait + HEARTBEATS * view.heartbeat_interval() + killing.pause;
        self.apps[job].needs.next_look = view.now() + pause;
    }

    /// The requests for which a job is to be given room (`FSAppAttempt.getStarvedResourceRequests`).
    fn starved_requests(&self, job: JobId, lack: Resources, view: View<'_>) -> Vec<Wanted> {
        let (mut left, mut all) = (lack, Vec::new());
        // In the order of the hashes of their priorities: 5, 10, 0, 20.
        for ask in [Ask::FailedMap, Ask::Reduce, Ask::Am, Ask::Map] {
            let size = view.yarn().demand_of(job, ask);
            let places = match ask {
                Ask::Map => self.places_of_maps(job, view),
                _ => vec![(Place::Any, view.yarn().app(job).asked(ask))],
            };
            for (place, asked) in places {
                let count = u64::from(asked).min(left.memory.checked_div(size.memory).unwrap_or(0));
                if count > 0 {
                    all.push(Wanted { size, nodes: self.nodes_at(place, view), count });
                    left = left.minus(size.times(count));
                }
            }
        }
        all
    }

    fn all_nodes(&self) -> Vec<NodeId> {
        self.killing.as_ref().map_or_else(Vec::new, |killing| killing.order.clone())
    }

    /// The places of the maps of a job, each with how many are asked for there. After a host, its rack is left out, after a rack its
    /// hosts, and "anywhere" stands only alone.
    fn places_of_maps(&self, job: JobId, view: View<'_>) -> Vec<(Place, u32)> {
        let app = view.yarn().app(job);
        let entries = app.locations() as usize + 1;
        let at = |name: &str| hash_tables::of_place(name, entries);
        let hosts = app.host_requests().map(|(node, count)| (at(view.host(node)), Place::Host(node), count));
        let racks = app.rack_requests().map(|(rack, count)| (at(view.rack_name(rack)), Place::Rack(rack), count));
        let any = (at("*"), Place::Any, app.asked(Ask::Map));
        let mut all: Vec<(usize, Place, u32)> = hosts.chain(racks).chain([any]).collect();
        all.sort_by_key(|&(at, _, _)| at);
        let mut visited = Visited::default();
        all.retain(|(_, place, _)| visited.visit(*place, view));
        all.into_iter().map(|(_, place, count)| (place, count)).collect()
    }

    fn nodes_at(&self, place: Place, view: View<'_>) -> Vec<NodeId> {
        match place {
            Place::Host(node) => vec![node],
            Place::Rack(rack) => view.nodes().filter(|&node| view.rack(node) == rack).collect(),
            Place::Any => self.all_nodes(),
        }
    }

    /// Where a request has room if as few masters as possible are killed, and what is killed. If that is a master at the place that the
    /// request names, all nodes are looked at.
    fn best_for(&self, wanted: &Wanted, view: View<'_>) -> Option<(NodeId, Vec<Victim>)> {
        let best = self.best(wanted.size, &wanted.nodes, view)?;
        if masters_of(&best.1) == 0 { Some(best) } else { self.best(wanted.size, &self.all_nodes(), view) }
    }

    /// The first of some nodes that has room for a request if as few masters as possible are killed, and what is killed.
    fn best(&self, size: Resources, nodes: &[NodeId], view: View<'_>) -> Option<(NodeId, Vec<Victim>)> {
        let (mut best, mut masters) = (None, usize::MAX);
        for &node in nodes {
            if let Some(victims) = self.on_node(node, size, masters, view) {
                masters = masters_of(&victims);
                best = Some((node, victims));
                if masters == 0 {
                    break;
                }
            }
        }
        best
    }

    /// What to kill on a node so that it has room for a request, with fewer masters than so many.
    fn on_node(&self, node: NodeId, size: Resources, masters: usize, view: View<'_>) -> Option<Vec<Victim>> {
        let promised = self.killing.as_ref()?.nodes.get(node.index())?;
        let kept =
            view.yarn().reservation(node).map_or(Resources::NONE, |kept| view.yarn().demand_of(kept.job, kept.ask));
        let mut room = view.free(node).minus(promised.reserved.plus(kept));
        let mut victims: Vec<Victim> = Vec::new();
        for candidate in self.containers_on(node, view) {
            let is_chosen = promised.containers.contains(&(candidate.job, candidate.container));
            if is_chosen || !view.job(candidate.job).is_active() {
                continue;
            }
            if !candidate.is_killed && self.may_be_killed(candidate, &victims, view) {
                if candidate.run.is_none() && masters_of(&victims) + 1 >= masters {
                    return None;
                }
                victims.push(candidate);
                room = room.plus(candidate.size);
            }
            if room.holds(size) {
                victims.sort_by_key(|victim| hash_tables::of_application(victim.job.index() as u32 + 1));
                return Some(victims);
            }
        }
        None
    }

    /// The containers on a node as Hadoop goes through them, masters last.
    fn containers_on(&self, node: NodeId, view: View<'_>) -> Vec<Victim> {
        let most =
            self.killing.as_ref().and_then(|killing| killing.nodes.get(node.index())).map_or(0, |victims| victims.most);
        let places = hash_tables::places(most);
        let place = |job: JobId, container: u64| {
            let chosen = &self.apps[job].chosen;
            let number = if container == 0 {
                chosen.master
            } else {
                chosen.made.binary_search(&container).unwrap_or(chosen.made.len())
            };
            hash_tables::of_container(job.index() as u32 + 1, chosen.attempt + 1, number as u32 + 1, places)
        };
        let runs = Kind::BOTH.into_iter().flat_map(|kind| view.runs_on(node, kind).map(move |run| (kind, run)));
        let mut tasks: Vec<(usize, Victim)> = runs
            // One that was killed stands there until its node reports its end.
            .filter(|(_, run)| !run.taken_back || run.reported)
            .map(|(kind, run)| {
                let (job, container) = (view.job_of(run.task), run.container);
                let size = view.yarn().demand_of(job, Ask::of(kind));
                (place(job, container), Victim { job, run: Some(run.id), container, size, is_killed: run.taken_back })
            })
            .collect();
        tasks.sort_by_key(|(place, victim)| (*place, victim.container));
        let size = view.yarn().demand(Ask::Am);
        let victim = |&job: &JobId| (place(job, 0), Victim { job, run: None, container: 0, size, is_killed: false });
        let mut masters: Vec<(usize, Victim)> = view.yarn().masters_on(node).iter().map(victim).collect();
        masters.sort_by_key(|(place, _)| *place);
        tasks.into_iter().rev().chain(masters).map(|(_, victim)| victim).collect()
    }

    /// True if a container may be killed beside those of the same choice (`FSAppAttempt.canContainerBePreempted`).
    fn may_be_killed(&self, victim: Victim, others: &[Victim], view: View<'_>) -> bool {
        let app = &self.apps[victim.job];
        let is_preemptable =
            |place: usize| self.tree.get(place).settings.preemptable.is_none_or(|preemptable| preemptable);
        let masters = self.tree.get(app.queue).settings.am_preemption;
        let masters = masters.or(self.killing.as_ref().map(|killing| killing.masters)).unwrap_or(true);
        if !self.tree.with_ancestors(app.queue).all(is_preemptable)
            || victim.run.is_none() && !masters
            || app.chosen.containers.contains(&victim.container)
        {
            return false;
        }
        let of_job = others.iter().filter(|other| other.job == victim.job).map(|other| other.size);
        let gone = of_job.fold(app.chosen.size.plus(victim.size), Resources::plus);
        let used = view.yarn().app(victim.job).held();
        // What it holds may be less than what is to be killed of it.
        used.holds(gone) && !self.is_below(app.queue, used.minus(gone), app.fair_share, view)
    }

    fn promise(&mut self, job: JobId, node: NodeId, victims: &[Victim]) {
        let mut freed = Resources::NONE;
        for victim in victims {
            let chosen = &mut self.apps[victim.job].chosen;
            chosen.containers.push(victim.container);
            chosen.size = chosen.size.plus(victim.size);
            freed = freed.plus(victim.size);
        }
        let Some(promised) = self.killing.as_mut().and_then(|killing| killing.nodes.get_mut(node.index())) else {
            return;
        };
        promised.containers.extend(victims.iter().map(|victim| (victim.job, victim.container)));
        promised.reserved = promised.reserved.plus(freed);
        match promised.claim_of(job) {
            Some(claim) => claim.kept = claim.kept.plus(freed),
            None => promised.jobs.push(Claim { job, kept: freed, is_over: false }),
        }
    }

    /// A container of a job is over, or its master (0).
    pub(in crate::hadoop::yarn::fair) fn forget_victim(
        &mut self,
        job: JobId,
        container: u64,
        node: NodeId,
        size: Resources,
    ) {
        let chosen = &mut self.apps[job].chosen;
        let before = chosen.containers.len();
        chosen.containers.retain(|&other| other != container);
        if chosen.containers.len() < before {
            chosen.size = chosen.size.minus(size);
        }
        if let Some(promised) = self.killing.as_mut().and_then(|killing| killing.nodes.get_mut(node.index())) {
            promised.containers.retain(|&other| other != (job, container));
        }
    }

    /// A job is over, or starts anew: what is kept for it will be free.
    pub(in crate::hadoop::yarn::fair) fn forget_claims(&mut self, job: JobId) {
        for promised in self.killing.iter_mut().flat_map(|killing| &mut killing.nodes) {
            promised.claim_of(job).into_iter().for_each(|claim| claim.is_over = true);
        }
    }

    /// Whether a node is to be freed for a job (`FSSchedulerNode.isPreemptedForApp`).
    pub(in crate::hadoop::yarn::fair) fn is_freed_for(&self, node: NodeId, job: JobId) -> bool {
        let promised = self.killing.as_ref().and_then(|killing| killing.nodes.get(node.index()));
        promised.is_some_and(|promised| promised.jobs.iter().any(|claim| claim.job == job && !claim.is_over))
    }

    /// Gives a node to the jobs for which its containers were killed (`FairScheduler.assignPreemptedContainers`).
    pub(in crate::hadoop::yarn::fair) fn serve_starved(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let (node, view) = (offer.node(), offer.view());
        let wants = |claim: &Claim| {
            !claim.is_over && self.is_starved(claim.job, view) && self.apps[claim.job].needs.all() != Resources::NONE
        };
        let promised = self.killing.as_ref().and_then(|killing| killing.nodes.get(node.index()));
        let (left, gone): (Vec<Claim>, Vec<Claim>) =
            promised.map_or_else(Vec::new, |victims| victims.jobs.clone()).into_iter().partition(wants);
        if let Some(promised) = self.killing.as_mut().and_then(|killing| killing.nodes.get_mut(node.index())) {
            promised.retain(|claim| gone.iter().all(|other| (other.job, other.is_over) != (claim.job, claim.is_over)));
        }
        for Claim { job, kept: mut left, .. } in left {
            while left != Resources::NONE {
                let before = offer.view().free(node);
                if !self.serve_job(offer, job)? || offer.view().free(node) == before {
                    break;
                }
                left = left.minus(before.minus(offer.view().free(node)));
            }
        }
        Ok(())
    }

    /// A request of a job was given a container, which may have been made when the node was reserved for it.
    pub(in crate::hadoop::yarn::fair) fn note_given(
        &mut self,
        (job, ask): (JobId, Ask),
        reserved: Option<u64>,
        offer: &Offer<'_, '_>,
    ) {
        let (view, node) = (offer.view(), offer.node());
        let Some(killing) = &mut self.killing else { return };
        killing.know_nodes(view);
        let runs: usize = Kind::BOTH.into_iter().map(|kind| view.runs_on(node, kind).count()).sum();
        let promised = &mut killing.nodes[node.index()];
        promised.most = promised.most.max(runs + view.yarn().masters_on(node).len());
        promised.given(job, view.yarn().demand_of(job, ask));
        let chosen = &mut self.apps[job].chosen;
        match ask.kind().and_then(|kind| view.runs(job, kind).last()) {
            Some(run) => chosen.note_made(run.container),
            None => chosen.note_master(reserved),
        }
    }
}

/// How many of some containers are masters'.
fn masters_of(victims: &[Victim]) -> usize {
    victims.iter().filter(|victim| victim.run.is_none()).count()
}

/// A place that the maps of a job name.
#[derive(Debug, Clone, Copy)]
enum Place {
    Host(NodeId),
    Rack(RackId),
    Any,
}

/// The places of one request that were visited (`VisitedResourceRequestTracker`).
#[derive(Debug, Default)]
struct Visited {
    racks: Vec<RackId>,
    racks_of_hosts: Vec<RackId>,
    any: bool,
}

impl Visited {
    /// True if a place is none that another one stands for.
    fn visit(&mut self, place: Place, view: View<'_>) -> bool {
        match place {
            Place::Any => {
                self.any |= self.racks.is_empty() && self.racks_of_hosts.is_empty();
                self.any
            }
            Place::Rack(rack) => {
                let is_new = !self.any && !self.racks_of_hosts.contains(&rack);
                self.racks.extend(is_new.then_some(rack));
                is_new
            }
            Place::Host(node) => {
                let is_new = !self.any && !self.racks.contains(&view.rack(node));
                self.racks_of_hosts.extend(is_new.then(|| view.rack(node)));
                is_new
            }
        }
    }
}

impl Chosen {
    /// A container was made for a task of the job, or because a node is kept for it.
    pub(in crate::hadoop::yarn::fair) fn note_made(&mut self, container: u64) {
        if self.made.last().is_none_or(|&last| last < container) {
            self.made.push(container);
        }
    }

    /// The master has a container, which may have been made when a node was reserved for it.
    fn note_master(&mut self, reserved: Option<u64>) {
        self.master =
            reserved.and_then(|container| self.made.binary_search(&container).ok()).unwrap_or(self.made.len());
        if self.master == self.made.len() {
            self.made.push(self.made.last().copied().unwrap_or(0));
        }
    }

    /// The job starts anew.
    pub(in crate::hadoop::yarn::fair) fn restart(&mut self) {
        *self = Self { attempt: self.attempt + 1, ..Self::default() };
    }
}
