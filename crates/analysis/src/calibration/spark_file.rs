//! The part of a cluster file that says how long a task of Spark takes away from the machines that it prefers.

use std::fmt::Write;

use resched_tables::words::counted;

use super::fitted::{Fitted, MOST_ERROR};
use super::locality::{LEAST_STAGES, StageFactors};

/// The sections `[cost]` and `[fitted]`. A factor that is not determined is a comment.
pub(super) fn cost(text: &mut String, found: StageFactors) -> std::fmt::Result {
    let [rack, off] = found.factors;
    let [racks, offs] = found.stages;
    let why = format!("rack: {}; elsewhere: {}", evidence(rack, racks), evidence(off, offs));
    writeln!(text, "\n[cost]")?;
    // A rack that no task shows is like any other machine: a standalone cluster has none.
    let Some(of_rack) = rack.value.or(off.value) else {
        return writeln!(text, "# locality: {why}");
    };
    let of_off = off.value.map_or(of_rack, |off| off.max(of_rack));
    writeln!(text, "locality = [1.0, {of_rack:.4}, {of_off:.4}] # {why}")?;
    writeln!(text, "\n[fitted]")?;
    writeln!(text, "# The standard errors of the values above, by key. A value without a line here has none.")?;
    let keys = [("cost.locality.off", off), ("cost.locality.rack", rack)];
    for (key, error) in keys.into_iter().filter_map(|(key, fitted)| Some((key, fitted.standard_error?))) {
        writeln!(text, "\"{key}\" = {:?}", error.min(MOST_ERROR))?;
    }
    Ok(())
}

/// What a factor is fitted to.
fn evidence(fitted: Fitted, stages: u64) -> String {
    let n = format!("n = {} in {}", fitted.n, counted(stages, "stage"));
    match (fitted.value, fitted.standard_error) {
        (None, _) if stages < LEAST_STAGES => format!("not determined: {n}, at least {LEAST_STAGES} are needed"),
        (None, _) => format!("not determined: {n}"),
        (_, Some(error)) => format!("s.e. {error:.4}, {n}"),
        (_, None) => format!("s.e. unknown, {n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(factors: [Fitted; 2], stages: [u64; 2]) -> String {
        let mut text = String::new();
        assert_eq!(cost(&mut text, StageFactors { factors, stages }), Ok(()));
        text
    }

    #[test]
    fn a_factor_has_its_error_and_one_that_is_not_determined_its_reason() {
        let off = Fitted::of(1.95, Some(0.07), 40);
        let text = written([Fitted::unknown(0), off], [0, 5]);
        let line = "locality = [1.0, 1.9500, 1.9500] # rack: not determined: n = 0 in 0 stages, at least 3 are needed; elsewhere: \
                    s.e. 0.0700, n = 40 in 5 stages\n";
        assert!(text.contains(line) && text.ends_with("\"cost.locality.off\" = 0.07\n"), "{text}");
        let text = written([Fitted::unknown(0), Fitted::unknown(12)], [0, 2]);
        assert!(text.contains("\n# locality: ") && !text.contains("[fitted]"), "{text}");
    }
}
