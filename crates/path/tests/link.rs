//! The wire as short dialogues.

use lasthop_path::{DropReason, ErrorModel, Jitter, Link, LinkConfig, PacketInfo, QueueLimit};
use lasthop_units::{BitRate, Span, Time};

const DATA: PacketInfo = PacketInfo {
    wire_bytes: 1040,
    is_data: true,
};
const ACK: PacketInfo = PacketInfo {
    wire_bytes: 40,
    is_data: false,
};

/// The bottleneck of the dumbbell: a data packet takes 832 µs, then 50 ms.
fn bottleneck() -> LinkConfig {
    LinkConfig {
        rate: Some(BitRate::from_bps(10_000_000)),
        delay: Span::from_ms(50),
        ..LinkConfig::default()
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn link(config: &LinkConfig) -> Link {
    Link::new(config, 1, "bottleneck/downlink")
}

#[test]
fn packets_queue_behind_each_other() {
    let mut link = link(&bottleneck());
    assert_eq!(link.transit(us(0), DATA), Ok(us(50_832)));
    assert_eq!(link.transit(us(100), DATA), Ok(us(51_664)));
    assert_eq!(link.queued(us(100)), Span::from_us(1_564));
    // Idle in between: no credit is saved up.
    assert_eq!(link.transit(us(10_000), ACK), Ok(us(60_032)));
    assert_eq!(link.queued_packets(us(10_000)), None);
}

#[test]
fn no_rate_takes_no_time() {
    let config = LinkConfig {
        rate: None,
        queue: QueueLimit::Packets(1),
        ..bottleneck()
    };
    let mut link = link(&config);
    for _ in 0..5 {
        assert_eq!(link.transit(us(7), DATA), Ok(us(50_007)));
    }
}

#[test]
fn a_limit_in_packets_counts_the_one_in_service() {
    let mut link = link(&LinkConfig {
        queue: QueueLimit::Packets(2),
        ..bottleneck()
    });
    assert!(link.transit(us(0), DATA).is_ok());
    assert!(link.transit(us(0), DATA).is_ok());
    assert_eq!(link.queued_packets(us(0)), Some(2));
    // Whoever arrives as the first leaves still finds it there.
    assert_eq!(link.transit(us(832), DATA), Err(DropReason::QueueFull));
    assert_eq!(link.transit(us(833), DATA), Ok(us(3 * 832 + 50_000)));
    assert_eq!(link.queued_packets(us(833)), Some(2));
}

#[test]
fn a_limit_in_bytes_lets_small_packets_pass() {
    let mut link = link(&LinkConfig {
        queue: QueueLimit::Bytes(2_100),
        ..bottleneck()
    });
    assert!(link.transit(us(0), DATA).is_ok());
    assert!(link.transit(us(0), DATA).is_ok());
    assert_eq!(link.transit(us(0), DATA), Err(DropReason::QueueFull));
    assert_eq!(link.transit(us(0), ACK), Err(DropReason::QueueFull));
    assert!(link.transit(us(833), ACK).is_ok());
    assert_eq!(link.queued_packets(us(833)), Some(2));
}

#[test]
fn lost_packets_have_used_the_wire() {
    let errors = vec![ErrorModel::DropList { packets: vec![1] }];
    let mut link = link(&LinkConfig {
        errors,
        ..bottleneck()
    });
    assert_eq!(link.transit(us(0), DATA), Err(DropReason::Error));
    assert_eq!(link.transit(us(0), DATA), Ok(us(2 * 832 + 50_000)));
}

#[test]
fn a_drop_list_counts_data_packets_that_passed_the_queue() {
    let errors = vec![ErrorModel::DropList { packets: vec![2] }];
    let mut link = link(&LinkConfig {
        errors,
        queue: QueueLimit::Packets(1),
        ..bottleneck()
    });
    assert!(link.transit(us(0), DATA).is_ok());
    assert_eq!(link.transit(us(0), DATA), Err(DropReason::QueueFull));
    assert!(link.transit(us(1_000), ACK).is_ok());
    assert_eq!(link.transit(us(2_000), DATA), Err(DropReason::Error));
    assert!(link.transit(us(3_000), DATA).is_ok());
}

/// Common random numbers: the n-th packet's fate is the same whether or not
/// the queue refuses others, and whatever other models stand beside.
#[test]
fn fates_depend_on_the_packets_number_alone() {
    let loss = ErrorModel::PerPacket { probability: 0.3 };
    let burst = ErrorModel::GilbertElliott {
        p_good_to_bad: 0.1,
        p_bad_to_good: 0.3,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let fates = |queue, gap: u64, errors: Vec<ErrorModel>| -> Vec<Result<(), DropReason>> {
        let mut link = link(&LinkConfig {
            queue,
            errors,
            ..bottleneck()
        });
        (0..500)
            .map(|n| link.transit(us(n * gap), DATA).map(|_| ()))
            .collect()
    };
    for errors in [
        vec![loss.clone()],
        vec![burst],
        vec![loss.clone(), ErrorModel::DropList { packets: vec![] }],
    ] {
        let calm = fates(QueueLimit::Unlimited, 1_000, errors.clone());
        let tight = fates(QueueLimit::Packets(2), 500, errors);
        let refused = tight
            .iter()
            .filter(|&&fate| fate == Err(DropReason::QueueFull))
            .count();
        assert!(refused > 100);
        for (calm, tight) in calm.iter().zip(&tight) {
            assert!(*tight == Err(DropReason::QueueFull) || calm == tight);
        }
    }
}

#[test]
fn jitter_spreads_the_delay_as_told() {
    let spread = Span::from_ms(2);
    let delays = |jitter| -> Vec<f64> {
        let mut link = link(&LinkConfig {
            rate: None,
            jitter,
            ..bottleneck()
        });
        let delay = |n: u64| {
            link.transit(us(n * 100_000), DATA)
                .unwrap()
                .since(us(n * 100_000))
        };
        (0..20_000)
            .map(delay)
            .map(|delay| delay.as_secs_f64() * 1e3 - 50.0)
            .collect()
    };
    let moments = |delays: &[f64]| {
        let mean = delays.iter().sum::<f64>() / delays.len() as f64;
        let square = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>();
        (mean, (square / delays.len() as f64).sqrt())
    };
    let uniform = delays(Jitter::Uniform {
        spread,
        reorder: false,
    });
    assert!(uniform.iter().all(|delay| delay.abs() <= 2.0));
    let (mean, deviation) = moments(&uniform);
    assert!(mean.abs() < 0.05 && (deviation - 2.0 / 3_f64.sqrt()).abs() < 0.03);
    let (mean, deviation) = moments(&delays(Jitter::Normal {
        spread,
        reorder: false,
    }));
    assert!(mean.abs() < 0.06 && (deviation - 2.0).abs() < 0.05);
}

#[test]
fn jitter_reorders_only_when_asked() {
    let arrivals = |reorder| -> (Vec<Time>, bool) {
        let jitter = Jitter::Normal {
            spread: Span::from_ms(5),
            reorder,
        };
        let mut link = link(&LinkConfig {
            jitter,
            ..bottleneck()
        });
        let can_reorder = link.can_reorder();
        (
            (0..500)
                .map(|n| link.transit(us(n * 1_000), DATA).unwrap())
                .collect(),
            can_reorder,
        )
    };
    let (ordered, can_reorder) = arrivals(false);
    assert!(ordered.is_sorted() && !can_reorder);
    let (free, can_reorder) = arrivals(true);
    assert!(!free.is_sorted() && can_reorder);
}

/// A delay never becomes negative, however wide the spread.
#[test]
fn jitter_never_delivers_into_the_past() {
    let jitter = Jitter::Normal {
        spread: Span::from_secs(1),
        reorder: true,
    };
    let mut link = link(&LinkConfig {
        jitter,
        rate: None,
        ..bottleneck()
    });
    assert!((0..1_000).all(|n| link.transit(us(n), DATA).unwrap() >= us(n)));
}
