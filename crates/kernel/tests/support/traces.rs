//! What runs of this test could leave on the machine, and whether it is there.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use lasthop_kernel::NamespaceHandle;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A variable of every process of a test's runs.
const MARK: &str = "LASTHOP_TEST";

/// Processes of this test that run a scenario and what they made.
#[derive(Debug)]
pub struct Runs {
    mark: String,
    pids: BTreeSet<u32>,
    /// BPF programs that runs held when they were stopped.
    programs: BTreeSet<u32>,
    namespaces: Vec<NamespaceHandle>,
}

impl Runs {
    /// No runs yet.
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            mark: format!("{}-{number}", std::process::id()),
            pids: BTreeSet::new(),
            programs: BTreeSet::new(),
            namespaces: Vec::new(),
        }
    }

    /// Runs the ignored test `name` of this program in a process of its own, in
    /// a group of its own as a shell does it: Ctrl-C reaches all of it.
    pub fn start(&mut self, name: &str) -> Child {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", name, "--ignored", "--nocapture"])
            .env(MARK, &self.mark)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("a process");
        self.pids.insert(child.id());
        child
    }

    /// Stops a run and notes what it holds at this moment.
    pub fn stop(&mut self, run: &Child) {
        kill(Pid::from_raw(run.id().cast_signed()), Signal::SIGSTOP).expect("a process to stop");
        self.programs.extend(
            descriptors(run.id())
                .iter()
                .filter_map(|text| text.lines().find_map(|line| line.strip_prefix("prog_id:")))
                .filter_map(|number| number.trim().parse::<u32>().ok()),
        );
        for directory in directories(run.id()) {
            let handles = fs::read_to_string(directory.join("handles")).unwrap_or_default();
            self.namespaces
                .extend(handles.lines().filter_map(|line| line.parse().ok()));
        }
    }

    /// How many BPF programs and namespaces were seen so far.
    pub fn seen(&self) -> [usize; 2] {
        [self.programs.len(), self.namespaces.len()]
    }

    /// Every process of the runs: programs, wardens, the runs themselves.
    pub fn processes(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.mark);
        let marked = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|&byte| byte == 0)
                .any(|word| word == mark.as_bytes())
        };
        pids().filter(marked).collect()
    }

    /// What there is of the runs at this moment.
    pub fn remains(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for pid in self.processes() {
            found.insert(format!("process {pid}"));
            if descriptors(pid).iter().any(|text| text.contains("iff:\tlasthop")) {
                found.insert(format!("device of process {pid}"));
            }
        }
        let controls =
            fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
        for &pid in &self.pids {
            let prefix = format!("lh_{pid:x}_");
            let own = controls
                .split_whitespace()
                .filter(|name| name.starts_with(&prefix));
            found.extend(own.map(|name| format!("congestion control {name}")));
            found.extend(directories(pid).map(|path| format!("directory {}", path.display())));
        }
        for program in lasthop_ebpf::abandoned().expect("a list of programs") {
            if self.programs.contains(&program.id) {
                found.insert(format!("BPF program {} ({})", program.name, program.id));
            }
        }
        let namespaces = self.namespaces.iter().filter(|handle| handle.open().is_ok());
        found.extend(namespaces.map(|handle| format!("network namespace {handle}")));
        found
    }

    /// Waits five seconds at most until nothing remains, and returns what does.
    pub fn remain_at_last(&self) -> BTreeSet<String> {
        let mut left = self.remains();
        for _ in 0..250 {
            if left.is_empty() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
            left = self.remains();
        }
        left
    }
}

/// A test that fails leaves none of its processes.
impl Drop for Runs {
    fn drop(&mut self) {
        for pid in self.processes() {
            let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
        }
    }
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// What the kernel says of each open descriptor of a process.
fn descriptors(pid: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/fdinfo"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter_map(|entry| fs::read_to_string(entry.path()).ok())
        .collect()
}

/// Directories of a process's runs, also of one that is just coming up.
fn directories(pid: u32) -> impl Iterator<Item = PathBuf> {
    let prefixes = [format!("{pid}-"), format!(".{pid}-")];
    let entries = fs::read_dir("/run/lasthop").into_iter().flatten().flatten();
    entries
        .filter(move |entry| {
            let name = entry.file_name();
            prefixes
                .iter()
                .any(|prefix| name.to_string_lossy().starts_with(prefix))
        })
        .map(|entry| entry.path())
}
