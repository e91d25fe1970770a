//! Running as a normal user: the program starts itself again as the root of a
//! user namespace of its own, where it may build network namespaces.

use std::ffi::{CStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::libc;

use crate::Error;
use crate::doctor::{CAP_NET_ADMIN, CAP_SYS_ADMIN, has_capability};
use crate::error::Attempt;

/// Set in the second life, so that there is no third.
const MARK: &str = "LASTHOP_USER_NAMESPACE";

/// Makes sure that the process may build hosts. Returns `None` when it may;
/// otherwise the program has run again in a user namespace, to its end, and
/// this is the status it exited with: exit with the same.
///
/// # Errors
/// When this machine allows neither.
pub fn ensure_privileges() -> Result<Option<i32>, Error> {
    if may_build_hosts() {
        return Ok(None);
    }
    if std::env::var_os(MARK).is_some() {
        return Err(Error::Unavailable(
            "this machine gives the root of a user namespace no rights over networks; run as root".into(),
        ));
    }
    let mut words = fs::read("/proc/self/cmdline")
        .attempt(|| "read this program's command line".into())?
        .split(|&byte| byte == 0)
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect::<Vec<_>>();
    // The last word ends with a zero too.
    words.pop();
    let mut command = Command::new("/proc/self/exe");
    command.args(words.iter().skip(1)).env(MARK, "1");
    if let Some(name) = words.first() {
        command.arg0(name);
    }
    become_root_in(&mut command);
    let mut child = command.spawn().map_err(|error| {
        Error::Unavailable(format!(
            "this user may not create user namespaces ({error}); run as root, or allow them \
             (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
             kernel.apparmor_restrict_unprivileged_userns)"
        ))
    })?;
    pass_interrupts_on(&child);
    let status = child
        .wait()
        .attempt(|| "wait for the program in the user namespace".into())?;
    Ok(Some(status.code().unwrap_or(1)))
}

/// The program in the user namespace.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// From now on an interrupt is for the child, whose end is ours too. SIGTERM
/// ends this process, and that the child.
fn pass_interrupts_on(child: &Child) {
    CHILD.store(child.id().cast_signed(), Ordering::Relaxed);
    // SAFETY: the handler makes one system call and reads an atomic.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = pass_on as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn pass_on(signal: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    // SAFETY: the kernel hands over a valid description of the signal.
    unsafe {
        // Ctrl-C (sent by the kernel) reaches the child as well, `kill` only us.
        if (*info).si_code <= libc::SI_USER {
            libc::kill(CHILD.load(Ordering::Relaxed), signal);
        }
    }
}

/// Whether the process may create namespaces and devices.
pub(crate) fn may_build_hosts() -> bool {
    has_capability(CAP_SYS_ADMIN) && has_capability(CAP_NET_ADMIN)
}

/// Lets `command` run as the root of a new user namespace that maps the
/// caller's user and group only.
pub(crate) fn become_root_in(command: &mut Command) {
    // SAFETY: neither call can fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let users = format!("0 {user} 1");
    let groups = format!("0 {group} 1");
    // SAFETY: between fork and exec only system calls are made, on memory
    // prepared before.
    unsafe {
        command.pre_exec(move || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            if libc::unshare(libc::CLONE_NEWUSER) != 0 {
                return Err(io::Error::last_os_error());
            }
            write_now(c"/proc/self/setgroups", b"deny")?;
            write_now(c"/proc/self/uid_map", users.as_bytes())?;
            write_now(c"/proc/self/gid_map", groups.as_bytes())
        });
    }
}

/// Writes a file without allocating.
fn write_now(path: &CStr, text: &[u8]) -> io::Result<()> {
    // SAFETY: path and text are valid for the calls; the descriptor is ours.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let written = libc::write(fd, text.as_ptr().cast(), text.len());
        let result = if written < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        };
        libc::close(fd);
        result
    }
}
