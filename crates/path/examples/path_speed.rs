//! What one packet costs on a wire and one exchange on an 802.11 medium.
//!
//! `cargo run --release -p lasthop-path --example path_speed`

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use lasthop_path::{
    ErrorModel, FrameClass, FrameErrors, Link, LinkConfig, Medium, MediumEvent, PacketInfo, QueueLimit,
    Standard, WifiConfig,
};
use lasthop_units::{BitRate, Span, Time};

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    let plain = LinkConfig {
        rate: Some(BitRate::from_bps(10_000_000)),
        delay: Span::from_ms(50),
        ..LinkConfig::default()
    };
    let limited = LinkConfig {
        queue: QueueLimit::Packets(100),
        ..plain.clone()
    };
    let errors = vec![ErrorModel::PerPacket { probability: 0.01 }];
    let lossy = LinkConfig {
        errors,
        ..limited.clone()
    };
    for (name, config) in [("plain", plain), ("100 packets", limited), ("and lossy", lossy)] {
        writeln!(out, "wire, {name:<12} {:6.1} ns per packet", transit_ns(&config))?;
    }
    for stations in [1, 2, 10] {
        let ns = exchange_ns(stations, FrameErrors::None);
        writeln!(out, "802.11g, {stations:>2} stations {ns:6.1} ns per exchange")?;
    }
    let ns = exchange_ns(1, FrameErrors::BitErrorRate(1e-6));
    writeln!(out, "802.11g,  1 station, bit errors {ns:6.1} ns per exchange")
}

/// Packets at 90 % of the link's rate.
fn transit_ns(config: &LinkConfig) -> f64 {
    const PACKETS: u64 = 20_000_000;
    let mut link = Link::new(config, 1, "wire");
    let packet = PacketInfo {
        wire_bytes: 1040,
        is_data: true,
    };
    let started = Instant::now();
    let mut now = Time::ZERO;
    for _ in 0..PACKETS {
        now += Span::from_us(924);
        black_box(link.transit(now, black_box(packet))).ok();
    }
    started.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
}

/// A download's pattern: data to every station, an ACK back for each second packet.
fn exchange_ns(stations: u32, errors: FrameErrors) -> f64 {
    const EXCHANGES: u64 = 3_000_000;
    let mut config = WifiConfig::new(Standard::G);
    config.access_point.errors = errors;
    config.stations.errors = errors;
    let mut medium: Medium<u64> = Medium::new(&config, stations, 1, "wlan");
    for packet in 0..50 {
        let to = packet as u32 % stations + 1;
        medium
            .enqueue(Time::ZERO, 0, to, FrameClass::Data, 1500, packet)
            .ok();
    }
    let mut events = Vec::new();
    let started = Instant::now();
    let (mut exchanges, mut received) = (0, 0_u64);
    while exchanges < EXCHANGES {
        let now = medium.next_deadline();
        medium.on_timer(now, &mut events);
        exchanges += 1;
        for event in events.drain(..) {
            let MediumEvent::Delivered { from, to, packet } = event else {
                continue;
            };
            if from == 0 {
                received += 1;
                medium.enqueue(now, 0, to, FrameClass::Data, 1500, packet).ok();
                if received % 2 == 0 {
                    medium.enqueue(now, to, 0, FrameClass::Ack, 52, packet).ok();
                }
            }
        }
    }
    started.elapsed().as_secs_f64() * 1e9 / EXCHANGES as f64
}
