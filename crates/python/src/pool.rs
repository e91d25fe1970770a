//! Cells on threads: workers take cells in order and hand finished ones to
//! Python as they come.
//!
//! The channel is bounded, so that a slow consumer (a disk) stops the workers
//! instead of filling memory. Workers never touch Python, so the interpreter
//! may leave at any time, also in the middle of a cell.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lasthop_record::{FlowFailure, Table};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;

/// How often a waiting Python thread looks for Ctrl-C.
const SIGNAL_POLL: Duration = Duration::from_millis(50);
/// How long an interrupted run may take to clean up before Python goes on.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which cell: index of the variant in the plan, and seed.
pub type CellId = (usize, u64);

/// What one cell wrote.
pub struct Output {
    /// Its tables.
    pub tables: Vec<Table>,
    /// Where its captures are.
    pub captures: Option<PathBuf>,
    /// Flows whose programs failed.
    pub failures: Vec<FlowFailure>,
}

/// What a worker computes for one cell, or why it could not. It gives up soon
/// after the flag is set; what it returns then is thrown away.
pub type Work = dyn Fn(CellId, &AtomicBool) -> Result<Output, String> + Send + Sync;

struct Finished {
    id: CellId,
    wall: Duration,
    outcome: Result<Output, String>,
}

/// One finished cell.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Cell {
    /// Index of its variant in the plan.
    #[pyo3(get)]
    variant: usize,
    /// Its seed.
    #[pyo3(get)]
    seed: u64,
    /// Seconds of wall time its engine took.
    #[pyo3(get)]
    wall_s: f64,
    /// `{table: {column: array}}`.
    #[pyo3(get)]
    tables: Py<PyDict>,
    /// The directory of its captures.
    #[pyo3(get)]
    captures: Option<PathBuf>,
    /// Flows whose programs failed: flow, reason, exit code if one ended, last
    /// lines of its standard error.
    #[pyo3(get)]
    failures: Vec<Failure>,
}

type Failure = (u32, String, Option<i32>, String);

/// Iterates over finished cells, in the order in which they finish.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Cells {
    finished: Mutex<Receiver<Finished>>,
    stop: Arc<AtomicBool>,
    workers: Mutex<Vec<JoinHandle<()>>>,
}

impl Cells {
    /// Starts `threads` workers on `cells`.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn start(cells: Vec<CellId>, threads: usize, work: Arc<Work>) -> PyResult<Self> {
        let threads = threads.clamp(1, cells.len().max(1));
        let (sender, finished) = sync_channel(threads);
        let stop = Arc::new(AtomicBool::new(false));
        let cells = Arc::new(cells);
        let next = Arc::new(AtomicUsize::new(0));
        let mut workers = Vec::new();
        for number in 0..threads {
            let worker = Worker {
                cells: Arc::clone(&cells),
                next: Arc::clone(&next),
                stop: Arc::clone(&stop),
                work: Arc::clone(&work),
                sender: sender.clone(),
            };
            let worker = thread::Builder::new()
                .name(format!("lasthop-{number}"))
                .spawn(move || worker.run())
                .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
            workers.push(worker);
        }
        Ok(Self {
            finished: Mutex::new(finished),
            stop,
            workers: Mutex::new(workers),
        })
    }

    fn wait(&self, py: Python<'_>) -> PyResult<Option<Finished>> {
        loop {
            let received = py.detach(|| {
                let receiver = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
                receiver.recv_timeout(SIGNAL_POLL)
            });
            match received {
                Ok(cell) => return Ok(Some(cell)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(interrupt) = py.check_signals() {
                        self.stop.store(true, Ordering::Relaxed);
                        py.detach(|| self.wind_up());
                        return Err(interrupt);
                    }
                }
            }
        }
    }
}

impl Cells {
    /// Waits, within reason, until the workers have given up their cells and
    /// what those had built is gone.
    fn wind_up(&self) {
        let receiver = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = Instant::now() + PATIENCE;
        loop {
            match receiver.recv_timeout(limit.saturating_duration_since(Instant::now())) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // All have let go of the channel, the last thing they do.
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        for worker in workers.drain(..) {
            // A panic was caught and told; there is nothing else to hear.
            let _ = worker.join();
        }
    }
}

#[pymethods]
impl Cells {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Cell>> {
        let Some(Finished { id, wall, outcome }) = self.wait(py)? else {
            return Ok(None);
        };
        let output = outcome.map_err(|error| {
            self.stop.store(true, Ordering::Relaxed);
            PyRuntimeError::new_err(format!("variant {} seed {}: {error}", id.0, id.1))
        })?;
        Ok(Some(Cell {
            variant: id.0,
            seed: id.1,
            wall_s: wall.as_secs_f64(),
            tables: arrays::tables(py, output.tables)?.unbind(),
            captures: output.captures,
            failures: output.failures.into_iter().map(failure).collect(),
        }))
    }

    /// Makes the workers give up the cells they are in and start no more.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Worker {
    cells: Arc<Vec<CellId>>,
    next: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    work: Arc<Work>,
    sender: SyncSender<Finished>,
}

impl Worker {
    fn run(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(&id) = self.cells.get(self.next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let started = Instant::now();
            // A bug in one cell must reach Python as an error, not as a
            // thread that silently vanished.
            let outcome = catch_unwind(AssertUnwindSafe(|| (self.work)(id, &self.stop)))
                .unwrap_or_else(|panic| Err(panic_text(panic.as_ref())));
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let finished = Finished {
                id,
                wall: started.elapsed(),
                outcome,
            };
            if self.sender.send(finished).is_err() {
                return;
            }
        }
    }
}

fn failure(failure: FlowFailure) -> Failure {
    let FlowFailure {
        flow,
        reason,
        exit_code,
        last_lines,
    } = failure;
    (flow, reason, exit_code, last_lines)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("internal error: {}", text.unwrap_or_else(|| "unknown".to_owned()))
}
