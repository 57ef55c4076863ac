//! Preemption between the applications of one queue: from users above their limits to those below, or from lower to higher priorities
//! (rule N12).
//!
//! **Source.** `IntraQueueCandidatesSelector` and `FifoIntraQueuePreemptionPlugin` of Hadoop 3.4.1.

use resched_sim::hadoop::{AmState, Ask, View};
use resched_sim::{JobId, Ms};

use super::ideal::{Ideal, asked};
use super::{Choice, Preemption, containers, deduct};
use crate::hadoop::yarn::capacity::YarnCapacity;
use crate::hadoop::yarn::capacity::amounts::Amounts;
use crate::hadoop::yarn::capacity::calculator::Calculator;
use crate::settings::choices;

choices! {
    /// Who gives to whom in a queue.
    pub(crate) enum Inside {
        /// Users above their limit give to those below it.
        UserLimits = "userlimit_first",
        /// Applications of a lower priority give to those of a higher one.
        Priorities = "priority_first",
    }
}

/// When and how much is taken from applications of a queue.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct InsideRules {
    pub(in super::super) order: Inside,
    /// The part of its guarantee that a queue must use.
    pub(in super::super) threshold: f64,
    /// The part of its guarantee that is taken at one look at most.
    pub(in super::super) most: f64,
}

/// An application.
#[derive(Debug, Clone)]
struct App {
    job: JobId,
    user: usize,
    rank: i32,
    /// What it uses, with its master; what the master takes, and what has been chosen of it before.
    used: Amounts,
    master: Amounts,
    chosen: Amounts,
    pending: Amounts,
    ideal: Amounts,
    /// What it could give, what it does give, and what it needs of others.
    to_give: Amounts,
    gives: Amounts,
    needs: Amounts,
}

/// A user.
#[derive(Debug, Clone, Copy, Default)]
struct UserShare {
    used: Amounts,
    masters: Amounts,
    /// What he may have beside his masters.
    limit: Amounts,
    ideal: Amounts,
    /// What has been chosen of his applications before.
    chosen: Amounts,
    /// True if he has given all that he has beyond his limit to users of the same priority.
    has_given: bool,
}

impl YarnCapacity {
    /// Chooses containers inside the queues that lack something.
    pub(super) fn choose_inside(
        &mut self,
        preemption: &Preemption,
        (rules, ideal): (InsideRules, &Ideal),
        choice: &mut Choice,
        view: View<'_>,
    ) {
        let before = choice.victims.len();
        let by = self.by(0, view);
        let mut all = Vec::new();
        for leaf in ideal.underserved() {
            let is_full = f64::from(self.used_share(leaf, 0, by)) >= f64::from(rules.threshold as f32);
            if !self.tree.is_leaf(leaf) || self.is_spared_inside(leaf) || !is_full {
                continue;
            }
            let taken = ideal.to_obtain(leaf, preemption.ignored, preemption.unnatural, by);
            let Some((mut apps, users)) = self.shares_inside(leaf, rules, taken, choice, view) else { continue };
            // What has been chosen before is taken off every application of the queue (`deductPreemptableResourcePerApp`).
            for app in &mut apps {
                let of_leaf = choice.victims.iter().filter(|(victim, _)| self.jobs[victim.job].queue == leaf);
                deduct(&mut app.gives, of_leaf.map(|(victim, _)| victim.size), by);
            }
            all.push((apps, users));
        }
        for (apps, users) in &all {
            choose_of(apps, users, (preemption.wait, rules.order), choice, (by, view));
        }
        choice.sort_from(before);
    }

    fn is_spared_inside(&self, place: usize) -> bool {
        let setting = |place: usize| self.tree.get(place).settings.disable_preemption_inside;
        self.is_spared(place) || self.tree.with_ancestors(place).find_map(setting).unwrap_or(false)
    }

    /// What the applications of a queue should have and give, the least important one first; `None` if there is only one
    /// (`computeAppsIdealAllocation`).
    fn shares_inside(
        &self,
        leaf: usize,
        rules: InsideRules,
        taken: Amounts,
        choice: &Choice,
        view: View<'_>,
    ) -> Option<(Vec<App>, Vec<UserShare>)> {
        let by = self.by(0, view);
        let queue = &self.queues[leaf];
        let mut left = Amounts::from(queue.used) - taken - queue.masters;
        if queue.active.len() + queue.pending.len() == 1 {
            return None;
        }
        let mut users = self.users_inside(leaf, by);
        let mut apps = self.apps_inside(leaf, choice, view);
        for app in &mut apps {
            if by.compare(left, Amounts::NONE).is_le() {
                continue;
            }
            let user = &mut users[app.user];
            user.chosen += app.chosen;
            let without_master = app.used - app.master;
            let wanted = without_master + app.pending - app.chosen;
            if by.compare(user.ideal, user.limit).is_ge() {
                continue;
            }
            app.ideal = by.least(left, by.least(wanted, user.limit - user.ideal));
            user.ideal += app.ideal;
            let has = without_master - app.chosen;
            if by.compare(app.ideal, has).is_gt() {
                app.needs = app.ideal - has;
            }
            left = left.minus(app.ideal);
        }
        apps.reverse();
        let most = queue.guarantee.times(f64::from(rules.most as f32));
        let most = if by.compare(most, taken).is_gt() { most - taken } else { Amounts::NONE };
        let mut limit = by.least(most, choice.allowed);
        for app in &mut apps {
            if by.compare(limit, Amounts::NONE).is_le() || by.compare(app.used, Amounts::NONE).is_le() {
                continue;
            }
            let mut could = (app.used - app.ideal).minus(app.chosen).minus(app.master);
            if rules.order == Inside::UserLimits {
                could = could.minus(by.unit());
            }
            app.to_give = by.least(by.most(could, Amounts::NONE), limit);
            limit = limit.minus(app.to_give);
        }
        match_givers(&mut apps, &mut users, rules.order, by);
        Some((apps, users))
    }

    fn users_inside(&self, leaf: usize, by: Calculator) -> Vec<UserShare> {
        let queue = &self.queues[leaf];
        let share = |user: &super::super::state::User| {
            let limit = by.down(self.limit_of_all_users(leaf, by).times(user.weight.into()));
            UserShare {
                used: user.used.into(),
                masters: user.masters,
                limit: limit - user.masters,
                ..UserShare::default()
            }
        };
        queue.users.iter().map(share).collect()
    }

    /// The applications of a queue, the most important one first.
    fn apps_inside(&self, leaf: usize, choice: &Choice, view: View<'_>) -> Vec<App> {
        let queue = &self.queues[leaf];
        let mut jobs: Vec<JobId> = queue.active.iter().chain(&queue.pending).copied().collect();
        jobs.sort_unstable_by_key(|&job| (self.jobs[job].rank, job));
        let app = |job: JobId| {
            let seen = view.yarn().app(job);
            let chosen = choice.victims.iter().filter(|(victim, _)| victim.job == job);
            let chosen = chosen.fold(Amounts::NONE, |sum, (victim, _)| sum + victim.size);
            let has_master = seen.am() != AmState::Waiting;
            App {
                job,
                user: self.jobs[job].user,
                rank: self.jobs[job].rank,
                used: seen.held().into(),
                master: if has_master { view.yarn().demand(Ask::Am).into() } else { Amounts::NONE },
                chosen,
                pending: asked(job, view),
                ideal: Amounts::NONE,
                to_give: Amounts::NONE,
                gives: Amounts::NONE,
                needs: Amounts::NONE,
            }
        };
        jobs.into_iter().map(app).collect()
    }
}

/// Chooses containers of applications that give some, the least important one first. By user limits, a user keeps his limit.
fn choose_of(
    apps: &[App],
    users: &[UserShare],
    (wait, order): (Ms, Inside),
    choice: &mut Choice,
    (by, view): (Calculator, View<'_>),
) {
    let mut obtain = apps.iter().fold(Amounts::NONE, |sum, app| sum + app.gives);
    let mut used: Vec<Amounts> = users.iter().map(|user| user.used).collect();
    for app in apps.iter().filter(|app| app.gives != Amounts::NONE) {
        for victim in containers(app.job, view) {
            if by.compare(obtain, Amounts::NONE).is_le() {
                return;
            }
            let user = &users[app.user];
            let by_limits = order == Inside::UserLimits;
            let keeps_limit = by.compare(used[app.user] - victim.size, user.limit + user.masters).is_le();
            if choice.has(victim.container) || by_limits && keeps_limit {
                continue;
            }
            if choice.take(victim, wait, &mut obtain, by) && by_limits {
                used[app.user] -= victim.size;
            }
        }
    }
}

/// Lets applications that need something have it from those that could give, the least important one first, but not of the same user and
/// priority (`validateOutSameAppPriorityFromDemand`).
fn match_givers(apps: &mut [App], users: &mut [UserShare], order: Inside, by: Calculator) {
    for high in (0..apps.len()).rev() {
        for low in 0..apps.len() {
            let (taker, giver) = (&apps[high], &apps[low]);
            let is_same_user = taker.user == giver.user;
            let is_none = |amount: Amounts| by.compare(amount, Amounts::NONE).is_le();
            if is_none(taker.needs) || is_none(giver.to_give) || is_same_user && giver.rank <= taker.rank {
                continue;
            }
            let user = &mut users[giver.user];
            let is_over = by.compare(user.used - user.masters, user.limit).is_gt();
            if by.compare(giver.to_give, giver.gives).is_le()
                || !is_same_user && !is_over && order == Inside::UserLimits
            {
                continue;
            }
            let mut left = giver.to_give - giver.gives;
            if !is_same_user && giver.rank == taker.rank && order == Inside::UserLimits {
                let beyond = user.used - user.masters - user.chosen - user.limit;
                let beyond = if user.has_given { Amounts::NONE } else { beyond };
                if by.compare(beyond, left).is_lt() {
                    user.has_given = true;
                    left = beyond;
                }
            }
            let part = by.least(taker.needs, left);
            apps[high].needs -= part;
            apps[low].gives += part;
        }
    }
}
