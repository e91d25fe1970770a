//! What of a scenario this kernel can play, known before anything is built.

use lasthop_scenario::spec::{WorkloadKind, World};

use crate::stack::{Control, Refusal, Stack};

/// The most hosts a group may have, by its addresses.
const MAX_HOSTS: u32 = 250;

/// Checks that the kernel can play every host of `world`.
///
/// # Errors
/// The first thing it cannot play, in one sentence.
pub fn capability(world: &World) -> Result<(), Refusal> {
    for host in &world.hosts {
        let stack = Stack::of(host)?;
        if let Control::Named(name) = &stack.control
            && !available_controls().iter().any(|known| known == name)
        {
            return Err(Refusal::new(format!(
                "this kernel has no congestion control {name:?} loaded (it has {}; modprobe tcp_{name} may load it)",
                available_controls().join(", ")
            )));
        }
        if host.count > MAX_HOSTS {
            return Err(Refusal::new(format!(
                "group {:?} has more than {MAX_HOSTS} hosts",
                host.name
            )));
        }
    }
    if world.hosts.len() > 200 {
        return Err(Refusal::new("it has more than 200 groups of hosts"));
    }
    for workload in &world.workloads {
        // A socket hands datagrams to the device as fast as the processor goes,
        // and the device drops what the path does not fetch in time: that would
        // measure this machine.
        if let WorkloadKind::Udp { rate: None, .. } = workload.kind {
            return Err(Refusal::new(format!(
                "workload {:?} saturates the path, and a real socket cannot tell when the first queue has room; \
                 give it a rate a little above the link's",
                workload.name
            )));
        }
    }
    Ok(())
}

/// The congestion controls sockets can choose.
pub(crate) fn available_controls() -> Vec<String> {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .map(|names| names.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default()
}
