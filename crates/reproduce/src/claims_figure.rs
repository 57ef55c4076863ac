//! A figure of an experiment's claims: the paper's numbers over the intervals of the replays, one line a row.

use resched_report::{Figure, Interval, Intervals, draw_intervals};

use crate::{Error, Published, Role, Row};

/// The figures of an experiment's claims, one for each unit. Directions and claims without a replay have no line.
///
/// # Errors
/// [`Error::Report`] if one cannot be drawn.
pub(crate) fn claims_figures(experiment: &str, rows: &[Row]) -> Result<Vec<Figure>, Error> {
    let shown = |row: &&Row| row.seeds > 0 && row.role == Role::Claim && interval(row).is_some();
    let rows: Vec<&Row> = rows.iter().filter(shown).collect();
    let mut units: Vec<&str> = Vec::new();
    for row in &rows {
        if !units.contains(&row.unit) {
            units.push(row.unit);
        }
    }
    let of_unit = |(number, &unit): (usize, &&str)| {
        let name = format!("{experiment}-claims-{}", number + 1);
        let lines: Vec<Interval> = rows.iter().filter(|row| row.unit == unit).filter_map(|row| interval(row)).collect();
        let title = if unit == "%" { "Change or share (%)".to_owned() } else { format!("Value ({unit})") };
        let chart = Intervals { name: &name, x: &title, legend: ["paper", "replay, 95 % interval"], rows: &lines };
        let figure = |svg| Figure {
            name: name.clone(),
            title: "The paper's claims over the replay's".to_owned(),
            caption:
                "A triangle is the paper's number. A disc is the mean over the seeds, and its line the 95 % interval."
                    .to_owned(),
            svg,
        };
        Ok(draw_intervals(&chart)?.map(figure))
    };
    units.iter().enumerate().filter_map(|unit| of_unit(unit).transpose()).collect()
}

/// A row as a line; `None` without a published number or a replay.
fn interval(row: &Row) -> Option<Interval> {
    let published = match row.published {
        Published::Value(paper) | Published::Change(paper) | Published::Ratio(paper) => (paper, paper),
        Published::Range(least, most) => (least, most),
        Published::Above | Published::Below => return None,
    };
    let found = row.replay?;
    let found = Some((found.value, found.low, found.high));
    Some(Interval { label: row.quantity.clone(), published: Some(published), found })
}
