//! Figures that show all variants together.

use std::collections::BTreeMap;

use resched_analysis::metrics::named::Metric;
use resched_report::{Cloud, Line, Scatter, Shape, draw_scatter};

use super::album::{Album, plain, sorted, span};
use super::variant::varying;
use crate::Error;
use crate::metrics::point;
use crate::statistics::{Group, front_of};

/// The names of the variants, in order.
pub(super) fn variants<'g>(groups: &[&'g Group<'_>]) -> Vec<&'g str> {
    let mut names: Vec<&str> = Vec::new();
    for group in groups {
        if !names.contains(&group.variant) {
            names.push(group.variant);
        }
    }
    names
}

fn of_variant<'g, 'a>(groups: &[&'g Group<'a>], variant: &str) -> Vec<&'g Group<'a>> {
    groups.iter().copied().filter(|group| group.variant == variant).collect()
}

/// Draws the metric against each number that is the only varying parameter of a variant.
pub(super) fn against_key(groups: &[&Group<'_>], album: &mut Album<'_>) -> Result<(), Error> {
    let mut keys: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut level = Vec::new();
    for variant in variants(groups) {
        let of_it = of_variant(groups, variant);
        match varying(&of_it).as_slice() {
            [] => level.push(variant),
            [key] if of_it.iter().all(|group| number(group, key).is_some()) => {
                keys.entry(key.clone()).or_default().push(variant);
            }
            _ => {}
        }
    }
    for (key, variants) in keys {
        let metric = album.metric;
        let mut series: Vec<Line> = Vec::new();
        for variant in &variants {
            let of_it = of_variant(groups, variant);
            let points =
                of_it.iter().filter_map(|group| Some(point(metric, number(group, &key)?, group.estimate(metric)?)));
            series.push(Line { label: (*variant).to_owned(), points: sorted(points), shape: Shape::Joined });
        }
        let (low, high) = span(&series);
        for variant in &level {
            let of_it = of_variant(groups, variant);
            let Some(found) = of_it.iter().find_map(|group| group.estimate(metric)) else { continue };
            let points = vec![point(metric, low, found), point(metric, high, found)];
            series.push(Line { label: (*variant).to_owned(), points, shape: Shape::Curve });
        }
        let name = format!("{}-against-{}", plain(&metric.name), plain(&key));
        let title = format!("{} against {key}", metric.title);
        album.add_lines((&name, &title), &key, &series, "The band is its 95 % interval by Student's t.")?;
    }
    Ok(())
}

/// Draws the metric against the second metric.
pub(super) fn pareto(groups: &[&Group<'_>], second: &Metric, album: &mut Album<'_>) -> Result<(), Error> {
    let first = album.metric;
    let place = |group: &Group<'_>| Some((group.estimate(first)?.value, group.estimate(second)?.value));
    let shown = |(x, y): (f64, f64)| (first.shown(x), second.shown(y));
    let cloud = |variant: &str| {
        let points = of_variant(groups, variant).into_iter().filter_map(place).map(shown).collect();
        Cloud { label: variant.to_owned(), points }
    };
    let points: Vec<(f64, f64)> = groups.iter().copied().filter_map(place).collect();
    if points.len() < 2 || first.name == second.name {
        return Ok(());
    }
    let series: Vec<Cloud> = variants(groups).into_iter().map(cloud).collect();
    let front = front_of(&points, first, second);
    let name = |point: &(f64, f64)| {
        let here = groups.iter().find(|group| place(group) == Some(*point));
        here.map_or_else(String::new, |group| group.label())
    };
    let labels: Vec<String> = front.iter().map(name).collect();
    let front: Vec<(f64, f64)> = front.into_iter().map(shown).collect();
    let name = format!("{}-against-{}", second.name, first.name);
    let chart =
        Scatter { name: &name, x: &first.axis(), y: &second.axis(), series: &series, front: &front, labels: &labels };
    let title = format!("{} against {}", second.title, first.title.to_lowercase());
    let caption = "A point is the mean of a setting over the seeds. The grey line is the Pareto front: no other setting is better in one \
                   metric and as good in the other.";
    album.add(&name, &title, caption.to_owned(), draw_scatter(&chart, resched_policies::order_of)?);
    Ok(())
}

/// The value of a key, if it is a number.
fn number(group: &Group<'_>, key: &str) -> Option<f64> {
    group.settings.get(key)?.parse().ok()
}
