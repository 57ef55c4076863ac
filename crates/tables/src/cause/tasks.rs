//! Causes of tasks and attempts.

use super::causes;

causes! {
    UBER_JOB: "uber-job", Assumed,
        "A job ran its tasks one after another in the container of its master (uber mode).",
        "A replay gives each task a container. From 5 % of the jobs on, the answer is *assumed*.",
        "";
    TASK_RECORD_MISSING: "task-record-missing", Assumed,
        "A task has attempts and no record of its own. Its row is made from its attempts, with an unknown outcome.",
        "None for its run time.",
        "";
    SURPLUS_SPLITS: "surplus-splits", LeftOut,
        "A task names more places of its input than the limit.",
        "Some places that would be local are not.",
        "See the page of limits.";
    JOB_WITHOUT_TASKS_IN_SOURCE: "job-without-tasks-in-source", LeftOut,
        "The list has jobs and no tasks.",
        "The jobs cannot be replayed. Their waits can be shown.",
        "Ingest the histories of the jobs.";
    JOB_WITHOUT_JOB_EVENTS: "job-without-job-events", Assumed,
        "A job has tasks and no events of its own. Its times are those of its tasks.",
        "Its submission may be later than it was.",
        "Ingest the table of job events as well.";
    INSTANCES_WITHOUT_TASK: "instances-without-task", Assumed,
        "Instances name a task that the table of tasks lacks. Its row is made from them, without requests.",
        "Its requests are those of the job, or one core.",
        "Ingest the table of tasks as well.";
    INSTANCE_OF_NO_TASK: "instance-of-no-task", LeftOut,
        "An instance names no task or no job.",
        "Its load is missing.",
        "";
    TASK_WITHOUT_JOB: "task-without-job", LeftOut,
        "A task belongs to a job whose start is not in the log.",
        "The replay has less load than there was. From 5 % of the tasks on, the answer is *assumed*.",
        "Ingest the log from its beginning.";
    JOB_END_WITHOUT_START: "job-end-without-start", LeftOut,
        "A job ends whose start is not in the log, or that has ended.",
        "A job whose start is missing is missing.",
        "Ingest the log from its beginning.";
    STAGE_RETRY_GUESSED: "stage-retry-guessed", Assumed,
        "A later attempt at a stage runs tasks again, and the log does not say which.",
        "Which task ran twice is a guess. From 5 % of the tasks on, the answer is *assumed*.",
        "";
    PREFERRED_HOSTS_UNKNOWN: "preferred-hosts-unknown", LeftOut,
        "A task prefers hosts that ran nothing of its application, so that the log does not name them.",
        "In a replay, it waits as a task does that is on none of its hosts.",
        "";
    TOO_MANY_ATTEMPTS: "too-many-attempts", LeftOut,
        "A log has more attempts than are kept at once.",
        "Their load is missing.",
        "See the page of limits.";
    TOO_MANY_TASKS: "too-many-tasks", LeftOut,
        "A job has more tasks than the limit. It is left out, or has no tasks if a rule would make them.",
        "The job is not replayed.",
        "See the page of limits. Rules make fewer tasks if each is larger (`--tasks`).";
    POD_SET_WITHOUT_PODS: "pod-set-without-pods", LeftOut,
        "A pod set has 0 pods.",
        "None: it asks for nothing.",
        "";
    TOO_MANY_JOBS: "too-many-jobs", LeftOut,
        "An entry stands for more jobs than the limit. As many as the limit are taken.",
        "The others are missing.",
        "See the page of limits.";
}
