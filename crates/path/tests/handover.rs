//! Hard layer-2 handovers: what becomes of frames when a radio goes.

use lasthop_path::{
    AttemptOutcome, DropReason, FrameClass, Medium, MediumEvent, QueuedFrames, Standard, WifiConfig,
};
use lasthop_units::{Span, Time};

type Events = Vec<MediumEvent<u32>>;

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// An access point with three packets for station 1, then two for station 2;
/// station 1 has one of its own.
fn loaded() -> Medium<u32> {
    let mut medium = Medium::new(&WifiConfig::new(Standard::G), 2, 1, "wlan");
    medium.log_attempts(true);
    for (to, packet) in [(1, 10), (1, 11), (1, 12), (2, 20), (2, 21)] {
        assert_eq!(
            medium.enqueue(Time::ZERO, 0, to, FrameClass::Data, 1500, packet),
            Ok(())
        );
    }
    let meanwhile = Time::ZERO + Span::from_us(50);
    assert_eq!(medium.enqueue(meanwhile, 1, 0, FrameClass::Ack, 40, 100), Ok(()));
    medium
}

fn run_until(medium: &mut Medium<u32>, end: Time) -> Events {
    let mut events = Vec::new();
    while medium.next_deadline() <= end {
        medium.on_timer(medium.next_deadline(), &mut events);
    }
    events
}

fn delivered(events: &Events) -> Vec<u32> {
    let packet = |event: &MediumEvent<u32>| match event {
        MediumEvent::Delivered { packet, .. } => Some(*packet),
        _ => None,
    };
    events.iter().filter_map(packet).collect()
}

fn dropped(events: &Events) -> Vec<(u32, DropReason)> {
    let packet = |event: &MediumEvent<u32>| match event {
        MediumEvent::Dropped { packet, reason, .. } => Some((*packet, *reason)),
        _ => None,
    };
    events.iter().filter_map(packet).collect()
}

/// Station 1 goes during the first frame to it.
fn go(medium: &mut Medium<u32>, queued: QueuedFrames) -> Events {
    let mut events = Vec::new();
    medium.set_radio(Time::ZERO + Span::from_us(100), 1, false, queued, &mut events);
    events
}

#[test]
fn kept_frames_wait_and_others_pass_them() {
    let mut medium = loaded();
    assert!(go(&mut medium, QueuedFrames::Keep).is_empty());
    let away = run_until(&mut medium, ms(100));
    assert_eq!(delivered(&away), [20, 21]);
    assert_eq!(dropped(&away), []);
    assert_eq!((medium.queue_len(0), medium.queue_len(1)), (3, 1));
    assert_eq!(medium.next_deadline(), Time::MAX);
    medium.enqueue(ms(150), 0, 1, FrameClass::Data, 1500, 13).unwrap();

    let mut events = Vec::new();
    medium.set_radio(ms(200), 1, true, QueuedFrames::Keep, &mut events);
    let mut back = delivered(&run_until(&mut medium, ms(300)));
    let own = back.iter().position(|&packet| packet == 100).unwrap();
    back.remove(own);
    assert_eq!(back, [10, 11, 12, 13]);
}

#[test]
fn the_frame_in_the_air_is_one_failed_attempt() {
    let mut medium = loaded();
    go(&mut medium, QueuedFrames::Keep);
    let events = run_until(&mut medium, ms(100));
    let MediumEvent::Attempt(first) = events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(
        (first.to, first.attempt, first.outcome),
        (1, 1, AttemptOutcome::LinkDown)
    );
    medium.set_radio(ms(200), 1, true, QueuedFrames::Keep, &mut Vec::new());
    let back = run_until(&mut medium, ms(300));
    let second = back.iter().find_map(|event| match event {
        MediumEvent::Attempt(attempt) if attempt.station == 0 => Some(*attempt),
        _ => None,
    });
    assert_eq!(second.map(|attempt| (attempt.to, attempt.attempt)), Some((1, 2)));
}

#[test]
fn dropped_frames_go_at_once_and_no_more_are_taken() {
    let mut medium = loaded();
    let gone = dropped(&go(&mut medium, QueuedFrames::Drop));
    let reason = DropReason::LinkDown;
    assert_eq!(gone, [(10, reason), (11, reason), (12, reason), (100, reason)]);
    let refused = medium.enqueue(ms(1), 0, 1, FrameClass::Data, 1500, 13);
    assert_eq!(refused, Err((reason, 13)));
    assert_eq!(delivered(&run_until(&mut medium, ms(100))), [20, 21]);

    medium.set_radio(ms(200), 1, true, QueuedFrames::Drop, &mut Vec::new());
    medium.enqueue(ms(250), 0, 1, FrameClass::Data, 1500, 14).unwrap();
    assert_eq!(delivered(&run_until(&mut medium, ms(300))), [14]);
}

#[test]
fn an_unaware_access_point_gives_up_frame_by_frame() {
    let mut medium = loaded();
    go(&mut medium, QueuedFrames::Retry);
    let away = run_until(&mut medium, ms(100));
    let reason = DropReason::RetryLimit;
    assert_eq!(dropped(&away), [(10, reason), (11, reason), (12, reason)]);
    assert_eq!(delivered(&away), [20, 21]);
    let vain = |event: &&MediumEvent<u32>| matches!(event, MediumEvent::Attempt(attempt) if attempt.outcome == AttemptOutcome::LinkDown);
    assert_eq!(away.iter().filter(vain).count(), 21);
    // Its own frame waits.
    assert_eq!(medium.queue_len(1), 1);
    medium.set_radio(ms(200), 1, true, QueuedFrames::Retry, &mut Vec::new());
    assert_eq!(delivered(&run_until(&mut medium, ms(300))), [100]);
}

#[test]
fn an_access_point_that_goes_silences_the_cell() {
    let mut medium = loaded();
    medium.set_radio(
        Time::ZERO + Span::from_us(100),
        0,
        false,
        QueuedFrames::Keep,
        &mut Vec::new(),
    );
    assert_eq!(delivered(&run_until(&mut medium, ms(100))), []);
    medium.set_radio(ms(100), 0, true, QueuedFrames::Keep, &mut Vec::new());
    let mut back = delivered(&run_until(&mut medium, ms(200)));
    back.sort_unstable();
    assert_eq!(back, [10, 11, 12, 20, 21, 100]);
}

/// A radio that comes back first listens for DIFS.
#[test]
fn a_radio_that_returns_listens_first() {
    let mut medium = Medium::new(&WifiConfig::new(Standard::G), 1, 1, "wlan");
    let mut events = Vec::new();
    medium.set_radio(ms(1), 1, false, QueuedFrames::Keep, &mut events);
    medium.enqueue(ms(2), 1, 0, FrameClass::Data, 1500, 1).unwrap();
    assert_eq!(medium.next_deadline(), Time::MAX);
    medium.set_radio(ms(3), 1, true, QueuedFrames::Keep, &mut events);
    assert_eq!(medium.next_deadline(), ms(3) + Span::from_us(28 + 298));
}
