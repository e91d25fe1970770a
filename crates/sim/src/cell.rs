//! One cell: build the world, let time pass, write the record.

use lasthop_network::{AssemblyError, Event, Network, PacketLog, Route, station_rows};
use lasthop_record::{CellRecord, FlowRow, Log};
use lasthop_scenario::spec::{Host, Variant, WorkloadKind, World};
use lasthop_tcp::{Endpoint, State};
use lasthop_units::{Direction, Time};
use thiserror::Error;

use crate::application::Progress;
use crate::datagrams::{BACKLOG_FRAMES, Pace, RETRY};
use crate::flow::{Flow, TcpFlow, Transport, flows};
use crate::packet::SimPacket;
use crate::recorder::{NO_LIMIT, Recorder};

/// Why a cell could not run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The world is too large.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// A workload is a real program.
    #[error("workload \"{0}\" runs a command, which needs a real stack: use the kernel engine")]
    Command(String),
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

/// Alarms of each flow: one per endpoint, by its direction, and the program's.
const ALARMS_PER_FLOW: usize = 3;
const PROGRAM: usize = 2;

/// A world in the middle of its run.
pub struct Simulation {
    world: World,
    network: Network<SimPacket>,
    flows: Vec<Flow>,
    recorder: Recorder,
    now: Time,
    end: Time,
    unfinished: usize,
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

impl Simulation {
    /// The world of one cell, at its start.
    ///
    /// # Errors
    /// When the simulator cannot play the world, or it is larger than a run can hold.
    pub fn new(world: &World, seed: u64) -> Result<Self, SimError> {
        capability(world)?;
        let flows = flows(world, seed);
        let routes: Vec<Route> = flows.iter().map(|flow| flow.route).collect();
        let packets = world
            .record
            .packets
            .then(|| PacketLog::new(Log::limited(NO_LIMIT), world, &routes));
        let mut network = Network::new(world, routes, flows.len() * ALARMS_PER_FLOW, seed)?;
        network.report_attempts(world.record.mac);
        let backlogged = |flow: &Flow| matches!(&flow.transport, Transport::Datagrams(source) if source.pace == Pace::Backlog);
        network.report_departures(flows.iter().any(backlogged));
        let recorder = Recorder::new(world.record.samples, packets, flows.len());
        for (index, flow) in flows.iter().enumerate() {
            network.arm(index * ALARMS_PER_FLOW + PROGRAM, flow.start);
        }
        Ok(Self {
            unfinished: flows.iter().filter(|flow| flow.unfinished()).count(),
            end: Time::ZERO + world.duration,
            world: world.clone(),
            network,
            flows,
            recorder,
            now: Time::ZERO,
            events: 0,
        })
    }

    /// Lets time pass until the work is done or the duration is over.
    pub fn run(&mut self) {
        while let Some(event) = self.network.next(self.end, &mut self.recorder) {
            self.now = event.at();
            self.events += 1;
            match event {
                Event::Delivered {
                    at,
                    direction,
                    packet,
                } => self.delivered(at, direction, &packet),
                Event::Alarm { at, index } => self.alarm(at, index),
                Event::Departed { at, direction, route } => self.departed(at, direction, route),
            }
            if self.unfinished == 0 && self.all_at_rest() {
                break;
            }
        }
    }

    /// Whether nothing of interest can follow. Looking at every flow after every
    /// event would cost their product, so it looks once in as many events.
    fn all_at_rest(&self) -> bool {
        self.events.is_multiple_of(self.flows.len() as u64) && self.flows.iter().all(at_rest)
    }

    #[inline]
    fn delivered(&mut self, now: Time, direction: Direction, packet: &SimPacket) {
        self.recorder.received(now, direction, packet);
        let index = packet.flow;
        let Some(flow) = self.flows.get_mut(index as usize) else {
            return;
        };
        match &mut flow.transport {
            Transport::Datagrams(datagrams) => {
                datagrams.received += 1;
                datagrams.received_bytes += u64::from(packet.payload_bytes());
            }
            Transport::Tcp(tcp) => {
                // A packet travelling downlink reaches the end that sends uplink.
                let end = direction.reverse();
                let endpoint = &mut tcp.ends[end.index()];
                let before = endpoint.stats().fast_retransmits;
                let usual = packet
                    .plain_segment()
                    .is_some_and(|segment| endpoint.on_usual(now, &segment));
                if !usual {
                    endpoint.on_segment(now, &packet.segment());
                }
                if endpoint.stats().fast_retransmits > before && end == flow.direction {
                    self.recorder
                        .path
                        .event(now, i64::from(index), "fast-retransmit", 1.0);
                }
                self.attend(now, index as usize, end);
            }
        }
    }

    /// Looks after an endpoint that has just been touched: its program, its
    /// packets, its timer, its sample.
    fn attend(&mut self, now: Time, index: usize, end: Direction) {
        let Self {
            network,
            flows,
            recorder,
            unfinished,
            ..
        } = self;
        let flow = &mut flows[index];
        let Transport::Tcp(tcp) = &mut flow.transport else {
            return;
        };
        let TcpFlow {
            ends, application, ..
        } = tcp.as_mut();
        let endpoint = &mut ends[end.index()];
        let sends = end == flow.direction;
        if sends {
            application.at_sender(now, endpoint);
        } else {
            match application.at_receiver(now, endpoint) {
                Progress::Continues => {}
                Progress::Thinks(due) => network.arm(index * ALARMS_PER_FLOW + PROGRAM, due),
                Progress::Done => {
                    if flow.end.is_none() {
                        flow.end = Some(now);
                        *unfinished -= 1;
                        recorder.path.event(now, index as i64, "completed", 1.0);
                    }
                }
            }
        }
        loop {
            // Each kind is packed where it comes from, so that no segment is copied.
            let packet = if let Some(segment) = endpoint.poll_usual(now) {
                SimPacket::new(index as u32, end, endpoint.wire_bytes(&segment), &segment)
            } else if let Some(segment) = endpoint.poll_transmit(now) {
                SimPacket::new(index as u32, end, endpoint.wire_bytes(&segment), &segment)
            } else {
                break;
            };
            recorder.sent(now, end, &packet);
            network.inject(now, end, packet, recorder);
        }
        network.arm(index * ALARMS_PER_FLOW + end.index(), endpoint.next_deadline());
        if sends {
            recorder.sample(now, index as u32, endpoint);
        }
    }

    fn alarm(&mut self, now: Time, alarm: usize) {
        let index = alarm / ALARMS_PER_FLOW;
        match alarm % ALARMS_PER_FLOW {
            PROGRAM => self.program(now, index),
            which => self.timer(now, index, Direction::BOTH[which]),
        }
    }

    fn timer(&mut self, now: Time, index: usize, end: Direction) {
        let Transport::Tcp(tcp) = &mut self.flows[index].transport else {
            return;
        };
        let endpoint = &mut tcp.ends[end.index()];
        if endpoint.next_deadline() > now {
            self.network
                .arm(index * ALARMS_PER_FLOW + end.index(), endpoint.next_deadline());
            return;
        }
        let before = endpoint.stats().timeouts;
        endpoint.on_deadline(now);
        if endpoint.stats().timeouts > before {
            self.recorder.path.event(now, index as i64, "timeout", 1.0);
        }
        self.attend(now, index, end);
    }

    /// The program of a flow is due: to start, to ask again, to stop, to send a datagram.
    fn program(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let alarm = index * ALARMS_PER_FLOW + PROGRAM;
        let Transport::Tcp(tcp) = &mut flow.transport else {
            self.send_datagrams(now, index);
            return;
        };
        let TcpFlow {
            ends, application, ..
        } = tcp.as_mut();
        let (sender, receiver) = (flow.direction, flow.direction.reverse());
        let touched = if !flow.started {
            flow.started = true;
            let opener = if application.sender_opens {
                sender
            } else {
                receiver
            };
            application.start(now, &mut ends[opener.index()]);
            if let Some(lasts) = application.lasts {
                self.network.arm(alarm, now + lasts);
            }
            opener
        } else if application.next_request.is_some_and(|due| due <= now) {
            application.ask(now, &mut ends[receiver.index()]);
            receiver
        } else if application.lasts.is_some_and(|lasts| flow.start + lasts <= now) {
            ends[sender.index()].close(now);
            sender
        } else {
            return;
        };
        self.attend(now, index, touched);
    }

    fn send_datagrams(&mut self, now: Time, index: usize) {
        let alarm = index * ALARMS_PER_FLOW + PROGRAM;
        let flow = &mut self.flows[index];
        flow.started = true;
        let Transport::Datagrams(datagrams) = &mut flow.transport else {
            return;
        };
        match datagrams.pace {
            Pace::Every(interval) => {
                datagrams.next = now + interval;
                self.network.arm(alarm, now + interval);
                self.send_datagram(now, index);
            }
            Pace::Backlog => self.fill_backlog(now, index),
        }
    }

    fn fill_backlog(&mut self, now: Time, index: usize) {
        let direction = self.flows[index].direction;
        for _ in 0..BACKLOG_FRAMES {
            if self.network.wifi_queue_len(index as u32, direction) >= BACKLOG_FRAMES {
                break;
            }
            self.send_datagram(now, index);
        }
        // Otherwise the next frame that departs makes room.
        if self.network.wifi_queue_len(index as u32, direction) == 0 {
            self.network.arm(index * ALARMS_PER_FLOW + PROGRAM, now + RETRY);
        }
    }

    fn send_datagram(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let direction = flow.direction;
        let Transport::Datagrams(datagrams) = &mut flow.transport else {
            return;
        };
        let packet = SimPacket::datagram(index as u32, direction, datagrams.sent, datagrams.payload_bytes);
        datagrams.sent += 1;
        self.recorder.sent(now, direction, &packet);
        self.network.inject(now, direction, packet, &mut self.recorder);
    }

    fn departed(&mut self, now: Time, direction: Direction, route: u32) {
        let index = route as usize;
        let flow = &self.flows[index];
        if let Transport::Datagrams(datagrams) = &flow.transport
            && datagrams.pace == Pace::Backlog
            && flow.direction == direction
        {
            self.fill_backlog(now, index);
        }
    }

    /// The record of the run.
    pub fn finish(self) -> CellRecord {
        let Self {
            world,
            network,
            flows,
            recorder,
            now,
            end,
            unfinished,
            events,
            ..
        } = self;
        let run_end = if unfinished == 0 { now } else { end };
        let divided = network.acks_created().to_vec();
        let rows = flows.iter().enumerate();
        let mut totals = vec![("run_s", run_end.as_secs_f64()), ("engine_events", events as f64)];
        let drops = recorder.path.drop_totals();
        totals.extend(drops.map(|(name, count)| (name, count as f64)));
        CellRecord {
            elements: world.path.iter().map(|element| element.name.clone()).collect(),
            flows: rows
                .map(|(index, flow)| flow_row(&world, index, flow, run_end, divided[index].max(0) as u64))
                .collect(),
            samples: recorder.samples,
            packets: recorder.packets.map_or_else(Vec::new, |log| log.rows.into_rows()),
            mac: recorder.path.mac.into_rows(),
            stations: station_rows(network.airtime()),
            events: recorder.path.events.into_rows(),
            totals,
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
