//! Causes of rows that are about one job, or about none.

use super::causes;

causes! {
    DUPLICATE_JOB: "duplicate-job", Merged,
        "A job came again, with the same id and submission. The first copy that has ended counts.",
        "None.",
        "";
    UNFINISHED_COPY_REPLACED: "unfinished-copy-replaced", Merged,
        "A copy of a job had not ended, and another copy says more.",
        "None.",
        "";
    FINISHED_COPY_LEFT_OUT: "finished-copy-left-out", LeftOut,
        "A job that had not ended in one source has its end in a later one, which came too late to count.",
        "The job has no end in the tables. From 5 % of the jobs on, the answer is *assumed*.",
        "Name the later sources first.";
    REUSED_JOB_ID: "reused-job-id", Merged,
        "Another job had the same id before. It gets an id of its own, with a number behind it.",
        "None.",
        "";
    REPEATED_JOB_RENAMED: "repeated-job-renamed", Merged,
        "An id of a folded trace came again. Such a job is another job, and gets an id of its own.",
        "None.",
        "";
    REPEATED_TASK_RENAMED: "repeated-task-renamed", Merged,
        "Two tasks of a job have one id. The later gets an id of its own.",
        "None.",
        "";
    CONTRADICTING_POD_SET: "contradicting-pod-set", Merged,
        "Two lines of a workload differ in its queue, its class or its times. The first counts.",
        "None for the other lines.",
        "";
    DUPLICATE_ROW: "duplicate-row", Merged,
        "A row repeats a try at a job that has ended.",
        "None.",
        "";
    DUPLICATE_TASK: "duplicate-task", Merged,
        "A task has a second row. The first counts.",
        "None.",
        "";
    STEP_OF_A_JOB: "step-of-a-job", Merged,
        "A row is a step of a job, or a task of a parallel job. Its job has a row.",
        "None.",
        "";
    PARTIAL_EXECUTION: "partial-execution", Merged,
        "A line is a part of a job that was suspended for a while. Another line sums the parts up.",
        "None.",
        "";
    PARENT_OF_AN_ARRAY: "parent-of-an-array", Merged,
        "A record is of a whole array. Each of its tasks has records.",
        "None.",
        "";
    RESIZED_JOB: "resized-job", Merged,
        "The size of a job was changed while it ran. Its rows are one run, as large as at first.",
        "A replay holds the first size to the end.",
        "";
    PREEMPTED_WITHOUT_NEXT_TRY: "preempted-without-next-try", Mended,
        "A job was preempted and did not come again. It counts as killed then.",
        "A replay runs it for the time that it ran.",
        "List with `-D` if the cluster requeues jobs: without it, `sacct` shows the last try alone.";
    PENDING_ARRAY_CUT: "pending-array-cut", LeftOut,
        "The list of the tasks of an array that wait was cut by `sacct`, or is longer than the limit.",
        "Tasks that never ran are missing.",
        "List with `sacct --array`.";
    JOB_OF_ANOTHER_CLUSTER: "job-of-another-cluster", LeftOut,
        "A row is of another cluster than the one that you chose.",
        "As you want it.",
        "";
    REPEATED_JOB_START: "repeated-job-start", Merged,
        "A job started a second time. The first start counts.",
        "None.",
        "";
    REPEATED_TASK_START: "repeated-task-start", Merged,
        "An attempt started a second time. The first start counts.",
        "None.",
        "";
    REPEATED_TASK_END: "repeated-task-end", Merged,
        "An attempt ended a second time, as `Resubmitted` after `Success`. The first end counts.",
        "None.",
        "";
    REOPENED_TASK: "reopened-task", LeftOut,
        "A task has a second start, with the time 0, after its first.",
        "None.",
        "";
    JOB_SUBMITTED_AGAIN: "job-submitted-again", Merged,
        "A job was submitted a second time. The first submission counts.",
        "None.",
        "";
    JOB_ENDED_TWICE: "job-ended-twice", Merged,
        "A job ended a second time. The first end counts.",
        "None.",
        "";
    TASK_SUBMITTED_AGAIN: "task-submitted-again", Merged,
        "A task that waits was submitted a second time. The later submission counts.",
        "The wait of that try is shorter than the trace may mean.",
        "";
    TASK_ENDED_TWICE: "task-ended-twice", Merged,
        "A task ended a second time. The first end counts.",
        "None.",
        "";
    SUBMIT_WHILE_RUNNING: "submit-while-running", Merged,
        "A task was submitted while it ran. The attempt that runs has no end of its own.",
        "That attempt is left without a run time.",
        "";
    SCHEDULE_WHILE_RUNNING: "schedule-while-running", Merged,
        "A task was scheduled while it ran. The attempt that runs has no end of its own.",
        "That attempt is left without a run time.",
        "";
    END_WITHOUT_SCHEDULE: "end-without-schedule", Assumed,
        "A task ended on a machine and has no start. It becomes an attempt without a start.",
        "A replay does not know how long it ran.",
        "";
}
