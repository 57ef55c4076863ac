//! The native module of the Python package. The package itself is in `python/resched`: it has the names, the defaults and the docstrings.
//!
//! It is empty when it is compiled as a test of its own, as `cargo test --lib` does: the functions of Python are found only in a running Python.
//! Its tests are in `python/tests`.
#![cfg(not(test))]

mod calls;
mod errors;
mod frames;
mod policy;
mod results;
mod stepper;
mod table;
mod tree;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    resched_cli::keep_quiet_while_decoding();
    resched_policies::set_loader(policy::load);
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(calls::call, module)?)?;
    module.add_function(wrap_pyfunction!(calls::main, module)?)?;
    module.add_function(wrap_pyfunction!(calls::set_program, module)?)?;
    module.add_function(wrap_pyfunction!(frames::from_frames, module)?)?;
    module.add_function(wrap_pyfunction!(results::metrics, module)?)?;
    module.add_function(wrap_pyfunction!(results::run_info, module)?)?;
    module.add_function(wrap_pyfunction!(results::runs_in, module)?)?;
    module.add_function(wrap_pyfunction!(results::trace_info, module)?)?;
    module.add_function(wrap_pyfunction!(table::read, module)?)?;
    module.add_function(wrap_pyfunction!(table::tables, module)?)?;
    module.add_function(wrap_pyfunction!(tree::commands, module)?)?;
    module.add_class::<table::Table>()?;
    module.add_class::<policy::HadoopOffer>()?;
    module.add_class::<policy::BatchOffer>()?;
    module.add_class::<policy::Attempt>()?;
    module.add_class::<policy::AttemptEnded>()?;
    module.add_class::<policy::RunEnded>()?;
    module.add_class::<policy::ContainerChanged>()?;
    module.add_class::<stepper::Stepper>()?;
    Ok(())
}
