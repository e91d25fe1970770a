//! What a key takes. One table of keys, built from these, validates files,
//! becomes the JSON Schema and prints the reference.

use lasthop_units::{Quantity, Span};

use crate::parameter::expected_quantity;
use crate::tree::Node;

/// A key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub help: String,
    pub required: bool,
    /// As written in a file, with its parsed value.
    pub default: Option<(&'static str, Node)>,
    /// What holds when the key is absent and there is no fixed default.
    pub otherwise: Option<String>,
}

impl Key {
    /// The value that holds when nothing is said.
    ///
    /// # Panics
    /// In this crate's own tests only: every table of keys is built there.
    pub fn default(mut self, text: &'static str) -> Self {
        self.default = crate::tree::parse_value(text).map(|node| (text, node));
        debug_assert!(
            self.default.is_some(),
            "default of {} is not TOML: {text}",
            self.name
        );
        self
    }

    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// What holds when nothing is said, in words.
    pub fn otherwise(mut self, words: impl Into<String>) -> Self {
        self.otherwise = Some(words.into());
        self
    }
}

/// A key with its kind and its help.
pub(crate) fn key(name: &'static str, kind: Kind, help: impl Into<String>) -> Key {
    Key {
        name,
        kind,
        help: help.into(),
        required: false,
        default: None,
        otherwise: None,
    }
}

/// A name with its explanation.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub name: &'static str,
    pub help: &'static str,
}

/// One kind of item, chosen by the item's `type` key.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub name: &'static str,
    pub help: String,
    pub keys: Vec<Key>,
}

/// What a key takes.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Text that is not empty.
    Text,
    /// A name that others refer to.
    Identifier,
    /// True or false.
    Flag,
    /// A whole number within bounds.
    Integer { min: u64, max: u64 },
    /// A number within bounds.
    Number { min: f64, max: f64 },
    /// A time, at least this long.
    Time { min: Span },
    /// A rate above zero.
    Rate,
    /// A size within bounds, in bytes.
    Size { min: u64, max: u64 },
    /// A number of something: `"64 packets"`.
    Counted { noun: &'static str, min: u64, max: u64 },
    /// One of some names; `what` says what they name.
    Choice { what: &'static str, names: Vec<Name> },
    /// This one word.
    Word { word: &'static str, help: &'static str },
    /// Any of these.
    Any(Vec<Kind>),
    /// A list.
    List { of: Box<Kind>, min: usize, max: usize },
    /// A table with these keys.
    Table(Vec<Key>),
    /// A table whose `type` decides about the other keys.
    Tagged { what: &'static str, cases: Vec<Case> },
    /// A table from names of the author's choice to values of one kind.
    Named(Box<Kind>),
    /// `when`: parameters and the values they must have.
    When,
    /// Read elsewhere ([parameters], [vary], [[variants]]).
    Elsewhere { expected: &'static str },
}

pub(crate) fn time() -> Kind {
    Kind::Time { min: Span::ZERO }
}

/// A time above zero.
pub(crate) fn duration() -> Kind {
    Kind::Time {
        min: Span::from_ns(1),
    }
}

pub(crate) fn integer(min: u64, max: u64) -> Kind {
    Kind::Integer { min, max }
}

pub(crate) fn probability() -> Kind {
    Kind::Number { min: 0.0, max: 1.0 }
}

pub(crate) fn counted(noun: &'static str, min: u64) -> Kind {
    Kind::Counted {
        noun,
        min,
        max: u64::from(u32::MAX),
    }
}

pub(crate) fn word(word: &'static str, help: &'static str) -> Kind {
    Kind::Word { word, help }
}

pub(crate) fn list(of: Kind) -> Kind {
    Kind::List {
        of: Box::new(of),
        min: 0,
        max: usize::MAX,
    }
}

/// A choice whose names need no explanation.
pub(crate) fn choice(what: &'static str, names: impl IntoIterator<Item = &'static str>) -> Kind {
    let names = names.into_iter().map(|name| Name { name, help: "" }).collect();
    Kind::Choice { what, names }
}

pub(crate) fn explained(what: &'static str, names: &[(&'static str, &'static str)]) -> Kind {
    let names = names.iter().map(|&(name, help)| Name { name, help }).collect();
    Kind::Choice { what, names }
}

impl Kind {
    /// What is expected, for messages.
    pub fn expected(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Identifier => "a name".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Integer { .. } => "a whole number".to_owned(),
            Self::Number { .. } => "a number".to_owned(),
            Self::Time { .. } => expected_quantity(Quantity::Time),
            Self::Rate => expected_quantity(Quantity::Rate),
            Self::Size { .. } => expected_quantity(Quantity::Size),
            Self::Counted { noun, .. } => format!("a number of {noun} such as \"64 {noun}\""),
            Self::Choice { what, names } => {
                let names: Vec<&str> = names.iter().map(|choice| choice.name).collect();
                format!("{} {what} ({})", article(what), names.join(", "))
            }
            Self::Word { word, .. } => format!("\"{word}\""),
            Self::Any(kinds) => {
                let all: Vec<String> = kinds.iter().map(Self::expected).collect();
                match all.split_last() {
                    Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                    _ => all.concat(),
                }
            }
            Self::List { of, .. } => format!("a list, each item {}", of.expected()),
            Self::Table(_) | Self::Named(_) => "a table".to_owned(),
            Self::Tagged { what, .. } => format!("a table that describes {} {what}", article(what)),
            Self::When => "a table from parameters to values".to_owned(),
            Self::Elsewhere { expected } => (*expected).to_owned(),
        }
    }
}

pub(crate) fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    }
}
