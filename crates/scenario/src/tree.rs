//! The file as a tree of values that know where they stand.

use std::ops::Range;

use toml_edit::{Document, Item, Table, Value};

use crate::problem::{At, Report};

/// A value of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub span: Range<usize>,
    pub data: Data,
    /// The parameter it came from with its value, for messages.
    pub origin: Option<String>,
    /// The noun a parameter counts ("segments").
    pub unit: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Text(String),
    Integer(i64),
    Number(f64),
    Flag(bool),
    /// A date or time, which no key takes.
    Date(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// Something already reported.
    Broken,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: String,
    pub key_span: Range<usize>,
    pub node: Node,
}

impl Node {
    pub fn new(span: Range<usize>, data: Data) -> Self {
        Self {
            span,
            data,
            origin: None,
            unit: None,
        }
    }

    /// What it is, for messages: its text if short, else its type.
    pub fn found(&self) -> String {
        match &self.data {
            Data::Text(text) => format!("{text:?}"),
            Data::Integer(value) => value.to_string(),
            Data::Number(value) => spell_number(*value),
            Data::Flag(value) => value.to_string(),
            Data::Date(text) => format!("the date {text}"),
            Data::List(_) => "a list".to_owned(),
            Data::Table(_) => "a table".to_owned(),
            Data::Broken => "nothing".to_owned(),
        }
    }

    pub fn at(&self, path: &str) -> At {
        At {
            path: path.to_owned(),
            span: self.span.clone(),
            origin: self.origin.clone(),
        }
    }

    pub fn entries(&self) -> &[Entry] {
        match &self.data {
            Data::Table(entries) => entries,
            _ => &[],
        }
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()
            .iter()
            .find(|entry| entry.key == key)
            .map(|entry| &entry.node)
    }
}

/// A number as people write it: `0.01`, `1e-6`, `3`.
pub(crate) fn spell_number(value: f64) -> String {
    let plain = value.to_string();
    let short = format!("{value:e}");
    if plain.len() > short.len() + 3 {
        short
    } else {
        plain
    }
}

/// Parses TOML; a syntax error is reported and gives `None`.
pub(crate) fn parse(text: &str, report: &mut Report) -> Option<Node> {
    match Document::parse(text) {
        Ok(document) => Some(table(document.as_table(), 0..0)),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = error.message().trim().replace('\n', "; ");
            let at = At {
                path: String::new(),
                span,
                origin: None,
            };
            report.add(&at, format!("not valid TOML: {message}"));
            None
        }
    }
}

/// A single TOML value, for defaults written in this crate and for `--set`.
pub(crate) fn parse_value(text: &str) -> Option<Node> {
    let wrapped = format!("x = {text}");
    let document = Document::parse(wrapped.as_str()).ok()?;
    let root = table(document.as_table(), 0..0);
    let [entry] = root.entries() else { return None };
    Some(entry.node.clone())
}

fn table(table: &Table, inherited: Range<usize>) -> Node {
    let span = table.span().unwrap_or(inherited);
    let entries = table.iter().filter_map(|(key, item)| {
        let key_span = table
            .key(key)
            .and_then(toml_edit::Key::span)
            .unwrap_or_else(|| span.clone());
        entry(key, key_span, item)
    });
    Node::new(span.clone(), Data::Table(entries.collect()))
}

fn entry(key: &str, key_span: Range<usize>, of: &Item) -> Option<Entry> {
    let node = item(of, key_span.clone())?;
    Some(Entry {
        key: key.to_owned(),
        key_span,
        node,
    })
}

fn item(item: &Item, key_span: Range<usize>) -> Option<Node> {
    Some(match item {
        Item::None => return None,
        Item::Value(value) => self::value(value, key_span),
        Item::Table(inner) => {
            let mut node = table(inner, key_span.clone());
            // A header's span covers its line; errors about the table as a
            // whole are clearer on its name.
            node.span = if inner.is_dotted() { key_span } else { node.span };
            node
        }
        Item::ArrayOfTables(tables) => {
            let nodes = tables
                .iter()
                .map(|inner| table(inner, key_span.clone()))
                .collect();
            Node::new(tables.span().unwrap_or(key_span), Data::List(nodes))
        }
    })
}

fn value(value: &Value, inherited: Range<usize>) -> Node {
    let span = value.span().unwrap_or(inherited);
    let data = match value {
        Value::String(text) => Data::Text(text.value().clone()),
        Value::Integer(number) => Data::Integer(*number.value()),
        Value::Float(number) => Data::Number(*number.value()),
        Value::Boolean(flag) => Data::Flag(*flag.value()),
        Value::Datetime(date) => Data::Date(date.value().to_string()),
        Value::Array(values) => Data::List(
            values
                .iter()
                .map(|inner| self::value(inner, span.clone()))
                .collect(),
        ),
        Value::InlineTable(inner) => {
            let entries = inner.iter().map(|(key, of)| {
                let key_span = inner
                    .key(key)
                    .and_then(toml_edit::Key::span)
                    .unwrap_or_else(|| span.clone());
                Entry {
                    key: key.to_owned(),
                    key_span: key_span.clone(),
                    node: self::value(of, key_span),
                }
            });
            Data::Table(entries.collect())
        }
    };
    Node::new(span, data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_places() {
        let text = "[a]\nb = { c = [1, \"x\"] }\n[[d]]\ne.f = 2.5\n";
        let mut report = Report::default();
        let root = parse(text, &mut report).unwrap();
        let list = root.get("a").unwrap().get("b").unwrap().get("c").unwrap();
        assert_eq!(&text[list.span.clone()], "[1, \"x\"]");
        let Data::List(items) = &root.get("d").unwrap().data else {
            panic!("d is a list")
        };
        assert_eq!(
            items[0].get("e").unwrap().get("f").unwrap().data,
            Data::Number(2.5)
        );
        assert!(report.is_empty());
    }

    #[test]
    fn broken_toml_is_reported_with_its_place() {
        let mut report = Report::default();
        assert!(parse("a = 1\nb = [1,", &mut report).is_none());
        assert_eq!(report.problems.len(), 1);
    }
}
