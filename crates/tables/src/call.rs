//! The call that a thread works for, which another thread may end.
//!
//! A program that embeds resched, such as the Python package, starts a call and may want to stop it before it is done. The work looks at
//! [`checkpoint`] now and then, and unwinds there if its call was stopped: destructors remove half-written folders, as they do after an
//! error. The command line has no call, so that its checkpoints do nothing: a signal ends the process.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A call. Clones are the same call.
#[derive(Clone)]
pub struct Call(Arc<Inner>);

struct Inner {
    stopped: AtomicBool,
    host: Arc<dyn Any + Send + Sync>,
}

/// The payload with which the work of a stopped call unwinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

thread_local! {
    static CURRENT: RefCell<Option<Call>> = const { RefCell::new(None) };
}

impl Call {
    /// A new call. `host` is what the program that embeds resched keeps for it ([`Call::host`]).
    pub fn new(host: Arc<dyn Any + Send + Sync>) -> Self {
        Self(Arc::new(Inner { stopped: AtomicBool::new(false), host }))
    }

    /// The call that this thread works for; `None` for the command line.
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// What the program that embeds resched keeps for the call.
    pub fn host<H: Any + Send + Sync>(&self) -> Option<Arc<H>> {
        Arc::clone(&self.0.host).downcast().ok()
    }

    /// Asks for the end of the call. Its threads end at their next [`checkpoint`].
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// True if its end was asked for.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }
}

/// Does `work` for a call, or for none. A thread that is started in it works for the same call only if it does so through this, too.
pub fn within<R>(call: Option<Call>, work: impl FnOnce() -> R) -> R {
    /// Puts the call back that was there before, also if the work unwinds.
    struct Before(Option<Call>);
    impl Drop for Before {
        fn drop(&mut self) {
            CURRENT.set(self.0.take());
        }
    }
    let _before = Before(CURRENT.replace(call));
    work()
}

/// Unwinds with [`Stopped`] if the end of this thread's call was asked for.
#[inline]
pub fn checkpoint() {
    if CURRENT.with_borrow(|call| call.as_ref().is_some_and(Call::is_stopped)) {
        resume_unwind(Box::new(Stopped));
    }
}

/// What the first of several threads unwound with: a stopped call, or a panic. A scope of threads by itself would lose it.
#[derive(Debug, Default)]
pub struct Unwound {
    any: AtomicBool,
    first: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Unwound {
    /// The same work, to be done on another thread for the call of this one. What it unwinds with is kept.
    pub fn caught(&self, work: impl Fn() + Sync) -> impl Fn() + Sync {
        let call = Call::current();
        move || {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| within(call.clone(), &work))) {
                self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
                self.any.store(true, Ordering::Relaxed);
            }
        }
    }

    /// True if a thread has unwound.
    pub fn any(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    /// Goes on unwinding on this thread, if another one did.
    pub fn resume(&self) {
        if let Some(payload) = self.first.lock().unwrap_or_else(PoisonError::into_inner).take() {
            resume_unwind(payload);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_checkpoint_ends_the_work_of_a_stopped_call_only() {
        let (stopped, other) = (Call::new(Arc::new(1_u8)), Call::new(Arc::new(2_u8)));
        stopped.stop();
        within(Some(other), checkpoint);
        checkpoint();
        let ended = catch_unwind(AssertUnwindSafe(|| within(Some(stopped), checkpoint))).unwrap_err();
        assert_eq!(ended.downcast_ref(), Some(&Stopped));
        assert!(Call::current().is_none(), "the call ends with its work");
    }

    #[test]
    fn a_call_keeps_what_its_host_gave_it() {
        let call = Call::new(Arc::new(7_u8));
        within(Some(call), || {
            assert_eq!(Call::current().unwrap().host::<u8>().as_deref(), Some(&7));
            assert!(Call::current().unwrap().host::<u16>().is_none());
        });
    }
}
