//! UDP saturation of 802.11a, b and g against Bianchi's model and ns-3.

mod common;

use common::saturate;
use lasthop_path::{Protection, Standard, Timing, WifiConfig};
use lasthop_units::Span;

const PAYLOAD: u32 = 1470;
/// UDP and IP headers.
const WIRE: u32 = PAYLOAD + 28;

/// A cell as the model sees it: times in microseconds.
struct Model {
    slot: f64,
    /// A success and a collision, the DIFS or EIFS that follows included.
    success: f64,
    collision: f64,
    /// Contention window sizes W = CW + 1 of the attempts of one frame.
    windows: Vec<f64>,
}

impl Model {
    fn new(config: &WifiConfig) -> Self {
        let us = |span: Span| span.as_ns() as f64 / 1e3;
        let timing = Timing::new(config);
        let data = us(timing.data(Timing::frame_bytes(WIRE)));
        let handshake = us(timing.rts) + us(timing.cts) + 2.0 * us(timing.sifs);
        let answered = data + us(timing.sifs) + us(timing.ack) + us(timing.difs);
        let (success, collision) = match config.protection {
            Protection::RtsCts => (handshake + answered, us(timing.rts) + us(timing.eifs)),
            Protection::CtsToSelf => {
                let cts = us(timing.cts) + us(timing.sifs);
                (cts + answered, cts + data + us(timing.eifs))
            }
            Protection::None => (answered, data + us(timing.eifs)),
        };
        let (min, max) = config.contention_window();
        let windows = (0..config.stations.short_retry_limit)
            .map(|attempt| f64::from(((min + 1) << attempt).min(max + 1)))
            .collect();
        Self {
            slot: us(timing.slot),
            success,
            collision,
            windows,
        }
    }

    /// Attempts per slot of a station whose attempts collide with probability
    /// `p`: Bianchi (2000) with the finite retry limit of Wu et al. (2002), by
    /// renewal: attempts per frame over slots per frame.
    fn attempts_per_slot(&self, p: f64, mean_slots: impl Fn(f64) -> f64) -> f64 {
        let (mut attempts, mut slots, mut reached) = (0.0, 0.0, 1.0);
        for &window in &self.windows {
            attempts += reached;
            slots += reached * mean_slots(window);
            reached *= p;
        }
        attempts / slots
    }

    /// The attempts per slot on which `n` stations agree, by bisection.
    fn fixed_point(&self, n: u32, mean_slots: impl Fn(f64) -> f64 + Copy) -> f64 {
        let others = n.cast_signed() - 1;
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let p = 0.5 * (low + high);
            let tau = self.attempts_per_slot(p, mean_slots);
            if 1.0 - (1.0 - tau).powi(others) > p {
                low = p;
            } else {
                high = p;
            }
        }
        self.attempts_per_slot(low, mean_slots)
    }

    /// Saturation goodput in bit/s of Bianchi (2000): counters also step in
    /// the slot a transmission fills.
    fn bianchi(&self, n: u32) -> f64 {
        let tau = self.fixed_point(n, |window| f64::midpoint(window, 1.0));
        let (idle, alone) = slot_probabilities(tau, n);
        let busy = 1.0 - idle;
        let mean = idle * self.slot + alone * self.success + (busy - alone) * self.collision;
        alone * f64::from(PAYLOAD) * 8.0 / mean * 1e6
    }

    /// Goodput and collisions per attempt with the standard's freezing (Bianchi and Tinnirello, "Remarks
    /// on IEEE 802.11 DCF performance analysis", 2005): a counter frozen at k
    /// needs k whole idle slots more, so the slot after a transmission belongs
    /// to its sender alone, if that draws zero.
    fn bianchi_tinnirello(&self, n: u32) -> (f64, f64) {
        let first = self.windows[0];
        // Zero is sent at once, so what is left is uniform on 1..W.
        let tau = self.fixed_point(n, |window| window / 2.0);
        let (idle, alone) = slot_probabilities(tau, n);
        let busy = 1.0 - idle;
        // A success is followed by further ones while its sender draws zero.
        let run = 1.0 / (1.0 - 1.0 / first);
        let success = self.success * run + self.slot;
        let collision = self.collision + self.slot;
        let mean = idle * self.slot + alone * success + (busy - alone) * collision;
        let collided = f64::from(n) * tau - alone;
        let goodput = alone * run * f64::from(PAYLOAD) * 8.0 / mean * 1e6;
        (goodput, collided / (collided + alone * run))
    }
}

/// Probabilities that nobody, and that exactly one of `n` stations sends in a slot.
fn slot_probabilities(tau: f64, n: u32) -> (f64, f64) {
    let n = n.cast_signed();
    ((1.0 - tau).powi(n), f64::from(n) * tau * (1.0 - tau).powi(n - 1))
}

/// Every standard and protection with every number of stations.
fn cells() -> Vec<(WifiConfig, u32)> {
    let mut cells = Vec::new();
    for &standard in Standard::ALL {
        for &protection in Protection::ALL {
            for stations in [1, 2, 5, 10, 20] {
                let mut config = WifiConfig::new(standard);
                config.protection = protection;
                // The frame after RTS/CTS never fails here, but its limit must
                // not be the shorter one if it did.
                config.stations.long_retry_limit = config.stations.short_retry_limit;
                cells.push((config, stations));
            }
        }
    }
    cells
}

fn label(config: &WifiConfig, stations: u32) -> String {
    format!(
        "802.11{} {} n={stations}",
        config.standard.name(),
        config.protection.name()
    )
}

fn deviation(value: f64, reference: f64) -> f64 {
    value / reference - 1.0
}

/// Lets every cell run for a minute. The snapshot is the table of
/// docs/models/wifi.md; a change of the model shows there, however small.
#[test]
fn goodput_is_that_of_bianchis_model() {
    let mut rows = Vec::new();
    for (config, stations) in cells() {
        let run = saturate(&config, stations, WIRE, Span::from_secs(60), 1);
        let model = Model::new(&config);
        let ours = run.goodput(PAYLOAD);
        let plain = deviation(ours, model.bianchi(stations));
        let (frozen, collisions) = model.bianchi_tinnirello(stations);
        let refined = deviation(ours, frozen);
        let label = label(&config, stations);
        rows.push(format!(
            "{label:<27} {:6.3} Mbit/s  Bianchi {:+.2} %  frozen {:+.2} %",
            ours / 1e6,
            plain * 100.0,
            refined * 100.0
        ));
        assert!(plain.abs() < 0.03, "{label}: {plain}");
        assert!(refined.abs() < 0.015, "{label}: {refined}");
        let seen = run.collision_probability();
        assert!(
            (seen - collisions).abs() < 0.015,
            "{label}: {seen} against {collisions}"
        );
    }
    insta::assert_snapshot!("saturation", rows.join("\n"));
}

/// ns-3.37, seed 1, 5 s, stations sending to an access point. Its beacons take
/// 0.1 % (a) to 0.9 % (g and b, at 1 Mbit/s) of the time; ours has none.
#[test]
fn goodput_is_that_of_ns3() {
    let oracle = [
        (Standard::G, 1, 29_675_184.0),
        (Standard::G, 2, 29_931_552.0),
        (Standard::A, 1, 29_858_640.0),
        (Standard::A, 2, 30_223_200.0),
        (Standard::B, 1, 6_051_696.0),
        (Standard::B, 2, 6_357_456.0),
    ];
    let mut rows = Vec::new();
    for (standard, stations, ns3) in oracle {
        let config = WifiConfig::new(standard);
        let run = saturate(&config, stations, WIRE, Span::from_secs(60), 1);
        let off = deviation(run.goodput(PAYLOAD), ns3);
        let label = label(&config, stations);
        rows.push(format!("{label:<27} {:+.2} %", off * 100.0));
        assert!(off.abs() < 0.015, "{label}: {off}");
    }
    insta::assert_snapshot!("ns3", rows.join("\n"));
}

/// One station alone: the mean cycle is DIFS + CWmin/2 slots + frame + SIFS + ACK.
#[test]
fn one_station_needs_exactly_the_mean_cycle() {
    for (standard, cycle_us) in [
        (Standard::A, 34.0 + 67.5 + 248.0 + 16.0 + 28.0),
        (Standard::G, 28.0 + 67.5 + 254.0 + 10.0 + 34.0),
        (Standard::B, 50.0 + 310.0 + 1308.0 + 10.0 + 248.0),
    ] {
        let run = saturate(&WifiConfig::new(standard), 1, WIRE, Span::from_secs(100), 1);
        let mean_us = run.lasted.as_secs_f64() * 1e6 / run.delivered as f64;
        // The mean of 50,000 or more backoffs is known to 0.1 %.
        assert!(
            (mean_us / cycle_us - 1.0).abs() < 0.001,
            "{}: {mean_us}",
            standard.name()
        );
    }
}

/// An 802.11g cell that minds 802.11b stations: a CTS-to-self at 11 Mbit/s
/// (203 µs) and 20 µs slots in front of every frame.
#[test]
fn protection_costs_what_its_frames_take() {
    let mut config = WifiConfig::new(Standard::G);
    config.protection = Protection::CtsToSelf;
    for (short_slot, cycle_us) in [
        (true, 28.0 + 67.5 + 203.0 + 10.0 + 254.0 + 10.0 + 34.0),
        (false, 50.0 + 150.0 + 203.0 + 10.0 + 254.0 + 10.0 + 34.0),
    ] {
        config.short_slot = short_slot;
        let run = saturate(&config, 1, WIRE, Span::from_secs(100), 1);
        let mean_us = run.lasted.as_secs_f64() * 1e6 / run.delivered as f64;
        assert!((mean_us / cycle_us - 1.0).abs() < 0.001, "{mean_us}");
    }
}

/// Everything between two busy times is backoff or a gap: the account closes.
#[test]
fn airtime_adds_up() {
    let config = WifiConfig::new(Standard::G);
    let run = saturate(&config, 1, WIRE, Span::from_secs(10), 1);
    let station = run.airtime[1];
    assert_eq!(station.data, run.busy);
    assert_eq!(station.successes, run.delivered);
    assert_eq!(run.airtime[0].attempts, 0);
    let timing = Timing::new(&config);
    let exchange = timing.data(Timing::frame_bytes(WIRE)) + timing.sifs + timing.ack;
    assert_eq!(station.data, exchange * run.delivered);
}

/// All stations get the same share in the long run (DCF is fair per packet).
#[test]
fn stations_share_equally() {
    let run = saturate(&WifiConfig::new(Standard::G), 10, WIRE, Span::from_secs(60), 1);
    let shares: Vec<u64> = run.airtime[1..].iter().map(|station| station.successes).collect();
    let mean = run.delivered as f64 / 10.0;
    assert!(
        shares
            .iter()
            .all(|&share| (share as f64 / mean - 1.0).abs() < 0.06),
        "{shares:?}"
    );
    let lost = run.dropped as f64 / (run.delivered + run.dropped) as f64;
    // p^7 at p = 0.38 is 0.1 %.
    assert!((0.0003..0.003).contains(&lost), "{lost}");
}
