//! What a run leaves in the file system: one small directory with its name,
//! locked as long as the run lives. The lock goes with the process, so a
//! directory without one belongs to a run that was killed.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::unistd::geteuid;

use crate::Error;
use crate::clean::clean_in;
use crate::control::SOCKET;
use crate::error::Attempt;

/// The directory of a live run; removed when dropped.
#[derive(Debug)]
pub struct RunDir {
    name: String,
    path: PathBuf,
    /// Held, never read: the kernel lets go of it with the process and its warden.
    lock: File,
}

/// The files a run's directory may hold.
const FILES: [&str; 5] = ["hosts", "lock", "namespaces", HANDLES, SOCKET];

/// The file with the [handles](crate::namespace_handle) of the run's namespaces.
pub(crate) const HANDLES: &str = "handles";

/// Where runs are listed: `/run/lasthop` for root, the user's own elsewhere.
pub fn base() -> PathBuf {
    if geteuid().is_root() && writable(Path::new("/run")) {
        return PathBuf::from("/run/lasthop");
    }
    match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(own) if writable(Path::new(&own)) => PathBuf::from(own).join("lasthop"),
        _ => std::env::temp_dir().join(format!("lasthop-{}", outer_user())),
    }
}

/// The user outside of a user namespace, where everybody is root inside.
fn outer_user() -> u32 {
    let own = geteuid().as_raw();
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    let numbers = |line: &str| -> Option<[u32; 3]> {
        let mut words = line.split_whitespace().map(|word| word.parse().ok());
        Some([words.next()??, words.next()??, words.next()??])
    };
    map.lines()
        .filter_map(numbers)
        .find(|&[inside, _, count]| own >= inside && own - inside < count)
        .map_or(own, |[inside, outside, _]| outside + (own - inside))
}

fn writable(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::W_OK).is_ok()
}

impl RunDir {
    /// A directory for a new run. Dead runs met on the way are removed.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn create() -> Result<Self, Error> {
        let base = base();
        clean_in(&base)?;
        Self::create_in(&base)
    }

    fn create_in(base: &Path) -> Result<Self, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let path = base.join(&name);
        fs::create_dir_all(base).attempt(|| format!("create {}", base.display()))?;
        // Made under another name and locked before it is listed, so that no
        // `clean` ever sees it unlocked.
        let hidden = base.join(format!(".{name}"));
        fs::create_dir_all(&hidden).attempt(|| format!("create {}", hidden.display()))?;
        let lock = lock_file(&hidden).attempt(|| format!("create {}", hidden.display()))?;
        lock.try_lock()
            .map_err(|error| Error::system(format!("lock {}", hidden.display()), io::Error::other(error)))?;
        fs::rename(&hidden, &path).attempt(|| format!("create {}", path.display()))?;
        Ok(Self { name, path, lock })
    }

    /// The run's name, unique on this machine while it lives.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor that holds the run's lock.
    pub(crate) fn lock(&self) -> RawFd {
        self.lock.as_raw_fd()
    }

    /// Every path the run may leave, the directory last.
    pub(crate) fn leftovers(&self) -> Vec<CString> {
        let files = FILES.iter().map(|name| self.path.join(name));
        files
            .chain([self.path.clone()])
            .filter_map(|path| CString::new(path.into_os_string().into_vec()).ok())
            .collect()
    }

    /// Writes one of [`FILES`] into the directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        File::create(&path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .attempt(|| format!("write {}", path.display()))?;
        Ok(path)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // What stays behind is found and removed by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path.join("lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own_base(test: &str) -> PathBuf {
        let base = std::env::temp_dir().join(format!("lasthop-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        base
    }

    #[test]
    fn a_live_run_is_left_alone_and_removes_itself() {
        let base = own_base("alive");
        let run = RunDir::create_in(&base).unwrap();
        let cleaned = clean_in(&base).unwrap();
        assert_eq!(cleaned.alive, [run.name().to_owned()]);
        assert!(cleaned.runs.is_empty());
        let path = run.path().to_owned();
        drop(run);
        assert!(!path.exists());
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn a_killed_run_is_found_by_name_and_removed() {
        let base = own_base("killed");
        let run = RunDir::create_in(&base).unwrap();
        let (name, path) = (run.name().to_owned(), run.path().to_owned());
        // The kernel drops a killed run's lock; its directory stays.
        run.lock.unlock().unwrap();
        let cleaned = clean_in(&base).unwrap();
        assert_eq!(cleaned.runs, [name]);
        assert!(!path.exists());
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn two_runs_of_one_process_do_not_collide() {
        let base = own_base("two");
        let one = RunDir::create_in(&base).unwrap();
        let two = RunDir::create_in(&base).unwrap();
        assert_ne!(one.path(), two.path());
        drop((one, two));
        fs::remove_dir_all(&base).unwrap();
    }
}
