//! The reference's tables in Markdown, made from the table of keys.

use std::fmt::Write as _;

use crate::catalog::unit;
use crate::kind::{Case, Key, Kind, Name};
use crate::load::top_keys;
use crate::parameter;

/// The tables of `docs/scenario.md` between its generated-part markers.
pub fn reference_tables() -> String {
    let mut out = String::new();
    section(&mut out, "The file", top_keys());
    out.push_str("\n### [parameters]\n\n| key | meaning |\n|---|---|\n");
    for (name, help) in parameter::KEYS {
        let _ = writeln!(out, "| `{name}` | {} |", escape(help));
    }
    for key in top_keys() {
        match &key.kind {
            Kind::Named(inner) => tables(&mut out, &format!("[{}.NAME]", key.name), inner),
            Kind::List { of, .. } => tables(&mut out, &format!("[[{}]]", key.name), of),
            Kind::Table(_) => tables(&mut out, &format!("[{}]", key.name), &key.kind),
            _ => {}
        }
    }
    out
}

/// The tables of a kind and of the tables inside it.
fn tables(out: &mut String, title: &str, kind: &Kind) {
    match kind {
        Kind::Table(keys) => section(out, title, keys),
        Kind::Tagged { cases, .. } => {
            for Case { name, help, keys } in cases {
                let title = format!("{title} type = \"{name}\"");
                let _ = writeln!(out, "\n### {title}\n\n{}.\n", capital(help));
                rows(out, keys);
                inner(out, &title, keys);
            }
        }
        _ => {}
    }
}

fn section(out: &mut String, title: &str, keys: &[Key]) {
    let _ = writeln!(out, "\n### {title}\n");
    rows(out, keys);
    if title != "The file" {
        inner(out, title, keys);
    }
}

/// Tables for values that are tables themselves. Overrides that repeat the
/// outer table's keys (`downlink`, `stations`) need none.
fn inner(out: &mut String, title: &str, keys: &[Key]) {
    for key in keys {
        let title = format!("{title}: {}", key.name);
        let repeats = |inner: &[Key]| inner.iter().all(|i| keys.iter().any(|k| k.name == i.name));
        match &key.kind {
            Kind::Table(inner) if !repeats(inner) => section(out, &title, inner),
            Kind::List { of, .. } => tables(out, &title, of),
            Kind::Any(kinds) => {
                for kind in kinds {
                    tables(out, &title, kind);
                }
            }
            _ => {}
        }
        explain(out, &title, &key.kind);
    }
}

/// What the names of a choice mean.
fn explain(out: &mut String, title: &str, kind: &Kind) {
    let mut named: Vec<(&str, &str)> = Vec::new();
    let mut add = |kind: &Kind| match kind {
        Kind::Choice { names, .. } => {
            named.extend(names.iter().map(|Name { name, help }| (*name, *help)));
        }
        Kind::Word { word, help } => named.push((word, help)),
        _ => {}
    };
    match kind {
        Kind::Any(kinds) => kinds.iter().for_each(add),
        kind => add(kind),
    }
    named.retain(|(_, help)| !help.is_empty());
    if named.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n`{title}`:\n");
    for (name, help) in named {
        let _ = writeln!(out, "- `\"{name}\"`: {help}");
    }
}

fn rows(out: &mut String, keys: &[Key]) {
    out.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let default = match (&key.default, &key.otherwise) {
            (Some((text, _)), _) => format!("`{text}`"),
            (None, Some(words)) => words.clone(),
            (None, None) => "required".to_owned(),
        };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} |",
            key.name,
            escape(&unit(&key.kind)),
            escape(&default),
            escape(&key.help)
        );
    }
}

fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}
