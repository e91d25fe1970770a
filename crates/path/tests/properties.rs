//! Whatever is sent and whichever radios come and go: no packet is lost from
//! the books, doubled, or overtaken.

use std::collections::BTreeMap;

use lasthop_path::{
    DropReason, ErrorModel, FrameClass, FrameErrors, Jitter, Link, LinkConfig, Medium, MediumEvent,
    PacketInfo, Protection, QueueLimit, QueuedFrames, Standard, WifiConfig,
};
use lasthop_units::{BitRate, Span, Time};
use proptest::prelude::*;

const STATIONS: u32 = 3;

/// One thing that happens to a medium, `after` the one before.
#[derive(Clone, Debug)]
enum Step {
    Send {
        after: Span,
        from: u32,
        to: u32,
        bytes: u32,
    },
    Radio {
        after: Span,
        station: u32,
        up: bool,
        queued: QueuedFrames,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let after = || prop_oneof![Just(Span::ZERO), (0_u64..2_000).prop_map(Span::from_us)];
    let send =
        (after(), 0..=STATIONS, 1..=STATIONS, 20_u32..1_500).prop_map(|(after, from, station, bytes)| {
            let to = if from == 0 { station } else { 0 };
            Step::Send {
                after,
                from,
                to,
                bytes,
            }
        });
    let queued = prop::sample::select(QueuedFrames::ALL);
    let radio =
        (after(), 0..=STATIONS, any::<bool>(), queued).prop_map(|(after, station, up, queued)| Step::Radio {
            after,
            station,
            up,
            queued,
        });
    prop::collection::vec(prop_oneof![8 => send, 1 => radio], 1..300)
}

fn cells() -> impl Strategy<Value = WifiConfig> {
    let standard = prop::sample::select(Standard::ALL);
    let protection = prop::sample::select(Protection::ALL);
    (standard, protection, 0.0..3e-4, 1_u32..20, 1_u32..5, 0_u32..1_500).prop_map(
        |(standard, protection, rate, queue, limit, threshold)| {
            let mut config = WifiConfig::new(standard);
            config.protection = protection;
            config.rts_threshold = threshold;
            for radio in [&mut config.access_point, &mut config.stations] {
                radio.errors = FrameErrors::BitErrorRate(rate);
                radio.queue_packets = queue;
                radio.short_retry_limit = limit;
                radio.long_retry_limit = limit;
            }
            config
        },
    )
}

/// The books: every packet has a number, and ends once at most.
#[derive(Default)]
struct Books {
    sent: Vec<(u32, u32)>,
    ended: BTreeMap<usize, bool>,
    /// The last packet delivered on each way.
    last: BTreeMap<(u32, u32), usize>,
}

impl Books {
    fn enter(&mut self, events: &mut Vec<MediumEvent<usize>>) {
        for event in events.drain(..) {
            match event {
                MediumEvent::Delivered { from, to, packet } => {
                    assert_eq!(self.sent[packet], (from, to));
                    let earlier = self.last.insert((from, to), packet);
                    assert!(earlier < Some(packet), "{packet} overtaken by {earlier:?}");
                    assert_eq!(self.ended.insert(packet, true), None, "{packet} ended twice");
                }
                MediumEvent::Dropped {
                    from,
                    to,
                    reason,
                    packet,
                } => {
                    assert_eq!(self.sent[packet], (from, to));
                    assert!(matches!(reason, DropReason::RetryLimit | DropReason::LinkDown));
                    assert_eq!(self.ended.insert(packet, false), None, "{packet} ended twice");
                }
                MediumEvent::Attempt(_) => {}
            }
        }
    }
}

/// Lets the medium act until `now`.
fn advance(medium: &mut Medium<usize>, books: &mut Books, now: Time) {
    let mut events = Vec::new();
    let mut last = Time::ZERO;
    while medium.next_deadline() <= now {
        let deadline = medium.next_deadline();
        assert!(deadline >= last, "deadlines go back");
        last = deadline;
        medium.on_timer(deadline, &mut events);
        books.enter(&mut events);
    }
}

fn play(config: &WifiConfig, steps: &[Step], seed: u64) -> (Medium<usize>, Books, Time) {
    let mut medium = Medium::new(config, STATIONS, seed, "wlan");
    let (mut books, mut now) = (Books::default(), Time::ZERO);
    for step in steps {
        let (Step::Send { after, .. } | Step::Radio { after, .. }) = *step;
        now += after;
        advance(&mut medium, &mut books, now);
        match *step {
            Step::Send { from, to, bytes, .. } => {
                let packet = books.sent.len();
                if medium
                    .enqueue(now, from, to, FrameClass::Data, bytes, packet)
                    .is_ok()
                {
                    books.sent.push((from, to));
                }
            }
            Step::Radio {
                station, up, queued, ..
            } => {
                let mut events = Vec::new();
                medium.set_radio(now, station, up, queued, &mut events);
                books.enter(&mut events);
            }
        }
    }
    (medium, books, now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn packets_are_delivered_once_and_in_order_or_dropped(
        config in cells(), steps in steps(), seed: u64
    ) {
        let (mut medium, mut books, mut now) = play(&config, &steps, seed);
        // With every radio on again, everything comes to an end.
        now += Span::from_ms(1);
        advance(&mut medium, &mut books, now);
        for station in 0..=STATIONS {
            medium.set_radio(now, station, true, QueuedFrames::Keep, &mut Vec::new());
        }
        advance(&mut medium, &mut books, now + Span::from_secs(60));
        prop_assert_eq!(books.ended.len(), books.sent.len());
        prop_assert_eq!(medium.next_deadline(), Time::MAX);
        prop_assert!((0..=STATIONS).all(|station| medium.queue_len(station) == 0));
        for account in medium.airtime() {
            let ended = account.successes + account.collisions + account.errors;
            prop_assert!(ended <= account.attempts);
        }
    }

    /// The same seed gives the same run, another one usually not.
    #[test]
    fn a_run_is_a_function_of_its_seed(config in cells(), steps in steps(), seed: u64) {
        let (first, books, _) = play(&config, &steps, seed);
        let (again, books_again, _) = play(&config, &steps, seed);
        prop_assert_eq!(first.next_deadline(), again.next_deadline());
        prop_assert_eq!(first.airtime(), again.airtime());
        prop_assert_eq!(books.ended, books_again.ended);
    }
}

fn links() -> impl Strategy<Value = LinkConfig> {
    let rate = prop::option::of((1_000_u64..1_000_000_000).prop_map(BitRate::from_bps));
    let spread = || (0_u64..20_000).prop_map(Span::from_us);
    let jitter = prop_oneof![
        Just(Jitter::None),
        spread().prop_map(|spread| Jitter::Uniform {
            spread,
            reorder: false
        }),
        spread().prop_map(|spread| Jitter::Normal {
            spread,
            reorder: false
        }),
    ];
    let queue = prop_oneof![
        Just(QueueLimit::Unlimited),
        (1_u32..50).prop_map(QueueLimit::Packets),
        (1_u64..50_000).prop_map(QueueLimit::Bytes),
    ];
    let errors = prop_oneof![
        Just(vec![]),
        (0.0..0.5).prop_map(|probability| vec![ErrorModel::PerPacket { probability }]),
        Just(vec![
            ErrorModel::DropList { packets: vec![3, 4] },
            ErrorModel::PerBit { rate: 1e-5 },
        ]),
    ];
    (rate, 0_u64..50_000, jitter, queue, errors).prop_map(|(rate, delay, jitter, queue, errors)| LinkConfig {
        rate,
        delay: Span::from_us(delay),
        jitter,
        queue,
        errors,
    })
}

proptest! {
    #[test]
    fn a_link_keeps_the_order(
        config in links(), arrivals in prop::collection::vec((0_u64..3_000, 40_u32..1_500), 1..200)
    ) {
        let mut link = Link::new(&config, 1, "wire");
        prop_assert!(!link.can_reorder());
        let (mut now, mut latest) = (Time::ZERO, Time::ZERO);
        for (after, wire_bytes) in arrivals {
            now += Span::from_us(after);
            let before = link.queued_packets(now).unwrap_or(0);
            match link.transit(now, PacketInfo { wire_bytes, is_data: true }) {
                Ok(arrival) => {
                    prop_assert!(arrival >= now && arrival >= latest);
                    latest = arrival;
                }
                Err(reason) => prop_assert!(
                    matches!(reason, DropReason::QueueFull | DropReason::Error), "{:?}", reason
                ),
            }
            if let QueueLimit::Packets(limit) = config.queue {
                let inside = link.queued_packets(now).unwrap_or(0);
                prop_assert!(inside <= limit as usize && inside <= before + 1);
            }
        }
    }
}
