//! Checked values, for those who turn them into configurations.

use lasthop_units::{BitRate, Span};

use crate::problem::At;

/// A value that passed its kind's check.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub at: At,
    pub value: Value,
}

/// What was checked; the variants follow [`crate::kind::Kind`].
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Flag(bool),
    Integer(u64),
    Number(f64),
    Time(Span),
    Rate(BitRate),
    Size(u64),
    Counted(u64),
    /// One of the names of a choice, or the word of a kind that takes one.
    Name(&'static str),
    List(Vec<Checked>),
    Table(Fields),
    Named(Vec<Named>),
    /// Read elsewhere.
    Nothing,
}

/// An entry of a table whose names are the author's.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub name: String,
    pub name_at: At,
    pub fields: Fields,
}

/// A table's checked values by key; defaults are filled in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    pub at: At,
    /// False when `when` leaves the item out.
    pub active: bool,
    /// The `type` of a tagged table.
    pub case: &'static str,
    pub entries: Vec<(&'static str, Checked)>,
}

impl Fields {
    pub fn get(&self, key: &str) -> Option<&Checked> {
        self.entries
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, checked)| checked)
    }

    /// Where a key's value stands, or the table when it is absent.
    pub fn at(&self, key: &str) -> &At {
        self.get(key).map_or(&self.at, |checked| &checked.at)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.flag()
    }

    /// A whole number bounded by its key to 32 bits.
    pub fn small(&self, key: &str) -> Option<u32> {
        self.get(key)?.small()
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number()
    }

    pub fn time(&self, key: &str) -> Option<Span> {
        self.get(key)?.time()
    }

    pub fn rate(&self, key: &str) -> Option<BitRate> {
        self.get(key)?.rate()
    }

    pub fn size(&self, key: &str) -> Option<u64> {
        self.get(key)?.size()
    }

    pub fn name(&self, key: &str) -> Option<&'static str> {
        self.get(key)?.name()
    }

    pub fn table(&self, key: &str) -> Option<&Fields> {
        self.get(key)?.table()
    }

    pub fn list(&self, key: &str) -> &[Checked] {
        self.get(key).map_or(&[], Checked::items)
    }

    /// The tables of a list, left-out ones included.
    pub fn tables(&self, key: &str) -> impl Iterator<Item = &Fields> {
        self.list(key).iter().filter_map(Checked::table)
    }

    pub fn named(&self, key: &str) -> &[Named] {
        match self.get(key).map(|checked| &checked.value) {
            Some(Value::Named(entries)) => entries,
            _ => &[],
        }
    }
}

impl Checked {
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn flag(&self) -> Option<bool> {
        match self.value {
            Value::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    /// A whole number, bare or of something.
    pub fn integer(&self) -> Option<u64> {
        match self.value {
            Value::Integer(value) | Value::Counted(value) => Some(value),
            _ => None,
        }
    }

    pub fn small(&self) -> Option<u32> {
        self.integer()
            .map(|value| u32::try_from(value).unwrap_or(u32::MAX))
    }

    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(value) => Some(value),
            _ => None,
        }
    }

    pub fn time(&self) -> Option<Span> {
        match self.value {
            Value::Time(span) => Some(span),
            _ => None,
        }
    }

    pub fn rate(&self) -> Option<BitRate> {
        match self.value {
            Value::Rate(rate) => Some(rate),
            _ => None,
        }
    }

    pub fn size(&self) -> Option<u64> {
        match self.value {
            Value::Size(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn name(&self) -> Option<&'static str> {
        match self.value {
            Value::Name(name) => Some(name),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Fields> {
        match &self.value {
            Value::Table(fields) => Some(fields),
            _ => None,
        }
    }

    pub fn items(&self) -> &[Checked] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }
}
