//! Single values: text, numbers, quantities, choices.

use lasthop_units::{Quantity, Span, SpellingError, parse_bytes, parse_rate, parse_span};

use super::Checker;
use crate::fields::Value;
use crate::kind::{Kind, Name, article};
use crate::likeness::count_of;
use crate::parameter::{expected_quantity, is_name};
use crate::problem::{At, allowed, nearest};
use crate::tree::{Data, Node, spell_number};

impl Checker<'_> {
    pub(super) fn refuse<T>(&mut self, kind: &Kind, node: &Node, at: &At) -> Option<T> {
        self.report.add(
            at,
            format!("expected {}, found {}", kind.expected(), node.found()),
        );
        None
    }

    pub(super) fn text(&mut self, node: &Node, at: &At) -> Option<String> {
        match &node.data {
            Data::Text(text) if text.trim().is_empty() => {
                self.report.add(at, "the text is empty");
                None
            }
            Data::Text(text) => Some(text.clone()),
            _ => self.refuse(&Kind::Text, node, at),
        }
    }

    pub(super) fn identifier(&mut self, node: &Node, at: &At) -> Option<String> {
        let text = self.text(node, at)?;
        if identifies(&text) {
            return Some(text);
        }
        self.report.add(
            at,
            format!("{text:?} is no name; use letters, digits, - and _, a letter first"),
        );
        None
    }

    pub(super) fn integer(&mut self, node: &Node, at: &At, min: u64, max: u64) -> Option<Value> {
        let value = match node.data {
            Data::Integer(value) => value,
            // A parameter that is a number may hold a whole one.
            Data::Number(value) if node.origin.is_some() && value.fract() == 0.0 && value.abs() < 9e15 => {
                value as i64
            }
            _ => return self.refuse(&Kind::Integer { min, max }, node, at),
        };
        match u64::try_from(value) {
            Ok(value) if (min..=max).contains(&value) => Some(Value::Integer(value)),
            _ => self.bounds(
                at,
                &value.to_string(),
                value < 0 || (value as u64) < min,
                min,
                max,
            ),
        }
    }

    pub(super) fn bounds(&mut self, at: &At, found: &str, low: bool, min: u64, max: u64) -> Option<Value> {
        self.report.add(
            at,
            if low {
                format!("{found} is too small; at least {min} is allowed")
            } else {
                format!("{found} is too large; at most {max} is allowed")
            },
        );
        None
    }

    pub(super) fn number(&mut self, node: &Node, at: &At, min: f64, max: f64) -> Option<Value> {
        let value = match node.data {
            Data::Integer(value) => value as f64,
            Data::Number(value) => value,
            _ => return self.refuse(&Kind::Number { min, max }, node, at),
        };
        if value >= min && value <= max {
            return Some(Value::Number(value));
        }
        let range = match (min.is_finite(), max.is_finite()) {
            (true, true) => format!("between {} and {}", spell_number(min), spell_number(max)),
            (true, false) => format!("at least {}", spell_number(min)),
            _ => "finite".to_owned(),
        };
        self.report
            .add(at, format!("{} must be {range}", spell_number(value)));
        None
    }

    /// Text that should be a quantity, or the refusal.
    pub(super) fn spelt<'n>(&mut self, node: &'n Node, at: &At, quantity: Quantity) -> Option<&'n str> {
        match &node.data {
            Data::Text(text) if is_negative(text) => {
                self.report.add(at, format!("{text:?} is negative"));
                None
            }
            Data::Text(text) => Some(text),
            Data::Integer(_) | Data::Number(_) => {
                let message = format!(
                    "{} has no unit; expected {}",
                    node.found(),
                    expected_quantity(quantity)
                );
                self.report.add(at, message);
                None
            }
            _ => {
                self.report.add(
                    at,
                    format!("expected {}, found {}", expected_quantity(quantity), node.found()),
                );
                None
            }
        }
    }

    pub(super) fn misspelt<T>(&mut self, at: &At, quantity: Quantity, error: &SpellingError) -> Option<T> {
        let mut message = error.to_string();
        if let SpellingError::UnknownUnit { unit, .. } = error {
            let units: Vec<&str> = quantity.units().iter().map(|(name, _)| *name).collect();
            let usual = HABITS
                .iter()
                .find(|(habit, _)| *habit == unit.to_lowercase())
                .map(|(_, ours)| *ours);
            if let Some(near) = usual
                .filter(|name| units.contains(name))
                .or_else(|| nearest(unit, &units))
            {
                message = format!("{message}; did you mean \"{near}\"?");
            }
        }
        self.report.add(at, message);
        None
    }

    pub(super) fn time(&mut self, node: &Node, at: &At, min: Span) -> Option<Value> {
        let text = self.spelt(node, at, Quantity::Time)?;
        match parse_span(text) {
            Ok(span) if span < min => {
                self.report
                    .add(at, format!("{text:?} is too short; it must be longer than zero"));
                None
            }
            Ok(span) => Some(Value::Time(span)),
            Err(error) => self.misspelt(at, Quantity::Time, &error),
        }
    }

    pub(super) fn rate(&mut self, node: &Node, at: &At) -> Option<Value> {
        let text = self.spelt(node, at, Quantity::Rate)?;
        match parse_rate(text) {
            // Rates below 1 bit/s parse as 1 bit/s; neither carries a packet.
            Ok(rate) if rate.as_bps() <= 1 => {
                self.report
                    .add(at, format!("{text:?} is too slow; a rate must be above 1 bit/s"));
                None
            }
            Ok(rate) => Some(Value::Rate(rate)),
            Err(error) => self.misspelt(at, Quantity::Rate, &error),
        }
    }

    pub(super) fn size(&mut self, node: &Node, at: &At, min: u64, max: u64) -> Option<Value> {
        let text = self.spelt(node, at, Quantity::Size)?;
        match parse_bytes(text) {
            Ok(bytes) if bytes < min => {
                self.report
                    .add(at, format!("{text:?} is too small; at least {min} B is allowed"));
                None
            }
            Ok(bytes) if bytes > max => {
                self.report
                    .add(at, format!("{text:?} is too large; at most {max} B is allowed"));
                None
            }
            Ok(bytes) => Some(Value::Size(bytes)),
            Err(error) => self.misspelt(at, Quantity::Size, &error),
        }
    }

    pub(super) fn counted(
        &mut self,
        node: &Node,
        at: &At,
        noun: &'static str,
        min: u64,
        max: u64,
    ) -> Option<Value> {
        let kind = Kind::Counted { noun, min, max };
        let text = match &node.data {
            Data::Text(text) => text.clone(),
            Data::Integer(value) if node.unit.as_deref() == Some(noun) => format!("{value} {noun}"),
            _ => return self.refuse(&kind, node, at),
        };
        if is_negative(&text) {
            self.report.add(at, format!("{text:?} is negative"));
            return None;
        }
        let Some(number) = count_of(&text, noun) else {
            return self.refuse(&kind, node, at);
        };
        match number.parse::<u64>() {
            Ok(value) if (min..=max).contains(&value) => Some(Value::Counted(value)),
            parsed => self.bounds(at, &format!("{text:?}"), parsed.is_ok_and(|v| v < min), min, max),
        }
    }

    pub(super) fn choice(&mut self, node: &Node, at: &At, what: &str, names: &[Name]) -> Option<Value> {
        let found = match &node.data {
            Data::Text(text) => text.as_str(),
            _ => "",
        };
        if let Some(name) = names.iter().find(|choice| choice.name == found) {
            return Some(Value::Name(name.name));
        }
        let list = allowed(found, names.iter().map(|choice| choice.name));
        if !matches!(node.data, Data::Text(_)) {
            self.report.add(
                at,
                format!(
                    "expected {} {what}, found {}; {list}",
                    article(what),
                    node.found()
                ),
            );
            return None;
        }
        self.report
            .add(at, format!("unknown {what} {}; {list}", node.found()));
        None
    }
}

/// How units are spelt elsewhere, in small letters, and here.
const HABITS: [(&str, &str); 20] = [
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("msec", "ms"),
    ("usec", "us"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("byte", "B"),
    ("bytes", "B"),
    ("bps", "bit/s"),
    ("kbps", "kbit/s"),
    ("mbps", "Mbit/s"),
    ("gbps", "Gbit/s"),
    ("bit", "bit/s"),
    ("kbit", "kbit/s"),
    ("mbit", "Mbit/s"),
    ("gbit", "Gbit/s"),
];

/// Whether text names something others can refer to.
pub(super) fn identifies(text: &str) -> bool {
    is_name(&text.replace('-', "_"))
}

pub(super) fn is_negative(text: &str) -> bool {
    let rest = text.trim_start().strip_prefix('-');
    rest.is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
}
