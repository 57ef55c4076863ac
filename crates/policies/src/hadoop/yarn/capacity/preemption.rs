//! Preemption between queues: at every look, queues that use more than they should give containers back to those that lack them
//! (rule N11).
//!
//! **Source.** `ProportionalCapacityPreemptionPolicy`, `FifoCandidatesSelector` and `CapacitySchedulerPreemptionUtils` of Hadoop 3.4.1.
//!
//! **Not modelled.** Masters are never killed; containers are killed at once when their time is over, and not only when another takes
//! their place (`lazy-preemption-enabled`).

mod ideal;
pub(super) mod inside;
mod kept;

use resched_sim::hadoop::{Ask, AttemptView, Kind, Orders, View};
use resched_sim::{AttemptId, JobId, Ms, NodeId};

use super::amounts::Amounts;
use super::calculator::Calculator;
use super::{Settings, YarnCapacity};
use ideal::{Ideal, Needs};
use inside::InsideRules;

/// When and how much is taken back.
#[derive(Debug, Clone)]
pub(super) struct Preemption {
    interval: Ms,
    /// From the choice of a container to its end.
    wait: Ms,
    /// Share of the cluster that is taken back at one look at most.
    per_round: f64,
    /// How much a queue may use beyond its guarantee before anything is taken from it.
    ignored: f64,
    /// Share of what is to be taken back that does not end by itself.
    unnatural: f64,
    /// True if what is reserved counts as lacking.
    counts_reserved: bool,
    /// True if containers that stand in the way of reservations are chosen first.
    clears_kept_nodes: bool,
    /// Whether queues above their guarantees are balanced, too, and how long their containers have.
    balance: Option<Ms>,
    /// Whether applications of one queue give to each other.
    inside: Option<InsideRules>,
    /// The containers that were chosen, and when first.
    marked: Vec<(u64, Ms)>,
}

impl Preemption {
    pub(super) fn of(settings: &Settings) -> Option<Self> {
        settings.preemption.then(|| Self {
            interval: settings.preemption_interval,
            wait: settings.preemption_wait,
            per_round: single(settings.preemption_per_round),
            ignored: single(settings.preemption_ignored),
            unnatural: single(settings.preemption_factor),
            counts_reserved: settings.preemption_counts_reserved,
            clears_kept_nodes: settings.preemption_clears_kept_nodes,
            balance: settings.preemption_balances.then_some(settings.preemption_balance_wait),
            inside: settings.preemption_inside.then_some(InsideRules {
                order: settings.preemption_inside_order,
                threshold: settings.preemption_inside_threshold,
                most: settings.preemption_inside_most,
            }),
            marked: Vec::new(),
        })
    }

    pub(super) fn interval(&self) -> Ms {
        self.interval
    }

    /// When a container was first chosen.
    fn marked_at(&self, container: u64) -> Option<Ms> {
        self.marked.iter().find(|(marked, _)| *marked == container).map(|(_, at)| *at)
    }
}

/// A number of single precision, as Hadoop reads it.
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

/// A container, or a node that is kept, which could be taken back.
#[derive(Debug, Clone, Copy)]
struct Victim {
    job: JobId,
    container: u64,
    /// `None`: a reservation.
    run: Option<AttemptId>,
    size: Amounts,
}

/// What one look has chosen.
#[derive(Debug, Default)]
struct Choice {
    /// With the time that each has from its first choice.
    victims: Vec<(Victim, Ms)>,
    /// The nodes that are given free.
    freed: Vec<NodeId>,
    /// What may still be taken back.
    allowed: Amounts,
}

impl Choice {
    fn has(&self, container: u64) -> bool {
        self.victims.iter().any(|(victim, _)| victim.container == container)
    }

    /// Puts what one selector has chosen into the order in which it is killed: by application.
    fn sort_from(&mut self, first: usize) {
        self.victims[first..].sort_by_key(|(victim, _)| victim.job);
    }

    /// Takes a container if it serves to obtain that amount, of which it is then taken off
    /// (`tryPreemptContainerAndDeductResToObtain`).
    fn take(&mut self, victim: Victim, wait: Ms, obtain: &mut Amounts, by: Calculator) -> bool {
        let left = *obtain - victim.size;
        let serves = by.compare(*obtain, Amounts::NONE).is_gt()
            && by.holds(self.allowed, victim.size)
            && by.compare(left.at_least_none(), obtain.at_least_none()).is_lt();
        if serves {
            *obtain = left;
            self.allowed -= victim.size;
            self.victims.push((victim, wait));
        }
        serves
    }
}

impl YarnCapacity {
    /// Looks at all queues, and takes back what they use beyond their ideal shares.
    pub(super) fn preempt(&mut self, view: View<'_>, orders: &mut Orders) {
        self.settle(view);
        let Some(settings) = self.preemption.clone() else { return };
        let by = self.by(0, view);
        let mut choice = Choice { allowed: by.all().times(settings.per_round), ..Choice::default() };
        if settings.clears_kept_nodes {
            self.choose_on_kept_nodes(&settings, &mut choice, view);
        }
        let first = Needs { counts_reserved: settings.counts_reserved, balances: false };
        let mut ideal = self.choose(&settings, first, settings.wait, &mut choice, view);
        if let Some(wait) = settings.balance {
            let second = Needs { counts_reserved: false, balances: true };
            ideal = self.choose(&settings, second, wait, &mut choice, view);
        }
        if let Some(rules) = settings.inside {
            self.choose_inside(&settings, (rules, &ideal), &mut choice, view);
        }
        self.take_back(choice, orders, view);
    }

    /// Kills what was chosen long enough ago, and takes down what is chosen for the first time
    /// (`preemptOrkillSelectedContainerAfterWait`).
    fn take_back(&mut self, mut choice: Choice, orders: &mut Orders, view: View<'_>) {
        let Some(preemption) = &mut self.preemption else { return };
        let now = view.now();
        for (victim, wait) in choice.victims {
            match preemption.marked_at(victim.container) {
                Some(at) if at + wait <= now => {
                    preemption.marked.retain(|(container, _)| *container != victim.container);
                    if let Some(run) = victim.run {
                        orders.preempt(run);
                    }
                }
                Some(_) => {}
                None => preemption.marked.push((victim.container, now)),
            }
        }
        let keeps = 2 * preemption.wait;
        preemption.marked.retain(|(_, at)| at + keeps >= now);
        choice.freed.sort_unstable();
        for node in choice.freed {
            if let Some(kept) = view.yarn().reservation(node) {
                self.note_unreserved(kept.job, kept.ask, Some(node), view);
                self.discharge(kept.job, view.yarn().demand_of(kept.job, kept.ask), node, view);
                orders.unreserve(node);
            }
        }
    }

    /// One selector: what each queue is to give back, and the containers for it (`FifoCandidatesSelector.selectCandidates`).
    fn choose(
        &mut self,
        preemption: &Preemption,
        needs: Needs,
        wait: Ms,
        choice: &mut Choice,
        view: View<'_>,
    ) -> Ideal {
        let by = self.by(0, view);
        let chosen: Vec<(usize, Amounts)> = choice
            .victims
            .iter()
            .filter_map(|(victim, _)| victim.run.map(|_| (self.jobs[victim.job].queue, victim.size)))
            .collect();
        let before = choice.victims.len();
        let ideal = Ideal::of(self, needs, choice.allowed, view);
        for leaf in ideal.leaves() {
            if self.is_spared(leaf) {
                continue;
            }
            let mut obtain = ideal.to_obtain(leaf, preemption.ignored, preemption.unnatural, by);
            deduct(&mut obtain, chosen.iter().filter(|(queue, _)| *queue == leaf).map(|(_, size)| *size), by);
            self.choose_from(leaf, &mut obtain, wait, choice, view);
        }
        choice.sort_from(before);
        ideal
    }

    /// Containers of a queue: of the applications from the last one on, first the nodes that are kept for it, all of which are given free,
    /// then its containers.
    fn choose_from(&mut self, leaf: usize, obtain: &mut Amounts, wait: Ms, choice: &mut Choice, view: View<'_>) {
        let by = self.by(0, view);
        self.sort_applications(leaf, view);
        for place in (0..self.queues[leaf].active.len()).rev() {
            let job = self.served_at(leaf, place);
            for (node, victim) in self.kept_nodes(job, view) {
                if choice.has(victim.container) {
                    continue;
                }
                if by.compare(*obtain, Amounts::NONE).is_le() {
                    return;
                }
                choice.take(victim, wait, obtain, by);
                choice.freed.push(node);
            }
            for victim in containers(job, view) {
                if by.compare(*obtain, Amounts::NONE).is_le() {
                    return;
                }
                if !choice.has(victim.container) {
                    choice.take(victim, wait, obtain, by);
                }
            }
        }
    }

    /// The nodes that are kept for a job, in the order of Hadoop's tables.
    fn kept_nodes(&mut self, job: JobId, view: View<'_>) -> Vec<(NodeId, Victim)> {
        let mut all = Vec::new();
        for ask in Ask::ALL {
            for node in self.nodes_kept_for(job, ask, view) {
                if let Some(kept) = view.yarn().reservation(node) {
                    let size = view.yarn().demand_of(job, ask).into();
                    all.push((node, Victim { job, container: kept.container, run: None, size }));
                }
            }
        }
        all
    }

    /// True if nothing is taken from a queue.
    pub(super) fn is_spared(&self, place: usize) -> bool {
        let setting = |place: usize| self.tree.get(place).settings.disable_preemption;
        self.tree.with_ancestors(place).find_map(setting).unwrap_or(false)
    }
}

/// Takes what has been chosen before off what a queue is to give back. One that is larger than what is left, or as large, takes nothing off
/// (`deductActuallyToBePreempted`).
fn deduct(obtain: &mut Amounts, chosen: impl Iterator<Item = Amounts>, by: Calculator) {
    for size in chosen {
        if by.compare(*obtain, size).is_gt() {
            *obtain -= size;
        }
    }
}

/// The containers of a job without its master, the least urgent first, and of those the newest.
fn containers(job: JobId, view: View<'_>) -> Vec<Victim> {
    let mut all: Vec<(bool, AttemptView)> = Vec::new();
    for kind in Kind::BOTH {
        all.extend(view.runs(job, kind).filter(|run| !run.taken_back).map(|run| (kind == Kind::Reduce, run)));
    }
    all.sort_by_key(|(is_reduce, run)| (*is_reduce, std::cmp::Reverse(run.container)));
    let victim = |(_, run): (bool, AttemptView)| Victim {
        job,
        container: run.container,
        run: Some(run.id),
        size: view.yarn().demand_of(job, Ask::of(run.kind)).into(),
    };
    all.into_iter().map(victim).collect()
}
