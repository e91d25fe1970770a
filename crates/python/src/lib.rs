//! The Python module `lasthop._core`: scenario files become plans, cells of a
//! plan run on Rust threads, their tables arrive as NumPy arrays.
//!
//! This is the only crate that knows Python. Everything a user meets is in
//! `python/lasthop`; this module stays small and untyped on purpose, its
//! signatures are in `_core.pyi`.

// PyO3 hands arguments over as owned values.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod kernel;
mod pool;
mod scenario;
mod simulate;

use pyo3::prelude::*;

/// Scenario parser, catalog and engines.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::kernel::{
        KernelError, agent_placements, clean, ensure_privileges, handover, kernel_doctor, kernel_refusals,
        parse_time, run_kernel, shell,
    };
    #[pymodule_export]
    use super::pool::{Cell, Cells};
    #[pymodule_export]
    use super::scenario::{Plan, ScenarioError, catalog, schema};
    #[pymodule_export]
    use super::simulate::{run, simulator_refusals};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("version", env!("CARGO_PKG_VERSION"))
    }
}
