//! The virtual-time engine: a cell of a scenario is a pure function of its
//! variant and its seed.

mod application;
mod cell;
mod datagrams;
mod flow;
mod hosts;
mod packet;
mod recorder;

pub use cell::{SimError, Simulation, capability, run_cell, run_cell_until};
pub use packet::SimPacket;
