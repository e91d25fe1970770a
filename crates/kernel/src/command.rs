//! Workloads that are programs of the user's: `curl`, `iperf3`, a script.
//! Their exit codes become events, what they print becomes files.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Arc;

use lasthop_record::EventRow;
use lasthop_scenario::spec::{End, WorkloadKind, World};
use lasthop_units::Time;

use crate::engine::workload_of;
use crate::error::Attempt;
use crate::http::HttpServer;
use crate::keeper::Program;
use crate::output::Output;
use crate::workload::{FlowPlan, FlowState};
use crate::{Clock, Error, Session};

/// Where the file server of a command listens.
const SERVER_PORT: u16 = 80;

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
    stdout: Option<Output>,
    stderr: Option<Output>,
    exit_code: Option<i32>,
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
            if let (Some(directory), true) = (outputs, all.listed.is_empty()) {
                std::fs::create_dir_all(directory).attempt(|| format!("create {}", directory.display()))?;
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
                stdout: None,
                stderr: None,
                exit_code: None,
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
                    let code = exit_code(status);
                    command.exit_code = Some(code);
                    let value = f64::from(code);
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

    /// How the program of a flow ended, if it has, and what it complained of last.
    pub(crate) fn ending(&self, flow: usize) -> (Option<i32>, String) {
        let command = self.listed.iter().find(|command| command.flow == flow);
        command.map_or_else(Default::default, |command| {
            let complaint = command.stderr.as_ref().map(Output::last_lines);
            (command.exit_code, complaint.unwrap_or_default())
        })
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
            let file = |ending: &str| {
                let mut name = self.output.clone()?.into_os_string();
                name.push(ending);
                Some(PathBuf::from(name))
            };
            self.stdout = child
                .stdout
                .take()
                .map(|pipe| Output::keep(pipe, file(".out")))
                .transpose()?;
            self.stderr = child
                .stderr
                .take()
                .map(|pipe| Output::keep(pipe, file(".err")))
                .transpose()?;
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
        for output in [&self.stdout, &self.stderr].into_iter().flatten() {
            output.settle();
        }
    }
}
