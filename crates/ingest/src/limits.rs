//! The limits of what is read from sources.

use resched_objects::{LARGEST_RANGE, LONGEST_KEY, MOST_BREAKS, MOST_OBJECTS};
use resched_tables::limits::Limit;

use crate::formats::{
    accounting, conf_xml, csv, google2019, gridengine, gwf, jhist, kubernetes, kueue_workloads, lsf, mapped, pbs,
    rumen, sacct, sls, spark, swf, swim, tables, text_history, topology, yarn_apps,
};
use crate::{
    FAR_SLACK, LONGEST_ID, LONGEST_RUN, LONGEST_SETTING, LONGEST_TEXT, MOST_APPLICATIONS, MOST_HELD, MOST_SETTINGS,
};

const SKIPPED: &str = "The record is skipped and counted.";
const SETTING: &str = "The setting is left out and counted.";
const REST: &str = "The rest is left out and counted.";
const REFUSED: &str = "The request is refused.";
const NO_FILE: &str = "The file is refused.";

/// The limits of what is read from sources.
pub const SOURCES: &[Limit] = &[
    Limit::bytes("line of a Hadoop text history", text_history::LONGEST as u64, SKIPPED),
    Limit::number(
        "keys of a record of such a history",
        text_history::MOST_KEYS as u64,
        "The rest of the record is lost, and the record is counted as damaged.",
    ),
    Limit::number("counters of such a record", text_history::MOST_COUNTERS as u64, REST),
    Limit::number("places of the input of a task in such a history", text_history::MOST_SPLITS as u64, REST),
    Limit::bytes("event of a `.jhist` file", jhist::MAX_EVENT_BYTES as u64, SKIPPED),
    Limit::bytes(
        "configuration of a job (XML)",
        conf_xml::LONGEST,
        "The rest is not read, and the configuration counts as damaged.",
    ),
    Limit::bytes(
        "job of a Rumen trace",
        rumen::MAX_JOB_BYTES as u64,
        "The job is skipped and counted. The limit suffices for about 150,000 tasks.",
    ),
    Limit::number(
        "objects in a job of a Rumen trace",
        rumen::MAX_JOB_OBJECTS as u64,
        "The job is skipped and counted.",
    ),
    Limit::number("commas in a job of a Rumen trace", rumen::MAX_JOB_COMMAS as u64, "The job is skipped and counted."),
    Limit::bytes("Rumen topology", topology::MAX_BYTES as u64, NO_FILE),
    Limit::bytes("line of a SWIM workload", swim::MAX_LINE, SKIPPED),
    Limit::bytes("line of an SWF log", swf::MAX_LINE as u64, SKIPPED),
    Limit::number("machines of an SWF log", swf::MAX_NODES, "The log counts as one without machines."),
    Limit::number("names of queues of an SWF log, or of partitions", swf::MAX_NAMES as u64, REST),
    Limit::bytes("line of a grid workflow", gwf::MAX_LINE as u64, SKIPPED),
    Limit::number(
        "pod sets of a workload of Kueue",
        kueue_workloads::MOST_POD_SETS as u64,
        "The workload is left out and counted.",
    ),
    Limit::bytes("row of a list by sacct (text)", sacct::MAX_LINE as u64, SKIPPED),
    Limit::bytes("job of a list by sacct (JSON)", sacct::MAX_OBJECT as u64, SKIPPED),
    Limit::number("rows under one id in lists by sacct", sacct::MOST_ROWS as u64, "The lists are refused."),
    Limit::number("tasks of an array that have no id yet", sacct::MOST_PENDING as u64, REST),
    Limit::number(
        "ends of jobs that the jobs of such lists wait for, and jobs that are noted for that",
        sacct::MOST_ENDS as u64,
        "The dependencies of later jobs are ignored and counted.",
    ),
    Limit::number(
        "nodes of a job in such a list",
        sacct::MOST_HOSTS as u64,
        "Its nodes are ignored, and the job is counted.",
    ),
    Limit::bytes("record of PBS or Torque", pbs::MAX_LINE as u64, SKIPPED),
    Limit::bytes("record of LSF", lsf::MAX_LINE as u64, SKIPPED),
    Limit::bytes("record of Grid Engine", gridengine::MAX_LINE as u64, SKIPPED),
    Limit::number(
        "records of one job in logs of PBS, LSF or Grid Engine, or in tables under a map",
        accounting::MOST_RECORDS as u64,
        "The logs are refused.",
    ),
    Limit::number(
        "jobs that other jobs of such logs wait for",
        accounting::MOST_ASKED as u64,
        "Dependencies on further ones are ignored and counted.",
    ),
    Limit::number(
        "hosts of a job in such a record",
        accounting::MOST_HOSTS as u64,
        "Its hosts are ignored, and the job is counted.",
    ),
    Limit::bytes("object of Kubernetes, or event of its audit log", kubernetes::MAX_OBJECT as u64, SKIPPED),
    Limit::bytes("line of metrics of Kubernetes", kubernetes::MAX_LINE as u64, SKIPPED),
    Limit::bytes("name of an object of Kubernetes", kubernetes::LONGEST_NAME as u64, SKIPPED),
    Limit::number("pod sets of a Workload among such objects", kubernetes::MOST_SETS as u64, REST),
    Limit::number("states of an object of Kubernetes, or pods of one owner", kubernetes::MOST_SEEN as u64, REST),
    Limit::number("LocalQueues of a cluster", kubernetes::MOST_QUEUES as u64, REST),
    Limit::number("nodes of a cluster of Kubernetes", kubernetes::MOST_NODES as u64, REST),
    Limit::bytes("map of a table", mapped::MAX_MAP, "The request is refused."),
    Limit::number("states, filters, columns or groups of machines of a map, each", mapped::MOST_PARTS as u64, REFUSED),
    Limit::number("columns of a field of a map", mapped::MOST_COLUMNS as u64, REFUSED),
    Limit::bytes("name of a column or a machine in a map", mapped::LONGEST_NAME as u64, REFUSED),
    Limit::number("machines of a map", mapped::MOST_MACHINES as u64, REFUSED),
    Limit::bytes("pattern of a map", mapped::LONGEST_PATTERN as u64, REFUSED),
    Limit::bytes("row of a table under a map", mapped::MAX_ROW as u64, SKIPPED),
    Limit::number("columns of such a table as CSV", mapped::MAX_COLUMNS as u64, SKIPPED),
    Limit::bytes("event of a Spark log", spark::MAX_LINE as u64, SKIPPED),
    Limit::number(
        "jobs of a Spark application that run at once",
        spark::MOST_JOBS as u64,
        "The oldest is passed on as it is, without its end.",
    ),
    Limit::bytes("stages and attempts of a Spark application, in memory", spark::MOST_HELD as u64, REST),
    Limit::number("arrivals and departures of executors of an application", spark::MOST_EVENTS as u64, REST),
    Limit::number(
        "later attempts at a stage whose tasks are matched with those of the first",
        spark::MOST_RETRIES as u64,
        "Their tasks stay tasks of their own and are counted.",
    ),
    Limit::number(
        "outputs of a job that could not be fetched",
        spark::MOST_LOSSES as u64,
        "Later ones do not help to match tasks.",
    ),
    Limit::bytes("preferred hosts beside a Spark log, in memory", spark::MOST_PREFERRED as u64, SKIPPED),
    Limit::number("objects below an address of an object store", MOST_OBJECTS as u64, "The address is refused."),
    Limit::bytes("key of such an object", LONGEST_KEY as u64, "The address is refused."),
    Limit::bytes(
        "range of an object that is fetched at once",
        LARGEST_RANGE,
        "The rest is fetched later; two ranges are in memory.",
    ),
    Limit::number(
        "times that a range is fetched again",
        MOST_BREAKS as u64,
        "The ingest ends: the store cannot be reached. Within each time, the connection may break 4 times.",
    ),
    Limit::number("applications with settings in a trace", MOST_APPLICATIONS as u64, SETTING),
    Limit::number("settings of an application", MOST_SETTINGS as u64, SETTING),
    Limit::bytes("name or value of such a setting", LONGEST_SETTING as u64, SETTING),
    Limit::bytes("job of the Scheduler Load Simulator", sls::MAX_OBJECT as u64, SKIPPED),
    Limit::number("parts of such a job", sls::MAX_PARTS as u64, SKIPPED),
    Limit::number("times that such a job is submitted", sls::MAX_COUNT.unsigned_abs(), REST),
    Limit::number("tasks of such a job", sls::MAX_TASKS.unsigned_abs(), SKIPPED),
    Limit::bytes("line of a log of YARN's applications", yarn_apps::MAX_LINE as u64, SKIPPED),
    Limit::bytes("application in a REST list", yarn_apps::MAX_OBJECT as u64, SKIPPED),
    Limit::bytes("record of a table of Google or Alibaba (CSV)", csv::MAX_RECORD as u64, SKIPPED),
    Limit::number("fields of such a record", csv::MAX_FIELDS as u64, SKIPPED),
    Limit::bytes("line of a table of Google 2019 (JSON)", google2019::MAX_LINE, SKIPPED),
    Limit::bytes("id of a job or task in tables", tables::LONGEST_KEY as u64, SKIPPED),
    Limit::bytes(
        "id of a job or task elsewhere",
        LONGEST_ID as u64,
        "The job is skipped: a cut id might be that of another job.",
    ),
    Limit::number(
        "rows of unfinished jobs that are held until the last source",
        MOST_HELD as u64,
        "The oldest is passed on as it is. A finished copy of it in a later source is left out and counted.",
    ),
    Limit::bytes("name, host or error text", LONGEST_TEXT as u64, "The text is cut and counted."),
    Limit::ms(
        "run of a job, a task or an attempt",
        LONGEST_RUN,
        "The end is unknown and counted as `far-time`: it is damage.",
    ),
    Limit::ms(
        "time of a task before or after its job",
        FAR_SLACK,
        "The time is unknown and counted as `far-time`: it is damage.",
    ),
];
