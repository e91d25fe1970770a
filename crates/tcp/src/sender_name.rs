//! The eight senders of the literature by one name: a recovery algorithm and a
//! congestion control together.

use crate::config::{Config, InitialSsthresh, LossDetection, Recovery, Reduction};
use crate::congestion::CongestionConfig;

/// The names [`apply_sender`] knows.
pub const SENDERS: &[&str] = &[
    "tahoe", "reno", "newreno", "sack", "cubic", "vegas", "westwood", "veno",
];

/// Turns `config` into the sender of that name; false (and no change) when
/// there is none.
///
/// The classic four choose the recovery algorithm and Reno's growth. The other
/// four choose the congestion control and keep the personality's recovery.
/// Recovery without SACK also stops RACK, tail loss probes and proportional
/// reduction, which need it.
pub fn apply_sender(config: &mut Config, name: &str) -> bool {
    if let Some(recovery) = Recovery::from_name(name) {
        config.recovery = recovery;
        config.congestion = CongestionConfig::reno();
        config.sack = recovery == Recovery::Sack;
        if !config.sack {
            config.loss_detection = LossDetection::DupAcks;
            config.tail_loss_probe = false;
            if config.reduction != Reduction::Ns2 {
                config.reduction = Reduction::AtOnce;
            }
        }
        return true;
    }
    if !SENDERS.contains(&name) {
        return false;
    }
    let Some(congestion) = CongestionConfig::from_name(name) else {
        return false;
    };
    config.congestion = congestion;
    if config.reduction == Reduction::Ns2 {
        as_linux_agent(config);
    }
    true
}

/// ns-2 runs these congestion controls in `Agent/TCP/Linux`: a scoreboard and
/// rate halving as Linux 2.6, timestamps (10 bytes more of header), no initial
/// threshold. Its older `Agent/TCP/Vegas` is not modelled.
fn as_linux_agent(config: &mut Config) {
    config.initial_ssthresh = InitialSsthresh::Unlimited;
    config.reduction = Reduction::RateHalving;
    config.loss_detection = LossDetection::Fack;
    config.timestamps = true;
    config.header_bytes = config.header_bytes.map(|_| 50);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Personality;

    #[test]
    fn every_sender_applies_to_every_personality() {
        for personality in Personality::all() {
            for name in SENDERS {
                let mut config = personality.config.clone();
                assert!(apply_sender(&mut config, name));
                let classic = Recovery::from_name(name).is_some();
                assert_eq!(config.congestion.name(), if classic { "reno" } else { *name });
                assert_eq!(config.sack, !classic || *name == "sack");
            }
        }
    }

    #[test]
    fn an_unknown_sender_changes_nothing() {
        let before = Personality::by_name("linux-6")
            .expect("a known personality")
            .config;
        let mut config = before.clone();
        assert!(!apply_sender(&mut config, "bbr"));
        assert_eq!(config, before);
    }
}
