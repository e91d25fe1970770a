//! The totals of a flow, each from who really saw it: the packets on the path,
//! the sender's tracepoints, its socket, its namespace's counters. What nobody
//! saw stays unknown.

use lasthop_network::PlannedFlow;
use lasthop_record::FlowRow;
use lasthop_scenario::Dialogue;
use lasthop_scenario::spec::{WorkloadKind, World};
use lasthop_units::Time;

use crate::TcpInfo;
use crate::recorder::FlowCounts;
use crate::sampler::SenderCounts;
use crate::workload::FlowState;

/// What a namespace counted of the only flow in it (`TcpExt` of `/proc/net/netstat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Recoveries entered.
    pub(crate) fast_retransmits: Option<u64>,
    /// Timeouts or recoveries undone.
    pub(crate) undone: Option<u64>,
}

impl Counted {
    /// Counters that add up to the recoveries entered.
    pub(crate) const RECOVERIES: [&str; 2] = ["TCPRenoRecovery", "TCPSackRecovery"];
    /// Counters that add up to the reductions of cwnd undone: each undo clears
    /// the mark that allows the next.
    pub(crate) const UNDONE: [&str; 4] = ["TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo"];
}

/// What is known of one flow when its run ends.
pub(crate) struct Outcome<'a> {
    /// Its programs' own account.
    pub(crate) state: &'a FlowState,
    /// The sender's socket, where the engine held it.
    pub(crate) info: Option<TcpInfo>,
    /// The sender's decisions, where every one of them was traced.
    pub(crate) traced: Option<SenderCounts>,
    /// The sender's namespace, where this flow is the only one in it.
    pub(crate) counted: Counted,
    /// Its packets on the path.
    pub(crate) seen: FlowCounts,
    /// ACKs that divacks agents sent in addition: in the kernel, and on the path.
    pub(crate) divided: [u64; 2],
}

/// The row of flow `index`.
pub(crate) fn flow_row(
    world: &World,
    index: usize,
    flow: &PlannedFlow,
    run_end: Time,
    outcome: &Outcome<'_>,
) -> FlowRow {
    let workload = &world.workloads[flow.workload];
    let delivered = outcome.state.delivered();
    let row = FlowRow {
        flow: index as u32,
        workload: workload.name.clone(),
        host: world.hosts[flow.route.client_group].name.clone(),
        client: flow.route.station - 1,
        start: outcome.state.start().unwrap_or(flow.start),
        end: outcome.state.end(),
        run_end,
        delivered_bytes: Some(delivered),
        ..FlowRow::default()
    };
    match Dialogue::of(&workload.kind) {
        Some(dialogue) => FlowRow {
            bytes: dialogue.total_bytes(),
            ..tcp_row(row, flow, outcome)
        },
        None if matches!(workload.kind, WorkloadKind::Udp { .. }) => FlowRow {
            acked_bytes: Some(delivered),
            data_packets: Some(outcome.state.sent_packets()),
            ..row
        },
        None => of_a_command(row),
    }
}

fn tcp_row(row: FlowRow, flow: &PlannedFlow, outcome: &Outcome<'_>) -> FlowRow {
    let Outcome {
        info,
        traced,
        counted,
        seen,
        ..
    } = outcome;
    let (data, acks) = (flow.direction.index(), flow.direction.reverse().index());
    let acked = info.map_or(seen.acked_bytes(acks), |info| info.acked_bytes);
    let finished = row.end.and(row.delivered_bytes).unwrap_or(0);
    let [in_kernel, on_path] = outcome.divided;
    FlowRow {
        acked_bytes: Some(acked.max(finished)),
        data_packets: Some(seen.data_packets[data]),
        retransmissions: Some(seen.retransmissions[data]),
        fast_retransmits: traced
            .map(|traced| traced.fast_retransmits)
            .or(counted.fast_retransmits),
        timeouts: traced
            .map(|traced| traced.timeouts)
            .or_else(|| info.and_then(|info| info.timeouts)),
        cwnd_cuts: traced.map(|traced| traced.cwnd_cuts),
        undone: counted.undone,
        duplicate_acks: Some(seen.duplicate_acks[acks]),
        acks_sent: Some(seen.acks_sent[acks].saturating_sub(in_kernel)),
        divided_acks: in_kernel + on_path,
        ..row
    }
}

/// The connections of a program of the user's are not told apart.
fn of_a_command(row: FlowRow) -> FlowRow {
    FlowRow {
        acked_bytes: None,
        delivered_bytes: None,
        data_packets: None,
        retransmissions: None,
        fast_retransmits: None,
        timeouts: None,
        cwnd_cuts: None,
        undone: None,
        duplicate_acks: None,
        acks_sent: None,
        ..row
    }
}
