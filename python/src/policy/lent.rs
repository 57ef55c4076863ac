//! What the engine lends to Python for the time of a call.
//!
//! An object of Python lives as long as Python likes; the world of a replay is borrowed for one call. So the object holds a pointer for the
//! time of the call, and nothing before or after it. This file is the only one of the package that follows such a pointer: one object for a
//! whole replay takes 160 ns a call, a new one for each call takes 250, and a copy of the world is out of the question.

#![allow(unsafe_code, reason = "the engine lends its world to objects of Python for the time of a call; see above")]

use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyErr, PyResult};

/// A place for something of type `T` that is lent for the time of a call, by this thread to itself.
pub(super) struct Lent<T>(Mutex<Option<Pointer<T>>>);

struct Pointer<T> {
    to: NonNull<T>,
    thread: ThreadId,
}

// SAFETY: the pointer is only followed on the thread that put it there (`Lent::with`).
unsafe impl<T> Send for Pointer<T> {}

impl<T> Default for Lent<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Lent<T> {
    /// Lends `value` to `work`. `value` may have shorter lifetimes than `T` names, which [`Lent::with`] hides again.
    pub(super) fn during<R>(&self, value: NonNull<T>, work: impl FnOnce() -> R) -> R {
        /// Takes it back, also if the work unwinds.
        struct Back<'a, T>(&'a Lent<T>);
        impl<T> Drop for Back<'_, T> {
            fn drop(&mut self) {
                self.0.lock().take();
            }
        }
        *self.lock() = Some(Pointer { to: value, thread: std::thread::current().id() });
        let _back = Back(self);
        work()
    }

    /// Uses what is lent.
    ///
    /// # Errors
    /// Nothing is lent: the object is used after its call, on another thread, or by something that it called itself.
    pub(super) fn with<R>(&self, work: impl for<'a> FnOnce(&'a mut T) -> R) -> PyResult<R> {
        /// Puts it back, also if the work unwinds.
        struct Back<'a, T>(&'a Lent<T>, Option<Pointer<T>>);
        impl<T> Drop for Back<'_, T> {
            fn drop(&mut self) {
                *self.0.lock() = self.1.take();
            }
        }
        let mut place = self.lock();
        let is_ours = place.as_ref().is_some_and(|pointer| pointer.thread == std::thread::current().id());
        let Some(pointer) = place.take_if(|_| is_ours) else { return Err(not_lent()) };
        drop(place);
        let to = pointer.to;
        let _back = Back(self, Some(pointer));
        // SAFETY: `during` put the pointer there from a reference that it holds until it takes it back; it was put there by this thread, so
        // this is in the call of `during`; and it is taken out while it is used, so that nothing else uses it. `work` cannot keep what it
        // gets, as it must take any lifetime.
        Ok(work(unsafe { &mut *to.as_ptr() }))
    }

    /// Whether something is lent now, to anybody.
    pub(super) fn is_lent(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pointer<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_lent() -> PyErr {
    PyRuntimeError::new_err(
        "the view was used after its call, or on another thread; use it in the method that got it, and keep numbers instead",
    )
}
