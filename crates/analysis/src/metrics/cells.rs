//! Equal cells of time, and means over them. Millions of spans are added one by one, without sorting them.

/// Equal cells of time, from the left to the right. The last one may be shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cells {
    first: i64,
    last: i64,
    width: i64,
}

impl Cells {
    /// At most `most` cells from `first` to `last` (ms), at least one.
    pub fn new((first, last): (i64, i64), most: usize) -> Self {
        let span = last.saturating_sub(first).max(1);
        let width = span.div_euclid(most.max(1) as i64) + i64::from(span.rem_euclid(most.max(1) as i64) > 0);
        Self { first, last: first + span, width }
    }

    /// The same cells, of which the first begins at another time (ms).
    pub fn from(self, first: i64) -> Self {
        Self { first, last: first.saturating_add(self.last - self.first), ..self }
    }

    /// The width of all but the last, ms.
    pub fn width(self) -> i64 {
        self.width
    }

    /// How many there are.
    pub fn count(self) -> usize {
        self.of_offset(self.last - self.first - 1) + 1
    }

    /// Their edges, one more than there are cells (ms).
    pub fn edges(self) -> Vec<i64> {
        let starts = (0..self.count() as i64).map(|cell| self.first + cell * self.width);
        starts.chain([self.last]).collect()
    }

    /// The middles of the cells (ms).
    pub fn middles(self) -> Vec<i64> {
        self.edges().windows(2).map(|edges| edges.iter().sum::<i64>().div_euclid(2)).collect()
    }

    /// The cell of a time; `None` outside of all.
    pub fn of(self, time: i64) -> Option<usize> {
        (self.first..self.last).contains(&time).then(|| self.of_offset(time - self.first))
    }

    fn of_offset(self, offset: i64) -> usize {
        usize::try_from(offset / self.width).unwrap_or(0)
    }
}

/// Adds up spans of time: how many are open at a time, as the mean over each cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    cells: Cells,
    /// The time in each cell that spans cover in part (ms).
    parts: Vec<f64>,
    /// How many spans begin to cover whole cells at a cell, less those that cease to.
    whole: Vec<f64>,
}

impl Load {
    /// Without spans.
    pub fn new(cells: Cells) -> Self {
        let count = cells.count();
        Self { cells, parts: vec![0.0; count], whole: vec![0.0; count + 1] }
    }

    /// Adds a span from `start` to `finish` (ms) of that weight. What lies outside of the cells is left out.
    pub fn add(&mut self, start: i64, finish: i64, weight: f64) {
        let Cells { first, last, width } = self.cells;
        let (start, finish) = (start.max(first) - first, finish.min(last) - first);
        if start >= finish {
            return;
        }
        let (from, to) = (self.cells.of_offset(start), self.cells.of_offset(finish));
        let begin = |cell: usize| cell as i64 * width;
        if from == to {
            add(&mut self.parts, from, weight * (finish - start) as f64);
            return;
        }
        add(&mut self.parts, from, weight * (begin(from + 1) - start) as f64);
        add(&mut self.parts, to, weight * (finish - begin(to)) as f64);
        add(&mut self.whole, from + 1, weight);
        add(&mut self.whole, to, -weight);
    }

    /// The mean over each cell of the sum of the weights of the open spans.
    pub fn means(&self) -> Vec<f64> {
        let edges = self.cells.edges();
        let mut open = 0.0;
        let mean = |((part, whole), edges): ((&f64, &f64), &[i64])| {
            open += whole;
            let &[from, to] = edges else { return 0.0 };
            open + part / (to - from) as f64
        };
        self.parts.iter().zip(&self.whole).zip(edges.windows(2)).map(mean).collect()
    }
}

/// Adds to a cell. The end of the last cell lies beyond all.
fn add(cells: &mut [f64], cell: usize, value: f64) {
    if let Some(sum) = cells.get_mut(cell) {
        *sum += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::timeline::Steps;

    #[test]
    fn cells_cover_the_span_and_the_last_is_shorter() {
        let cells = Cells::new((10, 35), 3);
        assert_eq!((cells.count(), cells.edges()), (3, vec![10, 19, 28, 35]));
        assert_eq!(
            [9, 10, 18, 19, 34, 35].map(|time| cells.of(time)),
            [None, Some(0), Some(0), Some(1), Some(2), None]
        );
        assert_eq!(Cells::new((10, 10), 3).edges(), [10, 11], "a moment is a cell of 1 ms");
        assert_eq!(Cells::new((0, 2), 800).count(), 2, "no cell is empty");
        assert_eq!(Cells::new((0, 10), 0).middles(), [5]);
        assert_eq!(cells.from(100).edges(), [100, 109, 118, 125]);
    }

    #[test]
    fn means_are_those_of_the_step_function() {
        let spans = [(-50, 3), (0, 100), (5, 6), (7, 93), (20, 40), (40, 60), (99, 200), (30, 30), (300, 400)];
        for most in [1, 3, 7, 100] {
            let cells = Cells::new((0, 100), most);
            let mut load = Load::new(cells);
            spans.iter().for_each(|&(start, finish)| load.add(start, finish, 2.0));
            let changes = spans.iter().flat_map(|&(start, finish)| [(start, 2), (finish, -2)]);
            let exact = Steps::from_changes(changes).cell_means(&cells.edges());
            let near = load.means().iter().zip(&exact).all(|(found, exact)| (found - exact).abs() < 1e-9);
            assert!(near && exact.len() == cells.count(), "{:?} {exact:?}", load.means());
        }
    }
}
