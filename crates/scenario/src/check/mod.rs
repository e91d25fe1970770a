//! Checks a tree against the table of keys.

mod scalar;

use scalar::{identifies, is_negative};

use crate::fields::{Checked, Fields, Named, Value};
use crate::kind::{Case, Key, Kind};
use crate::likeness::{likeness, words};
use crate::problem::{At, Report, allowed, nearest};
use crate::reference::Assignment;
use crate::tree::{Data, Entry, Node};

/// Checks values and `when` conditions for one variant.
pub(crate) struct Checker<'a> {
    pub assignment: Assignment<'a>,
    pub report: &'a mut Report,
}

impl Checker<'_> {
    /// The node as a value of `kind`; `None` when it is not one, which is then reported.
    pub fn check(&mut self, kind: &Kind, node: &Node, path: &str) -> Option<Checked> {
        let at = node.at(path);
        if node.data == Data::Broken {
            return None;
        }
        let value = match kind {
            Kind::Text => self.text(node, &at).map(Value::Text),
            Kind::Identifier => self.identifier(node, &at).map(Value::Text),
            Kind::Flag => match node.data {
                Data::Flag(flag) => Some(Value::Flag(flag)),
                _ => self.refuse(kind, node, &at),
            },
            Kind::Integer { min, max } => self.integer(node, &at, *min, *max),
            Kind::Number { min, max } => self.number(node, &at, *min, *max),
            Kind::Time { min } => self.time(node, &at, *min),
            Kind::Rate => self.rate(node, &at),
            Kind::Size { min, max } => self.size(node, &at, *min, *max),
            Kind::Counted { noun, min, max } => self.counted(node, &at, noun, *min, *max),
            Kind::Choice { what, names } => self.choice(node, &at, what, names),
            Kind::Word { word, .. } => match &node.data {
                Data::Text(text) if text == word => Some(Value::Name(word)),
                _ => self.refuse(kind, node, &at),
            },
            Kind::Any(kinds) => return self.any(kind, kinds, node, path),
            Kind::List { of, min, max } => self.list(kind, node, path, of, (*min, *max)),
            Kind::Table(keys) => match &node.data {
                Data::Table(entries) => Some(Value::Table(self.table(keys, entries, &at, "", None))),
                _ => self.refuse(kind, node, &at),
            },
            Kind::Tagged { what, cases } => self.tagged(kind, node, path, what, cases),
            Kind::Named(inner) => self.named(kind, node, path, inner),
            Kind::When | Kind::Elsewhere { .. } => Some(Value::Nothing),
        };
        value.map(|value| Checked { at, value })
    }

    /// The alternative that takes the node; if none does, the one that was
    /// most likely meant explains why.
    fn any(&mut self, kind: &Kind, kinds: &[Kind], node: &Node, path: &str) -> Option<Checked> {
        let best = kinds.iter().map(|kind| likeness(kind, node)).max().unwrap_or(0);
        let mut likeliest = kinds
            .iter()
            .filter(|kind| best > 0 && likeness(kind, node) == best);
        if let (Some(only), None) = (likeliest.next(), likeliest.next()) {
            return self.check(only, node, path);
        }
        for kind in kinds {
            let mut trial = Report::default();
            let assignment = Assignment { ..self.assignment };
            let checked = Checker {
                assignment,
                report: &mut trial,
            }
            .check(kind, node, path);
            if checked.is_some() && trial.is_empty() {
                return checked;
            }
        }
        let at = node.at(path);
        if let Data::Text(text) = &node.data {
            if is_negative(text) {
                self.report.add(&at, format!("{text:?} is negative"));
                return None;
            }
            let words: Vec<&str> = kinds.iter().flat_map(words).collect();
            let near = nearest(text, &words).map(|name| format!("; did you mean \"{name}\"?"));
            let message = format!("expected {}, found {}", kind.expected(), node.found());
            self.report
                .add(&at, format!("{message}{}", near.unwrap_or_default()));
            return None;
        }
        let quantities = kinds.iter().any(|kind| {
            matches!(
                kind,
                Kind::Time { .. } | Kind::Rate | Kind::Size { .. } | Kind::Counted { .. }
            )
        });
        if quantities && matches!(node.data, Data::Integer(_) | Data::Number(_)) {
            self.report.add(
                &at,
                format!("{} has no unit; expected {}", node.found(), kind.expected()),
            );
            return None;
        }
        self.refuse(kind, node, &at)
    }

    fn list(
        &mut self,
        kind: &Kind,
        node: &Node,
        path: &str,
        of: &Kind,
        bounds: (usize, usize),
    ) -> Option<Value> {
        let at = node.at(path);
        let Data::List(items) = &node.data else {
            if matches!(node.data, Data::Table(_)) && matches!(of, Kind::Table(_) | Kind::Tagged { .. }) {
                self.report.add(
                    &at,
                    format!("expected a list of tables, found one table; write [[{path}]]"),
                );
                return None;
            }
            return self.refuse(kind, node, &at);
        };
        if items.len() < bounds.0 || items.len() > bounds.1 {
            let wanted = if bounds.0 == bounds.1 {
                format!("{} are needed", bounds.0)
            } else if items.len() < bounds.0 {
                format!("at least {} needed", bounds.0)
            } else {
                format!("at most {} are allowed", bounds.1)
            };
            self.report.add(
                &at,
                format!(
                    "the list has {} item{}; {wanted}",
                    items.len(),
                    if items.len() == 1 { "" } else { "s" }
                ),
            );
            return None;
        }
        let checked: Vec<Checked> = items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| self.check(of, item, &format!("{path}[{index}]")))
            .collect();
        // The good tables of a list are still worth looking into.
        let tables = matches!(of, Kind::Table(_) | Kind::Tagged { .. });
        (tables || checked.len() == items.len()).then_some(Value::List(checked))
    }

    fn table(
        &mut self,
        keys: &[Key],
        entries: &[Entry],
        at: &At,
        case: &'static str,
        tag: Option<&str>,
    ) -> Fields {
        let conditional = keys.iter().any(|key| matches!(key.kind, Kind::When));
        let active = !conditional || self.applies(entries, at);
        let mut fields = Fields {
            at: at.clone(),
            active,
            case,
            entries: Vec::new(),
        };
        let was_quiet = !active;
        let values = self.quietly(was_quiet, |checker| checker.entries(keys, entries, at, tag));
        fields.entries = values;
        fields
    }

    fn quietly<T>(&mut self, quiet: bool, run: impl FnOnce(&mut Checker<'_>) -> T) -> T {
        let assignment = Assignment { ..self.assignment };
        self.report
            .within(!quiet, |report| run(&mut Checker { assignment, report }))
    }

    fn entries(
        &mut self,
        keys: &[Key],
        entries: &[Entry],
        at: &At,
        tag: Option<&str>,
    ) -> Vec<(&'static str, Checked)> {
        let mut values = Vec::new();
        for entry in entries.iter().filter(|entry| Some(entry.key.as_str()) != tag) {
            let path = join(&at.path, &entry.key);
            let Some(key) = keys.iter().find(|key| key.name == entry.key) else {
                let key_at = At {
                    path,
                    span: entry.key_span.clone(),
                    origin: None,
                };
                let names = tag.into_iter().chain(keys.iter().map(|key| key.name));
                self.report
                    .add(&key_at, format!("unknown key; {}", allowed(&entry.key, names)));
                continue;
            };
            if let Some(checked) = self.check(&key.kind, &entry.node, &path) {
                values.push((key.name, checked));
            }
        }
        for key in keys {
            if entries.iter().any(|entry| entry.key == key.name) {
                continue;
            }
            if key.required {
                self.report.add(
                    at,
                    format!("missing key \"{}\": {}", key.name, first_sentence(&key.help)),
                );
            }
            if let Some((_, node)) = &key.default {
                let path = join(&at.path, key.name);
                let node = Node {
                    span: at.span.clone(),
                    ..node.clone()
                };
                if let Some(checked) = self.check(&key.kind, &node, &path) {
                    values.push((key.name, checked));
                }
            }
        }
        values
    }

    fn tagged(&mut self, kind: &Kind, node: &Node, path: &str, what: &str, cases: &[Case]) -> Option<Value> {
        let at = node.at(path);
        let Data::Table(entries) = &node.data else {
            return self.refuse(kind, node, &at);
        };
        let names = || cases.iter().map(|case| case.name);
        let Some(tag) = node.get("type") else {
            self.report
                .add(&at, format!("missing key \"type\"; {}", allowed("", names())));
            return None;
        };
        let tag_at = tag.at(&join(path, "type"));
        let Data::Text(text) = &tag.data else {
            if tag.data != Data::Broken {
                self.report.add(
                    &tag_at,
                    format!("expected a type of {what}; {}", allowed("", names())),
                );
            }
            return None;
        };
        if tag.origin.is_some() {
            self.report.add(
                &tag_at,
                "the type must be spelt out; several items with `when` choose between types",
            );
            return None;
        }
        let Some(case) = cases.iter().find(|case| case.name == *text) else {
            self.report.add(
                &tag_at,
                format!("unknown type of {what} {text:?}; {}", allowed(text, names())),
            );
            return None;
        };
        Some(Value::Table(self.table(
            &case.keys,
            entries,
            &at,
            case.name,
            Some("type"),
        )))
    }

    fn named(&mut self, kind: &Kind, node: &Node, path: &str, inner: &Kind) -> Option<Value> {
        let Data::Table(entries) = &node.data else {
            return self.refuse(kind, node, &node.at(path));
        };
        let mut all = Vec::new();
        for entry in entries {
            let inner_path = join(path, &entry.key);
            let name_at = At {
                path: inner_path.clone(),
                span: entry.key_span.clone(),
                origin: None,
            };
            if !identifies(&entry.key) {
                self.report.add(
                    &name_at,
                    format!(
                        "{:?} is no name; use letters, digits, - and _, a letter first",
                        entry.key
                    ),
                );
            }
            if let Some(Checked {
                value: Value::Table(fields),
                ..
            }) = self.check(inner, &entry.node, &inner_path)
            {
                all.push(Named {
                    name: entry.key.clone(),
                    name_at,
                    fields,
                });
            }
        }
        Some(Value::Named(all))
    }

    /// Whether a table's `when` holds in this variant. A bad one is reported and holds.
    fn applies(&mut self, entries: &[Entry], at: &At) -> bool {
        let Some(entry) = entries.iter().find(|entry| entry.key == "when") else {
            return true;
        };
        let path = join(&at.path, "when");
        let Data::Table(conditions) = &entry.node.data else {
            self.refuse::<()>(&Kind::When, &entry.node, &entry.node.at(&path));
            return true;
        };
        let mut holds = true;
        for condition in conditions {
            let path = join(&path, &condition.key);
            let Some((parameter, value)) = self.assignment.get(&condition.key) else {
                let at = At {
                    path,
                    span: condition.key_span.clone(),
                    origin: None,
                };
                let names = self
                    .assignment
                    .parameters
                    .iter()
                    .map(|parameter| parameter.name.as_str());
                let message = format!(
                    "unknown parameter \"{}\"; {}",
                    condition.key,
                    allowed(&condition.key, names)
                );
                self.report.add(&at, message);
                continue;
            };
            // A list means any of its values, unless the parameter is a list itself.
            let is_list = matches!(parameter.kind, crate::parameter::Type::List(_));
            let options = match &condition.node.data {
                Data::List(items) if !is_list => items.as_slice(),
                _ => std::slice::from_ref(&condition.node),
            };
            let mut any = false;
            for option in options {
                match parameter.accept(option) {
                    Ok(wanted) => any |= wanted.same(value),
                    Err(message) => self.report.add(&option.at(&path), message),
                }
            }
            holds &= any;
        }
        holds
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn first_sentence(help: &str) -> &str {
    help.split_once(". ")
        .map_or(help, |(first, _)| first)
        .trim_end_matches('.')
}
