//! Removes what killed runs left behind. A run ends with its process and its
//! warden, so there is something to do only when the warden was killed too, or
//! the run had none yet.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use lasthop_ebpf::LoadedProgram;
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::keeper::RUN_VARIABLE;
use crate::namespace_handle::NamespaceHandle;
use crate::run_dir::{HANDLES, base};
use crate::{Error, connections};

/// What `clean` found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Names of dead runs whose directory was removed.
    pub runs: Vec<String>,
    /// Programs of dead runs that were ended.
    pub processes: u32,
    /// Names of runs that are alive and were left alone.
    pub alive: Vec<String>,
    /// BPF programs of dead runs that the kernel still has: a connection that
    /// could not be found uses them.
    pub held: Vec<LoadedProgram>,
}

/// How often, 10 ms apart, something is looked at that ends by itself.
const PATIENCE: u32 = 200;
const STEP: Duration = Duration::from_millis(10);

/// Removes what killed runs left behind, and waits until the kernel has let go
/// of their BPF programs, 2 s at most. Live runs are not touched.
///
/// # Errors
/// When the list of runs cannot be read.
pub fn clean() -> Result<Cleaned, Error> {
    let mut cleaned = clean_in(&base())?;
    for _ in 0..PATIENCE {
        cleaned.held = lasthop_ebpf::abandoned().unwrap_or_default();
        if cleaned.held.is_empty() {
            break;
        }
        thread::sleep(STEP);
    }
    Ok(cleaned)
}

/// Removes what dead runs listed in `base` left behind.
///
/// # Errors
/// When the list cannot be read.
pub(crate) fn clean_in(base: &Path) -> Result<Cleaned, Error> {
    let mut cleaned = Cleaned::default();
    let entries = match fs::read_dir(base) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(cleaned),
        Err(error) => return Err(Error::system(format!("read {}", base.display()), error)),
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    for name in names {
        let path = base.join(&name);
        // A run that ends at this moment removes its directory itself.
        let Ok(lock) = OpenOptions::new().write(true).open(path.join("lock")) else {
            if !is_coming_up(&path) {
                let _ = fs::remove_dir_all(&path);
            }
            continue;
        };
        if !is_dead(&name, &lock) {
            cleaned.alive.push(name);
            continue;
        }
        if is_coming_up(&path) {
            continue;
        }
        cleaned.processes += end_programs(&name);
        end_connections(&path);
        let _ = fs::remove_dir_all(&path);
        cleaned.runs.push(name.trim_start_matches('.').to_owned());
    }
    Ok(cleaned)
}

/// Whether nobody holds the run's lock. The warden of a dead process is waited
/// for: it has the lock as long as it clears away.
fn is_dead(name: &str, lock: &File) -> bool {
    for _ in 0..PATIENCE {
        if lock.try_lock().is_ok() {
            return true;
        }
        if process_lives(name) {
            return false;
        }
        thread::sleep(STEP);
    }
    false
}

/// Whether the process a directory is named after is alive.
fn process_lives(name: &str) -> bool {
    name.trim_start_matches('.')
        .split('-')
        .next()
        .and_then(|pid| fs::read_to_string(format!("/proc/{pid}/stat")).ok())
        // After the name in brackets: a process nobody has waited for yet is dead too.
        .and_then(|stat| Some(!stat.rsplit_once(") ")?.1.starts_with('Z')))
        .unwrap_or(false)
}

/// Whether the directory is one that its run is just making: hidden still, and
/// the process it is named after is alive.
fn is_coming_up(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name.starts_with('.') && process_lives(name)
}

/// Ends programs that carry the mark of run `name`. With the keeper's process
/// namespace there should be none.
fn end_programs(name: &str) -> u32 {
    let mark = format!("{RUN_VARIABLE}={name}");
    let mut ended = 0;
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(environment) = fs::read(entry.path().join("environ")) else {
            continue;
        };
        let marked = environment
            .split(|&byte| byte == 0)
            .any(|line| line == mark.as_bytes());
        if marked && kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok() {
            ended += 1;
        }
    }
    ended
}

/// Ends the connections that keep namespaces of the run in `directory`, where
/// the kernel still finds them.
fn end_connections(directory: &Path) {
    let text = fs::read_to_string(directory.join(HANDLES)).unwrap_or_default();
    let handles = text.lines().filter_map(|line| line.parse().ok());
    let found: Vec<OwnedFd> = handles
        .filter_map(|handle: NamespaceHandle| handle.open().ok())
        .collect();
    for namespace in found {
        // A thread of its own: namespaces belong to threads. A failure leaves
        // the connections to time.
        let _ = thread::spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET)
                .map_err(io::Error::from)
                .and_then(|()| connections::destroy())
        })
        .join();
    }
}
