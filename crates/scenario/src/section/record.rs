//! `[record]`: what a run writes down besides its totals.

use lasthop_units::Span;

use crate::fields::{Fields, Value};
use crate::kind::{Kind, duration, key, word};
use crate::spec::{Record, Sampling};

pub(crate) fn kind() -> Kind {
    Kind::Table(vec![
        key(
            "samples",
            Kind::Any(vec![
                duration(),
                word("every-ack", "after every ACK processed"),
                word("off", "never"),
            ]),
            "How often each sender's state is sampled: a time means at the first ACK after each such interval.",
        )
        .default("\"10 ms\""),
        key("packets", Kind::Flag, "Log every packet at both hosts, and every drop.").default("false"),
        key("mac", Kind::Flag, "Log every attempt of the Wi-Fi MAC.").default("false"),
    ])
}

pub(crate) fn lower(root: &Fields) -> Record {
    let Some(fields) = root.table("record") else {
        return Record {
            samples: Sampling::Every(Span::from_ms(10)),
            packets: false,
            mac: false,
        };
    };
    let samples = match fields.get("samples").map(|checked| &checked.value) {
        Some(Value::Time(span)) => Sampling::Every(*span),
        Some(Value::Name("off")) => Sampling::Off,
        _ => Sampling::EveryAck,
    };
    Record {
        samples,
        packets: fields.flag("packets").unwrap_or(false),
        mac: fields.flag("mac").unwrap_or(false),
    }
}
