//! The list of mechanisms, and what every one of them provides.

use std::fmt::Debug;

use crate::bpf_form::NoBpfForm;
use crate::describe::{Description, SettingError, Value};
use crate::divacks::DivacksConfig;
use crate::{Agent, Packet};

/// The settings of one mechanism; its file implements this.
pub trait Mechanism: Clone + Debug + Default + PartialEq {
    /// What it is called, where it comes from, what it takes.
    const DESCRIPTION: Description;

    /// The present value of a parameter of [`Mechanism::DESCRIPTION`].
    fn get(&self, name: &str) -> Option<Value<'static>>;

    /// Stores a value already checked against the description.
    fn put(&mut self, name: &str, value: Value<'_>);

    /// An agent with these settings.
    fn build<P: Packet + 'static>(&self) -> Box<dyn Agent<P>>;

    /// Whether a BPF program does the same with these settings.
    ///
    /// # Errors
    /// Why none does; a mechanism without a program needs no other answer.
    fn bpf_settings(&self) -> Result<(), NoBpfForm> {
        Err(NoBpfForm::Unwritten {
            agent: Self::DESCRIPTION.name,
        })
    }
}

/// Writes [`AgentConfig`] from the list of mechanisms.
macro_rules! mechanisms {
    ($($variant:ident($config:ident)),+ $(,)?) => {
        /// A mechanism with its settings: the factory of an [`Agent`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum AgentConfig {
            $(
                #[doc = concat!("See [`", stringify!($config), "`].")]
                $variant($config),
            )+
        }

        impl AgentConfig {
            /// Every mechanism with its default settings.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant($config::default())),+]
            }

            /// What the mechanism is and takes.
            pub const fn description(&self) -> &'static Description {
                match self {
                    $(Self::$variant(_) => &<$config as Mechanism>::DESCRIPTION,)+
                }
            }

            /// The present value of the parameter called `name`.
            pub fn get(&self, name: &str) -> Option<Value<'static>> {
                match self {
                    $(Self::$variant(config) => config.get(name),)+
                }
            }

            fn put(&mut self, name: &str, value: Value<'_>) {
                match self {
                    $(Self::$variant(config) => config.put(name, value),)+
                }
            }

            /// An agent with these settings.
            pub fn build<P: Packet + 'static>(&self) -> Box<dyn Agent<P>> {
                match self {
                    $(Self::$variant(config) => config.build(),)+
                }
            }

            pub(crate) fn bpf_settings(&self) -> Result<(), NoBpfForm> {
                match self {
                    $(Self::$variant(config) => config.bpf_settings(),)+
                }
            }
        }
    };
}

// A new mechanism is one file (a `mod` in lib.rs) and one line here.
mechanisms! {
    Divacks(DivacksConfig),
}

impl AgentConfig {
    /// The name in scenario files.
    pub const fn name(&self) -> &'static str {
        self.description().name
    }

    /// The names of all mechanisms.
    pub fn names() -> Vec<&'static str> {
        Self::all().iter().map(Self::name).collect()
    }

    /// The mechanism called `name` with its default settings.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|config| config.name() == name)
    }

    /// Sets the parameter called `name`.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take this value.
    pub fn set(&mut self, name: &str, value: Value<'_>) -> Result<(), SettingError> {
        let description = self.description();
        let parameter = description.parameter(name).ok_or_else(|| SettingError::Unknown {
            agent: description.name,
            name: name.to_owned(),
            known: description
                .parameters
                .iter()
                .map(|p| p.name)
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        parameter.check(value)?;
        self.put(name, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_is_found_by_its_name_and_documented() {
        for config in AgentConfig::all() {
            assert_eq!(AgentConfig::from_name(config.name()), Some(config.clone()));
            let description = config.description();
            assert!(!description.summary.is_empty() && !description.source.is_empty());
            assert!(!description.places.is_empty());
        }
        assert_eq!(AgentConfig::from_name("no such agent"), None);
    }

    #[test]
    fn described_defaults_are_the_real_ones_and_can_be_set() {
        for config in AgentConfig::all() {
            for parameter in config.description().parameters {
                assert_eq!(
                    config.get(parameter.name),
                    Some(parameter.default),
                    "{}",
                    parameter.name
                );
                let mut set = config.clone();
                assert_eq!(set.set(parameter.name, parameter.default), Ok(()));
                assert_eq!(set, config, "{}", parameter.name);
                assert!(!parameter.help.is_empty());
            }
        }
    }

    #[test]
    fn a_setting_reaches_its_field() {
        let mut config = AgentConfig::Divacks(DivacksConfig::default());
        config.set("count", Value::Integer(3)).unwrap();
        config.set("mode", Value::Choice("controlled")).unwrap();
        assert_eq!(config.get("count"), Some(Value::Integer(3)));
        assert_eq!(config.get("mode"), Some(Value::Choice("controlled")));
    }

    #[test]
    fn a_bad_setting_is_refused_with_its_reason() {
        let mut config = AgentConfig::Divacks(DivacksConfig::default());
        let refused = |config: &mut AgentConfig, name, value| {
            config.set(name, value).map_err(|error| error.to_string())
        };
        assert_eq!(
            refused(&mut config, "count", Value::Integer(1448)),
            Err("`count` must lie between 0 and 1447, not 1448".to_owned())
        );
        assert_eq!(
            refused(&mut config, "count", Value::Flag(true)),
            Err("`count` takes a whole number".to_owned())
        );
        assert_eq!(
            refused(&mut config, "mode", Value::Choice("gentle")),
            Err("`mode` is one of brute-force, controlled, not `gentle`".to_owned())
        );
        assert!(refused(&mut config, "speed", Value::Flag(true)).is_err());
        assert_eq!(config, AgentConfig::Divacks(DivacksConfig::default()));
    }
}
