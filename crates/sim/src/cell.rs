//! One cell: build the world, let time pass, write the record.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lasthop_network::{AssemblyError, Captures, Network, PacketLog, Route, Watch, station_rows};
use lasthop_record::{CellRecord, FlowRow, Log};
use lasthop_scenario::spec::{Host, Variant, WorkloadKind, World};
use lasthop_tcp::{Endpoint, State};
use lasthop_units::Time;
use thiserror::Error;

use crate::datagrams::Pace;
use crate::flow::{Flow, Transport, flows};
use crate::hosts::{Hosts, alarms};
use crate::packet::SimPacket;
use crate::recorder::{NO_LIMIT, Recorder};

/// Why a cell could not run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The world is too large.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// A capture could not be written.
    #[error("cannot write a capture: {0}")]
    Capture(String),
    /// A workload is a real program.
    #[error("workload \"{0}\" runs a command, which needs a real stack: use the kernel engine")]
    Command(String),
    /// Nobody waits for the cell any more.
    #[error("the run was stopped")]
    Stopped,
    /// A host's congestion control is the kernel's.
    #[error(
        "host {host:?} takes {control:?} from the Linux kernel, which the kernel engine has and the simulator has not"
    )]
    KernelControl {
        /// The host group's name.
        host: String,
        /// The congestion control's name in the kernel.
        control: String,
    },
}

/// Events between two looks whether to go on: a few milliseconds' worth, so
/// that looking costs nothing.
const BATCH: u32 = 1 << 16;

/// A world in the middle of its run.
pub struct Simulation {
    world: World,
    network: Network<SimPacket>,
    hosts: Hosts,
    recorder: Recorder,
    now: Time,
    end: Time,
    events: u64,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("now", &self.now)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

/// Checks that the simulator can play `world`: every part of it is a model.
///
/// # Errors
/// The first part that only a real stack has.
pub fn capability(world: &World) -> Result<(), SimError> {
    let real = world
        .workloads
        .iter()
        .find(|work| matches!(work.kind, WorkloadKind::Command { .. }));
    if let Some(workload) = real {
        return Err(SimError::Command(workload.name.clone()));
    }
    let borrowed = |host: &Host| Some((host.name.clone(), host.kernel_congestion_control.clone()?));
    if let Some((host, control)) = world.hosts.iter().find_map(borrowed) {
        return Err(SimError::KernelControl { host, control });
    }
    Ok(())
}

/// Runs `variant` with `seed` to its end.
///
/// # Errors
/// When the simulator cannot play the world, or it is larger than a run can hold.
pub fn run_cell(variant: &Variant, seed: u64) -> Result<CellRecord, SimError> {
    let mut simulation = Simulation::new(&variant.world, seed)?;
    simulation.run();
    Ok(simulation.finish())
}

/// As [`run_cell`], but gives up soon after `stop` is set. With a directory for
/// `captures` they are written there as `NAME.pcapng` while time passes;
/// [`Captures::create`] has the names.
///
/// # Errors
/// As [`run_cell`], [`SimError::Stopped`], and when a capture cannot be written.
pub fn run_cell_until(
    variant: &Variant,
    seed: u64,
    stop: &AtomicBool,
    captures: Option<&Path>,
) -> Result<CellRecord, SimError> {
    let failed = |error: io::Error| SimError::Capture(error.to_string());
    let captures = captures.map(|directory| files(&variant.world, directory));
    let captures = captures.transpose().map_err(failed)?;
    let mut simulation = Simulation::with_captures(&variant.world, seed, captures)?;
    while simulation.run_batch() {
        if stop.load(Ordering::Relaxed) {
            return Err(SimError::Stopped);
        }
    }
    let watch = simulation.recorder.watch.as_mut();
    if let Some(captures) = watch.and_then(|watch| watch.captures.take()) {
        captures.finish().map_err(failed)?;
    }
    Ok(simulation.finish())
}

/// Captures of `world` as files in `directory`.
fn files(world: &World, directory: &Path) -> io::Result<Captures> {
    let create = |name: &str| -> io::Result<Box<dyn Write + Send>> {
        let file = File::create(directory.join(format!("{name}.pcapng")))?;
        Ok(Box::new(BufWriter::new(file)))
    };
    Captures::create(world, create)
}

impl Simulation {
    /// The world of one cell, at its start.
    ///
    /// # Errors
    /// When the simulator cannot play the world, or it is larger than a run can hold.
    pub fn new(world: &World, seed: u64) -> Result<Self, SimError> {
        Self::with_captures(world, seed, None)
    }

    fn with_captures(world: &World, seed: u64, captures: Option<Captures>) -> Result<Self, SimError> {
        capability(world)?;
        let flows = flows(world, seed);
        let routes: Vec<Route> = flows.iter().map(|flow| flow.route).collect();
        let log = world.record.packets;
        let log = log.then(|| PacketLog::new(Log::limited(NO_LIMIT), routes.len()));
        let watch = Watch::new(world, &routes, log, captures);
        let mut network = Network::new(world, routes, alarms(flows.len()), seed)?;
        network.report_attempts(world.record.mac);
        let backlogged = |flow: &Flow| matches!(&flow.transport, Transport::Datagrams(source) if source.pace == Pace::Backlog);
        network.report_departures(flows.iter().any(backlogged));
        let recorder = Recorder::new(world.record.samples, watch, flows.len());
        let hosts = Hosts::new(flows, &mut network);
        Ok(Self {
            end: Time::ZERO + world.duration,
            world: world.clone(),
            network,
            hosts,
            recorder,
            now: Time::ZERO,
            events: 0,
        })
    }

    /// Lets time pass until the work is done or the duration is over.
    pub fn run(&mut self) {
        while self.run_batch() {}
    }

    /// Carries out the next [`BATCH`] events; whether more may follow.
    fn run_batch(&mut self) -> bool {
        for _ in 0..BATCH {
            let Some(now) = self.network.step(self.end, &mut self.hosts, &mut self.recorder) else {
                return false;
            };
            self.now = now;
            self.events += 1;
            if self.hosts.unfinished == 0 && self.all_at_rest() {
                return false;
            }
        }
        true
    }

    /// Whether nothing of interest can follow. Looking at every flow after every
    /// event would cost their product, so it looks once in as many events.
    fn all_at_rest(&self) -> bool {
        self.events.is_multiple_of(self.hosts.flows.len() as u64) && self.hosts.flows.iter().all(at_rest)
    }

    /// The record of the run.
    pub fn finish(self) -> CellRecord {
        let Self {
            world,
            network,
            hosts: Hosts { flows, unfinished },
            recorder,
            now,
            end,
            events,
        } = self;
        let run_end = if unfinished == 0 { now } else { end };
        let divided = network.acks_created().to_vec();
        let rows = flows.iter().enumerate();
        let log = recorder.watch.and_then(|watch| watch.log);
        let mut totals = vec![("run_s", run_end.as_secs_f64()), ("engine_events", events as f64)];
        let drops = recorder.path.drop_totals();
        totals.extend(drops.map(|(name, count)| (name, count as f64)));
        CellRecord {
            elements: world.path.iter().map(|element| element.name.clone()).collect(),
            flows: rows
                .map(|(index, flow)| flow_row(&world, index, flow, run_end, divided[index].max(0) as u64))
                .collect(),
            samples: recorder.samples,
            packets: log.map_or_else(Vec::new, |log| log.rows.into_rows()),
            mac: recorder.path.mac.into_rows(),
            stations: station_rows(network.airtime()),
            events: recorder.path.events.into_rows(),
            totals,
            failures: Vec::new(),
        }
    }
}

/// Whether nothing of interest can follow: the close has run its course.
fn at_rest(flow: &Flow) -> bool {
    let settled = |endpoint: &Endpoint| {
        matches!(
            endpoint.state(),
            State::Closed | State::TimeWait | State::Established
        )
    };
    match &flow.transport {
        Transport::Datagrams(_) => true,
        Transport::Tcp(tcp) => tcp.ends.iter().all(settled),
    }
}

fn flow_row(world: &World, index: usize, flow: &Flow, run_end: Time, divided_acks: u64) -> FlowRow {
    let workload = &world.workloads[flow.workload];
    let row = FlowRow {
        flow: index as u32,
        workload: workload.name.clone(),
        host: world.hosts[flow.route.client_group].name.clone(),
        client: flow.route.station - 1,
        start: flow.start,
        end: flow.end,
        run_end,
        ..FlowRow::default()
    };
    match &flow.transport {
        Transport::Datagrams(datagrams) => FlowRow {
            acked_bytes: Some(datagrams.received_bytes),
            delivered_bytes: Some(datagrams.received_bytes),
            data_packets: Some(datagrams.sent),
            ..row
        },
        Transport::Tcp(tcp) => {
            let sender = &tcp.ends[flow.direction.index()];
            let receiver = &tcp.ends[flow.direction.reverse().index()];
            let stats = sender.stats();
            FlowRow {
                bytes: tcp.application.total_bytes(),
                acked_bytes: Some(sender.acked_bytes()),
                delivered_bytes: Some(receiver.received_bytes()),
                data_packets: Some(stats.data_packets),
                retransmissions: Some(stats.retransmissions),
                fast_retransmits: Some(stats.fast_retransmits),
                timeouts: Some(stats.timeouts),
                cwnd_cuts: Some(stats.cwnd_cuts),
                undone: Some(stats.spurious_cuts),
                duplicate_acks: Some(stats.dup_acks_received),
                acks_sent: Some(receiver.stats().acks_sent),
                divided_acks,
                ..row
            }
        }
    }
}
