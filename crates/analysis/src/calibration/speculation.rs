//! Whether slow tasks got backups, how many, and after how long.

use resched_tables::model::TaskKind;
use serde::Serialize;

use super::fitted::{Fitted, bootstrap_error};
use super::observed::{Attempt, Observed};
use crate::statistics::distribution::Distribution;

/// The backups of a trace: attempts that started while another one at their task ran.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Speculation {
    /// Tasks that were tried, maps and reduces.
    pub tasks: u64,
    /// The backups among the attempts at them.
    pub backups: u64,
    /// Backups by task.
    pub share: Fitted,
    /// How old the attempt that ran was when its backup started, ms: the median.
    pub age: Fitted,
}

/// Finds the backups. A trace with none shows that speculation was off, or that no task was slow.
pub fn speculation(observed: &Observed) -> Speculation {
    let (mut tasks, mut ages) = (0, Vec::new());
    let is_of_work = |attempt: &&Attempt| matches!(attempt.kind, TaskKind::Map | TaskKind::Reduce);
    let attempts: Vec<&Attempt> = observed.attempts.iter().filter(is_of_work).collect();
    for task in attempts.chunk_by(|one, other| one.task == other.task) {
        tasks += 1;
        let mut times: Vec<(i64, i64)> =
            task.iter().filter_map(|attempt| Some((attempt.start?, attempt.finish?))).collect();
        times.sort_unstable();
        // Each attempt against the one before it.
        ages.extend(times.windows(2).filter_map(|pair| match pair {
            &[(first, end), (backup, _)] => (backup < end).then(|| (backup - first) as f64),
            _ => None,
        }));
    }
    let backups = ages.len() as u64;
    let share = backups as f64 / tasks as f64;
    let error = (share * (1.0 - share).max(0.0) / tasks as f64).sqrt();
    let share = if tasks > 0 { Fitted::of(share, Some(error), tasks) } else { Fitted::unknown(0) };
    let ages = Distribution::new(ages);
    let error = bootstrap_error(ages.values(), 6, |sample| Distribution::new(sample.iter().copied()).median());
    let age = ages.median().map_or(Fitted::unknown(0), |median| Fitted::of(median, error, backups));
    Speculation { tasks, backups, share, age }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_that_starts_beside_another_is_a_backup() {
        let attempt = |task, start, finish| Attempt {
            task,
            kind: TaskKind::Map,
            start: Some(start),
            finish: Some(finish),
            ..Attempt::default()
        };
        // Task 1 is tried again after a failure, task 2 has a backup after 60 s, task 3 after 80 s.
        let times = [(1, 0, 10), (1, 10, 50), (2, 0, 90), (2, 60, 90), (3, 5, 120), (3, 85, 110), (4, 0, 9)];
        let attempts = times.map(|(task, start, finish)| attempt(task, start * 1_000, finish * 1_000)).to_vec();
        let found = speculation(&Observed { attempts, ..Observed::default() });
        assert_eq!((found.tasks, found.backups), (4, 2));
        assert_eq!((found.share.value, found.age.value), (Some(0.5), Some(70_000.0)));
        assert_eq!(speculation(&Observed::default()), Speculation::default());
    }
}
