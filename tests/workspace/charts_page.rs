//! The reference page of charts is made from the code. A test fails if it is stale.

use super::fresh::assert_fresh;
use resched_report::charts::CHARTS;
use resched_tables::reference::Page;

#[test]
fn the_page_of_charts_is_fresh() {
    let about = "`resched report` draws these charts, each as `<name>.png`, `<name>.svg` or `<name>.pdf` (`--format`). `--only` takes \
                 their names. A chart without data is left out. Each names the number of jobs, maps or nodes that it shows, and its \
                 seeds. For a policy with several seeds, it shows the first run. The *baseline* is the first policy, or that of \
                 `--baseline`.";
    let row = |chart: &resched_report::charts::Chart| {
        vec![format!("`{}`", chart.name), chart.title.to_owned(), chart.caption.to_owned()]
    };
    let page = Page::new("Charts", about, "--workspace --test workspace")
        .rows(&["name", "title", "shows"], CHARTS.iter().map(row))
        .paragraph(
            "`--width` and `--font-size` set the size in pixels: 480 pixels are a column of 85 mm in print, and 16 pixels are letters of 8 points. \
             The PNG and the PDF carry that size. Lines differ in colour, in lightness and in their dashes, so that up to eight policies \
             stay apart in greyscale.",
        )
        .paragraph(
            "An axis of time ends where the tail of the runs begins, if that leaves at most 60 % of it. In the tail, at most 1 % of the \
             jobs of each run (one of 10 to 199 jobs) still run, and on average at most a tenth of the tasks that ran before. The note \
             below the figure then shows where it was cut. It also gives the jobs and the share of all task time beyond the cut, each as \
             the largest over the runs.",
        );
    assert_fresh("reference/charts.md", &page.text());
}
