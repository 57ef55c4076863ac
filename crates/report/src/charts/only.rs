//! Which charts to draw.

use std::str::FromStr;

use super::{CHARTS, Chart};
use crate::Error;

/// Some of the charts. Parsed from a list of names, such as `gantt,ratio`; by default all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Only(Option<Vec<String>>);

impl Only {
    /// The charts, in the order of a report.
    pub(crate) fn charts(&self) -> impl Iterator<Item = &'static Chart> {
        let is_named = |chart: &&Chart| self.0.as_ref().is_none_or(|names| names.iter().any(|name| name == chart.name));
        CHARTS.iter().filter(is_named)
    }
}

impl FromStr for Only {
    type Err = Error;

    fn from_str(list: &str) -> Result<Self, Error> {
        let names: Vec<String> = list.split(',').map(|name| name.trim().to_owned()).collect();
        let is_known = |name: &&String| CHARTS.iter().any(|chart| chart.name == **name);
        match names.iter().find(|name| !is_known(name)) {
            None => Ok(Self(Some(names))),
            Some(unknown) => {
                let known: Vec<&str> = CHARTS.iter().map(|chart| chart.name).collect();
                Err(Error::Request(format!(
                    "--only: there is no chart `{unknown}`; expected some of {}",
                    known.join(", ")
                )))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn named_charts_are_drawn_in_the_order_of_a_report() {
        let names = |only: Only| only.charts().map(|chart| chart.name).collect::<Vec<_>>();
        assert_eq!(names("ratio, gantt".parse().unwrap()), ["gantt", "ratio"]);
        assert_eq!(names(Only::default()).len(), CHARTS.len());
        let error = "gantt,pie".parse::<Only>().unwrap_err();
        assert!(error.is_request(), "{error}");
        let text = error.to_string();
        assert!(text.contains("`pie`") && CHARTS.iter().all(|chart| text.contains(chart.name)), "{text}");
    }
}
