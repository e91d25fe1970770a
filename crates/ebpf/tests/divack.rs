//! Divided ACKs of the real stack, on veth: how many, in which order, with
//! which checksums, and when not.

mod support;

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};

use etherparse::{IpSlice, TcpSlice};
use lasthop_ebpf::{Divack, DivackSettings, Hook};
use socket2::{Domain, Socket, Type};
use support::device::PacketSocket;
use support::netns::{Namespace, pair};

const BYTES: usize = 200_000;

/// Downloads [`BYTES`] from server to client; the client's packets as they
/// reach the server.
fn download(server: &Namespace, client: &Namespace, host: IpAddr) -> Vec<Vec<u8>> {
    let interface = server.ifindex("eth");
    let (capture, listener) = server.run(|| {
        (
            PacketSocket::new(interface),
            TcpListener::bind((host, 0)).expect("listen"),
        )
    });
    let address: SocketAddr = listener.local_addr().expect("address");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            stay_on_one_processor();
            let (mut stream, _) = listener.accept().expect("accept");
            stream.write_all(&vec![7; BYTES]).expect("write");
            // The client's farewell: no FIN shares an ACK with the data.
            stream.read_exact(&mut [0]).expect("read");
        });
        scope.spawn(|| {
            stay_on_one_processor();
            let mut received = vec![0; BYTES];
            let mut stream = client.run(|| connect(address));
            stream.read_exact(&mut received).expect("read");
            assert_eq!(received, vec![7; BYTES], "the file arrives whole");
            stream.write_all(&[0]).expect("write");
        });
    });
    capture.arrived()
}

/// A connection whose window of a few segments keeps the bursts of divacks
/// below what a veth device's receiving side queues (1000 packets, without
/// delay and on one processor).
fn connect(address: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).expect("socket");
    socket.set_recv_buffer_size(8192).expect("SO_RCVBUF");
    socket.connect(&address.into()).expect("connect");
    socket.into()
}

/// Both ends on the same processor, or veth's queues, one for each, reorder.
fn stay_on_one_processor() {
    // SAFETY: the set is a plain C structure, valid as zeroes, that outlives the calls.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &set));
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(first.expect("a processor"), &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// The numbers of a download's pure ACKs of data, without window updates;
/// checks every checksum on the way.
fn ack_numbers(packets: &[Vec<u8>]) -> Vec<u32> {
    let mut acks = Vec::new();
    for packet in packets {
        let Ok(ip) = IpSlice::from_slice(packet) else {
            continue;
        };
        let payload = ip.payload();
        if payload.ip_number != etherparse::IpNumber::TCP {
            continue;
        }
        let tcp = TcpSlice::from_slice(payload.payload).expect("a TCP packet");
        let checksum = match &ip {
            IpSlice::Ipv4(v4) => {
                let header = v4.header();
                tcp.calc_checksum_ipv4(header.source(), header.destination())
            }
            IpSlice::Ipv6(v6) => {
                let header = v6.header();
                tcp.calc_checksum_ipv6(header.source(), header.destination())
            }
        };
        let checksum = checksum.expect("a length that fits");
        // One's complement has two zeroes, and an incremental update may yield either (RFC 1624).
        let equal = tcp.checksum() == checksum || (tcp.checksum() == 0xffff && checksum == 0);
        assert!(equal, "checksum is not {checksum:#x}: {tcp:?}");
        if tcp.ack() && !tcp.syn() && !tcp.fin() && !tcp.rst() && tcp.payload().is_empty() {
            acks.push(tcp.acknowledgment_number());
        }
    }
    let first = *acks.first().expect("the handshake's last ACK");
    acks.retain(|ack| ack.wrapping_sub(first) <= BYTES as u32);
    acks.dedup();
    acks
}

/// Lengths of the runs of ACK numbers one byte apart, without their last, full
/// ACK: how many divacks each division had.
fn divisions(acks: &[u32]) -> Vec<u64> {
    let steps: Vec<i32> = acks
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]).cast_signed())
        .collect();
    assert!(
        steps.iter().all(|&step| step > 0),
        "ACK numbers only grow: {acks:?}"
    );
    steps
        .chunk_by(|a, b| (*a == 1) == (*b == 1))
        .filter(|run| run[0] == 1)
        .map(|run| run.len() as u64)
        .collect()
}

fn brute_force(count: u32) -> DivackSettings {
    DivackSettings {
        count,
        ..DivackSettings::default()
    }
}

fn divides_every_ack(host: &str, hook: Hook) {
    let (server, client) = pair();
    for count in [1, 4, 64] {
        let divack = Divack::attach_by(hook, Some(client.fd()), client.ifindex("eth"), brute_force(count));
        let divack = divack.expect("divack attaches");
        assert_eq!(divack.hook(), hook);
        let acks = ack_numbers(&download(&server, &client, host.parse().expect("an address")));
        let runs = divisions(&acks);
        let counters = divack.counters().expect("counters");
        assert_eq!(counters.clone_errors, 0);
        assert!(runs.len() > 2, "several ACKs were divided: {acks:?}");
        assert_eq!(
            runs.iter().sum::<u64>(),
            counters.divided_acks,
            "every divack arrived"
        );
        assert_eq!(runs.len() as u64, counters.divisions);
        assert!(
            runs.iter().all(|&run| run == u64::from(count)),
            "n = {count} each: {runs:?}"
        );
    }
    let acks = ack_numbers(&download(&server, &client, host.parse().expect("an address")));
    assert!(divisions(&acks).is_empty(), "detached when dropped");
}

#[test]
fn every_ack_of_an_ipv4_download_is_divided() {
    if !support::skipped("every_ack_of_an_ipv4_download_is_divided") {
        divides_every_ack("10.0.0.1", Hook::Tcx);
    }
}

#[test]
fn every_ack_of_an_ipv6_download_is_divided() {
    if !support::skipped("every_ack_of_an_ipv6_download_is_divided") {
        divides_every_ack("fd00::1", Hook::Tcx);
    }
}

#[test]
fn clsact_does_as_tcx_does() {
    if !support::skipped("clsact_does_as_tcx_does") {
        divides_every_ack("10.0.0.1", Hook::Clsact);
    }
}

#[test]
fn controlled_stops_at_exactly_its_limit_per_connection() {
    if support::skipped("controlled_stops_at_exactly_its_limit_per_connection") {
        return;
    }
    let (server, client) = pair();
    let settings = DivackSettings {
        max_count: Some(100),
        ..brute_force(64)
    };
    let divack = Divack::attach(Some(client.fd()), client.ifindex("eth"), settings).expect("divack attaches");
    for connection in 1..=2 {
        let runs = divisions(&ack_numbers(&download(
            &server,
            &client,
            "10.0.0.1".parse().expect("an address"),
        )));
        assert_eq!(runs, [64, 36], "the limit is a connection's own");
        let counters = divack.counters().expect("counters");
        assert_eq!(
            (counters.divided_acks, counters.divisions),
            (100 * connection, 2 * connection)
        );
    }
}

#[test]
fn every_flow_has_its_own_count() {
    if support::skipped("every_flow_has_its_own_count") {
        return;
    }
    let (server, client) = pair();
    let divack = Divack::attach(Some(client.fd()), client.ifindex("eth"), brute_force(2)).expect("attaches");
    let mut expected = Vec::new();
    for host in ["10.0.0.1", "fd00::1", "10.0.0.1"] {
        let host: IpAddr = host.parse().expect("an address");
        let acks = ack_numbers(&download(&server, &client, host));
        expected.push((host, divisions(&acks).iter().sum::<u64>()));
    }
    let mut counted: Vec<_> = divack
        .flows()
        .expect("the flows' counts")
        .iter()
        .map(|flow| (flow.destination.ip(), flow.divided_acks))
        .collect();
    expected.sort_unstable();
    counted.sort_unstable();
    assert_eq!(
        counted, expected,
        "each flow's divacks, IPv4 and IPv6, and no flow twice"
    );
    let total: u64 = counted.iter().map(|(_, count)| count).sum();
    assert_eq!(divack.counters().expect("counters").divided_acks, total);
}

#[test]
fn settings_change_while_it_runs() {
    if support::skipped("settings_change_while_it_runs") {
        return;
    }
    let (server, client) = pair();
    let host: IpAddr = "10.0.0.1".parse().expect("an address");
    let divack =
        Divack::attach(Some(client.fd()), client.ifindex("eth"), brute_force(0)).expect("divack attaches");
    assert!(
        divisions(&ack_numbers(&download(&server, &client, host))).is_empty(),
        "n = 0 is off"
    );
    divack.set(brute_force(3)).expect("set");
    let runs = divisions(&ack_numbers(&download(&server, &client, host)));
    assert!(!runs.is_empty() && runs.iter().all(|&run| run == 3), "{runs:?}");
    divack.set(brute_force(1000)).expect("set");
    let runs = divisions(&ack_numbers(&download(&server, &client, host)));
    assert!(
        !runs.is_empty() && runs.iter().all(|&run| run == 64),
        "lowered to 64: {runs:?}"
    );
}

#[test]
fn a_missing_interface_is_an_error_in_words() {
    if support::skipped("a_missing_interface_is_an_error_in_words") {
        return;
    }
    let namespace = Namespace::new();
    let error = Divack::attach(Some(namespace.fd()), 4711, brute_force(1)).expect_err("no such interface");
    assert!(error.to_string().contains("interface"), "{error}");
}
