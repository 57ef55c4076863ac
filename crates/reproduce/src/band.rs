//! A band: a claim over the plausible range of a number that no paper gives.

use resched_report::{Figure, Line, Lines, Shape, draw_lines};
use serde::Serialize;

use crate::row::Draft;
use crate::{Error, Published, Row, Verdict};

/// A claim over the plausible range of a number that no paper gives, with the other numbers as they are on the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Band {
    /// The name of its figure's files.
    pub name: String,
    /// The claim.
    pub claim: String,
    /// The quantity of the row that has this claim on the page.
    pub row: String,
    /// The number that no paper gives, with its unit.
    pub unknown: &'static str,
    /// Why it is plausible in this range.
    pub range: &'static str,
    /// The value that the rows of the page have.
    pub chosen: f64,
    /// Each value of the unknown number with the row of the claim there, the least value first.
    pub points: Vec<(f64, Row)>,
}

/// In how much of its range a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// At every value.
    Everywhere,
    /// At some values.
    Part,
    /// At none.
    Nowhere,
}

/// An unknown number: its name on an axis, and why it is plausible in the range that is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unknown {
    pub(crate) name: &'static str,
    pub(crate) range: &'static str,
    pub(crate) chosen: f64,
}

impl Band {
    /// A claim, as `claim` makes its row, at each value of an unknown number, with what was measured there, seed by seed.
    pub(crate) fn new(
        name: impl Into<String>,
        unknown: Unknown,
        claim: impl Fn() -> Draft,
        measured: impl IntoIterator<Item = (f64, Vec<f64>)>,
    ) -> Self {
        Self::of_each(name, unknown, claim, measured.into_iter().map(|(value, found)| (value, vec![found])))
    }

    /// The same for a claim about several quantities at once: what was measured of each of them at each value.
    pub(crate) fn of_each(
        name: impl Into<String>,
        unknown: Unknown,
        claim: impl Fn() -> Draft,
        measured: impl IntoIterator<Item = (f64, Vec<Vec<f64>>)>,
    ) -> Self {
        let points: Vec<(f64, Row)> =
            measured.into_iter().map(|(value, found)| (value, claim().replayed_of_each(found))).collect();
        let claim = points.first().map(|(_, row)| row.quantity.clone()).unwrap_or_default();
        let Unknown { name: unknown, range, chosen } = unknown;
        Self { name: name.into(), row: claim.clone(), claim, unknown, range, chosen, points }
    }

    /// The same for the row of another quantity, such as the mean of several measures of which the band has one.
    pub(crate) fn of_row(self, quantity: impl Into<String>) -> Self {
        Self { row: quantity.into(), ..self }
    }

    /// In how much of its range the claim agrees.
    pub fn agrees(&self) -> Reach {
        self.reach(Verdict::agrees)
    }

    /// In how much of its range the claim agrees or points the same way.
    pub fn holds(&self) -> Reach {
        self.reach(|verdict| verdict.agrees() || verdict == Verdict::SameDirection)
    }

    fn reach(&self, holds: impl Fn(Verdict) -> bool) -> Reach {
        match self.points.iter().filter(|(_, row)| holds(row.verdict)).count() {
            0 => Reach::Nowhere,
            all if all == self.points.len() => Reach::Everywhere,
            _ => Reach::Part,
        }
    }

    /// Where the claim agrees, and where it only points the same way, in a sentence.
    pub fn in_one_sentence(&self) -> String {
        let at = |verdicts: &[Verdict]| {
            let values = self.points.iter().filter(|(_, row)| verdicts.contains(&row.verdict));
            values.map(|(value, _)| value.to_string()).collect::<Vec<_>>().join(", ")
        };
        let agrees = at(&[Verdict::Agrees, Verdict::AgreesByTolerance]);
        let (same, undecided) = (at(&[Verdict::SameDirection]), at(&[Verdict::Undecided]));
        let mut parts = match self.agrees() {
            Reach::Everywhere => return "It agrees over the whole range.".to_owned(),
            Reach::Part => vec![format!("It agrees at {agrees}")],
            Reach::Nowhere => vec!["It agrees nowhere".to_owned()],
        };
        if !same.is_empty() {
            parts.push(format!("points the same way at {same}"));
        }
        if !undecided.is_empty() {
            parts.push(format!("is undecided at {undecided}"));
        }
        format!("{}.", parts.join(", "))
    }

    /// The paper's value and the replay's over the range; `None` without a number.
    ///
    /// # Errors
    /// [`Error::Report`] if it cannot be drawn.
    pub(crate) fn figure(&self) -> Result<Option<Figure>, Error> {
        let Some((_, first)) = self.points.first() else { return Ok(None) };
        let found = |(value, row): &(f64, Row)| row.replay.map(|found| (*value, found.value, found.low, found.high));
        let flat = |paper: f64| self.points.iter().map(|(value, _)| (*value, paper, paper, paper)).collect();
        let line = |label: &str, points, shape| Line { label: label.to_owned(), points, shape };
        let mut series = vec![line("replay", self.points.iter().filter_map(found).collect(), Shape::Joined)];
        match first.published {
            Published::Value(paper) | Published::Change(paper) | Published::Ratio(paper) => {
                series.push(line("paper", flat(paper), Shape::Curve))
            }
            Published::Range(least, most) => {
                series.push(line("paper, least", flat(least), Shape::Curve));
                series.push(line("paper, most", flat(most), Shape::Curve));
            }
            Published::Above | Published::Below => {}
        }
        let y = if first.unit == "%" { "Change (%)".to_owned() } else { format!("Value ({})", first.unit) };
        let (name, x, series) = (&self.name, self.unknown, &series);
        let chart = Lines { name, x, logarithmic: false, ends: None, y: &y, band: true, series };
        let figure = |svg| Figure {
            name: self.name.clone(),
            title: self.claim.clone(),
            caption: format!(
                "{} The rows of this page have {}. {} The band is the 95 % interval \
                 over {} seeds or more.",
                self.range,
                self.chosen,
                self.in_one_sentence(),
                self.points.iter().map(|(_, row)| row.seeds).min().unwrap_or(0)
            ),
            svg,
        };
        Ok(draw_lines(&chart, resched_policies::order_of)?.map(figure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;

    fn band(measured: &[(f64, f64)]) -> Band {
        let unknown = Unknown { name: "Load", range: "", chosen: 1.0 };
        let claim = || row("", "gain", "%", Published::Change(-20.0)).missing("load");
        Band::new("band", unknown, claim, measured.iter().map(|&(value, found)| (value, vec![found, found])))
    }

    #[test]
    fn a_claim_holds_everywhere_in_a_part_or_nowhere() {
        let part = band(&[(1.0, -21.0), (2.0, -8.0), (3.0, 4.0)]);
        assert_eq!((part.agrees(), part.holds()), (Reach::Part, Reach::Part));
        assert_eq!(part.in_one_sentence(), "It agrees at 1, points the same way at 2.");
        assert_eq!(band(&[(1.0, -21.0), (2.0, -19.0)]).in_one_sentence(), "It agrees over the whole range.");
        let nowhere = band(&[(1.0, 4.0), (2.0, -8.0)]);
        assert_eq!((nowhere.agrees(), nowhere.holds()), (Reach::Nowhere, Reach::Part));
        assert_eq!(nowhere.in_one_sentence(), "It agrees nowhere, points the same way at 2.");
    }
}
