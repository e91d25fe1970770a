//! What the stack's names mean, one line each. The names themselves come from
//! the tcp crate.

use crate::kind::{Kind, Name};

/// The senders by name with one line each.
pub(crate) const SENDER: &[(&str, &str)] = &[
    (
        "tahoe",
        "fast retransmit, then slow start from one segment (Jacobson 1988)",
    ),
    ("reno", "fast retransmit and fast recovery (RFC 2581)"),
    ("newreno", "fast recovery that partial ACKs continue (RFC 6582)"),
    (
        "sack",
        "recovery from selective acknowledgements, growth as Reno (RFC 6675)",
    ),
    ("cubic", "CUBIC growth with the personality's recovery (RFC 9438)"),
    (
        "vegas",
        "Vegas with the personality's recovery (Brakmo and Peterson 1995)",
    ),
    (
        "westwood",
        "Westwood+ with the personality's recovery (Grieco and Mascolo 2004)",
    ),
    ("veno", "Veno with the personality's recovery (Fu and Liew 2003)"),
];

/// The counting rules with one line each.
pub(crate) const ACK_COUNTING: &[(&str, &str)] = &[
    (
        "per-ack",
        "every ACK of new data counts as one segment, however little it acknowledges",
    ),
    (
        "per-segment",
        "whole segments acknowledged are counted (Linux since 3.x)",
    ),
    (
        "per-ack-of-segment",
        "every ACK that completes a segment counts as one (Linux 2.6)",
    ),
    (
        "per-byte",
        "bytes acknowledged are counted, at most a limit per ACK (RFC 3465)",
    ),
];

/// The recovery algorithms with one line each.
pub(crate) const RECOVERY: &[(&str, &str)] = &[
    (
        "tahoe",
        "fast retransmit, then slow start from one segment (Jacobson 1988)",
    ),
    ("reno", "fast retransmit and fast recovery (RFC 2581)"),
    ("newreno", "fast recovery that partial ACKs continue (RFC 6582)"),
    ("sack", "selective acknowledgements (RFC 6675)"),
];

pub(super) const IDLE_RESTART: &[(&str, &str)] = &[
    ("off", "nothing"),
    ("one-segment", "back to one segment (ns-2's slow_start_restart_)"),
    (
        "initial-window",
        "back to the initial window (RFC 5681 section 4.1)",
    ),
    ("decay", "halved for every RTO of pause (RFC 2861, Linux)"),
];

pub(super) const REDUCTION: &[(&str, &str)] = &[
    (
        "ns-2",
        "window inflation by duplicate ACKs, or a counted pipe, as ns-2 2.35",
    ),
    ("at-once", "at once (RFC 5681, RFC 6675)"),
    (
        "rate-halving",
        "one segment for every second ACK (Linux before 3.2)",
    ),
    ("prr", "in proportion to what the receiver gets (RFC 6937)"),
];

pub(super) const LOSS_DETECTION: &[(&str, &str)] = &[
    (
        "dup-acks",
        "duplicate ACKs, or SACKed segments above the hole (RFC 6675)",
    ),
    (
        "fack",
        "distance below the highest SACKed segment (forward ACK; Linux before 4.15)",
    ),
    ("rack", "time since a segment sent later was delivered (RFC 8985)"),
];

pub(super) const ESTIMATOR: &[(&str, &str)] = &[
    ("rfc-6298", "SRTT + max(G, 4 RTTVAR), then the floor"),
    (
        "linux",
        "the floor bounds the variance term, which falls once per round trip",
    ),
    (
        "ticks",
        "whole clock ticks in scaled integers (ns-2, Jacobson's code)",
    ),
];

/// The line about a name; empty for one that is new.
pub(crate) fn help(name: &str, lines: &[(&'static str, &'static str)]) -> &'static str {
    lines
        .iter()
        .find(|(known, _)| *known == name)
        .map_or("", |(_, help)| help)
}

/// A choice among the stack's names.
pub(super) fn described(
    what: &'static str,
    names: impl IntoIterator<Item = &'static str>,
    lines: &[(&'static str, &'static str)],
) -> Kind {
    let names = names
        .into_iter()
        .map(|name| Name {
            name,
            help: help(name, lines),
        })
        .collect();
    Kind::Choice { what, names }
}
