//! Causes of jobs that wait for jobs.

use super::causes;

causes! {
    DEPENDENCY_NOT_READ: "dependency-not-read", LeftOut,
        "A job waited for others in a way that is not read: for a start, or for any one of several.",
        "It waits as long as in the log, under every policy. From 5 % of the jobs on, the answer is *assumed*.",
        "";
    DEPENDENCY_ON_UNKNOWN_JOB: "dependency-on-unknown-job", LeftOut,
        "A job waited for a job that the log lacks, or that was submitted later.",
        "It waits as long as in the log, under every policy. From 5 % of the jobs on, the answer is *assumed*.",
        "List a longer time.";
    DEPENDENCY_NEVER_SATISFIED: "dependency-never-satisfied", LeftOut,
        "A job waited for the success of a job that ended in another way.",
        "If it ran all the same, its dependency was changed later, and it waits as in the log.",
        "";
    DEPENDENCY_ON_TOO_MANY_JOBS: "dependency-on-too-many-jobs", LeftOut,
        "A job waited for more jobs than the limit.",
        "It waits as long as in the log, under every policy.",
        "See the page of limits.";
    DAG_INCOMPLETE: "dag-incomplete", LeftOut,
        "The name of a task, which lists the tasks that it waits for, was cut. Those that are whole are kept.",
        "The task may start in a replay before its input is there.",
        "";
}
