//! The answer of a sweep in sentences. One rule gives its headline and its tables: the verdict on each comparison, by its interval.

use std::collections::BTreeMap;

use resched_analysis::metrics::named::Metric;
use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::paired::least_p;
use resched_analysis::statistics::practical::{Matters, Ratio, Verdict};
use resched_report::alike;
use resched_tables::words::{all_of, change_in_percent, signed};

use crate::merge::Merged;
use crate::statistics::{Difference, Group, OtherDays, differences, numbered, ranking};

/// A test whose p-value, corrected for the number of comparisons, is below this is called significant.
pub(crate) const LEVEL: f64 = 0.05;

/// How a setting stands against its baseline in a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Better, by more than what matters.
    MuchBetter,
    /// Worse, by more than what matters.
    MuchWorse,
    /// Better; whether by more than what matters is open.
    Better,
    /// Worse; whether by more than what matters is open.
    Worse,
    /// The difference is smaller than what matters.
    Alike,
    /// The interval holds both: better and worse.
    Open,
    /// No draw changes the times, so that nothing was tested over draws.
    NotTested,
    /// The data cannot answer the question.
    NotAnswerable,
}

impl Standing {
    /// What the verdict of a comparison says. It is the verdict that the tables show.
    pub(crate) fn of(found: &Difference, metric: &Metric) -> Self {
        let better = |by: f64| metric.cost(by) < 0.0;
        match found.verdict {
            Verdict::NotAnswerable => Self::NotAnswerable,
            _ if found.fixed => Self::NotTested,
            Verdict::Smaller if better(-1.0) => Self::MuchBetter,
            Verdict::Larger if better(1.0) => Self::MuchBetter,
            Verdict::Smaller | Verdict::Larger => Self::MuchWorse,
            Verdict::Equivalent | Verdict::TooSmall => Self::Alike,
            _ => match certain_sign(found) {
                Some(by) if better(by) => Self::Better,
                Some(_) => Self::Worse,
                None => Self::Open,
            },
        }
    }

    /// True if the interval decides: the setting is better, worse or as good.
    pub(crate) fn is_decided(self) -> bool {
        !matches!(self, Self::Open | Self::NotTested | Self::NotAnswerable)
    }

    /// So many settings that stand so, as a part of a sentence.
    fn in_words(self, settings: usize, matters: Matters) -> String {
        let is = if settings == 1 { "is" } else { "are" };
        match self {
            Self::MuchBetter => format!("{settings} {is} better by more than {matters}"),
            Self::MuchWorse => format!("{settings} {is} worse by more than {matters}"),
            Self::Better => format!("{settings} {is} better, but perhaps by less than {matters}"),
            Self::Worse => format!("{settings} {is} worse, but perhaps by less than {matters}"),
            Self::Alike if settings == 1 => format!("1 differs by less than {matters}"),
            Self::Alike => format!("{settings} differ by less than {matters}"),
            Self::Open => format!("the seeds do not show whether {settings} {is} better or worse"),
            Self::NotTested if settings == 1 => "no draw changes the times of 1".to_owned(),
            Self::NotTested => format!("no draw changes the times of {settings}"),
            Self::NotAnswerable => format!("the data cannot answer the question for {settings}"),
        }
    }
}

/// 1 or −1 if the 95 % interval of a comparison lies above or below no difference.
fn certain_sign(found: &Difference) -> Option<f64> {
    match found.ratio {
        Some(ratio) => ratio.is_certain().then(|| (ratio.value - 1.0).signum()),
        // A value is 0, so that there is no ratio. A single seed has no interval.
        None => {
            let Estimate { value, low, high } = found.difference;
            (found.seeds > 1 && (low > 0.0 || high < 0.0)).then(|| value.signum())
        }
    }
}

impl Merged {
    /// The answer in sentences, as on the page.
    pub fn answer(&self) -> Vec<String> {
        let groups = self.groups();
        let ranked = ranking(&groups, &self.file.metric);
        answer(self, &groups, &ranked, &differences(&groups, &self.file))
    }
}

/// The best setting with its interval, how many settings are better and worse than the baseline, and what tests can say about it.
pub(crate) fn answer(
    merged: &Merged,
    groups: &[Group<'_>],
    ranked: &[(usize, Estimate)],
    compared: &[Difference],
) -> Vec<String> {
    let metric = &merged.file.metric;
    let sources = merged.plan.sources.len();
    let best = numbered(groups, ranked).filter(|(rank, ..)| *rank == 1);
    let best: Vec<String> = best
        .filter_map(|(_, place, found)| {
            let best = groups.get(place)?;
            let settings = groups.iter().filter(|group| group.place.0 == best.place.0).count();
            let on = if sources > 1 { format!("On {}: of", merged.source_name(best.place.0)) } else { "Of".to_owned() };
            let as_good = |&(other, equal): &(usize, Estimate)| {
                equal.value == found.value && groups.get(other).is_some_and(|group| group.place.0 == best.place.0)
            };
            let ties = ranked.iter().filter(|row| as_good(row)).count().saturating_sub(1);
            let reported = best_in_words(metric, best, found, &format!("{on} {settings}"), settings);
            Some(match ties {
                0 => reported,
                1 => format!("{reported} One other setting is as good."),
                ties => format!("{reported} {ties} other settings are as good."),
            })
        })
        .collect();
    if best.is_empty() {
        return vec!["No setting has a value of this metric.".to_owned()];
    }
    let rows: Vec<&Difference> = compared.iter().filter(|row| row.metric == metric.name).collect();
    let more = [against(&rows, metric, merged.file.matters), out_of_reach(&rows), over_draws(groups, &rows)];
    let days = over_other_days(groups, &rows, metric);
    best.into_iter().chain(more.into_iter().flatten()).chain(days).collect()
}

/// The best setting of so many, with its interval.
fn best_in_words(metric: &Metric, best: &Group<'_>, found: Estimate, of: &str, settings: usize) -> String {
    let [mean, low, high] = in_one_unit(metric, found);
    let spread = match best.seeds() {
        _ if best.is_fixed() => "no draw changes it".to_owned(),
        1 => "one seed, which does not show the spread".to_owned(),
        seeds => format!("95 % interval over draws {low} to {high}, {seeds} seeds"),
    };
    let things = if settings == 1 { "setting" } else { "settings" };
    format!("{of} {things}, {} is the best by {}: {mean} ({spread}).", best.label(), metric.title.to_lowercase())
}

/// How many settings are better and worse than their baseline, by the verdicts of the table.
fn against(rows: &[&Difference], metric: &Metric, matters: Matters) -> Option<String> {
    let mut standings: BTreeMap<Standing, usize> = BTreeMap::new();
    for row in rows {
        *standings.entry(Standing::of(row, metric)).or_default() += 1;
    }
    let parts: Vec<String> = standings.into_iter().map(|(standing, n)| standing.in_words(n, matters)).collect();
    let settings = match rows.len() {
        0 => return None,
        1 => "setting that is".to_owned(),
        settings => format!("{settings} settings that are"),
    };
    Some(format!(
        "Of the {settings} compared with the baseline in {}, {} (by the 95 % intervals over draws).",
        metric.title.to_lowercase(),
        all_of(&parts)
    ))
}

/// What intervals over draws do not say, if some comparison has one and the jobs are those of a trace.
fn over_draws(groups: &[Group<'_>], rows: &[&Difference]) -> Option<String> {
    let is_over_draws = |row: &&&Difference| row.other_days.is_some() && !row.fixed && row.seeds > 1;
    rows.iter().find(is_over_draws)?;
    let fixed = groups.iter().filter(|group| group.is_fixed()).count();
    let fixed = match fixed {
        0 => String::new(),
        1 => " No draw changes the times of 1 setting.".to_owned(),
        fixed => format!(" No draw changes the times of {fixed} settings."),
    };
    Some(format!(
        "These intervals and tests are over draws, with the jobs of the trace fixed: they do not say what other days would bring.{fixed}"
    ))
}

/// The most comparisons that are given one by one over other days.
const MOST_ONE_BY_ONE: usize = 5;

/// What other days would bring: each comparison if there are few, or else how many are significant.
fn over_other_days(groups: &[Group<'_>], rows: &[&Difference], metric: &Metric) -> Vec<String> {
    let rows: Vec<(&Difference, OtherDays)> = rows.iter().filter_map(|row| Some((*row, row.other_days?))).collect();
    let label = |place: usize| groups.get(place).map_or_else(String::new, Group::label);
    if rows.len() > MOST_ONE_BY_ONE {
        let tested = rows.iter().filter(|(_, days)| days.ratio.interval.is_some()).count();
        let significant = rows.iter().filter(|(_, days)| days.ratio.is_certain()).count();
        let of = rows.len();
        return vec![match tested {
            0 => format!(
                "What other days would bring cannot be said for any of the {of} comparisons: the log is too short."
            ),
            _ => format!(
                "Over other days like these, {significant} of {of} comparisons are significant; {} were not tested.",
                of - tested
            ),
        }];
    }
    let sentence = |(row, OtherDays { basis, ratio }): &(&Difference, OtherDays)| {
        let names = format!("{} against {}, {}", label(row.group), label(row.baseline), metric.title.to_lowercase());
        match ratio.interval {
            Some(ends) => {
                let [value, low, high] = [ratio.value, ends[0], ends[1]].map(|ratio| change_in_percent(ratio - 1.0));
                let verdict = if ratio.is_certain() { "significant" } else { "not significant" };
                format!(
                    "Over other days like these: {names}: {value} (95 % interval {low} to {high}, over {}), {verdict}.",
                    basis.in_words()
                )
            }
            None => {
                let value = change_in_percent(ratio.value - 1.0);
                format!("{names}: {value}, {}. {}", basis.in_words(), basis.why_no_interval())
            }
        }
    };
    rows.iter().map(sentence).collect()
}

/// If no test of these comparisons of one metric can be significant: why, and how many seeds would do.
pub(crate) fn out_of_reach(rows: &[&Difference]) -> Option<String> {
    let tested: Vec<&&Difference> = rows.iter().filter(|row| row.tests.is_some()).collect();
    let seeds = tested.iter().map(|row| row.seeds).max()?;
    let comparisons = tested.len();
    let least = (least_p(seeds) * comparisons as f64).min(1.0);
    (least >= LEVEL).then(|| {
        format!(
            "With {seeds} {} and {comparisons} {}, no test can be significant: the least corrected p-value is {least:.2}; {} seeds would \
             suffice.",
            if seeds == 1 { "seed" } else { "seeds" },
            if comparisons == 1 { "comparison" } else { "comparisons" },
            seeds_needed(comparisons)
        )
    })
}

/// The least number of seeds with which one of so many tests can be significant after Holm's correction.
fn seeds_needed(comparisons: usize) -> usize {
    (1..64).find(|&seeds| least_p(seeds) * (comparisons as f64) < LEVEL).unwrap_or(64)
}

/// A number and the ends of its interval.
pub(crate) fn in_one_unit(metric: &Metric, found: Estimate) -> [String; 3] {
    let mut words = alike(metric, &[found.value, found.low, found.high].map(Some)).into_iter();
    std::array::from_fn(|_| words.next().unwrap_or_default())
}

/// The change of a comparison with its interval, in per cent.
pub(crate) fn change(ratio: Option<Ratio>) -> Option<String> {
    let percent = |ratio: f64| signed(100.0 * (ratio - 1.0));
    ratio.map(|Ratio { value, interval, .. }| match interval {
        Some([low, high]) => format!("{} % [{}, {}]", percent(value), percent(low), percent(high)),
        None => format!("{} %", percent(value)),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use resched_analysis::statistics::compare::Basis;

    use super::*;
    use crate::statistics::Tests;

    fn compared(value: f64, interval: [f64; 2], interval_90: [f64; 2]) -> Difference {
        let ratio = Ratio { value, interval: Some(interval), interval_90: Some(interval_90) };
        Difference {
            group: 1,
            baseline: 0,
            metric: "mean_completion".to_owned(),
            seeds: 6,
            difference: Estimate { value: value - 1.0, low: interval[0] - 1.0, high: interval[1] - 1.0 },
            ratio: Some(ratio),
            verdict: Verdict::of(Some(ratio), Matters::default()),
            tests: Some(Tests { sign: 0.03, signed_rank: 0.03, holm: 0.47, least: least_p(6) }),
            fixed: false,
            other_days: None,
        }
    }

    /// Six seeds and fifteen comparisons: the intervals say all of them apart, and no test can.
    #[test]
    fn the_headline_counts_the_verdicts_of_the_table() {
        let metric = Metric::named("mean_completion").unwrap();
        let all: Vec<Difference> = (0..15).map(|_| compared(1.2, [1.1, 1.3], [1.12, 1.28])).collect();
        let all: Vec<&Difference> = all.iter().collect();
        let reported = against(&all, &metric, Matters::default()).unwrap();
        assert_eq!(
            reported,
            "Of the 15 settings that are compared with the baseline in mean completion time, 15 are worse by more than 5 % (by the 95 % \
             intervals over draws)."
        );
        assert_eq!(
            out_of_reach(&all).unwrap(),
            "With 6 seeds and 15 comparisons, no test can be significant: the least corrected p-value is 0.47; 10 seeds would suffice."
        );
        assert_eq!(out_of_reach(&all[..1]), None, "a single comparison can, with six seeds");
        assert!((least_p(10) * 15.0) < LEVEL && (least_p(9) * 15.0) > LEVEL);
    }

    /// Equal results with every seed: more seeds would show nothing, so they are not advised.
    #[test]
    fn what_no_draw_changes_is_not_tested() {
        let metric = Metric::named("mean_completion").unwrap();
        let fixed = Difference {
            fixed: true,
            tests: None,
            ratio: Some(Ratio::bare(0.5)),
            verdict: Verdict::NotTested,
            ..compared(0.5, [0.5, 0.5], [0.5, 0.5])
        };
        let reported = against(&[&fixed], &metric, Matters::default()).unwrap();
        assert!(reported.contains("no draw changes the times of 1"), "{reported}");
        assert_eq!((out_of_reach(&[&fixed]), over_draws(&[], &[&fixed])), (None, None));
    }

    /// One log: a sweep and a report must not contradict each other in silence.
    #[test]
    fn an_interval_over_draws_says_that_the_jobs_are_fixed() {
        let metric = Metric::named("mean_completion").unwrap();
        let other_days = OtherDays {
            basis: Basis::BusyPeriods(20),
            ratio: Ratio { value: 0.645, interval: Some([0.283, 1.474]), interval_90: None },
        };
        let row = Difference { other_days: Some(other_days), ..compared(0.645, [0.633, 0.656], [0.634, 0.655]) };
        assert!(over_draws(&[], &[&row]).unwrap().contains("do not say what other days would bring"));
        let days = over_other_days(&[], &[&row], &metric).concat();
        assert!(
            days.contains(
                "−35.5 % (95 % interval −71.7 % to +47.4 %, over 20 blocks of busy periods), not significant"
            ),
            "{days}"
        );
        let short = OtherDays { basis: Basis::TheseJobsOnly(3), ratio: Ratio::bare(0.645) };
        let days = over_other_days(&[], &[&Difference { other_days: Some(short), ..row }], &metric).concat();
        assert!(days.contains("−35.5 %, for these jobs only. The log has 3 independent blocks"), "{days}");
    }

    #[test]
    fn an_interval_that_leaves_the_size_open_still_says_the_side() {
        let metric = Metric::named("mean_completion").unwrap();
        let shorter = compared(0.93, [0.904, 0.952], [0.91, 0.948]);
        assert!(matches!(Standing::of(&shorter, &metric), Standing::Better | Standing::MuchBetter));
        let open = compared(0.99, [0.9, 1.1], [0.92, 1.08]);
        assert_eq!(Standing::of(&open, &metric), Standing::Open);
        let alike = compared(1.01, [0.99, 1.03], [0.995, 1.025]);
        assert_eq!(Standing::of(&alike, &metric), Standing::Alike);
        let more = Metric::named("node_locality").unwrap();
        assert_eq!(Standing::of(&compared(1.2, [1.1, 1.3], [1.12, 1.28]), &more), Standing::MuchBetter);
        // A mean of 0 has no ratio; the difference has an interval.
        let none = Difference { ratio: None, verdict: Verdict::CannotTell, ..compared(0.5, [0.4, 0.6], [0.4, 0.6]) };
        assert_eq!(Standing::of(&none, &metric), Standing::Better);
        assert_eq!(Standing::of(&Difference { seeds: 1, ..none }, &metric), Standing::Open);
    }
}
