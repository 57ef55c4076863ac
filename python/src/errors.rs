//! The exceptions of the package. They are classes of `resched.errors`, found once.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use resched_cli::Kind;

static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// A class of `resched.errors`.
pub(crate) fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = MODULE.get_or_try_init(py, || PyModule::import(py, "resched.errors").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

/// An exception of this class of `resched.errors`.
pub(crate) fn error(py: Python<'_>, name: &str, message: &str) -> PyErr {
    let made = class(py, name).and_then(|class| class.call1((message,)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(problem) => problem,
    }
}

/// The exception for a failure of this kind.
pub(crate) fn of_kind(py: Python<'_>, kind: Kind, message: &str) -> PyErr {
    let name = match kind {
        Kind::Request => "RequestError",
        Kind::Trace => "TraceError",
        Kind::Policy => "PolicyViolation",
        Kind::Stalled => "PolicyError",
        Kind::Defect => "DefectError",
        Kind::Interrupted => "Interrupted",
        Kind::Work => "ReschedError",
    };
    error(py, name, message)
}

/// The exception for an error of a library that says whether the request was wrong.
pub(crate) fn of_library(py: Python<'_>, is_request: bool, error: &impl ToString) -> PyErr {
    of_kind(py, if is_request { Kind::Request } else { Kind::Trace }, &error.to_string())
}

/// The text of an exception with its class, as Python prints it last.
pub(crate) fn in_words(py: Python<'_>, error: &PyErr) -> String {
    let name = error.get_type(py).qualname().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    match error.value(py).str() {
        Ok(text) if !text.to_string().is_empty() => format!("{name}: {text}"),
        _ => name,
    }
}

/// Whether an exception is one that programs handle, and not one that ends them.
pub(crate) fn is_exception(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<pyo3::exceptions::PyException>(py)
}
