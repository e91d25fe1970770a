//! The eight senders of the literature by one name: a recovery algorithm and a
//! congestion control together.

use crate::config::{Config, InitialSsthresh, LossDetection, Recovery, Reduction};
use crate::congestion::CongestionConfig;

/// The names [`apply_sender`] knows.
pub const SENDERS: &[&str] =
    &["tahoe", "reno", "newreno", "sack", "cubic", "vegas", "westwood", "veno"];

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
    let Some(congestion) = CongestionConfig::from_name(name) else { return false };
    config.congestion = congestion;
    if config.reduction == Reduction::Ns2 && name != "vegas" {
        // ns-2 runs these through Agent/TCP/Linux, which has no initial threshold.
        config.initial_ssthresh = InitialSsthresh::Unlimited;
    }
    true
}
