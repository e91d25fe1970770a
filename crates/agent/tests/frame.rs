//! Frames: real packets are read right, changed right, and never cause a panic.

mod common;

use common::{Simulated, TestPacket, checksum_is_right, flow_v4, flow_v6};
use lasthop_agent::{Agent, AgentConfig, DivacksConfig, FlowKey, Frame, FrameError, Outbox, Packet};
use lasthop_tcp::{Flags, SackBlocks, Segment, Seq, Timestamps};
use lasthop_units::{Direction, Time};
use proptest::prelude::*;

fn segment() -> impl Strategy<Value = Segment> {
    let handshake = (any::<Option<u16>>(), prop::option::of(0..15u8), any::<bool>());
    (
        (any::<u32>(), any::<u32>(), any::<u16>(), any::<u8>(), 0..1461u32),
        prop::option::of((any::<u32>(), any::<u32>())),
        prop::collection::vec((any::<u32>(), any::<u32>()), 0..4),
        prop::option::of(handshake),
    )
        .prop_map(
            |((seq, ack, window, bits, payload_bytes), timestamps, blocks, handshake)| {
                let mut sack = SackBlocks::default();
                if handshake.is_none() {
                    for (left, right) in blocks {
                        sack.push(Seq(left), Seq(right));
                    }
                }
                let (mss, window_scale, sack_permitted) = handshake.unwrap_or_default();
                Segment {
                    seq: Seq(seq),
                    ack: Seq(ack),
                    window,
                    flags: Flags::from_bits(bits),
                    payload_bytes,
                    timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
                    sack,
                    mss,
                    window_scale,
                    sack_permitted,
                }
            },
        )
}

fn flow() -> impl Strategy<Value = FlowKey> {
    (any::<bool>(), 0..9u16).prop_map(|(v6, number)| if v6 { flow_v6(number) } else { flow_v4(number) })
}

/// Puts headers between the IPv6 header of `frame` and its TCP header.
fn with_extensions(frame: &Frame, first: u8, extensions: &[u8]) -> Frame {
    let mut bytes = frame.bytes().to_vec();
    let length = u16::from_be_bytes([bytes[4], bytes[5]]) + extensions.len() as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    bytes[6] = first;
    bytes.splice(40..40, extensions.iter().copied());
    Frame::new(bytes)
}

fn pure_ack(number: u32) -> Segment {
    common::ack(number)
}

fn v6_ack() -> Frame {
    Frame::carrying(flow_v6(0), pure_ack(5000))
}

proptest! {
    #[test]
    fn a_segment_survives_the_way_through_a_frame(segment in segment(), flow in flow()) {
        let frame = Frame::carrying(flow, segment);
        prop_assert_eq!(frame.segment(), Some(segment));
        prop_assert_eq!(frame.flow(), Some(flow));
        prop_assert_eq!(frame.tcp(), Simulated { flow, segment }.tcp());
        prop_assert_eq!(frame.is_data(), segment.payload_bytes > 0);
        prop_assert!(frame.payload().iter().all(|byte| *byte == 0x5a));
        prop_assert_eq!(frame.payload().len(), segment.payload_bytes as usize);
        if flow.source.is_ipv4() {
            prop_assert_eq!(frame.wire_bytes(), segment.ipv4_bytes());
        }
    }

    #[test]
    fn a_change_gives_the_packet_that_would_have_been_built(
        segment in segment(), flow in flow(), ack in any::<u32>(), window in any::<u16>(),
    ) {
        let mut frame = Frame::carrying(flow, segment);
        prop_assert!(checksum_is_right(frame.bytes()));
        frame.set_ack(Seq(ack));
        prop_assert!(checksum_is_right(frame.bytes()));
        frame.set_window(window);
        prop_assert_eq!(&frame, &Frame::carrying(flow, Segment { ack: Seq(ack), window, ..segment }));
        prop_assert_eq!(frame.tcp(), Frame::new(frame.bytes().to_vec()).tcp());
    }

    #[test]
    fn a_wrong_checksum_stays_wrong(segment in segment(), ack in any::<u32>(), error in 1u16..0xffff) {
        let right = Frame::carrying(flow_v4(0), segment);
        let mut bytes = right.bytes().to_vec();
        let sum = u16::from_be_bytes([bytes[36], bytes[37]]);
        bytes[36..38].copy_from_slice(&sum.wrapping_add(error).to_be_bytes());
        // 0x0000 and 0xffff are the same sum.
        prop_assume!(!matches!((sum, sum.wrapping_add(error)), (0, 0xffff) | (0xffff, 0)));
        let mut wrong = Frame::new(bytes);
        wrong.set_ack(Seq(ack));
        prop_assert!(!checksum_is_right(wrong.bytes()));
    }

    #[test]
    fn a_pending_checksum_is_left_to_the_device(segment in segment(), ack in any::<u32>()) {
        let whole = Frame::carrying(flow_v4(0), segment);
        let mut frame = Frame::with_pending_checksum(whole.bytes().to_vec());
        frame.set_ack(Seq(ack));
        prop_assert_eq!(frame.tcp().map(|tcp| tcp.ack), Some(Seq(ack)));
        prop_assert_eq!(&frame.bytes()[36..38], &whole.bytes()[36..38]);
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), version in 0..4u8) {
        let mut bytes = bytes;
        if let (Some(first), true) = (bytes.first_mut(), version < 2) {
            *first = if version == 0 { 0x45 } else { 0x60 };
        }
        survives(bytes);
    }

    #[test]
    fn no_damage_causes_a_panic(
        segment in segment(), flow in flow(), cut in any::<prop::sample::Index>(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = Frame::carrying(flow, segment).into_bytes();
        for (at, value) in hits {
            let at = at.index(bytes.len().min(100));
            bytes[at] = value;
        }
        let keep = cut.index(bytes.len() * 2).min(bytes.len());
        bytes.truncate(keep);
        survives(bytes);
    }

    #[test]
    fn fragments_and_other_protocols_pass_untouched(segment in segment(), flow in flow(), kind in 0..4) {
        let mut bytes = Frame::carrying(flow, segment).into_bytes();
        let frame = match (flow.source.is_ipv4(), kind) {
            (true, 0) => { bytes[6] = 0x20; Frame::new(bytes) }
            (true, 1) => { bytes[7] = 3; Frame::new(bytes) }
            (false, 0) => with_extensions(&Frame::new(bytes), 44, &[6, 0, 0, 1, 0, 0, 0, 1]),
            (false, 1) => with_extensions(&Frame::new(bytes), 44, &[6, 0, 0, 16, 0, 0, 0, 1]),
            (true, 2) => { bytes[9] = 1; Frame::new(bytes) }
            (false, 2) => { bytes[6] = 58; Frame::new(bytes) }
            (true, _) => { bytes[9] = 50; Frame::new(bytes) }
            (false, _) => { bytes[6] = 50; Frame::new(bytes) }
        };
        prop_assert_eq!((frame.flow(), frame.tcp(), frame.is_data()), (None, None, false));
        let mut changed = frame.clone();
        changed.set_ack(Seq(1));
        changed.set_window(1);
        prop_assert_eq!(&changed, &frame);
    }
}

/// Asks and changes everything, lets an agent do so, and checks that only TCP changes.
fn survives(bytes: Vec<u8>) {
    let frame = Frame::new(bytes);
    let _ = (
        frame.is_data(),
        frame.segment(),
        frame.payload(),
        frame.wire_bytes(),
    );
    let mut changed = frame.clone();
    changed.set_ack(Seq(0x0102_0304));
    changed.set_window(0x0506);
    assert_eq!(changed.bytes().len(), frame.bytes().len());
    if frame.tcp().is_none() {
        assert_eq!(changed, frame);
    }
    let config = DivacksConfig {
        divide_delayed_acks: true,
        ..DivacksConfig::default()
    };
    let mut agent: Box<dyn Agent<Frame>> = AgentConfig::Divacks(config).build();
    let mut out = Outbox::default();
    for direction in [Direction::Uplink, Direction::Downlink, Direction::Uplink] {
        agent.on_packet(Time::ZERO, direction, frame.clone(), &mut out);
    }
    assert!(
        out.packets.iter().all(|(_, packet)| *packet == frame),
        "the same packet is never new"
    );
}

#[test]
fn tcp_is_found_behind_ipv6_extension_headers() {
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination_options = [6, 0, 1, 4, 0, 0, 0, 0];
    let mut frame = with_extensions(&v6_ack(), 0, &[hop_by_hop, destination_options].concat());
    assert_eq!(frame.segment(), Some(pure_ack(5000)));
    frame.set_ack(Seq(4999));
    assert_eq!(frame.segment(), Some(pure_ack(4999)));
    assert!(checksum_is_right(frame.bytes()));
}

#[test]
fn a_whole_packet_with_a_fragment_header_is_no_fragment() {
    let atomic = with_extensions(&v6_ack(), 44, &[6, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(atomic.segment(), Some(pure_ack(5000)));
}

#[test]
fn an_authenticated_packet_is_not_for_changing() {
    let authentication = [6, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1];
    let frame = with_extensions(&v6_ack(), 51, &authentication);
    assert_eq!((frame.flow(), frame.tcp()), (None, None));
    let mut v4 = Frame::carrying(flow_v4(0), pure_ack(5000)).into_bytes();
    v4[9] = 51;
    v4[3] += authentication.len() as u8;
    v4.splice(20..20, authentication);
    assert_eq!(Frame::new(v4).tcp(), None);
}

#[test]
fn ipv4_options_and_trailing_bytes_do_not_hide_tcp() {
    let mut bytes = Frame::carrying(flow_v4(0), pure_ack(5000)).into_bytes();
    bytes[0] = 0x46;
    bytes[3] += 4;
    bytes.splice(20..20, [1, 1, 1, 0]);
    bytes.extend([0; 6]);
    let mut frame = Frame::new(bytes);
    assert_eq!(frame.segment(), Some(pure_ack(5000)));
    frame.set_ack(Seq(1));
    assert!(checksum_is_right(frame.bytes()));
}

#[test]
fn a_datagram_has_a_flow_and_may_be_data_but_is_not_tcp() {
    for payload in [&b"payload"[..], &[]] {
        let mut bytes = Vec::new();
        etherparse::PacketBuilder::ipv4([192, 0, 2, 1], [198, 51, 100, 7], 64)
            .udp(40_000, 80)
            .write(&mut bytes, payload)
            .unwrap();
        let frame = Frame::new(bytes);
        assert_eq!((frame.flow(), frame.tcp()), (Some(flow_v4(0)), None));
        assert_eq!(frame.is_data(), !payload.is_empty());
    }
}

#[test]
fn what_cannot_be_a_packet_is_refused_with_a_reason() {
    let segment = pure_ack(1);
    let mixed = FlowKey {
        destination: flow_v6(0).destination,
        ..flow_v4(0)
    };
    assert!(matches!(
        Frame::from_segment(mixed, &segment, &[]),
        Err(FrameError::MixedVersions(..))
    ));
    let short = Frame::from_segment(flow_v4(0), &segment, &[1]);
    assert!(matches!(
        short,
        Err(FrameError::PayloadLength {
            expected: 0,
            given: 1
        })
    ));
    let long = Segment {
        payload_bytes: 70_000,
        ..segment
    };
    assert!(matches!(
        Frame::from_segment(flow_v4(0), &long, &vec![0; 70_000]),
        Err(FrameError::TooLong(_))
    ));
    let mut sack = SackBlocks::default();
    (0..4).for_each(|block| sack.push(Seq(block), Seq(block + 1)));
    let crowded = Segment {
        sack,
        timestamps: Some(Timestamps { value: 1, echo: 2 }),
        ..segment
    };
    assert!(matches!(
        Frame::from_segment(flow_v4(0), &crowded, &[]),
        Err(FrameError::OptionsTooLong(48))
    ));
}
