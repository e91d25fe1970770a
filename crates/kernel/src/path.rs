//! The path of a scenario under the wall clock: the same network object as in
//! the simulator, fed with real packets.

use lasthop_agent::Frame;
use lasthop_network::{Event, Network};
use lasthop_path::QueuedFrames;
use lasthop_units::{Direction, Time};

use crate::driver::{Delivery, Forwarder};
use crate::recorder::Recorder;
use crate::routed::{RoutedFrame, Routes, Way};

/// A network with the routes of its hosts.
pub(crate) struct WorldPath {
    pub(crate) network: Network<RoutedFrame>,
    pub(crate) routes: Routes,
    pub(crate) recorder: Recorder,
    /// Packets no path leads to.
    pub(crate) unroutable: u64,
    /// Wire bytes delivered, by direction.
    pub(crate) delivered_bytes: [u64; 2],
}

impl WorldPath {
    pub(crate) fn new(network: Network<RoutedFrame>, routes: Routes, recorder: Recorder) -> Self {
        Self {
            network,
            routes,
            recorder,
            unroutable: 0,
            delivered_bytes: [0; 2],
        }
    }

    /// Takes a station's radio down or up on command.
    pub(crate) fn set_radio(&mut self, now: Time, station: u32, up: bool, queued: QueuedFrames) {
        self.network
            .set_radio(now, station, up, queued, &mut self.recorder);
    }
}

impl Forwarder for WorldPath {
    type Packet = Frame;

    fn inject(&mut self, now: Time, from: usize, frame: Frame) {
        let Some(Way { route, direction }) = self.routes.way(from, &frame) else {
            self.unroutable += 1;
            return;
        };
        let packet = RoutedFrame { frame, route };
        self.recorder.sent(now, direction, &packet);
        self.network.inject(now, direction, packet, &mut self.recorder);
    }

    fn next_deadline(&self) -> Time {
        self.network.next_deadline()
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Delivery<Frame>>) {
        while let Some(event) = self.network.next(now, &mut self.recorder) {
            let Event::Delivered {
                at,
                direction,
                packet,
            } = event
            else {
                continue;
            };
            self.recorder.received(at, direction, &packet);
            self.delivered_bytes[direction.index()] += packet.frame.bytes().len() as u64;
            let host = self.routes.destination(packet.route, direction);
            out.push(Delivery {
                due: at,
                host,
                packet: packet.frame,
            });
        }
    }
}

/// The direction in which packets leave a host of this side.
pub(crate) const fn sends(side: lasthop_scenario::spec::Side) -> Direction {
    match side {
        lasthop_scenario::spec::Side::Server => Direction::Downlink,
        lasthop_scenario::spec::Side::Client => Direction::Uplink,
    }
}
