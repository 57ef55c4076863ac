//! The fair share of a user: how much of the cluster it had, beside how much it should have.
//!
//! **Source.** Slurm's *Classic Fairshare Algorithm* and *Fair Tree Fairshare Algorithm* (`priority/multifactor`). Usage is processor time,
//! which counts half after each half-life.
//!
//! **Decisions.** Without associations, all accounts have the same shares, and so have the users of an account. Accounts that tie in the
//! fair tree are taken by name.

use std::collections::BTreeMap;

use resched_sim::Ms;

use crate::queues::slurm::{Association, Shares};

/// An account or a user, with its shares and its usage.
#[derive(Debug, Clone)]
struct Member {
    name: String,
    parent: Option<usize>,
    is_user: bool,
    shares: u32,
    /// Processor time, s × cores, that counted at `FairShares::at`. Of an account: of its own users only until it is summed up.
    usage: f64,
    /// Cores of its running jobs.
    cores: f64,
}

/// The shares and usages of all users.
#[derive(Debug)]
pub(super) struct FairShares {
    members: Vec<Member>,
    users: BTreeMap<(String, String), usize>,
    accounts: BTreeMap<String, usize>,
    half_life: Ms,
    at: Ms,
}

/// The root of all accounts.
const ROOT: usize = 0;

impl FairShares {
    pub(super) fn new(associations: &[Association], half_life: Ms) -> Self {
        let root = Member { name: "root".to_owned(), parent: None, is_user: false, shares: 1, usage: 0.0, cores: 0.0 };
        let mut made = Self {
            members: vec![root],
            users: BTreeMap::new(),
            accounts: BTreeMap::from([("root".to_owned(), ROOT)]),
            half_life,
            at: 0,
        };
        for association in associations {
            let shares = match association.shares {
                Shares::Own(shares) => shares,
                Shares::Parent => 0,
            };
            match &association.user {
                Some(user) => {
                    made.user(&association.account, user, shares);
                }
                None if association.account != "root" => {
                    let parent = association.parent.as_ref().and_then(|name| made.accounts.get(name)).copied();
                    let place = made.account(&association.account);
                    if let Some(member) = made.members.get_mut(place) {
                        (member.parent, member.shares) = (Some(parent.unwrap_or(ROOT)), shares);
                    }
                }
                None => {}
            }
        }
        made
    }

    fn add(&mut self, name: &str, parent: usize, is_user: bool, shares: u32) -> usize {
        let parent = Some(parent);
        self.members.push(Member { name: name.to_owned(), parent, is_user, shares, usage: 0.0, cores: 0.0 });
        self.members.len() - 1
    }

    fn account(&mut self, name: &str) -> usize {
        if let Some(&place) = self.accounts.get(name) {
            return place;
        }
        let place = self.add(name, ROOT, false, 1);
        self.accounts.insert(name.to_owned(), place);
        place
    }

    fn user(&mut self, account: &str, user: &str, shares: u32) -> usize {
        let key = (account.to_owned(), user.to_owned());
        if let Some(&place) = self.users.get(&key) {
            return place;
        }
        let parent = self.account(account);
        let place = self.add(user, parent, true, shares);
        self.users.insert(key, place);
        place
    }

    /// The place of a user.
    pub(super) fn of(&mut self, account: &str, user: &str) -> usize {
        self.user(account, user, 1)
    }

    /// The usage goes on until now.
    pub(super) fn advance(&mut self, now: Ms) {
        let passed = now.saturating_sub(self.at) as f64;
        let left = if self.half_life > 0 { 0.5_f64.powf(passed / self.half_life as f64) } else { 1.0 };
        for member in &mut self.members {
            member.usage = member.usage * left + member.cores * passed / 1e3;
        }
        self.at = self.at.max(now);
    }

    /// A user has so many cores more, or less, from now on.
    pub(super) fn change(&mut self, user: usize, cores: f64, now: Ms) {
        self.advance(now);
        if let Some(member) = self.members.get_mut(user) {
            member.cores += cores;
        }
    }

    /// The usage of each member with all below it.
    fn usages(&self) -> Vec<f64> {
        let mut sums: Vec<f64> = self.members.iter().map(|member| member.usage).collect();
        for (place, member) in self.members.iter().enumerate().filter(|(_, member)| member.is_user) {
            let mut above = member.parent;
            // No chain of accounts is longer than the list.
            for _ in 0..self.members.len() {
                let Some(account) = above else { break };
                sums[account] += self.members[place].usage;
                above = self.members[account].parent;
            }
        }
        sums
    }

    fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.members.len()];
        for (place, member) in self.members.iter().enumerate() {
            if let Some(parent) = member.parent.filter(|&parent| parent != place) {
                children[parent].push(place);
            }
        }
        children
    }

    /// The factor of each member by the fair tree, from 0 to 1: users are ranked by the shares for the usage of their account, then by
    /// their own.
    pub(super) fn by_tree(&self) -> Vec<f64> {
        let (usages, children) = (self.usages(), self.children());
        let users = self.users.len().max(1) as f64;
        let mut factors = vec![1.0; self.members.len()];
        let mut rank = self.users.len();
        let mut to_visit = vec![ROOT];
        let mut visited = 0;
        while let Some(place) = to_visit.pop().filter(|_| visited <= self.members.len()) {
            visited += 1;
            if self.members[place].is_user {
                factors[place] = rank as f64 / users;
                rank = rank.saturating_sub(1);
                continue;
            }
            let at_place = &children[place];
            let shares: f64 = at_place.iter().map(|&child| f64::from(self.members[child].shares)).sum();
            let level = |child: usize| {
                let share = f64::from(self.members[child].shares) / shares.max(1.0);
                let used = if usages[place] > 0.0 { usages[child] / usages[place] } else { 0.0 };
                if used > 0.0 { share / used } else { f64::INFINITY }
            };
            let mut ranked: Vec<usize> = at_place.clone();
            ranked.sort_by(|&a, &b| {
                level(b).total_cmp(&level(a)).then_with(|| self.members[a].name.cmp(&self.members[b].name))
            });
            // They are taken from the end.
            to_visit.extend(ranked.into_iter().rev());
        }
        factors
    }

    /// The factor of each member by the classic formula: 2 to the power of minus its effective usage for its shares.
    pub(super) fn classic(&self, dampening: u32) -> Vec<f64> {
        let (usages, children) = (self.usages(), self.children());
        let total = usages[ROOT];
        let (mut shares, mut effective) = (vec![1.0; self.members.len()], vec![1.0; self.members.len()]);
        let mut to_visit = vec![ROOT];
        let mut visited = 0;
        while let Some(place) = to_visit.pop().filter(|_| visited <= self.members.len()) {
            visited += 1;
            let sum: f64 = children[place].iter().map(|&child| f64::from(self.members[child].shares)).sum();
            for &child in &children[place] {
                let part = f64::from(self.members[child].shares) / sum.max(1.0);
                let used = if total > 0.0 { usages[child] / total } else { 0.0 };
                shares[child] = shares[place] * part;
                let above = if total > 0.0 { effective[place] } else { 0.0 };
                effective[child] = used + (above - used) * part;
                to_visit.push(child);
            }
        }
        let factor = |(effective, shares): (&f64, &f64)| {
            if *shares > 0.0 { 0.5_f64.powf(effective / shares / f64::from(dampening.max(1))) } else { 0.0 }
        };
        effective.iter().zip(&shares).map(factor).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str, shares: u32) -> Association {
        Association {
            account: name.to_owned(),
            parent: Some("root".to_owned()),
            shares: Shares::Own(shares),
            ..Association::default()
        }
    }

    fn user(account: &str, name: &str, shares: u32) -> Association {
        Association { user: Some(name.to_owned()), ..self::account(account, shares) }
    }

    /// Two accounts, `a` with three of four shares; its users have used 30 and 0, the one of `b` 10.
    fn shares() -> (FairShares, [usize; 3]) {
        let all = [account("a", 3), account("b", 1), user("a", "ann", 1), user("a", "bob", 1), user("b", "cyd", 1)];
        let mut shares = FairShares::new(&all, 0);
        let users = [("a", "ann"), ("a", "bob"), ("b", "cyd")].map(|(account, user)| shares.of(account, user));
        shares.change(users[0], 3.0, 0);
        shares.change(users[2], 1.0, 0);
        shares.advance(10_000);
        (shares, users)
    }

    #[test]
    fn the_fair_tree_ranks_accounts_first() {
        let (shares, users) = shares();
        // Both accounts used just their shares: by name. In `a`, bob has used nothing.
        let factors = shares.by_tree();
        assert_eq!(users.map(|user| (factors[user] * 3.0).round()), [2.0, 3.0, 1.0]);
    }

    #[test]
    fn the_classic_formula_counts_the_usage_of_the_account_too() {
        let (shares, users) = shares();
        let factors = shares.classic(1);
        // ann: used 3/4 of all, effective 3/4 + (3/4 − 3/4)/2; her shares are 3/8. bob: 0 + (3/4)/2. cyd: 1/4 of 1/4.
        let expected = [0.5_f64.powf(2.0), 0.5_f64.powf(1.0), 0.5_f64.powf(1.0)];
        // The effective usage of an account mixes in that of the root: a has 3/4 + (1 − 3/4) × 3/4 = 15/16.
        let a: f64 = 0.75 + 0.25 * 0.75;
        let b: f64 = 0.25 + 0.75 * 0.25;
        let exact = [
            0.5_f64.powf((0.75 + (a - 0.75) / 2.0) / 0.375),
            0.5_f64.powf(a / 2.0 / 0.375),
            0.5_f64.powf((0.25 + (b - 0.25)) / 0.25),
        ];
        for (place, user) in users.into_iter().enumerate() {
            assert!((factors[user] - exact[place]).abs() < 1e-12, "{place}");
            assert!(factors[user] <= expected[place]);
        }
    }

    #[test]
    fn usage_counts_half_after_each_half_life() {
        let mut shares = FairShares::new(&[], 10_000);
        let ann = shares.of("a", "ann");
        shares.change(ann, 2.0, 0);
        shares.change(ann, -2.0, 1_000);
        assert_eq!(shares.members[ann].usage, 2.0);
        shares.advance(21_000);
        assert_eq!(shares.members[ann].usage, 0.5);
    }
}
