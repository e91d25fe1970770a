//! The same packets through the BPF program and the user-space agent `divacks`:
//! byte for byte the same packets come out, on IPv4 and IPv6, on TUN and on
//! Ethernet.

mod support;

use std::time::Duration;

use etherparse::{IpNumber, Ipv6RawExtHeader};
use lasthop_agent::{Agent, Divacks, DivacksConfig, DivacksMode, FlowKey, Frame, Outbox};
use lasthop_ebpf::{Divack, DivackSettings};
use lasthop_tcp::{Flags, SackBlocks, Segment, Seq, Timestamps};
use lasthop_units::{Direction, Span, Stream, Time};
use support::device::{PacketSocket, Tun};
use support::netns::{Namespace, pair};

/// Both implementations with the same settings.
struct Both {
    divack: Divack,
    agent: Divacks,
}

impl Both {
    fn new(namespace: &Namespace, interface: &str, config: DivacksConfig) -> Self {
        let settings = DivackSettings {
            count: config.count,
            max_count: (config.mode == DivacksMode::Controlled).then_some(config.max_count),
            immediate_within: (!config.divide_delayed_acks)
                .then(|| Duration::from_nanos(config.immediate_within.as_ns())),
        };
        let divack = Divack::attach(Some(namespace.fd()), namespace.ifindex(interface), settings);
        Self {
            divack: divack.expect("divack attaches"),
            agent: Divacks::new(config),
        }
    }

    /// What the agent lets out for a packet.
    fn agent(&mut self, direction: Direction, packet: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Outbox::default();
        self.agent
            .on_packet(Time::ZERO, direction, Frame::new(packet.to_vec()), &mut out);
        out.packets
            .into_iter()
            .map(|(_, frame)| frame.into_bytes())
            .collect()
    }

    fn counts_agree(&self) {
        let kernel = self.divack.counters().expect("counters");
        let agent = Agent::<Frame>::counters(&self.agent);
        let count = |name| {
            agent
                .iter()
                .find(|counter| counter.name == name)
                .expect("a counter")
                .value
        };
        assert_eq!(kernel.divided_acks, count("divided_acks"));
        assert_eq!(kernel.divisions, count("divisions"));
        assert_eq!(kernel.clone_errors, 0);
        assert!(kernel.divided_acks > 0, "something was divided");
    }
}

/// A receiver's packets, mostly ACKs that advance, with everything else that
/// may pass an interface mixed in. None is for an address of this machine.
struct Receiver {
    random: Stream,
    highest: [Seq; 4],
}

impl Receiver {
    fn new(seed: u64) -> Self {
        let random = Stream::new(seed, "receiver");
        Self {
            random,
            highest: [Seq(0), Seq(u32::MAX - 5000), Seq(77), Seq(1 << 31)],
        }
    }

    fn flow(index: usize) -> FlowKey {
        let (source, destination) = if index < 2 {
            ("192.0.2.2", "192.0.2.1")
        } else {
            ("2001:db8::2", "2001:db8::1")
        };
        FlowKey {
            source: source.parse().expect("an address"),
            source_port: 5000 + index as u16,
            destination: destination.parse().expect("an address"),
            destination_port: 80,
        }
    }

    fn packet(&mut self) -> Vec<u8> {
        let index = self.random.below(4) as usize;
        let random = &mut self.random;
        let advance = match random.below(12) {
            0 => 0,
            1 => -(random.below(3000).cast_signed()),
            2 => 1 + random.below(5).cast_signed(),
            3 => 1 + random.below(i32::MAX as u32).cast_signed(),
            _ => 1448 * (1 + random.below(3).cast_signed()),
        };
        let ack = Seq(self.highest[index].0.wrapping_add_signed(advance));
        let flags = match random.below(40) {
            0 => Flags::SYN,
            1 => Flags::SYN | Flags::ACK,
            2 => Flags::FIN | Flags::ACK,
            3 => Flags::RST,
            4 => Flags::RST | Flags::ACK,
            5 => Flags::NONE,
            6 => Flags::PSH | Flags::ACK,
            _ => Flags::ACK,
        };
        let mut sack = SackBlocks::default();
        if random.chance(0.1) {
            sack.push(ack.add(1448), ack.add(2896));
        }
        let segment = Segment {
            seq: Seq(random.below(1 << 20)),
            ack,
            flags,
            window: random.below(65536) as u16,
            payload_bytes: if random.chance(0.1) {
                1 + random.below(100)
            } else {
                0
            },
            timestamps: random.chance(0.5).then_some(Timestamps { value: 5, echo: 6 }),
            sack,
            ..Segment::default()
        };
        if advance > 0 {
            self.highest[index] = ack;
        }
        let payload = vec![9; segment.payload_bytes as usize];
        let frame = Frame::from_segment(Self::flow(index), &segment, &payload).expect("a frame");
        self.disguised(frame.into_bytes())
    }

    /// Now and then, what has to pass untouched or takes another way through
    /// the parser: a fragment, IPv4 options, IPv6 extension headers, UDP.
    fn disguised(&mut self, mut packet: Vec<u8>) -> Vec<u8> {
        let kind = self.random.below(40);
        match (packet[0] >> 4, kind) {
            (4, 0) => packet[6] = 0x20,
            (4, 1) => packet[7] = 3,
            (4, 2) => packet[9] = IpNumber::UDP.0,
            (4, 3..6) => {
                packet[0] = 0x46;
                let total = packet.len() as u16 + 4;
                packet[2..4].copy_from_slice(&total.to_be_bytes());
                packet.splice(20..20, [1, 1, 1, 0]);
            }
            (4, 6) => packet[0] = 0x43,
            (4, 7) => packet[32] = 0xf0,
            (6, 0) => {
                packet = with_extension(&packet, IpNumber::IPV6_FRAGMENTATION_HEADER, [0, 1, 0, 0, 0, 7]);
            }
            (6, 1) => {
                packet = with_extension(&packet, IpNumber::IPV6_FRAGMENTATION_HEADER, [0, 0, 0, 0, 0, 7]);
            }
            (6, 2..5) => {
                packet = with_extension(&packet, IpNumber::IPV6_DESTINATION_OPTIONS, [1, 4, 0, 0, 0, 0]);
            }
            (6, 5) => packet = with_extension(&packet, IpNumber::IPV6_HEADER_HOP_BY_HOP, [1, 4, 0, 0, 0, 0]),
            (6, 6) => packet[6] = IpNumber::UDP.0,
            _ => {}
        }
        packet
    }
}

/// The IPv6 packet with an extension header of 8 bytes put in.
fn with_extension(packet: &[u8], number: IpNumber, content: [u8; 6]) -> Vec<u8> {
    let header = Ipv6RawExtHeader::new_raw(IpNumber(packet[6]), &content).expect("6 bytes fit");
    let mut longer = packet[..40].to_vec();
    longer[6] = number.0;
    longer[4..6].copy_from_slice(&(packet.len() as u16 - 40 + 8).to_be_bytes());
    longer.extend_from_slice(&header.to_bytes());
    longer.extend_from_slice(&packet[40..]);
    longer
}

/// The settings to compare under.
fn settings() -> [DivacksConfig; 3] {
    let brute_force = DivacksConfig {
        count: 12,
        divide_delayed_acks: true,
        ..DivacksConfig::default()
    };
    [
        DivacksConfig {
            count: 64,
            ..brute_force
        },
        DivacksConfig {
            mode: DivacksMode::Controlled,
            max_count: 100,
            ..brute_force
        },
        brute_force,
    ]
}

#[test]
fn on_a_tun_device() {
    if support::skipped("on_a_tun_device") {
        return;
    }
    for (seed, config) in (0..).zip(settings()) {
        let namespace = Namespace::new();
        let tun = namespace.run(|| Tun::new("tun0"));
        namespace.ip("link set tun0 up");
        let interface = namespace.ifindex("tun0");
        let out = namespace.run(|| PacketSocket::new(interface));
        let mut both = Both::new(&namespace, "tun0", config);
        let mut receiver = Receiver::new(seed);
        tun.drain();
        for count in 0..3000 {
            let packet = receiver.packet();
            out.send(&packet);
            let kernel: Vec<_> = tun
                .drain()
                .into_iter()
                .filter(|bytes| !is_icmpv6(bytes))
                .collect();
            let agent = both.agent(Direction::Uplink, &packet);
            assert_eq!(kernel, agent, "seed {seed}, packet {count}: {packet:x?}");
        }
        both.counts_agree();
    }
}

#[test]
fn on_ethernet() {
    if support::skipped("on_ethernet") {
        return;
    }
    for (seed, config) in (10..).zip(settings()) {
        let (far, near) = pair();
        let (at_far, at_near) = (far.ifindex("eth"), near.ifindex("eth"));
        let capture = far.run(|| PacketSocket::new(at_far));
        let out = near.run(|| PacketSocket::new(at_near));
        let mut both = Both::new(&near, "eth", config);
        let mut receiver = Receiver::new(seed);
        let mut expected = Vec::new();
        // What a fast link reorders is compared in order of bytes, in batches
        // that fit into its queue.
        for _ in 0..120 {
            for _ in 0..5 {
                let packet = receiver.packet();
                out.send(&packet);
                expected.extend(both.agent(Direction::Uplink, &packet));
            }
            let mut arrived = Vec::new();
            for _ in 0..1000 {
                arrived.extend(capture.arrived().into_iter().filter(|bytes| !is_icmpv6(bytes)));
                if arrived.len() >= expected.len() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            arrived.sort();
            expected.sort();
            assert_eq!(arrived, std::mem::take(&mut expected), "seed {seed}");
        }
        both.counts_agree();
    }
}

/// Whether it is the kernel's own neighbour discovery.
fn is_icmpv6(packet: &[u8]) -> bool {
    packet[0] >> 4 == 6
        && (packet[6] == IpNumber::IPV6_ICMP.0 || (packet[6] == 0 && packet[40] == IpNumber::IPV6_ICMP.0))
}

#[test]
fn delayed_acks_are_told_from_immediate_ones() {
    if support::skipped("delayed_acks_are_told_from_immediate_ones") {
        return;
    }
    let ack = |index, number| {
        let segment = Segment {
            ack: Seq(number),
            flags: Flags::ACK,
            ..Segment::default()
        };
        Frame::from_segment(Receiver::flow(index), &segment, &[])
            .expect("a frame")
            .into_bytes()
    };
    let data = |index: usize| {
        let segment = Segment {
            flags: Flags::ACK,
            payload_bytes: 100,
            ..Segment::default()
        };
        let flow = Receiver::flow(index).reverse();
        Frame::from_segment(flow, &segment, &[1; 100])
            .expect("a frame")
            .into_bytes()
    };
    // The agent's clock stands still; for the kernel's the first span is never
    // over and the second always.
    for (span, divided) in [(Span::from_secs(3600), true), (Span::from_ns(1), false)] {
        let namespace = Namespace::new();
        let tun = namespace.run(|| Tun::new("tun0"));
        namespace.ip("link set tun0 up");
        let interface = namespace.ifindex("tun0");
        let out = namespace.run(|| PacketSocket::new(interface));
        let config = DivacksConfig {
            count: 3,
            immediate_within: span,
            ..DivacksConfig::default()
        };
        let mut both = Both::new(&namespace, "tun0", config);
        let mut pass = |packet: &[u8]| {
            tun.drain();
            out.send(packet);
            let kernel: Vec<_> = tun
                .drain()
                .into_iter()
                .filter(|bytes| !is_icmpv6(bytes))
                .collect();
            (kernel, both.agent(Direction::Uplink, packet))
        };
        for index in [0, 2] {
            assert_eq!(pass(&ack(index, 1000)).0.len(), 1, "the first");
            let (kernel, agent) = pass(&ack(index, 2000));
            assert_eq!(kernel.len(), 1, "no data was seen");
            assert_eq!(kernel, agent);
        }
        for index in [0, 2] {
            tun.inject(&data(index));
            both.agent(Direction::Downlink, &data(index));
        }
        for index in [0, 2] {
            tun.drain();
            out.send(&ack(index, 3000));
            let kernel: Vec<_> = tun
                .drain()
                .into_iter()
                .filter(|bytes| !is_icmpv6(bytes))
                .collect();
            assert_eq!(kernel.len(), if divided { 4 } else { 1 }, "{span:?}");
            if divided {
                assert_eq!(kernel, both.agent(Direction::Uplink, &ack(index, 3000)));
            }
        }
    }
}
