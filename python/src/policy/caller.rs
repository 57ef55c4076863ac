//! How the engine calls a policy in Python, whichever engine it is.

use std::ptr::NonNull;

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::PyTuple;
use resched_sim::Violation;

use super::hooks::{Hooks, Method};
use super::known::Known;
use super::lent::Lent;

/// The object through which a policy sees the world of an engine.
pub(super) trait Window: PyClass<Frozen = True> + Sync {
    /// What the engine lends to most methods.
    type View<'a>: Copy;
    /// How the engine names a run.
    type Run: Copy;

    fn view(&self) -> &Lent<Self::View<'static>>;

    fn known(&self) -> &Known<Self::Run>;
}

/// The methods of a policy, and the object that it gets.
pub(super) struct Caller<W> {
    pub(super) hooks: Hooks,
    pub(super) window: Py<W>,
}

impl<W: Window> Caller<W> {
    /// Calls a method while the engine lends a view, with the arguments that `args` makes for the object that holds it.
    pub(super) fn see<R>(
        &self,
        method: &Method,
        mut view: W::View<'_>,
        args: impl for<'py> FnOnce(Python<'py>, Bound<'py, W>) -> PyResult<Bound<'py, PyTuple>>,
        take: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<R>,
    ) -> Option<R> {
        let call = || self.hooks.call(method, |py| args(py, self.window.bind(py).clone()), take);
        let result = self.window.get().view().during(NonNull::from(&mut view).cast(), call);
        self.settle();
        result
    }

    /// Calls a method that gets a view, and whose result does not matter.
    pub(super) fn inform(&self, method: Option<&Method>, view: W::View<'_>) {
        if let Some(method) = method {
            self.see(method, view, |py, window| (window,).into_pyobject(py), |_| Ok(()));
        }
    }

    /// Calls a method that gets a number and a view, and whose result does not matter.
    pub(super) fn report(&self, method: Option<&Method>, number: usize, view: W::View<'_>) {
        if let Some(method) = method {
            self.see(method, view, |py, window| (number, window).into_pyobject(py), |_| Ok(()));
        }
    }

    /// Calls a method that gets an object and a view, and whose result does not matter. The object is made only if there is such a method.
    pub(super) fn hand<T>(&self, method: Option<&Method>, object: impl FnOnce() -> T, view: W::View<'_>)
    where
        T: PyClass + Into<pyo3::PyClassInitializer<T>>,
    {
        if let Some(method) = method {
            let object = object();
            self.see(method, view, |py, window| (Py::new(py, object)?, window).into_pyobject(py), |_| Ok(()));
        }
    }

    /// Asks a method that gets a view for a truth value.
    pub(super) fn ask(&self, method: Option<&Method>, view: W::View<'_>) -> Option<bool> {
        self.see(method?, view, |py, window| (window,).into_pyobject(py), |answer| answer.is_truthy())
    }

    /// Calls the method that decides, while what it may use is lent by the caller.
    pub(super) fn decide(&self, method: &Method) {
        self.hooks.call(method, |py| (self.window.bind(py).clone(),).into_pyobject(py), |_| Ok(()));
    }

    /// Takes over what the policy asked for and may not have. Returns what went wrong so far.
    pub(super) fn settle(&self) -> Option<Violation> {
        if let Some(violation) = self.window.get().known().take_violation() {
            self.hooks.failure.instead(violation);
        }
        self.hooks.failure.check().err()
    }
}
