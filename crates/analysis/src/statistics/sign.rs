//! Whether a comparison keeps its sign under what the data leaves open.
//!
//! `replay` replays a comparison again in variants of its world: without a cost of distance, with other heartbeats, and so on. The means
//! of every variant are in `variants.json` beside the runs. This module reads that file and says what follows from it: in how many
//! variants a policy stays sooner or later than the baseline, which of them turn it, and which of them decide how large the difference is.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use resched_tables::store::marker::Layout;
use resched_tables::validity::{Fact, Grade};
use resched_tables::words::{change_in_percent, count};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::runs::beside::{self, VariedRun};
use crate::statistics::distribution::Distribution;
use crate::statistics::estimate::Estimate;
use crate::statistics::repeats::t_interval;

/// The file, in a folder of runs.
pub const FILE: &str = "variants.json";
/// The fact about the sign of an answer is about this.
pub const SIGN: &str = "sign";
/// The fact about the order of what is compared with the baseline is about this.
pub const ORDER: &str = "order";
/// The name of the unknown that stands for what a replay draws, as `resched_replay::UNKNOWNS` has it.
pub const DRAWS: &str = "draws";

const LAYOUT: Layout = Layout {
    what: "list of variants",
    version: 1,
    by_others: false,
    again: "remove it, and replay the trace again to test the sign",
};

/// A ratio of means that is nearer to 1 shows no difference.
pub(crate) const ALIKE: f64 = 0.001;
/// A smaller difference is too small to be certain while anything is open.
const LEAST: f64 = 0.05;
/// An unknown decides how large a difference is if a variant of it moves the difference by more than this, and by more than
/// [`OF_DIFFERENCE`] of it. With a larger value here, a difference of [`LEAST`] could be nothing.
const MOVES: f64 = 0.02;
pub(crate) const OF_DIFFERENCE: f64 = 0.25;
/// Fewer other draws show their spread only if they move a difference by less than this share of it.
const LEAST_DRAWS: usize = 4;
const OF_DRAWS: f64 = 0.1;

/// How thoroughly the sign is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// All jobs, in every variant.
    Full,
    /// Every variant, on a sample of the jobs where all of them would take too long.
    #[default]
    Quick,
    /// Not at all.
    Off,
}

impl FromStr for Level {
    type Err = String;

    /// Takes `full`, `quick` or `off`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "full" => Ok(Self::Full),
            "quick" => Ok(Self::Quick),
            "off" => Ok(Self::Off),
            _ => Err(format!("`{text}`: expected full, quick or off")),
        }
    }
}

/// The part of the jobs that variants were tried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// Its jobs: consecutive ones, in the order of submission.
    pub jobs: u64,
    /// All jobs.
    pub of_jobs: u64,
    /// The place of its first job.
    pub first: u64,
    /// Its tasks.
    pub tasks: u64,
    /// All tasks.
    pub of_tasks: u64,
}

/// What is compared, of one policy. Unknown is null.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Quantities {
    /// The jobs that count under every policy.
    pub jobs: u64,
    /// The mean completion time, ms.
    pub mean_completion: Option<f64>,
    /// The median completion time, ms.
    pub median_completion: Option<f64>,
    /// The 95th percentile of completion times, ms.
    pub p95_completion: Option<f64>,
    /// The mean waiting time, ms.
    pub mean_waiting: Option<f64>,
    /// From the first submission to the last end, ms.
    pub makespan: Option<f64>,
}

impl Quantities {
    /// Those of jobs with these completion and waiting times, ms.
    pub fn of(completion: &[f64], waiting: &[f64], makespan: Option<f64>) -> Self {
        let times = Distribution::new(completion.iter().copied());
        Self {
            jobs: completion.len() as u64,
            mean_completion: times.mean(),
            median_completion: times.median(),
            p95_completion: times.quantile(0.95),
            mean_waiting: Distribution::new(waiting.iter().copied()).mean(),
            makespan,
        }
    }
}

/// A variant that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Varied {
    /// The name of the unknown, one word.
    pub unknown: String,
    /// Its title, such as `cost of distance`.
    pub title: String,
    /// What is different, as the end of a sentence: `without a cost of distance`.
    pub says: String,
    /// Where the range of the unknown comes from.
    pub from: String,
    /// Each run's quantities, in the order of the runs.
    pub values: Vec<Quantities>,
}

/// A variant that was not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    /// The name of the unknown.
    pub unknown: String,
    /// What would be different.
    pub says: String,
    /// Why it was not tried.
    pub why: String,
}

/// A comparison under what the data leaves open: the content of `variants.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Variants {
    format_version: u32,
    /// How thoroughly the sign was tested.
    pub level: Level,
    /// The runs that are compared.
    pub runs: Vec<VariedRun>,
    /// Each run's quantities over all jobs.
    pub whole: Vec<Quantities>,
    /// The part of the jobs on which variants were tried; absent if that is all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Each run's quantities over that part without any variant.
    pub base: Vec<Quantities>,
    /// The variants that change something, in the order in which they were tried.
    pub variants: Vec<Varied>,
    /// Variants in which nothing differs at all.
    pub without_effect: Vec<Varied>,
    /// Variants that were not tried.
    pub not_tried: Vec<NotTried>,
}

/// Which of two policies completes jobs sooner on average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Sooner,
    Later,
    Alike,
}

impl Side {
    /// Of a ratio of means, policy / baseline.
    fn of(ratio: f64) -> Self {
        if (ratio - 1.0).abs() < ALIKE {
            Self::Alike
        } else if ratio < 1.0 {
            Self::Sooner
        } else {
            Self::Later
        }
    }

    fn than(self, baseline: &str) -> String {
        match self {
            Self::Sooner => format!("sooner than {baseline}"),
            Self::Later => format!("later than {baseline}"),
            Self::Alike => format!("as fast as {baseline}"),
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Sooner => "sooner",
            Self::Later => "later",
            Self::Alike => "no different",
        }
    }
}

/// A policy in a variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InVariant {
    /// The name of the unknown.
    pub unknown: String,
    /// Its title.
    pub title: String,
    /// What is different.
    pub says: String,
    /// The mean completion time of the policy / that of the baseline.
    pub ratio: f64,
}

/// How far draws move a difference, while jobs stay the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverDraws {
    /// The number of draws.
    pub draws: u64,
    /// The geometric mean of the ratios, with the 95 % interval by Student's t.
    #[serde(flatten)]
    pub ratio: Estimate,
}

/// The fewest draws that have an interval.
const LEAST_FOR_INTERVAL: usize = 3;

fn over_draws(variants: &[InVariant], ratio: f64) -> Option<OverDraws> {
    let drawn = variants.iter().filter(|variant| variant.unknown == DRAWS).map(|variant| variant.ratio);
    let logs: Vec<f64> = drawn.chain([ratio]).map(f64::ln).collect();
    let found = t_interval(&logs).filter(|_| logs.len() >= LEAST_FOR_INTERVAL)?;
    let [value, low, high] = [found.value, found.low, found.high].map(f64::exp);
    // An interval that is printed with equal ends says nothing about draws.
    if high - low < ALIKE {
        return None;
    }
    Some(OverDraws { draws: logs.len() as u64, ratio: Estimate { value, low, high } })
}

/// Whether a policy stays on its side of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sign {
    /// The policy.
    pub policy: String,
    /// The baseline.
    pub baseline: String,
    /// The mean completion time of the policy / that of the baseline, without any variant, on the jobs that variants were tried on.
    pub ratio: f64,
    /// How many variants leave the policy on its side.
    pub holds: u64,
    /// How many variants change something.
    pub of: u64,
    /// The policy in each of them.
    pub variants: Vec<InVariant>,
    /// The variants that turn the sign.
    pub turned_by: Vec<InVariant>,
    /// For each unknown that decides how large the difference is, the variant that moves it most.
    pub decided_by: Vec<InVariant>,
    /// True if the unknowns could turn the sign together, although none does alone: the largest steps that each takes towards the other
    /// side add up to the difference.
    pub turned_together: bool,
    /// True if the difference is smaller than a replay can say while anything is open: below 5 %.
    pub too_small: bool,
    /// True if nothing but draws was varied, and so few that they do not show how far they move the difference, although they do.
    pub too_few_draws: bool,
    /// The ratio over all draws, the comparison itself among them, on the same jobs; null for fewer than three, or if no draw changes a time.
    pub over_draws: Option<OverDraws>,
    /// True if the sample has the sign of the whole.
    pub sample_agrees: bool,
    /// How far it can be trusted: `measured` only if no variant turns it, and nothing that is open decides how large the difference is.
    pub grade: Grade,
    /// All this in one sentence or two.
    pub says: String,
}

impl Variants {
    /// An empty list for a comparison of these runs.
    pub fn new(level: Level, runs: Vec<VariedRun>) -> Self {
        Self { format_version: LAYOUT.version, level, runs, ..Self::default() }
    }

    /// Writes it into a folder of runs, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Trace`] if it cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        beside::write(&dir.join(FILE), self)
    }

    /// Reads that of a folder of runs; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::Trace`] if it is damaged or cannot be read.
    pub fn read(dir: &Path) -> Result<Option<Self>, Error> {
        beside::read(&dir.join(FILE), &LAYOUT)
    }

    /// The test of a comparison of the runs in these folders: that of the folder that holds them all. `None` if they are not of one
    /// folder, or it has no test of them as they are now.
    ///
    /// # Errors
    /// As [`Variants::read`].
    pub fn of_runs(dirs: &[&Path]) -> Result<Option<Self>, Error> {
        beside::of_same_folder(dirs, Self::read, |found| &found.runs)
    }

    /// Whether each policy stays on its side of the run labelled `baseline`, in the order of the runs. Empty if there is none.
    pub fn signs(&self, baseline: &str) -> Vec<Sign> {
        let Some(base) = self.runs.iter().position(|run| run.label == baseline) else { return Vec::new() };
        let others = self.runs.iter().enumerate().filter(|(place, _)| *place != base);
        others.filter_map(|(place, run)| self.sign(place, base, &run.label, baseline)).collect()
    }

    fn sign(&self, place: usize, base: usize, policy: &str, baseline: &str) -> Option<Sign> {
        let ratio_of = |values: &[Quantities]| {
            let mean = |place: usize| values.get(place)?.mean_completion;
            Some(mean(place)? / mean(base).filter(|mean| *mean > 0.0)?)
        };
        let ratio = ratio_of(&self.base)?;
        let side = Side::of(ratio);
        let in_variant = |varied: &Varied| {
            let ratio = ratio_of(&varied.values)?;
            let [unknown, title, says] = [&varied.unknown, &varied.title, &varied.says].map(String::clone);
            Some(InVariant { unknown, title, says, ratio })
        };
        let variants: Vec<InVariant> = self.variants.iter().filter_map(in_variant).collect();
        let turned_by: Vec<InVariant> =
            variants.iter().filter(|variant| Side::of(variant.ratio) != side).cloned().collect();
        let sample_agrees = ratio_of(&self.whole).is_none_or(|whole| Side::of(whole) == side);
        let mut sign = Sign {
            policy: policy.to_owned(),
            baseline: baseline.to_owned(),
            ratio,
            holds: (variants.len() - turned_by.len()) as u64,
            of: variants.len() as u64,
            decided_by: deciding(&variants, ratio),
            turned_together: steps_back(&variants, ratio) >= (ratio - 1.0).abs(),
            turned_by,
            too_small: !variants.is_empty() && (ratio - 1.0).abs() < LEAST,
            too_few_draws: are_too_few_draws(&variants, ratio),
            over_draws: over_draws(&variants, ratio),
            sample_agrees,
            variants,
            grade: Grade::Measured,
            says: String::new(),
        };
        let is_sure = sign.turned_by.is_empty()
            && sign.decided_by.is_empty()
            && !sign.turned_together
            && !sign.too_small
            && !sign.too_few_draws
            && sample_agrees
            && self.not_tried.is_empty()
            || sign.is_alike(self);
        let is_sure = is_sure && self.level != Level::Off;
        sign.grade = if is_sure { Grade::Measured } else { Grade::Assumed };
        sign.says = self.in_words(&sign, side);
        Some(sign)
    }

    fn in_words(&self, sign: &Sign, side: Side) -> String {
        let Sign { policy, baseline, .. } = sign;
        if self.level == Level::Off {
            return format!("It was not tested whether {policy} stays {} if unknown values vary.", side.than(baseline));
        }
        let jobs = self.sample.map_or_else(String::new, |sample| {
            format!(" (tried on {} of {} jobs)", count(sample.jobs), count(sample.of_jobs))
        });
        if !sign.sample_agrees {
            return format!(
                "{policy} against {baseline}: the sample of jobs{jobs} gives another sign than all jobs, so the test shows nothing."
            );
        }
        if sign.is_alike(self) {
            let also = if sign.variants.is_empty() { String::new() } else { format!(", in every variant{jobs}") };
            return format!(
                "No difference between {policy} and {baseline} in mean completion time (below 0.1 %){also}. Single jobs may differ."
            );
        }
        if sign.variants.is_empty() && self.not_tried.is_empty() {
            return format!("{policy} is {}. Nothing in this comparison had to be guessed.", side.than(baseline));
        }
        let mut text = match (sign.turned_by.as_slice(), sign.of) {
            (_, 0) => format!("{policy} against {baseline}: no variant was tried{jobs}"),
            ([], of) => {
                let tries = if of == 1 { "1 try".to_owned() } else { format!("{of} tries") };
                format!(
                    "{policy} stays {} whatever the log leaves open{jobs} ({tries}: {})",
                    side.than(baseline),
                    sign.range()
                )
            }
            (turned, of) => {
                let turns: Vec<String> = turns(turned).collect();
                format!(
                    "{policy} is {}, but the sign is not certain{jobs}: {}; {} of {of} tries keep it",
                    side.than(baseline),
                    turns.join(", "),
                    sign.holds
                )
            }
        };
        text += ".";
        if sign.turned_by.is_empty() && sign.turned_together && sign.of > 1 {
            text += " Together, the variants could turn the sign.";
        } else if sign.turned_by.is_empty() && sign.too_small {
            text += " Too small to be certain.";
        }
        if let Some(OverDraws { draws, ratio: Estimate { value, low, high } }) = sign.over_draws {
            text += &format!(
                " Over {draws} draws, for these jobs only: {} (95 % interval {} to {}).",
                change(value),
                change(low),
                change(high)
            );
        }
        if sign.too_few_draws {
            text += " So few draws do not show how far draws move it.";
        }
        if sign.turned_by.is_empty() && !sign.decided_by.is_empty() {
            let titles: Vec<&str> = sign.decided_by.iter().map(|variant| variant.title.as_str()).collect();
            text += &format!(" The size of the difference depends on unknown values: {}.", titles.join(", "));
        }
        if !self.not_tried.is_empty() {
            let [first, ..] = self.not_tried.as_slice() else { return text };
            let more = match self.not_tried.len() - 1 {
                0 => String::new(),
                others => format!(" and {others} more"),
            };
            text += &format!(" Not tried: {}{more}.", first.says);
        }
        text
    }

    /// The facts about the signs of a comparison with the run labelled `baseline`, and about the order of the others among themselves.
    pub fn facts(&self, baseline: &str) -> Vec<Fact> {
        self.signs(baseline).iter().map(|sign| sign.fact(self)).chain(self.order(baseline)).collect()
    }

    /// The fact that the order of the policies that are compared with `baseline` is not certain; `None` if no variant puts another first,
    /// or they are all alike.
    ///
    /// Each may stay on its side of the baseline in all variants, and still the best of them may be another.
    pub fn order(&self, baseline: &str) -> Option<Fact> {
        let others = self.runs.iter().zip(&self.base).enumerate().filter(|(_, (run, _))| run.label != baseline);
        let others: Vec<(usize, &str, f64)> = others
            .filter_map(|(place, (run, values))| Some((place, run.label.as_str(), values.mean_completion?)))
            .collect();
        let &(best, label, _) = others.iter().min_by(|a, b| a.2.total_cmp(&b.2))?;
        let against = |&(other, other_label, _): &(usize, &str, f64)| self.sign(best, other, label, other_label);
        let turned = others.iter().filter(|other| other.0 != best).filter_map(against).find(Sign::is_turned_far)?;
        let turns: Vec<String> = turns(&turned.turned_by).collect();
        let Sign { policy, baseline: other, .. } = &turned;
        let says = format!(
            "Which is sooner, {policy} or {other}, is not certain: {policy} is {} ({}), but {}.",
            Side::of(turned.ratio).than(other),
            change(turned.ratio),
            turns.join(", ")
        );
        Some(Fact::new(ORDER, Grade::Assumed, says).with_remedy(turned.fact(self).remedy))
    }
}

impl Sign {
    /// The fact about it in a grade; `of` is the list of variants that it is from.
    pub fn fact(&self, of: &Variants) -> Fact {
        let remedy = if self.grade == Grade::Measured || of.level != Level::Off && self.is_alike(of) {
            String::new()
        } else if of.level == Level::Off {
            "Leave out --robust off.".to_owned()
        } else if !self.sample_agrees || !of.not_tried.is_empty() && self.turned_by.is_empty() {
            "`--robust full` replays all jobs in every variant.".to_owned()
        } else {
            // What decides is what one can do something about; if nothing does by itself, everything counts.
            let decides: Vec<&InVariant> = self.turned_by.iter().chain(&self.decided_by).collect();
            let all = || self.variants.iter().map(|variant| variant.unknown.as_str()).collect();
            let names: Vec<&str> = if decides.is_empty() {
                all()
            } else {
                decides.iter().map(|variant| variant.unknown.as_str()).collect()
            };
            remedy_for(&names).to_owned()
        };
        Fact::new(SIGN, self.grade, self.says.clone()).with_remedy(remedy)
    }

    /// True if a variant turns it, and the difference is not small both with and without that variant.
    fn is_turned_far(&self) -> bool {
        let is_large = |ratio: f64| (ratio - 1.0).abs() >= LEAST;
        self.turned_by.iter().any(|variant| is_large(variant.ratio) || is_large(self.ratio))
    }

    /// The least and the largest difference, also without any variant.
    fn range(&self) -> String {
        let all = || self.variants.iter().map(|variant| variant.ratio).chain([self.ratio]);
        let ends = [all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max)].map(change);
        let [least, most] = &ends;
        if least == most { format!("{least} in each") } else { format!("{least} to {most}") }
    }

    /// True if the policy has the mean of the baseline, also in every variant; `of` is the list of variants.
    fn is_alike(&self, of: &Variants) -> bool {
        let is_tested = self.sample_agrees && of.not_tried.is_empty();
        is_tested && self.turned_by.is_empty() && Side::of(self.ratio) == Side::Alike
    }
}

/// What to do about unknowns, by their names. Draws are nothing that anybody could give.
pub fn remedy_for(unknowns: &[&str]) -> &'static str {
    let are_draws = |name: &&str| *name == DRAWS;
    match (unknowns.iter().any(are_draws), unknowns.iter().all(are_draws)) {
        (true, true) => "A sweep over more `seeds` gives the difference with its interval.",
        (true, false) => {
            "Give the unknown values with --cluster (`resched calibrate` fits them), --site-conf or an option; a sweep over more `seeds` \
             gives the difference with its interval."
        }
        _ => "Give the unknown values with --cluster (`resched calibrate` fits them), --site-conf or an option.",
    }
}

/// That the sign of a comparison was not tested.
pub fn untested() -> Fact {
    let says = "It was not tested whether the sign of the comparison holds if unknown values vary.";
    let remedy = "Replay the policies together into one folder: `replay` then tests the sign.";
    Fact::new(SIGN, Grade::Assumed, says).with_remedy(remedy)
}

/// For each unknown that decides how large the difference is, the variant that moves it most.
fn deciding(variants: &[InVariant], ratio: f64) -> Vec<InVariant> {
    let moved = |variant: &InVariant| (variant.ratio - ratio).abs();
    let mut found: Vec<InVariant> = Vec::new();
    let most = MOVES.max(OF_DIFFERENCE * (ratio - 1.0).abs());
    for variant in variants.iter().filter(|variant| moved(variant) > most) {
        match found.iter_mut().find(|other| other.unknown == variant.unknown) {
            Some(other) if moved(other) < moved(variant) => *other = variant.clone(),
            Some(_) => {}
            None => found.push(variant.clone()),
        }
    }
    found
}

/// How far the unknowns move a ratio towards the other side of 1 if each takes its largest step and the steps add up.
fn steps_back(variants: &[InVariant], ratio: f64) -> f64 {
    let back = |variant: &InVariant| if ratio < 1.0 { variant.ratio - ratio } else { ratio - variant.ratio };
    let mut steps: BTreeMap<&str, f64> = BTreeMap::new();
    for variant in variants {
        let step = steps.entry(&variant.unknown).or_default();
        *step = step.max(back(variant));
    }
    steps.into_values().sum()
}

/// True if only draws were varied, in fewer variants than [`LEAST_DRAWS`], and they move a difference by a share of it that shows.
fn are_too_few_draws(variants: &[InVariant], ratio: f64) -> bool {
    let moves = |variant: &InVariant| (variant.ratio - ratio).abs() > OF_DRAWS * (ratio - 1.0).abs();
    !variants.is_empty()
        && variants.len() < LEAST_DRAWS
        && variants.iter().all(|variant| variant.unknown == DRAWS)
        && variants.iter().any(moves)
}

/// What turns a sign, in words. Draws have no names, so they are taken together.
fn turns(turned: &[InVariant]) -> impl Iterator<Item = String> {
    let (draws, others): (Vec<&InVariant>, Vec<&InVariant>) =
        turned.iter().partition(|variant| variant.unknown == DRAWS);
    let other = |variant: &InVariant| {
        format!("{} {} ({})", Side::of(variant.ratio).in_words(), variant.says, change(variant.ratio))
    };
    let sides = [Side::Sooner, Side::Later, Side::Alike].map(|side| {
        let changes: Vec<String> = draws
            .iter()
            .filter(|variant| Side::of(variant.ratio) == side)
            .map(|variant| change(variant.ratio))
            .collect();
        (!changes.is_empty()).then(|| format!("{} with other random draws ({})", side.in_words(), changes.join(", ")))
    });
    let others: Vec<String> = others.into_iter().map(other).collect();
    others.into_iter().chain(sides.into_iter().flatten())
}

fn change(ratio: f64) -> String {
    change_in_percent(ratio - 1.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use resched_tables::run;

    use super::*;
    use crate::runs::beside::fingerprint;

    fn means(values: [f64; 2]) -> Vec<Quantities> {
        values.map(|mean| Quantities { mean_completion: Some(mean), ..Quantities::default() }).into()
    }

    fn varied(unknown: &str, says: &str, values: [f64; 2]) -> Varied {
        let [unknown, says] = [unknown, says].map(str::to_owned);
        Varied { title: format!("the {unknown}"), unknown, says, from: String::new(), values: means(values) }
    }

    fn comparison(variants: Vec<Varied>) -> Variants {
        let run = |label: &str| VariedRun { label: label.to_owned(), sha256: label.to_owned() };
        let base = means([100.0, 66.0]);
        Variants { whole: base.clone(), base, variants, ..Variants::new(Level::Quick, vec![run("fifo"), run("fair")]) }
    }

    #[test]
    fn a_variant_that_turns_the_sign_is_named() {
        let found = comparison(vec![
            varied("locality", "without a cost of distance", [100.0, 114.3]),
            varied("heartbeat", "with heartbeats every 1 s", [100.0, 67.0]),
        ]);
        let [sign] = &found.signs("fifo")[..] else { panic!() };
        assert_eq!(
            sign.says,
            "fair is sooner than fifo, but the sign is not certain: later without a cost of distance (+14.3 %); 1 of 2 tries keep it."
        );
        assert_eq!((sign.grade, sign.holds, sign.of), (Grade::Assumed, 1, 2));
        // From the other side, it is the other way round.
        assert!(
            found.signs("fair")[0].says.starts_with("fifo is later than fair, but the sign is not certain: sooner")
        );
        assert!(found.signs("none").is_empty());
    }

    #[test]
    fn what_is_drawn_is_nothing_to_give() {
        let remedy = |unknowns: Vec<Varied>| {
            let found = comparison(unknowns);
            found.facts("fifo")[0].remedy.clone()
        };
        let draws = || varied(DRAWS, "with other draws (seed 2)", [100.0, 114.3]);
        let locality = || varied("locality", "without a cost of distance", [100.0, 114.3]);
        assert!(remedy(vec![draws()]).starts_with("A sweep over more `seeds`"));
        assert!(remedy(vec![locality()]).ends_with("--site-conf or an option."));
        assert!(remedy(vec![locality(), draws()]).contains("option; a sweep over more"));
    }

    #[test]
    fn a_sign_that_holds_is_measured_unless_its_size_hangs_on_an_unknown() {
        let steady = comparison(vec![varied("heartbeat", "with heartbeats every 1 s", [100.0, 67.0])]);
        assert_eq!(steady.signs("fifo")[0].grade, Grade::Measured);
        assert_eq!(
            steady.signs("fifo")[0].says,
            "fair stays sooner than fifo whatever the log leaves open (1 try: −34.0 % to −33.0 %)."
        );
        let moved = comparison(vec![varied("heartbeat", "with heartbeats every 1 s", [100.0, 80.0])]);
        let [sign] = &moved.signs("fifo")[..] else { panic!() };
        assert_eq!(sign.grade, Grade::Assumed);
        assert!(sign.says.contains("depends on unknown values: the heartbeat"), "{}", sign.says);
        // 6 % that may be 2 % are not measured.
        let base = means([100.0, 106.0]);
        let heartbeat = varied("heartbeat", "with heartbeats every 1 s", [100.0, 102.0]);
        let few = Variants { whole: base.clone(), base, ..comparison(vec![heartbeat]) };
        assert_eq!(few.signs("fifo")[0].grade, Grade::Assumed);
        let small = comparison(vec![
            varied("heartbeat", "with heartbeats every 1 s", [100.0, 80.0]),
            varied("draws", "with other draws", [100.0, 70.0]),
            varied("locality", "without a cost of distance", [100.0, 84.0]),
        ]);
        assert!(
            small.signs("fifo")[0].turned_together
                && small.signs("fifo")[0].says.contains("Together, the variants could")
        );
        let nothing = comparison(Vec::new());
        assert_eq!(nothing.signs("fifo")[0].grade, Grade::Measured);
        assert_eq!(
            nothing.signs("fifo")[0].says,
            "fair is sooner than fifo. Nothing in this comparison had to be guessed."
        );
    }

    #[test]
    fn policies_with_the_same_mean_need_no_remedy() {
        let base = means([100.0, 100.0]);
        let alike =
            |variants: Vec<Varied>| Variants { whole: base.clone(), base: base.clone(), ..comparison(variants) };
        let fact = alike(Vec::new()).facts("fifo").remove(0);
        let same = "No difference between fair and fifo in mean completion time (below 0.1 %). Single jobs may differ.";
        assert_eq!((fact.says.as_str(), fact.remedy.as_str()), (same, ""));
        let fact = alike(vec![varied("heartbeat", "with heartbeats every 1 s", [90.0, 90.0])]).facts("fifo").remove(0);
        assert!(fact.says.contains("(below 0.1 %), in every variant") && fact.remedy.is_empty(), "{fact:?}");
        assert_eq!(fact.grade, Grade::Measured, "that nothing differs is no assumption");
    }

    /// Both stay sooner than the baseline in each variant, but another of them is the best.
    #[test]
    fn the_order_of_the_alternatives_is_tested_as_well() {
        let three = |base: [f64; 3], variant: [f64; 3]| {
            let means = |values: [f64; 3]| -> Vec<Quantities> {
                values.map(|mean| Quantities { mean_completion: Some(mean), ..Quantities::default() }).into()
            };
            let mut found = comparison(vec![varied("limits", "with longer limits", [0.0; 2])]);
            found.runs.push(VariedRun { label: "easy".to_owned(), sha256: "easy".to_owned() });
            (found.whole, found.base, found.variants[0].values) = (means(base), means(base), means(variant));
            found
        };
        let turned = three([100.0, 19.0, 17.0], [100.0, 19.5, 21.0]);
        assert!(turned.signs("fifo").iter().all(|sign| sign.grade == Grade::Measured));
        let fact = turned.order("fifo").unwrap();
        assert_eq!(
            fact.says,
            "Which is sooner, easy or fair, is not certain: easy is sooner than fair (−10.5 %), but later with longer limits (+7.7 %)."
        );
        assert_eq!((fact.grade, fact.remedy.is_empty()), (Grade::Assumed, false));
        assert!(turned.facts("fifo").contains(&fact));
        let steady = three([100.0, 19.0, 17.0], [100.0, 22.0, 21.0]);
        let near = three([100.0, 17.2, 17.0], [100.0, 17.0, 17.2]);
        assert_eq!([steady.order("fifo"), near.order("fifo")], [None, None], "small differences decide nothing");
        assert_eq!(comparison(turned.variants.clone()).order("fifo"), None, "there is one alternative only");
    }

    /// Two draws that move the difference do not show by how much others would; four do, and so do draws that change hardly anything.
    #[test]
    fn a_sign_over_two_draws_carries_no_grade() {
        let draws = |means: &[f64]| {
            comparison(means.iter().map(|mean| varied(DRAWS, "with other draws", [100.0, *mean])).collect())
        };
        let of = |means: &[f64]| draws(means).signs("fifo").remove(0);
        let two = of(&[60.0, 72.0]);
        assert_eq!((two.grade, two.too_few_draws), (Grade::Assumed, true));
        assert!(two.says.contains("(2 tries: −40.0 % to −28.0 %)"), "{}", two.says);
        assert!(two.says.contains("So few draws"), "{}", two.says);
        assert_eq!([of(&[60.0, 72.0, 64.0, 70.0]), of(&[66.0, 67.0])].map(|sign| sign.grade), [Grade::Measured; 2]);
        assert!(of(&[66.0, 66.0]).says.contains("(2 tries: −34.0 % in each)"));
        let turned = of(&[103.1, 103.2]);
        assert!(
            turned.says.contains("later with other random draws (+3.1 %, +3.2 %); 0 of 2 tries keep it"),
            "{}",
            turned.says
        );
    }

    #[test]
    fn what_was_not_tried_is_no_proof() {
        let mut found = comparison(vec![varied("heartbeat", "with heartbeats every 1 s", [100.0, 67.0])]);
        found.not_tried.push(NotTried {
            unknown: "sizes".to_owned(),
            says: "with machines half as large".to_owned(),
            why: String::new(),
        });
        let fact = found.facts("fifo").remove(0);
        assert_eq!(fact.grade, Grade::Assumed);
        assert!(fact.says.ends_with("Not tried: with machines half as large."), "{}", fact.says);
        assert!(fact.remedy.contains("--robust full"));
        let off = Variants { level: Level::Off, ..comparison(Vec::new()) };
        assert_eq!(off.facts("fifo")[0].grade, Grade::Assumed);
        let mut sampled = comparison(vec![varied("heartbeat", "with heartbeats every 1 s", [100.0, 67.0])]);
        sampled.whole = means([100.0, 120.0]);
        sampled.sample = Some(Sample { jobs: 5, of_jobs: 50, first: 0, tasks: 7, of_tasks: 70 });
        assert!(sampled.facts("fifo")[0].says.contains("another sign than all jobs"));
    }

    #[test]
    fn it_is_read_back_and_belongs_to_its_runs() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Variants::read(dir.path()).unwrap(), None);
        let mut written = comparison(vec![varied("heartbeat", "with heartbeats every 1 s", [100.0, 67.0])]);
        let dirs = ["fifo", "fair"].map(|name| dir.path().join(name));
        for (dir, run) in dirs.iter().zip(&mut written.runs) {
            fs::create_dir(dir).unwrap();
            fs::write(dir.join(run::MARKER), &run.label).unwrap();
            run.sha256 = fingerprint(dir).unwrap();
        }
        written.write(dir.path()).unwrap();
        let of_both = || Variants::of_runs(&[&dirs[0], &dirs[1]]).unwrap();
        assert_eq!(of_both(), Some(written));
        fs::write(dirs[1].join(run::MARKER), "replayed again").unwrap();
        assert_eq!(of_both(), None, "the test is of another run");
        fs::write(dir.path().join(FILE), "{").unwrap();
        assert!(Variants::read(dir.path()).unwrap_err().to_string().contains("remove it"));
    }
}
