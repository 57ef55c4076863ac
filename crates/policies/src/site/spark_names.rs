//! The properties of Spark that a replay leaves out: those about scheduling with the values that change nothing, and those about something
//! else.
//!
//! **Source.** The configuration page of Spark 3.5 and 4.0, and those of YARN, Kubernetes and the standalone master.

use super::names::{Names, Topic};
use crate::unread::Why;

/// What is known of the properties of Spark.
pub(super) const SPARK: Names = Names { rules: RULES, beside: BESIDE, parts: &[] };

/// How the names of Spark begin.
pub(super) const COMPONENT: &str = "spark";
/// The other names of `spark-defaults.conf`.
pub(super) const FOREIGN: Topic = "names without `spark.`, which Spark ignores";

const AS_DEFAULT: Why<'static> = Why::bears("executors come as Spark's default says");
const BARRIER: Why<'static> = Why::bears("the tasks of a barrier stage start as others do");
const EXCLUDED: Why<'static> = Why::bears("executors are not excluded after failures");
const KEPT: Why<'static> = Why::harmless("the output of a job is kept until it ends");
const LABELS: Why<'static> = Why::bears("node labels are not replayed");
const LEAVING: Why<'static> = Why::bears("executors are not decommissioned");
const OFFERED: Why<'static> = Why::harmless("the log says what each executor offers");
const REGISTERED: Why<'static> = Why::bears("tasks start as soon as an executor has registered");
const TRIED: Why<'static> = Why::harmless("the log says how often each task was tried");

/// A flag beneath `spark.speculation` does nothing without it, and with it, that one is reported.
const WITHOUT_SPECULATION: Why<'static> = Why::harmless("without `spark.speculation`, it does nothing");

const RULES: &[(&str, &[&str], Why<'static>)] = &[
    ("spark.barrier", &[], BARRIER),
    ("spark.blacklist", &["false"], EXCLUDED),
    ("spark.decommission", &["false"], LEAVING),
    ("spark.deploy.defaultCores", &[], Why::bears("set `spark.cores.max`, which says it for each application")),
    (
        "spark.dynamicAllocation.executorAllocationRatio",
        &["1", "1.0"],
        Why::bears("an executor is asked for each task that waits"),
    ),
    ("spark.dynamicAllocation.shuffleTracking", &[], KEPT),
    ("spark.excludeOnFailure", &["false"], EXCLUDED),
    ("spark.executor.decommission", &[], LEAVING),
    ("spark.executor.maxNumFailures", &[], TRIED),
    ("spark.executor.memory", &[], OFFERED),
    ("spark.executor.resource", &[], OFFERED),
    ("spark.kubernetes.allocation", &[], AS_DEFAULT),
    ("spark.scheduler.barrier", &[], BARRIER),
    ("spark.scheduler.excludeOnFailure", &[], EXCLUDED),
    ("spark.scheduler.maxRegisteredResourcesWaitingTime", &["30s", "30000"], REGISTERED),
    ("spark.scheduler.minRegisteredResourcesRatio", &["0.0", "0"], REGISTERED),
    ("spark.shuffle.reduceLocality.enabled", &["true"], Why::harmless("the log says which hosts each task prefers")),
    ("spark.shuffle.service.enabled", &[], Why::harmless("the log says whether there is such a service")),
    ("spark.speculation", &["false"], WITHOUT_SPECULATION),
    ("spark.stage", &[], TRIED),
    ("spark.standalone.submit.waitAppCompletion", &[], Why::harmless("it changes no schedule")),
    ("spark.storage.decommission", &[], LEAVING),
    ("spark.task.maxFailures", &["4"], TRIED),
    ("spark.task.resource", &[], Why::bears("tasks ask for processors alone")),
    ("spark.yarn.am.nodeLabelExpression", &[], LABELS),
    ("spark.yarn.executor.nodeLabelExpression", &[], LABELS),
    ("spark.yarn.priority", &["0"], Why::bears("applications have no priorities")),
    ("spark.yarn.queue", &[], Why::harmless("the log says which queue each application was in")),
];

const ASKED: Topic = "what applications ask for and are, which the log shows";
const DAEMONS: Topic = "the work of daemons: threads, retries, recovery";
const FILES: Topic = "where files and programs are";
const IN_TASKS: Topic = "the work inside of a task, which the log shows as its time";
const LOGS: Topic = "logs, histories, web pages and metrics";
const SECURITY: Topic = "security";

const BESIDE: &[(Topic, &[&str])] = &[
    (
        SECURITY,
        &[
            "spark.acls",
            "spark.admin",
            "spark.authenticate",
            "spark.kerberos",
            "spark.modify",
            "spark.network.crypto",
            "spark.redaction",
            "spark.security",
            "spark.ssl",
            "spark.user.groups",
            "spark.view",
            "spark.yarn.access",
            "spark.yarn.keytab",
            "spark.yarn.kerberos",
            "spark.yarn.principal",
        ],
    ),
    (
        LOGS,
        &[
            "spark.appStateStore",
            "spark.appStatusStore",
            "spark.callerContext",
            "spark.eventLog",
            "spark.extraListeners",
            "spark.executor.logs",
            "spark.executor.metrics",
            "spark.executor.processTreeMetrics",
            "spark.history",
            "spark.lineage",
            "spark.log",
            "spark.logConf",
            "spark.logLineage",
            "spark.metrics",
            "spark.scheduler.listenerbus",
            "spark.ui",
            "spark.worker.ui",
            "spark.yarn.historyServer",
            "spark.yarn.report",
            "spark.yarn.rolledLog",
        ],
    ),
    (
        FILES,
        &[
            "spark.archives",
            "spark.executor.defaultJavaOptions",
            "spark.executor.extraClassPath",
            "spark.executor.extraJavaOptions",
            "spark.executor.extraLibraryPath",
            "spark.executor.userClassPathFirst",
            "spark.executorEnv",
            "spark.files",
            "spark.home",
            "spark.jars",
            "spark.kubernetes",
            "spark.launcher",
            "spark.local",
            "spark.plugins",
            "spark.pyspark",
            "spark.r",
            "spark.repl",
            "spark.submit",
            "spark.worker.dir",
            "spark.yarn.appMasterEnv",
            "spark.yarn.archive",
            "spark.yarn.config",
            "spark.yarn.dist",
            "spark.yarn.exclude",
            "spark.yarn.jar",
            "spark.yarn.jars",
            "spark.yarn.populateHadoopClasspath",
            "spark.yarn.preserve",
            "spark.yarn.secondary",
            "spark.yarn.stagingDir",
            "spark.yarn.submit",
        ],
    ),
    (
        ASKED,
        &[
            "spark.app",
            "spark.default.parallelism",
            "spark.deploy-mode",
            "spark.driver",
            "spark.driverEnv",
            "spark.hadoop",
            "spark.hive",
            "spark.job",
            "spark.master",
            "spark.mesos",
            "spark.resources",
            "spark.scheduler.pool",
            "spark.scheduler.resource",
            "spark.sql",
            "spark.yarn.am",
            "spark.yarn.driver",
            "spark.yarn.executor.memoryOverhead",
            "spark.yarn.max",
            "spark.yarn.maxAppAttempts",
            "spark.yarn.tags",
            "spark.yarn.unmanagedAM",
        ],
    ),
    (
        IN_TASKS,
        &[
            "spark.broadcast",
            "spark.buffer",
            "spark.checkpoint",
            "spark.cleaner",
            "spark.databricks",
            "spark.delta",
            "spark.diskStore",
            "spark.graphx",
            "spark.hadoopRDD",
            "spark.io",
            "spark.kafka",
            "spark.kryo",
            "spark.kryoserializer",
            "spark.maxRemoteBlockSizeFetchToMem",
            "spark.memory",
            "spark.ml",
            "spark.mllib",
            "spark.python",
            "spark.rapids",
            "spark.rdd",
            "spark.reducer",
            "spark.resultGetter",
            "spark.serializer",
            "spark.shuffle",
            "spark.storage",
            "spark.streaming",
            "spark.task.maxDirectResultSize",
            "spark.task.reaper",
            "spark.unsafe",
        ],
    ),
    (
        DAEMONS,
        &[
            "spark.akka",
            "spark.api",
            "spark.appMasterEnv",
            "spark.blockManager",
            "spark.connect",
            "spark.core.connection",
            "spark.deploy",
            "spark.executor.allowSparkContext",
            "spark.executor.failuresValidityInterval",
            "spark.executor.heartbeat",
            "spark.executor.heartbeatInterval",
            "spark.executor.id",
            "spark.executor.killOnFatalError",
            "spark.executor.port",
            "spark.executor.syncLogLevel",
            "spark.network",
            "spark.port",
            "spark.remote",
            "spark.rpc",
            "spark.scheduler.numCancelledJobGroupsToTrack",
            "spark.standalone",
            "spark.worker",
            "spark.yarn.am.waitTime",
            "spark.yarn.client",
            "spark.yarn.containerLauncherMaxThreads",
            "spark.yarn.executor.failuresValidityInterval",
            "spark.yarn.executor.launch",
            "spark.yarn.metrics",
            "spark.yarn.scheduler",
            "spark.yarn.shuffle",
        ],
    ),
];
