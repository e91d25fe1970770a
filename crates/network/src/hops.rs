//! The stations of a packet's journey, shared by all routes.

use lasthop_scenario::spec::{Element, ElementKind, Place, Scope, Side, World};
use lasthop_units::Direction;

/// One step of a journey. The list runs from the server's side to the client's;
/// uplink packets meet the same steps in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// A wire: link numbers of its first route, per direction, and how far apart
    /// those of neighbouring routes are (0 when shared).
    Wire { element: usize, first_link: [u32; 2], stride: u32 },
    /// The Wi-Fi medium.
    Wifi { element: usize },
    /// An agent: the numbers of its instances begin at `first_instance`.
    Agent { listed: usize, first_instance: u32, at_host: Option<usize> },
}

/// A hop as one direction meets it; the lists of both directions run in the
/// order of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A wire, and whether the next step may be evaluated along with it.
    Wire { link: u32, stride: u32, chained: bool, element: u32 },
    /// The Wi-Fi medium.
    Wifi { element: u32 },
    /// An agent.
    Agent { first_instance: u32, at_host: Option<u32> },
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

/// The steps of a journey in `direction`. A wire is chained to the next step
/// when that is a wire no other wire feeds: its queue then sees the same
/// packets at the same times, whether they are handed on now or when they arrive.
pub(crate) fn steps(
    hops: &[Hop],
    direction: Direction,
    routes: u32,
    reorders: impl Fn(u32) -> bool,
) -> Vec<Step> {
    let travelled: Vec<Hop> = match direction {
        Direction::Downlink => hops.to_vec(),
        Direction::Uplink => hops.iter().rev().copied().collect(),
    };
    let step = |(index, hop): (usize, &Hop)| match *hop {
        Hop::Wifi { element } => Step::Wifi { element: element as u32 },
        Hop::Agent { first_instance, at_host, .. } => {
            Step::Agent { first_instance, at_host: at_host.map(|group| group as u32) }
        }
        Hop::Wire { element, first_link, stride } => {
            let link = first_link[direction.index()];
            let chained = match travelled.get(index + 1) {
                Some(Hop::Wire { stride: next_stride, .. }) => {
                    (routes == 1 || stride == 0 || *next_stride == 1) && !reorders(link)
                }
                _ => false,
            };
            Step::Wire { link, stride, chained, element: element as u32 }
        }
    };
    travelled.iter().enumerate().map(step).collect()
}
