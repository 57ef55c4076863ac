//! Causes of `resched scale`, which takes a part of a trace.

use super::causes;

causes! {
    JOB_NOT_DRAWN: "job-not-drawn", LeftOut,
        "The draw of `--jobs` left a job out.",
        "As you want it.",
        "";
    JOB_OUTSIDE_WINDOW: "job-outside-window", LeftOut,
        "A job was submitted outside of the window.",
        "As you want it.",
        "";
    JOB_WITHOUT_SUBMIT: "job-without-submit", LeftOut,
        "The log does not say when a job was submitted.",
        "The job is missing.",
        "";
    JOB_RUNNING_AT_END: "job-running-at-end", LeftOut,
        "A job was submitted in the window and ended behind it.",
        "The end of the window has less load.",
        "Choose a longer window.";
    TIME_OUT_OF_RANGE: "time-out-of-range", LeftOut,
        "A time would be too large to be held after the change.",
        "The job is missing.",
        "Choose a smaller factor.";
    SPLIT_HOST_TWICE: "split-host-twice", Merged,
        "Two places of the input of a task are one machine, now that there are fewer.",
        "The task has fewer copies of its input.",
        "";
}
