//! Hadoop's Capacity Scheduler of MapReduce 1: queues with guaranteed shares (`docs/model/capacity.md`).
//!
//! **What it does.** A heartbeat launches at most one reduce and then one map. Each goes to the queue that uses the
//! smallest part of its guarantee. In the queue, it goes to the first job by submission whose user is within the user
//! limit, or else to the first job. A job launches as near to its data as it can, and does not wait for a nearer node.
//! A job can run only after it has been initialised. A poll every 5 s initialises a few jobs of each user. A job whose log says when
//! it was initialised is so when it arrives.
//!
//! **Source.** Hadoop MapReduce, June 2011: `CapacityTaskScheduler` and `JobInitializationPoller`, whose schedules it
//! reproduces to the millisecond. Only initialised jobs that have launched nothing yet count towards a user's number of
//! jobs. Queues that use equal shares keep the order of the previous heartbeat.
//!
//! **Decisions.** Hadoop rejects a job whose queue does not exist. Here the job goes to the queue `default`, or to the
//! first queue by name if there is no `default`. You may name a queue by its path, joined by dots or colons, or by its
//! own name alone. A queue whose share is less than one slot gets none, as in Hadoop. Slots have no size here, so jobs
//! that request more memory than a slot has are treated like others.

mod queue;

use resched_sim::hadoop::{AttemptEnd, AttemptView, Kind, Offer, Orders, Policy, System, View};
use resched_sim::{JobId, Ms, Violation};
use resched_tables::model::Reason;

use crate::error::Error;
use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::input::Input;
use crate::parts::by_id::ByJob;
use crate::parts::launch::launch_first;
use crate::queues::capacity::{CapacityQueue, percentages};
use crate::queues::file as queues;
use crate::queues::tree::QueueTree;
use crate::settings::{File, settings};
use crate::site::Site;
use crate::spec::PolicySpec;
use queue::Queue;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "capacity",
    title: "Hadoop Capacity Scheduler of MapReduce 1 (queues, user limits)",
    source: "Hadoop MapReduce 1 (June 2011)",
    family: Family::MapReduce1,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[Input::MapredQueues],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, site| Ok(Box::new(Capacity::new(Settings::read(values)?, site)?))),
};

settings! {
    /// What you can set.
    struct Settings {
        /// TOML file with the queues, their capacities and limits; without it: one queue `default`
        queues: File = "queues" {},
        /// least share of a queue for each user while others compete, if the queue sets none
        minimum_user_limit: u32 = "user_limit" {
            default: 100, range: 1..=100, unit: "%",
            hadoop: ["mapred.capacity-scheduler.default-minimum-user-limit-percent"],
        },
        /// order jobs by priority first, if the queue does not say
        priorities: bool = "priorities" {
            default: false, hadoop: ["mapred.capacity-scheduler.default-supports-priority"],
        },
        /// most jobs of a user that are initialised and have launched nothing, if the queue sets no number
        jobs_per_user: u32 = "jobs_per_user" {
            default: 2, range: 1..=1_000_000, unit: "jobs",
            hadoop: ["mapred.capacity-scheduler.default-maximum-initialized-jobs-per-user"],
        },
        /// most users with such jobs, in addition to the users that the user limit lets run together
        extra_users: u32 = "extra_users" { default: 2, range: 0..=1_000_000, unit: "users" },
        /// time between two choices of jobs to initialise
        init_poll: Ms = "init_poll" {
            default: 5000, range: 1..=86_400_000, unit: "ms", hadoop: ["mapred.capacity-scheduler.init-poll-interval"],
        },
    }
}

/// The policy.
#[derive(Debug)]
pub struct Capacity {
    settings: Settings,
    tree: QueueTree<CapacityQueue>,
    /// What each queue is guaranteed of its parent's slots, percent, by place in the tree.
    percentages: Vec<f32>,
    /// Slots of the cluster that the queues share.
    slots: [u32; 2],
    /// By place in the tree.
    queues: Vec<Queue>,
    /// Where jobs go whose queue does not exist.
    fallback: usize,
    jobs: ByJob<Job>,
    /// Room for the order of one heartbeat, kept so that it is not made anew each time.
    order: LeafOrder,
}

#[derive(Debug, Clone, Copy, Default)]
struct Job {
    queue: usize,
    user: usize,
    initialised: Option<Ms>,
}

#[derive(Debug, Default)]
struct LeafOrder {
    leaves: Vec<usize>,
    to_visit: Vec<usize>,
}

impl Capacity {
    /// The policy that a text of the registry asks for, to look into it after a replay.
    ///
    /// # Errors
    /// As [`PolicySpec::build`].
    pub fn from_spec(spec: &PolicySpec) -> Result<Self, Error> {
        Self::new(Settings::read(spec.values())?, spec.site())
    }

    fn new(settings: Settings, site: &Site) -> Result<Self, Error> {
        let tree = match settings.queues.path() {
            None => site.mapred_queues.clone().unwrap_or_else(queues::one_queue),
            Some(path) => queues::read(path).map_err(Error::File)?,
        };
        let percentages = percentages(&tree).map_err(Error::File)?;
        let by_name = |places: &mut Vec<usize>| places.sort_by(|&a, &b| tree.get(a).name.cmp(&tree.get(b).name));
        let queues = tree.queues().iter().map(|queue| {
            let mut ranked = queue.children.clone();
            by_name(&mut ranked);
            Queue {
                minimum_user_limit: queue.settings.minimum_user_limit.unwrap_or(settings.minimum_user_limit),
                priorities: queue.settings.priorities.unwrap_or(settings.priorities),
                jobs_per_user: queue.settings.jobs_per_user.unwrap_or(settings.jobs_per_user),
                ranked,
                ..Queue::default()
            }
        });
        let queues = queues.collect();
        let fallback = tree.fallback();
        let (jobs, order) = (ByJob::default(), LeafOrder::default());
        Ok(Self { settings, tree, percentages, slots: [0; 2], queues, fallback, jobs, order })
    }

    /// When a job was initialised, ms: the poll that chose it.
    pub fn initialised(&self, job: JobId) -> Option<Ms> {
        self.jobs[job].initialised
    }

    /// Turns the percentages into slots, each queue's of its parent's, if the cluster has changed.
    fn fit(&mut self, slots: [u32; 2]) {
        if std::mem::replace(&mut self.slots, slots) == slots {
            return;
        }
        for place in 0..self.queues.len() {
            let queue = self.tree.get(place);
            let (above, limit) =
                queue.parent.map_or((slots, [None; 2]), |at| (self.queues[at].capacity, self.queues[at].limit));
            for kind in [0, 1] {
                let of_queue = queue.settings.own_limit().map(|percent| (place, part(percent, above[kind])));
                self.queues[place].capacity[kind] = part(self.percentages[place], above[kind]);
                self.queues[place].limit[kind] = of_queue.or(limit[kind]);
            }
        }
    }

    /// The queue of a job that names this one.
    fn leaf(&self, name: &str) -> usize {
        self.tree.leaf_named(name).unwrap_or(self.fallback)
    }

    // Initialisation.

    /// Chooses the jobs of a queue that are initialised now (`JobInitializationPoller`).
    fn initialise(&mut self, leaf: usize, view: View<'_>) {
        let queue = &mut self.queues[leaf];
        queue.waiting.retain(|job| self.jobs[job].initialised.is_none() || !has_launched(view, job));
        queue.users.iter_mut().for_each(|user| user.counted = 0);
        let most_users = 100 / queue.minimum_user_limit + self.settings.extra_users;
        let most_jobs = u64::from(most_users) * u64::from(queue.jobs_per_user);
        let (mut users, mut jobs) = (0, 0);
        for job in queue.waiting.iter() {
            let state = &mut self.jobs[job];
            let user = &mut queue.users[state.user];
            let (new, known) = (state.initialised.is_none(), user.counted > 0);
            let fits = if known { user.counted < queue.jobs_per_user } else { users < most_users };
            if !new || fits {
                users += u32::from(!known);
                user.counted += 1;
                jobs += 1;
            }
            if new && fits {
                state.initialised = Some(view.now());
                view.pass_over(job, Kind::Map, Reason::None);
                queue.running.insert_as(job, queue.priority(view, job));
            }
            if new && !fits {
                view.pass_over(job, Kind::Map, Reason::JobLimit);
            }
            // Hadoop looks at the number of jobs only here, so there may be one more.
            if new && jobs > most_jobs {
                break;
            }
        }
    }

    // Heartbeats.

    /// Ranks the queues below each queue by what they use of their guarantees; equals stay as they were.
    fn rank(&mut self, kind: Kind) {
        for place in 0..self.queues.len() {
            let mut ranked = std::mem::take(&mut self.queues[place].ranked);
            ranked.sort_by(|&a, &b| self.queues[a].used(kind).total_cmp(&self.queues[b].used(kind)));
            self.queues[place].ranked = ranked;
        }
    }

    /// Lists the queues that hold jobs, as they are ranked.
    fn list_leaves(&mut self) {
        let LeafOrder { leaves, to_visit } = &mut self.order;
        leaves.clear();
        to_visit.push(QueueTree::<CapacityQueue>::ROOT);
        while let Some(place) = to_visit.pop() {
            if self.queues[place].is_leaf() {
                leaves.push(place);
            }
            to_visit.extend(self.queues[place].ranked.iter().rev());
        }
    }

    /// True if a queue may get another slot of a kind at all.
    fn may_grow(&self, leaf: usize, kind: Kind) -> bool {
        let queue = &self.queues[leaf];
        let room = |(of, most): (usize, u32)| self.queues[of].occupied[kind.index()] < most;
        queue.capacity[kind.index()] > 0 && queue.limit[kind.index()].is_none_or(room)
    }

    /// Launches one task of a kind from the first queue and job that gives one.
    fn launch_one(&mut self, offer: &mut Offer<'_, '_>, kind: Kind) -> Result<(), Violation> {
        self.list_leaves();
        for place in 0..self.order.leaves.len() {
            let leaf = self.order.leaves[place];
            if !self.may_grow(leaf, kind) {
                self.report_limit(leaf, kind, offer.view());
            } else if self.launch_from(leaf, offer, kind)? {
                break;
            }
        }
        Ok(())
    }

    /// Reports that the jobs of a queue may get no more slots.
    fn report_limit(&self, leaf: usize, kind: Kind, view: View<'_>) {
        if view.wants_reasons() {
            self.queues[leaf].running.iter().for_each(|job| view.pass_over(job, kind, Reason::QueueLimit));
        }
    }

    /// Launches one task of a kind from a queue: of a user within his limit if there is one, else of any. Returns whether there
    /// was one.
    fn launch_from(&self, leaf: usize, offer: &mut Offer<'_, '_>, kind: Kind) -> Result<bool, Violation> {
        let queue = &self.queues[leaf];
        for over_limit in [false, true] {
            let may = |job: JobId, _: View<'_>| match queue.is_over_limit(self.jobs[job].user, kind) {
                is_over if is_over == over_limit => Ok(()),
                // Others of the queue come first.
                true => Err(Reason::UserLimit),
                false => Err(Reason::None),
            };
            if launch_first(offer, kind, queue.running.iter(), may)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    // Slots in use.

    /// A job holds one slot more.
    fn occupy(&mut self, job: JobId, kind: Kind) {
        let Job { queue: leaf, user, .. } = self.jobs[job];
        self.queues[leaf].users[user].occupied[kind.index()] += 1;
        for place in self.tree.with_ancestors(leaf) {
            self.queues[place].occupied[kind.index()] += 1;
        }
    }

    /// A job holds so many slots less.
    fn vacate(&mut self, job: JobId, kind: Kind, slots: u32) {
        let Job { queue: leaf, user, .. } = self.jobs[job];
        self.queues[leaf].users[user].occupied[kind.index()] -= slots;
        for place in self.tree.with_ancestors(leaf) {
            self.queues[place].occupied[kind.index()] -= slots;
        }
    }
}

impl Policy for Capacity {
    fn follows_output(&self) -> bool {
        false
    }

    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let leaf = self.leaf(view.job(job).queue());
        let queue = &mut self.queues[leaf];
        let user = queue.user(view.job(job).user());
        queue.active_users += u32::from(queue.users[user].jobs == 0);
        queue.users[user].jobs += 1;
        queue.waiting.insert_as(job, queue.priority(view, job));
        let initialised = view.job(job).is_initialised().then(|| view.now());
        if initialised.is_some() {
            queue.running.insert_as(job, queue.priority(view, job));
        }
        self.jobs[job] = Job { queue: leaf, user, initialised };
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        // Attempts of a job that failed run on, but they are no longer counted.
        for kind in Kind::BOTH {
            self.vacate(job, kind, view.job(job).running(kind));
        }
        let Job { queue: leaf, user, .. } = self.jobs[job];
        let queue = &mut self.queues[leaf];
        queue.users[user].jobs -= 1;
        queue.active_users -= u32::from(queue.users[user].jobs == 0);
        queue.waiting.remove(job);
        queue.running.remove(job);
    }

    fn task_started(&mut self, started: &AttemptView, view: View<'_>) {
        self.occupy(view.job_of(started.task), started.kind);
    }

    fn task_finished(&mut self, ended: &AttemptEnd, _view: View<'_>) {
        self.vacate(ended.job, ended.kind, 1);
    }

    fn period(&self) -> Option<Ms> {
        Some(self.settings.init_poll)
    }

    fn tick(&mut self, view: View<'_>, _orders: &mut Orders) {
        for place in 0..self.queues.len() {
            if self.queues[place].is_leaf() {
                self.initialise(place, view);
            }
        }
    }

    /// A poll that chose nothing chooses nothing as long as no task is launched and no job comes or goes.
    fn skips_idle_ticks(&self, _view: View<'_>) -> bool {
        true
    }

    /// Every heartbeat ranks the queues, for one kind of slot or the other; those matter that would change their order.
    fn restless(&self, view: View<'_>) -> bool {
        if self.slots != cluster_slots(view) {
            return true;
        }
        let ranked = |queue: &Queue, kind| queue.ranked.is_sorted_by_key(|&child| self.queues[child].used(kind));
        self.queues.iter().any(|queue| Kind::BOTH.iter().any(|&kind| !ranked(queue, kind)))
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        self.fit(cluster_slots(offer.view()));
        for kind in [Kind::Reduce, Kind::Map] {
            if offer.free(kind) > 0 {
                self.rank(kind);
                if offer.view().ready(kind) > 0 {
                    self.launch_one(offer, kind)?;
                }
            }
        }
        Ok(())
    }
}

/// All slots of each kind.
fn cluster_slots(view: View<'_>) -> [u32; 2] {
    Kind::BOTH.map(|kind| view.slots(kind))
}

/// So many percent of slots, cut to whole ones; in the precision of Hadoop, whose results differ otherwise.
fn part(percent: f32, slots: u32) -> u32 {
    (percent * slots as f32 / 100.0) as u32
}

/// True if a task of a job runs or is done.
fn has_launched(view: View<'_>, job: JobId) -> bool {
    Kind::BOTH.iter().any(|&kind| view.job(job).waiting(kind) < view.job(job).desired(kind))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::testing::{JobSpec, Launch, Scenario, job, map};
    use resched_sim::hadoop::{Options, replay};
    use resched_tables::model::Priority;

    fn capacity(queues: &str) -> Capacity {
        let site = Site { mapred_queues: Some(queues::parse(queues).unwrap()), ..Site::default() };
        Capacity::from_spec(&PolicySpec::parse("capacity").unwrap().at_site(&site.into()).unwrap()).unwrap()
    }

    /// Nodes with the first heartbeat at 10, so that polls come at 5,010, 10,010 and so on.
    fn nodes(nodes: usize, map_slots: u32, reduce_slots: u32) -> Scenario {
        Scenario::nodes(nodes, map_slots, reduce_slots).first_heartbeat(10)
    }

    fn long(id: &str, user: &str, maps: usize) -> JobSpec {
        job(id).user(user).maps(maps, map(100_000))
    }

    /// How many launches of each job there are before an instant.
    fn shares(launches: &[Launch], before: Ms, jobs: usize) -> Vec<usize> {
        let of = |number: usize| {
            let id = format!("job_1_{number:04}");
            launches.iter().filter(|launch| launch.at < before && launch.job == id).count()
        };
        (1..=jobs).map(of).collect()
    }

    #[test]
    fn the_queue_that_uses_the_least_of_its_share_comes_first() {
        let mut policy = capacity("[queues.a]\ncapacity = 30\n[queues.b]\ncapacity = 70\n");
        let [a, b] = ["a", "b"].map(|name| policy.tree.find(name).unwrap());
        policy.fit([100, 100]);
        let mut order = |occupied: [u32; 2]| {
            (policy.queues[a].occupied[0], policy.queues[b].occupied[0]) = (occupied[0], occupied[1]);
            policy.rank(Kind::Map);
            policy.list_leaves();
            policy.order.leaves.clone()
        };
        assert_eq!(order([20, 49]), [a, b]);
        assert_eq!(order([22, 49]), [b, a]);
        assert_eq!(order([21, 49]), [b, a], "equals stay as they were");
        assert_eq!(order([20, 49]), [a, b]);
        assert_eq!(order([21, 49]), [a, b], "equals stay as they were");
    }

    #[test]
    fn slots_are_cut_to_whole_ones_at_each_level() {
        let mut policy = capacity(
            "[queues.a]\ncapacity = 55\nmaximum_capacity = 75\n[queues.b]\n[queues.\"a.x\"]\ncapacity = 50\n\
             [queues.\"a.y\"]\nmaximum_capacity = 60\n",
        );
        policy.fit([10, 3]);
        let of = |name: &str| {
            let queue = &policy.queues[policy.tree.find(name).unwrap()];
            (queue.capacity, queue.limit.map(|limit| limit.map(|(of, most)| (policy.tree.get(of).name.as_str(), most))))
        };
        assert_eq!(of("a"), ([5, 1], [Some(("a", 7)), Some(("a", 2))]));
        assert_eq!(of("b"), ([4, 1], [None, None]));
        assert_eq!(of("x"), ([2, 0], [Some(("a", 7)), Some(("a", 2))]), "the limit of the queue above it");
        assert_eq!(of("y"), ([2, 0], [Some(("y", 3)), Some(("y", 0))]));
    }

    #[test]
    fn a_queue_is_named_by_path_or_name_and_an_unknown_one_is_the_default() {
        let policy = capacity("[queues.a]\n[queues.default]\n[queues.\"a.x\"]\n");
        let [x, default] = ["x", "default"].map(|name| policy.tree.find(name).unwrap());
        assert_eq!(["x", "a.x", "a:x", "root.a.x"].map(|name| policy.leaf(name)), [x; 4]);
        assert_eq!(["", "b", "a", "root"].map(|name| policy.leaf(name)), [default; 4]);
        let without = capacity("[queues.b]\n[queues.a]\n");
        assert_eq!(without.leaf("c"), without.tree.find("a").unwrap(), "the first by name");
    }

    #[test]
    fn a_job_runs_only_after_the_poll() {
        // Polls come at 5,010 and 10,010: the jobs that came at 10 and at 6,000 wait for the next heartbeat after theirs.
        let one = |id: &str, at| job(id).at(at).maps(1, map(1_000));
        let launches = nodes(1, 4, 0).job(one("job_1_0001", 10)).job(one("job_1_0002", 6_000)).launches("capacity");
        assert_eq!(launches.iter().map(|launch| launch.at).collect::<Vec<_>>(), [6_010, 12_010]);
    }

    #[test]
    fn a_heartbeat_gets_one_map_and_one_reduce() {
        let launches = nodes(1, 4, 4).job(job("job_1_0001").maps(4, map(1_000)).reduces(2, 1_000)).launches("capacity");
        let at = |at: Ms| launches.iter().filter(move |launch| launch.at == at).map(|launch| &launch.task[7..]);
        // Slow-start is one map of four, done at 9,010.
        assert_eq!(at(6_010).collect::<Vec<_>>(), ["0001_m_000000"]);
        assert_eq!(at(9_010).collect::<Vec<_>>(), ["0001_r_000000", "0001_m_000001"]);
        assert_eq!(at(12_010).collect::<Vec<_>>(), ["0001_r_000001", "0001_m_000002"]);
    }

    #[test]
    fn two_jobs_of_a_user_and_three_users_are_initialised_at_a_poll() {
        // The polls are at 5,010 and 10,010. All that the first chose run by then, and count no more.
        let mut world = nodes(9, 1, 0);
        for (number, user) in ["ann", "ann", "ann", "bob", "cid", "dan"].into_iter().enumerate() {
            world = world.job(long(&format!("job_1_{:04}", number + 1), user, 1));
        }
        let first = |policy: &str| shares(&world.launches(policy), 12_000, 6);
        assert_eq!(first("capacity"), [1, 1, 0, 1, 1, 0]);
        assert_eq!(first("capacity:jobs_per_user=3"), [1, 1, 1, 1, 1, 0]);
        assert_eq!(first("capacity:extra_users=3"), [1, 1, 0, 1, 1, 1]);
        assert_eq!(first("capacity:user_limit=50"), [1, 1, 0, 1, 1, 1], "two users run together, and two extra");
        assert_eq!(shares(&world.launches("capacity"), 12_011, 6), [1; 6]);
    }

    #[test]
    fn an_initialised_job_that_has_launched_nothing_counts() {
        // The blocker has the only slot. At 10,010 it counts no more, but Ann's two jobs do: her third is not initialised.
        let mut policy = capacity("[queues.default]\n");
        let blocked = ["blocker", "ann", "ann", "ann"].into_iter().enumerate();
        let jobs = blocked.map(|(number, user)| long(&format!("job_1_{:04}", number + 1), user, 1));
        let (cluster, workload) = jobs.fold(nodes(1, 1, 0), Scenario::job).build();
        let replayed =
            replay(&workload, &cluster, ("capacity", &mut policy), &Options::default(), &mut (), &mut |_| {});
        assert_eq!(replayed.unwrap().jobs, 4);
        let initialised: Vec<Ms> = policy.jobs.values().iter().filter_map(|job| job.initialised).collect();
        // A map takes 300 s away from its data, so the first of Ann's starts at 306,010.
        assert_eq!(initialised, [5_010, 5_010, 5_010, 310_010]);
    }

    #[test]
    fn a_queue_gets_what_it_is_guaranteed_and_no_more_than_its_maximum() {
        let queues = "[queues.a]\ncapacity = 25\nmaximum_capacity = 50\n[queues.b]\ncapacity = 75\n";
        let alone = nodes(8, 1, 0).job(long("job_1_0001", "ann", 20).queue("a"));
        let launches = alone.launches_under("capacity", || Box::new(capacity(queues)));
        assert_eq!(shares(&launches, 90_000, 1), [4], "half of the slots stay free");
        let both = alone.job(long("job_1_0002", "bob", 20).queue("b"));
        let launches = both.launches_under("capacity", || Box::new(capacity(queues)));
        assert_eq!(shares(&launches, 90_000, 2), [2, 6]);
    }

    #[test]
    fn users_share_a_queue_by_their_limit_but_no_slot_stays_free_for_it() {
        let world = nodes(8, 1, 0).job(long("job_1_0001", "ann", 20)).job(long("job_1_0002", "bob", 20));
        assert_eq!(shares(&world.launches("capacity:user_limit=100"), 90_000, 2), [8, 0], "one user is enough");
        assert_eq!(shares(&world.launches("capacity:user_limit=50"), 90_000, 2), [4, 4]);
        assert_eq!(shares(&world.launches("capacity:user_limit=75"), 90_000, 2), [6, 2]);
        let few = nodes(8, 1, 0).job(long("job_1_0001", "ann", 20)).job(long("job_1_0002", "bob", 2));
        assert_eq!(shares(&few.launches("capacity:user_limit=50"), 90_000, 2), [6, 2], "Bob needs no more");
    }

    #[test]
    fn priorities_count_where_they_are_switched_on() {
        let world = nodes(1, 1, 0)
            .job(job("job_1_0001").maps(1, map(1_000)))
            .job(job("job_1_0002").at(20).priority(Priority::High).maps(1, map(1_000)));
        let first = |policy: &str| world.launches(policy)[0].job.clone();
        assert_eq!(first("capacity"), "job_1_0001");
        assert_eq!(first("capacity:priorities=true"), "job_1_0002");
    }
}
