//! Congestion controls and their parameters.

use lasthop_tcp::{Config, CongestionConfig};

use crate::fields::{Checked, Fields};
use crate::kind::{Case, Key, Kind, Name, duration, key};

/// The name alone, or a table with its parameters.
pub(super) fn kind() -> Kind {
    let controls = || CongestionConfig::names().filter_map(CongestionConfig::from_name);
    let names = controls()
        .map(|control| Name {
            name: control.name(),
            help: control.summary(),
        })
        .collect();
    let cases = controls().map(|control| Case {
        name: control.name(),
        help: control.summary().to_owned(),
        keys: keys(&control),
    });
    Kind::Any(vec![
        Kind::Choice {
            what: "congestion control",
            names,
        },
        Kind::Tagged {
            what: "congestion control",
            cases: cases.collect(),
        },
    ])
}

fn thousandths(name: &'static str, help: &str, max: f64, default: u32) -> Key {
    key(name, Kind::Number { min: 0.001, max }, help).otherwise(format!("{}", f64::from(default) / 1000.0))
}

fn segments(name: &'static str, help: &str, default: u32) -> Key {
    let kind = Kind::Counted {
        noun: "segments",
        min: 1,
        max: 1_000_000,
    };
    key(name, kind, help).otherwise(format!("{default} segments"))
}

/// The parameters of one congestion control; the defaults are its own.
pub(crate) fn keys(control: &CongestionConfig) -> Vec<Key> {
    match control {
        CongestionConfig::Reno(_) => Vec::new(),
        CongestionConfig::Cubic(cubic) => vec![
            thousandths(
                "beta",
                "What a loss leaves of the window (RFC 9438 section 4.6).",
                0.999,
                cubic.beta_permille,
            ),
            thousandths(
                "c",
                "C, in segments per cubic second (RFC 9438 section 5).",
                1000.0,
                cubic.c_permille,
            ),
            key(
                "fast_convergence",
                Kind::Flag,
                "Give up bandwidth after two losses in a row below the same maximum.",
            )
            .otherwise(cubic.fast_convergence.to_string()),
            key("reno_friendly", Kind::Flag, "Never grow slower than Reno would.")
                .otherwise(cubic.reno_friendly.to_string()),
            key("hystart", Kind::Flag, "Leave slow start by HyStart.").otherwise(cubic.hystart.to_string()),
        ],
        CongestionConfig::Vegas(vegas) => vec![
            segments("alpha", "Fewer queued than this: grow.", vegas.alpha),
            segments("beta", "More queued than this: shrink.", vegas.beta),
            segments("gamma", "More queued than this ends slow start.", vegas.gamma),
        ],
        CongestionConfig::Westwood(westwood) => vec![
            key(
                "least_sample",
                duration(),
                "Shortest time over which a bandwidth sample is taken.",
            )
            .otherwise(format!("\"{}\"", westwood.least_sample)),
        ],
        CongestionConfig::Veno(veno) => vec![segments(
            "beta",
            "Backlog from which losses count as congestion.",
            veno.beta,
        )],
    }
}

/// The thousandths of a number within the bounds of its key.
fn permille(fields: &Fields, key: &str) -> Option<u32> {
    fields.number(key).map(|value| (value * 1000.0).round() as u32)
}

pub(super) fn apply(config: &mut Config, value: &Checked) {
    let name = value.name().or_else(|| value.table().map(|fields| fields.case));
    let Some(mut control) = name.and_then(CongestionConfig::from_name) else {
        return;
    };
    if let Some(fields) = value.table() {
        set(&mut control, fields);
    }
    config.congestion = control;
}

fn set(control: &mut CongestionConfig, fields: &Fields) {
    match control {
        CongestionConfig::Reno(_) => {}
        CongestionConfig::Cubic(cubic) => {
            cubic.beta_permille = permille(fields, "beta").unwrap_or(cubic.beta_permille);
            cubic.c_permille = permille(fields, "c").unwrap_or(cubic.c_permille);
            cubic.fast_convergence = fields.flag("fast_convergence").unwrap_or(cubic.fast_convergence);
            cubic.reno_friendly = fields.flag("reno_friendly").unwrap_or(cubic.reno_friendly);
            cubic.hystart = fields.flag("hystart").unwrap_or(cubic.hystart);
        }
        CongestionConfig::Vegas(vegas) => {
            vegas.alpha = fields.small("alpha").unwrap_or(vegas.alpha);
            vegas.beta = fields.small("beta").unwrap_or(vegas.beta);
            vegas.gamma = fields.small("gamma").unwrap_or(vegas.gamma);
        }
        CongestionConfig::Westwood(westwood) => {
            westwood.least_sample = fields.time("least_sample").unwrap_or(westwood.least_sample);
        }
        CongestionConfig::Veno(veno) => veno.beta = fields.small("beta").unwrap_or(veno.beta),
    }
}
