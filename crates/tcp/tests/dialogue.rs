//! Short dialogues: what the peer sends, what must come back.

use std::sync::Arc;

use lasthop_tcp::{
    AckCounting, Config, DelayedAck, Endpoint, Flags, Personality, ReceiveBuffer, Role, Segment, Seq, State,
    Timestamps, apply_sender,
};
use lasthop_units::{Span, Time};

const ISN: u32 = 1000;
const PEER: u32 = 9000;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// Settings for dialogues: 1000-byte segments, no timestamps unless asked for.
fn plain(personality: &str, sender: &str) -> Config {
    let mut config = Personality::by_name(personality)
        .expect("a known personality")
        .config;
    assert!(apply_sender(&mut config, sender));
    config.smss = 1000;
    config.timestamps = false;
    config.delayed_ack = DelayedAck::Off;
    config.receive_buffer = ReceiveBuffer::Fixed { bytes: 60_000 };
    config
}

/// An endpoint and what it has sent.
struct Talk {
    end: Endpoint,
    now: Time,
}

impl Talk {
    /// A server whose handshake is over; the client's window is `window` bytes.
    fn server(config: Config, window: u16) -> Self {
        let mut talk = Self {
            end: Endpoint::new(Arc::new(config), Role::Passive, ISN),
            now: Time::ZERO,
        };
        talk.hear(Segment {
            seq: Seq(PEER),
            flags: Flags::SYN,
            window,
            mss: Some(1012),
            window_scale: Some(0),
            sack_permitted: true,
            ..Segment::default()
        });
        let syn_ack = talk.says();
        assert_eq!(syn_ack.flags, Flags::SYN | Flags::ACK);
        assert_eq!((syn_ack.seq, syn_ack.ack), (Seq(ISN), Seq(PEER + 1)));
        talk.now = ms(100);
        talk.hear(ack(0, window));
        assert_eq!(talk.end.state(), State::Established);
        talk
    }

    fn hear(&mut self, segment: Segment) {
        self.end.on_segment(self.now, &segment);
    }

    /// The one segment that must come now.
    fn says(&mut self) -> Segment {
        self.end.poll_transmit(self.now).expect("a segment")
    }

    /// Everything that comes now, as offsets of the data's first bytes.
    fn data(&mut self) -> Vec<u32> {
        let mut offsets = Vec::new();
        while let Some(segment) = self.end.poll_transmit(self.now) {
            assert!(segment.payload_bytes > 0, "data, not {segment:?}");
            offsets.push(segment.seq.0.wrapping_sub(ISN + 1));
        }
        offsets
    }

    fn is_silent(&mut self) -> bool {
        self.end.poll_transmit(self.now).is_none()
    }

    /// Lets time pass until the next deadline.
    fn wait(&mut self) {
        self.now = self.end.next_deadline();
        self.end.on_deadline(self.now);
    }
}

/// An ACK of `bytes` bytes of the server's stream.
fn ack(bytes: u32, window: u16) -> Segment {
    Segment {
        seq: Seq(PEER + 1),
        ack: Seq(ISN + 1 + bytes),
        flags: Flags::ACK,
        window,
        ..Segment::default()
    }
}

fn sack(bytes: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut segment = ack(bytes, 60_000);
    for &(left, right) in blocks {
        segment.sack.push(Seq(ISN + 1 + left), Seq(ISN + 1 + right));
    }
    segment
}

fn data(offset: u32, bytes: u32) -> Segment {
    Segment {
        seq: Seq(PEER + 1 + offset),
        ack: Seq(ISN + 1),
        flags: Flags::ACK,
        window: 60_000,
        payload_bytes: bytes,
        ..Segment::default()
    }
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout() {
    let mut talk = Talk {
        end: Endpoint::new(Arc::new(plain("linux-6", "reno")), Role::Active, ISN),
        now: Time::ZERO,
    };
    talk.end.connect(talk.now);
    assert_eq!(talk.says().flags, Flags::SYN);
    assert!(talk.is_silent());
    talk.wait();
    assert_eq!(talk.now, ms(1000));
    assert_eq!(talk.says().flags, Flags::SYN);
    talk.wait();
    assert_eq!(talk.now, ms(3000));
}

#[test]
fn a_peer_without_options_gets_none() {
    let mut config = plain("linux-6", "sack");
    config.timestamps = true;
    let mut end = Endpoint::new(Arc::new(config), Role::Passive, ISN);
    end.on_segment(
        ms(0),
        &Segment {
            seq: Seq(PEER),
            flags: Flags::SYN,
            window: 5000,
            ..Segment::default()
        },
    );
    let syn_ack = end.poll_transmit(ms(0)).expect("a SYN-ACK");
    assert_eq!(syn_ack.window_scale, None);
    assert!(!syn_ack.sack_permitted && syn_ack.timestamps.is_none());
    end.on_segment(ms(1), &ack(0, 5000));
    end.send(ms(1), 2000);
    // Without an MSS option 536 bytes are the limit (RFC 9293 section 3.7.1).
    assert_eq!(end.poll_transmit(ms(1)).expect("data").payload_bytes, 536);
}

#[test]
fn a_stray_reset_is_answered_an_exact_one_obeyed() {
    let mut talk = Talk::server(plain("linux-6", "reno"), 60_000);
    talk.hear(Segment {
        seq: Seq(PEER + 50),
        flags: Flags::RST,
        ..Segment::default()
    });
    assert!(talk.says().is_pure_ack());
    talk.hear(Segment {
        seq: Seq(PEER + 1),
        flags: Flags::RST,
        ..Segment::default()
    });
    assert!(talk.end.is_closed() && talk.end.was_reset());
}

#[test]
fn slow_start_doubles_by_segments_acknowledged() {
    let mut talk = Talk::server(plain("linux-6", "reno"), 60_000);
    talk.end.send(talk.now, 1_000_000);
    assert_eq!(talk.data().len(), 10);
    talk.hear(ack(2000, 60_000));
    assert_eq!(talk.data(), [10_000, 11_000, 12_000, 13_000]);
}

/// What cwnd in segments is after the first segment is acknowledged in 13 steps:
/// 12 divided ACKs and the full one.
fn after_divided_acks(counting: AckCounting) -> f64 {
    let mut config = plain("linux-6", "reno");
    config.ack_counting = counting;
    config.cwnd_limited_growth = false;
    let mut talk = Talk::server(config, 60_000);
    talk.end.send(talk.now, 1_000_000);
    talk.data();
    for step in 988..=1000 {
        talk.hear(ack(step, 60_000));
        talk.data();
    }
    talk.end.metrics().cwnd_bytes / 1000.0
}

#[test]
fn divided_acks_pay_only_where_acks_are_counted() {
    assert!((after_divided_acks(AckCounting::PerAck) - 23.0).abs() < 1e-6);
    assert!((after_divided_acks(AckCounting::PerSegment) - 11.0).abs() < 1e-6);
    assert!((after_divided_acks(AckCounting::PerAckOfSegment) - 11.0).abs() < 1e-6);
    assert!((after_divided_acks(AckCounting::PerByte { limit_segments: 2 }) - 11.0).abs() < 1e-6);
}

#[test]
fn three_duplicate_acks_bring_the_segment_back_at_once() {
    for sender in ["reno", "newreno"] {
        let mut talk = Talk::server(plain("ns-2", sender), 60_000);
        talk.end.send(talk.now, 1_000_000);
        assert_eq!(talk.data(), [0, 1000]);
        for done in [1000, 2000, 3000, 4000] {
            talk.hear(ack(done, 60_000));
            talk.data();
        }
        for _ in 0..2 {
            talk.hear(ack(4000, 60_000));
            assert_eq!(talk.data().len(), 1, "limited transmit");
        }
        talk.hear(ack(4000, 60_000));
        assert_eq!(talk.data()[0], 4000);
        assert_eq!(talk.end.stats().fast_retransmits, 1);
    }
}

#[test]
fn sacked_holes_are_filled_and_nothing_else() {
    for personality in ["linux-2.6", "linux-6", "freebsd-14"] {
        let mut config = plain(personality, "sack");
        config.initial_window_segments = 10;
        let mut talk = Talk::server(config, 60_000);
        talk.end.send(talk.now, 10_000);
        assert_eq!(talk.data().len(), 10);
        talk.now = ms(200);
        let mut resent = Vec::new();
        for top in [5000, 6000, 7000, 8000, 9000, 10_000] {
            talk.hear(sack(1000, &[(4000, top), (2000, 3000)]));
            resent.extend(talk.data());
            talk.now += Span::from_ms(1);
        }
        assert_eq!(resent, [1000, 3000], "{personality}");
        talk.now = ms(300);
        talk.hear(ack(10_000, 60_000));
        assert!(talk.is_silent());
        assert_eq!(talk.end.acked_bytes(), 10_000);
    }
}

#[test]
fn rack_resends_a_lost_retransmission_without_a_timeout() {
    let mut talk = Talk::server(plain("linux-6", "sack"), 60_000);
    talk.end.send(talk.now, 40_000);
    assert_eq!(talk.data().len(), 10);
    talk.now = ms(200);
    talk.hear(sack(0, &[(1000, 2000), (2000, 6000)]));
    assert_eq!(talk.data()[0], 0);
    // A round trip later data sent after that retransmission arrives, it does not.
    talk.now = ms(202);
    talk.hear(sack(0, &[(1000, 10_000)]));
    let new = talk.data();
    assert!(new.first() == Some(&10_000), "{new:?}");
    talk.now = ms(305);
    talk.hear(sack(0, &[(1000, 11_000)]));
    assert_eq!(talk.data()[0], 0);
    assert_eq!(talk.end.stats().timeouts, 0);
}

#[test]
fn a_tail_loss_probe_comes_before_the_timeout() {
    let mut talk = Talk::server(plain("linux-6", "sack"), 60_000);
    talk.end.send(talk.now, 3000);
    assert_eq!(talk.data().len(), 3);
    talk.wait();
    // Two round trips of 100 ms and 2 ms.
    assert_eq!(talk.now, ms(302));
    assert_eq!(talk.data(), [2000]);
    assert_eq!(
        (talk.end.stats().tail_loss_probes, talk.end.stats().timeouts),
        (1, 0)
    );
    talk.now = ms(402);
    talk.hear(sack(0, &[(2000, 3000)]));
    assert_eq!(talk.data(), [0], "RACK needs no timeout");
}

#[test]
fn a_timeout_resends_one_segment_and_backs_off() {
    let mut config = plain("linux-6", "sack");
    config.tail_loss_probe = false;
    let mut talk = Talk::server(config, 60_000);
    talk.end.send(talk.now, 20_000);
    talk.data();
    talk.wait();
    assert_eq!(talk.now, ms(400), "SRTT 100 ms, variance term 300 ms");
    assert_eq!(talk.data(), [0]);
    assert!((talk.end.metrics().cwnd_bytes - 1000.0).abs() < 1e-9);
    let first = talk.now;
    talk.wait();
    assert_eq!(talk.now.since(first), Span::from_ms(600));
    assert_eq!(talk.data(), [0]);
}

#[test]
fn frto_takes_a_needless_timeout_back() {
    let mut config = plain("linux-6", "sack");
    config.tail_loss_probe = false;
    let mut talk = Talk::server(config, 60_000);
    talk.end.send(talk.now, 50_000);
    assert_eq!(talk.data().len(), 10);
    talk.wait();
    assert_eq!(talk.data(), [0]);
    // The ACK of two originals arrives: they had only been slow.
    talk.hear(ack(2000, 60_000));
    assert_eq!(talk.end.stats().spurious_cuts, 1);
    assert!(talk.end.metrics().cwnd_bytes >= 10_000.0);
    assert!(
        talk.data().iter().all(|&offset| offset >= 10_000),
        "nothing more is resent"
    );
}

#[test]
fn eifel_takes_a_needless_fast_retransmit_back() {
    let mut config = plain("linux-2.6", "sack");
    config.timestamps = true;
    config.initial_window_segments = 10;
    let mut end = Endpoint::new(Arc::new(config), Role::Passive, ISN);
    let stamp = |value, echo| Some(Timestamps { value, echo });
    end.on_segment(
        ms(0),
        &Segment {
            seq: Seq(PEER),
            flags: Flags::SYN,
            window: 60_000,
            mss: Some(1012),
            sack_permitted: true,
            timestamps: stamp(1, 0),
            ..Segment::default()
        },
    );
    end.poll_transmit(ms(0));
    end.on_segment(
        ms(100),
        &Segment {
            timestamps: stamp(2, 1),
            ..ack(0, 60_000)
        },
    );
    end.send(ms(100), 40_000);
    while end.poll_transmit(ms(100)).is_some() {}
    end.on_segment(
        ms(200),
        &Segment {
            timestamps: stamp(3, 101),
            ..sack(0, &[(1000, 5000)])
        },
    );
    let mut resent = 0;
    while let Some(segment) = end.poll_transmit(ms(200)) {
        resent += u32::from(segment.seq == Seq(ISN + 1));
    }
    assert_eq!((resent, end.stats().fast_retransmits), (1, 1));
    // The original arrives late: its echo is older than the retransmission.
    end.on_segment(
        ms(210),
        &Segment {
            timestamps: stamp(4, 101),
            ..ack(5000, 60_000)
        },
    );
    assert_eq!(end.stats().spurious_cuts, 1);
    assert!(end.metrics().ssthresh_bytes.is_none());
}

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut talk = Talk::server(plain("linux-6", "reno"), 3000);
    talk.end.send(talk.now, 10_000);
    assert_eq!(talk.data().len(), 3);
    talk.now = ms(200);
    talk.hear(ack(3000, 0));
    assert!(talk.is_silent());
    for _ in 0..3 {
        talk.wait();
        let probe = talk.says();
        assert_eq!((probe.payload_bytes, probe.seq), (0, Seq(ISN + 3000)));
        talk.hear(ack(3000, 0));
        assert!(talk.is_silent());
    }
    assert_eq!(talk.end.stats().window_probes, 3);
    assert!(
        (talk.end.metrics().cwnd_bytes - 10_000.0).abs() < 1e-9,
        "probing costs no window"
    );
    talk.hear(ack(3000, 3000));
    assert_eq!(talk.data(), [3000, 4000, 5000]);
}

#[test]
fn nagle_holds_the_second_short_segment_back() {
    let mut talk = Talk::server(plain("linux-6", "reno"), 60_000);
    talk.end.send(talk.now, 100);
    assert_eq!(talk.data(), [0]);
    talk.end.send(talk.now, 100);
    assert!(talk.is_silent());
    talk.end.send(talk.now, 900);
    assert_eq!(talk.data(), [100], "a full segment goes");
    talk.hear(ack(1100, 60_000));
    talk.end.send(talk.now, 50);
    assert_eq!(talk.data(), [1100]);
}

#[test]
fn delayed_acks_wait_for_a_second_segment_or_the_timer() {
    let mut config = plain("freebsd-14", "sack");
    config.delayed_ack = DelayedAck::Fixed {
        timeout: Span::from_ms(40),
    };
    let mut talk = Talk::server(config, 60_000);
    talk.hear(data(0, 1000));
    assert!(talk.is_silent());
    talk.hear(data(1000, 1000));
    assert_eq!(talk.says().ack, Seq(PEER + 2001));
    talk.hear(data(2000, 1000));
    assert!(talk.is_silent());
    talk.wait();
    assert_eq!(talk.now, ms(140));
    assert_eq!(talk.says().ack, Seq(PEER + 3001));
}

#[test]
fn disorder_is_acknowledged_at_once_with_the_latest_block_first() {
    let mut talk = Talk::server(plain("linux-6", "sack"), 60_000);
    talk.hear(data(2000, 1000));
    let first = talk.says();
    assert_eq!(first.sack.as_slice(), [(Seq(PEER + 2001), Seq(PEER + 3001))]);
    talk.hear(data(4000, 1000));
    let second = talk.says();
    assert_eq!(second.ack, Seq(PEER + 1));
    assert_eq!(
        second.sack.as_slice(),
        [
            (Seq(PEER + 4001), Seq(PEER + 5001)),
            (Seq(PEER + 2001), Seq(PEER + 3001))
        ]
    );
    talk.hear(data(0, 2000));
    let third = talk.says();
    assert_eq!(third.ack, Seq(PEER + 3001));
    assert_eq!(third.sack.as_slice(), [(Seq(PEER + 4001), Seq(PEER + 5001))]);
    // A copy of what is there is reported as such (RFC 2883).
    talk.hear(data(1000, 1000));
    assert_eq!(
        talk.says().sack.as_slice()[0],
        (Seq(PEER + 1001), Seq(PEER + 2001))
    );
    assert_eq!(talk.end.stats().acks_sent, 4);
}

#[test]
fn both_sides_close_and_only_the_first_lingers() {
    let mut talk = Talk::server(plain("linux-6", "reno"), 60_000);
    talk.end.send(talk.now, 500);
    talk.end.close(talk.now);
    let last = talk.says();
    assert_eq!(last.payload_bytes, 500);
    assert!(last.flags.has(Flags::FIN));
    assert_eq!(talk.end.state(), State::FinWait1);
    talk.hear(ack(501, 60_000));
    assert_eq!(talk.end.state(), State::FinWait2);
    talk.hear(Segment {
        flags: Flags::FIN | Flags::ACK,
        ack: Seq(ISN + 502),
        ..data(0, 0)
    });
    assert_eq!(talk.says().ack, Seq(PEER + 2));
    assert_eq!(talk.end.state(), State::TimeWait);
    talk.wait();
    assert!(talk.end.is_closed() && talk.end.next_deadline() == Time::MAX && !talk.end.gave_up());
}

#[test]
fn idle_linux_halves_its_window_for_every_timeout_passed() {
    let mut talk = Talk::server(plain("linux-6", "reno"), 60_000);
    talk.end.send(talk.now, 40_000);
    let mut sent = talk.data().len() as u32;
    for done in 1..=40 {
        talk.now += Span::from_ms(10);
        talk.hear(ack(done * 1000, 60_000));
        sent += talk.data().len() as u32;
    }
    assert_eq!(sent, 40);
    let before = talk.end.metrics().cwnd_bytes;
    assert!(before > 25_000.0, "{before}");
    talk.now += Span::from_secs(20);
    talk.end.send(talk.now, 60_000);
    assert_eq!(talk.data().len(), 10, "back to the initial window");
}

#[test]
fn the_announced_window_follows_what_is_read() {
    let mut config = plain("linux-2.6", "reno");
    config.receive_buffer = Personality::by_name("linux-2.6")
        .expect("a name")
        .config
        .receive_buffer;
    let mut talk = Talk::server(config, 60_000);
    talk.hear(data(0, 1000));
    let first = u32::from(talk.says().window);
    let mut last = first;
    for step in 1..200 {
        if step % 20 == 0 {
            talk.now += Span::from_ms(100);
        }
        talk.hear(data(step * 1000, 1000));
        last = u32::from(talk.says().window);
    }
    assert!(last > 4 * first, "from {first} to {last} (scaled)");
}
