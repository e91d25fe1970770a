//! The sections of the file: for each the keys it takes and what becomes of them.

pub(crate) mod agents;
pub(crate) mod handovers;
pub(crate) mod hosts;
pub(crate) mod path;
pub(crate) mod record;
pub(crate) mod tcp;
pub(crate) mod top;
pub(crate) mod wifi;
pub(crate) mod wired;
pub(crate) mod workloads;

use crate::kind::{Key, Kind, key};
use crate::problem::{At, Report, allowed};

/// The `when` key of items that some variants leave out.
pub(crate) fn when() -> Key {
    key(
        "when",
        Kind::When,
        "Keeps the item only in variants whose parameters have these values: `{ workload = \"tcp\" }`; \
         a list means any of its values.",
    )
    .otherwise("always there")
}

/// Names that can be referred to, in order, with whether this variant has them.
#[derive(Debug, Default)]
pub(crate) struct Names {
    entries: Vec<(String, Option<usize>)>,
}

impl Names {
    /// Adds a name with its index, or as left out; reports one that is taken.
    pub fn add(&mut self, name: &str, index: Option<usize>, at: &At, what: &str, report: &mut Report) {
        // Items that are never there together may share a name.
        let taken = self
            .entries
            .iter()
            .any(|(known, present)| known == name && present.is_some() && index.is_some());
        if taken {
            report.add(at, format!("another {what} is called \"{name}\" already"));
        }
        self.entries.push((name.to_owned(), index));
    }

    /// The index of a name; an unknown or left-out one is reported.
    pub fn find(&self, name: &str, at: &At, what: &str, report: &mut Report) -> Option<usize> {
        let found = self
            .entries
            .iter()
            .find(|(known, index)| known == name && index.is_some());
        if let Some((_, index)) = found {
            return *index;
        }
        if self.entries.iter().any(|(known, _)| known == name) {
            if !report.is_quiet() {
                report.add(at, format!("{what} \"{name}\" is left out by its `when` here"));
            }
            return None;
        }
        let names = self.entries.iter().map(|(known, _)| known.as_str());
        report.add(at, format!("unknown {what} \"{name}\"; {}", allowed(name, names)));
        None
    }

    /// Whether the name is there.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.entries
            .iter()
            .find(|(known, index)| known == name && index.is_some())?
            .1
    }

    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }
}
