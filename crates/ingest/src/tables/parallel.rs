//! The same work for many numbers, on several threads.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use super::super::progress::Progress;
use resched_tables::Error;
use resched_tables::call::{Unwound, checkpoint};

/// Messages from the threads that work to the one that reports progress.
enum Message {
    File(PathBuf),
    Advance(u64),
    Failed(usize, Error),
}

/// Does `work` for each number below `count`. If several fail, the error of the smallest number is returned.
pub(super) fn each(
    threads: NonZeroUsize,
    count: usize,
    progress: &mut dyn Progress,
    work: impl Fn(usize, &mut dyn Progress) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let (next, failed, unwound) = (AtomicUsize::new(0), AtomicBool::new(false), Unwound::default());
    let (sender, receiver) = channel();
    let run = |sender: Sender<Message>| {
        let mut reported = Reports(sender);
        while !failed.load(Ordering::Relaxed) && !unwound.any() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            if let Err(error) = work(number, &mut reported) {
                failed.store(true, Ordering::Relaxed);
                reported.send(Message::Failed(number, error));
            }
        }
    };
    let mut errors = BTreeMap::new();
    std::thread::scope(|scope| {
        let mut working = 0;
        for _ in 0..threads.get().min(count) {
            let (sender, run) = (sender.clone(), &run);
            if std::thread::Builder::new().spawn_scoped(scope, unwound.caught(move || run(sender.clone()))).is_err() {
                break;
            }
            working += 1;
        }
        // The system gave no thread at all. The messages wait in the channel until the work is done.
        if working == 0 {
            run(sender.clone());
        }
        drop(sender);
        for message in receiver {
            match message {
                Message::File(path) => progress.file(&path),
                Message::Advance(bytes) => progress.advance(bytes),
                Message::Failed(number, error) => {
                    errors.insert(number, error);
                }
            }
        }
    });
    unwound.resume();
    errors.into_values().next().map_or(Ok(()), Err)
}

/// Passes progress on to the thread that reports it.
struct Reports(Sender<Message>);

impl Reports {
    fn send(&self, message: Message) {
        // The other end lives until all threads are done.
        let _ = self.0.send(message);
    }
}

impl Progress for Reports {
    fn begin(&mut self, _: u64) {}

    fn file(&mut self, path: &Path) {
        self.send(Message::File(path.to_path_buf()));
    }

    fn advance(&mut self, bytes: u64) {
        checkpoint();
        self.send(Message::Advance(bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn all_is_done_once_and_the_first_error_counts() {
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
            let done = Mutex::new(vec![0; 100]);
            let work = |number: usize, progress: &mut dyn Progress| {
                if let Ok(mut done) = done.lock() {
                    done[number] += 1;
                }
                progress.advance(1);
                Ok(())
            };
            assert!(each(threads, 100, &mut (), work).is_ok());
            assert_eq!(done.into_inner().ok(), Some(vec![1; 100]));
            let fail = |number: usize, _: &mut dyn Progress| match number {
                0..3 => Ok(()),
                _ => Err(Error::Request(number.to_string())),
            };
            let error = each(threads, 5, &mut (), fail).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), Some("3"));
        }
    }
}
