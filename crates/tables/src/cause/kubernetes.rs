//! Causes of histories of Kubernetes.

use super::causes;

causes! {
    OUTLIVED_EXPIRED_JOBS: "outlived-expired-jobs", LeftOut,
        "A job was submitted before the first end that the sources have. Jobs beside it that ended sooner have expired.",
        "Long and stuck jobs are over-represented, and the load of that time is missing. From 5 % of the jobs on, the answer is *assumed*.",
        "Repeat the command by cron and ingest all its lists together, or ingest an audit log.";
    EARLIER_ADMISSION_LOST: "earlier-admission-lost", LeftOut,
        "A Workload was admitted and evicted, and the sources do not say when: an object has its last admission alone.",
        "The job waited less, and held less, than the tables have. From 5 % of the jobs on, the answer is *assumed*.",
        "Repeat the command by cron and ingest all its lists together, or ingest an audit log.";
    ADMISSION_FROM_RUN_TIME: "admission-from-run-time", Assumed,
        "An admission before an eviction began so long before its requeue as the Workload has run (`accumulatedPastExecutionTimeSeconds`).",
        "None, up to a second or two.",
        "";
    EVICTION_AT_REQUEUE: "eviction-at-requeue", Assumed,
        "The time of an eviction is overwritten. It counts as that of the requeue, when the pods were gone.",
        "The job ran less than the tables have, by the time that its pods took to end.",
        "Repeat the command more often, or ingest an audit log.";
    IMPOSSIBLE_REQUEUE: "impossible-requeue", Damaged,
        "The time of a requeue is after the admission that followed it, or before its Workload was there.",
        "The admission before it is unknown.",
        "See that the clocks of the control plane agree.";
    WORKLOAD_WITHOUT_POD_SETS: "workload-without-pod-sets", LeftOut,
        "No source has the object of a Workload, only changes of its state.",
        "What it asked for is unknown.",
        "Ingest a list of Workloads as well, or log at the level `RequestResponse`.";
    JOB_WITHOUT_QUEUE: "job-without-queue", LeftOut,
        "A Job names no queue: Kueue never saw it. It becomes a job of its pods, which the scheduler placed at once.",
        "A replay of queues has it beside them.",
        "";
    JOB_WITHOUT_WORKLOAD: "job-without-workload", LeftOut,
        "A Job names a queue, and the sources lack its Workload. It becomes a job of its pods.",
        "How long it waited in its queue is unknown.",
        "List Workloads, too: `kubectl get workloads,jobs,pods,nodes -A -o json`.";
    POD_WITHOUT_WORKLOAD: "pod-without-workload", LeftOut,
        "A pod carries the mark of a pod set, and the sources lack its Workload. It is a task of a job of pods.",
        "How long its job waited in its queue is unknown.",
        "List Workloads, too: `kubectl get workloads,jobs,pods,nodes -A -o json`.";
    POD_WITHOUT_OBJECT: "pod-without-object", LeftOut,
        "A log has where a pod went, or its end, and no source has its object or its creation.",
        "Which job it belonged to is unknown.",
        "Log the creation of pods, too, or list them.";
    EVICTED_PODS_GONE: "evicted-pods-gone", LeftOut,
        "An admission ended by an eviction, and its pods are gone.",
        "Where it ran is unknown.",
        "Ingest an audit log.";
    LOCAL_QUEUE_MOVED: "local-queue-moved", LeftOut,
        "A Workload was admitted by another ClusterQueue than the one that its LocalQueue leads to now.",
        "A replay sends it to the one of now.",
        "Give the queues of that time with `--site-conf`.";
    POD_OF_ITS_NODE: "pod-of-its-node", Merged,
        "A pod of a DaemonSet, or one that its node made, is no job. What it asks for is taken off its node.",
        "None, if it was there all the time.",
        "";
    CORDONED_NODE: "cordoned-node", LeftOut,
        "A node took no new pods when it was listed. Since when is unknown.",
        "A replay gives it pods all the time.",
        "Take it out with an outage in a cluster file.";
    PLACEMENT_REQUEST_NOT_READ: "placement-request-not-read", LeftOut,
        "Pods of a job ask for places in a way that is not read: near other pods, spread, preferred nodes, a topology, or fewer pods.",
        "A replay places them without it. From 5 % of the jobs on, the answer is *assumed*.",
        "";
    AUDIT_WITHOUT_OBJECT: "audit-without-object", LeftOut,
        "An event of an audit log changes an object, and its level is too low to say how.",
        "An admission, an eviction or an end is missing.",
        "Log `workloads/status` and `pods/binding` at the level `RequestResponse`.";
    OBJECT_OF_SITE: "object-of-site", LeftOut,
        "An object is of the configuration of the site: a queue, a cohort, a flavour or a class.",
        "A trace has no quotas.",
        "Keep the list in a folder, and name that in a replay with `--site-conf`.";
    TOO_MANY_STATES: "too-many-states", LeftOut,
        "Sources say more of one object than is kept, or one object owns more pods.",
        "Its later states are missing.",
        "See the page of limits. Ingest a shorter time into a trace.";
}
