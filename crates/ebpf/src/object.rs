//! The embedded objects: opening, loading, finding their parts.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, Once};

use libbpf_rs::{
    AsRawLibbpf, Link, MapCore, MapFlags, Object, ObjectBuilder, OpenObject, PrintLevel, ProgramMut,
    libbpf_sys,
};

use crate::Error;
use crate::netns::last;

/// Key and value of a map, as they stand there.
pub(crate) type Entry = (Vec<u8>, Vec<u8>);

/// A compiled object and its name.
pub(crate) struct Embedded {
    pub name: &'static str,
    bytes: &'static [u8],
}

pub(crate) const DIVACK: Embedded = Embedded {
    name: "divack",
    bytes: include_bytes!("../objects/divack.bpf.o"),
};
pub(crate) const PER_ACK: Embedded = Embedded {
    name: "per_ack",
    bytes: include_bytes!("../objects/per_ack.bpf.o"),
};
pub(crate) const TCP_TRACE: Embedded = Embedded {
    name: "tcp_trace",
    bytes: include_bytes!("../objects/tcp_trace.bpf.o"),
};

/// The tail of what libbpf warned about last; it explains a refusal.
static LOG: Mutex<String> = Mutex::new(String::new());

/// Enough for the verifier's last lines.
const LOG_BYTES: usize = 8 << 10;

#[allow(clippy::needless_pass_by_value, reason = "libbpf-rs's callback type")]
fn keep_log(_: PrintLevel, text: String) {
    if let Ok(mut log) = LOG.lock() {
        log.push_str(&text);
        let excess = log.len().saturating_sub(LOG_BYTES);
        if let Some((cut, _)) = log.char_indices().find(|(at, _)| *at >= excess) {
            log.drain(..cut);
        }
    }
}

fn take_log() -> String {
    LOG.lock()
        .map(|mut log| std::mem::take(&mut *log))
        .unwrap_or_default()
}

impl Embedded {
    /// Parses the object; nothing reaches the kernel yet.
    pub fn open(&self) -> Result<OpenObject, Error> {
        static QUIET: Once = Once::new();
        // A library does not write to its user's terminal.
        QUIET.call_once(|| {
            libbpf_rs::set_print(Some((PrintLevel::Warn, keep_log)));
        });
        take_log();
        let open = ObjectBuilder::default()
            .name(self.name)
            .and_then(|builder| builder.open_memory(self.bytes));
        open.map_err(|reason| self.refusal(reason))
    }

    /// Has the kernel verify the programs and create the maps.
    pub fn load(&self, open: OpenObject) -> Result<Object, Error> {
        open.load().map_err(|reason| self.refusal(reason))
    }

    fn refusal(&self, reason: libbpf_rs::Error) -> Error {
        Error::Load {
            object: self.name,
            reason,
            log: take_log(),
        }
    }

    /// Overwrites a map's initial value (constants, or a `struct_ops` table) from
    /// its start.
    pub fn set_initial(
        &self,
        open: &mut OpenObject,
        suffix: &'static str,
        value: &[u8],
    ) -> Result<(), Error> {
        open.maps_mut()
            .find(|map| map.name().as_encoded_bytes().ends_with(suffix.as_bytes()))
            .as_mut()
            .and_then(|map| map.initial_value_mut())
            .and_then(|initial| initial.get_mut(..value.len()))
            .ok_or(Error::Mismatch {
                object: self.name,
                what: suffix,
            })?
            .copy_from_slice(value);
        Ok(())
    }

    /// Changes how many entries (or bytes, of a ring buffer) a map has.
    pub fn set_entries(&self, open: &mut OpenObject, map: &'static str, entries: u32) -> Result<(), Error> {
        open.maps_mut()
            .find(|candidate| candidate.name() == OsStr::new(map))
            .ok_or(Error::Mismatch {
                object: self.name,
                what: map,
            })?
            .set_max_entries(entries)
            .map_err(|reason| Error::Map { map, reason })
    }

    /// A program of the loaded object.
    pub fn program<'obj>(&self, object: &'obj Object, name: &'static str) -> Result<ProgramMut<'obj>, Error> {
        object
            .progs_mut()
            .find(|program| program.name() == OsStr::new(name))
            .ok_or(Error::Mismatch {
                object: self.name,
                what: name,
            })
    }

    /// The first entry of an array map whose values have `N` bytes.
    pub fn read_first<const N: usize>(
        &self,
        object: &Object,
        suffix: &'static str,
    ) -> Result<[u8; N], Error> {
        let map = object
            .maps()
            .find(|map| map.name().as_encoded_bytes().ends_with(suffix.as_bytes()))
            .ok_or(Error::Mismatch {
                object: self.name,
                what: suffix,
            })?;
        let value = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(|reason| Error::Map { map: suffix, reason })?;
        value
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(Error::Mismatch {
                object: self.name,
                what: suffix,
            })
    }

    /// Every entry of a hash map, as key and value, in the order of the keys.
    pub fn entries(&self, object: &Object, map: &'static str) -> Result<Vec<Entry>, Error> {
        let found = object
            .maps()
            .find(|candidate| candidate.name() == OsStr::new(map))
            .ok_or(Error::Mismatch {
                object: self.name,
                what: map,
            })?;
        let mut entries = Vec::new();
        for key in found.keys() {
            let value = found
                .lookup(&key, MapFlags::ANY)
                .map_err(|reason| Error::Map { map, reason })?;
            entries.extend(value.map(|value| (key, value)));
        }
        entries.sort_unstable();
        Ok(entries)
    }

    /// Writes an entry of a map.
    pub fn write(&self, object: &Object, map: &'static str, key: &[u8], value: &[u8]) -> Result<(), Error> {
        object
            .maps()
            .find(|candidate| candidate.name() == OsStr::new(map))
            .ok_or(Error::Mismatch {
                object: self.name,
                what: map,
            })?
            .update(key, value, MapFlags::ANY)
            .map_err(|reason| Error::Map { map, reason })
    }
}

/// Attaches a program to an interface of the calling thread's namespace by tcx;
/// dropping the link detaches it.
pub(crate) fn attach_tcx(program: &ProgramMut<'_>, name: &'static str, ifindex: u32) -> Result<Link, Error> {
    let interface = i32::try_from(ifindex).unwrap_or(-1);
    // SAFETY: the program is loaded and outlives the call; options may be null.
    let link = unsafe {
        libbpf_sys::bpf_program__attach_tcx(program.as_libbpf_object().as_ptr(), interface, std::ptr::null())
    };
    let Some(link) = std::ptr::NonNull::new(link) else {
        let reason = libbpf_rs::Error::from(std::io::Error::last_os_error());
        return Err(Error::Attach {
            program: name,
            reason,
        });
    };
    // SAFETY: libbpf returned a new link that nobody else owns.
    Ok(unsafe { Link::from_ptr(link) })
}

/// What a program cost the verifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCost {
    /// The object it is in.
    pub object: &'static str,
    /// Its name.
    pub program: String,
    /// Instructions the verifier walked through; its limit is a million.
    pub verified_instructions: u32,
}

/// Loads every object and reads back what its programs cost the verifier.
///
/// # Errors
/// When an object does not load (without root, none does) or the kernel does
/// not tell the cost (before Linux 5.16).
pub fn verified_instructions() -> Result<Vec<ProgramCost>, Error> {
    let mut costs = Vec::new();
    for embedded in [DIVACK, PER_ACK, TCP_TRACE] {
        let object = embedded.load(embedded.open()?)?;
        for program in object.progs() {
            let mut info = libbpf_sys::bpf_prog_info::default();
            let mut bytes = size_of_val(&info) as u32;
            // SAFETY: the kernel writes at most `bytes` bytes to `info`, whose
            // pointer members are null with zero lengths.
            let failed = unsafe {
                libbpf_sys::bpf_prog_get_info_by_fd(
                    program.as_fd().as_raw_fd(),
                    &raw mut info,
                    &raw mut bytes,
                )
            };
            if failed != 0 {
                return Err(last("reading a BPF program's information"));
            }
            costs.push(ProgramCost {
                object: embedded.name,
                program: program.name().to_string_lossy().into_owned(),
                verified_instructions: info.verified_insns,
            });
        }
    }
    costs.sort_by(|a, b| (a.object, &a.program).cmp(&(b.object, &b.program)));
    Ok(costs)
}
