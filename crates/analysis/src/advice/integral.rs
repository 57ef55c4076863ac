//! A number over time, and its sum up to any instant.

/// A step function with its integral.
#[derive(Debug, Default)]
pub(super) struct Integral {
    /// An instant, the integral up to it, and the value from then on.
    points: Vec<(i64, i128, i64)>,
}

impl Integral {
    /// How many of these spans are open.
    pub(super) fn of_spans(spans: impl Iterator<Item = (i64, i64)>) -> Self {
        let mut changes: Vec<(i64, i64)> = spans.flat_map(|(from, to)| [(from, 1), (to, -1)]).collect();
        changes.sort_unstable();
        let mut points: Vec<(i64, i128, i64)> = Vec::with_capacity(changes.len());
        for (at, change) in changes {
            match points.last_mut() {
                Some((last, _, value)) if *last == at => *value += change,
                Some(&mut (last, sum, value)) => {
                    points.push((at, sum + i128::from(at - last) * i128::from(value), value + change));
                }
                None => points.push((at, 0, change)),
            }
        }
        Self { points }
    }

    /// The integral from one instant to another.
    pub(super) fn between(&self, from: i64, to: i64) -> i128 {
        self.until(to.max(from)) - self.until(from)
    }

    fn until(&self, at: i64) -> i128 {
        let next = self.points.partition_point(|point| point.0 <= at);
        let last = next.checked_sub(1).and_then(|last| self.points.get(last));
        last.map_or(0, |&(since, sum, value)| sum + i128::from(at - since) * i128::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_add_up() {
        let open = Integral::of_spans([(0, 10), (5, 10), (20, 30)].into_iter());
        assert_eq!(
            [open.between(0, 10), open.between(7, 25), open.between(-5, 100), open.between(9, 3)],
            [15, 11, 25, 0]
        );
        assert_eq!(Integral::default().between(0, 10), 0);
    }
}
