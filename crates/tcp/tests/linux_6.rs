//! What today's Linux does in recovery beyond the standards: when a loss reduces
//! the window again, and what an ACK is worth that ends a recovery.

use std::sync::Arc;

use lasthop_tcp::{
    CongestionConfig, Endpoint, Flags, Personality, Role, SackBlocks, Segment, Seq, Timestamps,
};
use lasthop_units::{Span, Time};

const SMSS: u32 = 1448;
const PEER: u32 = 5000;
const ISN: u32 = 100;

/// A Reno sender of `window` segments at once, then of what its window allows.
struct Server {
    end: Endpoint,
    now: Time,
    /// Every segment sent: its number, and the timestamp it carried.
    sent: Vec<(u32, u32)>,
}

impl Server {
    fn connected(window: u32) -> Self {
        Self::connected_with(window, 1_000_000)
    }

    fn connected_with(window: u32, bytes: u32) -> Self {
        let mut config = Personality::by_name("linux-6")
            .expect("a known personality")
            .config;
        config.congestion = CongestionConfig::reno();
        config.initial_window_segments = window;
        let mut server = Self {
            end: Endpoint::new(Arc::new(config), Role::Passive, ISN),
            now: Time::ZERO + Span::from_secs(1),
            sent: Vec::new(),
        };
        let syn = Segment {
            seq: Seq(PEER),
            flags: Flags::SYN,
            window: 60_000,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 1, echo: 0 }),
            ..Segment::default()
        };
        server.end.on_segment(server.now, &syn);
        let syn_ack = server.end.poll_transmit(server.now).expect("a SYN-ACK");
        server.wait(100);
        let echo = syn_ack.timestamps.map_or(0, |timestamps| timestamps.value);
        server.receive(0, &[], echo);
        server.end.send(server.now, u64::from(bytes));
        server.transmit();
        assert_eq!(server.numbers(0), (0..window).collect::<Vec<_>>());
        server
    }

    fn wait(&mut self, ms: u64) {
        self.now += Span::from_ms(ms);
    }

    fn receive(&mut self, ack: u32, sacked: &[(u32, u32)], echo: u32) {
        let seq = |number: u32| Seq(ISN + 1 + number * SMSS);
        let mut sack = SackBlocks::default();
        for &(first, last) in sacked {
            sack.push(seq(first), seq(last + 1));
        }
        let segment = Segment {
            seq: Seq(PEER + 1),
            ack: seq(ack),
            flags: Flags::ACK,
            window: 60_000,
            timestamps: Some(Timestamps { value: 2, echo }),
            sack,
            ..Segment::default()
        };
        self.end.on_segment(self.now, &segment);
    }

    /// The next timer goes off.
    fn expire(&mut self) {
        self.now = self.end.next_deadline();
        self.end.on_deadline(self.now);
        self.transmit();
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.end.poll_transmit(self.now) {
            let number = segment.seq.since(Seq(ISN + 1)).unsigned_abs() / SMSS;
            let value = segment.timestamps.map_or(0, |timestamps| timestamps.value);
            self.sent.push((number, value));
        }
    }

    /// The ACK of everything before `ack` and of the ranges `sacked`, provoked by the
    /// latest copy of segment `by`; then whatever may be sent.
    fn ack(&mut self, ack: u32, sacked: &[(u32, u32)], by: u32) {
        let &(_, echo) = self
            .sent
            .iter()
            .rfind(|&&(number, _)| number == by)
            .expect("it was sent");
        self.receive(ack, sacked, echo);
        self.transmit();
    }

    /// Numbers of the segments sent, from the `from`-th on.
    fn numbers(&self, from: usize) -> Vec<u32> {
        self.sent[from..].iter().map(|&(number, _)| number).collect()
    }

    fn cwnd_segments(&self) -> f64 {
        self.end.metrics().cwnd_bytes / f64::from(SMSS)
    }

    fn ssthresh_segments(&self) -> Option<u64> {
        self.end
            .metrics()
            .ssthresh_bytes
            .map(|bytes| bytes / u64::from(SMSS))
    }
}

#[test]
fn the_ack_that_ends_a_recovery_is_worth_what_it_delivers() {
    let mut server = Server::connected(10);
    server.wait(100);
    for last in 1..10 {
        server.ack(0, &[(1, last)], last);
    }
    // Two for the first two duplicates, then the lost one, then one for every second.
    assert_eq!(server.numbers(10), [10, 11, 0, 12, 13]);
    assert_eq!(server.ssthresh_segments(), Some(5));
    server.wait(100);
    server.ack(0, &[(1, 10)], 10);
    server.ack(0, &[(1, 11)], 11);
    server.ack(12, &[], 0);
    // A window of five grows by one for five segments. One has been delivered now; the
    // eleven others that this ACK covers were, when they were SACKed.
    assert!((server.cwnd_segments() - 5.0).abs() < 0.01);
    for (ack, cwnd) in [(13, 5.0), (14, 5.0), (15, 5.0), (16, 6.0)] {
        server.ack(ack, &[], ack - 1);
        assert!((server.cwnd_segments() - cwnd).abs() < 0.01, "{ack}");
    }
}

/// Of twenty segments the first and the last are lost, and of those sent in the recovery
/// that follows the first: 22. All have been sent again, 0 has been acknowledged, and
/// the recovery lasts until 19 is.
fn three_lost() -> Server {
    let mut server = Server::connected(20);
    server.wait(100);
    for last in 1..19 {
        server.ack(0, &[(1, last)], last);
        server.wait(1);
    }
    assert_eq!(server.numbers(20)[..7], [20, 21, 0, 22, 23, 24, 25]);
    server.wait(82);
    let so_far = server.sent.len();
    server.ack(0, &[(20, 20), (1, 18)], 20);
    assert_eq!(server.numbers(so_far)[0], 19);
    server.wait(1);
    server.ack(0, &[(20, 21), (1, 18)], 21);
    server.wait(1);
    server.ack(19, &[(20, 21)], 0);
    server.wait(12);
    let so_far = server.sent.len();
    server.ack(19, &[(23, 27), (20, 21)], 27);
    assert_eq!(server.numbers(so_far)[0], 22);
    assert_eq!(server.end.stats().cwnd_cuts, 1);
    server.wait(86);
    server
}

#[test]
fn a_loss_beyond_the_recovery_point_reduces_the_window_again() {
    let mut server = three_lost();
    assert_eq!(server.ssthresh_segments(), Some(10));
    // The first recovery is over; 22 was sent within it, and is sent again already.
    server.ack(22, &[(23, 27)], 19);
    assert_eq!(server.end.stats().cwnd_cuts, 2);
    assert_eq!(server.ssthresh_segments(), Some(5));
}

#[test]
fn what_the_recovery_before_sent_again_takes_nothing_back() {
    let mut server = three_lost();
    server.ack(22, &[(23, 27)], 19);
    server.wait(1);
    // The second recovery finds a loss of its own, 28, and sends that again later than 22.
    let so_far = server.sent.len();
    server.ack(22, &[(29, 29), (23, 27)], 29);
    assert_eq!(server.numbers(so_far)[0], 28);
    server.wait(13);
    // The ACK of 22's second copy echoes a time before that of 28's.
    server.ack(28, &[(29, 29)], 22);
    assert_eq!(server.end.stats().spurious_cuts, 0);
    assert_eq!(server.ssthresh_segments(), Some(5));
}

#[test]
fn segments_that_may_be_reordered_are_judged_together() {
    let mut server = Server::connected_with(8, 12 * SMSS);
    server.wait(100);
    server.ack(1, &[], 0);
    server.wait(1);
    server.ack(2, &[], 1);
    server.ack(8, &[], 7);
    assert_eq!(server.numbers(8), [8, 9, 10, 11]);
    server.wait(99);
    server.ack(9, &[], 8);
    server.wait(1);
    // 9 and 10 are missing, sent a millisecond apart. One SACKed segment is no proof.
    let so_far = server.sent.len();
    server.ack(9, &[(11, 11)], 11);
    assert!(server.numbers(so_far).is_empty());
    // A quarter of the shortest round trip after 10 could have been acknowledged, and two
    // milliseconds, both are lost: nothing is in flight, and the window is one segment
    // (`tcp_rack_reo_timeout`).
    let asked = server.now;
    server.expire();
    assert_eq!(server.now.since(asked), Span::from_ms(27));
    assert_eq!(server.numbers(so_far), [9]);
    assert!((server.cwnd_segments() - 1.0).abs() < 0.01);
}
