//! The figures of a sweep. They depend on what varies.
//!
//! | varying keys of a variant | figure | module |
//! |---|---|---|
//! | one number | the metric against it, with a band and one line per variant; a variant without it is a horizontal line | `comparison` |
//! | two | a heat map | `effects` |
//! | three or more | heat maps of the two with the largest effects, a panel for each value of the third | `effects` |
//! | two or more | the main effect of each, and how each pair interacts | `effects` |
//!
//! For all variants together: the metric against the second one, with the Pareto front (`comparison`).

mod album;
mod comparison;
mod effects;
mod variant;

use std::collections::BTreeSet;

use resched_report::Figure;

use self::album::Album;
use self::comparison::{against_key, pareto, variants};
use self::variant::Variant;
use crate::Error;
use crate::file::DesignKind;
use crate::merge::Merged;
use crate::statistics::Group;

/// The figures of a sweep, in order.
///
/// # Errors
/// [`Error::Report`] if one cannot be drawn.
pub(crate) fn figures(merged: &Merged) -> Result<Vec<Figure>, Error> {
    let groups = merged.groups();
    let places: BTreeSet<(usize, usize)> = groups.iter().map(|group| group.place).collect();
    let mut album = Album { metric: &merged.file.metric, suffix: String::new(), figures: Vec::new() };
    for place in &places {
        if places.len() > 1 {
            album.suffix = format!(": {}", merged.place_name(*place));
        }
        let of_place: Vec<&Group<'_>> = groups.iter().filter(|group| group.place == *place).collect();
        draw_place(merged, &of_place, &mut album)?;
    }
    Ok(album.figures)
}

/// Draws the groups of one source and cluster.
fn draw_place(merged: &Merged, groups: &[&Group<'_>], album: &mut Album<'_>) -> Result<(), Error> {
    against_key(groups, album)?;
    let is_grid = merged.file.design.kind == DesignKind::Grid;
    for name in variants(groups) {
        let variant = Variant::new(name, groups, album.metric, is_grid);
        if variant.keys.len() < 2 {
            continue;
        }
        if is_grid {
            effects::heat_map(&variant, album)?;
        }
        effects::main_effects(&variant, album)?;
        effects::interactions(&variant, album)?;
    }
    pareto(groups, &merged.file.second, album)
}
