//! Programs of ours that the kernel still has although no process holds them.

use std::collections::BTreeSet;
use std::fs;

use libbpf_rs::query::ProgInfoIter;

use crate::Error;
use crate::object::{DIVACK, PER_ACK, TCP_TRACE};

/// Bytes the kernel keeps of a program's name (`BPF_OBJ_NAME_LEN` less its end).
const NAME_BYTES: usize = 15;

/// A program in the kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoadedProgram {
    /// The kernel's number for it, never given twice.
    pub id: u32,
    /// Its name, of which the kernel keeps 15 bytes.
    pub name: String,
}

/// Programs of ours, by name, that no process holds: left by a process that is
/// dead, until the connections that use them are gone. Without root nothing is
/// found, and a process outside of this process namespace holds nothing that
/// could be seen here.
///
/// # Errors
/// When an embedded object cannot be read.
pub fn abandoned() -> Result<Vec<LoadedProgram>, Error> {
    let names = own_names()?;
    let candidates = loaded(&names);
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let held = held();
    // What ended since the first look is no leftover.
    let still = loaded(&names);
    let left = candidates.intersection(&still);
    Ok(left
        .filter(|program| !held.contains(&program.id))
        .cloned()
        .collect())
}

fn own_names() -> Result<BTreeSet<Vec<u8>>, Error> {
    let mut names = BTreeSet::new();
    for embedded in [DIVACK, PER_ACK, TCP_TRACE] {
        let object = embedded.open()?;
        names.extend(object.progs().map(|program| {
            let name = program.name().as_encoded_bytes();
            name[..name.len().min(NAME_BYTES)].to_vec()
        }));
    }
    Ok(names)
}

fn loaded(names: &BTreeSet<Vec<u8>>) -> BTreeSet<LoadedProgram> {
    ProgInfoIter::default()
        .filter(|info| {
            let name = info.name.as_encoded_bytes();
            names.contains(&name[..name.len().min(NAME_BYTES)])
        })
        .map(|info| LoadedProgram {
            id: info.id,
            name: info.name.to_string_lossy().into_owned(),
        })
        .collect()
}

/// Numbers of programs that descriptors of processes hold, directly or by a link.
fn held() -> BTreeSet<u32> {
    let mut held = BTreeSet::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        for descriptor in fs::read_dir(process.path().join("fdinfo"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let text = fs::read_to_string(descriptor.path()).unwrap_or_default();
            let numbers = text.lines().filter_map(|line| line.strip_prefix("prog_id:"));
            held.extend(numbers.filter_map(|number| number.trim().parse::<u32>().ok()));
        }
    }
    held
}
