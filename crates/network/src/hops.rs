//! The stations of a packet's journey, shared by all routes.

use lasthop_scenario::spec::{Element, ElementKind, Place, Scope, Side, World};
use lasthop_units::Direction;

/// One step of a journey. The list runs from the server's side to the client's;
/// uplink packets walk it backwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// A wire: link numbers of its first route, per direction, and how far apart
    /// those of neighbouring routes are (0 when shared).
    Wire { element: usize, first_link: [u32; 2], stride: u32 },
    /// The Wi-Fi medium.
    Wifi { element: usize },
    /// An agent: the numbers of its instances begin at `first_instance`.
    Agent { listed: usize, first_instance: u32, at_host: Option<usize> },
}

/// How many links, agents and hops a world needs.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) hops: Vec<Hop>,
    pub(crate) links: u32,
    pub(crate) agent_instances: u32,
}

/// Where on the path agents are met, between the elements.
fn agent_hops(world: &World, layout: &mut Layout, here: impl Fn(Place) -> bool) {
    for (listed, agent) in world.agents.iter().enumerate() {
        if !here(agent.place) {
            continue;
        }
        let (at_host, instances) = match agent.place {
            Place::Host(group) => (Some(group), world.hosts[group].count),
            Place::Before(_) => (None, 1),
        };
        layout.hops.push(Hop::Agent { listed, first_instance: layout.agent_instances, at_host });
        layout.agent_instances += instances;
    }
}

fn element_hop(index: usize, element: &Element, routes: u32, layout: &mut Layout) {
    match element.kind {
        ElementKind::Node => {}
        ElementKind::Wifi(_) => layout.hops.push(Hop::Wifi { element: index }),
        ElementKind::Wired(_) => {
            let (instances, stride) = match element.scope {
                Scope::Shared => (1, 0),
                Scope::PerFlow => (routes, 1),
            };
            let first = layout.links;
            layout.hops.push(Hop::Wire { element: index, first_link: [first, first + instances], stride });
            layout.links += 2 * instances;
        }
    }
}

/// Lays out the hops of `world` for `routes` routes.
pub(crate) fn lay_out(world: &World, routes: u32) -> Layout {
    let mut layout = Layout::default();
    let on_side = |place: Place, side: Side| match place {
        Place::Host(group) => world.hosts[group].side == side,
        Place::Before(_) => false,
    };
    agent_hops(world, &mut layout, |place| on_side(place, Side::Server));
    for (index, element) in world.path.iter().enumerate() {
        agent_hops(world, &mut layout, |place| place == Place::Before(index));
        element_hop(index, element, routes, &mut layout);
    }
    agent_hops(world, &mut layout, |place| on_side(place, Side::Client));
    layout
}

/// Which links hand their packets to a link that no other link feeds, so that
/// both can be passed in one evaluation. `[hop][direction]`.
pub(crate) fn chains(hops: &[Hop], routes: u32, reorders: impl Fn(u32) -> bool) -> Vec<[bool; 2]> {
    let chained = |hop: usize, direction: Direction| {
        let next = match direction {
            Direction::Downlink => hops.get(hop + 1),
            Direction::Uplink => hop.checked_sub(1).and_then(|previous| hops.get(previous)),
        };
        let (Hop::Wire { first_link, stride, .. }, Some(Hop::Wire { stride: next_stride, .. })) =
            (&hops[hop], next)
        else {
            return false;
        };
        let only_feeder = routes == 1 || *stride == 0 || *next_stride == 1;
        only_feeder && !reorders(first_link[direction.index()])
    };
    (0..hops.len()).map(|hop| Direction::BOTH.map(|direction| chained(hop, direction))).collect()
}
