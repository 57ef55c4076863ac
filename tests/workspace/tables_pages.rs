//! The reference pages of workload files and tables are made from the code and must be as fresh as the code.

use super::fresh::assert_fresh;
use resched_report::tables::{ComparedJobRow, JobBlameRow, JobPhaseRow};
use resched_tables::model::{
    AttemptRow, CounterRow, DecisionRow, JobRow, NodeRow, ReasonRow, ResourceRow, SplitRow, TaskRow,
};
use resched_tables::reference::{Page, Value, joined};
use resched_tables::store::columns::Row;
use resched_workload::Workload;

const TEST: &str = "--workspace --test workspace";

const WORKLOAD: &str = r#"name = "two-greps"
about = "A large job, and a small one that arrives while it runs."

[cluster]
nodes = 7
replication = 1

[classes.grep]
map_mean_s = 36.0
map_variation = 0.3
map_selectivity = 0.1
reduce_mean_s = 60.0

[[jobs]]
class = "grep"
submit_s = 0
maps = 148
reduces = 15

[[jobs]]
class = "grep"
submit_s = 60
maps = 8
reduces = 2
"#;

#[test]
fn the_page_of_workload_files_is_fresh() {
    Workload::parse(WORKLOAD, "workload-file.md").unwrap();
    let about = "A workload file (TOML) describes the jobs of an experiment. `resched replay` and sweeps replay it as it is; \
                 `resched generate` writes its trace. An unknown key is an error that names the line and the nearest key. \
                 `traces/` holds examples.";
    let page = Page::new("Workload file", about, TEST).example(WORKLOAD).keys(Workload::shape());
    assert_fresh("reference/workload-file.md", &page.text());
}

#[test]
fn the_page_of_tables_is_fresh() {
    fn table<R: Row>(page: Page) -> Page {
        page.columns(R::TABLE, &joined(R::ABOUT), &R::reference())
    }
    let about = "A trace and a run are folders of Parquet tables. A trace holds `jobs`, `tasks`, `attempts`, `splits`, `nodes` and, on \
                 request, `counters`, with `trace.json` beside them. A run holds `jobs`, `attempts` and, on request, `decisions` and \
                 `reasons`, with `run.json` beside them; under the cost model `contention` it also holds `resources`. A large table \
                 is a folder of files instead of one file.";
    let times = "Times of a trace are ms since 1970, or since the trace's own zero if its `trace.json` says `relative`. Times of a \
                 run are ms of the simulated clock. Null stands for unknown. In Python: \
                 `pandas.read_parquet(\"T/attempts.parquet\")`.";
    let page = Page::new("Tables", about, TEST).paragraph(times);
    let page = table::<AttemptRow>(table::<TaskRow>(table::<JobRow>(page)));
    let page = table::<CounterRow>(table::<NodeRow>(table::<SplitRow>(page)));
    let page = table::<ResourceRow>(table::<ReasonRow>(table::<DecisionRow>(page)));
    let report = "A report holds three more tables: another one called `jobs`, with a row for each job of each run, and `phases` and \
                  `blame`, which explain the times of the jobs on the page.";
    let page = table::<ComparedJobRow>(page.paragraph(report));
    let page = table::<JobBlameRow>(table::<JobPhaseRow>(page));
    assert_fresh("reference/tables.md", &page.text());
}
