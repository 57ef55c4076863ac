//! A row: the paper's number beside the replay's, and a verdict by one rule for all.

use resched_analysis::statistics::estimate::Estimate;
use resched_analysis::statistics::repeats::t_interval;
use serde::Serialize;

/// The published value of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Published {
    /// A number.
    Value(f64),
    /// A change, %. 0 means no change, and the sign counts, too.
    Change(f64),
    /// How many times as large one number is as another. 1 means no change.
    Ratio(f64),
    /// A range: the least and the greatest of several runs, or a range in words.
    Range(f64, f64),
    /// Above zero: more, longer, later.
    Above,
    /// Below zero: less, shorter, earlier.
    Below,
}

/// The rule of verdicts, as it stands on the page.
pub const RULE: &str = "\
One rule holds for all rows. A time agrees within 0.3 minutes or a quarter, whichever is more, and any other number within a quarter. A \
change agrees within 5 points or a quarter of the change, whichever is more, if it is between half and twice of it. A ratio is read as a change: twice as fast is 100 % more. \
Every number also agrees if the 95 % interval contains it. A paper's change of less than 5 points says that nothing changes: it \
agrees if all of the interval is within 5 points of no change and does not exclude the paper's sign. A range must contain the mean; if only the interval meets it, the row is \
undecided. For a direction, all of the interval must lie on its side; if instead it contains 0 and reaches no further than 5 points, 0.3 \
minutes or a twentieth of a share, nothing changes, and the row differs. *By tolerance* means that the interval excludes the paper's number. \
A row is *undecided* if its interval is wider than the tolerance and contains the paper's number or has its mean near it, or if the \
interval of a direction contains 0 and reaches further than that: noise does not count. *Same direction* is a change of another size whose interval excludes the other \
sign and is not all within 5 points of no change.";

/// A time agrees within so many minutes of the paper's, however short it is.
const SHORT_MINUTES: f64 = 0.3;
/// A number agrees within this share of the paper's.
const SHARE: f64 = 0.25;
/// A change agrees within so many points of the paper's, however small it is.
const POINTS: f64 = 5.0;
/// A change that is less than this share of the paper's is another one, and so is one of which the paper's is less than this share.
const LEAST_SHARE: f64 = 0.5;

/// How far the mean may be from the published value and still agree with it, in the unit of the row; for a direction, what is no change.
fn tolerance(published: Published, unit: &str) -> f64 {
    match (published, unit) {
        (Published::Value(paper), "min") => (SHARE * paper.abs()).max(SHORT_MINUTES),
        (Published::Value(paper), "s") => (SHARE * paper.abs()).max(60.0 * SHORT_MINUTES),
        (Published::Value(paper), _) => SHARE * paper.abs(),
        (Published::Change(paper), _) => (SHARE * paper.abs()).max(POINTS),
        (Published::Ratio(paper), _) => (SHARE * (paper - 1.0).abs()).max(POINTS / 100.0),
        (Published::Above | Published::Below, "%" | "points") => POINTS,
        (Published::Above | Published::Below, "share") => POINTS / 100.0,
        (Published::Above | Published::Below, "min") => SHORT_MINUTES,
        (Published::Above | Published::Below, "s") => 60.0 * SHORT_MINUTES,
        (Published::Range(..) | Published::Above | Published::Below, _) => 0.0,
    }
}

/// The outcome of the comparison, by [`RULE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The 95 % interval of the replay holds the paper's value.
    Agrees,
    /// The mean is within the tolerance of the paper's value, but the interval excludes that.
    AgreesByTolerance,
    /// The replay's mean has the sign of the paper's change, but another size.
    SameDirection,
    /// The replays vary too much to say.
    Undecided,
    /// None of these.
    Differs,
    /// There is no model for it.
    CannotBeReplayed,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Self; 6] = [
        Self::Agrees,
        Self::AgreesByTolerance,
        Self::SameDirection,
        Self::Undecided,
        Self::Differs,
        Self::CannotBeReplayed,
    ];

    /// As it stands in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::AgreesByTolerance => "agrees by tolerance",
            Self::SameDirection => "same direction",
            Self::Undecided => "undecided",
            Self::Differs => "differs",
            Self::CannotBeReplayed => "cannot be replayed",
        }
    }

    /// True if it agrees, in whatever way.
    pub fn agrees(self) -> bool {
        matches!(self, Self::Agrees | Self::AgreesByTolerance)
    }
}

/// What a row is evidence for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A claim of the paper about its own policy. The headline counts these alone.
    Claim,
    /// A number of the baseline that no knob was set from.
    Baseline,
    /// A number of the baseline that a knob was set from. Whether it agrees or not, it is no evidence.
    Calibrated,
    /// It follows from other rows or from a formula, or it could hardly fail.
    Arithmetic,
    /// A check of our model that stands for no sentence of the paper.
    Check,
    /// A second row of a claim, under another reading of a detail that the paper leaves open. It shows what the claim depends on.
    Variant,
}

impl Role {
    /// All of them, what counts first.
    pub const ALL: [Self; 6] =
        [Self::Claim, Self::Baseline, Self::Calibrated, Self::Arithmetic, Self::Check, Self::Variant];

    /// As it stands in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Baseline => "baseline",
            Self::Calibrated => "calibrated",
            Self::Arithmetic => "arithmetic",
            Self::Check => "check",
            Self::Variant => "variant",
        }
    }
}

/// What kind of thing makes a row differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Our model or our reading: known, and not yet mended.
    Ours,
    /// The paper does not say what would be needed.
    Missing,
    /// The paper is not consistent in itself.
    Paper,
    /// The row is meant to differ.
    Variant,
}

impl Cause {
    /// As it stands in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Missing => "missing",
            Self::Paper => "paper",
            Self::Variant => "variant",
        }
    }
}

/// A quantity of an experiment: the paper's number and the replay's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The experiment; empty until the runner fills it in.
    pub experiment: &'static str,
    /// The sentence, figure or table of the paper that it is from; empty for a check.
    pub source: &'static str,
    /// The quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: &'static str,
    /// The published value.
    pub published: Published,
    /// What it is evidence for.
    pub role: Role,
    /// True if it is a main claim of its paper, with which the page opens.
    pub main: bool,
    /// True if it distinguishes the policies: the paper has no number of its baseline that would agree with it, too.
    pub distinguishes: bool,
    /// The replay's mean over the seeds with its 95 % interval; `None` without a replay.
    pub replay: Option<Estimate>,
    /// The number of seeds; 0 for a number without chance.
    pub seeds: usize,
    /// How far the mean may be from the paper's number and still agree with it, in the row's unit; for a direction, what is no change.
    pub tolerance: f64,
    /// The outcome.
    pub verdict: Verdict,
    /// What kind of thing makes the numbers differ; `None` if they agree.
    pub cause: Option<Cause>,
    /// Why the numbers differ; empty if they agree.
    pub why: String,
}

/// A row that is not complete.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    source: &'static str,
    quantity: String,
    unit: &'static str,
    published: Published,
    role: Role,
    main: bool,
    of_baseline: Option<f64>,
    cause: Cause,
    why: String,
}

/// Starts a row of a quantity in a unit, with the value that stands in that place of the paper.
pub(crate) fn row(
    source: &'static str,
    quantity: impl Into<String>,
    unit: &'static str,
    published: Published,
) -> Draft {
    let (quantity, why) = (quantity.into(), String::new());
    let (role, cause) = (Role::Claim, Cause::Ours);
    Draft { source, quantity, unit, published, role, main: false, of_baseline: None, cause, why }
}

/// Starts a row that checks our model and stands for no sentence of the paper.
pub(crate) fn check(quantity: impl Into<String>, unit: &'static str, expected: Published) -> Draft {
    Draft { role: Role::Check, ..row("", quantity, unit, expected) }
}

impl Draft {
    /// Marks the row as a main claim of its paper.
    pub(crate) fn main(self) -> Self {
        Self { main: true, ..self }
    }

    /// States the paper's number of the same quantity under its baseline.
    pub(crate) fn beside(self, of_baseline: f64) -> Self {
        Self { of_baseline: Some(of_baseline), ..self }
    }

    /// Marks the number as one of the baseline that set a knob.
    pub(crate) fn calibrated(self) -> Self {
        Self { role: Role::Calibrated, ..self }
    }

    /// Marks the number as one of the baseline.
    pub(crate) fn baseline(self) -> Self {
        Self { role: Role::Baseline, ..self }
    }

    /// Marks the row as one that follows from others or could hardly fail.
    pub(crate) fn arithmetic(self) -> Self {
        Self { role: Role::Arithmetic, ..self }
    }

    /// Marks the row as another reading of a claim that has a row.
    pub(crate) fn variant(self) -> Self {
        Self { role: Role::Variant, ..self }
    }

    /// States why the replay may differ: what is known of our model or reading, and not mended.
    pub(crate) fn ours(self, why: impl Into<String>) -> Self {
        Self { cause: Cause::Ours, why: why.into(), ..self }
    }

    /// States why the replay may differ: what the paper does not say.
    pub(crate) fn missing(self, why: impl Into<String>) -> Self {
        Self { cause: Cause::Missing, why: why.into(), ..self }
    }

    /// States why the replay differs: what is not consistent in the paper.
    pub(crate) fn inconsistent(self, why: impl Into<String>) -> Self {
        Self { cause: Cause::Paper, why: why.into(), ..self }
    }

    /// The published number; the middle of a range, and the bound of a direction.
    pub(crate) fn number(&self) -> f64 {
        match self.published {
            Published::Value(paper) | Published::Change(paper) | Published::Ratio(paper) => paper,
            Published::Range(least, most) => (least + most) / 2.0,
            Published::Above | Published::Below => 0.0,
        }
    }

    /// Ends the row of a quantity that is measured once per seed. A quantity without any value differs.
    pub(crate) fn replayed(self, values: &[f64]) -> Row {
        let found = t_interval(values);
        let tolerance = tolerance(self.published, self.unit);
        let verdict = found.map_or(Verdict::Differs, |found| judge(self.published, found, tolerance));
        self.judged(found, values.len(), tolerance, verdict)
    }

    /// Ends the row of a sentence that says the same of several quantities, each measured once per seed. It is the row of the quantity that
    /// agrees least: the sentence is true if all of them agree. Of those with the same verdict it is the one with the least [`Row::margin`].
    pub(crate) fn replayed_of_each(self, quantities: impl IntoIterator<Item = Vec<f64>>) -> Row {
        let rows = quantities.into_iter().map(|values| self.clone().replayed(&values));
        let worse = |a: &Row, b: &Row| a.verdict.cmp(&b.verdict).then_with(|| b.margin().total_cmp(&a.margin()));
        rows.max_by(worse).unwrap_or_else(|| self.replayed(&[]))
    }

    /// Ends the row of a formula. It agrees with the paper's number if that is its rounded value.
    pub(crate) fn exact(self, value: f64, rounding: f64) -> Row {
        let found = Estimate { value, low: value - rounding, high: value + rounding };
        let verdict = judge(self.published, found, f64::INFINITY);
        let differs = verdict != Verdict::Agrees;
        let verdict = if differs { Verdict::Differs } else { verdict };
        let found = Estimate { value, low: value, high: value };
        let draft = if self.role == Role::Check { self } else { self.arithmetic() };
        draft.judged(Some(found), 0, rounding, verdict)
    }

    /// Ends the row of a quantity that resched has no model for.
    pub(crate) fn cannot(self) -> Row {
        self.judged(None, 0, 0.0, Verdict::CannotBeReplayed)
    }

    fn judged(self, replay: Option<Estimate>, seeds: usize, tolerance: f64, verdict: Verdict) -> Row {
        let agrees = verdict.agrees();
        let near = tolerance.max(f64::EPSILON);
        let distinguishes = self.of_baseline.is_none_or(|of_baseline| (of_baseline - self.number()).abs() > near);
        let cause = if self.role == Role::Variant { Cause::Variant } else { self.cause };
        Row {
            experiment: "",
            source: self.source,
            quantity: self.quantity,
            unit: self.unit,
            published: self.published,
            role: self.role,
            main: self.main,
            distinguishes,
            replay,
            seeds,
            tolerance,
            verdict,
            cause: (!agrees).then_some(cause),
            why: if agrees { String::new() } else { self.why },
        }
    }
}

impl Row {
    /// How well it agrees, to compare rows of one published value: how far the replay is on the right side, in the unit of the row. A
    /// negative margin is on the wrong side, and a row without a replay is below all others.
    fn margin(&self) -> f64 {
        let Some(Estimate { value, low, high }) = self.replay else { return f64::NEG_INFINITY };
        match self.published {
            Published::Value(paper) | Published::Change(paper) | Published::Ratio(paper) => -(value - paper).abs(),
            Published::Range(least, most) => (value - least).min(most - value),
            Published::Above => low,
            Published::Below => -high,
        }
    }
}

/// The verdict by [`RULE`].
fn judge(published: Published, found: Estimate, tolerance: f64) -> Verdict {
    let Estimate { value, low, high } = found;
    let holds = |paper: f64| (low..=high).contains(&paper);
    let is_wide = (high - low) / 2.0 > tolerance;
    let numeric = |paper: f64| match (holds(paper), (value - paper).abs() <= tolerance) {
        (true, _) | (_, true) if is_wide => Verdict::Undecided,
        (true, _) => Verdict::Agrees,
        (false, true) => Verdict::AgreesByTolerance,
        (false, false) => Verdict::Differs,
    };
    let direction = |above: bool| match (low > 0.0, high < 0.0) {
        (true, _) if above => Verdict::Agrees,
        (_, true) if !above => Verdict::Agrees,
        // All of the interval is near 0: that is known, and it is no change.
        (false, false) if low >= -tolerance && high <= tolerance && tolerance > 0.0 => Verdict::Differs,
        (false, false) => Verdict::Undecided,
        _ => Verdict::Differs,
    };
    // The interval must show that nothing changes, or that too little is known.
    let no_change = |paper: f64, none: f64, least: f64| match (holds(none), holds(paper)) {
        _ if low >= none - least && high <= none + least => {
            if holds(paper) {
                Verdict::Agrees
            } else {
                Verdict::AgreesByTolerance
            }
        }
        (false, false) => Verdict::Differs,
        _ => Verdict::Undecided,
    };
    let change = |paper: f64, none: f64, least: f64| {
        let (same, opposite) = if paper > none { (low > none, high < none) } else { (high < none, low > none) };
        if (paper - none).abs() < least && (paper == none || !opposite) {
            return no_change(paper, none, least);
        }
        let share = (value - none) / (paper - none);
        let verdict = match numeric(paper) {
            Verdict::AgreesByTolerance if !(LEAST_SHARE..=1.0 / LEAST_SHARE).contains(&share) => Verdict::Differs,
            verdict => verdict,
        };
        match verdict {
            _ if opposite && paper != none => Verdict::Differs,
            Verdict::Differs if same && (low < none - least || high > none + least) => Verdict::SameDirection,
            verdict => verdict,
        }
    };
    match published {
        Published::Value(paper) => numeric(paper),
        Published::Change(paper) => change(paper, 0.0, POINTS),
        Published::Ratio(paper) => change(paper, 1.0, POINTS / 100.0),
        Published::Range(least, most) if (least..=most).contains(&value) => Verdict::Agrees,
        Published::Range(least, most) if low <= most && high >= least => Verdict::Undecided,
        Published::Range(..) => Verdict::Differs,
        Published::Above => direction(true),
        Published::Below => direction(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(published: Published, unit: &'static str, values: &[f64]) -> Verdict {
        row("", "", unit, published).replayed(values).verdict
    }

    #[test]
    fn a_time_agrees_within_a_quarter_or_eighteen_seconds() {
        let of = |paper: f64, values: &[f64]| verdict(Published::Value(paper), "min", values);
        assert_eq!(of(20.0, &[19.0, 20.0, 21.0]), Verdict::Agrees);
        assert_eq!(of(20.0, &[24.9, 24.95, 25.0]), Verdict::AgreesByTolerance, "the interval excludes 20");
        assert_eq!(of(20.0, &[25.1, 25.15, 25.2]), Verdict::Differs);
        assert_eq!(of(0.0, &[0.2, 0.21, 0.2]), Verdict::AgreesByTolerance);
        assert_eq!(verdict(Published::Value(0.0), "s", &[17.0, 17.1, 17.2]), Verdict::AgreesByTolerance);
    }

    // The mean of 10, 20, 30 is 20 ± 24.8.
    #[test]
    fn noise_earns_nothing() {
        let wide = [10.0, 20.0, 30.0];
        assert_eq!(verdict(Published::Value(20.0), "min", &wide), Verdict::Undecided);
        assert_eq!(verdict(Published::Value(200.0), "min", &wide), Verdict::Differs);
        assert_eq!(verdict(Published::Change(-20.0), "%", &[-50.0, -20.0, 10.0]), Verdict::Undecided);
        assert_eq!(verdict(Published::Above, "min", &wide), Verdict::Undecided, "0 is inside");
    }

    #[test]
    fn a_change_agrees_within_five_points_or_a_quarter_unless_it_has_the_other_sign() {
        let of = |paper: f64, values: &[f64]| verdict(Published::Change(paper), "%", values);
        assert_eq!(of(-14.6, &[-10.0, -10.1, -9.9]), Verdict::AgreesByTolerance, "4.6 points");
        assert_eq!(of(-14.6, &[-6.7, -6.8, -6.6]), Verdict::SameDirection);
        assert_eq!(of(10.2, &[5.3, 5.4, 5.2]), Verdict::AgreesByTolerance, "4.9 points, and more than half");
        assert_eq!(of(-6.6, &[-1.9, -2.0, -1.8]), Verdict::Differs, "4.7 points, but it is no change");
        assert_eq!(of(-12.0, &[-5.3, -5.4, -5.2]), Verdict::SameDirection, "less than half of the change");
        assert_eq!(of(-40.0, &[-1.9, -2.0, -1.8]), Verdict::Differs, "nothing changes");
        assert_eq!(of(-76.0, &[-60.0, -60.1, -59.9]), Verdict::AgreesByTolerance, "a quarter is 19 points");
        assert_eq!(of(-10.0, &[-0.2, -0.4, 0.1]), Verdict::Differs, "it is no change");
        assert_eq!(of(-6.6, &[2.0, 2.1, 1.9]), Verdict::Differs, "it is a loss and no gain");
        assert_eq!(of(-2.0, &[1.0, 1.1, 0.9]), Verdict::Differs, "as far from no change, but the other way");
        assert_eq!(of(0.6, &[8.4, 8.5, 8.3]), Verdict::Differs, "no change has no direction");
        assert_eq!(
            of(0.6, &[5.0, 4.9, 5.1]),
            Verdict::Differs,
            "a loss is no change, within 5 points of the paper's or not"
        );
        assert_eq!(of(0.6, &[3.0, 6.0, 4.5]), Verdict::Differs, "all of the interval must be near no change");
        assert_eq!(of(0.6, &[-3.0, 6.0, 1.5]), Verdict::Undecided);
        assert_eq!(of(0.6, &[-0.5, 1.0, 1.2]), Verdict::Agrees);
        assert_eq!(of(0.6, &[2.0, 2.1, 1.9]), Verdict::AgreesByTolerance);
        assert_eq!(of(20.0, &[-5.0, -5.1, -4.9]), Verdict::Differs);
    }

    #[test]
    fn a_ratio_agrees_on_the_scale_of_its_gain() {
        let of = |paper: f64, values: &[f64]| verdict(Published::Ratio(paper), "times", values);
        assert_eq!(of(2.0, &[1.8, 1.81, 1.79]), Verdict::AgreesByTolerance);
        assert_eq!(of(2.0, &[1.57, 1.58, 1.56]), Verdict::SameDirection, "57 % more is not 100 % more");
        assert_eq!(of(0.5, &[0.6, 0.61, 0.59]), Verdict::AgreesByTolerance);
        assert_eq!(of(0.5, &[0.97, 0.98, 0.96]), Verdict::SameDirection);
        assert_eq!(of(2.0, &[0.9, 0.91, 0.89]), Verdict::Differs);
    }

    #[test]
    fn a_direction_agrees_if_all_of_the_interval_has_it() {
        assert_eq!(verdict(Published::Above, "", &[1.0, 1.1, 1.2]), Verdict::Agrees);
        assert_eq!(verdict(Published::Below, "", &[1.0, 1.1, 1.2]), Verdict::Differs);
        assert_eq!(verdict(Published::Above, "share", &[-0.003, 0.0, 0.001]), Verdict::Differs, "a sharp 0");
        assert_eq!(verdict(Published::Above, "share", &[-0.3, 0.0, 0.1]), Verdict::Undecided, "a blurred one");
        assert_eq!(
            verdict(Published::Above, "B/s", &[-0.003, 0.0, 0.001]),
            Verdict::Undecided,
            "nobody knows what is little"
        );
        assert_eq!(verdict(Published::Below, "%", &[-1.0, -1.1, -1.2]), Verdict::Agrees, "little, but sure");
        assert_eq!(verdict(Published::Range(20.0, 60.0), "", &[61.0, 59.5]), Verdict::Undecided);
        assert_eq!(verdict(Published::Range(20.0, 60.0), "", &[60.5, 59.0]), Verdict::Agrees);
        assert_eq!(verdict(Published::Range(20.0, 60.0), "", &[61.0, 61.0]), Verdict::Differs);
    }

    #[test]
    fn a_claim_that_the_baseline_meets_does_not_tell_the_policies_apart() {
        let of = |value: f64, of_baseline: f64| {
            row("", "", "min", Published::Value(value)).beside(of_baseline).replayed(&[value])
        };
        assert!(of(0.0, 6.1).distinguishes && !of(0.0, 0.2).distinguishes);
        assert!(!of(4.5, 4.9).distinguishes, "within a quarter");
        assert!(row("", "", "min", Published::Value(0.0)).replayed(&[0.0]).distinguishes, "the baseline has no number");
    }

    #[test]
    fn a_sentence_about_several_quantities_agrees_if_all_of_them_do() {
        let of = |all: &[&[f64]]| {
            let quantities = all.iter().map(|values| values.to_vec());
            row("", "", "%", Published::Below).replayed_of_each(quantities)
        };
        assert_eq!(of(&[&[-9.0, -9.1], &[-3.0, -3.1]]).verdict, Verdict::Agrees);
        let one_grows = of(&[&[-9.0, -9.1], &[7.0, 7.1], &[-3.0, -3.1]]);
        assert_eq!(
            (one_grows.verdict, one_grows.replay.map(|found| found.value > 0.0)),
            (Verdict::Differs, Some(true))
        );
        assert_eq!(of(&[]).verdict, Verdict::Differs);
    }

    #[test]
    fn of_quantities_with_the_same_verdict_the_row_is_that_of_the_weaker() {
        let of = |published, all: [&[f64]; 2]| {
            let row = row("", "", "%", published).replayed_of_each(all.map(<[f64]>::to_vec));
            row.replay.map(|found| found.value)
        };
        let (little, much) = (&[3.0, 3.0][..], &[9.0, 9.0][..]);
        assert_eq!(of(Published::Above, [little, much]), Some(3.0));
        assert_eq!(of(Published::Above, [much, little]), Some(3.0));
        assert_eq!(of(Published::Below, [little, much]), Some(9.0), "both are on the wrong side");
        assert_eq!(of(Published::Value(10.0), [&[2.0, 2.0], little]), Some(2.0));
        assert_eq!(of(Published::Range(0.0, 9.5), [much, &[5.0, 5.0]]), Some(9.0), "nearer to an end");
        assert_eq!(of(Published::Range(0.0, 1.0), [much, little]), Some(9.0));
        assert_eq!(of(Published::Value(10.0), [&[], little]), None, "no replay at all");
    }

    #[test]
    fn formulas_are_arithmetic() {
        let exact = row("", "", "%", Published::Value(92.9)).exact(92.86, 0.05);
        assert_eq!((exact.verdict, exact.role), (Verdict::Agrees, Role::Arithmetic));
        assert_eq!(row("", "", "%", Published::Value(92.9)).exact(92.0, 0.05).verdict, Verdict::Differs);
        assert_eq!(check("", "", Published::Value(24.0)).exact(24.0, 0.0).role, Role::Check);
    }

    #[test]
    fn a_row_that_does_not_agree_names_its_cause() {
        let draft = || row("", "await", "ms", Published::Value(96.62)).missing("no disks");
        let cannot = draft().cannot();
        assert_eq!(
            (cannot.verdict, cannot.cause, cannot.why.as_str()),
            (Verdict::CannotBeReplayed, Some(Cause::Missing), "no disks")
        );
        assert_eq!(draft().replayed(&[]).verdict, Verdict::Differs);
        assert_eq!(draft().variant().cannot().cause, Some(Cause::Variant));
        assert_eq!(draft().replayed(&[96.0, 97.0]).cause, None);
    }
}
