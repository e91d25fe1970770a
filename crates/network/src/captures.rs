//! What sniffers would have written: at the interfaces of the hosts, between a
//! host's stack and its agents, on both sides of the agents on the path.

use std::io::{self, Write};

use lasthop_record::CaptureWriter;
use lasthop_scenario::spec::{AgentAt, Place, Side, World};
use lasthop_units::{Direction, Time};

use crate::observer::Crossing;
use crate::packet_log::Logged;

/// Where a capture is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The interfaces of the hosts of a side.
    Interface(Side),
    /// Between the stacks of the hosts of a side and the agents there.
    Stack(Side),
    /// A side of the agents before an element.
    Element { element: usize, side: Side },
}

const fn side_name(side: Side) -> &'static str {
    match side {
        Side::Server => "server",
        Side::Client => "client",
    }
}

/// The side whose hosts send in this direction.
const fn sending_side(direction: Direction) -> Side {
    match direction {
        Direction::Downlink => Side::Server,
        Direction::Uplink => Side::Client,
    }
}

impl Point {
    fn name(self, world: &World) -> String {
        match self {
            Self::Interface(side) => side_name(side).to_owned(),
            Self::Stack(side) => format!("{}-stack", side_name(side)),
            Self::Element { element, side } => {
                format!("{}-{}-side", world.path[element].name, side_name(side))
            }
        }
    }

    fn all(world: &World) -> Vec<Self> {
        const SIDES: [Side; 2] = [Side::Server, Side::Client];
        let mut points = SIDES.map(Self::Interface).to_vec();
        for AgentAt { place, .. } in &world.agents {
            let further = match *place {
                Place::Host(group) => vec![Self::Stack(world.hosts[group].side)],
                Place::Before(element) => SIDES.map(|side| Self::Element { element, side }).to_vec(),
            };
            for point in further {
                if !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        points
    }
}

/// The captures of one run, one file each.
pub struct Captures {
    files: Vec<(Point, CaptureWriter<Box<dyn Write + Send>>)>,
    failure: Option<io::Error>,
}

impl std::fmt::Debug for Captures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let points: Vec<_> = self.files.iter().map(|(point, _)| point).collect();
        f.debug_struct("Captures")
            .field("points", &points)
            .finish_non_exhaustive()
    }
}

impl Captures {
    /// Captures at every point of `world`; `create` opens the output of each by
    /// its name: `server` and `client` for the interfaces, `client-stack` for
    /// what the stack behind a client's agents sends and gets,
    /// `NAME-server-side` and `NAME-client-side` for agents before the element
    /// of that name.
    ///
    /// # Errors
    /// When an output cannot be opened or written.
    pub fn create(
        world: &World,
        mut create: impl FnMut(&str) -> io::Result<Box<dyn Write + Send>>,
    ) -> io::Result<Self> {
        let file = |point: Point| {
            let name = point.name(world);
            Ok((point, CaptureWriter::new(create(&name)?, &name)?))
        };
        Ok(Self {
            files: Point::all(world)
                .into_iter()
                .map(file)
                .collect::<io::Result<_>>()?,
            failure: None,
        })
    }

    /// The stack of a host sent a packet; `guarded` when agents stand between
    /// it and the host's interface.
    pub fn sent<P: Logged>(&mut self, at: Time, direction: Direction, packet: &P, guarded: bool) {
        self.at_host(at, sending_side(direction), packet, guarded);
    }

    /// The stack of a host got a packet.
    pub fn received<P: Logged>(&mut self, at: Time, direction: Direction, packet: &P, guarded: bool) {
        self.at_host(at, sending_side(direction.reverse()), packet, guarded);
    }

    fn at_host<P: Logged>(&mut self, at: Time, side: Side, packet: &P, guarded: bool) {
        self.write(at, Point::Stack(side), packet);
        if !guarded {
            self.write(at, Point::Interface(side), packet);
        }
    }

    /// A packet went in to agents or came out of them.
    pub fn crossed<P: Logged>(&mut self, at: Time, crossing: Crossing, packet: &P) {
        let point = match crossing {
            Crossing::Interface(side) => Point::Interface(side),
            Crossing::Element { element, side } => Point::Element { element, side },
        };
        self.write(at, point, packet);
    }

    fn write<P: Logged>(&mut self, at: Time, point: Point, packet: &P) {
        let file = self.files.iter_mut().find(|(known, _)| *known == point);
        let Some((_, file)) = file else { return };
        let (bytes, original_bytes) = packet.captured();
        if let Err(error) = file.packet(at, &bytes, original_bytes) {
            self.failure.get_or_insert(error);
        }
    }

    /// Hands everything written on.
    ///
    /// # Errors
    /// The first failure of an output, while the run went on or now.
    pub fn finish(mut self) -> io::Result<()> {
        for (_, file) in &mut self.files {
            file.flush()?;
        }
        self.failure.map_or(Ok(()), Err)
    }
}
