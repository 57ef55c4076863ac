//! Events of the cost model `contention`: an attempt has finished its current stage. They come first at their instant.

use super::Engine;
use super::events::Position;
use crate::Error;
use crate::hadoop::contention::Stage;
use crate::hadoop::kind::Kind;
use crate::hadoop::observer::Used;
use crate::ids::{AttemptId, Ms};

impl Engine<'_, '_> {
    /// An attempt is done with what it was at.
    pub(super) fn work(&mut self, id: AttemptId, at: Position) {
        let Some(bench) = &mut self.world.bench else { return };
        let stage = bench.stage(id);
        bench.finish_stage(id, at.0);
        match stage {
            Some(Stage::Launch) => self.world.begin_work(id),
            Some(Stage::Fetch) => self.world.fetched(id),
            Some(Stage::Map | Stage::Compute) => self.work_done(id, at),
            None => {}
        }
    }

    fn work_done(&mut self, id: AttemptId, at: Position) {
        let run = &mut self.world.runs[id.index()];
        run.end = Some(at.0);
        if let (Kind::Reduce, Some(fetched)) = (run.kind, run.shuffle_finish) {
            // Sorting and reducing were slowed alike.
            let (time, alone) = (at.0 - fetched, (run.course.sort + run.course.run).max(1));
            run.course.sort = (time as f64 * run.course.sort as f64 / alone as f64) as Ms;
            run.course.run = time - run.course.sort;
        }
        let node = run.node;
        self.schedule(node, self.beat_for_end(node, at.0, at));
    }

    /// Gives all work the pace that what has changed lets it have.
    pub(super) fn retune(&mut self) {
        let now = self.world.now;
        if let Some(bench) = &mut self.world.bench {
            bench.retune(now);
        }
    }

    /// Reports what nodes used, for each full time of a sample up to this instant. In a lull, few samples are taken.
    pub(super) fn report_use(&mut self, until: Ms) -> Result<(), Error> {
        let Some(contention) = &self.world.cluster.config.cost.contention else { return Ok(()) };
        let time = contention.sample;
        loop {
            let next = self.sample_that_counts(time);
            if next > until {
                return Ok(());
            }
            self.report_use_at(next)?;
        }
    }

    /// Reports what nodes used since the last report.
    pub(super) fn report_use_at(&mut self, at: Ms) -> Result<(), Error> {
        let time = at - self.sampled;
        self.sampled = at;
        for node in self.world.cluster.node_ids() {
            let Some(bench) = &mut self.world.bench else { return Ok(()) };
            let sample = bench.sample(node, at, time);
            let [disk, net_in, net_out] = sample.bytes;
            let (cpu, io_wait) = (sample.cpu, sample.io_wait);
            self.observer.used(&Used { at, node, cpu, io_wait, disk, net_in, net_out })?;
        }
        Ok(())
    }
}
