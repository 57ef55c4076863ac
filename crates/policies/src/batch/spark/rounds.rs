//! A round of offers: Spark's `TaskSchedulerImpl.resourceOffers`.

use rand::seq::SliceRandom;
use resched_sim::batch::Offer;
use resched_sim::{NodeId, Resources, Violation};
use resched_tables::draws::{Purpose, stream};
use resched_tables::model::Reason;
use smallvec::SmallVec;

use super::executors::Executors;
use super::level::Level;
use super::task_set::{Member, Spot, TaskSet};
use super::{App, Run, Spark};

/// The executors that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// All of an application.
    All,
    /// One of them.
    One(usize),
}

/// What became of a task set in a round.
#[derive(Debug, Default)]
struct Turn {
    /// The most local level of the tasks that were launched.
    best: Option<Level>,
    has_rejected: bool,
}

impl Spark {
    /// Offers executors of an application to its task sets.
    pub(super) fn round(&mut self, app: usize, which: Which, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if !self.apps[app].pools.have_waiting() {
            return Ok(());
        }
        let mut executors = std::mem::take(&mut self.offered);
        self.find_offered(app, which, &mut executors, offer);
        let result = if executors.is_empty() { Ok(()) } else { self.offer_to_all(app, which, &executors, offer) };
        executors.clear();
        self.offered = executors;
        result
    }

    /// Offers these executors to the task sets of an application, in their order.
    fn offer_to_all(
        &mut self,
        app: usize,
        which: Which,
        executors: &[usize],
        offer: &mut Offer<'_, '_>,
    ) -> Result<(), Violation> {
        let sets = &self.sets;
        let mut line = self.apps[app].pools.line(|stage| sets.get(stage).map_or(0, |set| set.running));
        while let Some(stage) = self.apps[app].pools.next(&mut line) {
            let turn = self.serve(stage, executors, offer)?;
            let Some(set) = self.sets.get_mut(stage) else { continue };
            if turn.has_rejected {
                set.quiet = false;
                if let Some(task) = set.first_waiting() {
                    offer.view().pass_over(task, Reason::Locality, None);
                }
            } else if let Some(best) = turn.best
                && !self.apps[app].conf.legacy_reset
                && (which == Which::All || set.quiet)
            {
                set.reset(best, offer.view().now());
                set.quiet = true;
            }
            if set.waiting() == 0 {
                self.apps[app].pools.served(set.pool, stage);
            }
            if executors.iter().all(|&number| self.room(number, offer) == Resources::NONE) {
                break;
            }
        }
        Ok(())
    }

    /// The executors of a round that have anything free, in random order.
    fn find_offered(&mut self, app: usize, which: Which, all: &mut Vec<usize>, offer: &Offer<'_, '_>) {
        match which {
            Which::One(number) => all.extend(self.executors.is_known(number).then_some(number)),
            Which::All => {
                let has_room = |number: &usize| self.room(*number, offer) != Resources::NONE;
                all.extend(self.executors.open(app).filter(has_room));
                let App { offers, .. } = &mut self.apps[app];
                *offers += 1;
                all.shuffle(&mut stream(offer.view().seed(), Purpose::OfferOrder, &[app as u64, *offers]));
            }
        }
    }

    /// What is free on an executor.
    fn room(&self, number: usize, offer: &Offer<'_, '_>) -> Resources {
        room(&self.executors, number, offer)
    }

    /// Offers executors to a task set, level by level, at most one task for each executor at a time.
    fn serve(&mut self, stage: u32, executors: &[usize], offer: &mut Offer<'_, '_>) -> Result<Turn, Violation> {
        let mut turn = Turn::default();
        let count = self.sets.get(stage).map_or(0, |set| set.levels().len());
        for place in 0..count {
            let Some(level) = self.sets.get(stage).map(|set| set.levels()[place]) else { break };
            loop {
                let mut launched = false;
                for place in 0..executors.len() {
                    if self.offer_one(stage, level, (executors, place), &mut turn, offer)? {
                        launched = true;
                        if self.sets.get(stage).is_none_or(|set| set.waiting() == 0) {
                            self.ask_in_vain(stage, executors, offer);
                            return Ok(turn);
                        }
                    }
                }
                if !launched {
                    break;
                }
            }
        }
        Ok(turn)
    }

    /// A set that has all that it wants is still offered what is left, and finds that nothing waits at any level.
    fn ask_in_vain(&mut self, stage: u32, executors: &[usize], offer: &Offer<'_, '_>) {
        let Some(least) = self.sets.get(stage).map(TaskSet::least) else { return };
        if executors.iter().any(|&number| self.room(number, offer).holds(least))
            && let Some(set) = self.sets.get_mut(stage)
        {
            set.pass_all_levels(offer.view().now());
        }
    }

    /// Offers one of the executors to a task set. Returns whether it took it.
    fn offer_one(
        &mut self,
        stage: u32,
        level: Level,
        (executors, place): (&[usize], usize),
        turn: &mut Turn,
        offer: &mut Offer<'_, '_>,
    ) -> Result<bool, Violation> {
        let number = executors[place];
        let free = self.room(number, offer);
        let Some(set) = self.sets.get(stage).filter(|set| set.waiting() > 0 && free.holds(set.least())) else {
            return Ok(false);
        };
        let node = self.executors.get(number).node;
        let spot = Spot { node, rack: offer.view().rack(node), now: offer.view().now() };
        let all = &self.executors;
        let has_room = |member: &Member| free.holds(member.cost) && offer.view().has_room(member.task, node);
        let fits = |member: &Member| {
            has_room(member) && (member.gang.is_none() || spread(all, member, (executors, place), offer).is_some())
        };
        let conf = &self.apps[set.app].conf;
        let Some(set) = self.sets.get_mut(stage) else { return Ok(false) };
        let answer = set.offer(spot, level, conf, &fits);
        turn.has_rejected |= answer.rejected;
        let Some((index, level)) = answer.taken else { return Ok(false) };
        turn.best = Some(turn.best.map_or(level, |best| best.min(level)));
        self.launch(stage, index, (executors, place), offer)?;
        Ok(true)
    }

    /// Launches a task on an executor; a gang from there on.
    fn launch(
        &mut self,
        stage: u32,
        index: u32,
        (executors, place): (&[usize], usize),
        offer: &mut Offer<'_, '_>,
    ) -> Result<(), Violation> {
        let Some(set) = self.sets.get(stage) else { return Ok(()) };
        let member = set.member(index);
        let (task, cost, app, pool) = (member.task, member.cost, set.app, set.pool);
        let Some(spread) = spread(&self.executors, member, (executors, place), offer) else { return Ok(()) };
        let mut on = SmallVec::new();
        let mut places: SmallVec<[(NodeId, u32); 1]> = SmallVec::new();
        for (number, count) in spread {
            on.push((number, cost.times(u64::from(count))));
            let node = self.executors.get(number).node;
            match places.iter_mut().find(|place| place.0 == node) {
                Some(known) => known.1 += count,
                None => places.push((node, count)),
            }
        }
        on.iter().for_each(|&(number, cost)| self.executors.take(number, cost));
        let run = offer.start_on(task, &places)?;
        self.apps[app].pools.started(pool);
        if let Some(allocation) = &mut self.apps[app].allocation {
            allocation.start();
            let holds = allocation.limits().holds_shuffles;
            let job = offer.view().task(task).job;
            for &(number, _) in &on {
                if holds && self.holders.entry(job).or_default().insert(number) {
                    self.executors.hold(number);
                }
                self.executors.look_idle(number, offer.view().now());
            }
        }
        self.runs[run] = Some(Run { stage, on });
        Ok(())
    }
}

/// What is free of an executor, and of its machine.
fn room(all: &Executors, number: usize, offer: &Offer<'_, '_>) -> Resources {
    all.free(number).min(offer.free_of(all.get(number).node))
}

/// The executors that a task would take from one on, each with how many of its instances; `None` if they have no room for all.
fn spread(
    all: &Executors,
    member: &Member,
    (executors, place): (&[usize], usize),
    offer: &Offer<'_, '_>,
) -> Option<SmallVec<[(usize, u32); 1]>> {
    let mut left = member.gang.unwrap_or(1);
    let mut spread: SmallVec<[(usize, u32); 1]> = SmallVec::new();
    for &number in executors[place..].iter().chain(&executors[..place]) {
        let node = all.get(number).node;
        // The executors of a machine share what it has beside processor and memory.
        let here = spread.iter().filter(|(other, _)| all.get(*other).node == node);
        let on_machine = offer.view().fits_on(member.task, node).saturating_sub(here.map(|(_, n)| u64::from(*n)).sum());
        let count = room(all, number, offer).fits(member.cost).min(on_machine).min(u64::from(left)) as u32;
        if count > 0 {
            spread.push((number, count));
            left -= count;
        }
        if left == 0 {
            return Some(spread);
        }
    }
    None
}
