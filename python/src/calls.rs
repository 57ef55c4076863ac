//! Commands that are carried out inside Python.
//!
//! The work runs on a thread of its own, without the interpreter's lock. The thread that called looks every [`PAUSE`] whether a signal came,
//! and reports progress. So a call never waits for the lock while it holds something that another thread needs.

use std::any::Any;
use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use resched_cli::{Host, Kind, Outcome};
use resched_tables::call::{Call, Stopped, within};

use crate::errors;
use crate::policy::{interrupt_hooks, interrupt_overdue};

/// The time between two looks at signals and progress.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);
/// How long a hook of a policy in Python may run on after the call was stopped, before it is interrupted itself.
const PATIENCE: Duration = Duration::from_millis(200);
/// The stack of the thread that works, bytes; as large as that of the command line.
const STACK: usize = 8 << 20;

/// The process in which the package was used first.
static PROCESS: Mutex<Option<u32>> = Mutex::new(None);

/// Carries out a command. `args` begins with its name. Returns what it printed, what people would read
/// in place of JSON, and its messages.
///
/// `progress` is called with `(label, done, all)` now and then; an exception of it stops the work.
#[pyfunction]
#[pyo3(signature = (args, progress = None))]
pub(crate) fn call(
    py: Python<'_>,
    args: Vec<OsString>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, String, Vec<String>)> {
    let host = Arc::new(Host::default());
    let of_call = Arc::clone(&host);
    let report = |py: Python<'_>| {
        let Some(progress) = &progress else { return Ok(()) };
        for at in host.progress() {
            progress.call1(py, (at.label, at.done, at.all))?;
        }
        Ok(())
    };
    let made = Call::new(Arc::<Host>::clone(&host) as Arc<dyn Any + Send + Sync>);
    let work = {
        let made = made.clone();
        move || resched_cli::call(&args, &made, &of_call)
    };
    let Outcome { printed, words, messages, failure } = beside(py, &made, work, report)?;
    let Some((kind, message)) = failure else { return Ok((printed, words, messages)) };
    let cause = host.take_kept().and_then(|kept| kept.downcast::<PyErr>().ok());
    let error = errors::of_kind(py, kind, &message);
    let Some(cause) = cause else { return Err(error) };
    if !errors::is_exception(py, &cause) {
        return Err(*cause);
    }
    if kind == Kind::Policy {
        error.set_cause(py, Some(*cause));
    }
    Err(error)
}

/// Does some other work that may take long, as a call.
pub(crate) fn long<R: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> R + Send + 'static) -> PyResult<R> {
    let call = Call::new(Arc::new(Host::default()));
    let within_call = {
        let call = call.clone();
        move || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| within(Some(call), work)))
    };
    beside(py, &call, within_call, |_| Ok(()))?.map_err(|payload| {
        if payload.is::<Stopped>() {
            errors::of_kind(py, Kind::Interrupted, "interrupted")
        } else {
            errors::of_kind(py, Kind::Defect, "the work stopped; this is a defect of resched, please report it")
        }
    })
}

/// Does `work` on a thread of its own. An exception of a signal, or of `report`, stops it; then that is the result.
fn beside<R: Send + 'static>(
    py: Python<'_>,
    call: &Call,
    work: impl FnOnce() -> R + Send + 'static,
    report: impl Fn(Python<'_>) -> PyResult<()>,
) -> PyResult<R> {
    refuse_in_fork(py)?;
    let (sender, receiver) = channel();
    // The receiver is there as long as the thread is waited for.
    // Attached once round all of it, the thread keeps its state of the interpreter from hook to hook.
    let run = move || drop(sender.send(Python::attach(|py| py.detach(work))));
    let worker = std::thread::Builder::new().name("resched".to_owned()).stack_size(STACK).spawn(run)?;
    let receiver = Mutex::new(receiver);
    let mut stopped: Option<(PyErr, Instant)> = None;
    let done = loop {
        let next = py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PAUSE));
        match next {
            Err(RecvTimeoutError::Timeout) => py.detach(interrupt_overdue),
            ended => break ended.ok(),
        }
        match &stopped {
            Some((_, since)) if since.elapsed() > PATIENCE => interrupt_hooks(py),
            Some(_) => {}
            None => {
                if let Err(error) = py.check_signals().and_then(|()| report(py)) {
                    resched_cli::stop(call);
                    stopped = Some((error, Instant::now()));
                }
            }
        }
    };
    // It has sent its result, or its panic was not caught, and ends now.
    let joined = py.detach(|| worker.join());
    match (stopped, done) {
        (Some((error, _)), _) => Err(error),
        (None, Some(done)) => Ok(done),
        (None, None) => {
            drop(joined);
            Err(errors::of_kind(py, Kind::Defect, "the work stopped; this is a defect of resched, please report it"))
        }
    }
}

/// Threads do not survive a fork, so a process that was forked off after they were started would wait for them forever.
pub(crate) fn refuse_in_fork(py: Python<'_>) -> PyResult<()> {
    let id = std::process::id();
    let mut process = PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    if *process.get_or_insert(id) == id {
        return Ok(());
    }
    Err(errors::error(
        py,
        "ForkError",
        "this process was forked off one that had used resched already, and its threads are not here; start processes with \
         multiprocessing.get_context(\"spawn\")",
    ))
}

/// Runs the command line with the arguments of a program, of which the first is its name. Returns the exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>) -> PyResult<u8> {
    // The exit status of Rust does not show its number.
    let code = py.detach(|| {
        let worker = std::thread::Builder::new().name("resched".to_owned()).stack_size(STACK);
        let (sender, receiver) = channel::<()>();
        let run = move || {
            let _ended = sender;
            resched_cli::status(args)
        };
        let worker = worker.spawn(run)?;
        while receiver.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            interrupt_overdue();
        }
        Ok::<_, std::io::Error>(worker.join())
    })?;
    code.map_err(|_| PyRuntimeError::new_err("the command stopped; this is a defect of resched, please report it"))
}

/// Sets the program and its first arguments that start resched again.
#[pyfunction]
pub(crate) fn set_program(words: Vec<OsString>) {
    resched_cli::set_program(words);
}
