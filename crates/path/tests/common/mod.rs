//! Stations that always have something to send.

use lasthop_path::{FrameClass, Medium, MediumEvent, StationAirtime, WifiConfig};
use lasthop_units::{Span, Time};

/// What a saturated run leads to.
#[derive(Clone, Debug)]
pub struct Saturation {
    /// Packets delivered.
    pub delivered: u64,
    /// Packets given up.
    pub dropped: u64,
    /// How long it ran.
    pub lasted: Span,
    /// Each radio's account.
    pub airtime: Vec<StationAirtime>,
    /// How long the medium was busy.
    pub busy: Span,
}

impl Saturation {
    /// Delivered payload in bit/s.
    pub fn goodput(&self, payload_bytes: u32) -> f64 {
        self.delivered as f64 * f64::from(payload_bytes) * 8.0 / self.lasted.as_secs_f64()
    }

    /// Share of transmissions that collided.
    pub fn collision_probability(&self) -> f64 {
        let sum = |count: fn(&StationAirtime) -> u64| -> u64 { self.airtime.iter().map(count).sum() };
        sum(|station| station.collisions) as f64 / sum(|station| station.attempts) as f64
    }
}

/// Lets every station send packets of `wire_bytes` to the access point for `lasts`.
pub fn saturate(config: &WifiConfig, stations: u32, wire_bytes: u32, lasts: Span, seed: u64) -> Saturation {
    let mut medium: Medium<u64> = Medium::new(config, stations, seed, "wlan");
    let mut events = Vec::new();
    let (mut delivered, mut dropped) = (0, 0);
    let end = Time::ZERO + lasts;
    for station in 1..=stations {
        for packet in 0..4 {
            let refused = medium.enqueue(Time::ZERO, station, 0, FrameClass::Data, wire_bytes, packet);
            assert_eq!(refused, Ok(()));
        }
    }
    while medium.next_deadline() <= end {
        let now = medium.next_deadline();
        medium.on_timer(now, &mut events);
        for event in events.drain(..) {
            let from = match event {
                MediumEvent::Delivered { from, .. } => {
                    delivered += 1;
                    from
                }
                MediumEvent::Dropped { from, .. } => {
                    dropped += 1;
                    from
                }
                MediumEvent::Attempt(_) => continue,
            };
            assert_eq!(
                medium.enqueue(now, from, 0, FrameClass::Data, wire_bytes, 0),
                Ok(())
            );
        }
    }
    Saturation {
        delivered,
        dropped,
        lasted: lasts,
        airtime: medium.airtime().to_vec(),
        busy: medium.busy(),
    }
}
