//! Which of several kinds a value was most likely meant to be.

use lasthop_units::{parse_bytes, parse_rate, parse_span};

use crate::kind::Kind;
use crate::tree::{Data, Node};

/// How much the node looks like one of this kind: 0 not at all, 1 by its
/// form, 2 by its unit or name too.
pub(crate) fn likeness(kind: &Kind, node: &Node) -> u8 {
    let form = match &node.data {
        Data::Flag(_) => matches!(kind, Kind::Flag),
        Data::Integer(_) => match kind {
            Kind::Counted { noun, .. } if node.unit.as_deref() == Some(noun) => return 2,
            kind => matches!(kind, Kind::Integer { .. } | Kind::Number { .. }),
        },
        Data::Number(_) => matches!(kind, Kind::Number { .. }),
        Data::List(_) => matches!(kind, Kind::List { .. }),
        Data::Table(_) => matches!(kind, Kind::Table(_) | Kind::Tagged { .. } | Kind::Named(_)),
        Data::Text(text) => return text_likeness(kind, text),
        Data::Date(_) | Data::Broken => false,
    };
    u8::from(form)
}

fn text_likeness(kind: &Kind, text: &str) -> u8 {
    let digits = text
        .trim_start()
        .starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let (form, exact) = match kind {
        Kind::Counted { noun, .. } => (digits, count_of(text, noun).is_some()),
        Kind::Time { .. } => (digits, parse_span(text).is_ok()),
        Kind::Rate => (digits, parse_rate(text).is_ok()),
        Kind::Size { .. } => (digits, parse_bytes(text).is_ok()),
        Kind::Choice { .. } | Kind::Word { .. } => (!digits, words(kind).contains(&text)),
        Kind::Text | Kind::Identifier => (!digits, false),
        _ => (false, false),
    };
    u8::from(form) + u8::from(exact)
}

pub(crate) fn words(kind: &Kind) -> Vec<&'static str> {
    match kind {
        Kind::Word { word, .. } => vec![word],
        Kind::Choice { names, .. } => names.iter().map(|choice| choice.name).collect(),
        _ => Vec::new(),
    }
}

/// The digits of `"64 packets"` or `"1 packet"`.
pub(crate) fn count_of<'a>(text: &'a str, noun: &str) -> Option<&'a str> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let unit = text[end..].trim();
    let singular = noun.strip_suffix('s').unwrap_or(noun);
    (end > 0 && (unit == noun || unit == singular)).then_some(&text[..end])
}
