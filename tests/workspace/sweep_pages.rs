//! The reference pages of sweep files and metrics are made from the code. A test fails if one is stale.

use std::path::Path;

use super::fresh::assert_fresh;
use resched_analysis::metrics::list::{Better, QUANTITIES};
use resched_analysis::metrics::named::{ATTRIBUTES, listed};
use resched_analysis::{Details, JobMetrics, LocalityCounts, Summary};
use resched_sweep::{SweepFile, WORLD_KEYS};
use resched_tables::reference::Page;

const TEST: &str = "--workspace --test workspace";

const SWEEP: &str = r#"name = "delay-D"
about = "How long should jobs wait for their data?"
workload = "../delay-locality.toml"
cluster = "../clusters/delay.toml"
seeds = 15
baseline = "naive-fair"
metric = "mean_completion"
second = "node_locality"
matters = "5%"

[design]
kind = "latin-hypercube"
samples = 64
seed = 1

[world]
nodes = [50, 100]
"cluster.jobs.slowstart" = [0.05, 0.8]

[variants.naive-fair]

[variants.delay]
D = { from = 1, to = 64, scale = "log" }

[variants.patient]
policy = "delay:lambda=0.9+late"
"late.cap" = [0.1, 0.2]
"#;

#[test]
fn the_page_of_sweep_files_is_fresh() {
    SweepFile::parse(SWEEP, Path::new("sweep-file.md")).unwrap();
    let about = "A sweep file (TOML) names what varies: parameters of policies, of the cluster and of the workload. `resched sweep` \
                 replays it and reports which differences are real. `resched tune` searches it for the best parameters. An \
                 unknown key is an error that names the line, the column and the nearest key. `traces/sweeps/` holds examples.";
    let values = "A key of `[world]` or of a variant has one value, a list of values, or one of these tables. If one value is itself a \
                  list, for example `cluster.cost.locality`, put it into a list.";
    let world = "Any key of the [cluster file](cluster-file.md) can vary under its path, such as `\"cluster.heartbeat.jitter\"`, \
                 and any key of a [workload file](workload-file.md), such as `\"workload.cluster.racks\"`. These keys have short \
                 names:";
    let path = |path: Option<&str>| path.map_or_else(String::new, |path| format!("`{path}`"));
    let keys = WORLD_KEYS.iter().map(|key| {
        let kind = if key.integer { "integer" } else { "number" };
        let [workload, trace] = key.paths;
        vec![format!("`{}`", key.name), kind.to_owned(), path(workload), path(trace), key.meaning.to_owned()]
    });
    let page = Page::new("Sweep file", about, TEST)
        .example(SWEEP)
        .keys(SweepFile::shape())
        .heading("Keys of `[world]`")
        .paragraph(world)
        .rows(&["key", "type", "for a workload file", "for a trace", "meaning"], keys)
        .heading("Values")
        .paragraph(values)
        .table(SweepFile::values_shape());
    assert_fresh("reference/sweep-file.md", &page.text());
}

#[test]
fn the_page_of_metrics_is_fresh() {
    let about = "Reports, sweeps and `--json` show these numbers of a run. All of them come from its tables `jobs` and `attempts` \
                 ([tables](tables.md)), so a trace has them, too. A job *counts* if it was submitted in \
                 the window of the run and ended well, in every run that is compared. Numbers cover only the jobs that count, \
                 because the time of a failed job does not show how well it was served. But waits and use also cover the jobs that \
                 started and did not end well, if they started in every run that is compared.";
    let sources = "Sources: Coupling is Tan, Meng, Zhang 2013; DRESS is Mao et al. 2020.";
    let better = |less: bool| if less { "less" } else { "more" };
    let known = listed().iter().filter(|(number, _)| !number.name.is_empty()).map(|(number, metric)| {
        let meaning = number.meaning();
        let texts = [number.title, metric.unit, better(metric.less_is_better), &meaning, number.null()];
        [format!("`{}`", number.name)].into_iter().chain(texts.map(str::to_owned)).collect()
    });
    let quantities = QUANTITIES.iter().map(|quantity| {
        let texts = [quantity.unit, better(quantity.better == Better::Less), quantity.title];
        [format!("`{}`", quantity.name)].into_iter().chain(texts.map(str::to_owned)).collect()
    });
    let attributes =
        ATTRIBUTES.iter().map(|attribute| vec![format!("`{}`", attribute.name), attribute.meaning.to_owned()]);
    let page = Page::new("Metrics", about, TEST)
        .paragraph(sources)
        .heading("Of a job")
        .measures(JobMetrics::MEASURES)
        .heading("Of a run")
        .paragraph("`resched replay --json` prints these numbers:")
        .measures(Summary::MEASURES)
        .paragraph("`locality` has three numbers:")
        .measures(LocalityCounts::MEASURES)
        .paragraph("Reports also show the details:")
        .measures(Details::MEASURES)
        .heading("With a name")
        .paragraph(
            "`--metric` and the keys `metric`, `second`, `metrics`, `objective` and `bounds` of a sweep file take these names, and \
             expressions such as `p95(completion) where queue = 'adhoc'` ([metrics](../metrics.md)):",
        )
        .rows(&["name", "title", "unit", "better", "meaning", "null"], known)
        .heading("Quantities of a job")
        .paragraph("Expressions aggregate these, and filters compare them:")
        .rows(&["name", "unit", "better", "meaning"], quantities)
        .heading("Attributes of a job")
        .paragraph("Filters compare these, too:")
        .rows(&["name", "meaning"], attributes);
    assert_fresh("reference/metrics.md", &page.text());
}
