//! Programs inside hosts, none of which outlives the run.
//!
//! They live in a process namespace whose first process is a [`Warden`]: a fork
//! of this program that only waits. When this program ends, however it ends, the
//! warden ends everything else in there, also what the programs started in the
//! background, resets the hosts' connections and removes the run's directory.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use nix::libc;

use crate::error::Attempt;
use crate::warden::{Charge, Warden};
use crate::{Error, Host, RunDir};

/// The variable that marks every program of a run, for `clean`.
pub const RUN_VARIABLE: &str = "LASTHOP_RUN";

/// A program to run in a host.
#[derive(Debug)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Variables on top of the caller's.
    pub variables: Vec<(String, String)>,
    /// Whether it talks to the caller's terminal; otherwise its output is piped.
    pub terminal: bool,
}

struct Request {
    program: Program,
    namespace: OwnedFd,
    answer: Sender<Result<Child, Error>>,
}

/// Starts programs and ends them all when dropped.
#[derive(Debug)]
pub struct Keeper {
    requests: Option<Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the keeper of a run with these hosts; `hosts_file` replaces
    /// `/etc/hosts` for its programs.
    ///
    /// # Errors
    /// When a process namespace cannot be made.
    pub fn start<'a>(
        run: &RunDir,
        hosts: impl Iterator<Item = &'a Host>,
        hosts_file: Option<CString>,
    ) -> Result<Self, Error> {
        let (requests, inbox) = channel::<Request>();
        let (started, outcome) = channel();
        let charge = Charge {
            leftovers: run.leftovers(),
            namespaces: hosts.map(|host| host.namespace.as_raw_fd()).collect(),
            lock: Some(run.lock()),
        };
        let run = run.name().to_owned();
        // The parent-death signal follows the thread that forked, so one
        // thread starts everything and lives as long as the keeper.
        let thread = thread::Builder::new()
            .name("lasthop-keeper".into())
            .spawn(move || {
                let warden = match Warden::start(&charge) {
                    Ok(warden) => warden,
                    Err(error) => {
                        let _ = started.send(Err(error));
                        return;
                    }
                };
                let _ = started.send(Ok(()));
                for request in inbox {
                    let child = spawn(&request, &run, hosts_file.as_ref());
                    let _ = request.answer.send(child);
                }
                drop(warden);
            })
            .attempt(|| "start the keeper thread".into())?;
        match outcome.recv().unwrap_or(Err(Error::Panicked("keeper"))) {
            Ok(()) => Ok(Self {
                requests: Some(requests),
                thread: Some(thread),
            }),
            Err(error) => {
                let _ = thread.join();
                Err(error)
            }
        }
    }

    /// Starts a program in a host.
    ///
    /// # Errors
    /// When the program is not found or may not be started.
    pub fn spawn(&self, host: &Host, program: Program) -> Result<Child, Error> {
        let (answer, child) = channel();
        let namespace = host
            .namespace
            .duplicate()
            .attempt(|| "duplicate a namespace descriptor".into())?;
        let request = Request {
            program,
            namespace,
            answer,
        };
        self.requests
            .as_ref()
            .and_then(|requests| requests.send(request).ok())
            .ok_or(Error::Panicked("keeper"))?;
        child.recv().unwrap_or(Err(Error::Panicked("keeper")))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn spawn(request: &Request, run: &str, hosts_file: Option<&CString>) -> Result<Child, Error> {
    let program = &request.program;
    let name = program.command.first().cloned().unwrap_or_default();
    let mut command = Command::new(&name);
    command.args(program.command.iter().skip(1));
    command.env(RUN_VARIABLE, run);
    command.envs(program.variables.iter().map(|(name, value)| (name, value)));
    if !program.terminal {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }
    let namespace = request.namespace.as_raw_fd();
    let hosts_file = hosts_file.cloned();
    // SAFETY: between fork and exec only system calls are made; nothing is
    // allocated and no lock is taken.
    unsafe {
        command.pre_exec(move || enter(namespace, hosts_file.as_ref()));
    }
    command.spawn().attempt(|| format!("start {}", name.display()))
}

/// In the child, before exec: joins the host and shows it its own processes.
fn enter(namespace: RawFd, hosts_file: Option<&CString>) -> io::Result<()> {
    let none = std::ptr::null();
    // SAFETY: the descriptor is open, every path is a valid C string.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // The caller may have blocked or ignored signals; programs start afresh.
        libc::signal(libc::SIGINT, libc::SIG_DFL);
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        if libc::setns(namespace, libc::CLONE_NEWNET) != 0 {
            return Err(io::Error::last_os_error());
        }
        // The private view of /proc and /etc/hosts is a comfort: without it programs still run.
        if libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                none,
                c"/".as_ptr(),
                none,
                libc::MS_REC | libc::MS_PRIVATE,
                none.cast(),
            ) == 0
        {
            libc::mount(
                c"proc".as_ptr(),
                c"/proc".as_ptr(),
                c"proc".as_ptr(),
                0,
                none.cast(),
            );
            if let Some(file) = hosts_file {
                libc::mount(
                    file.as_ptr(),
                    c"/etc/hosts".as_ptr(),
                    none,
                    libc::MS_BIND,
                    none.cast(),
                );
            }
        }
    }
    Ok(())
}
