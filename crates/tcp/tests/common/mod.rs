//! A small dumbbell: one flow over access link, bottleneck, access link, as the
//! ns-2 oracle's. Enough to hold the endpoints to its traces.
#![allow(dead_code)]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use lasthop_tcp::{Config, Endpoint, Role, Segment, Seq};
use lasthop_units::{BitRate, Span, Stream, Time};

/// One direction of a wire.
pub struct Wire {
    rate: BitRate,
    delay: Span,
    limit: usize,
    free_at: Time,
    departures: VecDeque<Time>,
}

impl Wire {
    pub fn new(mbit: u64, delay: Span, limit: usize) -> Self {
        let rate = BitRate::from_bps(mbit * 1_000_000);
        Self {
            rate,
            delay,
            limit,
            free_at: Time::ZERO,
            departures: VecDeque::new(),
        }
    }

    /// Arrival at the far end, or `None` when the queue is full.
    pub fn carry(&mut self, now: Time, bytes: u32) -> Option<Time> {
        // A packet that arrives at the very end of another's transmission still
        // finds it there: ns-2 handles the arrival, scheduled earlier, first.
        while self.departures.front().is_some_and(|&at| at < now) {
            self.departures.pop_front();
        }
        if self.departures.len() >= self.limit {
            return None;
        }
        self.free_at = self.free_at.max(now) + self.rate.tx_time(u64::from(bytes));
        if self.limit < usize::MAX {
            self.departures.push_back(self.free_at);
        }
        Some(self.free_at + self.delay)
    }
}

/// Losses after the bottleneck.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    /// Packets dropped by their number on the link, SYN = 0.
    pub list: Vec<u64>,
    /// Probability of losing any packet.
    pub probability: f64,
}

/// What to run.
pub struct Setup {
    pub sender: Config,
    pub receiver: Config,
    pub seconds: u64,
    pub queue: usize,
    pub down: Losses,
    pub up: Losses,
    pub seed: u64,
    pub bytes: u64,
    pub isn: u32,
    /// Write the trace down until this time.
    pub trace_until: Time,
}

/// One line of the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The sender sent the packet of that number.
    Send(u64),
    /// An ACK up to that packet reached it.
    Ack(u64),
    /// cwnd in segments after that.
    Cwnd(f64),
}

/// The end of a run.
pub struct Outcome {
    pub server: Endpoint,
    pub client: Endpoint,
    pub trace: Vec<(Time, Event)>,
    pub queue_drops: u64,
    pub events: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Router(usize),
    FarRouter(usize),
    Client(usize),
    BackFarRouter(usize),
    BackRouter(usize),
    Server(usize),
    ServerTimer,
    ClientTimer,
}

struct World {
    setup: Setup,
    server: Endpoint,
    client: Endpoint,
    heap: BinaryHeap<Reverse<(Time, u64, Happening)>>,
    order: u64,
    packets: Vec<(Segment, u32)>,
    free: Vec<usize>,
    wires: [Wire; 6],
    passed: [u64; 2],
    streams: [Stream; 2],
    trace: Vec<(Time, Event)>,
    queue_drops: u64,
    timers: [Time; 2],
    cwnd: f64,
}

/// Runs one flow from the server to the client.
pub fn run(setup: Setup) -> Outcome {
    let access = || Wire::new(100, Span::from_ms(1), usize::MAX);
    let queue = setup.queue;
    let server = Endpoint::new(Arc::new(setup.sender.clone()), Role::Active, setup.isn);
    let client = Endpoint::new(Arc::new(setup.receiver.clone()), Role::Passive, 77);
    let seed = setup.seed;
    let world = World {
        server,
        client,
        heap: BinaryHeap::new(),
        order: 0,
        packets: Vec::new(),
        free: Vec::new(),
        wires: [
            access(),
            Wire::new(10, Span::from_ms(50), queue),
            access(),
            access(),
            Wire::new(10, Span::from_ms(50), usize::MAX),
            access(),
        ],
        passed: [0; 2],
        streams: [
            Stream::new(seed, "wire/downlink"),
            Stream::new(seed, "wire/uplink"),
        ],
        trace: Vec::new(),
        queue_drops: 0,
        timers: [Time::MAX; 2],
        cwnd: 0.0,
        setup,
    };
    world.run()
}

impl World {
    fn run(mut self) -> Outcome {
        let end = Time::ZERO + Span::from_secs(self.setup.seconds);
        self.server.connect(Time::ZERO);
        let bytes = self.setup.bytes;
        self.server.send(Time::ZERO, bytes);
        self.flush_server(Time::ZERO);
        let mut events = 0;
        while let Some(Reverse((now, _, what))) = self.heap.pop() {
            if now >= end {
                break;
            }
            events += 1;
            self.step(now, &what);
        }
        Outcome {
            server: self.server,
            client: self.client,
            trace: self.trace,
            queue_drops: self.queue_drops,
            events,
        }
    }

    fn at(&mut self, time: Time, what: Happening) {
        self.order += 1;
        self.heap.push(Reverse((time, self.order, what)));
    }

    fn keep(&mut self, segment: Segment, bytes: u32) -> usize {
        if let Some(index) = self.free.pop() {
            self.packets[index] = (segment, bytes);
            return index;
        }
        self.packets.push((segment, bytes));
        self.packets.len() - 1
    }

    fn hop(&mut self, now: Time, wire: usize, index: usize, next: fn(usize) -> Happening) {
        let bytes = self.packets[index].1;
        let lossy = match wire {
            1 => Some((0, &self.setup.down)),
            4 => Some((1, &self.setup.up)),
            _ => None,
        };
        let Some(arrival) = self.wires[wire].carry(now, bytes) else {
            self.queue_drops += 1;
            self.free.push(index);
            return;
        };
        if let Some((way, losses)) = lossy {
            let number = self.passed[way];
            self.passed[way] += 1;
            let by_chance = self.streams[way].chance(losses.probability);
            if by_chance || losses.list.contains(&number) {
                self.free.push(index);
                return;
            }
        }
        self.at(arrival, next(index));
    }

    fn step(&mut self, now: Time, what: &Happening) {
        match *what {
            Happening::Router(index) => self.hop(now, 1, index, Happening::FarRouter),
            Happening::FarRouter(index) => self.hop(now, 2, index, Happening::Client),
            Happening::Client(index) => {
                let segment = self.packets[index].0;
                self.free.push(index);
                self.client.on_segment(now, &segment);
                self.flush_client(now);
            }
            Happening::BackFarRouter(index) => self.hop(now, 4, index, Happening::BackRouter),
            Happening::BackRouter(index) => self.hop(now, 5, index, Happening::Server),
            Happening::Server(index) => {
                let segment = self.packets[index].0;
                self.free.push(index);
                let packet = self.number(segment.ack.sub(1));
                self.note(now, Event::Ack(packet));
                self.server.on_segment(now, &segment);
                self.note_cwnd(now);
                self.flush_server(now);
            }
            // An entry that an earlier one has replaced.
            Happening::ServerTimer if now != self.timers[0] => {}
            Happening::ClientTimer if now != self.timers[1] => {}
            Happening::ServerTimer => {
                self.timers[0] = Time::MAX;
                self.server.on_deadline(now);
                self.note_cwnd(now);
                self.flush_server(now);
            }
            Happening::ClientTimer => {
                self.timers[1] = Time::MAX;
                self.client.on_deadline(now);
                self.flush_client(now);
            }
        }
    }

    /// ns-2's packet number of a sequence number: SYN 0, then one per segment.
    fn number(&self, seq: Seq) -> u64 {
        let offset = u64::from(seq.0.wrapping_sub(self.setup.isn));
        offset.div_ceil(u64::from(self.setup.sender.smss))
    }

    fn note(&mut self, now: Time, event: Event) {
        if now < self.setup.trace_until {
            self.trace.push((now, event));
        }
    }

    fn note_cwnd(&mut self, now: Time) {
        let cwnd = self.server.metrics().cwnd_bytes / f64::from(self.setup.sender.smss);
        if (cwnd - self.cwnd).abs() > 1e-9 {
            self.cwnd = cwnd;
            self.note(now, Event::Cwnd(cwnd));
        }
    }

    fn flush_server(&mut self, now: Time) {
        while let Some(segment) = self.server.poll_transmit(now) {
            let bytes = self.server.wire_bytes(&segment);
            if segment.payload_bytes > 0 || segment.flags.has(lasthop_tcp::Flags::SYN) {
                let packet = self.number(segment.seq);
                self.note(now, Event::Send(packet));
            }
            let index = self.keep(segment, bytes);
            self.hop(now, 0, index, Happening::Router);
        }
        let due = self.server.next_deadline();
        if due < self.timers[0] {
            self.timers[0] = due;
            self.at(due, Happening::ServerTimer);
        }
    }

    fn flush_client(&mut self, now: Time) {
        while let Some(segment) = self.client.poll_transmit(now) {
            let bytes = self.client.wire_bytes(&segment);
            let index = self.keep(segment, bytes);
            self.hop(now, 3, index, Happening::BackFarRouter);
        }
        let due = self.client.next_deadline();
        if due < self.timers[1] {
            self.timers[1] = due;
            self.at(due, Happening::ClientTimer);
        }
    }
}
