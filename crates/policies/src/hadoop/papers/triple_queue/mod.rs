//! Triple-Queue: jobs bound by the processor and jobs bound by the disks side by side on every node (`docs/model/triple-queue.md`).
//!
//! **What it does.** A new job waits and gives one map to each node, as a sample. When the samples have ended,
//! MR-Predict finds its class from their sizes and times ([`crate::parts::predict`]), and the job goes to the CPU queue
//! or to the IO queue. Each queue has its own slots on every node and is served by priority, then by submission. It may
//! use the other queue's map slots while that queue has no map to launch, and its reduce slots while it has no reduce to
//! launch. While neither queue holds a job, the first waiting job
//! runs in the CPU queue without limit, before its class is known. If that turns out to be the wrong queue, the job
//! changes it; its running tasks are not killed. If the maps of the IO queue become slower after a job has entered the
//! CPU queue, that job goes to the IO queue ("defect-modify").
//!
//! **Source.** "A Dynamic MapReduce Scheduler for Heterogeneous Workloads" (GCC 2009), sections III and IV. Decisions
//! where the paper is silent:
//! - Samples come before all else on a node with a free map slot. Otherwise a busy cluster would never find the class
//!   of a job. Only the first waiting job is sampled. A sample that fails or is killed is taken again.
//! - The samples have ended when each node with a sample has finished one; `min_samples` lowers the share of nodes. All
//!   maps that have ended by then count.
//! - The sizes are in MiB, so that the paper's splits of "64M" are 64 MiB. A map of unknown input counts as 64 MiB. A
//!   map of unknown output counts as writing as much as it reads. So the class of a job without any known size follows
//!   from its run time alone: with reduces and 8 maps a node it is I/O-bound up to 32.8 s a map, CPU-bound above 65.6
//!   s, and sways between.
//! - Reduces are assumed to be spread evenly (formula 5). A job without maps has nothing to sample: it goes to the CPU
//!   queue.
//! - The paper names no queue for a job that sways; see `sway_queue`. The default is the IO queue, because the disks
//!   block such a job as soon as its reduces fetch, and errors of the formulas favour the CPU.
//! - The paper lends the slots of a queue that "becomes empty". A queue counts as empty for a kind while it has no task of that
//!   kind to launch; reduces count past slow-start. Otherwise a job that runs its last reduces would keep map slots idle.
//! - "Each queue ... serves a FCFS with priority strategy just like Hadoop's current job queue", which launches at most one
//!   reduce at a heartbeat. So each queue does.
//! - On a node, the CPU queue is asked first, which matters if samples hold slots. If the number of slots is odd, the
//!   CPU queue has one more. Each queue has at least one slot, even if the node has only one. Otherwise reduces of a
//!   job without slots could hold the reduce slots that the other queue needs, and both would wait for ever.
//! - Defect-modify compares the times of the maps that the IO queue started since the newest job entered the CPU queue with the
//!   mean time that maps of the same job took before, among the queue's last `mtct_window`; it wants half a window of new ones.
//!   The paper compares "the MTCT of recent tasks", and its MTCT is a number of one job.

mod defect;
mod samples;
mod slots;

use resched_sim::hadoop::{AttemptEnd, Kind, Offer, Policy, Reach, System, View};
use resched_sim::{JobId, NodeId, Violation};
use resched_tables::model::{Outcome, Reason};

use crate::info::{ALL_ACT, Build, Family, PolicyInfo};
use crate::parts::by_id::ByJob;
use crate::parts::job_queue::JobQueue;
use crate::parts::predict::{Class, classify};
use crate::settings::{choices, settings};
use defect::{Watch, map_time};
use samples::Samples;
use slots::Quotas;

/// Its entry in the registry.
pub(crate) const INFO: PolicyInfo = PolicyInfo {
    name: "triple-queue",
    title: "Triple-Queue with MR-Predict: CPU-bound and I/O-bound jobs side by side",
    source: "A Dynamic MapReduce Scheduler for Heterogeneous Workloads (GCC 2009)",
    family: Family::Paper,
    oracle: false,
    parameters: Settings::PARAMETERS,
    inputs: &[],
    idle: ALL_ACT,
    build: Build::Hadoop(System::Slots, |values, _| Ok(Box::new(TripleQueue::new(Settings::read(values)?)))),
};

choices! {
    /// Where jobs that sway go.
    enum Sway {
        Io = "io",
        Cpu = "cpu",
        /// To the CPU queue until their first reduce is launched, then to the IO queue.
        Dynamic = "dynamic",
    }
}

settings! {
    /// What you can set.
    struct Settings {
        /// maps that run at once on a node; auto: map slots per node
        maps_at_once: Option<u32> = "n" { auto: Nothing, range: 1..=100_000, unit: "maps" },
        /// rate of a node's disks, compared with the rate of its n maps (the paper measured it with one map)
        disk_rate: f64 = "dior_mb_s" { default: 31.2, range: 1e-6..=1e9, unit: "MiB/s" },
        /// sample maps of a job on each node
        samples_per_node: u32 = "sample_per_tracker" { default: 1, range: 1..=1_000, unit: "maps" },
        /// share of the sampled nodes that must have finished a sample before the job gets its class
        min_samples: f64 = "min_samples" { default: 1, range: 0.01..=1 },
        /// a job leaves the CPU queue if maps of the IO queue take this many times as long since the job arrived
        defect_threshold: f64 = "defect_threshold" { default: 1.4, range: 1..=1_000 },
        /// number of last maps of the IO queue whose mean time is compared; auto: its map slots, at least 10
        window: Option<usize> = "mtct_window" { auto: Nothing, range: 1..=1_000_000, unit: "maps" },
        /// map slots of each node for the CPU queue; auto: the rest after io_slots, or half
        cpu_slots: Option<u32> = "cpu_slots" { auto: Nothing, range: 1..=100_000, unit: "slots" },
        /// map slots of each node for the IO queue; auto: the rest after cpu_slots, or half
        io_slots: Option<u32> = "io_slots" { auto: Nothing, range: 1..=100_000, unit: "slots" },
        /// reduce slots of each node for the CPU queue; auto: the rest after io_reduce_slots, or half
        cpu_reduce_slots: Option<u32> = "cpu_reduce_slots" { auto: Nothing, range: 1..=100_000, unit: "slots" },
        /// reduce slots of each node for the IO queue; auto: the rest after cpu_reduce_slots, or half
        io_reduce_slots: Option<u32> = "io_reduce_slots" { auto: Nothing, range: 1..=100_000, unit: "slots" },
        /// queue of jobs that sway; dynamic: cpu until their first reduce is launched, then io
        sway: Sway = "sway_queue" { choice: Sway::Io, },
    }
}

impl Settings {
    /// The slots of a kind that the queues have on each node, as far as they are set.
    fn quotas(&self, kind: Kind) -> Quotas {
        match kind {
            Kind::Map => Quotas { cpu: self.cpu_slots, io: self.io_slots },
            Kind::Reduce => Quotas { cpu: self.cpu_reduce_slots, io: self.io_reduce_slots },
        }
    }
}

const MIB: f64 = 1_048_576.0;
/// The input of a map of unknown size, MiB: a block.
const USUAL_SPLIT: f64 = 64.0;

/// The policy.
#[derive(Debug)]
struct TripleQueue {
    settings: Settings,
    /// By [`Queue`].
    queues: [JobQueue; 3],
    jobs: ByJob<JobState>,
    /// Tasks on the node that calls, by [`Queue`] and kind.
    running: [[u32; 2]; 3],
    /// Whether each queue had a task to launch, by kind, and when that was found out ([`View::version`]).
    wants: [[Option<(u64, bool)>; 2]; 3],
    /// When slots were last reported to be kept from each queue, by kind ([`View::version`]).
    reported: [[u64; 2]; 3],
    watch: Watch,
}

/// The queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queue {
    Wait,
    Cpu,
    Io,
}

/// The known facts about a job.
#[derive(Debug)]
struct JobState {
    /// Where it stands; `None` once it has ended.
    queue: Option<Queue>,
    nature: Nature,
    /// True if a reduce of it was ever launched.
    reducing: bool,
}

impl Default for JobState {
    fn default() -> Self {
        Self { queue: None, nature: Nature::Unknown(Samples::default()), reducing: false }
    }
}

#[derive(Debug)]
enum Nature {
    /// Samples are being taken.
    Unknown(Samples),
    Known(Class),
}

impl TripleQueue {
    fn new(settings: Settings) -> Self {
        let watch = Watch::new(settings.defect_threshold, settings.window);
        Self {
            settings,
            queues: Default::default(),
            jobs: ByJob::default(),
            running: Default::default(),
            wants: Default::default(),
            reported: Default::default(),
            watch,
        }
    }

    // Queues.

    fn is_empty(&self, queue: Queue) -> bool {
        self.queues[queue as usize].get(0).is_none()
    }

    /// Puts a job into a queue, and takes it out of that in which it stands.
    fn put(&mut self, job: JobId, queue: Queue, view: View<'_>) {
        self.take_out(job);
        self.queues[queue as usize].insert(job, view);
        self.wants[queue as usize] = [None; 2];
        self.jobs[job].queue = Some(queue);
        if queue == Queue::Cpu {
            self.watch.begin(job, view.now());
        }
    }

    fn take_out(&mut self, job: JobId) {
        if let Some(queue) = self.jobs[job].queue.take() {
            self.queues[queue as usize].remove(job);
            self.wants[queue as usize] = [None; 2];
        }
        self.watch.end(job);
    }

    /// While neither queue holds a job, the first that waits runs, of whatever class it may be (Fig. 3).
    fn fill_empty_queues(&mut self, view: View<'_>) {
        if self.is_empty(Queue::Cpu)
            && self.is_empty(Queue::Io)
            && let Some(job) = self.queues[Queue::Wait as usize].get(0)
        {
            self.put(job, Queue::Cpu, view);
        }
    }

    /// Moves a job to where its class belongs, if it is not there (Fig. 4).
    fn settle(&mut self, job: JobId, class: Class, view: View<'_>) {
        let state = &mut self.jobs[job];
        state.nature = Nature::Known(class);
        let queue = match (class, self.settings.sway) {
            (Class::Cpu, _) | (Class::Sway, Sway::Cpu) => Queue::Cpu,
            (Class::Io, _) | (Class::Sway, Sway::Io) => Queue::Io,
            (Class::Sway, Sway::Dynamic) if state.reducing => Queue::Io,
            (Class::Sway, Sway::Dynamic) => Queue::Cpu,
        };
        if state.queue != Some(queue) {
            self.put(job, queue, view);
        }
    }

    // MR-Predict.

    /// A map of a job of unknown class has ended.
    fn sample_ended(&mut self, ended: &AttemptEnd, view: View<'_>) {
        let Nature::Unknown(samples) = &mut self.jobs[ended.job].nature else { return };
        if ended.outcome == Outcome::Success {
            let input = view.input_bytes(ended.task).map_or(USUAL_SPLIT, |bytes| bytes as f64 / MIB);
            let output = view.output_bytes(ended).map_or(input, |bytes| bytes as f64 / MIB);
            samples.succeeded(ended.node, [input, output], map_time(ended));
        } else {
            samples.lost(ended.node);
        }
        if samples.suffice(self.settings.min_samples) {
            let nodes = view.live_nodes().max(1);
            let map = samples.mean_map(view.job(ended.job).desired(Kind::Reduce), nodes);
            let maps_at_once = f64::from(view.slots(Kind::Map)) / nodes as f64;
            let maps_at_once = self.settings.maps_at_once.map_or(maps_at_once, f64::from);
            self.settle(ended.job, classify(maps_at_once, self.settings.disk_rate, &map), view);
        }
    }

    // Launches.

    /// Counts the tasks on a node by queue and kind.
    fn count_running(&mut self, view: View<'_>, node: NodeId) {
        self.running = Default::default();
        for kind in Kind::BOTH {
            for run in view.runs_on(node, kind) {
                self.count_task(view.job_of(run.task), kind);
            }
        }
    }

    /// True if the first job that waits may give a map to some node.
    fn may_sample_anywhere(&self, view: View<'_>) -> bool {
        self.queues[Queue::Wait as usize].get(0).is_some_and(|job| match &self.jobs[job].nature {
            Nature::Unknown(samples) => {
                let is_everywhere =
                    self.settings.samples_per_node <= 1 && samples.nodes() as usize >= view.node_count();
                !is_everywhere && view.job(job).ready(Kind::Map) > 0
            }
            Nature::Known(_) => false,
        })
    }

    /// The first job that waits gives a map to each node.
    fn sample(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let Some(job) = self.queues[Queue::Wait as usize].get(0) else { return Ok(()) };
        while self.may_sample(offer) && offer.free(Kind::Map) > 0 && self.launch_map(job, offer)? {}
        Ok(())
    }

    /// True if a queue has a task of a kind that could be launched now.
    fn wants(&mut self, queue: Queue, kind: Kind, view: View<'_>) -> bool {
        let known = &mut self.wants[queue as usize][kind.index()];
        let any_ready = || self.queues[queue as usize].iter().any(|job| view.job(job).ready(kind) > 0);
        match *known {
            Some((version, wants)) if version == view.version() => {
                debug_assert_eq!(wants, any_ready());
                wants
            }
            _ => known.insert((view.version(), any_ready())).1,
        }
    }

    /// True if a heartbeat can launch anything.
    fn can_launch(&mut self, offer: &Offer<'_, '_>) -> bool {
        let view = offer.view();
        Kind::BOTH.into_iter().any(|kind| {
            offer.free(kind) > 0
                && view.ready(kind) > 0
                && (self.wants(Queue::Cpu, kind, view)
                    || self.wants(Queue::Io, kind, view)
                    || kind == Kind::Map && self.may_sample(offer))
        })
    }

    /// True if the first job that waits takes a sample on this node.
    fn may_sample(&self, offer: &Offer<'_, '_>) -> bool {
        self.queues[Queue::Wait as usize].get(0).is_some_and(|job| match &self.jobs[job].nature {
            Nature::Unknown(samples) => samples.taken_on(offer.node()) < self.settings.samples_per_node,
            Nature::Known(_) => false,
        })
    }

    /// Gives a queue its slots of a kind; while the other one has no such task to launch, also that one's.
    fn fill(&mut self, queue: Queue, kind: Kind, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        let slots = offer.view().node_slots(offer.node(), kind);
        let [cpu, io] = self.settings.quotas(kind).of(slots);
        let (first, other, others) = if queue == Queue::Cpu { (cpu, Queue::Io, io) } else { (io, Queue::Cpu, cpu) };
        let mut place = 0;
        while let Some(job) = self.queues[queue as usize].get(place) {
            let running = self.running[queue as usize][kind.index()];
            let is_full = running >= first && (running >= first + others || self.wants(other, kind, offer.view()));
            if offer.free(kind) == 0 {
                break;
            }
            if is_full {
                self.keep_from(queue, kind, offer.view());
                break;
            }
            let launched = match kind {
                Kind::Map => self.launch_map(job, offer)?,
                Kind::Reduce => self.launch_reduce(job, offer)?,
            };
            // Hadoop's own queue launches one reduce at a heartbeat, so that the reduces of a job do not end up on one node.
            if launched && kind == Kind::Reduce {
                break;
            }
            // A job that has no task for this slot has none for the next one either.
            place += usize::from(!launched);
        }
        Ok(())
    }

    /// Reports that what is free is not for the jobs of a queue: the slots belong to another one. While nothing happens, many nodes
    /// say so in turn; the first is enough.
    fn keep_from(&mut self, queue: Queue, kind: Kind, view: View<'_>) {
        let reported = &mut self.reported[queue as usize][kind.index()];
        if view.wants_reasons() && std::mem::replace(reported, view.version()) != view.version() {
            self.queues[queue as usize].iter().for_each(|job| view.pass_over(job, kind, Reason::Reserve));
        }
    }

    fn launch_map(&mut self, job: JobId, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let launched = offer.launch_map(job, Reach::Any)?.is_some();
        if launched {
            self.count_task(job, Kind::Map);
            if let Nature::Unknown(samples) = &mut self.jobs[job].nature {
                samples.launched(offer.node());
            }
        }
        Ok(launched)
    }

    fn launch_reduce(&mut self, job: JobId, offer: &mut Offer<'_, '_>) -> Result<bool, Violation> {
        let launched = offer.launch_reduce(job)?;
        if launched {
            self.count_task(job, Kind::Reduce);
            let state = &mut self.jobs[job];
            let first = !std::mem::replace(&mut state.reducing, true);
            if let (true, Nature::Known(class)) = (first, &state.nature) {
                let class = *class;
                self.settle(job, class, offer.view());
                self.count_running(offer.view(), offer.node());
            }
        }
        Ok(launched)
    }

    fn count_task(&mut self, job: JobId, kind: Kind) {
        if let Some(queue) = self.jobs[job].queue {
            self.running[queue as usize][kind.index()] += 1;
        }
    }
}

impl Policy for TripleQueue {
    fn job_submitted(&mut self, job: JobId, view: View<'_>) {
        let quotas = self.settings.quotas(Kind::Map);
        let io_slots = |node| quotas.of(view.node_slots(node, Kind::Map))[1] as usize;
        self.watch.fix_window(|| view.nodes().map(io_slots).sum());
        if view.job(job).desired(Kind::Map) == 0 {
            self.settle(job, Class::Cpu, view);
        } else {
            self.put(job, Queue::Wait, view);
            self.fill_empty_queues(view);
        }
    }

    fn job_finished(&mut self, job: JobId, view: View<'_>) {
        self.take_out(job);
        self.fill_empty_queues(view);
    }

    fn declines(&self, view: View<'_>) -> bool {
        let runs = |queue: Queue, kind| self.queues[queue as usize].iter().any(|job| view.job(job).ready(kind) > 0);
        let may_launch = |kind| {
            view.ready(kind) > 0
                && (runs(Queue::Cpu, kind)
                    || runs(Queue::Io, kind)
                    || kind == Kind::Map && self.may_sample_anywhere(view))
        };
        !view.wants_reasons() && !Kind::BOTH.into_iter().any(may_launch)
    }

    fn task_finished(&mut self, ended: &AttemptEnd, view: View<'_>) {
        if ended.kind == Kind::Map {
            if self.jobs[ended.job].queue == Some(Queue::Io)
                && ended.outcome == Outcome::Success
                && let Some(job) = self.watch.io_map_ended(ended)
            {
                self.settle(job, Class::Io, view);
            }
            self.sample_ended(ended, view);
        }
    }

    fn heartbeat(&mut self, offer: &mut Offer<'_, '_>) -> Result<(), Violation> {
        if !offer.view().wants_reasons() && !self.can_launch(offer) {
            return Ok(());
        }
        self.count_running(offer.view(), offer.node());
        self.sample(offer)?;
        for kind in Kind::BOTH {
            for queue in [Queue::Cpu, Queue::Io] {
                if offer.view().ready(kind) > 0 {
                    self.fill(queue, kind, offer)?;
                }
            }
            // A job whose class is not known has no slots but those for its samples.
            if offer.free(kind) > 0 {
                self.keep_from(Queue::Wait, kind, offer.view());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{JobSpec, Launch, MapSpec, Scenario, job, map};
    use resched_tables::model::{Priority, Reason};

    const MIB: u64 = 1 << 20;

    /// A map of so many ms that reads and writes so many MiB; its input lies on node 0.
    fn sized(run: i64, input: u64, output: u64) -> MapSpec {
        map(run).on(&[0]).bytes(input * MIB, output * MIB)
    }

    /// Grep-Count of Table I.
    fn cpu_map() -> MapSpec {
        sized(92_000, 64, 1)
    }

    /// TeraSort of Table I.
    fn io_map() -> MapSpec {
        sized(8_000, 64, 64)
    }

    /// A map of a job that is bound by the processor, however short.
    fn short_cpu_map() -> MapSpec {
        sized(2_000, 1, 0)
    }

    /// The paper's nodes, with a heartbeat a second.
    fn nodes(nodes: usize) -> Scenario {
        Scenario::nodes(nodes, 8, 8).heartbeat(1_000)
    }

    /// When and where a job launched its maps, from one time to another, s.
    fn maps(launches: &[Launch], job: &str, from: f64, to: f64) -> Vec<(f64, usize)> {
        let of_job = launches.iter().filter(|launch| launch.job == job && launch.task.contains("_m_"));
        of_job
            .map(|launch| (launch.at as f64 / 1_000.0, launch.node))
            .filter(|&(at, _)| at >= from && at <= to)
            .collect()
    }

    #[test]
    fn a_job_that_waits_gives_one_map_to_each_node_and_is_then_classed() {
        let world = || {
            let everywhere = |map: MapSpec| map.on(&[0, 1, 2]);
            nodes(3)
                .job(job("job_1_0001").maps(200, everywhere(cpu_map())))
                .job(job("job_1_0002").at(10_000).maps(200, everywhere(io_map())))
                .job(job("job_1_0003").at(20_000).maps(200, everywhere(io_map())))
        };
        let launches = world().launches("triple-queue");
        // The first job found both queues empty and took all slots. Its maps end at 92; the samples come before its next.
        assert_eq!(maps(&launches, "job_1_0001", 0.0, 0.0).len(), 24);
        assert_eq!(maps(&launches, "job_1_0002", 0.0, 99.0), [(92.0, 0), (92.0, 1), (92.0, 2)]);
        assert_eq!(maps(&launches, "job_1_0001", 92.0, 99.0).len(), 21);
        // The samples end at 100. Nodes 0 and 1 report before the last has; then the next job that waits is sampled.
        assert_eq!(maps(&launches, "job_1_0001", 100.0, 100.0), [(100.0, 0), (100.0, 1)]);
        assert_eq!(maps(&launches, "job_1_0003", 0.0, 100.0), [(100.0, 2)]);

        // One of three samples is enough: the second job is classed as soon as node 0 reports.
        let launches = world().launches("triple-queue:min_samples=0.3");
        assert_eq!(maps(&launches, "job_1_0003", 0.0, 100.0), [(100.0, 0), (100.0, 1), (100.0, 2)]);

        let launches = world().launches("triple-queue:sample_per_tracker=2");
        assert_eq!(maps(&launches, "job_1_0002", 0.0, 99.0).len(), 6);
    }

    #[test]
    fn fig3_fig4_a_job_that_found_empty_queues_changes_to_the_right_one() {
        let world = |first: MapSpec| {
            let launches = nodes(1)
                .job(job("job_1_0001").maps(400, first))
                .job(job("job_1_0002").at(1_000).maps(20, cpu_map()))
                .launches("triple-queue");
            maps(&launches, "job_1_0002", 0.0, 110.0)
        };
        // The first job starts all its maps in the CPU queue and is found to be I/O-bound at 8: so the second, once sampled, has
        // the CPU queue for itself. It gets the slot of its sample at 100 and the others of its four at 104, when maps end.
        assert_eq!(world(io_map()), [(8.0, 0), (100.0, 0), (104.0, 0), (104.0, 0), (104.0, 0)]);
        // One that belongs to the CPU queue stays there, and the second job stands behind it.
        let in_cpu_queue = sized(8_000, 1, 1);
        assert_eq!(world(in_cpu_queue), [(8.0, 0)]);
    }

    #[test]
    fn borrowed_slots_return_as_tasks_finish() {
        // The first eight maps of the CPU job end one after the other from 100 on, its next ones from 201 on.
        let runs = (0..8).map(|late| 100_000 + 1_000 * late).chain([100_000; 92]);
        let first = job("job_1_0001").each_map(runs.map(|run| sized(run, 64, 1)).collect());
        let launches = nodes(1).job(first).job(job("job_1_0002").at(1_000).maps(60, io_map())).launches("triple-queue");
        let cpu = |from, to| maps(&launches, "job_1_0001", from, to).len();
        let io = |from, to| maps(&launches, "job_1_0002", from, to).len();
        assert_eq!(cpu(0.0, 99.0), 8, "the IO queue is empty: all eight slots");
        // The I/O job is sampled from 100 to 108; until it enters its queue the CPU job goes on borrowing.
        assert_eq!((io(0.0, 107.0), cpu(100.0, 107.0)), (1, 7));
        // Then the CPU job launches nothing until fewer than four of its maps run: that is when the fourth of seven has ended.
        assert_eq!((cpu(108.0, 203.0), cpu(204.0, 204.0)), (0, 1));
        // And the I/O job gets slot after slot, up to its four.
        assert_eq!((io(108.0, 200.0), io(201.0, 201.0), io(202.0, 202.0)), (12, 1, 1));
        // It has no map left from 291 on: the CPU job borrows its slots again, as each of its maps ends.
        let last = maps(&launches, "job_1_0002", 0.0, 1_000.0).last().map(|&(at, _)| at);
        assert_eq!(last, Some(291.0));
        assert_eq!((cpu(205.0, 290.0), cpu(291.0, 298.0), cpu(299.0, 299.0)), (3, 3, 1));
    }

    #[test]
    fn slots_of_another_queue_and_slots_for_known_classes_are_kept() {
        // Three maps of the first job leave five slots, of which the second gets one for its sample.
        let world =
            nodes(1).job(job("job_1_0001").maps(3, cpu_map())).job(job("job_1_0002").at(900).maps(20, io_map()));
        let reasons = world.reasons("triple-queue", "job_1_0002");
        assert!(reasons.contains(&(1_000, Reason::Reserve, None)), "{reasons:?}");
        // From 8 on the first has borrowed all slots. When one is free, the CPU queue has its own, and the slot is the other queue's.
        let runs = (0..8).map(|late| 30_000 + 1_000 * late).chain([100_000; 92]);
        let first = job("job_1_0001").each_map(runs.map(|run| sized(run, 1, 0)).collect());
        let world = nodes(1).job(first).job(job("job_1_0002").at(1_000).maps(60, io_map()));
        let reasons = world.reasons("triple-queue", "job_1_0001");
        assert!(reasons.iter().any(|&(_, reason, _)| reason == Reason::Reserve), "{reasons:?}");
    }

    #[test]
    fn a_job_that_slows_the_io_queue_down_goes_there() {
        // The IO queue's maps take 8.0 s before the second job enters the CPU queue at 10, and those started since, at 16,
        // as long as these.
        let cpu_launches = |times: [f64; 3], policy: &str| {
            let before = [8.0; 15];
            let after = times.into_iter().chain([11.0; 200]);
            let runs = before.into_iter().chain(after).map(|time: f64| (time * 1_000.0) as i64);
            let io = job("job_1_0001").each_map(runs.map(|run| sized(run, 64, 64)).collect());
            let cpu = job("job_1_0002").at(1_000).maps(400, short_cpu_map());
            let launches = nodes(1).heartbeat(100).job(io).job(cpu).launches(policy);
            assert_eq!(maps(&launches, "job_1_0002", 0.0, 10.0), [(8.0, 0), (10.0, 0)], "its sample and its first map");
            assert_eq!(maps(&launches, "job_1_0002", 26.0, 26.0).len(), 4);
            maps(&launches, "job_1_0002", 27.7, 60.0).len()
        };
        let policy = "triple-queue:mtct_window=6";
        // 11.33 s is more than 1.4 times as long: the job goes behind the other one, and gets nothing more.
        assert_eq!(cpu_launches([11.0, 11.4, 11.6], policy), 0);
        // 11.1 s is not: it keeps its four slots.
        assert!(cpu_launches([11.0, 11.1, 11.2], policy) >= 60);
        assert!(cpu_launches([11.0, 11.4, 11.6], "triple-queue:mtct_window=6,defect_threshold=1.5") >= 60);
    }

    #[test]
    fn a_queue_launches_one_reduce_at_a_heartbeat() {
        let world = nodes(3).job(job("job_1_0001").maps(3, short_cpu_map()).reduces(6, 60_000));
        let launches = world.launches("triple-queue");
        let of_node =
            |node| launches.iter().filter(|launch| launch.node == node && launch.task.contains("_r_")).count();
        assert_eq!([0, 1, 2].map(of_node), [2, 2, 2]);
    }

    #[test]
    fn longer_maps_of_the_next_job_are_no_sign() {
        // The maps of the first job take 8 s, those of the third 16 s, whoever runs beside them. The second enters the CPU queue between
        // them and slows nobody down: it keeps its four slots, each for a map of 2 s.
        let first = job("job_1_0001").maps(20, io_map());
        let second = job("job_1_0002").at(1_000).maps(400, short_cpu_map());
        let third = job("job_1_0003").at(2_000).priority(Priority::High).maps(60, sized(16_000, 64, 64));
        let world = nodes(1).heartbeat(100).job(first).job(second).job(third);
        let launches = world.launches("triple-queue:mtct_window=6");
        assert!(maps(&launches, "job_1_0002", 60.0, 100.0).len() >= 60);
    }

    /// A CPU job of many short maps, which has the node for itself until a more important job comes at 1 s. Returns how many maps
    /// it launches from one time to another, s: none while the other job is before it in the same queue.
    fn disturbed_by(other: &JobSpec, policy: &str) -> impl Fn(f64, f64) -> usize + use<> {
        let first = job("job_1_0001").maps(1_000, short_cpu_map());
        let other = other.clone().at(1_000).priority(Priority::High);
        let launches = nodes(1).job(first).job(other).launches(policy);
        move |from, to| maps(&launches, "job_1_0001", from, to).len()
    }

    #[test]
    fn a_job_that_sways_goes_where_it_is_reported() {
        // Sampled from 2 to 37; its reduces may start once two of its maps are done, at 72.
        let sway = job("job_1_0002").maps(40, sized(35_000, 64, 64)).reduces(2, 1_000);
        let launches = |queue: &str| {
            let count = disturbed_by(&sway, &format!("triple-queue:sway_queue={queue}"));
            [count(39.0, 72.0), count(73.0, 100.0)].map(|maps| maps > 0)
        };
        assert_eq!(launches("io"), [true, true]);
        assert_eq!(launches("cpu"), [false, false]);
        assert_eq!(launches("dynamic"), [false, true]);
    }

    #[test]
    fn a_job_of_unknown_sizes_is_classed_by_its_run_time() {
        // It sways from 32.8 s to 65.6 s: in the CPU queue under the one policy, in the IO queue under the other.
        let shares = |time: i64, sway: &str| {
            let other = job("job_1_0002").maps(40, map(time).on(&[0])).reduces(1, 1_000);
            disturbed_by(&other, &format!("triple-queue:sway_queue={sway}"))(75.0, 90.0) > 0
        };
        assert!(shares(32_000, "cpu"), "I/O-bound");
        assert!(!shares(33_000, "cpu") && shares(33_000, "io"), "sways");
        assert!(!shares(65_000, "cpu") && shares(65_000, "io"), "sways");
        assert!(!shares(66_000, "io"), "CPU-bound");
    }
}
