//! The description of a chart.

use resched_analysis::{Population, Run};

use crate::Error;
use crate::scene::{Chosen, Scene};

/// A chart of some runs. It shows only the jobs that count.
pub struct Chart {
    /// Its name, which is also the name of its files without extension.
    pub name: &'static str,
    /// Its title in a report.
    pub title: &'static str,
    /// Its caption: what it shows and how to read it.
    pub caption: &'static str,
    /// True if the page of a report has an interactive form of it.
    pub interactive: bool,
    /// True if it is folded away in the page at first, so that the page stays short.
    pub folded: bool,
    /// Draws it as SVG; `None` if the runs have nothing to show.
    ///
    /// # Errors
    /// [`Error::Draw`] if the drawing library fails.
    pub draw: fn(&Scene<'_>) -> Result<Option<String>, Error>,
}

impl Chart {
    /// Draws it for `runs` with their labels, over the jobs that count in all of them.
    ///
    /// # Errors
    /// [`Error::Draw`] if the drawing library fails.
    pub fn of_runs(&self, runs: &[Run]) -> Result<Option<String>, Error> {
        let population = Population::of(&runs.iter().collect::<Vec<_>>());
        let places: Vec<usize> = (0..runs.len()).collect();
        let chosen: Vec<Chosen<'_>> =
            runs.iter().zip(places.chunks(1)).map(|(run, runs)| Chosen { label: &run.label, runs }).collect();
        (self.draw)(&Scene::new(runs, &population, &chosen))
    }
}
