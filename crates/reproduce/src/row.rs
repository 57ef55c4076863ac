//! A row: the paper's number beside the replay's, and a verdict by fixed rules.

use resched_analysis::compare::Estimate;
use resched_analysis::repeats::t_interval;
use serde::Serialize;

/// The published value of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Published {
    /// A number.
    Value(f64),
    /// A change. 0 means no change, and the sign counts, too.
    Change(f64),
    /// A range: the least and the greatest of several runs, or a range in words.
    Range(f64, f64),
    /// Above zero: more, longer, later.
    Above,
    /// Below zero: less, shorter, earlier.
    Below,
}

/// The outcome of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The paper's number lies in the 95 % interval of the replay, or within the row's tolerance of its mean. For a change, the
    /// interval must not contain 0 either, unless the mean is within the tolerance. A range must overlap the interval. A direction
    /// must be that of the whole interval.
    Agrees,
    /// The replay's mean has the sign of the paper's change or direction, but another size, or its interval contains 0.
    SameDirection,
    /// Neither of these.
    Differs,
    /// There is no model for it.
    CannotBeReplayed,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Self; 4] = [Self::Agrees, Self::SameDirection, Self::Differs, Self::CannotBeReplayed];

    /// As it stands in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::SameDirection => "same direction",
            Self::Differs => "differs",
            Self::CannotBeReplayed => "cannot be replayed",
        }
    }
}

/// How a row relates to the calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A number of the baseline that a knob was set from. Whether it agrees or not, it is no evidence.
    Calibrated,
    /// A number of the baseline that no knob was set from.
    Baseline,
    /// A claim of the paper about its own policy.
    Claim,
    /// A second row of a claim, under another reading of a detail that the paper leaves open. It shows what the claim depends on.
    Variant,
}

impl Role {
    /// As it stands in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calibrated => "calibrated",
            Self::Baseline => "baseline",
            Self::Claim => "claim",
            Self::Variant => "variant",
        }
    }
}

/// A quantity of an experiment: the paper's number and the replay's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The experiment; empty until the runner fills it in.
    pub experiment: &'static str,
    /// The quantity.
    pub quantity: String,
    /// Its unit.
    pub unit: &'static str,
    /// The published value.
    pub published: Published,
    /// Whether the number was used to calibrate.
    pub role: Role,
    /// The replay's mean over the seeds with its 95 % interval; `None` without a replay.
    pub replay: Option<Estimate>,
    /// The number of seeds; 0 for a number without chance.
    pub seeds: usize,
    /// How far the mean may be from the paper's number and still agree with it, in the row's unit.
    pub tolerance: f64,
    /// The outcome.
    pub verdict: Verdict,
    /// Why the numbers differ; empty if they agree.
    pub why: String,
}

/// A row that is not complete.
#[derive(Debug)]
pub(crate) struct Draft {
    quantity: String,
    unit: &'static str,
    published: Published,
    role: Role,
    tolerance: f64,
    why: String,
}

/// Starts a row of a quantity in a unit, with the published value.
pub(crate) fn row(quantity: impl Into<String>, unit: &'static str, published: Published) -> Draft {
    let (quantity, why) = (quantity.into(), String::new());
    Draft { quantity, unit, published, role: Role::Claim, tolerance: 0.0, why }
}

impl Draft {
    /// Marks the number as one of the baseline that set a knob.
    pub(crate) fn calibrated(self) -> Self {
        Self { role: Role::Calibrated, ..self }
    }

    /// Marks the number as one of the baseline.
    pub(crate) fn baseline(self) -> Self {
        Self { role: Role::Baseline, ..self }
    }

    /// Marks the row as another reading of a claim that has a row.
    pub(crate) fn variant(self) -> Self {
        Self { role: Role::Variant, ..self }
    }

    /// Sets the tolerance: a mean this near to the paper's number agrees with it.
    pub(crate) fn within(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// States why the replay may differ.
    pub(crate) fn because(self, why: impl Into<String>) -> Self {
        Self { why: why.into(), ..self }
    }

    /// Ends the row of a quantity that is measured once per seed. A quantity without any value differs.
    pub(crate) fn replayed(self, values: &[f64]) -> Row {
        let found = t_interval(values);
        let verdict = found.map_or(Verdict::Differs, |found| judge(self.published, found, self.tolerance));
        self.judged(found, values.len(), verdict)
    }

    /// Ends the row of a number without chance.
    pub(crate) fn exact(self, value: f64) -> Row {
        let found = Estimate { value, low: value, high: value };
        let verdict = judge(self.published, found, self.tolerance);
        self.judged(Some(found), 0, verdict)
    }

    /// Ends the row of a quantity that resched has no model for.
    pub(crate) fn cannot(self) -> Row {
        self.judged(None, 0, Verdict::CannotBeReplayed)
    }

    fn judged(self, replay: Option<Estimate>, seeds: usize, verdict: Verdict) -> Row {
        let why = if verdict == Verdict::Agrees { String::new() } else { self.why };
        Row {
            experiment: "",
            quantity: self.quantity,
            unit: self.unit,
            published: self.published,
            role: self.role,
            replay,
            seeds,
            tolerance: self.tolerance,
            verdict,
            why,
        }
    }
}

fn judge(published: Published, found: Estimate, tolerance: f64) -> Verdict {
    let Estimate { value, low, high } = found;
    let near = |paper: f64| (low..=high).contains(&paper) || (value - paper).abs() <= tolerance;
    let (agrees, same) = match published {
        Published::Value(paper) => (near(paper), false),
        // An interval that contains both the paper's change and 0 decides nothing.
        Published::Change(paper) => {
            let unsure = (low..=high).contains(&0.0) && paper != 0.0 && (value - paper).abs() > tolerance;
            (near(paper) && !unsure, value * paper > 0.0)
        }
        Published::Range(least, most) => (low <= most + tolerance && high >= least - tolerance, false),
        Published::Above => (low > 0.0, value > 0.0),
        Published::Below => (high < 0.0, value < 0.0),
    };
    match (agrees, same) {
        (true, _) => Verdict::Agrees,
        (false, true) => Verdict::SameDirection,
        (false, false) => Verdict::Differs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(published: Published, values: &[f64], tolerance: f64) -> Verdict {
        row("", "", published).within(tolerance).replayed(values).verdict
    }

    // The mean of 1, 2, 3 is 2 ± 4.30·0.577 = 2 ± 2.48.
    #[test]
    fn a_number_agrees_inside_the_interval_or_the_tolerance() {
        let values = [1.0, 2.0, 3.0];
        assert_eq!(verdict(Published::Value(4.4), &values, 0.0), Verdict::Agrees);
        assert_eq!(verdict(Published::Value(4.5), &values, 0.0), Verdict::Differs);
        assert_eq!(verdict(Published::Value(4.5), &values, 2.5), Verdict::Agrees);
        assert_eq!(verdict(Published::Change(2.5), &[2.0, 2.1, 3.0], 0.0), Verdict::Agrees);
        assert_eq!(verdict(Published::Change(4.4), &values, 0.0), Verdict::SameDirection, "0 is inside, too");
        assert_eq!(verdict(Published::Change(4.5), &values, 0.0), Verdict::SameDirection);
        assert_eq!(verdict(Published::Change(-4.5), &values, 0.0), Verdict::Differs);
    }

    #[test]
    fn a_direction_agrees_if_all_of_the_interval_has_it() {
        assert_eq!(verdict(Published::Above, &[1.0, 1.1, 1.2], 0.0), Verdict::Agrees);
        assert_eq!(verdict(Published::Above, &[1.0, 2.0, 3.0], 0.0), Verdict::SameDirection);
        assert_eq!(verdict(Published::Below, &[1.0, 2.0, 3.0], 0.0), Verdict::Differs);
    }

    #[test]
    fn a_range_agrees_with_an_interval_that_it_meets() {
        assert_eq!(verdict(Published::Range(20.0, 60.0), &[61.0, 59.5], 0.0), Verdict::Agrees);
        assert_eq!(verdict(Published::Range(20.0, 60.0), &[61.0, 61.0], 0.0), Verdict::Differs);
        assert_eq!(verdict(Published::Range(20.0, 60.0), &[61.0, 61.0], 1.0), Verdict::Agrees);
    }

    #[test]
    fn what_has_no_model_cannot_be_replayed_and_what_never_happens_differs() {
        let draft = || row("await", "ms", Published::Value(96.62)).because("no disks");
        assert_eq!((draft().cannot().verdict, draft().cannot().why.as_str()), (Verdict::CannotBeReplayed, "no disks"));
        assert_eq!(draft().replayed(&[]).verdict, Verdict::Differs);
    }
}
