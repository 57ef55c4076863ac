//! The methods of a policy in Python that the engine calls, and what goes wrong in them.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use resched_cli::Host;
use resched_sim::Violation;
use resched_tables::call::Call;

use crate::errors;

/// The threads of Python on which policies run, with the calls that they work for.
static THREADS: Mutex<Vec<(u64, u64, Option<Call>)>> = Mutex::new(Vec::new());

/// What goes wrong in a policy, until the engine asks for it.
#[derive(Default)]
pub(super) struct Failure {
    first: RefCell<Option<Violation>>,
    /// Whether it is a violation.
    settled: std::cell::Cell<bool>,
}

impl Failure {
    /// What went wrong, if something did.
    pub(super) fn check(&self) -> Result<(), Violation> {
        self.first.borrow().clone().map_or(Ok(()), Err)
    }

    pub(super) fn is_there(&self) -> bool {
        self.first.borrow().is_some()
    }

    /// What the policy asked for and may not have counts, and not the exception that it got for that.
    pub(super) fn instead(&self, violation: String) {
        if !self.settled.replace(true) {
            *self.first.borrow_mut() = Some(Violation::new(violation));
        }
    }

    /// Takes note of an exception, or of what a policy asked for that is not allowed. The first one counts.
    pub(super) fn add(&self, text: String) {
        self.first.borrow_mut().get_or_insert_with(|| Violation::new(text));
    }
}

/// A policy in Python: its object, and the methods that it overrides.
pub(super) struct Hooks {
    methods: Py<PyDict>,
    pub(super) failure: Failure,
    host: Option<Arc<Host>>,
    thread: RefCell<Option<Thread>>,
}

/// This thread stands in the list of [`THREADS`] as long as this lives.
struct Thread(u64);

impl Drop for Thread {
    fn drop(&mut self) {
        threads().retain(|(number, ..)| *number != self.0);
    }
}

fn threads() -> std::sync::MutexGuard<'static, Vec<(u64, u64, Option<Call>)>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A method that a policy overrides.
pub(super) struct Method {
    name: &'static str,
    bound: Py<PyAny>,
}

impl Hooks {
    /// Those of an object, whose methods `overridden` says by name.
    pub(super) fn new(overridden: Py<PyDict>) -> Self {
        Self {
            methods: overridden,
            failure: Failure::default(),
            host: Call::current().and_then(|call| call.host()),
            thread: RefCell::default(),
        }
    }

    /// The method of this name, if it is overridden.
    pub(super) fn method(&self, py: Python<'_>, name: &'static str) -> PyResult<Option<Method>> {
        Ok(self.methods.bind(py).get_item(name)?.map(|bound| Method { name, bound: bound.unbind() }))
    }

    /// Calls a method. An exception is kept; then, and after an earlier one, there is no result.
    pub(super) fn call<R>(
        &self,
        method: &Method,
        args: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyTuple>>,
        take: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        if self.failure.is_there() {
            return None;
        }
        Python::attach(|py| {
            self.note_thread(py);
            let result = args(py).and_then(|args| method.bound.bind(py).call1(args)).and_then(|result| take(&result));
            result.map_err(|error| self.fail(py, method.name, error)).ok()
        })
    }

    /// Keeps an exception that a method raised.
    pub(super) fn fail(&self, py: Python<'_>, method: &str, error: PyErr) {
        self.failure.add(format!("{} in `{method}`", errors::in_words(py, &error)));
        if !errors::is_exception(py, &error)
            && let Some(call) = Call::current()
        {
            // What ends a program ends the whole call, and not this replay alone.
            call.stop();
        }
        if let Some(host) = &self.host {
            host.keep(Box::new(error));
        }
    }

    /// Takes note of the thread of Python on which the policy runs, so that it can be interrupted.
    fn note_thread(&self, py: Python<'_>) {
        let mut own = self.thread.borrow_mut();
        if own.is_none()
            && let Ok(ident) = thread_ident(py)
        {
            let mut threads = threads();
            let number = threads.last().map_or(0, |(number, ..)| number + 1);
            threads.push((number, ident, Call::current()));
            *own = Some(Thread(number));
        }
    }
}

fn thread_ident(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.call_method0("get_ident")?.extract()
}

/// Interrupts methods of policies that still run for a call that was stopped, as Ctrl-C would on the main thread.
pub(crate) fn interrupt_hooks(py: Python<'_>) {
    let stopped = |call: &Option<Call>| call.as_ref().is_some_and(Call::is_stopped);
    let all: Vec<u64> = threads().iter().filter(|(_, _, call)| stopped(call)).map(|(_, ident, _)| *ident).collect();
    for ident in all {
        // It fails only if the thread has just ended.
        let _ = interrupt(py, ident);
    }
}

fn interrupt(py: Python<'_>, ident: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let thread = ctypes.getattr("c_ulong")?.call1((ident,))?;
    let exception = ctypes.getattr("py_object")?.call1((py.get_type::<pyo3::exceptions::PyKeyboardInterrupt>(),))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, exception))?;
    Ok(())
}
