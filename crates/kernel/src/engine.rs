//! Runs one cell on the real stack and writes the same record as the simulator.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lasthop_network::{PlannedFlow, planned_flows, station_rows};
use lasthop_record::{CellRecord, EventRow, FlowFailure, FlowRow, Log, Samples};
use lasthop_scenario::Dialogue;
use lasthop_scenario::spec::{Sampling, Variant, World};
use lasthop_units::{Direction, Span, Time};

use crate::command::Commands;
use crate::fetch::Fetches;
use crate::flow_totals::{Counted, Outcome, flow_row};
use crate::in_kernel::divided_by_flow;
use crate::options::Options;
use crate::routed::FIRST_PORT;
use crate::sampler::{Sampled, Sampler, SenderKey};
use crate::session::{Ended, Session};
use crate::workload::{FlowPlan, FlowState, Work};
use crate::{Clock, Error};

/// How often the engine looks whether the work is done.
const LOOK: Duration = Duration::from_millis(5);
/// After the work, the last ACKs and closings still travel.
const LINGER: Span = Span::from_ms(20);

/// Real-time runs of one process go one after the other: two at once would
/// make each other late.
static RUNNING: Mutex<()> = Mutex::new(());

/// Runs `variant` with `seed`, again while it is late beyond the bound and
/// attempts are left. The totals say whether the last one is valid.
///
/// # Errors
/// When the kernel cannot play the scenario, or this user may not build it.
pub fn run_cell(variant: &Variant, seed: u64, options: &Options) -> Result<CellRecord, Error> {
    run_cell_until(variant, seed, options, &AtomicBool::new(false))
}

/// As [`run_cell`], but gives up, with everything torn down, soon after `stop`
/// is set.
///
/// # Errors
/// As [`run_cell`], and [`Error::Stopped`].
pub fn run_cell_until(
    variant: &Variant,
    seed: u64,
    options: &Options,
    stop: &AtomicBool,
) -> Result<CellRecord, Error> {
    let _one_at_a_time = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut attempt = 1;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let (mut record, valid) = run_once(&variant.world, seed, options, stop)?;
        if valid || attempt >= options.attempts {
            record.totals.push(("valid", f64::from(u8::from(valid))));
            record.totals.push(("attempts", f64::from(attempt)));
            let bound = options.lateness_bound.as_secs_f64();
            record.totals.push(("lateness_bound_s", bound));
            return Ok(record);
        }
        attempt += 1;
    }
}

fn run_once(
    world: &World,
    seed: u64,
    options: &Options,
    stop: &AtomicBool,
) -> Result<(CellRecord, bool), Error> {
    let flows = planned_flows(world);
    let routes = flows.iter().map(|flow| flow.route).collect();
    let mut session = Session::open_with(world, routes, seed, options)?;
    let numbered = || flows.iter().enumerate();
    let plans = numbered().map(|(index, flow)| plan(world, &session, index, flow));
    let (mut work, mut fetches) = if options.curl {
        let plans: Vec<_> = plans.collect();
        (Work::by_others(plans.len()), Fetches::prepare(plans)?)
    } else {
        (Work::prepare(plans)?, Fetches::none())
    };
    let plans = numbered().map(|(index, flow)| plan(world, &session, index, flow));
    let mut commands = Commands::prepare(world, plans, options.outputs.as_deref())?;
    let keys = numbered()
        .map(|(index, flow)| key(world, &session, index, flow))
        .collect();
    let sampler = Sampler::load(world.record.samples, keys, work.flows.clone(), options.trace)?;
    let clock = session.begin()?;
    sampler.begin(clock);
    work.begin(clock)?;
    let run_end = wait(&work, clock, world.duration, stop, || {
        fetches.look(&session, clock, &work.flows);
        commands.look(&session, clock, &work.flows);
    })?;
    let infos: Vec<_> = work.flows.iter().map(|flow| flow.info()).collect();
    work.stop();
    fetches.stop();
    let exits = commands.stop();
    let sampled = sampler.stop()?;
    let coalesced = session.backlog_coalesced();
    let ends: Vec<_> = flows.iter().map(|flow| seats(&session, flow)).collect();
    let divided = divided_by_flow(&session.divacks, &ends)?;
    let counted = counted(world, &session, &flows, &ends);
    let ended = session.end_path()?;
    let valid = ended.punctuality.is_valid(options.lateness_bound);
    let rows = numbered().map(|(index, flow)| {
        let created = ended.path.network.acks_created()[index].max(0) as u64;
        let outcome = Outcome {
            state: &work.flows[index],
            info: infos[index],
            traced: sampled.complete_counts().map(|counts| counts[index]),
            counted: counted[index],
            seen: ended.path.recorder.counts[index],
            divided: [divided[index], created],
        };
        flow_row(world, index, flow, run_end, &outcome)
    });
    let rows = rows.collect();
    let mut record = assemble(world, rows, run_end, sampled, ended, coalesced);
    record.events.extend(exits);
    record.failures = failures(&work, &commands);
    record
        .events
        .extend(record.failures.iter().map(|failure| EventRow {
            t: run_end,
            flow: failure.flow.into(),
            kind: "failed",
            value: 1.0,
        }));
    Ok((record, valid))
}

/// The flows whose programs failed, with what there is to say about it.
fn failures(work: &Work, commands: &Commands) -> Vec<FlowFailure> {
    let failure = |(flow, state): (usize, &Arc<FlowState>)| {
        let reason = state.error()?;
        let (exit_code, last_lines) = commands.ending(flow);
        Some(FlowFailure {
            flow: flow as u32,
            reason,
            exit_code,
            last_lines,
        })
    };
    work.flows.iter().enumerate().filter_map(failure).collect()
}

/// The workload a flow belongs to.
pub(crate) fn workload_of(world: &World, flow: usize) -> usize {
    planned_flows(world).get(flow).map_or(0, |flow| flow.workload)
}

/// The hosts of a flow: its sender's, then its receiver's.
fn seats(session: &Session, flow: &PlannedFlow) -> [usize; 2] {
    let server = session.seat(flow.route.server_group, flow.route.server_in_group);
    let client = session.seat(flow.route.client_group, flow.route.client_in_group);
    match flow.direction {
        Direction::Downlink => [server, client],
        Direction::Uplink => [client, server],
    }
}

fn plan(world: &World, session: &Session, index: usize, flow: &PlannedFlow) -> FlowPlan {
    let [sender, receiver] = seats(session, flow);
    let ip = world.hosts[flow.route.server_group].tcp.ip_version;
    FlowPlan {
        kind: world.workloads[flow.workload].kind.clone(),
        port: FIRST_PORT + index as u16,
        start: flow.start,
        sender: session.end(sender, ip),
        receiver: session.end(receiver, ip),
        seats: [sender, receiver],
    }
}

fn key(world: &World, session: &Session, index: usize, flow: &PlannedFlow) -> SenderKey {
    let [sender, _] = seats(session, flow);
    let dialogue = Dialogue::of(&world.workloads[flow.workload].kind);
    SenderKey {
        namespace: session.seats[sender].inode,
        port: FIRST_PORT + index as u16,
        is_local: dialogue.is_some_and(|dialogue| !dialogue.sender_opens),
    }
}

/// Waits for the work or the duration, and returns when the run ended.
fn wait(
    work: &Work,
    clock: Clock,
    duration: Span,
    stop: &AtomicBool,
    mut look: impl FnMut(),
) -> Result<Time, Error> {
    let limit = Time::ZERO + duration;
    loop {
        look();
        let now = clock.now();
        if work.is_done() {
            clock.sleep_until(now + LINGER);
            let ends = work.flows.iter().filter_map(|flow| flow.end());
            return Ok(ends.max().unwrap_or(now));
        }
        if now >= limit {
            return Ok(limit);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        thread::sleep(LOOK);
    }
}

/// What each flow's sending host counted, where no other flow is at that host.
fn counted(world: &World, session: &Session, flows: &[PlannedFlow], ends: &[[usize; 2]]) -> Vec<Counted> {
    let count = |(flow, [sender, _]): (&PlannedFlow, &[usize; 2])| {
        let sharing = ends.iter().filter(|seats| seats.contains(sender));
        if sharing.count() > 1 || Dialogue::of(&world.workloads[flow.workload].kind).is_none() {
            return Counted::default();
        }
        Counted {
            fast_retransmits: session.tcp_counters(*sender, &Counted::RECOVERIES),
            undone: session.tcp_counters(*sender, &Counted::UNDONE),
        }
    };
    flows.iter().zip(ends).map(count).collect()
}

fn assemble(
    world: &World,
    flows: Vec<FlowRow>,
    run_end: Time,
    sampled: Sampled,
    ended: Ended,
    coalesced: u64,
) -> CellRecord {
    let Ended {
        path,
        punctuality,
        uncaptured,
    } = ended;
    let recorder = path.recorder;
    let packets = recorder.watch.and_then(|watch| watch.log).map(|log| log.rows);
    let drops: Vec<_> = recorder.path.drop_totals().collect();
    let unlogged = [
        ("unlogged_packets", packets.as_ref().map_or(0, Log::unlogged)),
        ("unlogged_samples", sampled.samples.unlogged()),
        ("unlogged_mac", recorder.path.mac.unlogged()),
        ("unlogged_events", recorder.path.events.unlogged()),
        ("uncaptured_packets", uncaptured),
        ("lost_samples", sampled.lost),
    ];
    let mut events = recorder.path.events.into_rows();
    for row in flows.iter().filter(|row| row.end.is_some()) {
        let t = row.end.unwrap_or(run_end);
        events.push(EventRow {
            t,
            flow: row.flow.into(),
            kind: "completed",
            value: 1.0,
        });
    }
    events.extend(sampled.events);
    // What follows the end of the run is only the teardown.
    events.retain(|event| event.t <= run_end);
    let lateness = punctuality.lateness;
    let flag = |on: bool| f64::from(u8::from(on));
    let mut totals = vec![
        ("run_s", run_end.as_secs_f64()),
        ("engine_events", punctuality.packets_in as f64),
    ];
    let counts = drops.into_iter().chain(unlogged);
    totals.extend(counts.map(|(name, count)| (name, count as f64)));
    totals.extend([
        ("lateness_p50_s", lateness.p50.as_secs_f64()),
        ("lateness_p99_s", lateness.p99.as_secs_f64()),
        ("lateness_p999_s", lateness.p999.as_secs_f64()),
        ("lateness_max_s", lateness.max.as_secs_f64()),
        ("stolen_s", punctuality.stolen.as_secs_f64()),
        ("backlog_coalesced", coalesced as f64),
        ("refused_packets", punctuality.refused as f64),
        ("unroutable_packets", path.unroutable as f64),
        ("traced", flag(sampled.counts.is_some())),
        ("realtime", flag(punctuality.privileges.realtime)),
        ("kept_awake", flag(punctuality.kept_awake)),
    ]);
    let traced = world.record.samples != Sampling::Off;
    CellRecord {
        elements: world.path.iter().map(|element| element.name.clone()).collect(),
        flows,
        samples: if traced {
            sampled.samples.into_rows().into_iter().collect()
        } else {
            Samples::default()
        },
        packets: packets.map_or_else(Vec::new, Log::into_rows),
        mac: recorder.path.mac.into_rows(),
        stations: station_rows(path.network.airtime()),
        events,
        totals,
        failures: Vec::new(),
    }
}
