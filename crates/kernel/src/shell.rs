//! A shell, or one command, inside a host while the path runs.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::thread;
use std::time::Duration;

use nix::libc;

use crate::error::Attempt;
use crate::keeper::Program;
use crate::{Error, Session, Status};

/// How often the status is told.
const TELL: Duration = Duration::from_millis(500);

/// Runs `command` (the user's shell when empty) on the caller's terminal in
/// the host of that name and returns its exit status (128 plus the signal when
/// one ended it). `tell` hears of the path twice a second.
///
/// # Errors
/// When there is no such host or the command cannot be started.
pub fn shell(
    session: &Session,
    host: &str,
    command: Vec<OsString>,
    mut tell: impl FnMut(&Status),
) -> Result<i32, Error> {
    let command = if command.is_empty() {
        vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())]
    } else {
        command
    };
    let mut variables = vec![("LASTHOP_HOST".to_owned(), host.to_owned())];
    for (name, addresses) in session.hosts() {
        let name = name
            .to_uppercase()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        variables.push((format!("LASTHOP_{name}"), addresses.v4.to_string()));
    }
    // Ctrl-C is for the command; the path goes on.
    let _ignored = IgnoreInterrupt::new();
    let mut child = session.spawn(
        host,
        Program {
            command,
            variables,
            terminal: true,
        },
    )?;
    loop {
        if let Some(status) = child.try_wait().attempt(|| "wait for the command".into())? {
            return Ok(status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        tell(&session.status()?);
        wait_a_little(&mut child);
    }
}

/// Sleeps until the next status, or less when the child ends.
fn wait_a_little(child: &mut std::process::Child) {
    const STEP: Duration = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    while waited < TELL && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(STEP);
        waited += STEP;
    }
}

/// SIGINT is ignored while this lives.
struct IgnoreInterrupt {
    before: libc::sighandler_t,
}

impl IgnoreInterrupt {
    fn new() -> Self {
        Self {
            // SAFETY: no handler of ours is installed.
            before: unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) },
        }
    }
}

impl Drop for IgnoreInterrupt {
    fn drop(&mut self) {
        // SAFETY: puts back what was there before.
        unsafe { libc::signal(libc::SIGINT, self.before) };
    }
}
