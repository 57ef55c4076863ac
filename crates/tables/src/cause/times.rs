//! Causes of times.

use super::causes;

causes! {
    TIME_ZONE_ASSUMED: "time-zone-assumed", Assumed,
        "A source gives times without a zone, and you gave none: they are taken to be UTC.",
        "Waits and run times are right, except across a change of the clock. Hours of the day are those of the site.",
        "Give the zone of the cluster with `--timezone`.";
    AMBIGUOUS_LOCAL_TIME: "ambiguous-local-time", Assumed,
        "A clock showed this time twice, or not at all. The first that is not before the times before it counts.",
        "A wait or a run time may be wrong by an hour.",
        "List with `SLURM_TIME_FORMAT=%s`, or as JSON.";
    FAR_TIME: "far-time", Mended,
        "A time is far outside of its job, or would make a run longer than a year. It becomes unknown.",
        "The run time of that attempt is unknown.",
        "Look for a wrong unit or a wrong zero of the times.";
    FINISH_BEFORE_START: "finish-before-start", Mended,
        "Something ends before it starts. The end becomes unknown, and the start stays.",
        "Its run time is unknown.",
        "The clocks of the machines differ, or the columns are swapped.";
    NEGATIVE_TIME: "negative-time", Mended,
        "A time or a wait is negative, where only −1 stands for unknown. It becomes unknown.",
        "The job or task is replayed without that time.",
        "";
    START_BEFORE_SUBMISSION: "start-before-submission", Mended,
        "A try starts before its job was submitted. The tables keep both times.",
        "The job has no wait in the log, and a replay starts it after its submission.",
        "Give all columns in one unit and from one zero.";
    EVENT_AFTER_TRACE: "event-after-trace", LeftOut,
        "The trace says that an event came after its end, and not when.",
        "What it is about has not ended.",
        "";
    SUSPENDED_TIME_LEFT_OUT: "suspended-time-left-out", Mended,
        "A job was suspended. Its attempt ends by its run time after its start; the end of the job is that of the list.",
        "A replay does not suspend jobs: the job runs at one go.",
        "";
}
