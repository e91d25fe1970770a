//! `$name` in values: alone it is the parameter's typed value, inside text its
//! spelling (`"$window segments"`, `"${rtt}"`); `$$` is a dollar sign.

use crate::parameter::{Parameter, Value};
use crate::problem::{Report, allowed};
use crate::tree::{Data, Entry, Node};

/// The parameters with the values of one variant, in the order declared.
pub(crate) struct Assignment<'a> {
    pub parameters: &'a [Parameter],
    pub values: &'a [Value],
}

impl Assignment<'_> {
    pub fn get(&self, name: &str) -> Option<(&Parameter, &Value)> {
        let index = self
            .parameters
            .iter()
            .position(|parameter| parameter.name == name)?;
        Some((&self.parameters[index], &self.values[index]))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|parameter| parameter.name.as_str())
    }
}

/// The sections that declare or assign parameters; nothing refers to them there.
const LITERAL: [&str; 5] = ["name", "title", "parameters", "vary", "variants"];

/// The file with all references replaced.
pub(crate) fn resolve_file(root: &Node, assignment: &Assignment, report: &mut Report) -> Node {
    let entries = root
        .entries()
        .iter()
        .filter(|entry| entry.key != "parameters")
        .map(|entry| {
            let literal = LITERAL.contains(&entry.key.as_str());
            let node = if literal {
                entry.node.clone()
            } else {
                resolve(&entry.node, &entry.key, assignment, report)
            };
            Entry {
                node,
                ..entry.clone()
            }
        });
    Node::new(root.span.clone(), Data::Table(entries.collect()))
}

fn resolve(node: &Node, path: &str, assignment: &Assignment, report: &mut Report) -> Node {
    match &node.data {
        Data::Text(text) if text.contains('$') => substitute(text, node, path, assignment, report),
        Data::List(items) => {
            let items = items
                .iter()
                .enumerate()
                .map(|(index, item)| resolve(item, &format!("{path}[{index}]"), assignment, report));
            Node {
                data: Data::List(items.collect()),
                ..node.clone()
            }
        }
        Data::Table(entries) => {
            let entries = entries.iter().map(|entry| Entry {
                node: if entry.key == "when" {
                    entry.node.clone()
                } else {
                    resolve(&entry.node, &format!("{path}.{}", entry.key), assignment, report)
                },
                ..entry.clone()
            });
            Node {
                data: Data::Table(entries.collect()),
                ..node.clone()
            }
        }
        _ => node.clone(),
    }
}

/// A piece of a text: literal, or a reference.
enum Piece<'a> {
    Literal(&'a str),
    Reference(&'a str),
}

/// Splits a text; `None` when a `$` begins nothing.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        if at > 0 {
            pieces.push(Piece::Literal(&rest[..at]));
        }
        let after = &rest[at + 1..];
        if let Some(tail) = after.strip_prefix('$') {
            pieces.push(Piece::Literal("$"));
            rest = tail;
        } else if let Some(braced) = after.strip_prefix('{') {
            let end = braced.find('}')?;
            pieces.push(Piece::Reference(braced[..end].trim()));
            rest = &braced[end + 1..];
        } else {
            let end = after
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            pieces.push(Piece::Reference(&after[..end]));
            rest = &after[end..];
        }
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    Some(pieces)
}

fn substitute(text: &str, node: &Node, path: &str, assignment: &Assignment, report: &mut Report) -> Node {
    let broken = Node {
        data: Data::Broken,
        ..node.clone()
    };
    let Some(pieces) = pieces(text) else {
        report.add(
            &node.at(path),
            format!(
                "{text:?} has a $ without a parameter's name; write $name, ${{name}}, or $$ for a dollar sign"
            ),
        );
        return broken;
    };
    if let [Piece::Reference(name)] = pieces.as_slice() {
        let Some((parameter, value)) = assignment.get(name) else {
            report.add(&node.at(path), unknown(name, assignment));
            return broken;
        };
        let mut replaced = value.to_node(&node.span);
        mark(
            &mut replaced,
            &format!("${name} = {value}"),
            parameter.unit.as_ref(),
        );
        return replaced;
    }
    let mut spelt = String::new();
    let mut origins = Vec::new();
    let mut failed = false;
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => spelt.push_str(literal),
            Piece::Reference(name) => {
                if let Some((_, value)) = assignment.get(name) {
                    spelt.push_str(&value.to_string());
                    origins.push(format!("${name} = {value}"));
                } else {
                    report.add(&node.at(path), unknown(name, assignment));
                    failed = true;
                }
            }
        }
    }
    if failed {
        return broken;
    }
    let origin = (!origins.is_empty()).then(|| origins.join(", "));
    Node {
        data: Data::Text(spelt),
        origin,
        ..node.clone()
    }
}

fn unknown(name: &str, assignment: &Assignment) -> String {
    format!(
        "unknown parameter \"${name}\"; {}",
        allowed(name, assignment.names())
    )
}

fn mark(node: &mut Node, origin: &str, unit: Option<&String>) {
    node.origin = Some(origin.to_owned());
    node.unit = unit.cloned();
    if let Data::List(items) = &mut node.data {
        for item in items {
            mark(item, origin, unit);
        }
    }
}
