//! How many times as long tasks run at one level of locality as at another, fitted within groups of alike tasks.

/// The fewest tasks at a level from which a factor is known.
const LEAST_TASKS: u64 = 10;
/// A factor is not known if the standard error of its logarithm is larger: its interval then spans more than two to one.
const WORST_ERROR: f64 = 0.25;

/// The logarithms of the run times of a group of tasks at one level.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Logs {
    count: u64,
    sum: f64,
    squares: f64,
}

impl Logs {
    /// Adds a run time, ms; one that is not above 0 is left out.
    pub fn add(&mut self, run: f64) {
        if run > 0.0 {
            let log = run.ln();
            self.count += 1;
            self.sum += log;
            self.squares += log * log;
        }
    }

    fn mean(self) -> f64 {
        self.sum / self.count as f64
    }

    /// The sum of the squares of the distances from the mean.
    fn spread(self) -> f64 {
        (self.squares - self.sum * self.mean()).max(0.0)
    }
}

/// The factor between the run times at two levels, over groups of tasks that have both: a job, or a stage.
///
/// Groups differ far more than levels do, so each is its own control: with `d_g` the mean logarithm of the run times of group `g` at the
/// far level minus that at the near one, the estimate is `exp(Σ w_g d_g / Σ w_g)`, `w_g = n·m / (n + m)`: the least-squares fit
/// of a log-linear model with an effect per group. The standard error of its logarithm is the larger of that from the scatter of tasks within
/// groups and that from the scatter of the `d_g`, as groups may differ in how much the level matters to them.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Contrast {
    groups: u64,
    tasks: u64,
    /// Sums over groups of `w`, `w d`, `w²`, `w² d` and `w² d²`.
    weight: f64,
    weighted: f64,
    squares: [f64; 3],
    /// The sum of squares within groups and levels, and its degrees of freedom.
    spread: f64,
    freedom: u64,
}

/// A fitted factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor {
    /// The estimate.
    pub value: f64,
    /// The standard error of its logarithm.
    pub error: f64,
}

impl Contrast {
    /// Takes a group. It counts if it has tasks at both levels.
    pub fn take(&mut self, near: Logs, far: Logs) {
        if near.count == 0 || far.count == 0 {
            return;
        }
        let (n, m) = (near.count as f64, far.count as f64);
        let (weight, difference) = (n * m / (n + m), far.mean() - near.mean());
        self.groups += 1;
        self.tasks += far.count;
        self.weight += weight;
        self.weighted += weight * difference;
        for (power, sum) in (0..).zip(&mut self.squares) {
            *sum += weight * weight * difference.powi(power);
        }
        self.spread += near.spread() + far.spread();
        self.freedom += near.count + far.count - 2;
    }

    /// How many groups have tasks at both levels.
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// How many tasks of these groups ran at the far level.
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    /// The factor; `None` if fewer than ten tasks show it, or it is too uncertain.
    pub fn factor(&self) -> Option<Factor> {
        if self.tasks < LEAST_TASKS || self.freedom == 0 {
            return None;
        }
        let estimate = self.weighted / self.weight;
        let within = self.spread / self.freedom as f64 / self.weight;
        let [ones, firsts, seconds] = self.squares;
        let scatter = (seconds - 2.0 * estimate * firsts + estimate * estimate * ones).max(0.0);
        let count = self.groups as f64;
        let between = if self.groups > 1 { scatter / (self.weight * self.weight) * count / (count - 1.0) } else { 0.0 };
        let error = within.max(between).sqrt();
        (error <= WORST_ERROR).then(|| Factor { value: estimate.exp(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups of tasks that take 100 ms or ten times as long, twice that at the far level, and some more or less by turns.
    fn made(groups: u32, tasks: [u32; 2], noise: f64) -> Contrast {
        let mut contrast = Contrast::default();
        for group in 0..groups {
            let base = if group % 2 == 0 { 100.0 } else { 1_000.0 };
            let logs = |factor: f64, count: u32| {
                let mut logs = Logs::default();
                for task in 0..count {
                    let more = if task % 2 == 0 { noise } else { 1.0 / noise };
                    logs.add(base * factor * more);
                }
                logs
            };
            contrast.take(logs(1.0, tasks[0]), logs(2.0, tasks[1]));
        }
        contrast
    }

    #[test]
    fn a_factor_is_fitted_within_groups() {
        let factor = |contrast: Contrast| contrast.factor().map(|factor| (factor.value * 1e3).round());
        assert_eq!(factor(made(5, [6, 2], 1.0)), Some(2_000.0));
        assert_eq!(factor(made(5, [6, 2], 1.2)), Some(2_000.0));
        // Run times that are as often nine times as long as not show little; eight times as many tasks show enough.
        assert_eq!(factor(made(3, [4, 4], 3.0)), None);
        assert!(made(16, [4, 4], 3.0).factor().is_some_and(|factor| factor.error > 0.1));
        assert_eq!(factor(made(4, [6, 2], 1.0)), None, "eight tasks elsewhere");
        assert_eq!((made(8, [0, 8], 1.0).groups(), factor(made(8, [0, 8], 1.0))), (0, None), "nothing to compare with");
    }

    /// Two groups, of which one takes 1.2 times and the other 3 times as long: they differ more than their tasks do.
    #[test]
    fn groups_that_differ_make_a_factor_uncertain() {
        let mut contrast = Contrast::default();
        for far in [120.0, 300.0] {
            let logs = |run: f64| {
                let mut logs = Logs::default();
                (0..8).for_each(|_| logs.add(run));
                logs
            };
            contrast.take(logs(100.0), logs(far));
        }
        assert_eq!(contrast.factor(), None);
    }
}
