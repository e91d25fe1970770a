//! The scenario file: types, units, validation, JSON Schema.

pub mod spec;
