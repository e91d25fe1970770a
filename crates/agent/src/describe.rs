//! How a mechanism presents itself: name, source, places, parameters. A
//! scenario file, its JSON Schema and `--help` are made from this.

use lasthop_units::Span;

/// Everything a person needs to use a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name in scenario files.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Who published it, with the section that defines it.
    pub source: &'static str,
    /// The places it makes sense at; the source's own comes first.
    pub places: &'static [PlaceKind],
    /// Its parameters in the order a person would set them.
    pub parameters: &'static [Parameter],
}

impl Description {
    /// The parameter called `name`.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// The kinds of place an agent can stand at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// At a host behind the last hop.
    Client,
    /// At a host on the wired side.
    Server,
    /// On the path: an access point, a home or foreign agent, a gateway.
    Path,
}

impl PlaceKind {
    /// The word for it in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Path => "path",
        }
    }
}

/// One setting of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The key in scenario files.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParameterKind,
    /// Its value when nothing is said.
    pub default: Value<'static>,
    /// What it means, in one or two sentences.
    pub help: &'static str,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A whole number within bounds, both included.
    Integer {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A length of time.
    Span,
}

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A whole number.
    Integer(u64),
    /// A word.
    Choice(&'a str),
    /// True or false.
    Flag(bool),
    /// A length of time.
    Span(Span),
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The mechanism has no such parameter.
    #[error("{agent} has no parameter `{name}`; it has {known}")]
    Unknown {
        /// The mechanism.
        agent: &'static str,
        /// What was asked for.
        name: String,
        /// The parameters it has, separated by commas.
        known: String,
    },
    /// The value is of another type than the parameter.
    #[error("`{name}` takes {expected}")]
    WrongType {
        /// The parameter.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
    },
    /// The number lies outside the parameter's bounds.
    #[error("`{name}` must lie between {min} and {max}, not {value}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// The smallest value.
        min: u64,
        /// The largest value.
        max: u64,
        /// What was given.
        value: u64,
    },
    /// The word is not among the parameter's choices.
    #[error("`{name}` is one of {choices}, not `{value}`")]
    UnknownChoice {
        /// The parameter.
        name: &'static str,
        /// The choices, separated by commas.
        choices: String,
        /// What was given.
        value: String,
    },
}

impl Parameter {
    /// Checks that `value` is one this parameter takes.
    ///
    /// # Errors
    /// The value has the wrong type, lies out of bounds or is no choice.
    pub fn check(&self, value: Value<'_>) -> Result<(), SettingError> {
        let wrong_type = |expected| SettingError::WrongType {
            name: self.name,
            expected,
        };
        match (self.kind, value) {
            (ParameterKind::Integer { min, max }, Value::Integer(value)) => {
                if (min..=max).contains(&value) {
                    Ok(())
                } else {
                    Err(SettingError::OutOfRange {
                        name: self.name,
                        min,
                        max,
                        value,
                    })
                }
            }
            (ParameterKind::Choice(choices), Value::Choice(value)) => {
                if choices.contains(&value) {
                    Ok(())
                } else {
                    Err(SettingError::UnknownChoice {
                        name: self.name,
                        choices: choices.join(", "),
                        value: value.to_owned(),
                    })
                }
            }
            (ParameterKind::Flag, Value::Flag(_)) | (ParameterKind::Span, Value::Span(_)) => Ok(()),
            (ParameterKind::Integer { .. }, _) => Err(wrong_type("a whole number")),
            (ParameterKind::Choice(_), _) => Err(wrong_type("a word")),
            (ParameterKind::Flag, _) => Err(wrong_type("true or false")),
            (ParameterKind::Span, _) => Err(wrong_type("a time such as \"1 ms\"")),
        }
    }
}
