//! The pool of threads, which gives `--threads` the same meaning in every command.
//!
//! It is not rayon's: there, the error of whichever thread is first ends the work; items do not begin in order, so that an interrupt would leave
//! gaps in what is kept; and a thread that waits for another one to load a world may begin a replay that waits for it in turn.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};

use resched_tables::call::Unwound;
use resched_tables::limits::Limit;

use crate::Error;

/// The most threads that you can ask for on a machine with fewer cores. Each takes some 2 MB before it does anything, and threads
/// beyond the cores gain nothing.
pub const MOST_THREADS: usize = 256;

/// The limits of this crate.
pub const LIMITS: &[Limit] = &[Limit::number(
    "threads",
    MOST_THREADS as u64,
    "The request is refused. On a machine with more cores, the limit is the number of cores. If the system gives fewer threads, the work \
     uses those.",
)
.set_by("--threads")];

/// The most replays that run at once: 1 or more, by default the number of cores of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads(NonZeroUsize);

impl Default for Threads {
    fn default() -> Self {
        Self(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Threads {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Self(cores) = Self::default();
        let most = cores.get().max(MOST_THREADS);
        let count = text.parse().ok().filter(|count: &NonZeroUsize| count.get() <= most);
        count.map(Self).ok_or_else(|| {
            Error::Request(format!(
                "expected a whole number from 1 to {most}, found `{text}`; leave --threads out to use every core ({cores})"
            ))
        })
    }
}

impl From<NonZeroUsize> for Threads {
    fn from(count: NonZeroUsize) -> Self {
        Self(count)
    }
}

impl Threads {
    /// One thread: one replay after the other.
    pub const ONE: Self = Self(NonZeroUsize::MIN);

    /// The number of threads.
    pub fn count(self) -> NonZeroUsize {
        self.0
    }

    /// Does `work` for each item, several at once, and returns the results in the order of the items. After an error,
    /// no further item starts. The returned error is the first one in the order of the items, whatever the number of
    /// threads.
    ///
    /// # Errors
    /// Errors of `work`.
    pub fn in_order<T: Sync, R: Send, E: Send>(
        self,
        items: &[T],
        work: impl Fn(&T) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        let made: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
        let keep = |place, result| {
            lock(&made).push((place, result));
            Ok(())
        };
        self.each(items, &work, &keep)?;
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_unstable_by_key(|(place, _)| *place);
        Ok(made.into_iter().map(|(_, result)| result).collect())
    }

    /// As [`Threads::in_order`], but `keep` takes each result, on one of `keepers` further threads. So the next items
    /// are worked on while a slow disk or network keeps the last ones busy. An error of `keep` ends the work as an
    /// error of `work` does.
    ///
    /// # Errors
    /// Errors of `work` or `keep`.
    pub fn and_keep<T: Sync, R: Send, E: Send>(
        self,
        items: &[T],
        work: impl Fn(&T) -> Result<R, E> + Sync,
        keepers: NonZeroUsize,
        keep: impl Fn(&T, R) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        // Nothing waits in the channel, so that no more than the keepers hold is lost with the process.
        let (sender, receiver) = sync_channel::<(usize, R)>(0);
        let (receiver, failed) = (Mutex::new(receiver), Failed::default());
        let next = || lock(&receiver).recv().ok();
        let keep_one = |place: usize, result| {
            if let Some(Err(error)) = items.get(place).map(|item| keep(item, result)) {
                failed.add(place, error);
            }
        };
        let unwound = Unwound::default();
        let keep_all = unwound.caught(|| {
            while let Some((place, result)) = next() {
                keep_one(place, result);
            }
        });
        std::thread::scope(|scope| {
            let keepers = spawn_some(scope, keepers.get().min(items.len()), &keep_all);
            let hand_over = |place, result| {
                if keepers == 0 {
                    keep_one(place, result);
                } else {
                    // Fails only when no keeper is left; each stays until the last sender is gone.
                    drop(sender.send((place, result)));
                }
                Ok(())
            };
            self.spawn_all(items, &work, &hand_over, &failed);
            drop(sender);
        });
        unwound.resume();
        failed.first()
    }

    fn each<T: Sync, R, E: Send>(
        self,
        items: &[T],
        work: &(impl Fn(&T) -> Result<R, E> + Sync),
        keep: &(impl Fn(usize, R) -> Result<(), E> + Sync),
    ) -> Result<(), E> {
        let failed = Failed::default();
        self.spawn_all(items, work, keep, &failed);
        failed.first()
    }

    /// The loop of all: each thread takes the next item until there is none, or one has failed.
    fn spawn_all<T: Sync, R, E: Send>(
        self,
        items: &[T],
        work: &(impl Fn(&T) -> Result<R, E> + Sync),
        keep: &(impl Fn(usize, R) -> Result<(), E> + Sync),
        failed: &Failed<E>,
    ) {
        let (next, unwound) = (AtomicUsize::new(0), Unwound::default());
        let take_items = unwound.caught(|| {
            while !failed.any() && !unwound.any() {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(place) else { return };
                if let Err(error) = work(item).and_then(|result| keep(place, result)) {
                    failed.add(place, error);
                }
            }
        });
        let threads = self.0.get().min(items.len());
        std::thread::scope(|scope| {
            // One thread is here already.
            if threads < 2 || spawn_some(scope, threads, &take_items) == 0 {
                take_items();
            }
        });
        unwound.resume();
    }
}

/// Starts `count` threads that do `work`, or as many as the system gives. Returns how many there are.
fn spawn_some<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    count: usize,
    work: &'scope (impl Fn() + Sync),
) -> usize {
    (0..count).take_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).is_ok()).count()
}

/// The error of the first item that failed. Items are begun in order and what was begun is ended, so it does not depend on
/// which thread was faster.
struct Failed<E> {
    any: AtomicBool,
    first: Mutex<Option<(usize, E)>>,
}

impl<E> Default for Failed<E> {
    fn default() -> Self {
        Self { any: AtomicBool::new(false), first: Mutex::new(None) }
    }
}

impl<E> Failed<E> {
    fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    fn add(&self, place: usize, error: E) {
        self.any.store(true, Ordering::Relaxed);
        let mut first = lock(&self.first);
        if first.as_ref().is_none_or(|(earlier, _)| place < *earlier) {
            *first = Some((place, error));
        }
    }

    fn first(&self) -> Result<(), E> {
        lock(&self.first).take().map_or(Ok(()), |(_, error)| Err(error))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn threads(count: usize) -> Threads {
        Threads(NonZeroUsize::new(count).unwrap())
    }

    #[test]
    fn as_many_threads_as_the_limit_and_not_one_more() {
        let Threads(cores) = Threads::default();
        let most = cores.get().max(MOST_THREADS);
        assert_eq!(most.to_string().parse::<Threads>().unwrap(), threads(most));
        let problem = (most + 1).to_string().parse::<Threads>().unwrap_err().to_string();
        assert!(problem.contains(&format!("from 1 to {most}, found `{}`", most + 1)), "{problem}");
    }

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..40).collect();
        for count in [1, 3, 100] {
            let squares = threads(count).in_order(&items, |&item| {
                std::thread::sleep(Duration::from_millis(item * 7 % 5));
                Ok::<_, ()>(item * item)
            });
            assert_eq!(squares.unwrap(), items.iter().map(|item| item * item).collect::<Vec<_>>());
        }
        assert_eq!(threads(2).in_order(&[] as &[u8], |_| Ok::<_, ()>(())), Ok(Vec::new()));
    }

    #[test]
    fn the_first_error_in_order_wins_and_ends_the_work() {
        let items: Vec<u64> = (0..1_000).collect();
        for count in [1, 4] {
            let begun = AtomicUsize::new(0);
            let found = threads(count).in_order(&items, |&item| {
                begun.fetch_add(1, Ordering::Relaxed);
                // The later of two failing items fails first.
                std::thread::sleep(Duration::from_millis(if item == 3 { 30 } else { 1 }));
                if item == 3 || item == 5 { Err(item) } else { Ok(()) }
            });
            assert_eq!(found, Err(3));
            assert!(begun.into_inner() < 200);
        }
    }

    #[test]
    fn what_is_made_is_kept_once_and_a_keeper_that_fails_ends_the_work() {
        let items: Vec<u64> = (0..50).collect();
        let kept = Mutex::new(Vec::new());
        let keep = |item: &u64, made: u64| {
            lock(&kept).push((*item, made));
            Ok::<_, ()>(())
        };
        threads(3).and_keep(&items, |&item| Ok(item + 1), NonZeroUsize::MIN, keep).unwrap();
        let mut kept = kept.into_inner().unwrap();
        kept.sort_unstable();
        assert_eq!(kept, items.iter().map(|&item| (item, item + 1)).collect::<Vec<_>>());
        let full = |item: &u64, ()| if *item == 7 { Err("full") } else { Ok(()) };
        assert_eq!(threads(2).and_keep(&items, |_| Ok(()), NonZeroUsize::MIN, full), Err("full"));
    }

    #[test]
    fn no_thread_and_too_many_are_refused() {
        for text in ["0", "-1", "x", "", "60000", "99999999999999999999"] {
            let error = text.parse::<Threads>().unwrap_err();
            assert!(error.is_request() && error.to_string().contains("from 1"), "{error}");
        }
        assert_eq!("3".parse::<Threads>().unwrap().count().get(), 3);
    }
}
