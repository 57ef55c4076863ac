//! Causes of `resched export`, beside the columns that a format has no place for.

use super::causes;

causes! {
    TIMES_NOT_OBSERVED: "times-not-observed", Assumed,
        "A rule made the times of the trace, and a reader of the export cannot see it.",
        "Do not take them for times of a real run.",
        "";
    APPLICATION_MASTER: "application-master", LeftOut,
        "The container of an application master is no work of its job.",
        "The job holds one container less in the export.",
        "";
    JOB_WITHOUT_RUN_TIME: "job-without-run-time", LeftOut,
        "A job never ran, or nobody knows when it did.",
        "It is missing in the export.",
        "";
    TASK_WITHOUT_RUN_TIME: "task-without-run-time", LeftOut,
        "A task never ran, or nobody knows for how long.",
        "It is missing in the export.",
        "";
    GANG_DIVIDED: "gang-divided", Mended,
        "A job holds several machines at once, and a task of the format runs on one. It becomes a task for each machine.",
        "Its parts need not start together in the other tool.",
        "";
    SPEED_OF_CORES_ASSUMED: "speed-of-cores-assumed", Assumed,
        "The format wants the speed of cores, and a trace has none. Each counts as 1,000 MHz.",
        "Run times are right if the cores of the topology have that speed, too.",
        "Give the hosts of the topology a `coreSpeed` of 1000.";
    JOB_WITHOUT_SUBMISSION: "job-without-submission", LeftOut,
        "Nobody knows when a job was submitted.",
        "It is missing in the export.",
        "";
    TIMES_WITHOUT_DATES: "times-without-dates", Assumed,
        "The format wants dates, and the times of the trace have none. They count from 1970.",
        "Do not read the dates of the export.",
        "";
    JOB_OF_SEVERAL_TASKS: "job-of-several-tasks", Merged,
        "The format has one task for each job. A job of several counts with the most that it held at once.",
        "The export has less detail than the trace.",
        "";
}
