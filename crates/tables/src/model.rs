//! The rows of the six tables and their enumerations.
//!
//! Each struct is one table and each field one column, declared by `table!`: the Arrow schema (with the field's
//! documentation as its metadata), the writer and the reader all come from that one declaration.
//! Times are integer milliseconds (since the epoch or the trace's zero, see `Manifest::time_zero`), sizes integer bytes.
//! Unknown is null, never 0 or −1.

use crate::{enumeration, table};

/// Milliseconds, of the clock of a trace or of a simulated one.
pub type Ms = i64;

/// Longer than any attempt or trace (100 years). A longer time in a trace is damage.
pub const LONGEST: Ms = 100 * 366 * 86_400_000;

/// The time that Slurm plans for a job that may run without a limit, ms: a year.
pub const NO_LIMIT: Ms = 365 * 86_400_000;

/// The framework of jobs that Hadoop's MapReduce ran, in the jobs table.
pub const MAPREDUCE: &str = "mapreduce";

enumeration! {
    /// How a job, task or attempt ended.
    Outcome {
        /// It did its work (`SUCCESS`, `SUCCEEDED`, `Terminated`, `FINISH`).
        Success = "SUCCESS",
        /// It failed by itself.
        Failed = "FAILED",
        /// A user or the scheduler ended it.
        Killed = "KILLED",
        /// The log ends before it does.
        Incomplete = "INCOMPLETE",
        /// Its node was lost.
        Lost = "LOST",
        /// It was evicted to make room for another.
        Evicted = "EVICTED",
        /// The source does not say.
        Unknown = "UNKNOWN" default,
    }
}

enumeration! {
    /// What a task does.
    TaskKind {
        /// A map task.
        Map = "map",
        /// A reduce task.
        Reduce = "reduce",
        /// A job's set-up task (Hadoop 0.20 and 1.x).
        Setup = "setup",
        /// A job's clean-up task (Hadoop 0.20 and 1.x).
        Cleanup = "cleanup",
        /// The application master of a YARN job. It does none of the job's work. In a replay, its row lasts as long as it holds its
        /// container, until a heartbeat of its node after the job's last task. In a trace, it lasts from the start of the master to
        /// the end of the job; of a master that was lost, the end is not known.
        Master = "master",
        /// Anything else; `stage` says more where the source does.
        Other = "other" default,
    }
}

enumeration! {
    /// A job's priority, in Hadoop's five steps.
    Priority {
        /// Served first.
        VeryHigh = "VERY_HIGH",
        /// Before normal.
        High = "HIGH",
        /// The default.
        Normal = "NORMAL" default,
        /// After normal.
        Low = "LOW",
        /// Served last.
        VeryLow = "VERY_LOW",
    }
}

enumeration! {
    /// How near a map ran to its input.
    Locality {
        /// On a node that holds it.
        Node = "node",
        /// In a rack of such a node.
        Rack = "rack",
        /// Elsewhere.
        Off = "off" default,
    }
}

enumeration! {
    /// What happened to a machine.
    NodeChange {
        /// It joined.
        Add = "add" default,
        /// It left.
        Remove = "remove",
        /// Its capacity changed.
        Update = "update",
    }
}

enumeration! {
    /// What a counter counts for.
    CounterScope {
        /// A whole job.
        Job = "job" default,
        /// The maps of a job.
        Map = "map",
        /// The reduces of a job.
        Reduce = "reduce",
        /// One task.
        Task = "task",
        /// One attempt; its id is `<task_id>/<attempt>`.
        Attempt = "attempt",
    }
}

enumeration! {
    /// Why a policy passed over a job, some of whose tasks could run.
    Reason {
        /// The job waits only for its turn.
        None = "none" default,
        /// The job is not initialised or set up yet.
        Starting = "starting",
        /// The job has no application master yet.
        Master = "master",
        /// The node is too far from the input of its tasks, and the policy waits for a nearer one.
        Locality = "locality",
        /// The node is worse than the next ones are expected to be, so that the policy waits for them.
        Mismatch = "mismatch",
        /// The node is not among the nearest to the input of its tasks.
        NotNearest = "not-nearest",
        /// Too few of its maps are done for more reduces.
        Ramp = "ramp",
        /// Its user is at the limit for one user.
        UserLimit = "user-limit",
        /// Its queue or pool is at its limit.
        QueueLimit = "queue-limit",
        /// Its queue or pool is at its limit of running jobs or application masters.
        JobLimit = "job-limit",
        /// The free resources are reserved for other jobs.
        Reserve = "reserve",
        /// Its start would delay a job ahead of it.
        Backfill = "backfill",
        /// No machine has room for one of its tasks.
        Fit = "fit",
        /// A machine was lost, and the master has given up the tasks on it.
        NodeLost = "node-lost",
        /// A job ahead of it finds no room, and stops the jobs behind it.
        Priority = "priority",
        /// No flavour of its ClusterQueue has quota enough for it (Kueue).
        NoFit = "no-fit",
        /// It would have to preempt, and there is nobody whom it may preempt (Kueue).
        NoCandidates = "no-candidates",
        /// The workloads that it preempts have not ended (Kueue).
        PendingPreemption = "pending-preemption",
        /// Another workload of the same cycle took the quota that it was nominated for (Kueue).
        Skipped = "skipped",
        /// Its ClusterQueue does not take its namespace, or no queue has its name (Kueue).
        NoQueue = "no-queue",
        /// It is not tried, because one of the same shape found no quota (Kueue).
        Equivalent = "equivalent",
    }
}

impl Reason {
    /// Whether it only counts while places are free: it ends once there are none. The others matter before any place does, or even so.
    pub fn needs_free_places(self) -> bool {
        !matches!(self, Self::Starting | Self::Master | Self::JobLimit | Self::NodeLost)
    }
}

table! {
    /// A job.
    JobRow in "jobs" {
        /// The job's id, unique in the trace.
        job_id: String,
        /// The name its user gave it.
        name: Option<String>,
        /// Who submitted it.
        user: Option<String>,
        /// The queue or pool it was submitted to; in Kueue, `namespace/LocalQueue`.
        queue: Option<String>,
        /// Its priority.
        priority: Option<Priority>,
        /// Its priority, as a number of the source, if it has one; larger is served first.
        priority_number: Option<i64>,
        /// Latency sensitivity, as in the source (Google: 0 to 3, 3 is the most sensitive).
        scheduling_class: Option<i64>,
        /// The Spark application or the user group that it belongs to.
        group: Option<String>,
        /// What ran it: `mapreduce`, `spark`, …
        framework: Option<String>,
        /// When it was submitted, ms.
        submit: Option<i64> ["ms"],
        /// When the master launched it (in a run: when its first task started), ms.
        launch: Option<i64> ["ms"],
        /// When it ended, ms.
        finish: Option<i64> ["ms"],
        /// How it ended.
        outcome: Outcome,
        /// Maps that it announced (the tasks table has those that were logged).
        declared_maps: Option<i64>,
        /// Reduces that it announced.
        declared_reduces: Option<i64>,
        /// Bytes its maps read from the file system.
        input_bytes: Option<i64> ["bytes"],
        /// Bytes its reduces fetched from its maps.
        shuffle_bytes: Option<i64> ["bytes"],
        /// Bytes it wrote to the file system.
        output_bytes: Option<i64> ["bytes"],
        /// Containers, processors or instances that it asked for.
        requested_containers: Option<i64>,
        /// Processor time it asked for per container, in thousandths of a core.
        requested_cpu: Option<i64> ["1/1000 core"],
        /// Memory it asked for per container, bytes.
        requested_memory: Option<i64> ["bytes"],
        /// The longest run time that its user asked for, ms.
        requested_time: Option<i64> ["ms"],
        /// Ids of the jobs that must end before it starts.
        depends_on: Vec<String>,
        /// The time from which it could start, if that is later than its submission (it was held, had a start time, or waited for other
        /// jobs), ms.
        eligible: Option<i64> ["ms"],
        /// The array that it is a task of, if only so many of its tasks may run at once (Slurm).
        array: Option<String>,
        /// How many tasks of that array may run at once (Slurm: `--array=0-99%5`).
        array_limit: Option<i64>,
        /// The heterogeneous job that it is a component of: all components start at once (Slurm).
        together: Option<String>,
        /// What its user took off its priority (Slurm: `--nice`).
        nice: Option<i64>,
        /// The quality of service that it was submitted under (Slurm); its WorkloadPriorityClass (Kueue).
        qos: Option<String>,
        /// The reservation of machines that it may use (Slurm: `--reservation`).
        reservation: Option<String>,
        /// The features that its machines must have, as the source writes them (Slurm: `--constraint`).
        features: Option<String>,
        /// Resources of the whole cluster that it takes while it runs: `name=count`, joined by commas (`license/matlab=1`).
        licenses: Option<String>,
        /// Processor that its tasks ask for together: those of one stage, the largest over its stages, in thousandths of a core.
        demand_cpu: Option<i64> ["1/1000 core"],
        /// The same for memory, bytes.
        demand_memory: Option<i64> ["bytes"],
        /// The same for other resources: `name=count`, joined by commas (`gres/gpu=8`).
        demand_resources: Option<String>,
        /// The number of machines that it asks for; null: any number.
        demand_machines: Option<i64>,
        /// Why it waited last, in the words of the source (Slurm's `Reason`, such as `QOSMaxCpuPerUserLimit`).
        wait_reason: Option<String>,
    }
}

table! {
    /// A task of a job. The rows of a job are consecutive, with the jobs in the order of the jobs table.
    TaskRow in "tasks" {
        /// The job it belongs to.
        job_id: String,
        /// The task's id, unique in the trace.
        task_id: String,
        /// What it does.
        kind: TaskKind,
        /// The stage it belongs to, if a job has other stages than map and reduce.
        stage: Option<String>,
        /// The stages that must end before it starts.
        depends_on: Vec<String>,
        /// When it started, by the master's clock, ms.
        start: Option<i64> ["ms"],
        /// When it ended, by the master's clock, ms.
        finish: Option<i64> ["ms"],
        /// How it ended.
        outcome: Outcome,
        /// Bytes of its input.
        input_bytes: Option<i64> ["bytes"],
        /// Records of its input.
        input_records: Option<i64>,
        /// Bytes of its output.
        output_bytes: Option<i64> ["bytes"],
        /// Records of its output.
        output_records: Option<i64>,
        /// Processor it asked for, in thousandths of a core.
        cpu_request: Option<i64> ["1/1000 core"],
        /// Memory it asked for, bytes.
        memory_request: Option<i64> ["bytes"],
        /// How many instances of it run, each with these requests; null: one.
        instances: Option<i64>,
        /// Whether its instances start together or not at all (the processors of a parallel job).
        gang: Option<bool>,
        /// Other resources that each instance asks for: `name=count`, joined by commas (`gres/gpu=2`).
        resources: Option<String>,
        /// The number of machines that its instances need; null: any number.
        machines: Option<i64>,
        /// Whether its machines run nothing else at the same time.
        exclusive: Option<bool>,
        /// Labels that its machines must have: `key=value`, joined by semicolons (Kubernetes: `nodeSelector`).
        node_selector: Option<String>,
        /// The taints of machines that it tolerates, joined by semicolons: `key=value`, or `key` for any value, with `:effect` behind it for
        /// one effect only; `*` for every key (Kubernetes).
        tolerations: Option<String>,
        /// The terms of its required node affinity, one of which must hold: `nodeSelectorTerms` as compact JSON (Kubernetes).
        affinity: Option<String>,
    }
}

table! {
    /// One try at a task. The rows of a task are consecutive, with the tasks in the order of the tasks table.
    AttemptRow in "attempts" {
        /// The job it belongs to.
        job_id: String,
        /// The task it is a try at.
        task_id: String,
        /// What the task does (as in the tasks table, so that attempts can be counted without a join).
        kind: TaskKind,
        /// Its number among the tries at this task, from 0.
        attempt: i64,
        /// When it was requested: from then on, it waited for a place, ms.
        queued: Option<i64> ["ms"],
        /// When it started, by its node's clock, ms.
        start: Option<i64> ["ms"],
        /// When a reduce had all its input, ms.
        shuffle_finish: Option<i64> ["ms"],
        /// When a reduce had sorted its input, ms.
        sort_finish: Option<i64> ["ms"],
        /// When it ended, by its node's clock, ms.
        finish: Option<i64> ["ms"],
        /// How long it ran, if the source gives that but not when it started; else null, as `start` and `finish` have it, ms.
        run_time: Option<i64> ["ms"],
        /// How it ended.
        outcome: Outcome,
        /// Where it ran.
        host: Option<String>,
        /// The rack of that host.
        rack: Option<String>,
        /// How near its input it ran (maps with known places of input only).
        locality: Option<Locality>,
        /// Whether it was a backup of another running attempt.
        speculative: Option<bool>,
        /// Its error text, if it failed.
        error: Option<String>,
        /// Bytes read from HDFS.
        hdfs_bytes_read: Option<i64> ["bytes"],
        /// Bytes written to HDFS.
        hdfs_bytes_written: Option<i64> ["bytes"],
        /// Bytes read from local disks.
        file_bytes_read: Option<i64> ["bytes"],
        /// Bytes written to local disks.
        file_bytes_written: Option<i64> ["bytes"],
        /// Bytes a map took in, after decompression.
        map_input_bytes: Option<i64> ["bytes"],
        /// Bytes a map handed to the shuffle.
        map_output_bytes: Option<i64> ["bytes"],
        /// Bytes a reduce fetched.
        reduce_shuffle_bytes: Option<i64> ["bytes"],
        /// Records written to disk in sorting.
        spilled_records: Option<i64>,
        /// Processor time, ms.
        cpu_ms: Option<i64> ["ms"],
        /// Resident memory, bytes.
        physical_memory: Option<i64> ["bytes"],
        /// Processor that a replay held for it, in thousandths of a core.
        cpu_request: Option<i64> ["1/1000 core"],
        /// Memory that a replay held for it, bytes.
        memory_request: Option<i64> ["bytes"],
        /// Other resources and licences that a replay held for it, by name: `gres/gpu=2,license/matlab=1`.
        resources: Option<String>,
        /// The flavours that its resources were taken from: `resource=flavour`, joined by commas (Kueue).
        flavors: Option<String>,
        /// Where a gang ran that ran on several machines: lists of hosts, each with the number of instances on each of them
        /// (`n[01-04]*16;n05*2`); without a number, all have the same. Null for more than 1,000 machines.
        hosts: Option<String>,
    }
}

table! {
    /// A preferred place of a task's input. Grouped by task, in the order of the tasks table.
    SplitRow in "splits" {
        /// The task.
        task_id: String,
        /// The place's number among those of the task, from 0.
        ordinal: i64,
        /// The host that holds a replica.
        host: Option<String>,
        /// The rack of that host.
        rack: Option<String>,
        /// Bytes of the input held there.
        bytes: Option<i64> ["bytes"],
    }
}

table! {
    /// Something that happened to a machine.
    NodeRow in "nodes" {
        /// The machine.
        host: String,
        /// Its rack.
        rack: Option<String>,
        /// When it happened, ms; null: it was there from the start.
        time: Option<i64> ["ms"],
        /// What happened.
        event: NodeChange,
        /// Maps it runs at once.
        map_slots: Option<i64>,
        /// Reduces it runs at once.
        reduce_slots: Option<i64>,
        /// Processor it offers, in thousandths of a core.
        cpu: Option<i64> ["1/1000 core"],
        /// Memory it offers, bytes.
        memory: Option<i64> ["bytes"],
        /// The application that owns it, if it is an executor; null: it serves all.
        group: Option<String>,
        /// Other resources that it offers: `name=count`, joined by commas (`gres/gpu=4`).
        resources: Option<String>,
        /// Its features, joined by commas (Slurm); its labels, `key=value` (Kubernetes).
        features: Option<String>,
        /// The taints that keep tasks away: `key=value:effect`, joined by semicolons (Kubernetes).
        taints: Option<String>,
    }
}

table! {
    /// A counter that no other table has as a column. The table is written on request only.
    CounterRow in "counters" {
        /// What it counts for.
        scope: CounterScope,
        /// The id of that job, task or attempt.
        id: String,
        /// The counter's group.
        group: String,
        /// The counter's name.
        name: String,
        /// Its value.
        value: i64,
    }
}

table! {
    /// Something that a policy decided in a replay. Only some policies report decisions, and the table is written on request only.
    DecisionRow in "decisions" {
        /// When, ms of the simulated clock.
        time: i64 ["ms"],
        /// What it decided, such as `delta`.
        name: String,
        /// The job that it is about; null: it is about all.
        job_id: Option<String>,
        /// What it chose.
        value: f64,
        /// The job for which it was decided, such as the one that another was evicted for; null: none.
        other_job: Option<String>,
    }
}

table! {
    /// A change of the reason why a job is passed over. Written on request only, with the decisions.
    ReasonRow in "reasons" {
        /// When, ms of the simulated clock.
        time: i64 ["ms"],
        /// The job that was passed over; null: all jobs, because no place for tasks of this kind was free.
        job_id: Option<String>,
        /// The kind of the tasks that it could have run.
        kind: TaskKind,
        /// Why it was passed over. The reason holds until the next row of this job, or of all jobs, and this kind.
        reason: Reason,
        /// The job that the reason is about, such as the one that a node is kept for; null: none.
        other_job: Option<String>,
    }
}

table! {
    /// The use of a machine by its tasks in a replay under the cost model `contention`, on average since the previous row.
    ResourceRow in "resources" {
        /// The end of the time that the row covers, ms of the simulated clock.
        time: i64 ["ms"],
        /// The machine.
        host: String,
        /// Share of its cores that worked, from 0 to 1; 0 where they are unlimited.
        cpu: f64,
        /// Share of its cores that were idle while a task waited for the disk.
        io_wait: f64,
        /// Read from and written to its disks, bytes per second.
        disk: f64 ["bytes/s"],
        /// Received from other machines, bytes per second.
        net_in: f64 ["bytes/s"],
        /// Sent to other machines, bytes per second.
        net_out: f64 ["bytes/s"],
    }
}

/// A job with all that belongs to it: what a reader hands over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobRecord {
    /// The row of the jobs table.
    pub job: JobRow,
    /// Its tasks, in the order of the source.
    pub tasks: Vec<TaskRecord>,
    /// Its counters, where they were asked for.
    pub counters: Vec<CounterRow>,
}

/// A task with its places of input and its attempts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskRecord {
    /// The row of the tasks table.
    pub task: TaskRow,
    /// Rows of the splits table.
    pub splits: Vec<SplitRow>,
    /// Rows of the attempts table.
    pub attempts: Vec<AttemptRow>,
}
