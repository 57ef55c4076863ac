//! The table of errors by phase and size.

use resched_analysis::statistics::distribution::mean;
use resched_analysis::validation::{SizeClass, phases_of};
use resched_compare::validate::Validated;

use crate::output::{Text, count, table};

/// The errors of one policy, means over seeds: for each size the median error of completion and, by phase, the mean error with its
/// sign and without.
pub(super) fn in_words(validated: &Validated) -> Text {
    let first = validated.replays.first().map(|replay| replay.validation.by_size.as_slice()).unwrap_or_default();
    let shown = phases_of(validated.system, first);
    let over_seeds = |class: &SizeClass, pick: &dyn Fn(&SizeClass) -> Option<f64>| {
        let same = |other: &&SizeClass| (other.from, other.to) == (class.from, class.to);
        let replays = validated.replays.iter().filter_map(|replay| pick(replay.validation.by_size.iter().find(same)?));
        mean(&replays.collect::<Vec<f64>>())
    };
    let rows = first.iter().map(|class| {
        let median = over_seeds(class, &|class| Some(class.completion?.median));
        let phases = shown.iter().map(|(phase, _)| {
            let signed = over_seeds(class, &|class| Some(class.phases.get(*phase)?.mean_signed));
            let size = over_seeds(class, &|class| Some(class.phases.get(*phase)?.mean));
            signed
                .zip(size)
                .map_or_else(dash, |(signed, size)| format!("{:+.1} (±{:.1})", signed * 100.0, size * 100.0))
        });
        let median = median.map_or_else(dash, |median| format!("{:.1} %", median * 100.0));
        [name(class), count(class.jobs), median].into_iter().chain(phases).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return Text::default();
    }
    let by = first.first().map_or_else(String::new, |class| format!("jobs by {}", class.size));
    let titles = shown.iter().map(|(_, title)| *title);
    let heading = [by.as_str(), "jobs", "median error"].into_iter().chain(titles).collect::<Vec<&str>>();
    Text::from("\n")
        + table(&heading, rows, 1..heading.len())
        + "Mean error by phase, in % of the completion time. Below 0, the replay is too fast. In brackets: the mean without signs.\n\n"
}

fn dash() -> String {
    "-".to_owned()
}

fn name(class: &SizeClass) -> String {
    match (class.from, class.to) {
        (from, Some(to)) => format!("{} to {}", count(from), count(to)),
        (1, None) => "all".to_owned(),
        (from, None) => format!("{} and more", count(from)),
    }
}
