//! Agents that run as BPF programs at a host's interface instead of on the
//! path: which do, their attachment, what they counted flow by flow.

use std::os::fd::AsFd;
use std::time::Duration;

use lasthop_agent::{AgentConfig, DIVACKS_BPF_MAX_COUNT, DivacksMode};
use lasthop_ebpf::{Divack, DivackSettings};
use lasthop_scenario::spec::{AgentAt, Place, Via, World};

use crate::Error;
use crate::routed::FIRST_PORT;
use crate::session::Seat;

// What the scenario's check says must be what the program does.
const _: () = assert!(DIVACKS_BPF_MAX_COUNT == lasthop_ebpf::MAX_COUNT);

/// Where an agent of a scenario runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The mechanism's name.
    pub agent: &'static str,
    /// The host group or path element it stands at.
    pub at: String,
    /// As what it runs.
    pub via: Via,
}

/// Where each agent of `world` runs, in its order. With `ebpf` those that have
/// a BPF form and do not say otherwise run in it.
pub fn placements(world: &World, ebpf: bool) -> Vec<Placement> {
    let name = |place| match place {
        Place::Host(group) => world.hosts.get(group).map(|host| host.name.clone()),
        Place::Before(element) => world.path.get(element).map(|element| element.name.clone()),
    };
    let placement = |agent: &AgentAt| Placement {
        agent: agent.agent.name(),
        at: name(agent.place).unwrap_or_default(),
        via: via_of(world, agent, ebpf),
    };
    world.agents.iter().map(placement).collect()
}

fn via_of(world: &World, agent: &AgentAt, ebpf: bool) -> Via {
    let can = || agent.agent.bpf_form(agent.place_kind(&world.hosts)).is_ok();
    agent
        .via
        .unwrap_or(if ebpf && can() { Via::Ebpf } else { Via::Userspace })
}

/// The world without the agents that run in the kernel, and those agents.
pub(crate) fn split_agents(world: &World, ebpf: bool) -> (World, Vec<AgentAt>) {
    let mut rest = world.clone();
    let in_kernel = |agent: &AgentAt| via_of(world, agent, ebpf) == Via::Ebpf;
    let (in_kernel, in_user_space) = rest.agents.into_iter().partition(in_kernel);
    rest.agents = in_user_space;
    (rest, in_kernel)
}

/// The BPF programs of a run, each with the index of its host.
pub(crate) type Divacks = Vec<(usize, Divack)>;

/// Starts the agents at their hosts' interfaces.
///
/// # Errors
/// When this user or this kernel may not.
pub(crate) fn attach(seats: &[Seat], agents: &[AgentAt]) -> Result<Divacks, Error> {
    let mut attached = Vec::new();
    for AgentAt { place, agent, .. } in agents {
        let (Place::Host(group), AgentConfig::Divacks(config)) = (*place, agent) else {
            continue;
        };
        let settings = DivackSettings {
            count: config.count,
            max_count: (config.mode == DivacksMode::Controlled).then_some(config.max_count),
            immediate_within: (!config.divide_delayed_acks)
                .then(|| Duration::from_nanos(config.immediate_within.as_ns())),
        };
        for (index, seat) in seats.iter().enumerate().filter(|(_, seat)| seat.group == group) {
            let divack = Divack::attach(Some(seat.host.namespace.as_fd()), seat.device, settings)
                .map_err(|error| Error::Unavailable(format!("divacks cannot run in the kernel: {error}")))?;
            attached.push((index, divack));
        }
    }
    Ok(attached)
}

/// Divided ACKs of each flow; `ends` are the hosts of the flows, which are told
/// apart by their port. Those of programs' own connections are on no flow.
///
/// # Errors
/// When a program's counts cannot be read.
pub(crate) fn divided_by_flow(divacks: &Divacks, ends: &[[usize; 2]]) -> Result<Vec<u64>, Error> {
    let mut divided = vec![0; ends.len()];
    for (seat, divack) in divacks {
        let tallies = divack
            .flows()
            .map_err(|error| Error::Unavailable(format!("divided ACKs cannot be counted: {error}")))?;
        for tally in tallies {
            let flow = [tally.destination.port(), tally.source.port()]
                .into_iter()
                .filter_map(|port| port.checked_sub(FIRST_PORT).map(usize::from))
                .find(|&flow| ends.get(flow).is_some_and(|ends| ends.contains(seat)));
            if let Some(flow) = flow {
                divided[flow] += tally.divided_acks;
            }
        }
    }
    Ok(divided)
}

#[cfg(test)]
mod tests {
    use lasthop_scenario::{LoadOptions, load};

    use super::*;

    fn world(via: &str, count: u32) -> World {
        let text = format!(
            r#"
            duration = "1 s"
            [hosts.server]
            [hosts.client]
            [[path]]
            name = "gateway"
            type = "node"
            [[path]]
            name = "wire"
            type = "wired"
            rate = "10 Mbit/s"
            delay = "10 ms"
            [[agents]]
            type = "divacks"
            at = "gateway"
            [[agents]]
            type = "divacks"
            at = "client"
            count = {count}
            {via}
            [[workloads]]
            type = "bulk"
            bytes = "1 MB"
            "#
        );
        let plan = load(&text, "two.toml", &LoadOptions::default());
        plan.unwrap_or_else(|errors| panic!("{errors}")).variants[0]
            .world
            .clone()
    }

    fn ways(world: &World, ebpf: bool) -> Vec<Via> {
        let placements = placements(world, ebpf);
        assert_eq!(placements[0].at, "gateway");
        assert_eq!(placements[1].at, "client");
        placements.into_iter().map(|placement| placement.via).collect()
    }

    #[test]
    fn the_engine_chooses_where_the_file_does_not() {
        let open = world("", 3);
        assert_eq!(ways(&open, false), [Via::Userspace, Via::Userspace]);
        assert_eq!(ways(&open, true), [Via::Userspace, Via::Ebpf]);
        assert_eq!(
            ways(&world("", 65), true)[1],
            Via::Userspace,
            "beyond the program's count"
        );
    }

    #[test]
    fn the_file_has_the_last_word() {
        for ebpf in [false, true] {
            assert_eq!(ways(&world("via = \"ebpf\"", 3), ebpf)[1], Via::Ebpf);
            assert_eq!(ways(&world("via = \"userspace\"", 3), ebpf)[1], Via::Userspace);
        }
    }

    #[test]
    fn what_runs_in_the_kernel_is_not_on_the_path() {
        let (rest, in_kernel) = split_agents(&world("via = \"ebpf\"", 3), false);
        assert_eq!((rest.agents.len(), in_kernel.len()), (1, 1));
        assert_eq!(in_kernel[0].place, Place::Host(1));
    }
}
