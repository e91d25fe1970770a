//! A host's TCP settings as the Linux stack can be told them, or why it cannot.

use lasthop_scenario::spec::Host;
use lasthop_tcp::{
    AckCounting, Config, CongestionConfig, DelayedAck, IdleRestart, LossDetection, Personality,
    ReceiveBuffer, Recovery, Reduction,
};
use lasthop_units::Span;
use thiserror::Error;

use crate::RouteSettings;

/// Why a scenario cannot run on the kernel engine, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the kernel engine cannot play this scenario: {reason}")]
pub struct Refusal {
    /// The reason.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}

/// Which congestion control a host's senders use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// One the kernel has, by its name.
    Named(String),
    /// The one that counts every ACK; the flag is "only while cwnd limits".
    PerAck {
        /// Grow only while the congestion window is what limits the sender.
        when_limited: bool,
    },
}

/// What a host's stack is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Largest IP packet, which gives the segment size asked for.
    pub mtu: u32,
    /// What its connections start with.
    pub route: RouteSettings,
    /// Kernel settings inside its namespace.
    pub sysctls: Vec<(String, String)>,
    /// Congestion control of its senders.
    pub control: Control,
    /// Upper bound of the window it announces, for the engine's own programs.
    pub window_clamp: Option<u32>,
    /// Whether its programs switch Nagle's algorithm off.
    pub no_delay: bool,
}

/// A TCP header without options.
const TCP_HEADER_BYTES: u32 = 20;
/// The timestamp option with its padding.
const TIMESTAMP_BYTES: u32 = 12;
/// A segment's memory is at most this many times its payload.
const MEMORY_PER_BYTE: u64 = 4;

/// A setting as a person reads it.
fn spelt(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let inner = text.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')'));
    match text.as_str() {
        "None" => "not set".to_owned(),
        "true" => "on".to_owned(),
        "false" => "off".to_owned(),
        _ => inner.unwrap_or(&text).to_owned(),
    }
}

/// Refuses `$config` when one of the fields differs from Linux's own.
macro_rules! fixed {
    ($name:expr, $config:expr, $linux:expr, $($($field:ident).+ as $words:literal),+ $(,)?) => {
        $(if $config.$($field).+ != $linux.$($field).+ {
            return Err(Refusal::new(format!(
                "{} of host {:?} is {}, and today's Linux has it {}; personality = \"linux-6\" can be played",
                $words, $name, spelt(&$config.$($field).+), spelt(&$linux.$($field).+),
            )));
        })+
    };
}

impl Stack {
    /// How the kernel plays `host`.
    ///
    /// # Errors
    /// When a setting is one that Linux does not have.
    pub fn of(host: &Host) -> Result<Self, Refusal> {
        let (name, config) = (&host.name, &host.tcp);
        let linux = Personality::by_name("linux-6")
            .ok_or_else(|| Refusal::new("the personality linux-6 is unknown"))?
            .config;
        refuse_what_is_fixed(name, config, &linux)?;
        Ok(Self {
            mtu: config.smss
                + config.ip_version.header_bytes()
                + TCP_HEADER_BYTES
                + if config.timestamps { TIMESTAMP_BYTES } else { 0 },
            route: RouteSettings {
                initial_window: Some(config.initial_window_segments),
                // Without it Linux opens a fixed window slowly, and acknowledges every segment meanwhile.
                initial_receive_window: match config.receive_buffer {
                    ReceiveBuffer::Fixed { bytes } => {
                        Some(bytes.div_ceil(u64::from(config.smss.max(1))).min(1 << 20) as u32)
                    }
                    ReceiveBuffer::Auto(_) => None,
                },
                quick_ack: config.delayed_ack == DelayedAck::Off,
                rto_min_ms: (config.rto.min != linux.rto.min)
                    .then_some((config.rto.min.as_ns() / 1_000_000) as u32),
                advertised_mss: None,
            },
            sysctls: sysctls(name, config, &linux)?,
            control: match &host.kernel_congestion_control {
                Some(own) => Control::Named(own.clone()),
                None => control(name, config)?,
            },
            window_clamp: match config.receive_buffer {
                ReceiveBuffer::Fixed { bytes } => Some(bytes.min(u64::from(u32::MAX / 2)) as u32),
                ReceiveBuffer::Auto(_) => None,
            },
            no_delay: !config.nagle,
        })
    }
}

fn refuse_what_is_fixed(name: &str, config: &Config, linux: &Config) -> Result<(), Refusal> {
    fixed!(name, config, linux,
        header_bytes as "the header size counted on the wire",
        initial_ssthresh as "the initial slow-start threshold",
        max_cwnd_segments as "the congestion window's upper bound",
        limited_transmit as "limited transmit",
        undo as "the undoing of needless reductions",
        rto.initial as "the initial retransmission timeout",
        rto.max as "the longest retransmission timeout",
        rto.estimator as "the retransmission timeout's estimator",
        rto.heartbeat as "the retransmission timer's heartbeat",
        rto.max_backoff as "the largest back-off",
    );
    let repairs = match config.recovery {
        Recovery::Sack => config.sack && config.reduction == Reduction::Prr,
        // Without SACK Linux recovers as NewReno does.
        Recovery::NewReno => !config.sack && config.loss_detection == LossDetection::DupAcks,
        Recovery::Reno | Recovery::Tahoe => false,
    };
    if !repairs {
        return Err(Refusal::new(format!(
            "host {name:?} repairs losses by {} with reduction {}, and Linux by sack with prr, or \
             by newreno without SACK",
            config.recovery.name(),
            config.reduction.name(),
        )));
    }
    if let DelayedAck::Fixed { .. } = config.delayed_ack {
        return Err(Refusal::new(format!(
            "host {name:?} delays ACKs by a fixed time, and Linux by 40 to 200 ms or not at all"
        )));
    }
    if config.delayed_ack != DelayedAck::Off {
        fixed!(name, config, linux,
            delayed_ack as "the delayed-ACK time",
            quick_ack_segments as "the number of segments acknowledged at once",
        );
    }
    Ok(())
}

fn control(name: &str, config: &Config) -> Result<Control, Refusal> {
    let congestion = &config.congestion;
    let usual = CongestionConfig::from_name(congestion.name());
    if usual.as_ref() != Some(congestion) {
        return Err(Refusal::new(format!(
            "host {name:?} changes parameters of {}, which are fixed in Linux",
            congestion.name()
        )));
    }
    match config.ack_counting {
        AckCounting::PerSegment if config.cwnd_limited_growth => {
            Ok(Control::Named(congestion.name().to_owned()))
        }
        AckCounting::PerSegment => Err(Refusal::new(format!(
            "host {name:?} grows its window also when that does not limit it, and Linux does not"
        ))),
        AckCounting::PerAck if congestion.name() == "reno" => Ok(Control::PerAck {
            when_limited: config.cwnd_limited_growth,
        }),
        AckCounting::PerAck => Err(Refusal::new(format!(
            "host {name:?} counts ACKs with {}; in the kernel only reno can",
            congestion.name()
        ))),
        other => Err(Refusal::new(format!(
            "host {name:?} counts ACKs {}, and Linux counts whole segments, or with reno every ACK",
            other.name()
        ))),
    }
}

fn sysctls(name: &str, config: &Config, linux: &Config) -> Result<Vec<(String, String)>, Refusal> {
    let flag = |on: bool| u32::from(on).to_string();
    let slow_start_after_idle = match config.idle_restart {
        IdleRestart::Decay => true,
        IdleRestart::Off => false,
        other => {
            return Err(Refusal::new(format!(
                "host {name:?} restarts after idle with {}, and Linux with decay or off",
                other.name()
            )));
        }
    };
    let memory = match config.receive_buffer {
        ReceiveBuffer::Fixed { bytes } => {
            let memory = bytes.saturating_mul(MEMORY_PER_BYTE).clamp(16_384, 1 << 30);
            format!("4096 {memory} {memory}")
        }
        ReceiveBuffer::Auto(tuning) => format!("{} {} {}", tuning.min, tuning.default, tuning.max),
    };
    let mut settings = vec![
        ("tcp_timestamps", flag(config.timestamps)),
        ("tcp_sack", flag(config.sack)),
        ("tcp_dsack", flag(config.dsack)),
        ("tcp_window_scaling", flag(config.window_scaling)),
        ("tcp_slow_start_after_idle", flag(slow_start_after_idle)),
        ("tcp_recovery", flag(config.loss_detection == LossDetection::Rack)),
        // 3 sends tail loss probes, 0 none.
        (
            "tcp_early_retrans",
            if config.tail_loss_probe { "3" } else { "0" }.to_owned(),
        ),
        ("tcp_frto", if config.frto { "2" } else { "0" }.to_owned()),
        ("tcp_reordering", config.dup_ack_threshold.to_string()),
        ("tcp_rmem", memory),
        ("tcp_no_metrics_save", "1".to_owned()),
    ];
    if config.rto.max_retries != linux.rto.max_retries {
        settings.push(("tcp_retries2", config.rto.max_retries.min(255).to_string()));
    }
    if config.rto.max_syn_retries != linux.rto.max_syn_retries {
        settings.push(("tcp_syn_retries", config.rto.max_syn_retries.min(127).to_string()));
    }
    if config.rto.min == Span::ZERO {
        return Err(Refusal::new(format!(
            "host {name:?} has no smallest retransmission timeout"
        )));
    }
    Ok(settings
        .into_iter()
        .map(|(key, value)| (format!("ipv4/{key}"), value))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::spec::Side;

    fn host(change: impl FnOnce(&mut Config)) -> Host {
        let mut tcp = Personality::by_name("linux-6").unwrap().config;
        change(&mut tcp);
        Host {
            name: "server".into(),
            side: Side::Server,
            count: 1,
            personality: "linux-6".into(),
            tcp,
            kernel_congestion_control: None,
        }
    }

    #[test]
    fn linux_6_is_played_as_it_is() {
        let stack = Stack::of(&host(|_| {})).unwrap();
        assert_eq!(stack.mtu, 1500);
        assert_eq!(stack.control, Control::Named("cubic".into()));
        assert_eq!(stack.route.initial_window, Some(10));
        assert!(!stack.route.quick_ack);
        assert_eq!(stack.window_clamp, None);
    }

    #[test]
    fn a_congestion_control_of_the_kernel_is_taken_by_its_name() {
        let host = Host {
            kernel_congestion_control: Some("bbr".into()),
            ..host(|_| {})
        };
        assert_eq!(Stack::of(&host).unwrap().control, Control::Named("bbr".into()));
    }

    #[test]
    fn counting_acks_needs_reno_in_bpf() {
        let counting = |congestion| {
            Stack::of(&host(|tcp| {
                tcp.ack_counting = AckCounting::PerAck;
                tcp.congestion = congestion;
            }))
        };
        let reno = counting(CongestionConfig::reno()).unwrap();
        assert_eq!(reno.control, Control::PerAck { when_limited: true });
        let refusal = counting(CongestionConfig::cubic()).unwrap_err();
        assert!(refusal.reason.contains("only reno can"), "{refusal}");
    }

    #[test]
    fn tahoe_and_fixed_delays_are_refused_with_a_reason() {
        let tahoe = Stack::of(&host(|tcp| tcp.recovery = Recovery::Tahoe)).unwrap_err();
        assert!(tahoe.reason.contains("tahoe"), "{tahoe}");
        let delay = DelayedAck::Fixed {
            timeout: Span::from_ms(100),
        };
        let fixed = Stack::of(&host(|tcp| tcp.delayed_ack = delay)).unwrap_err();
        assert!(fixed.reason.contains("fixed time"), "{fixed}");
    }

    #[test]
    fn every_old_personality_is_refused() {
        for personality in Personality::all() {
            let host = Host {
                tcp: personality.config,
                personality: personality.name.into(),
                ..host(|_| {})
            };
            assert_eq!(
                Stack::of(&host).is_ok(),
                personality.name == "linux-6",
                "{}",
                personality.name
            );
        }
    }
}
