//! Causes of what jobs ask for, and of how they ended.

use super::causes;

causes! {
    UNKNOWN_STATE: "unknown-state", Assumed,
        "The state of a job is none that the map names. Its outcome is that of `otherwise`, or unknown.",
        "Whether such jobs count as successful may be wrong.",
        "Add the word to `states` of the map.";
    UNEVEN_JOB_ROUNDED_UP: "uneven-job-rounded-up", Mended,
        "A job has parts of different sizes, or processors that do not divide evenly over its nodes. Its parts become equal, each rounded up.",
        "It holds slightly more in a replay than it did.",
        "";
    UNEVEN_GPUS_ROUNDED_UP: "uneven-gpus-rounded-up", Mended,
        "The GPUs of a job do not divide evenly over its instances. Each has the rounded number.",
        "It holds slightly more GPUs in a replay than it did.",
        "";
    REQUEST_NOT_READ: "request-not-read", LeftOut,
        "What a job asked for is in a form that is not read. It counts with what it got, if that is known.",
        "Its memory, GPUs or layout may be missing in a replay.",
        "";
    MEMORY_NOT_ALLOCATED: "memory-not-allocated", LeftOut,
        "A job names memory in a cluster whose scheduler does not allocate memory.",
        "None: a replay does not place by memory either.",
        "";
    GPUS_BY_SUBMIT_LINE: "gpus-by-submit-line", Assumed,
        "The list has no GPUs of a job by themselves. They are those of its command, or of `ReqGRES`.",
        "GPUs that a script asks for inside of it are missing.",
        "List `ReqTRES` and `AllocTRES`, with `AccountingStorageTRES=gres/gpu` in the configuration.";
    AMBIGUOUS_LIMIT: "ambiguous-limit", Assumed,
        "The limit of the run time is `null`, which stands for none and for unknown.",
        "Backfilling may look further ahead for such a job than it did.",
        "List as text: `Timelimit` says which.";
    SHORTEST_LIMIT_LEFT_OUT: "shortest-limit-left-out", LeftOut,
        "A job let backfill shorten its limit (`--time-min`).",
        "A replay keeps the whole limit. From 5 % of the jobs on, the answer is *assumed*.",
        "";
    NAMED_NODES_LEFT_OUT: "named-nodes-left-out", LeftOut,
        "A job asked for nodes by name, or excluded some.",
        "A replay places it on any. From 5 % of the jobs on, the answer is *assumed*.",
        "";
    TOPOLOGY_REQUEST_LEFT_OUT: "topology-request-left-out", LeftOut,
        "A pod set asked for nodes that lie together (topology-aware scheduling).",
        "A replay admits it as soon as there is quota. From 5 % of the tasks on, the answer is *assumed*.",
        "";
    SOFT_WALLTIME_LEFT_OUT: "soft-walltime-left-out", LeftOut,
        "A job has a time that it is expected to run, but may exceed.",
        "Policies see its limit alone.",
        "Keep it as a counter with `--counters`.";
    PROCESSORS_UNLIKE_PROPERTIES: "processors-unlike-properties", Mended,
        "The processors of a job are neither those of its machines nor those of its properties together. The count of processors stands.",
        "How it lay on its machines is a guess.",
        "";
    PROCESSORS_BEYOND_MACHINE: "processors-beyond-machine", Mended,
        "A job wants more processors on a machine than the header gives any. They are cut.",
        "It holds less in a replay than it says.",
        "Correct `MaxNodes` and `MaxProcs` in the header.";
    RESOURCE_PROFILE: "resource-profile", LeftOut,
        "Some stages of an application ask for other executors.",
        "All tasks have the requests of the application. The answer is *assumed*.",
        "";
    BARRIER_STAGE: "barrier-stage", LeftOut,
        "A stage must start all its tasks together.",
        "A replay lets each start by itself. The answer is *assumed*.",
        "";
}
