//! The simulator behind `_core.run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lasthop_record::CellRecord;
use lasthop_scenario::spec::Variant;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::pool::{CellId, Cells, Output, Work};
use crate::scenario::Plan;

/// Why the simulator cannot play each variant of a plan; `None` where it can.
#[pyfunction]
pub fn simulator_refusals(plan: &Plan) -> Vec<Option<String>> {
    let refusal = |variant: &Variant| {
        lasthop_sim::capability(&variant.world)
            .err()
            .map(|refusal| refusal.to_string())
    };
    plan.shared().variants.iter().map(refusal).collect()
}

/// Runs cells of a plan in virtual time, `threads` at once; iterate over the
/// result to get them as they finish. Each cell writes what sniffers would have
/// written into a directory of its own in `captures`, when that is given.
///
/// # Errors
/// `IndexError` when a cell names a variant the plan does not have.
#[pyfunction]
#[pyo3(signature = (plan, cells, threads = 1, captures = None))]
pub fn run(plan: &Plan, cells: Vec<CellId>, threads: usize, captures: Option<PathBuf>) -> PyResult<Cells> {
    let plan = plan.shared();
    let variants = plan.variants.len();
    if let Some((variant, _)) = cells.iter().find(|(variant, _)| *variant >= variants) {
        return Err(PyIndexError::new_err(format!(
            "no variant {variant}: the plan has {variants}"
        )));
    }
    let work: Arc<Work> = Arc::new(move |cell: CellId, stop: &AtomicBool| {
        record_cell(&plan, cell, captures.as_deref(), |variant, captures| {
            lasthop_sim::run_cell_until(variant, cell.1, stop, captures).map_err(|error| error.to_string())
        })
    });
    Cells::start(cells, threads, work)
}

/// What `play` records of a cell, as tables; captures go into a directory of
/// the cell's own in `captures`, which `play` is told.
///
/// # Errors
/// When that directory cannot be made, and what `play` says.
pub fn record_cell(
    plan: &lasthop_scenario::Plan,
    (index, seed): CellId,
    captures: Option<&Path>,
    play: impl Fn(&Variant, Option<&Path>) -> Result<CellRecord, String>,
) -> Result<Output, String> {
    let captures = captures.map(|directory| directory.join(format!("{index}-{seed}")));
    if let Some(directory) = &captures {
        fs::create_dir_all(directory)
            .map_err(|error| format!("cannot write captures into {}: {error}", directory.display()))?;
    }
    let mut record = play(&plan.variants[index], captures.as_deref())?;
    Ok(Output {
        failures: std::mem::take(&mut record.failures),
        tables: record.into_tables(),
        captures,
    })
}
