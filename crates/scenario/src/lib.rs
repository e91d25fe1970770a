//! The scenario file: hosts, a path, the mechanisms on it and the work to do,
//! in TOML with spelt units.
//!
//! [`load`] checks a file and expands it into a [`Plan`] of variants, or tells
//! everything that is wrong with it. One table of keys validates files, becomes
//! the JSON Schema ([`schema`]) and the reference ([`reference_tables`]).
//! [`catalog`] lists every mechanism a scenario can name.

mod catalog;
mod check;
mod dialogue;
mod expand;
mod fields;
mod kind;
mod likeness;
mod load;
mod parameter;
mod problem;
mod reference;
mod schema;
mod section;
pub mod spec;
mod tables;
mod tree;

pub use catalog::{Mechanism, MechanismParameter, catalog};
pub use dialogue::Dialogue;
pub use load::{LoadOptions, load};
pub use problem::{Place, ScenarioError, ScenarioErrors};
pub use schema::schema;
pub use spec::{Plan, Variant, World};
pub use tables::reference_tables;
