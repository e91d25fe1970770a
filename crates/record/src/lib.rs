//! One record for every engine: the same tables and columns, whatever moved
//! the packets. Column names carry their units.
//!
//! Rows are collected as plain structs while a cell runs and turned into
//! columns once, at its end, so that recording costs one push per row.

mod capture;
mod failure;
mod log;
mod rows;
mod samples;
mod table;

pub use capture::{CaptureWriter, SNAP_BYTES};
pub use failure::FlowFailure;
pub use log::Log;
pub use rows::{CellRecord, EventRow, FlowRow, MacRow, PacketRow, Place, StationRow, Verdict};
pub use samples::{SampleRow, Samples};
pub use table::{Column, ColumnData, Table};
