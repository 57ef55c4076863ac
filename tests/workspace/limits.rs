//! The page of limits is made from the code, and each limit on it has a test that holds it to its word.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::fresh::assert_fresh;
use resched_tables::limits::{self, Limit};
use resched_tables::reference::Page;

const TEST: &str = "--workspace --test workspace";

/// The limits of all commands, and of reports.
const COMMANDS: [&[Limit]; 6] = [
    resched_replay::LIMITS,
    resched_analysis::runs::memory::LIMITS,
    resched_report::LIMITS,
    limits::MESSAGES,
    resched_tables::whole::LIMITS,
    resched_policies::LIMITS,
];
/// The limits of cluster files, and of the configuration of a site.
const CLUSTERS: [&[Limit]; 2] = [resched_tables::cluster_file::LIMITS, resched_policies::SITES];

/// Each limit of the page, with the file and the name of the test that is at the limit and one beyond it. Where that needs gigabytes, the
/// test is beside the limit and gives the code another one.
const TESTS: &[(&str, &str, &str)] = &[
    ("threads", "crates/replay/src/threads.rs", "as_many_threads_as_the_limit_and_not_one_more"),
    (
        "memory of the tables of a report",
        "crates/analysis/src/runs/memory.rs",
        "tables_at_the_limit_are_read_and_larger_ones_name_what_suffices",
    ),
    ("expression of a metric", METRICS, "an_expression_at_the_limit_is_read_and_a_longer_one_refused"),
    ("nested parentheses in such an expression", METRICS, "parentheses_are_nested_up_to_the_limit_and_not_deeper"),
    ("policies in a report", REPORT, "as_many_policies_as_the_limit_are_compared_and_not_one_more"),
    (
        "users in `report.json`, or queues",
        "crates/report/src/page/groups.rs",
        "of_very_many_users_those_with_most_jobs_are_kept",
    ),
    ("runs in a report", REPORT, "as_many_runs_as_the_limit_are_reported_and_not_one_more"),
    (
        "jobs × policies in a page",
        "crates/report/src/page/data.rs",
        "a_page_at_the_limit_has_all_jobs_and_a_larger_one_every_second",
    ),
    (
        "characters of a line of an error or a warning",
        "crates/tables/src/words.rs",
        "a_line_at_the_limit_is_whole_and_a_longer_one_lacks_its_middle",
    ),
    (
        "cluster, sweep, queue or allocation file, rules, key, or output of `validate`",
        WHOLE,
        "a_file_is_read_up_to_its_limit_and_not_beyond",
    ),
    ("workload file", WHOLE, "a_file_is_read_up_to_its_limit_and_not_beyond"),
    (
        "JSON file of a result, such as `trace.json` or `run.json`",
        WHOLE,
        "a_marker_is_read_up_to_its_bytes_and_commas_and_not_beyond",
    ),
    ("commas in such a file", WHOLE, "as_many_commas_as_the_limit_are_written_and_not_one_more"),
    (
        "policies that one `--policy` stands for, as `delay:D=1|2|3` for three",
        "crates/policies/src/spec/parse.rs",
        "a_text_stands_for_as_many_policies_as_the_limit_and_not_one_more",
    ),
    ("machines of a cluster file", CLUSTER_FILE, "a_cluster_has_as_many_machines_as_the_limit_and_not_one_more"),
    (
        "slots of a machine for maps, or for reduces",
        CLUSTER_FILE,
        "a_machine_has_as_many_slots_as_the_limit_and_not_one_more",
    ),
    ("memory of a machine", CLUSTER_FILE, "a_machine_has_as_much_memory_as_the_limit_and_not_a_byte_more"),
    ("file of the configuration of a site", XML, "a_file_at_the_limit_is_read_and_a_larger_one_refused"),
    (
        "elements, texts and comments of such a file (XML)",
        XML,
        "as_many_elements_as_the_limit_are_read_and_not_one_more",
    ),
    ("elements that lie in each other", XML, "elements_lie_as_deep_as_the_limit_and_not_deeper"),
    (
        "`slurm.conf`, with the files that it includes",
        SLURM,
        "files_have_as_many_bytes_in_all_as_the_limit_and_not_one_more",
    ),
    ("files that a `slurm.conf` includes", SLURM, "as_many_files_as_the_limit_are_included_and_not_one_more"),
    ("partitions of a `slurm.conf`", SLURM, "as_many_partitions_as_the_limit_and_not_one_more"),
    ("reservations of a `reservations.txt`", SLURM, "as_many_reservations_as_the_limit_and_not_one_more"),
    ("hosts in all lists of a `slurm.conf`", SLURM, "lists_have_as_many_hosts_as_the_limit_and_not_one_more"),
    (
        "files with objects of Kubernetes in the folder of a site",
        KUBERNETES,
        "as_many_files_as_the_limit_are_read_and_not_one_more",
    ),
    ("all of them together", KUBERNETES, "files_have_as_many_bytes_in_all_as_the_limit_and_not_one_more"),
    (
        "pod sets of a workload of Kueue",
        "crates/ingest/src/formats/kueue_workloads.rs",
        "a_workload_has_a_limited_number_of_pod_sets",
    ),
    ("cells", "tests/e2e/limits.rs", "too_many_samples_and_cells_are_refused_with_the_number_that_would_do"),
    ("seeds", "crates/sweep/src/file/parse.rs", "as_many_seeds_as_the_limit_and_not_one_more"),
    (
        "samples, or combinations of a grid",
        "crates/sweep/src/file/parse.rs",
        "as_many_samples_as_the_limit_and_not_one_more",
    ),
    (
        "samples, or combinations of a grid",
        "crates/sweep/src/design.rs",
        "a_grid_has_as_many_combinations_as_the_limit_and_not_one_more",
    ),
    ("steps of a range", "crates/sweep/src/values.rs", "a_range_has_as_many_steps_as_the_limit_and_not_one_more"),
    (
        "plan, or file with the results of cells",
        "crates/sweep/src/location.rs",
        "a_file_of_cells_is_read_up_to_the_limit_and_not_beyond",
    ),
    ("jobs", WORKLOADS, "as_many_jobs_as_the_limit_and_not_one_more"),
    ("tasks of one job", WORKLOADS, "a_job_has_as_many_tasks_as_the_limit_and_not_one_more"),
    (
        "tasks of all jobs, if a command replays the file itself",
        WORKLOADS,
        "all_jobs_have_as_many_tasks_as_the_limit_and_not_one_more",
    ),
    ("tasks of all jobs, in `generate`", WORKLOADS, "all_jobs_have_as_many_tasks_as_the_limit_and_not_one_more"),
    ("tasks of all jobs, in `generate`", "tests/e2e/limits.rs", "a_workload_of_too_many_tasks_is_refused"),
    ("machines", WORKLOADS, "a_cluster_has_as_many_machines_as_the_limit_and_not_one_more"),
    ("slots", WORKLOADS, "a_cluster_has_as_many_slots_as_the_limit_and_not_one_more"),
    ("line of a Hadoop text history", RECORDS, "the_line_of_a_text_history"),
    ("line of a Hadoop text history", RECORDS, "the_lines_of_a_record_of_a_text_history"),
    (
        "keys of a record of such a history",
        "crates/ingest/src/formats/text_history/record.rs",
        "a_flood_of_keys_is_bounded",
    ),
    ("counters of such a record", "crates/ingest/src/formats/text_history/counters.rs", "floods_are_bounded"),
    (
        "places of the input of a task in such a history",
        "crates/ingest/src/formats/text_history/job.rs",
        "a_task_has_as_many_places_as_the_limit_and_the_rest_is_counted",
    ),
    ("event of a `.jhist` file", RECORDS, "the_event_of_a_jhist_file"),
    ("configuration of a job (XML)", RECORDS, "the_configuration_of_a_job"),
    ("job of a Rumen trace", RECORDS, "the_job_of_a_rumen_trace"),
    ("objects in a job of a Rumen trace", RECORDS, "the_objects_of_a_job_of_a_rumen_trace"),
    ("commas in a job of a Rumen trace", RECORDS, "the_commas_of_a_job_of_a_rumen_trace"),
    ("Rumen topology", RECORDS, "a_rumen_topology"),
    ("line of a SWIM workload", RECORDS, "the_line_of_a_swim_workload"),
    ("line of an SWF log", RECORDS, "the_line_of_an_swf_log"),
    (
        "machines of an SWF log",
        "crates/ingest/src/formats/swf/tests.rs",
        "a_log_has_as_many_machines_as_the_limit_and_otherwise_none",
    ),
    (
        "names of queues of an SWF log, or of partitions",
        "crates/ingest/src/formats/swf/tests.rs",
        "a_log_keeps_as_many_names_of_queues_as_the_limit_and_counts_the_rest",
    ),
    ("line of a grid workflow", RECORDS, "the_line_of_a_grid_workflow"),
    ("row of a list by sacct (text)", RECORDS, "the_row_of_a_list_by_sacct"),
    ("job of a list by sacct (JSON)", RECORDS, "the_job_of_a_list_by_sacct_in_json"),
    ("rows under one id in lists by sacct", SACCT, "a_job_has_as_many_rows_as_the_limit_and_not_one_more"),
    (
        "tasks of an array that have no id yet",
        SACCT,
        "an_array_has_as_many_tasks_without_an_id_as_the_limit_and_not_one_more",
    ),
    (
        "ends of jobs that the jobs of such lists wait for, and jobs that are noted for that",
        SACCT,
        "jobs_wait_for_as_many_ends_as_the_limit_and_not_one_more",
    ),
    ("nodes of a job in such a list", SACCT, "a_job_has_as_many_nodes_as_the_limit_and_not_one_more"),
    ("record of PBS or Torque", RECORDS, "the_record_of_pbs"),
    ("record of LSF", RECORDS, "the_record_of_lsf"),
    ("record of Grid Engine", RECORDS, "the_record_of_grid_engine"),
    (
        "records of one job in logs of PBS, LSF or Grid Engine, or in tables under a map",
        ACCOUNTING,
        "a_job_has_as_many_records_as_the_limit_and_not_one_more",
    ),
    (
        "jobs that other jobs of such logs wait for",
        "crates/ingest/src/formats/accounting/join.rs",
        "as_many_jobs_are_waited_for_as_the_limit_and_not_one_more",
    ),
    ("hosts of a job in such a record", ACCOUNTING, "a_job_has_as_many_hosts_as_the_limit_and_not_one_more"),
    ("map of a table", MAPPED, "a_map_is_read_up_to_its_limit_and_not_beyond"),
    (
        "states, filters, columns or groups of machines of a map, each",
        MAPPED,
        "lists_of_a_map_have_as_many_entries_as_the_limit_and_not_one_more",
    ),
    ("columns of a field of a map", MAPPED, "a_field_has_as_many_columns_as_the_limit_and_not_one_more"),
    ("name of a column or a machine in a map", MAPPED, "a_name_of_a_map_is_as_long_as_the_limit_and_not_longer"),
    ("machines of a map", MAPPED, "a_map_lists_as_many_machines_as_the_limit_and_not_one_more"),
    ("object of Kubernetes, or event of its audit log", RECORDS, "the_object_of_kubernetes"),
    ("line of metrics of Kubernetes", RECORDS, "the_line_of_metrics_of_kubernetes"),
    ("name of an object of Kubernetes", RECORDS, "the_name_of_an_object_of_kubernetes"),
    (
        "pod sets of a Workload among such objects",
        "crates/ingest/src/formats/kubernetes/tests.rs",
        "as_many_pod_sets_as_the_limit_and_not_one_more",
    ),
    (
        "states of an object of Kubernetes, or pods of one owner",
        "crates/ingest/src/formats/kubernetes/tests.rs",
        "more_states_than_the_limit_are_left_out",
    ),
    (
        "LocalQueues of a cluster",
        "crates/ingest/src/formats/kubernetes/store.rs",
        "as_many_local_queues_as_the_limit_and_not_one_more",
    ),
    (
        "nodes of a cluster of Kubernetes",
        "crates/ingest/src/formats/kubernetes/nodes.rs",
        "as_many_nodes_as_the_limit_and_not_one_more",
    ),
    ("pattern of a map", "crates/ingest/src/formats/mapped/pattern.rs", "a_pattern_of_many_stars_ends_soon"),
    ("row of a table under a map", MAPPED, "a_row_beyond_the_limit_is_counted"),
    ("columns of such a table as CSV", MAPPED, "a_row_has_as_many_columns_as_the_limit_and_not_one_more"),
    ("event of a Spark log", RECORDS, "the_event_of_a_spark_log"),
    (
        "jobs of a Spark application that run at once",
        "crates/ingest/src/formats/spark/tests.rs",
        "as_many_jobs_as_the_limit_run_at_once_and_not_one_more",
    ),
    (
        "stages and attempts of a Spark application, in memory",
        "crates/ingest/src/formats/spark/application.rs",
        "attempts_are_held_up_to_the_limit_and_not_beyond",
    ),
    (
        "arrivals and departures of executors of an application",
        "crates/ingest/src/formats/spark/executors.rs",
        "as_many_arrivals_as_the_limit_are_kept_and_the_rest_is_counted",
    ),
    (
        "preferred hosts beside a Spark log, in memory",
        "crates/ingest/src/formats/spark/preferred.rs",
        "rows_are_held_up_to_the_limit_and_not_beyond",
    ),
    ("objects below an address of an object store", STORE, "as_many_objects_as_the_limit_are_listed_and_not_one_more"),
    ("key of such an object", STORE, "a_key_at_the_limit_is_listed_and_a_longer_one_refused"),
    ("range of an object that is fetched at once", STORE, "an_object_is_read_in_ranges_of_bounded_size"),
    ("times that a range is fetched again", STORE, "a_range_is_fetched_again_as_often_as_the_limit_and_not_once_more"),
    ("applications with settings in a trace", APPLICATIONS, "what_is_too_much_is_counted"),
    ("settings of an application", APPLICATIONS, "what_is_too_much_is_counted"),
    ("name or value of such a setting", APPLICATIONS, "what_is_too_much_is_counted"),
    ("job of the Scheduler Load Simulator", RECORDS, "the_job_of_the_scheduler_load_simulator"),
    ("parts of such a job", RECORDS, "the_parts_of_a_job_of_the_scheduler_load_simulator"),
    (
        "times that such a job is submitted",
        "crates/ingest/src/formats/sls.rs",
        "a_job_runs_as_often_as_the_limit_and_the_rest_is_counted",
    ),
    ("tasks of such a job", RECORDS, "the_tasks_of_a_job_of_the_scheduler_load_simulator"),
    ("line of a log of YARN's applications", RECORDS, "the_line_of_a_log_of_yarns_applications"),
    ("application in a REST list", RECORDS, "the_application_of_a_rest_list"),
    ("record of a table of Google or Alibaba (CSV)", RECORDS, "the_record_of_a_csv_table"),
    ("fields of such a record", RECORDS, "the_fields_of_a_csv_record"),
    ("line of a table of Google 2019 (JSON)", RECORDS, "the_line_of_a_table_of_google_2019"),
    (
        "id of a job or task in tables",
        "crates/ingest/tests/formats/event_tables/damage.rs",
        "an_id_at_the_limit_is_read_and_a_longer_one_is_skipped_and_counted",
    ),
    ("id of a job or task elsewhere", TEXTS, "an_id_at_the_limit_is_kept_and_a_job_with_a_longer_one_is_not"),
    (
        "rows of unfinished jobs that are held until the last source",
        COPIES,
        "as_many_rows_are_held_as_the_limit_and_not_one_more",
    ),
    (
        "later attempts at a stage whose tasks are matched with those of the first",
        "crates/ingest/src/formats/spark/application.rs",
        "attempts_at_a_stage_are_matched_up_to_the_limit",
    ),
    (
        "outputs of a job that could not be fetched",
        "crates/ingest/src/formats/spark/application.rs",
        "outputs_that_are_lost_are_kept_up_to_the_limit",
    ),
    ("name, host or error text", TEXTS, "a_text_at_the_limit_is_whole_and_a_longer_one_is_cut"),
    ("run of a job, a task or an attempt", FAR, "a_run_at_the_limit_stays_and_a_longer_one_has_no_end"),
    ("time of a task before or after its job", FAR, "a_time_a_day_outside_of_its_job_stays_and_a_further_one_does_not"),
];

const CLUSTER_FILE: &str = "crates/tables/src/cluster_file/mod.rs";
const KUBERNETES: &str = "crates/policies/src/site/kubernetes.rs";
const XML: &str = "crates/policies/src/site/xml.rs";
const SLURM: &str = "crates/policies/src/site/slurm/tests.rs";
const METRICS: &str = "crates/analysis/src/metrics/named/tests.rs";
const REPORT: &str = "crates/report/src/lib.rs";
const WHOLE: &str = "crates/tables/src/whole.rs";
const WORKLOADS: &str = "crates/workload/src/tests.rs";
const RECORDS: &str = "crates/ingest/src/formats/limit_tests.rs";
const COPIES: &str = "crates/ingest/src/copies.rs";
const SACCT: &str = "crates/ingest/src/formats/sacct/tests.rs";
const ACCOUNTING: &str = "crates/ingest/src/formats/accounting/tests.rs";
const MAPPED: &str = "crates/ingest/src/formats/mapped/tests.rs";
const STORE: &str = "crates/objects/src/tests.rs";
const APPLICATIONS: &str = "crates/ingest/src/applications.rs";
const TEXTS: &str = "crates/ingest/src/complete.rs";
const FAR: &str = "crates/ingest/src/far.rs";

/// All limits of the page.
fn all() -> impl Iterator<Item = &'static Limit> {
    let others = [resched_sweep::LIMITS, resched_workload::limits::WORKLOADS, resched_ingest::limits::SOURCES];
    COMMANDS.into_iter().chain(CLUSTERS).chain(others).flatten()
}

/// Whether a text of Rust has this test.
fn has_test(text: &str, name: &str) -> bool {
    let begins = format!("fn {name}()");
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&begins))
}

#[test]
fn each_limit_has_a_test_at_the_limit_and_one_beyond() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let limits: BTreeSet<&str> = all().map(|limit| limit.what).collect();
    assert_eq!(limits.len(), all().count(), "two limits have one name, so the list below cannot distinguish them");
    let tested: BTreeSet<&str> = TESTS.iter().map(|(limit, ..)| *limit).collect();
    let without: Vec<_> = limits.difference(&tested).collect();
    assert!(without.is_empty(), "add a test of these limits to `TESTS`: {without:?}");
    let gone: Vec<_> = tested.difference(&limits).collect();
    assert!(gone.is_empty(), "these are no limits any more: {gone:?}");
    for (limit, file, name) in TESTS {
        let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{limit}: {file}: {error}"));
        assert!(has_test(&text, name), "{limit}: {file} has no test `{name}`");
    }
}

#[test]
fn a_test_is_a_function_with_its_attribute() {
    let text = "mod tests {\n    #[test]\n    fn one() {\n    }\n    fn two() {}\n}\n// fn three()\n";
    assert_eq!(["one", "two", "three", "on"].map(|name| has_test(text, name)), [true, false, false, false]);
}

#[test]
fn the_page_of_limits_is_fresh() {
    let about = "resched refuses inputs above these limits before the work begins, and names the number needed. So a typing error or a \
                 hostile file cannot use up your memory or your time. A refused request ends with exit status 2. Damaged records of a \
                 source are skipped and counted; `trace.json` and `resched inspect` show the counts.";
    let option = |limit: &Limit| if limit.option.is_empty() { String::new() } else { format!("`{}`", limit.option) };
    let rows = |limits: &'static [Limit]| {
        limits.iter().map(move |limit| {
            vec![limit.what.to_owned(), limit.most.to_string(), option(limit), limit.beyond.to_owned()]
        })
    };
    let heading = ["limit of", "at most", "option", "beyond it"];
    let page = Page::new("Limits", about, TEST)
        .heading("Of all commands, and of reports")
        .rows(&heading, COMMANDS.into_iter().flat_map(rows))
        .heading("Of cluster files and configurations")
        .rows(&heading, CLUSTERS.into_iter().flat_map(rows))
        .heading("Of sweeps and searches")
        .rows(&heading, rows(resched_sweep::LIMITS))
        .heading("Of workload files")
        .rows(&heading, rows(resched_workload::limits::WORKLOADS))
        .heading("Of sources")
        .paragraph("Each record is read through a limit, so the memory of an ingest does not grow with its source.")
        .rows(&heading, rows(resched_ingest::limits::SOURCES));
    assert_fresh("limits.md", &page.text());
}
