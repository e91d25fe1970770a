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
    /// Wires.
    Wires(Chain),
    /// The Wi-Fi medium.
    Wifi { element: u32 },
    /// An agent.
    Agent {
        first_instance: u32,
        at_host: Option<u32>,
    },
    /// The host at the end.
    Host,
}

/// The wires `first..end`, evaluated in one go, and the ring which the instances
/// of the last share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) ring: u32,
}

/// What a packet meets where a wire ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// The host at the end.
    Arrives,
    /// More wires.
    Passes(Chain),
    /// Something else: the step with this index.
    Meets(u32),
}

/// A wire in one direction: the link of the first route, and how far apart those
/// of neighbouring routes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire {
    pub(crate) link: u32,
    pub(crate) stride: u32,
    pub(crate) element: u32,
}

/// The journey in one direction; behind its last step stands the host.
#[derive(Debug, Default)]
pub(crate) struct Journey {
    steps: Vec<Step>,
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
    /// those of single links come after.
    pub(crate) const fn shared_ring(rank: u32, direction: Direction) -> u32 {
        2 * rank + direction.index() as u32
    }

    /// How many rings there can be.
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

/// The journeys in both directions, and the wires of both.
pub(crate) fn journeys(
    layout: &Layout,
    routes: u32,
    reorders: impl Fn(u32) -> bool,
) -> ([Journey; 2], Vec<Wire>) {
    let mut wires = Vec::new();
    let journeys = Direction::BOTH.map(|direction| {
        let first = wires.len();
        let mut journey = journey(layout, direction, routes, &reorders, &mut wires);
        journey.turn(&mut wires, first);
        journey
    });
    (journeys, wires)
}

/// The journey in `direction`, noted from its end. A wire is chained to the next when no other wire
/// feeds that one: its queue then sees the same packets at the same times,
/// whether they are handed on now or when they arrive.
fn journey(
    layout: &Layout,
    direction: Direction,
    routes: u32,
    reorders: impl Fn(u32) -> bool,
    wires: &mut Vec<Wire>,
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
                let first = wires.len() as u32;
                wires.push(Wire {
                    link,
                    stride,
                    element: element as u32,
                });
                Step::Wires(match journey.steps.last() {
                    Some(&Step::Wires(Chain { end, ring, .. })) if chained => Chain { first, end, ring },
                    _ => Chain {
                        first,
                        end: first,
                        ring: Layout::shared_ring(rank, direction),
                    },
                })
            }
        });
        after = Some(hop);
    }
    journey
}

impl Journey {
    /// The step with this index.
    #[inline]
    pub(crate) fn step(&self, index: usize) -> Step {
        self.steps.get(index).copied().unwrap_or(Step::Host)
    }

    /// What is met at the step with this index.
    pub(crate) fn then(&self, index: u32) -> Then {
        match self.step(index as usize) {
            Step::Host => Then::Arrives,
            Step::Wires(chain) => Then::Passes(chain),
            Step::Wifi { .. } | Step::Agent { .. } => Then::Meets(index),
        }
    }

    /// How many steps there are before the host.
    pub(crate) const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Puts a journey noted from its end, with its wires from `first_wire` on,
    /// into the order of travel.
    fn turn(&mut self, wires: &mut [Wire], first_wire: usize) {
        self.steps.reverse();
        wires[first_wire..].reverse();
        let turned = (first_wire + wires.len()) as u32;
        for step in &mut self.steps {
            if let Step::Wires(chain) = step {
                (chain.first, chain.end) = (turned - 1 - chain.first, turned - chain.end);
            }
        }
    }
}
