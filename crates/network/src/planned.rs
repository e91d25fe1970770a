//! The flows of a world, in the order every engine numbers them.

use lasthop_scenario::spec::World;
use lasthop_units::{Direction, Time};

use crate::Route;

/// One flow of a workload, before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFlow {
    /// Index of its workload.
    pub workload: usize,
    /// The hosts it joins.
    pub route: Route,
    /// Which way the bulk of the data goes.
    pub direction: Direction,
    /// When it starts.
    pub start: Time,
}

/// All flows of `world`, workload by workload, client by client. A workload's
/// flows take the servers of its group in turn.
pub fn planned_flows(world: &World) -> Vec<PlannedFlow> {
    let mut flows = Vec::new();
    for (index, workload) in world.workloads.iter().enumerate() {
        let servers = world.hosts[workload.server].count.max(1);
        let mut number = 0;
        for client in 0..world.hosts[workload.client].count {
            for _ in 0..workload.flows {
                flows.push(PlannedFlow {
                    workload: index,
                    route: Route {
                        server_group: workload.server,
                        server_in_group: number % servers,
                        client_group: workload.client,
                        client_in_group: client,
                        station: Route::station_of(world, workload.client, client),
                    },
                    direction: workload.direction,
                    start: Time::ZERO + workload.start + workload.stagger * u64::from(number),
                });
                number += 1;
            }
        }
    }
    flows
}
