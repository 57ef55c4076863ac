//! The tables of a report: what became of each job in each run, its phases, and who made it wait.

use resched_tables::standing::Standing;
use resched_tables::table;

table! {
    /// A job in a run of a report.
    ComparedJobRow in "jobs" {
        /// The label of the run, as the report shows it.
        run: String,
        /// The id of the job.
        job_id: String,
        /// The name its user gave it.
        name: Option<String>,
        /// Whether it counts in the numbers of the report, or why not.
        standing: Standing,
        /// True if its waits and its use count: it started in every run that is compared, whatever became of it.
        started: Option<bool>,
        /// When it was submitted, ms.
        submit: Option<i64> ["ms"],
        /// When it ended, ms.
        finish: Option<i64> ["ms"],
        /// From its submission to its end, ms.
        completion: Option<i64> ["ms"],
        /// From its submission to its first task, ms.
        waiting: Option<i64> ["ms"],
        /// From its first task to its end, ms.
        execution: Option<i64> ["ms"],
        /// Its completion over the time that it would take alone.
        slowdown: Option<f64>,
        /// Its tasks that were done.
        tasks_done: i64 ["tasks"],
        /// The sum of the run times of all its attempts, ms.
        slot_time: i64 ["ms"],
        /// Who submitted it.
        user: Option<String>,
        /// The queue or pool it was submitted to.
        queue: Option<String>,
        /// The mean time by which its reduces started after its last map, ms.
        starvation: Option<f64> ["ms"],
        /// The mean time that its attempts were queued, ms.
        queueing: Option<f64> ["ms"],
        /// Its maps that were launched on a node with their input.
        node_local: i64 ["maps"],
        /// Its maps that were launched in the rack of such a node.
        rack_local: i64 ["maps"],
        /// Its maps that were launched elsewhere.
        off_rack: i64 ["maps"],
        /// Its attempts that were evicted to make room for others.
        evictions: i64 ["attempts"],
    }
}

table! {
    /// How long a job was in a phase in a run of a report. The phases of a job add up to its completion time. The table has the jobs of the
    /// page: those that count, under the first seed of each policy. If there are very many, it has every second or third job, and so on.
    JobPhaseRow in "phases" {
        /// The label of the run, as `jobs` has it.
        run: String,
        /// The id of the job.
        job_id: String,
        /// The name of the phase, as `resched explain --json` has it.
        phase: String,
        /// How long the job was in it, ms.
        time: i64 ["ms"],
    }
}

table! {
    /// The jobs that made a job wait in a run of a report. The times of a job add up to its time in the phases that are waits, by job, by
    /// user and by queue. The table has the same jobs as `phases`, and no rows by user or by queue if there is only one.
    JobBlameRow in "blame" {
        /// The label of the run, as `jobs` has it.
        run: String,
        /// The id of the job that waited.
        job_id: String,
        /// What the row is about: `job`, `user` or `queue`.
        by: String,
        /// `job` (a job, or the jobs of a user or queue), `others` (all that are not named), `idle` (the resources that it waited for were
        /// free, or its machine was lost) or `rule` (the policy or Hadoop held it back, or it was set up, cleaned up, or waited for its
        /// own earlier stages).
        holder: String,
        /// The id of the job, or the name of the user or queue, that caused the wait; null if it is unknown or there is none.
        name: Option<String>,
        /// The waiting time that it caused, ms.
        time: i64 ["ms"],
    }
}
