//! What the program that embeds the command line gets of a call.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;
use resched_tables::call::Call;

/// What a call prints and shows, for the program that made it.
#[derive(Debug, Default)]
pub struct Host {
    printed: Mutex<String>,
    words: Mutex<String>,
    messages: Mutex<Vec<String>>,
    bars: Mutex<Vec<ProgressBar>>,
    kept: Mutex<Option<Box<dyn Any + Send>>>,
}

/// How far a part of a call is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What it does, such as `ingest`, or the label of a policy.
    pub label: String,
    /// What is done, such as jobs or bytes.
    pub done: u64,
    /// What there is to do; 0 if that is not known.
    pub all: u64,
}

impl Host {
    /// That of the call that this thread works for; `None` for the command line.
    pub fn current() -> Option<Arc<Self>> {
        Call::current()?.host()
    }

    /// How far the parts of the call are that are at work.
    pub fn progress(&self) -> Vec<Progress> {
        let mut bars = lock(&self.bars);
        bars.retain(|bar| !bar.is_finished());
        let progress =
            |bar: &ProgressBar| Progress { label: bar.prefix(), done: bar.position(), all: bar.length().unwrap_or(0) };
        bars.iter().map(progress).collect()
    }

    /// Keeps something of the embedding program with the call, such as the exception of a policy; the first counts.
    pub fn keep(&self, kept: Box<dyn Any + Send>) {
        lock(&self.kept).get_or_insert(kept);
    }

    /// Takes out what is kept.
    pub fn take_kept(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.kept).take()
    }

    pub(crate) fn print(&self, text: &str) {
        *lock(&self.printed) += text;
    }

    pub(crate) fn describe(&self, text: &str) {
        *lock(&self.words) += text;
    }

    pub(crate) fn message(&self, text: String) {
        lock(&self.messages).push(text);
    }

    /// Takes out what is collected: what was printed, what people would have read in place of JSON, and the messages.
    pub(crate) fn take(&self) -> (String, String, Vec<String>) {
        (
            std::mem::take(&mut lock(&self.printed)),
            std::mem::take(&mut lock(&self.words)),
            std::mem::take(&mut lock(&self.messages)),
        )
    }

    pub(crate) fn watch(&self, bar: ProgressBar) {
        lock(&self.bars).push(bar);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
