//! Errors: where in the file, which key, what was found, what is allowed.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// Everything that is wrong with a scenario; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScenarioErrors {
    /// The errors in the order of the file, those of the command line first.
    pub errors: Vec<ScenarioError>,
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file as it was called, or the option of the command line.
    pub file: String,
    /// Where in the file; `None` for the command line.
    pub place: Option<Place>,
    /// The key's path, for example `path[1].delay`; empty for the file as a whole.
    pub key: String,
    /// What was found, what is allowed, the nearest valid name.
    pub message: String,
}

/// A place in a file with the line's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Counted from 1.
    pub line: usize,
    /// Characters into the line, counted from 1.
    pub column: usize,
    /// Characters that are meant, at least 1.
    pub width: usize,
    /// The line.
    pub text: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.file)?;
        if let Some(place) = &self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        writeln!(f, ": {}", self.message)?;
        let Some(place) = &self.place else { return Ok(()) };
        let number = place.line.to_string();
        let margin = " ".repeat(number.len());
        let indent: String = place
            .text
            .chars()
            .take(place.column - 1)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", place.text)?;
        writeln!(f, "{margin} | {indent}{}", "^".repeat(place.width))
    }
}

impl Place {
    /// The place of a byte range of `text`.
    pub(crate) fn of(text: &str, span: &Range<usize>) -> Self {
        let start = floor(text, span.start);
        let end = floor(text, span.end).max(start);
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let shown_end = end.min(line_end);
        Self {
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            width: text[start..shown_end.max(start)]
                .trim_end()
                .chars()
                .count()
                .max(1),
            text: text[line_start..line_end].trim_end().to_owned(),
        }
    }
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where a value stands: its key's path, its place in the text, and the
/// parameter it came from, if any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct At {
    pub path: String,
    pub span: Range<usize>,
    pub origin: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    pub start: usize,
    pub end: usize,
    pub path: String,
    pub message: String,
}

/// Collects problems. While it is quiet (checking an item left out by its
/// `when`), values that come from parameters may be anything.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub problems: BTreeSet<Problem>,
    quiet: u32,
}

impl Report {
    pub fn add(&mut self, at: &At, message: impl Into<String>) {
        let mut message = message.into();
        if let Some(origin) = &at.origin {
            if self.quiet > 0 {
                return;
            }
            message = format!("{message} (from {origin})");
        }
        self.problems.insert(Problem {
            start: at.span.start,
            end: at.span.end,
            path: at.path.clone(),
            message,
        });
    }

    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Runs `check` for an item; a left-out one is checked quietly.
    pub fn within<T>(&mut self, active: bool, check: impl FnOnce(&mut Self) -> T) -> T {
        self.quiet += u32::from(!active);
        let result = check(self);
        self.quiet -= u32::from(!active);
        result
    }

    /// Whether an item left out by its `when` is being looked at.
    pub fn is_quiet(&self) -> bool {
        self.quiet > 0
    }
}

/// `allowed: a, b, c; did you mean "b"?` for a name that is none of `names`.
pub(crate) fn allowed<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if names.is_empty() {
        return "there are none".to_owned();
    }
    let list = format!("allowed: {}", names.join(", "));
    match nearest(found, &names) {
        Some(name) => format!("{list}; did you mean \"{name}\"?"),
        None => list,
    }
}

/// The name most like `found`, when one is like it at all.
pub(crate) fn nearest<'a>(found: &str, names: &[&'a str]) -> Option<&'a str> {
    let found = found.to_lowercase();
    let scored = names.iter().map(|&name| {
        let name_lower = name.to_lowercase();
        let starts = found.len() >= 2 && name_lower.starts_with(&found);
        let score = strsim::damerau_levenshtein(&found, &name_lower);
        (if starts { score.min(1) } else { score }, name)
    });
    let (distance, name) = scored.min_by_key(|&(distance, _)| distance)?;
    let bound = (found.chars().count().max(name.chars().count()) / 3).max(1);
    (distance <= bound).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_characters_not_bytes() {
        let text = "a = 1\nµs = \"zwölf\" # x\n";
        let start = text.find("\"zw").unwrap();
        let place = Place::of(text, &(start..start + 8));
        assert_eq!((place.line, place.column, place.width), (2, 6, 7));
        assert_eq!(place.text, "µs = \"zwölf\" # x");
    }

    #[test]
    fn a_place_outside_the_text_is_its_end() {
        assert_eq!(Place::of("x", &(7..9)).column, 2);
        assert_eq!(Place::of("", &(0..0)).line, 1);
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        let names = ["tahoe", "reno", "newreno", "sack"];
        assert_eq!(nearest("newrno", &names), Some("newreno"));
        assert_eq!(nearest("Sack", &names), Some("sack"));
        assert_eq!(nearest("quic", &names), None);
    }
}
