//! Causes of machines.

use super::causes;

causes! {
    FILE_WITHOUT_MACHINES: "file-without-machines", LeftOut,
        "A source does not say which machines there were.",
        "A replay needs them from you.",
        "Give `--nodes` and `--cores`, or a cluster file.";
    MACHINE_SIZED_BY_ITS_USE: "machine-sized-by-its-use", Assumed,
        "A machine is as large as the most that was in use on it, or on machines with similar names.",
        "It may have been larger: jobs then wait longer in a replay than they would have.",
        "Give a cluster file with the true sizes.";
    HOST_OUTSIDE_TOPOLOGY: "host-outside-topology", LeftOut,
        "Jobs name a host that the topology lacks. It is no machine of the trace.",
        "A replay has fewer machines than there were.",
        "Write the topology of the time of the jobs.";
    MACHINE_BEYOND_LIMIT: "machine-beyond-limit", LeftOut,
        "Attempts name more machines than the limit. The attempt keeps its host, which is no machine of the trace.",
        "A replay has fewer machines than there were.",
        "See the page of limits.";
    MACHINE_SOFTERROR_LEFT_OUT: "machine-softerror-left-out", LeftOut,
        "A machine took no new jobs for an unknown time.",
        "A replay gives it jobs all the time.",
        "";
    DAMAGED_NODE_LIST: "damaged-node-list", Damaged,
        "A list of hosts could not be read, or names too many.",
        "Where the job ran is unknown, and the machines show less use.",
        "See the page of limits. In a map, set the form of the list.";
    DAMAGED_NODE: "damaged-node", Damaged,
        "A part of a topology is no machine and no rack.",
        "The machine is missing.",
        "Write the topology again.";
    DAMAGED_RACK: "damaged-rack", Damaged,
        "The object of a rack could not be read.",
        "Its machines are missing.",
        "Write the file again.";
    DAMAGED_TOPOLOGY: "damaged-topology", Damaged,
        "A topology could not be read.",
        "The machines are those that jobs name, without sizes.",
        "Write the topology again.";
    NODE_WITHOUT_NAME: "node-without-name", LeftOut,
        "A node of a topology has no name.",
        "None for the empty last node that tools write.",
        "";
    HOSTS_NOT_IN_SOURCE: "hosts-not-in-source", LeftOut,
        "A job ran on several hosts, and the record names one or none.",
        "The machines show less use, so that they may count as smaller than they were.",
        "Give a cluster file.";
    EXECUTOR_WITHOUT_HOST: "executor-without-host", Assumed,
        "An executor has no host. It counts as a machine of its own.",
        "Distances between executors are unknown.",
        "";
    EXCLUDED_EXECUTOR: "excluded-executor", LeftOut,
        "An executor or a host got no tasks for some time, because tasks failed there.",
        "A replay gives it tasks all the time.",
        "";
    TOO_MANY_EXECUTORS: "too-many-executors", LeftOut,
        "A log has more executors than are kept.",
        "A replay has less room than there was.",
        "See the page of limits.";
}
