//! The trace: every segment a sample, the values those of the sender.

mod support;

use std::time::Duration;

use lasthop_ebpf::{Filter, Sample, SampleKind, Trace, netns_inode};
use support::client::{MSS, Server};

fn watch(server: &Server) -> Trace {
    let namespace = netns_inode(server.namespace.fd()).expect("the namespace's inode");
    Trace::start(&Filter {
        namespaces: vec![namespace],
        ..Filter::default()
    })
    .expect("the trace starts")
}

fn samples(trace: &mut Trace) -> Vec<Sample> {
    let mut samples = Vec::new();
    let count = trace.poll(&mut samples).expect("poll");
    assert_eq!(count, samples.len());
    samples
}

#[test]
fn every_segment_yields_the_state_it_found() {
    if support::skipped("every_segment_yields_the_state_it_found") {
        return;
    }
    let server = Server::new();
    let mut trace = watch(&server);
    let connection = server.sending("reno");
    for segment in 1..=5 {
        connection.ack(segment * MSS);
    }
    let samples = samples(&mut trace);
    let segments: Vec<&Sample> = samples
        .iter()
        .filter(|s| s.kind == SampleKind::Segment && s.local_port == connection.port())
        .collect();
    assert_eq!(segments.len(), 5);
    for (before, sample) in (0u32..).zip(&segments) {
        assert_eq!(sample.snd_una_bytes, u64::from(before * MSS));
        assert_eq!(sample.cwnd_segments, 10 + before, "slow start, one per ACK");
        assert_eq!(sample.cwnd_bytes, u64::from((10 + before) * MSS));
        // The kernel may wait for more to send at once, so not always up to the window.
        assert_eq!(
            sample.in_flight_bytes,
            sample.snd_nxt_bytes - sample.snd_una_bytes
        );
        assert!(sample.snd_nxt_bytes >= u64::from(10 * MSS) && sample.in_flight_bytes <= sample.cwnd_bytes);
        assert_eq!((sample.ssthresh_bytes, sample.mss_bytes), (None, MSS));
        assert_eq!(sample.rwnd_bytes, 65535 << 7);
        assert_eq!(sample.remote_port, 40_000);
        assert!(
            sample.srtt.is_some_and(|srtt| srtt < Duration::from_secs(10)),
            "{:?}",
            sample.srtt
        );
        assert!(
            sample.rto >= Duration::from_secs(20),
            "the route's rto_min: {:?}",
            sample.rto
        );
    }
    assert!(
        samples.windows(2).all(|pair| pair[0].time_ns <= pair[1].time_ns),
        "in order"
    );
    assert!(
        samples.iter().any(|s| s.kind == SampleKind::State(1)),
        "ESTABLISHED: {samples:#?}"
    );
    assert_eq!(trace.lost().expect("lost"), 0);
}

#[test]
fn a_sender_is_watched_on_after_its_application_closed() {
    if support::skipped("a_sender_is_watched_on_after_its_application_closed") {
        return;
    }
    let server = Server::new();
    let mut trace = watch(&server);
    let mut connection = server.connect(40_000, "reno");
    connection.write(100_000);
    connection.finish();
    // Two segments per ACK once the first round is sent; an ACK of what was not
    // sent would be ignored.
    connection.await_data(10 * MSS);
    for segment in 1..=10 {
        connection.ack(segment * MSS);
    }
    connection.await_data(20 * MSS);
    let samples = samples(&mut trace);
    let sent: Vec<&Sample> = samples
        .iter()
        .filter(|sample| sample.kind == SampleKind::Sent)
        .collect();
    assert!(sent.len() >= 3, "segments left: {samples:#?}");
    for sample in &sent {
        let acked = sample.snd_una_bytes / u64::from(MSS);
        assert_eq!(u64::from(sample.cwnd_segments), 10 + acked, "slow start goes on");
    }
    assert!(sent.is_sorted_by_key(|sample| sample.snd_una_bytes), "in order");
    assert!(
        samples.iter().any(|sample| sample.kind == SampleKind::State(4)),
        "FIN-WAIT-1"
    );
}

#[test]
fn losses_show_as_retransmission_and_congestion_state() {
    if support::skipped("losses_show_as_retransmission_and_congestion_state") {
        return;
    }
    let server = Server::new();
    let mut trace = watch(&server);
    let connection = server.sending("reno");
    connection.lose_first();
    connection.ack(10 * MSS);
    let kinds: Vec<SampleKind> = samples(&mut trace)
        .iter()
        .map(|sample| sample.kind)
        .filter(|kind| *kind != SampleKind::Segment)
        .collect();
    let recovery = kinds.iter().position(|kind| *kind == SampleKind::Congestion(3));
    let repair = kinds.iter().position(|kind| *kind == SampleKind::Retransmit(1));
    let open = kinds.iter().rposition(|kind| *kind == SampleKind::Congestion(0));
    assert!(
        recovery.is_some() && recovery < repair && repair < open,
        "{kinds:?}"
    );
}

#[test]
fn others_are_not_watched() {
    if support::skipped("others_are_not_watched") {
        return;
    }
    let (watched, other) = (Server::new(), Server::new());
    let mut trace = watch(&watched);
    let mut ports = Trace::start(&Filter {
        port: Some(40_001),
        ..Filter::default()
    })
    .expect("the trace starts");
    for server in [&watched, &other] {
        for port in [40_000, 40_001] {
            let mut connection = server.connect(port, "reno");
            connection.write(10_000);
            connection.ack(MSS);
        }
    }
    let namespace = netns_inode(watched.namespace.fd()).expect("inode");
    let seen = samples(&mut trace);
    assert!(!seen.is_empty() && seen.iter().all(|sample| sample.namespace == namespace));
    let seen = samples(&mut ports);
    assert!(!seen.is_empty() && seen.iter().all(|sample| sample.remote_port == 40_001));
}

/// ACKs that overflow the smallest ring buffer.
const SEGMENTS: u32 = 2000;

#[test]
fn samples_beyond_the_buffer_are_counted() {
    if support::skipped("samples_beyond_the_buffer_are_counted") {
        return;
    }
    let server = Server::new();
    let namespace = netns_inode(server.namespace.fd()).expect("inode");
    let filter = Filter {
        namespaces: vec![namespace],
        port: None,
        buffer_bytes: 1,
    };
    let mut trace = Trace::start(&filter).expect("the trace starts");
    let connection = server.sending("reno");
    let before = samples(&mut trace).len() as u64;
    assert_eq!(trace.lost().expect("lost"), 0);
    for byte in 1..=SEGMENTS {
        connection.ack(byte);
    }
    let lost = trace.lost().expect("lost");
    let kept = samples(&mut trace)
        .iter()
        .filter(|sample| sample.kind == SampleKind::Segment)
        .count() as u64;
    assert!(before > 0 && lost > 0, "{before} before, {lost} lost");
    assert_eq!(kept + lost, u64::from(SEGMENTS));
}
