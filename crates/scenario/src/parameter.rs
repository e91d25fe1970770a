//! Parameters: named values with a type, which `$name` refers to, `--set`
//! overrides and `vary` ranges over.

use std::fmt;
use std::ops::Range;

use lasthop_units::{Quantity, parse_bytes, parse_rate, parse_span};

use crate::problem::{At, Report, allowed};
use crate::tree::{Data, Node, spell_number};

/// A declared parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub kind: Type,
    /// The noun it counts, for example "segments".
    pub unit: Option<String>,
    pub choices: Vec<Value>,
    pub min: Option<Value>,
    pub max: Option<Value>,
    pub default: Value,
}

/// What a parameter holds; follows from its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Integer,
    Number,
    Flag,
    Text,
    Quantity(Quantity),
    List(Box<Type>),
}

impl Type {
    /// The types a list can be declared to have.
    pub const ITEMS: [(&'static str, Type); 7] = [
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Flag),
        ("text", Self::Text),
        ("time", Self::Quantity(Quantity::Time)),
        ("rate", Self::Quantity(Quantity::Rate)),
        ("size", Self::Quantity(Quantity::Size)),
    ];

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ITEMS
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| kind)
    }

    /// The type of a value, if it is one a parameter can hold.
    fn of(data: &Data) -> Option<Self> {
        Some(match data {
            Data::Integer(_) => Self::Integer,
            Data::Number(_) => Self::Number,
            Data::Flag(_) => Self::Flag,
            Data::Text(text) => quantity_of(text).map_or(Self::Text, Self::Quantity),
            Data::List(items) => Self::List(Box::new(
                items.first().map_or(Some(Self::Number), |n| Self::of(&n.data))?,
            )),
            _ => return None,
        })
    }

    pub fn expected(&self) -> String {
        match self {
            Self::Integer => "a whole number".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Quantity(quantity) => expected_quantity(*quantity),
            Self::List(inner) => match inner.as_ref() {
                Self::Integer => "a list of whole numbers".to_owned(),
                Self::Number => "a list of numbers".to_owned(),
                Self::Flag => "a list of true and false".to_owned(),
                Self::Text => "a list of texts".to_owned(),
                Self::Quantity(Quantity::Time) => "a list of times".to_owned(),
                Self::Quantity(Quantity::Rate) => "a list of rates".to_owned(),
                Self::Quantity(Quantity::Size) => "a list of sizes".to_owned(),
                Self::List(_) => "a list of lists".to_owned(),
            },
        }
    }
}

/// `a time such as "10 ms" (units: ns, us, ...)`.
pub(crate) fn expected_quantity(quantity: Quantity) -> String {
    let (noun, example) = match quantity {
        Quantity::Time => ("a time", "250 ms"),
        Quantity::Rate => ("a rate", "10 Mbit/s"),
        Quantity::Size => ("a size", "64 KiB"),
    };
    let units: Vec<&str> = quantity.units().iter().map(|(name, _)| *name).collect();
    format!("{noun} such as \"{example}\" ({})", units.join(", "))
}

fn quantity_of(text: &str) -> Option<Quantity> {
    [Quantity::Time, Quantity::Rate, Quantity::Size]
        .into_iter()
        .find(|&quantity| measure(quantity, text).is_some())
}

/// The text as nanoseconds, bit/s or bytes.
fn measure(quantity: Quantity, text: &str) -> Option<u64> {
    match quantity {
        Quantity::Time => parse_span(text).ok().map(lasthop_units::Span::as_ns),
        Quantity::Rate => parse_rate(text).ok().map(lasthop_units::BitRate::as_bps),
        Quantity::Size => parse_bytes(text).ok(),
    }
}

/// A parameter's value. Quantities stay as spelt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Integer(i64),
    Number(f64),
    Flag(bool),
    Text(String),
    List(Vec<Value>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => f.write_str(&spell_number(*value)),
            Self::Flag(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

impl Value {
    /// The value as a node of the tree that stands at `span`.
    pub fn to_node(&self, span: &Range<usize>) -> Node {
        let data = match self {
            Self::Integer(value) => Data::Integer(*value),
            Self::Number(value) => Data::Number(*value),
            Self::Flag(value) => Data::Flag(*value),
            Self::Text(text) => Data::Text(text.clone()),
            Self::List(items) => Data::List(items.iter().map(|item| item.to_node(span)).collect()),
        };
        Node::new(span.clone(), data)
    }

    /// Whether both mean the same: quantities by size, not by spelling.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => {
                a == b || quantity_of(a).is_some_and(|q| measure(q, a) == measure(q, b))
            }
            (Self::Integer(a), Self::Number(b)) | (Self::Number(b), Self::Integer(a)) => {
                (*a as f64 - b).abs() < f64::EPSILON
            }
            (Self::List(a), Self::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            _ => self == other,
        }
    }

    fn compare(&self, other: &Self, kind: &Type) -> Option<std::cmp::Ordering> {
        match (self, other, kind) {
            (Self::Text(a), Self::Text(b), Type::Quantity(quantity)) => {
                measure(*quantity, a)?.partial_cmp(&measure(*quantity, b)?)
            }
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }
}

impl Parameter {
    /// A value of the file as this parameter's; the error says what is wrong.
    pub fn accept(&self, node: &Node) -> Result<Value, String> {
        let value = convert(&self.kind, node).ok_or_else(|| self.mismatch(&node.found()))?;
        self.check(&value)?;
        Ok(value)
    }

    /// A value of the command line as this parameter's. Lists are separated by commas.
    pub fn accept_text(&self, text: &str) -> Result<Value, String> {
        let value = match &self.kind {
            Type::List(inner) => {
                let text = text.trim().trim_start_matches('[').trim_end_matches(']');
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                let items: Option<Vec<Value>> = items.map(|item| read(inner, None, item)).collect();
                items.map(Value::List)
            }
            kind => read(kind, self.unit.as_deref(), text.trim()),
        };
        let value = value.ok_or_else(|| self.mismatch(&format!("{text:?}")))?;
        self.check(&value)?;
        Ok(value)
    }

    fn mismatch(&self, found: &str) -> String {
        let unit = self
            .unit
            .as_ref()
            .map(|unit| format!(" of {unit}"))
            .unwrap_or_default();
        let choices = if self.choices.is_empty() {
            String::new()
        } else {
            format!("; {}", self.allowed(found.trim_matches('"')))
        };
        format!("expected {}{unit}, found {found}{choices}", self.kind.expected())
    }

    fn allowed(&self, found: &str) -> String {
        let names: Vec<String> = self.choices.iter().map(ToString::to_string).collect();
        allowed(found, names.iter().map(String::as_str))
    }

    /// Checks choices and bounds; for a list, those of every item.
    fn check(&self, value: &Value) -> Result<(), String> {
        if let Value::List(items) = value {
            return items.iter().try_for_each(|item| self.check(item));
        }
        let kind = match &self.kind {
            Type::List(inner) => inner,
            kind => kind,
        };
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| choice.same(value)) {
            let found = value.to_string();
            return Err(format!("unknown value \"{found}\"; {}", self.allowed(&found)));
        }
        let below = |min: &&Value| value.compare(min, kind) == Some(std::cmp::Ordering::Less);
        let above = |max: &&Value| value.compare(max, kind) == Some(std::cmp::Ordering::Greater);
        if let Some(min) = self.min.as_ref().filter(below) {
            return Err(format!("{value} is too small; at least {min} is allowed"));
        }
        if let Some(max) = self.max.as_ref().filter(above) {
            return Err(format!("{value} is too large; at most {max} is allowed"));
        }
        Ok(())
    }
}

/// A value of the file as one of type `kind`.
fn convert(kind: &Type, node: &Node) -> Option<Value> {
    Some(match (kind, &node.data) {
        (Type::Integer, Data::Integer(value)) => Value::Integer(*value),
        (Type::Number, Data::Number(value)) if value.is_finite() => Value::Number(*value),
        (Type::Number, Data::Integer(value)) => Value::Number(*value as f64),
        (Type::Flag, Data::Flag(value)) => Value::Flag(*value),
        (Type::Text, Data::Text(text)) => Value::Text(text.clone()),
        (Type::Quantity(quantity), Data::Text(text)) => {
            measure(*quantity, text)?;
            Value::Text(text.clone())
        }
        (Type::List(inner), Data::List(items)) => Value::List(
            items
                .iter()
                .map(|item| convert(inner, item))
                .collect::<Option<_>>()?,
        ),
        _ => return None,
    })
}

/// A word of the command line as a value of type `kind`.
fn read(kind: &Type, unit: Option<&str>, text: &str) -> Option<Value> {
    let bare = match unit {
        Some(unit) => text.strip_suffix(unit).map_or(text, str::trim_end),
        None => text,
    };
    Some(match kind {
        Type::Integer => Value::Integer(bare.parse().ok()?),
        Type::Number => Value::Number(bare.parse().ok().filter(|value: &f64| value.is_finite())?),
        Type::Flag => Value::Flag(match text {
            "true" | "on" | "yes" | "1" => true,
            "false" | "off" | "no" | "0" => false,
            _ => return None,
        }),
        Type::Text => Value::Text(text.to_owned()),
        Type::Quantity(quantity) => {
            measure(*quantity, text)?;
            Value::Text(text.to_owned())
        }
        Type::List(_) => return None,
    })
}

/// The keys of a parameter's table with their help.
pub(crate) const KEYS: [(&str, &str); 7] = [
    (
        "default",
        "Its value when nothing else is said; it also decides the type. Required.",
    ),
    ("help", "What it means, in one sentence."),
    (
        "unit",
        "What a number counts, for example \"segments\" or \"packets\".",
    ),
    ("choices", "The values allowed."),
    ("min", "The smallest value allowed."),
    ("max", "The largest value allowed."),
    (
        "items",
        "For lists: the type of the items (integer, number, boolean, text, time, rate, size).",
    ),
];

/// Reads `[parameters]`.
pub(crate) fn read_all(section: Option<&Node>, report: &mut Report) -> Vec<Parameter> {
    let Some(section) = section else { return Vec::new() };
    let Data::Table(entries) = &section.data else {
        let found = section.found();
        report.add(
            &section.at("parameters"),
            format!("expected a table of parameters, found {found}"),
        );
        return Vec::new();
    };
    let mut parameters = Vec::new();
    for entry in entries {
        let path = format!("parameters.{}", entry.key);
        if !is_name(&entry.key) {
            let at = At {
                path,
                span: entry.key_span.clone(),
                origin: None,
            };
            report.add(
                &at,
                "a parameter's name has letters, digits and _ only, a letter first",
            );
            continue;
        }
        parameters.extend(read_one(&entry.key, &entry.key_span, &entry.node, &path, report));
    }
    parameters
}

/// Whether `name` can be referred to as `$name`.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn read_one(
    name: &str,
    span: &Range<usize>,
    node: &Node,
    path: &str,
    report: &mut Report,
) -> Option<Parameter> {
    let before = report.problems.len();
    let default = match &node.data {
        Data::Table(entries) => {
            for entry in entries {
                if !KEYS.iter().any(|(known, _)| *known == entry.key) {
                    let at = At {
                        path: format!("{path}.{}", entry.key),
                        span: entry.key_span.clone(),
                        origin: None,
                    };
                    let names = KEYS.iter().map(|(known, _)| *known);
                    report.add(&at, format!("unknown key; {}", allowed(&entry.key, names)));
                }
            }
            let Some(default) = node.get("default") else {
                let at = At {
                    path: path.to_owned(),
                    span: span.clone(),
                    origin: None,
                };
                report.add(&at, "missing key \"default\"; it decides the parameter's type");
                return None;
            };
            default
        }
        // `loss = 0.01` is short for `loss = { default = 0.01 }`.
        _ => node,
    };
    let default_path = format!("{path}.default");
    let text = |key: &str, report: &mut Report| match node.get(key).map(|n| (n, &n.data)) {
        Some((_, Data::Text(text))) => Some(text.clone()),
        Some((inner, _)) => {
            report.add(
                &inner.at(&format!("{path}.{key}")),
                format!("expected text, found {}", inner.found()),
            );
            None
        }
        None => None,
    };
    text("help", report);
    let unit = text("unit", report);
    let items = text("items", report);
    let Some(mut kind) = Type::of(&default.data).filter(|kind| !nested(kind)) else {
        report.add(
            &default.at(&default_path),
            format!(
                "expected a number, text, true or false, or a list of these, found {}",
                default.found()
            ),
        );
        return None;
    };
    if let (Some(items), Some(at)) = (&items, node.get("items")) {
        let at = at.at(&format!("{path}.items"));
        match (&kind, Type::from_name(items)) {
            (Type::List(_), Some(item)) => kind = Type::List(Box::new(item)),
            (Type::List(_), None) => {
                let names = Type::ITEMS.iter().map(|(name, _)| *name);
                report.add(&at, format!("unknown type {items:?}; {}", allowed(items, names)));
            }
            _ => report.add(&at, "only a parameter whose default is a list has items"),
        }
    }
    let mut parameter = Parameter {
        name: name.to_owned(),
        kind,
        unit,
        choices: Vec::new(),
        min: None,
        max: None,
        default: Value::Flag(false),
    };
    read_bounds(&mut parameter, node, path, report);
    match parameter.accept(default) {
        Ok(value) => parameter.default = value,
        Err(message) => report.add(&default.at(&default_path), message),
    }
    (report.problems.len() == before).then_some(parameter)
}

fn nested(kind: &Type) -> bool {
    matches!(kind, Type::List(inner) if matches!(inner.as_ref(), Type::List(_)))
}

/// Reads `choices`, `min` and `max`, which have the type of the default (or of its items).
fn read_bounds(parameter: &mut Parameter, node: &Node, path: &str, report: &mut Report) {
    let kind = match &parameter.kind {
        Type::List(inner) => inner.as_ref().clone(),
        kind => kind.clone(),
    };
    let one = |key: &str, inner: &Node, report: &mut Report| {
        let value = convert(&kind, inner);
        if value.is_none() {
            let message = format!("expected {}, found {}", kind.expected(), inner.found());
            report.add(&inner.at(&format!("{path}.{key}")), message);
        }
        value
    };
    let bound = |key: &str, report: &mut Report| {
        let inner = node.get(key)?;
        if matches!(kind, Type::Flag | Type::Text) {
            report.add(
                &inner.at(&format!("{path}.{key}")),
                "only numbers and quantities have bounds",
            );
            return None;
        }
        one(key, inner, report)
    };
    let min = bound("min", report);
    let max = bound("max", report);
    match node.get("choices").map(|inner| (inner, &inner.data)) {
        Some((_, Data::List(items))) => {
            parameter.choices = items
                .iter()
                .filter_map(|item| one("choices", item, report))
                .collect();
        }
        Some((inner, _)) => {
            let found = inner.found();
            report.add(
                &inner.at(&format!("{path}.choices")),
                format!("expected a list, found {found}"),
            );
        }
        None => {}
    }
    parameter.min = min;
    parameter.max = max;
}
