//! A download over 802.11g as ns-2 and ns-3 see it.

use lasthop_path::{FrameClass, Medium, MediumEvent, Standard, WifiConfig};
use lasthop_units::{Span, Time};

/// A download's data frames and delayed ACKs share the medium; a hand-made
/// closed loop of them meets what ns-2 (25.0) and ns-3 (24.5 Mbit/s) show for
/// TCP over 802.11g at 5 ms one way.
#[test]
fn data_and_delayed_acks_take_the_time_ns2_and_ns3_see() {
    let mut medium: Medium<()> = Medium::new(&WifiConfig::new(Standard::G), 1, 1, "wlan");
    let mut events = Vec::new();
    let (mut segments, mut data_waiting) = (0_u64, 40);
    for _ in 0..data_waiting {
        medium
            .enqueue(Time::ZERO, 0, 1, FrameClass::Data, 1500, ())
            .unwrap();
    }
    let end = Time::ZERO + Span::from_secs(60);
    while medium.next_deadline() <= end {
        let now = medium.next_deadline();
        medium.on_timer(now, &mut events);
        for event in events.drain(..) {
            match event {
                MediumEvent::Delivered { from: 0, .. } => {
                    segments += 1;
                    data_waiting -= 1;
                    if segments % 2 == 0 {
                        medium.enqueue(now, 1, 0, FrameClass::Ack, 52, ()).unwrap();
                    }
                }
                MediumEvent::Delivered { .. } => {
                    for _ in 0..2 {
                        medium.enqueue(now, 0, 1, FrameClass::Data, 1500, ()).unwrap();
                        data_waiting += 1;
                    }
                }
                _ => {}
            }
        }
    }
    assert!(
        data_waiting > 2,
        "the access point must never run dry: {data_waiting}"
    );
    let goodput = segments as f64 * 1448.0 * 8.0 / 60.0;
    assert!((24e6..26e6).contains(&goodput), "{goodput}");
    // The medium is shared as counted: two data exchanges for each ACK exchange.
    let [access_point, station] = [medium.airtime()[0], medium.airtime()[1]];
    assert!((access_point.successes as f64 / station.successes as f64 - 2.0).abs() < 0.01);
}
