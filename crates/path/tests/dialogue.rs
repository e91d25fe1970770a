//! The DCF as short dialogues: what is sent when, to the nanosecond.

use lasthop_path::{
    AttemptOutcome, DropReason, FrameClass, FrameErrors, MacAttempt, Medium, MediumEvent, Protection,
    QueuedFrames, Standard, WifiConfig,
};
use lasthop_units::{Span, Stream, Time};

/// IP bytes of the packets here; their 802.11g frame takes 254 µs, the MAC ACK
/// 34 µs, SIFS 10 µs: an exchange takes 298 µs.
const WIRE: u32 = 1500;
const EXCHANGE_US: u64 = 298;

type Log = Vec<(u64, MediumEvent<u32>)>;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn medium(config: &WifiConfig, stations: u32) -> Medium<u32> {
    let mut medium = Medium::new(config, stations, 1, "wlan");
    medium.log_attempts(true);
    medium
}

/// The backoffs `station` will draw: its named stream, from windows 15, 31, ...
fn backoffs(station: u32, windows: &[u32]) -> Vec<u64> {
    let mut stream = Stream::new(1, &format!("wlan/backoff/{station}"));
    windows
        .iter()
        .map(|window| u64::from(stream.below(window + 1)))
        .collect()
}

/// Runs until `end`, noting every event with its time in microseconds.
fn run_until(medium: &mut Medium<u32>, end: Time) -> Log {
    let (mut log, mut events) = (Vec::new(), Vec::new());
    while medium.next_deadline() <= end {
        let now = medium.next_deadline();
        medium.on_timer(now, &mut events);
        log.extend(events.drain(..).map(|event| (now.as_ns() / 1_000, event)));
    }
    log
}

fn attempts(log: &Log) -> Vec<(u64, MacAttempt)> {
    let attempt = |(at, event): &(u64, MediumEvent<u32>)| match event {
        MediumEvent::Attempt(attempt) => Some((*at, *attempt)),
        _ => None,
    };
    log.iter().filter_map(attempt).collect()
}

fn deliveries(log: &Log) -> Vec<(u64, u32)> {
    let delivery = |(at, event): &(u64, MediumEvent<u32>)| match event {
        MediumEvent::Delivered { packet, .. } => Some((*at, *packet)),
        _ => None,
    };
    log.iter().filter_map(delivery).collect()
}

fn drops(log: &Log) -> Vec<(u64, u32, DropReason)> {
    let drop = |(at, event): &(u64, MediumEvent<u32>)| match event {
        MediumEvent::Dropped { packet, reason, .. } => Some((*at, *packet, *reason)),
        _ => None,
    };
    log.iter().filter_map(drop).collect()
}

#[test]
fn an_idle_medium_is_taken_at_once() {
    let mut medium = medium(&WifiConfig::new(Standard::G), 1);
    medium
        .enqueue(us(1_000), 1, 0, FrameClass::Data, WIRE, 7)
        .unwrap();
    let log = run_until(&mut medium, us(10_000));
    assert_eq!(deliveries(&log), [(1_000 + EXCHANGE_US, 7)]);
    let (_, attempt) = attempts(&log)[0];
    assert_eq!(attempt.airtime, Span::from_us(EXCHANGE_US));
    assert_eq!(attempt.delay, Span::from_us(EXCHANGE_US));
    assert_eq!((attempt.attempt, attempt.frame_bytes), (1, 1536));
    assert_eq!(medium.next_deadline(), Time::MAX);
}

#[test]
fn every_success_is_followed_by_a_backoff() {
    let mut medium = medium(&WifiConfig::new(Standard::G), 1);
    for packet in 0..3 {
        medium
            .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, packet)
            .unwrap();
    }
    let drawn = backoffs(1, &[15, 15]);
    let second = EXCHANGE_US + 28 + 9 * drawn[0] + EXCHANGE_US;
    let third = second + 28 + 9 * drawn[1] + EXCHANGE_US;
    let log = run_until(&mut medium, us(10_000));
    assert_eq!(deliveries(&log), [(EXCHANGE_US, 0), (second, 1), (third, 2)]);
}

#[test]
fn a_late_packet_waits_for_what_is_left_of_the_backoff() {
    let drawn = backoffs(1, &[15])[0];
    assert!(drawn > 2, "this dialogue needs some backoff to be left");
    let over = EXCHANGE_US + 28 + 9 * drawn;
    for (arrives, begins) in [(over - 15, over), (over + 100, over + 100)] {
        let mut medium = medium(&WifiConfig::new(Standard::G), 1);
        medium
            .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 0)
            .unwrap();
        let mut events = Vec::new();
        medium.on_timer(medium.next_deadline(), &mut events);
        medium
            .enqueue(us(arrives), 1, 0, FrameClass::Data, WIRE, 1)
            .unwrap();
        let log = run_until(&mut medium, us(10_000));
        assert_eq!(deliveries(&log), [(begins + EXCHANGE_US, 1)]);
    }
}

#[test]
fn a_busy_medium_makes_a_station_back_off() {
    let mut medium = medium(&WifiConfig::new(Standard::G), 1);
    medium
        .enqueue(Time::ZERO, 0, 1, FrameClass::Data, WIRE, 0)
        .unwrap();
    medium.enqueue(us(100), 1, 0, FrameClass::Data, WIRE, 1).unwrap();
    let drawn = backoffs(1, &[15])[0];
    let log = run_until(&mut medium, us(10_000));
    let second = EXCHANGE_US + 28 + 9 * drawn + EXCHANGE_US;
    assert_eq!(deliveries(&log), [(EXCHANGE_US, 0), (second, 1)]);
}

#[test]
fn a_counter_freezes_while_others_send() {
    let mut medium = medium(&WifiConfig::new(Standard::G), 2);
    // The access point opens; both stations arrive meanwhile and back off.
    medium
        .enqueue(Time::ZERO, 0, 1, FrameClass::Data, WIRE, 0)
        .unwrap();
    medium.enqueue(us(100), 1, 0, FrameClass::Data, WIRE, 1).unwrap();
    medium.enqueue(us(200), 2, 0, FrameClass::Data, WIRE, 2).unwrap();
    let counters = [backoffs(1, &[15])[0], backoffs(2, &[15])[0]];
    let (first, second) = (counters[0].min(counters[1]), counters[0].max(counters[1]));
    assert!(first < second, "this dialogue needs different backoffs");
    let log = run_until(&mut medium, us(10_000));
    let begin = EXCHANGE_US + 28 + 9 * first;
    // The second needs only the slots that are left, after another DIFS.
    let again = begin + EXCHANGE_US + 28 + 9 * (second - first);
    let times: Vec<u64> = deliveries(&log).iter().map(|delivery| delivery.0).collect();
    assert_eq!(times, [EXCHANGE_US, begin + EXCHANGE_US, again + EXCHANGE_US]);
}

#[test]
fn stations_that_begin_in_one_slot_collide() {
    // The second begins 8 µs after the first: before it can have noticed.
    for (offset, collide) in [(0, true), (8, true), (9, false)] {
        let mut medium = medium(&WifiConfig::new(Standard::G), 2);
        medium
            .enqueue(us(1_000), 1, 0, FrameClass::Data, WIRE, 1)
            .unwrap();
        medium
            .enqueue(us(1_000 + offset), 2, 0, FrameClass::Data, WIRE, 2)
            .unwrap();
        let log = run_until(&mut medium, us(1_000 + EXCHANGE_US + offset));
        let outcomes: Vec<_> = attempts(&log)
            .iter()
            .map(|(_, attempt)| attempt.outcome)
            .collect();
        if collide {
            assert_eq!(outcomes, [AttemptOutcome::Collision; 2], "{offset}");
        } else {
            assert_eq!(outcomes, [AttemptOutcome::Success], "{offset}");
        }
    }
}

#[test]
fn colliders_wait_for_an_answer_then_back_off_from_a_doubled_window() {
    let mut medium = medium(&WifiConfig::new(Standard::G), 2);
    medium
        .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 1)
        .unwrap();
    medium
        .enqueue(Time::ZERO, 2, 0, FrameClass::Data, WIRE, 2)
        .unwrap();
    let log = run_until(&mut medium, us(5_000));
    let counters = [backoffs(1, &[31])[0], backoffs(2, &[31])[0]];
    assert_ne!(counters[0], counters[1]);
    // Frame 254 µs, ACK timeout 43 µs, DIFS 28 µs.
    let begin = 254 + 43 + 28 + 9 * counters[0].min(counters[1]);
    assert_eq!(deliveries(&log)[0].0, begin + EXCHANGE_US);
}

/// Everything is spoilt: `limit` attempts, windows 15, 31, 63, ..., then the drop.
#[test]
fn a_frame_is_given_up_at_the_retry_limit() {
    let mut config = WifiConfig::new(Standard::G);
    config.stations.errors = FrameErrors::BitErrorRate(1.0);
    config.stations.short_retry_limit = 4;
    let mut medium = medium(&config, 1);
    medium
        .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 9)
        .unwrap();
    let log = run_until(&mut medium, us(100_000));
    let drawn = backoffs(1, &[31, 63, 127]);
    let wait = |slots: u64| 43 + 28 + 9 * slots;
    let last_bit = 4 * 254 + drawn.iter().map(|&slots| wait(slots)).sum::<u64>();
    assert_eq!(drops(&log), [(last_bit, 9, DropReason::RetryLimit)]);
    let numbers: Vec<u32> = attempts(&log)
        .iter()
        .map(|(_, attempt)| attempt.attempt)
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert!(deliveries(&log).is_empty());
    assert_eq!(medium.airtime()[1].retry_drops, 1);
}

#[test]
fn retry_limits_can_differ_between_stations() {
    let mut config = WifiConfig::new(Standard::G);
    config.stations.errors = FrameErrors::BitErrorRate(1.0);
    let mut medium = medium(&config, 2);
    medium.set_retry_limits(2, 15, 15);
    medium.enqueue(us(0), 1, 0, FrameClass::Data, WIRE, 1).unwrap();
    medium
        .enqueue(us(500_000), 2, 0, FrameClass::Data, WIRE, 2)
        .unwrap();
    let log = run_until(&mut medium, us(5_000_000));
    let of = |station| {
        attempts(&log)
            .iter()
            .filter(|(_, a)| a.station == station)
            .count()
    };
    assert_eq!((of(1), of(2)), (7, 15));
}

/// Only the access point's frames are spoilt, that is the MAC ACKs: the packet
/// arrives once, the station repeats in vain and nothing is reported twice.
#[test]
fn a_lost_mac_ack_repeats_the_frame_but_not_the_packet() {
    let mut config = WifiConfig::new(Standard::G);
    config.access_point.errors = FrameErrors::BitErrorRate(1.0);
    let mut medium = medium(&config, 1);
    medium
        .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 5)
        .unwrap();
    let log = run_until(&mut medium, us(100_000));
    assert_eq!(deliveries(&log), [(EXCHANGE_US, 5)]);
    assert!(drops(&log).is_empty());
    let outcomes: Vec<_> = attempts(&log)
        .iter()
        .map(|(_, attempt)| attempt.outcome)
        .collect();
    assert_eq!(outcomes, [AttemptOutcome::AckError; 7]);
}

/// Bit errors at 1e-4: 70.7 % of the frames fail, and 1.1 % of the MAC ACKs.
#[test]
fn bit_errors_spoil_the_expected_share() {
    let mut config = WifiConfig::new(Standard::G);
    config.stations.errors = FrameErrors::BitErrorRate(1e-4);
    config.access_point.errors = FrameErrors::BitErrorRate(1e-4);
    let mut medium: Medium<u32> = Medium::new(&config, 1, 1, "wlan");
    let mut events = Vec::new();
    for _ in 0..20_000 {
        medium.enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 0).ok();
        medium.on_timer(medium.next_deadline(), &mut events);
    }
    let account = medium.airtime()[1];
    let share = account.errors as f64 / account.attempts as f64;
    let expected = 1.0 - (1.0 - 1e-4_f64).powi(12_288 + 112);
    assert!((share - expected).abs() < 0.01, "{share} against {expected}");
}

/// A frame of 1500 bytes at 54 Mbit/s is lost every second time at 22 dB.
#[test]
fn a_ratio_spoils_the_share_its_curve_says() {
    let mut config = WifiConfig::new(Standard::G);
    config.stations.errors = FrameErrors::Snr { db: 22.0 };
    let mut medium: Medium<u32> = Medium::new(&config, 1, 1, "wlan");
    let mut events = Vec::new();
    for _ in 0..10_000 {
        medium.enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 0).ok();
        medium.on_timer(medium.next_deadline(), &mut events);
    }
    let account = medium.airtime()[1];
    let share = account.errors as f64 / account.attempts as f64;
    assert!((0.35..0.65).contains(&share), "{share}");
}

/// At 10 dB RTS and CTS at 6 Mbit/s pass, frames at 54 Mbit/s do not: what
/// fails behind a CTS counts against the long limit.
#[test]
fn frames_behind_rts_and_cts_have_the_long_retry_limit() {
    let mut config = WifiConfig::new(Standard::A);
    config.protection = Protection::RtsCts;
    config.protection_rate = config.basic_rates[0];
    config.stations.errors = FrameErrors::Snr { db: 10.0 };
    config.access_point.errors = FrameErrors::Snr { db: 10.0 };
    let mut medium = medium(&config, 1);
    medium
        .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 3)
        .unwrap();
    let log = run_until(&mut medium, us(100_000));
    assert_eq!(attempts(&log).len(), 4);
    assert_eq!(drops(&log)[0].1, 3);
}

#[test]
fn rts_and_cts_precede_the_frame_and_only_the_rts_collides() {
    let mut config = WifiConfig::new(Standard::A);
    config.protection = Protection::RtsCts;
    // RTS 20 B at 24 Mbit/s: 182 bits, 2 symbols, 28 µs; CTS 28 µs.
    let mut alone = medium(&config, 2);
    alone
        .enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 1)
        .unwrap();
    let log = run_until(&mut alone, us(5_000));
    assert_eq!(deliveries(&log), [(28 + 16 + 28 + 16 + 248 + 16 + 28, 1)]);

    let mut both = medium(&config, 2);
    both.enqueue(Time::ZERO, 1, 0, FrameClass::Data, WIRE, 1).unwrap();
    both.enqueue(Time::ZERO, 2, 0, FrameClass::Data, WIRE, 2).unwrap();
    let log = run_until(&mut both, us(28));
    let times: Vec<Span> = attempts(&log)
        .iter()
        .map(|(_, attempt)| attempt.airtime)
        .collect();
    assert_eq!(times, [Span::from_us(28); 2]);
}

#[test]
fn short_frames_go_without_rts() {
    let mut config = WifiConfig::new(Standard::A);
    config.protection = Protection::RtsCts;
    config.rts_threshold = 500;
    let mut medium = medium(&config, 1);
    medium.enqueue(Time::ZERO, 1, 0, FrameClass::Ack, 40, 1).unwrap();
    // 76 B: 22 + 608 bits, 3 symbols, 32 µs; SIFS 16, ACK 28.
    assert_eq!(
        deliveries(&run_until(&mut medium, us(1_000))),
        [(32 + 16 + 28, 1)]
    );
    assert_eq!(medium.airtime()[1].acks, Span::from_us(76));
}

#[test]
fn a_full_queue_refuses() {
    let mut config = WifiConfig::new(Standard::G);
    config.access_point.queue_packets = 2;
    let mut medium = medium(&config, 1);
    let mut send = |packet| medium.enqueue(Time::ZERO, 0, 1, FrameClass::Data, WIRE, packet);
    assert_eq!(send(1), Ok(()));
    assert_eq!(send(2), Ok(()));
    assert_eq!(send(3), Err((DropReason::QueueFull, 3)));
    assert_eq!((medium.queue_len(0), medium.airtime()[0].queue_drops), (2, 1));
}

#[test]
fn stations_that_do_not_exist_have_no_link() {
    let mut medium = medium(&WifiConfig::new(Standard::G), 1);
    for (from, to) in [(0, 2), (2, 0), (1, 1)] {
        let refused = medium.enqueue(Time::ZERO, from, to, FrameClass::Data, WIRE, 4);
        assert_eq!(refused, Err((DropReason::LinkDown, 4)));
    }
    medium.set_radio(Time::ZERO, 9, false, QueuedFrames::Drop, &mut Vec::new());
    assert!(!medium.is_up(9) && medium.is_up(1));
}
