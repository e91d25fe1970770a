//! A host without a kernel: a simulated endpoint behind one end of a wire,
//! whose other end is a real host's device.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use lasthop_agent::{FlowKey, Frame, Packet};
use lasthop_kernel::{Delivery, Forwarder};
use lasthop_path::{Link, PacketInfo, WiredConfig};
use lasthop_tcp::{Config, Endpoint, Flags, Role, Segment};
use lasthop_units::{Direction, Span, Time};

/// What was seen in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub segments: u64,
    pub dropped: u64,
    pub with_timestamps: u64,
    pub with_sack: u64,
    pub zero_windows: u64,
    /// The window scale its SYN offered.
    pub scale: Option<u8>,
}

impl Seen {
    fn note(&mut self, segment: &Segment) {
        self.segments += 1;
        self.with_timestamps += u64::from(segment.timestamps.is_some());
        self.with_sack += u64::from(!segment.sack.is_empty());
        let announces = segment.flags.has(Flags::ACK) && !segment.flags.has(Flags::RST);
        self.zero_windows += u64::from(announces && segment.window == 0);
        self.scale = self.scale.or(segment.window_scale);
    }
}

/// An application that reads only so much, so often.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub bytes: u64,
    pub every: Span,
}

/// The wire, the endpoint at its end, and the endpoint's application.
///
/// Downlink leads to the real host.
pub struct SimPeer {
    flow: Option<FlowKey>,
    endpoint: Endpoint,
    links: [Link; 2],
    on_the_way: [VecDeque<(Time, Frame)>; 2],
    pub seen: [Seen; 2],
    /// The bytes it sends, by stream offset; handed over when `answers_after` is seen.
    outgoing: Vec<u8>,
    waits_for_request: bool,
    /// The bytes that arrived, by stream offset; holes are zero until filled.
    pub incoming: Vec<u8>,
    /// Sequence number of the peer's SYN.
    peer_syn: Option<lasthop_tcp::Seq>,
    isn: lasthop_tcp::Seq,
    reader: Option<Reader>,
    next_read: Time,
    starts: Option<Time>,
    pub finished: bool,
}

const ISN: u32 = 0xffff_8000;

impl SimPeer {
    /// Answers the first request with `response`, then closes.
    pub fn server(config: Config, wire: &WiredConfig, response: Vec<u8>, seed: u64) -> Self {
        Self::new(config, Role::Passive, wire, response, seed)
    }

    /// Sends `request` to `flow`'s destination and reads until the peer closes.
    pub fn client(
        config: Config,
        wire: &WiredConfig,
        flow: FlowKey,
        request: Vec<u8>,
        reader: Option<Reader>,
        seed: u64,
    ) -> Self {
        let config = Config {
            auto_read: reader.is_none(),
            ..config
        };
        Self {
            flow: Some(flow),
            reader,
            waits_for_request: false,
            starts: Some(Time::ZERO + Span::from_ms(50)),
            ..Self::new(config, Role::Active, wire, request, seed)
        }
    }

    fn new(config: Config, role: Role, wire: &WiredConfig, outgoing: Vec<u8>, seed: u64) -> Self {
        Self {
            flow: None,
            // Sequence numbers wrap on the way.
            endpoint: Endpoint::new(Arc::new(config), role, ISN),
            links: [
                Link::new(&wire.downlink, seed, "wire/downlink"),
                Link::new(&wire.uplink, seed, "wire/uplink"),
            ],
            on_the_way: [VecDeque::new(), VecDeque::new()],
            seen: [Seen::default(); 2],
            outgoing,
            waits_for_request: true,
            incoming: Vec::new(),
            peer_syn: None,
            isn: lasthop_tcp::Seq(ISN),
            reader: None,
            next_read: Time::MAX,
            starts: None,
            finished: false,
        }
    }

    /// The endpoint, to look at.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn carry(&mut self, now: Time, direction: Direction, frame: Frame) {
        let way = direction.index();
        let info = PacketInfo {
            wire_bytes: frame.wire_bytes(),
            is_data: frame.is_data(),
        };
        match self.links[way].transit(now, info) {
            Ok(due) => self.on_the_way[way].push_back((due, frame)),
            Err(_) => self.seen[way].dropped += 1,
        }
    }

    fn take(&mut self, now: Time, frame: &Frame) {
        let (Some(segment), Some(flow)) = (frame.segment(), frame.flow()) else {
            return;
        };
        if self.flow.is_none() && segment.flags.has(Flags::SYN) {
            self.flow = Some(flow.reverse());
        }
        if self.flow != Some(flow.reverse()) {
            return;
        }
        if segment.flags.has(Flags::SYN) {
            self.peer_syn = Some(segment.seq);
        }
        self.keep(&segment, frame.payload());
        self.endpoint.on_segment(now, &segment);
        if self.waits_for_request && self.request_is_whole() {
            self.waits_for_request = false;
            self.endpoint.send(now, self.outgoing.len() as u64);
            self.endpoint.close(now);
        }
        if self.reader.is_some() && self.next_read == Time::MAX {
            self.next_read = now;
        }
        self.look_at_the_end(now);
    }

    /// Puts the payload where it belongs in the stream, in order or not.
    fn keep(&mut self, segment: &Segment, payload: &[u8]) {
        let (Some(syn), false) = (self.peer_syn, payload.is_empty()) else {
            return;
        };
        // The stream is shorter than 2^31 bytes.
        let Ok(start) = usize::try_from(segment.seq.since(syn) - 1) else {
            return;
        };
        let end = start + payload.len();
        if self.incoming.len() < end {
            self.incoming.resize(end, 0);
        }
        self.incoming[start..end].copy_from_slice(payload);
    }

    fn request_is_whole(&self) -> bool {
        let arrived = &self.incoming[..(self.endpoint.received_bytes() as usize).min(self.incoming.len())];
        arrived.windows(4).any(|window| window == b"\r\n\r\n")
    }

    fn look_at_the_end(&mut self, now: Time) {
        if self.endpoint.peer_closed() && self.endpoint.readable_bytes() == 0 && !self.finished {
            self.finished = true;
            self.endpoint.close(now);
        }
    }

    fn act(&mut self, now: Time) {
        if self.starts.is_some_and(|at| now >= at) {
            self.starts = None;
            self.endpoint.connect(now);
            self.endpoint.send(now, self.outgoing.len() as u64);
        }
        if let Some(reader) = self.reader
            && now >= self.next_read
        {
            self.endpoint.consume(now, reader.bytes);
            self.next_read = now + reader.every;
            self.look_at_the_end(now);
        }
        if now >= self.endpoint.next_deadline() {
            self.endpoint.on_deadline(now);
        }
        self.send(now);
    }

    fn send(&mut self, now: Time) {
        let Some(flow) = self.flow else { return };
        while let Some(segment) = self.endpoint.poll_transmit(now) {
            let payload = match segment.payload_bytes as usize {
                0 => &[][..],
                bytes => {
                    let start = segment.seq.since(self.isn) as usize - 1;
                    &self.outgoing[start..start + bytes]
                }
            };
            let frame = Frame::from_segment(flow, &segment, payload).expect("a segment fits a frame");
            self.seen[Direction::Downlink.index()].note(&segment);
            self.carry(now, Direction::Downlink, frame);
        }
    }

    fn own_deadline(&self) -> Time {
        self.starts
            .unwrap_or(Time::MAX)
            .min(self.next_read)
            .min(self.endpoint.next_deadline())
    }
}

impl Forwarder for SimPeer {
    type Packet = Frame;

    fn inject(&mut self, now: Time, _from: usize, frame: Frame) {
        if let Some(segment) = frame.segment() {
            self.seen[Direction::Uplink.index()].note(&segment);
            self.carry(now, Direction::Uplink, frame);
        }
    }

    fn next_deadline(&self) -> Time {
        let heads = self.on_the_way.iter().filter_map(|queue| queue.front());
        heads
            .map(|(due, _)| *due)
            .min()
            .unwrap_or(Time::MAX)
            .min(self.own_deadline())
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Delivery<Frame>>) {
        loop {
            let due = self.next_deadline();
            if due > now {
                return;
            }
            let [down, up] = &mut self.on_the_way;
            if down.front().is_some_and(|(at, _)| *at == due) {
                let packet = down.pop_front().map(|(_, packet)| packet);
                out.extend(packet.map(|packet| Delivery { due, host: 0, packet }));
            } else if up.front().is_some_and(|(at, _)| *at == due) {
                if let Some((_, frame)) = up.pop_front() {
                    self.take(due, &frame);
                    self.send(due);
                }
            } else {
                self.act(due);
            }
        }
    }
}

/// The address and port of the simulated host.
pub const PEER: (IpAddr, u16) = (IpAddr::V4(Ipv4Addr::new(10, 77, 2, 1)), 80);
