//! Which agents the kernel can run as a BPF program, with which settings and where.

use crate::config::AgentConfig;
use crate::describe::PlaceKind;

/// Why a mechanism cannot run as a BPF program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoBpfForm {
    /// Nobody has written one.
    #[error("{agent} has no BPF program")]
    Unwritten {
        /// The mechanism.
        agent: &'static str,
    },
    /// The program stands at an interface of a host behind the last hop.
    #[error("its BPF program runs at a client, not at the {}", place.name())]
    Elsewhere {
        /// Where the agent stands.
        place: PlaceKind,
    },
    /// A setting is beyond what the program does.
    #[error("its BPF program takes `{name}` up to {max}, not {value}")]
    Beyond {
        /// The parameter.
        name: &'static str,
        /// The largest value the program takes.
        max: u64,
        /// What was given.
        value: u64,
    },
}

impl AgentConfig {
    /// Whether the kernel can run this agent at such a place as a BPF program.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn bpf_form(&self, place: PlaceKind) -> Result<(), NoBpfForm> {
        self.bpf_settings()?;
        match place {
            PlaceKind::Client => Ok(()),
            PlaceKind::Server | PlaceKind::Path => Err(NoBpfForm::Elsewhere { place }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DIVACKS_BPF_MAX_COUNT, DivacksConfig};

    fn divacks(count: u32) -> AgentConfig {
        AgentConfig::Divacks(DivacksConfig {
            count,
            ..DivacksConfig::default()
        })
    }

    #[test]
    fn divacks_run_in_the_kernel_of_a_client_up_to_the_programs_count() {
        assert_eq!(divacks(DIVACKS_BPF_MAX_COUNT).bpf_form(PlaceKind::Client), Ok(()));
        let refused = |count, place| {
            divacks(count)
                .bpf_form(place)
                .map_err(|reason| reason.to_string())
        };
        assert_eq!(
            refused(65, PlaceKind::Client),
            Err("its BPF program takes `count` up to 64, not 65".to_owned())
        );
        assert_eq!(
            refused(3, PlaceKind::Path),
            Err("its BPF program runs at a client, not at the path".to_owned())
        );
    }
}
