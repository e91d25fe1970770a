//! The stations of a packet's journey, shared by all routes.

use lasthop_scenario::spec::{Element, ElementKind, Place, Scope, Side, World};
use lasthop_units::Direction;

/// One step of a journey. The list runs from the server's side to the client's;
/// uplink packets meet the same steps in reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    /// A wire: link numbers of its first route, per direction, how far apart
    /// those of neighbouring routes are (0 when shared), and its rank among the wires.
    Wire {
        element: usize,
        first_link: [u32; 2],
        stride: u32,
        rank: u32,
    },
    /// The Wi-Fi medium.
    Wifi { element: usize },
    /// An agent: the numbers of its instances begin at `first_instance`.
    Agent {
        listed: usize,
        first_instance: u32,
        at_host: Option<usize>,
    },
}

/// What a packet meets at a place of its journey in one direction; the lists of
/// both directions run in the order of travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The wires `first..end` of the direction, evaluated in one go, and the ring
    /// which the instances of the last share.
    Wires { first: u32, end: u32, ring: u32 },
    /// The Wi-Fi medium.
    Wifi { element: u32 },
    /// An agent.
    Agent {
        first_instance: u32,
        at_host: Option<u32>,
    },
}

/// A wire in one direction: the link of the first route, and how far apart those
/// of neighbouring routes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) link: u32,
    pub(crate) stride: u32,
    pub(crate) element: u32,
}

/// The journey in one direction.
#[derive(Debug, Default)]
pub(crate) struct Journey {
    pub(crate) steps: Vec<Step>,
    pub(crate) wires: Vec<Wire>,
}

/// How many links, agents and hops a world needs.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) hops: Vec<Hop>,
    pub(crate) links: u32,
    pub(crate) wires: u32,
    pub(crate) agent_instances: u32,
}

impl Layout {
    /// The number of the ring the instances of a wire share in one direction;
    /// those of the links come first.
    pub(crate) const fn shared_ring(&self, rank: u32, direction: Direction) -> u32 {
        self.links + 2 * rank + direction.index() as u32
    }

    /// How many rings there are.
    pub(crate) const fn rings(&self) -> u32 {
        self.links + 2 * self.wires
    }
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
        layout.hops.push(Hop::Agent {
            listed,
            first_instance: layout.agent_instances,
            at_host,
        });
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
            layout.hops.push(Hop::Wire {
                element: index,
                first_link: [first, first + instances],
                stride,
                rank: layout.wires,
            });
            layout.links += 2 * instances;
            layout.wires += 1;
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

/// The journey in `direction`. A wire is chained to the next when no other wire
/// feeds that one: its queue then sees the same packets at the same times,
/// whether they are handed on now or when they arrive.
pub(crate) fn journey(
    layout: &Layout,
    direction: Direction,
    routes: u32,
    reorders: impl Fn(u32) -> bool,
) -> Journey {
    let mut journey = Journey::default();
    let mut after: Option<&Hop> = None;
    // From the far end, because where a chain ends is known there.
    let travelled: Box<dyn Iterator<Item = &Hop>> = match direction {
        Direction::Downlink => Box::new(layout.hops.iter().rev()),
        Direction::Uplink => Box::new(layout.hops.iter()),
    };
    for hop in travelled {
        journey.steps.push(match *hop {
            Hop::Wifi { element } => Step::Wifi {
                element: element as u32,
            },
            Hop::Agent {
                first_instance,
                at_host,
                ..
            } => Step::Agent {
                first_instance,
                at_host: at_host.map(|group| group as u32),
            },
            Hop::Wire {
                element,
                first_link,
                stride,
                rank,
            } => {
                let link = first_link[direction.index()];
                let chained = match after {
                    Some(Hop::Wire {
                        stride: next_stride, ..
                    }) => (routes == 1 || stride == 0 || *next_stride == 1) && !reorders(link),
                    _ => false,
                };
                let first = journey.wires.len() as u32;
                journey.wires.push(Wire {
                    link,
                    stride,
                    element: element as u32,
                });
                match journey.steps.last() {
                    Some(&Step::Wires { end, ring, .. }) if chained => Step::Wires { first, end, ring },
                    _ => Step::Wires {
                        first,
                        end: first,
                        ring: layout.shared_ring(rank, direction),
                    },
                }
            }
        });
        after = Some(hop);
    }
    journey.turn();
    journey
}

impl Journey {
    /// Puts a journey noted from its end into the order of travel.
    fn turn(&mut self) {
        let last = self.wires.len() as u32;
        self.steps.reverse();
        self.wires.reverse();
        for step in &mut self.steps {
            if let Step::Wires { first, end, .. } = step {
                (*first, *end) = (last - 1 - *first, last - *end);
            }
        }
    }
}
