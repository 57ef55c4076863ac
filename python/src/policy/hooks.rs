//! The methods of a policy in Python that the engine calls, and what goes wrong in them.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use resched_cli::Host;
use resched_sim::Violation;
use resched_tables::call::Call;

use crate::errors;

/// The threads of Python on which policies run. Who locks it holds the interpreter's lock already, or never asks for it.
static THREADS: Mutex<Vec<Running>> = Mutex::new(Vec::new());

/// A thread of Python on which a policy runs.
struct Running {
    number: u64,
    /// The thread, as Python names it.
    ident: u64,
    /// The call that it works for.
    call: Option<Call>,
    /// When the method that runs has taken too long; `None`: no method runs, or the policy has no limit.
    due: Option<Instant>,
    /// Whether the method was interrupted for that.
    overdue: bool,
}

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
    /// The longest that a call of a method may take.
    limit: Option<Duration>,
}

/// This thread stands in the list of [`THREADS`] as long as this lives.
struct Thread(u64);

impl Drop for Thread {
    fn drop(&mut self) {
        threads().retain(|running| running.number != self.0);
    }
}

fn threads() -> std::sync::MutexGuard<'static, Vec<Running>> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A method that a policy overrides.
pub(super) struct Method {
    name: &'static str,
    bound: Py<PyAny>,
}

impl Hooks {
    /// Those of an object, whose methods `overridden` has by name.
    pub(super) fn new(object: &Bound<'_, PyAny>, overridden: Py<PyDict>) -> PyResult<Self> {
        let seconds: Option<f64> = object.getattr("seconds")?.extract()?;
        let limit = seconds.map(|seconds| {
            let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
            limit.ok_or_else(|| PyValueError::new_err(format!("seconds: expected a number above 0, found {seconds}")))
        });
        Ok(Self {
            methods: overridden,
            failure: Failure::default(),
            host: Call::current().and_then(|call| call.host()),
            thread: RefCell::default(),
            limit: limit.transpose()?,
        })
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
            let args = args(py).map_err(|error| self.fail(py, method.name, error)).ok()?;
            let result =
                self.in_time(py, method, || method.bound.bind(py).call1(args)).and_then(|result| take(&result));
            result.map_err(|error| self.fail(py, method.name, error)).ok()
        })
    }

    /// Runs a method, which is interrupted when it has taken longer than the policy allows.
    fn in_time<R>(&self, py: Python<'_>, method: &Method, run: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
        let Some(limit) = self.limit else { return run() };
        let number = self.thread.borrow().as_ref().map(|thread| thread.0);
        let set = |due| {
            let mut threads = threads();
            let thread = threads.iter_mut().find(|running| Some(running.number) == number)?;
            thread.due = due;
            Some((thread.ident, std::mem::take(&mut thread.overdue)))
        };
        set(Instant::now().checked_add(limit));
        let result = run();
        let Some((ident, true)) = set(None) else { return result };
        // The exception may still be on its way, or the method has caught it.
        interrupt(&interrupter(py)?, ident, None)?;
        let problem = format!("`{}` took longer than {} s (`seconds`)", method.name, limit.as_secs_f64());
        self.failure.add(problem);
        Err(result.err().unwrap_or_else(|| PyTimeoutError::new_err("it was interrupted, and went on")))
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
        let mut thread = self.thread.borrow_mut();
        if thread.is_none()
            && let Ok(ident) = thread_ident(py)
        {
            let mut threads = threads();
            let number = threads.last().map_or(0, |running| running.number + 1);
            threads.push(Running { number, ident, call: Call::current(), due: None, overdue: false });
            *thread = Some(Thread(number));
        }
    }
}

fn thread_ident(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.call_method0("get_ident")?.extract()
}

/// Interrupts methods of policies that still run for a call that was stopped, as Ctrl-C would on the main thread.
pub(crate) fn interrupt_hooks(py: Python<'_>) {
    let stopped = |running: &&Running| running.call.as_ref().is_some_and(Call::is_stopped);
    let all: Vec<u64> = threads().iter().filter(stopped).map(|running| running.ident).collect();
    let Ok(interrupter) = interrupter(py) else { return };
    for ident in all {
        // It fails only if the thread has just ended.
        let _ = interrupt(&interrupter, ident, Some(py.get_type::<PyKeyboardInterrupt>()));
    }
}

/// Interrupts methods of policies that have taken longer than their policies allow.
pub(crate) fn interrupt_overdue() {
    let now = Instant::now();
    let is_overdue = |running: &Running| running.due.is_some_and(|due| due < now);
    if !threads().iter().any(is_overdue) {
        return;
    }
    Python::attach(|py| {
        // An import lets other threads of Python run. One that then wants the list would wait for it for ever, with the interpreter's lock.
        let Ok(interrupter) = interrupter(py) else { return };
        let mut threads = threads();
        for running in threads.iter_mut().filter(|running| is_overdue(running)) {
            running.overdue = true;
            let _ = interrupt(&interrupter, running.ident, Some(py.get_type::<PyTimeoutError>()));
        }
    });
}

/// What raises exceptions in threads of Python, and the types of its arguments.
struct Interrupter<'py> {
    raise: Bound<'py, PyAny>,
    ident: Bound<'py, PyAny>,
    object: Bound<'py, PyAny>,
}

fn interrupter(py: Python<'_>) -> PyResult<Interrupter<'_>> {
    let ctypes = py.import("ctypes")?;
    Ok(Interrupter {
        raise: ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?,
        ident: ctypes.getattr("c_ulong")?,
        object: ctypes.getattr("py_object")?,
    })
}

/// Raises an exception in a thread of Python as soon as it carries out the next instruction; `None` takes back one that was not raised yet.
fn interrupt(by: &Interrupter<'_>, ident: u64, exception: Option<Bound<'_, PyType>>) -> PyResult<()> {
    let thread = by.ident.call1((ident,))?;
    let exception = exception.map(|exception| by.object.call1((exception,))).transpose()?;
    by.raise.call1((thread, exception))?;
    Ok(())
}
