//! Workloads that are programs of the user's: `curl`, `iperf3`, a script.
//! Their exit codes become events, what they print becomes files.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lasthop_record::EventRow;
use lasthop_scenario::spec::{End, WorkloadKind, World};
use lasthop_units::Time;

use crate::engine::workload_of;
use crate::error::Attempt;
use crate::http::HttpServer;
use crate::keeper::Program;
use crate::workload::{FlowPlan, FlowState};
use crate::{Clock, Error, Session};

/// Where the file server of a command listens.
const SERVER_PORT: u16 = 80;
/// How many times, 5 ms apart, a program's last output is waited for.
const PATIENCE: u32 = 40;

/// Every command of a run.
pub(crate) struct Commands {
    listed: Vec<Command>,
    exits: Vec<EventRow>,
    servers: Vec<(usize, HttpServer)>,
}

struct Command {
    flow: usize,
    seat: usize,
    start: Time,
    run: String,
    /// What its output files are called, without their ending.
    output: Option<PathBuf>,
    begun: Time,
    child: Option<Child>,
    readers: Vec<JoinHandle<io::Result<u64>>>,
    done: bool,
}

impl Commands {
    /// Starts the file servers that the commands among `plans` ask for.
    ///
    /// # Errors
    /// When a file server cannot listen.
    pub(crate) fn prepare(
        world: &World,
        plans: impl Iterator<Item = FlowPlan>,
        outputs: Option<&Path>,
    ) -> Result<Self, Error> {
        let mut all = Self {
            listed: Vec::new(),
            exits: Vec::new(),
            servers: Vec::new(),
        };
        for (flow, plan) in plans.enumerate() {
            let WorkloadKind::Command { run, at, serve } = &plan.kind else {
                continue;
            };
            let [sender, receiver] = plan.seats;
            let (seat, (other, end)) = match at {
                End::Sender => (sender, (receiver, &plan.receiver)),
                End::Receiver => (receiver, (sender, &plan.sender)),
            };
            if *serve && all.servers.iter().all(|&(served, _)| served != other) {
                let server = HttpServer::start_at(std::slice::from_ref(end), SERVER_PORT, None)?;
                all.servers.push((other, server));
            }
            let name = &world.workloads[workload_of(world, flow)].name;
            all.listed.push(Command {
                flow,
                seat,
                start: plan.start,
                run: run.clone(),
                output: outputs.map(|directory| directory.join(format!("{name}-{flow}"))),
                begun: Time::ZERO,
                child: None,
                readers: Vec::new(),
                done: false,
            });
        }
        Ok(all)
    }

    /// Starts what is due and notes what has ended.
    pub(crate) fn look(&mut self, session: &Session, clock: Clock, flows: &[Arc<FlowState>]) {
        for command in &mut self.listed {
            let state = &flows[command.flow];
            match command.look(session, clock) {
                Ok(None) => {}
                Ok(Some(status)) => {
                    let end = clock.now();
                    let value = f64::from(exit_code(status));
                    self.exits.push(EventRow {
                        t: end,
                        flow: (command.flow as u32).into(),
                        kind: "exit",
                        value,
                    });
                    if status.success() {
                        state.observe(command.begun, end, 0);
                    } else {
                        state.fail(&format!("{} ended with {status}", command.run));
                    }
                }
                Err(error) => {
                    command.done = true;
                    state.fail(&error);
                }
            }
        }
    }

    /// Ends what still runs and returns how the others ended.
    pub(crate) fn stop(&mut self) -> Vec<EventRow> {
        for command in &mut self.listed {
            command.stop();
        }
        self.servers.clear();
        std::mem::take(&mut self.exits)
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.stop();
    }
}

/// As a shell reports it: 128 and the signal's number for a program that was killed.
fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(-1)
}

impl Command {
    /// How it ended, once.
    fn look(&mut self, session: &Session, clock: Clock) -> Result<Option<ExitStatus>, Error> {
        if self.done || clock.now() < self.start {
            return Ok(None);
        }
        let Some(child) = &mut self.child else {
            let command = ["/bin/sh", "-c", &self.run].map(Into::into).to_vec();
            let program = Program {
                command,
                variables: Vec::new(),
                terminal: false,
            };
            self.begun = clock.now();
            let child = self.child.insert(session.spawn_at(self.seat, program)?);
            let output = child
                .stdout
                .take()
                .map(|pipe| keep(pipe, self.output.as_deref(), "out"));
            let errors = child
                .stderr
                .take()
                .map(|pipe| keep(pipe, self.output.as_deref(), "err"));
            for reader in [output, errors].into_iter().flatten() {
                self.readers.push(reader?);
            }
            return Ok(None);
        };
        let status = child.try_wait().attempt(|| format!("wait for {}", self.run))?;
        self.done = status.is_some();
        Ok(status)
    }

    fn stop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        for reader in self.readers.drain(..) {
            // A program it left in the background may hold the pipe until the run ends.
            for _ in 0..PATIENCE {
                if reader.is_finished() {
                    break;
                }
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Copies what comes through `pipe` to a file, or away.
fn keep(
    mut pipe: impl Read + Send + 'static,
    output: Option<&Path>,
    ending: &str,
) -> Result<JoinHandle<io::Result<u64>>, Error> {
    let path = output.map(|path| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    });
    let mut file = path
        .map(|path| File::create(&path).attempt(|| format!("create {}", path.display())))
        .transpose()?;
    thread::Builder::new()
        .name("lasthop-output".into())
        .spawn(move || match &mut file {
            Some(file) => io::copy(&mut pipe, file),
            None => io::copy(&mut pipe, &mut io::sink()),
        })
        .attempt(|| "start a thread for a program's output".into())
}
