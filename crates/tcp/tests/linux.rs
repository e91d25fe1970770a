//! What Linux does that the standards leave open: acknowledging at once while
//! the announced window grows, and forward acknowledgement.

use std::sync::Arc;

use lasthop_tcp::{
    AutoTuning, Config, Endpoint, Flags, LossDetection, Personality, ReceiveBuffer, Role, SackBlocks,
    Segment, Seq,
};
use lasthop_units::{Span, Time};

const SMSS: u32 = 1448;
const PEER: u32 = 5000;
const ISN: u32 = 100;

fn linux_2_6() -> Config {
    let mut config = Personality::by_name("linux-2.6")
        .expect("a known personality")
        .config;
    config.timestamps = false;
    config
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// A client with `tcp_rmem[1]` bytes of buffer, connected.
fn client(default: u64) -> Endpoint {
    let mut config = linux_2_6();
    let ReceiveBuffer::Auto(usual) = config.receive_buffer else {
        panic!("Linux tunes its buffer")
    };
    config.receive_buffer = ReceiveBuffer::Auto(AutoTuning {
        default,
        max: 25_952_256,
        clamp: false,
        ..usual
    });
    let mut end = Endpoint::new(Arc::new(config), Role::Active, ISN);
    end.connect(Time::ZERO);
    end.poll_transmit(Time::ZERO).expect("a SYN");
    let syn_ack = Segment {
        seq: Seq(PEER),
        ack: Seq(ISN + 1),
        flags: Flags::SYN | Flags::ACK,
        window: 60_000,
        mss: Some(1460),
        window_scale: Some(2),
        sack_permitted: true,
        ..Segment::default()
    };
    end.on_segment(at(1), &syn_ack);
    while end.poll_transmit(at(1)).is_some() {}
    end
}

/// How many of `count` segments in a row are answered before the next arrives.
fn answered_at_once(end: &mut Endpoint, count: u32) -> Vec<bool> {
    (0..count)
        .map(|n| {
            let now = at(100 + u64::from(n));
            let data = Segment {
                seq: Seq(PEER + 1 + n * SMSS),
                ack: Seq(ISN + 1),
                flags: Flags::ACK,
                window: 60_000,
                payload_bytes: SMSS,
                ..Segment::default()
            };
            end.on_segment(now, &data);
            let mut answered = false;
            while end.poll_transmit(now).is_some() {
                answered = true;
            }
            answered
        })
        .collect()
}

#[test]
fn every_segment_is_acknowledged_while_the_window_grows() {
    // 4 segments are safe at first and each segment adds 2: 21 segments reach
    // the 65535 bytes of the usual buffer, 89 the 262140 of one four times as
    // large. The 16 quick ACKs of the start are still there afterwards.
    for (default, growing) in [(87_380, 21), (349_520, 89)] {
        let answered = answered_at_once(&mut client(default), 140);
        let first_delayed = answered
            .iter()
            .position(|at_once| !at_once)
            .expect("a delayed ACK");
        assert_eq!(first_delayed, growing + 16, "with {default} bytes");
        // Until auto-tuning widens the buffer again: every second one.
        assert_eq!(
            answered[first_delayed..][..6],
            [false, true, false, true, false, true]
        );
    }
}

#[test]
fn without_quick_acks_growth_changes_nothing() {
    let mut config = linux_2_6();
    config.quick_ack_segments = 0;
    let mut end = Endpoint::new(Arc::new(config), Role::Active, ISN);
    end.connect(Time::ZERO);
    end.poll_transmit(Time::ZERO).expect("a SYN");
    let syn_ack = Segment {
        seq: Seq(PEER),
        ack: Seq(ISN + 1),
        flags: Flags::SYN | Flags::ACK,
        window: 60_000,
        mss: Some(1460),
        window_scale: Some(2),
        ..Segment::default()
    };
    end.on_segment(at(1), &syn_ack);
    while end.poll_transmit(at(1)).is_some() {}
    assert_eq!(answered_at_once(&mut end, 4), [false, true, false, true]);
}

/// What a server sends again after one ACK that SACKs only the eighth of ten segments.
fn resent_after_one_sack(detection: LossDetection) -> Vec<u32> {
    let mut config = linux_2_6();
    config.loss_detection = detection;
    config.initial_window_segments = 10;
    let mut end = Endpoint::new(Arc::new(config), Role::Passive, ISN);
    let syn = Segment {
        seq: Seq(PEER),
        flags: Flags::SYN,
        window: 60_000,
        mss: Some(1460),
        window_scale: Some(2),
        sack_permitted: true,
        ..Segment::default()
    };
    end.on_segment(Time::ZERO, &syn);
    let smss = end.poll_transmit(Time::ZERO).map(|_| 1448).expect("a SYN-ACK");
    let reply = Segment {
        seq: Seq(PEER + 1),
        ack: Seq(ISN + 1),
        flags: Flags::ACK,
        window: 60_000,
        ..Segment::default()
    };
    end.on_segment(at(1000), &reply);
    end.send(at(1000), 10 * smss);
    let mut starts = Vec::new();
    while let Some(segment) = end.poll_transmit(at(1000)) {
        starts.push((segment.seq, segment.payload_bytes));
    }
    assert_eq!(starts.len(), 10);
    let (eighth, len) = starts[7];
    let mut sack = SackBlocks::default();
    sack.push(eighth, eighth.add(len));
    end.on_segment(at(2000), &Segment { sack, ..reply });
    let mut again = Vec::new();
    while let Some(segment) = end.poll_transmit(at(2000)) {
        again.push(
            starts
                .iter()
                .position(|&(seq, _)| seq == segment.seq)
                .expect("one of the ten") as u32,
        );
    }
    again
}

#[test]
fn forward_acknowledgement_infers_loss_from_distance() {
    // Eight segments up to the highest SACKed one, less the threshold of three:
    // the first five are lost, and the first goes out at once.
    let again = resent_after_one_sack(LossDetection::Fack);
    assert_eq!(again.first(), Some(&0));
    // One SACKed segment says nothing to RFC 6675.
    assert_eq!(resent_after_one_sack(LossDetection::DupAcks), []);
}
