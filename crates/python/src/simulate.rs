//! The simulator behind `_core.run`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lasthop_record::{CapturePoint, CellRecord, write_pcapng};
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
/// result to get them as they finish. With `captures` each cell also yields
/// what a sniffer at either host would have written.
///
/// # Errors
/// `IndexError` when a cell names a variant the plan does not have.
#[pyfunction]
#[pyo3(signature = (plan, cells, threads = 1, captures = false))]
pub fn run(plan: &Plan, cells: Vec<CellId>, threads: usize, captures: bool) -> PyResult<Cells> {
    let plan = plan.shared();
    let variants = plan.variants.len();
    if let Some((variant, _)) = cells.iter().find(|(variant, _)| *variant >= variants) {
        return Err(PyIndexError::new_err(format!(
            "no variant {variant}: the plan has {variants}"
        )));
    }
    let work: Arc<Work> = Arc::new(move |(variant, seed), stop: &AtomicBool| {
        record_cell(&plan.variants[variant], seed, captures, &|variant, seed| {
            lasthop_sim::run_cell_until(variant, seed, stop).map_err(|error| error.to_string())
        })
    });
    Cells::start(cells, threads, work)
}

/// What `play` records of a cell, as tables and, when wanted, captures. A
/// capture needs every packet, also of a scenario that does not record them;
/// its tables stay what they are without a capture.
///
/// # Errors
/// What `play` says.
pub fn record_cell(
    variant: &Variant,
    seed: u64,
    captures: bool,
    play: &impl Fn(&Variant, u64) -> Result<CellRecord, String>,
) -> Result<Output, String> {
    if !captures {
        let mut record = play(variant, seed)?;
        return Ok(Output {
            failures: std::mem::take(&mut record.failures),
            tables: record.into_tables(),
            captures: Vec::new(),
        });
    }
    let keep_packets = variant.world.record.packets;
    let mut variant = variant.clone();
    variant.world.record.packets = true;
    let mut record = play(&variant, seed)?;
    record.packets.sort_by_key(|row| row.t);
    let captures = capture_both(&record)?;
    if !keep_packets {
        record.packets.clear();
    }
    Ok(Output {
        failures: std::mem::take(&mut record.failures),
        tables: record.into_tables(),
        captures,
    })
}

fn capture_both(record: &CellRecord) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let points = [("server", CapturePoint::Server), ("client", CapturePoint::Client)];
    let capture = |(name, point)| {
        let mut bytes = Vec::new();
        write_pcapng(&record.packets, point, &mut bytes).map_err(|error| error.to_string())?;
        Ok((name, bytes))
    };
    points.into_iter().map(capture).collect()
}
