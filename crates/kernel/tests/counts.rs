//! What a sender decided is counted by who saw it, and unknown where nobody did.

#![allow(clippy::unwrap_used)]

mod support;

use lasthop_kernel::{Options, run_cell};
use lasthop_record::{CellRecord, FlowRow};
use support::{load_text, may_run};

/// Downloads over a lossy wire, every decision seen by the sockets alone.
fn untraced(flows: u32) -> CellRecord {
    let workload = format!("bytes = \"$bytes\"\nflows = {flows}");
    let text = support::SCENARIO.replace("bytes = \"$bytes\"", &workload);
    let options = Options {
        trace: false,
        attempts: 1,
        ..Options::default()
    };
    let plan = load_text(&text, &[("loss", "0.03"), ("bytes", "1 MB")]);
    run_cell(&plan.variants[0], 1, &options).unwrap()
}

#[test]
fn a_flow_alone_at_its_host_is_counted_there() {
    if !may_run() {
        return;
    }
    let record = untraced(1);
    let flow = &record.flows[0];
    assert!(flow.retransmissions > Some(0));
    assert!(flow.fast_retransmits > Some(0), "{flow:?}");
    assert!(flow.undone.is_some() && flow.timeouts.is_some(), "{flow:?}");
    assert_eq!(flow.cwnd_cuts, None, "no counter tells");
}

#[test]
fn flows_that_share_a_host_are_not_told_apart() {
    if !may_run() {
        return;
    }
    let unknown = |flow: &FlowRow| [flow.fast_retransmits, flow.undone, flow.cwnd_cuts] == [None; 3];
    let record = untraced(2);
    assert!(record.flows.iter().all(unknown), "{:?}", record.flows);
    // The packets on the path and the sockets still tell these.
    assert!(
        record
            .flows
            .iter()
            .all(|flow| flow.retransmissions.is_some() && flow.timeouts.is_some())
    );
}
