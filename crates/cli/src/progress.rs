//! Progress bars on standard error. They appear only on a terminal, and disappear when the work is done.

use std::path::Path;
use std::sync::{Mutex, OnceLock};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use resched_compare::Watch;
use resched_tables::call::{Call, checkpoint};

use crate::host::Host;
use crate::output::{name, print_message};

/// A bar that counts `unit`, such as `{bytes}/{total_bytes}`.
fn bar(length: u64, unit: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    let template = format!("{{prefix:16!}} {{wide_bar}} {unit} {{eta_precise}} {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    watched(bar)
}

/// Inside another program, a bar is not drawn: that program looks at it and draws its own.
fn watched(bar: ProgressBar) -> ProgressBar {
    if let Some(host) = Host::current() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        host.watch(bar.clone());
    }
    bar
}

/// The progress of an ingest, in bytes.
pub(crate) struct IngestProgress(ProgressBar);

impl IngestProgress {
    pub(crate) fn new() -> Self {
        let bar = bar(0, "{bytes}/{total_bytes} {bytes_per_sec}");
        bar.set_prefix("ingest");
        Self(bar)
    }
}

impl resched_ingest::Progress for IngestProgress {
    fn begin(&mut self, total_bytes: u64) {
        self.0.reset();
        self.0.set_length(total_bytes);
    }

    fn file(&mut self, path: &Path) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        self.0.set_message(name(&file).into_owned());
    }

    fn advance(&mut self, bytes: u64) {
        checkpoint();
        self.0.inc(bytes);
    }
}

impl Drop for IngestProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The progress of several replays, with one bar for each.
pub(crate) struct ReplayProgress(MultiProgress);

impl ReplayProgress {
    pub(crate) fn new() -> Self {
        // A bar is drawn where all of them are.
        Self(match Host::current() {
            Some(_) => MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
            None => MultiProgress::new(),
        })
    }

    /// Adds the bar of one replay. `jobs` is the number of its jobs.
    pub(crate) fn add(&self, label: &str, jobs: u64) -> ProgressBar {
        let bar = self.0.add(bar(jobs, "{pos}/{len} jobs"));
        bar.set_prefix(name(label).into_owned());
        bar
    }
}

/// The bars of a comparison: one for each replay, then one for the test of its sign.
#[derive(Default)]
pub(crate) struct ReplayBars {
    replays: OnceLock<Vec<ProgressBar>>,
    variants: OnceLock<ProgressBar>,
}

impl Watch for ReplayBars {
    fn begin(&self, replays: &[(String, u64)]) {
        let progress = ReplayProgress::new();
        self.replays.get_or_init(|| replays.iter().map(|(label, jobs)| progress.add(label, *jobs)).collect());
    }

    fn jobs(&self, replay: usize, jobs: u64) {
        if let Some(bar) = self.replays.get().and_then(|bars| bars.get(replay)) {
            bar.set_position(jobs);
        }
    }

    fn ended(&self, replay: usize) {
        if let Some(bar) = self.replays.get().and_then(|bars| bars.get(replay)) {
            bar.finish_and_clear();
        }
    }

    fn begin_variants(&self, replays: u64) {
        self.variants.get_or_init(|| replays_bar("variants", replays));
    }

    fn tried(&self) {
        if let Some(bar) = self.variants.get() {
            bar.inc(1);
        }
    }

    fn end_variants(&self) {
        if let Some(bar) = self.variants.get() {
            bar.finish_and_clear();
        }
    }
}

/// The progress of a back-test, in moments.
pub(crate) struct ForecastProgress(ProgressBar);

impl ForecastProgress {
    pub(crate) fn new(moments: u64) -> Self {
        let bar = bar(moments, "{pos}/{len} moments");
        bar.set_prefix("back-test");
        Self(bar)
    }

    /// The forecasts of one moment are made.
    pub(crate) fn tested(&self) {
        self.0.inc(1);
    }
}

impl Drop for ForecastProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar that counts replays.
pub(crate) fn replays_bar(prefix: &'static str, replays: u64) -> ProgressBar {
    let bar = bar(replays, "{pos}/{len} replays");
    bar.set_prefix(prefix);
    bar
}

/// The progress of a reproduction, in replays.
#[cfg(feature = "papers")]
pub(crate) struct ReproduceProgress(ProgressBar);

#[cfg(feature = "papers")]
impl ReproduceProgress {
    pub(crate) fn new() -> Self {
        Self(replays_bar("reproduce", 0))
    }

    pub(crate) fn begin(&self, replays: u64) {
        self.0.set_length(replays);
    }

    pub(crate) fn done(&self, experiment: &str) {
        self.0.set_message(experiment.to_owned());
        self.0.inc(1);
    }
}

#[cfg(feature = "papers")]
impl Drop for ReproduceProgress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Whether the call was stopped that this thread works for.
fn is_stopped() -> bool {
    Call::current().is_some_and(|call| call.is_stopped())
}

/// The progress of a sweep, in cells.
pub(crate) struct SweepProgress(ProgressBar);

/// The bar of the running sweep, and the place where its cells are kept.
static SWEEP: Mutex<Option<(ProgressBar, String)>> = Mutex::new(None);

/// If an interrupt ends a sweep, prints how many cells are done.
pub(crate) fn report_kept_cells() {
    let Ok(Some((bar, place))) = SWEEP.lock().map(|mut sweep| sweep.take()) else { return };
    // A finished bar is full, however far it came.
    let (done, all) = (bar.position(), bar.length().unwrap_or(0));
    bar.finish_and_clear();
    print_message(&format!("{done} of {all} cells are done and kept in {place}; run the same command again to resume"));
}

impl SweepProgress {
    /// `place`: where the cells are kept.
    pub(crate) fn new(place: String) -> Self {
        let bar = bar(0, "{pos}/{len} cells {per_sec}");
        bar.set_prefix("sweep");
        if let Ok(mut sweep) = SWEEP.lock() {
            *sweep = Some((bar.clone(), place));
        }
        Self(bar)
    }

    pub(crate) fn begin(&self, cells: u64, done: u64) {
        self.0.set_length(cells);
        self.0.set_position(done);
        // The estimate of the time left must not count the cells of an earlier call.
        self.0.reset_eta();
    }

    pub(crate) fn done(&self, policy: &str) {
        self.0.set_message(policy.to_owned());
        self.0.inc(1);
    }
}

impl Drop for SweepProgress {
    fn drop(&mut self) {
        if is_stopped() {
            report_kept_cells();
        }
        if let Ok(mut sweep) = SWEEP.lock() {
            *sweep = None;
        }
        self.0.finish_and_clear();
    }
}

/// The progress of a search for a size, in jobs of the replays at the size that is tried.
pub(crate) struct SizeProgress(ProgressBar);

/// The replays of the running search that are kept, and their folder; `None` if they are not kept.
static SIZE: Mutex<Option<(ProgressBar, Option<String>, usize)>> = Mutex::new(None);

/// If an interrupt ends a search for a size, prints how many replays are kept.
pub(crate) fn report_kept_probes() {
    let Ok(Some((bar, place, kept))) = SIZE.lock().map(|mut size| size.take()) else { return };
    bar.finish_and_clear();
    print_message(&match place {
        Some(place) => {
            let are = if kept == 1 { "replay is" } else { "replays are" };
            format!("{kept} {are} done and kept in {place}; run the same command again to resume")
        }
        None => "nothing is kept; with --out DIR, you can resume an interrupted search".to_owned(),
    });
}

impl SizeProgress {
    /// `place`: where replays are kept. `kept`: how many are kept there already.
    pub(crate) fn new(place: Option<String>, kept: usize) -> Self {
        let bar = bar(0, "{pos}/{len} jobs");
        bar.set_prefix("size");
        if let Ok(mut size) = SIZE.lock() {
            *size = Some((bar.clone(), place, kept));
        }
        Self(bar)
    }

    /// The replays at a size begin. They have so many jobs together.
    pub(crate) fn begin(&self, size: String, jobs: u64) {
        self.0.reset();
        self.0.set_length(jobs);
        self.0.set_message(size);
    }

    /// So many more jobs have ended.
    pub(crate) fn jobs(&self, more: u64) {
        self.0.inc(more);
    }

    /// A replay is done, and kept.
    pub(crate) fn replayed(&self) {
        if let Ok(mut size) = SIZE.lock()
            && let Some((_, _, kept)) = size.as_mut()
        {
            *kept += 1;
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn print_line(&self, line: &str) {
        self.0.suspend(|| print_message(line));
    }
}

impl Drop for SizeProgress {
    fn drop(&mut self) {
        if is_stopped() {
            report_kept_probes();
        }
        if let Ok(mut size) = SIZE.lock() {
            *size = None;
        }
        self.0.finish_and_clear();
    }
}

/// A spinner, for work of unknown length.
pub(crate) fn spinner(prefix: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    spinner.set_prefix(prefix.to_owned());
    if let Ok(style) = ProgressStyle::with_template("{prefix:16!} {spinner} {msg}") {
        spinner.set_style(style);
    }
    watched(spinner)
}
