//! What today's Linux announces first, and when it acknowledges at once.

use std::sync::Arc;

use lasthop_tcp::{Endpoint, Flags, Personality, Role, Segment, Seq, Timestamps};
use lasthop_units::{Span, Time};

const SMSS: u32 = 1448;
const PEER: u32 = 5000;
const ISN: u32 = 100;

struct Client {
    end: Endpoint,
    now: Time,
}

impl Client {
    /// Connected; with it the window announced first, in bytes.
    fn connected() -> (Self, u32) {
        let config = Personality::by_name("linux-6")
            .expect("a known personality")
            .config;
        let mut client = Self {
            end: Endpoint::new(Arc::new(config), Role::Active, ISN),
            now: Time::ZERO + Span::from_secs(1),
        };
        client.end.connect(client.now);
        let syn = client.end.poll_transmit(client.now).expect("a SYN");
        client.now += Span::from_ms(20);
        let syn_ack = Segment {
            seq: Seq(PEER),
            ack: Seq(ISN + 1),
            flags: Flags::SYN | Flags::ACK,
            window: 65_160,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some(Timestamps {
                value: 1,
                echo: syn.timestamps.map_or(0, |timestamps| timestamps.value),
            }),
            ..Segment::default()
        };
        client.end.on_segment(client.now, &syn_ack);
        let ack = client.end.poll_transmit(client.now).expect("an ACK");
        let scale = syn.window_scale.expect("an offer to scale");
        (client, u32::from(ack.window) << scale)
    }

    /// Whether segment `number` is answered before another arrives.
    fn answers(&mut self, number: u32) -> bool {
        self.now += Span::from_us(600);
        let data = Segment {
            seq: Seq(PEER + 1 + number * SMSS),
            ack: Seq(ISN + 1),
            flags: Flags::ACK,
            window: 500,
            payload_bytes: SMSS,
            timestamps: Some(Timestamps { value: 2, echo: 0 }),
            ..Segment::default()
        };
        self.end.on_segment(self.now, &data);
        let mut answered = false;
        while self.end.poll_transmit(self.now).is_some() {
            answered = true;
        }
        answered
    }
}

#[test]
fn the_window_begins_at_44_segments_with_their_options() {
    let (_, announced) = Client::connected();
    // 44 times 1460, rounded up to the window scale's unit of 128.
    assert_eq!(announced, 64_256);
}

#[test]
fn twenty_two_segments_are_acknowledged_at_once() {
    // While the window grows from 64240 bytes by 2920 a segment to what 131072 bytes of
    // memory hold beside one segment, and for 16 segments more; as observed on 6.18.
    let (mut client, _) = Client::connected();
    let answered: Vec<_> = (0..26).map(|number| client.answers(number)).collect();
    assert_eq!(answered.iter().position(|&at_once| !at_once), Some(22));
    assert_eq!(answered[22..], [false, true, false, true]);
}

#[test]
fn a_hole_is_acknowledged_at_once_but_not_what_follows_it() {
    let (mut client, _) = Client::connected();
    for number in 0..24 {
        client.answers(number);
    }
    assert!(client.answers(25));
    assert!(client.answers(24));
    assert!(!client.answers(26));
    assert!(client.answers(27));
}

#[test]
fn after_a_duplicate_everything_is_acknowledged_at_once() {
    let (mut client, _) = Client::connected();
    for number in 0..24 {
        client.answers(number);
    }
    assert!(client.answers(3));
    assert!((24..40).all(|number| client.answers(number)));
}
