//! The wall-clock engine: cells on the real stack behind `_core.run_kernel`,
//! programs in a scenario's hosts, what this machine can run, what killed runs
//! left behind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lasthop_kernel::{HttpServer, Options, Program, Session, Status};
use lasthop_scenario::spec::{Side, Variant};
use lasthop_units::{Span, parse_span};
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::pool::{CellId, Cells, Work};
use crate::scenario::Plan;
use crate::simulate::record_cell;

create_exception!(
    lasthop._core,
    KernelError,
    PyRuntimeError,
    "Something the kernel engine cannot do here, in one sentence."
);

/// The failure as Python sees it.
fn refused(error: impl ToString) -> PyErr {
    KernelError::new_err(error.to_string())
}

fn variant_of(plan: &lasthop_scenario::Plan, index: usize) -> PyResult<&Variant> {
    let count = plan.variants.len();
    plan.variants
        .get(index)
        .ok_or_else(|| PyIndexError::new_err(format!("no variant {index}: the plan has {count}")))
}

/// Why the kernel cannot play each variant of a plan; `None` where it can.
#[pyfunction]
pub fn kernel_refusals(plan: &Plan) -> Vec<Option<String>> {
    let refusal = |variant: &Variant| {
        lasthop_kernel::capability(&variant.world)
            .err()
            .map(|refusal| refusal.to_string())
    };
    plan.shared().variants.iter().map(refusal).collect()
}

/// Where each agent of each variant runs on the real stack: its name, its
/// place, `ebpf` or `userspace`. With `ebpf` those that can run in BPF do,
/// unless the scenario says otherwise.
#[pyfunction]
pub fn agent_placements(plan: &Plan, ebpf: bool) -> Vec<Vec<(&'static str, String, &'static str)>> {
    let of = |variant: &Variant| {
        let placements = lasthop_kernel::placements(&variant.world, ebpf);
        let row =
            |placement: lasthop_kernel::Placement| (placement.agent, placement.at, placement.via.name());
        placements.into_iter().map(row).collect()
    };
    plan.shared().variants.iter().map(of).collect()
}

/// Runs cells of a plan in real time, one after the other; iterate over the
/// result to get them as they finish. A run whose p99 lateness exceeds
/// `lateness_bound_s` is repeated, at most `attempts` times in all; its row in
/// `runs` says whether the last one is `valid`. With `ebpf` divacks agents run
/// in the kernel; with `curl` downloads are made by it from a file server. What
/// the scenario's commands print goes to files in `outputs/VARIANT-SEED`, the
/// variant by its index, and captures in the same way into `captures`; without
/// these they are not kept.
///
/// # Errors
/// `IndexError` when a cell names a variant the plan does not have,
/// `KernelError` when the kernel cannot play one.
#[pyfunction]
#[pyo3(signature = (plan, cells, captures = None, ebpf = false, curl = false, attempts = 3, lateness_bound_s = 0.002, outputs = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn run_kernel(
    plan: &Plan,
    cells: Vec<CellId>,
    captures: Option<PathBuf>,
    ebpf: bool,
    curl: bool,
    attempts: u32,
    lateness_bound_s: f64,
    outputs: Option<PathBuf>,
) -> PyResult<Cells> {
    let plan = plan.shared();
    for &(variant, _) in &cells {
        lasthop_kernel::capability(&variant_of(&plan, variant)?.world).map_err(refused)?;
    }
    let options = Options {
        ebpf,
        curl,
        attempts: attempts.max(1),
        lateness_bound: Span::from_ns((lateness_bound_s.max(0.0) * 1e9) as u64),
        ..Options::default()
    };
    let work: Arc<Work> = Arc::new(move |cell: CellId, stop: &AtomicBool| {
        let (index, seed) = cell;
        record_cell(&plan, cell, captures.as_deref(), |variant, captures| {
            let options = Options {
                outputs: outputs.as_ref().map(|base| base.join(format!("{index}-{seed}"))),
                captures: captures.map(Path::to_owned),
                ..options.clone()
            };
            lasthop_kernel::run_cell_until(variant, seed, &options, stop).map_err(|error| error.to_string())
        })
    });
    // Two runs at once would make each other late.
    Cells::start(cells, 1, work)
}

/// A time as people write it (`"2 ms"`), in seconds.
///
/// # Errors
/// `ValueError` when it is none.
#[pyfunction]
pub fn parse_time(text: &str) -> PyResult<f64> {
    parse_span(text)
        .map(Span::as_secs_f64)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Takes a radio of a run that is going on down for a time, spelt with its
/// unit. Returns the run's name and what went down.
///
/// # Errors
/// `ValueError` when `lasts` is not a time, `KernelError` when there is no such run or radio.
#[pyfunction]
#[pyo3(signature = (lasts, element = None, station = None, run = None))]
pub fn handover(
    py: Python<'_>,
    lasts: &str,
    element: Option<&str>,
    station: Option<u32>,
    run: Option<&str>,
) -> PyResult<(String, String)> {
    let lasts = parse_span(lasts).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.detach(|| lasthop_kernel::handover(run, element, station, lasts))
        .map_err(refused)
}

/// Makes sure that this process may build hosts. `None` when it may;
/// otherwise the whole program has run again as the root of a user namespace,
/// and this is the status to exit with.
///
/// # Errors
/// `KernelError` when this machine allows neither.
#[pyfunction]
pub fn ensure_privileges(py: Python<'_>) -> PyResult<Option<i32>> {
    py.detach(lasthop_kernel::ensure_privileges).map_err(refused)
}

/// What this machine can run: name, whether it is there, what was found, what
/// to do about a lack.
#[pyfunction]
pub fn kernel_doctor(py: Python<'_>) -> Vec<(String, bool, String, String)> {
    let findings = py.detach(lasthop_kernel::doctor);
    let row =
        |finding: lasthop_kernel::Finding| (finding.name, finding.available, finding.detail, finding.remedy);
    findings.into_iter().map(row).collect()
}

/// What [`clean`] hands to Python.
type Cleaned = (Vec<String>, u32, Vec<String>, Vec<(u32, String)>);

/// Removes what killed runs left behind: names of runs removed, programs
/// ended, names of runs that are alive, numbers and names of BPF programs that
/// the kernel still has.
///
/// # Errors
/// `KernelError` when the list of runs cannot be read.
#[pyfunction]
pub fn clean(py: Python<'_>) -> PyResult<Cleaned> {
    let cleaned = py.detach(lasthop_kernel::clean).map_err(refused)?;
    let held = cleaned
        .held
        .into_iter()
        .map(|program| (program.id, program.name))
        .collect();
    Ok((cleaned.runs, cleaned.processes, cleaned.alive, held))
}

/// What `shell` runs where.
struct ShellPlan {
    host: Option<String>,
    command: Vec<OsString>,
    serve: Option<PathBuf>,
    server_command: Vec<OsString>,
    ebpf: bool,
}

/// Runs a command (the user's shell when empty) on the terminal in a host of a
/// variant, the first client unless `host` is named, while the path runs and
/// handovers come on schedule. A file server listens on port 80 of the first
/// server; `server_command` runs beside it. `tell` is called twice a second
/// with the state of the path. Returns the command's exit status.
///
/// # Errors
/// `KernelError` when the kernel cannot play the variant or a command cannot start.
#[pyfunction]
#[pyo3(signature = (plan, variant, seed, command, tell = None, host = None, serve = None, server_command = Vec::new(), ebpf = false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn shell(
    py: Python<'_>,
    plan: &Plan,
    variant: usize,
    seed: u64,
    command: Vec<OsString>,
    tell: Option<Py<PyAny>>,
    host: Option<String>,
    serve: Option<PathBuf>,
    server_command: Vec<OsString>,
    ebpf: bool,
) -> PyResult<i32> {
    let plan = plan.shared();
    let variant = variant_of(&plan, variant)?;
    let wanted = ShellPlan {
        host,
        command,
        serve,
        server_command,
        ebpf,
    };
    let show = |status: &Status| {
        let Some(tell) = &tell else { return };
        Python::attach(|py| {
            // A status line that cannot be drawn is no reason to end a run.
            let _ = status_dict(py, status).and_then(|state| tell.call1(py, (state,)));
        });
    };
    py.detach(|| run_shell(variant, seed, wanted, show))
        .map_err(refused)
}

fn run_shell(
    variant: &Variant,
    seed: u64,
    wanted: ShellPlan,
    show: impl FnMut(&Status),
) -> Result<i32, lasthop_kernel::Error> {
    let world = &variant.world;
    let options = Options {
        ebpf: wanted.ebpf,
        ..Options::default()
    };
    let session = Session::open(world, seed, &options)?;
    let first = |side: Side| {
        let group = world.hosts.iter().find(|host| host.side == side)?;
        Some(if group.count == 1 {
            group.name.clone()
        } else {
            format!("{}-1", group.name)
        })
    };
    let missing = |what: &str| lasthop_kernel::Error::Unavailable(format!("the scenario has no {what}"));
    let client = wanted
        .host
        .or_else(|| first(Side::Client))
        .ok_or_else(|| missing("client"))?;
    let server = first(Side::Server).ok_or_else(|| missing("server"))?;
    let _files = HttpServer::start(&session, &server, 80, wanted.serve)?;
    let beside = if wanted.server_command.is_empty() {
        None
    } else {
        let program = Program {
            command: wanted.server_command,
            variables: Vec::new(),
            terminal: false,
        };
        Some(session.spawn(&server, program)?)
    };
    let status = lasthop_kernel::shell(&session, &client, wanted.command, show);
    if let Some(mut program) = beside {
        // It may have ended by itself.
        let _ = program.kill();
        let _ = program.wait();
    }
    status
}

fn status_dict<'py>(py: Python<'py>, status: &Status) -> PyResult<Bound<'py, PyDict>> {
    let state = PyDict::new(py);
    state.set_item("now_s", status.now.as_secs_f64())?;
    state.set_item("downlink_bytes", status.delivered_bytes[0])?;
    state.set_item("uplink_bytes", status.delivered_bytes[1])?;
    state.set_item("dropped", status.dropped)?;
    state.set_item("travelling", status.travelling)?;
    state.set_item("queued", status.queued)?;
    state.set_item("radios_down", status.radios_down.clone())?;
    Ok(state)
}
