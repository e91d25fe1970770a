//! The simulated TCP talks to the kernel's over a path that loses packets both
//! ways. Needs root (or a user namespace); skipped with the reason elsewhere.

#[path = "support/sim_peer.rs"]
mod sim_peer;

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lasthop_agent::FlowKey;
use lasthop_kernel::{
    Addresses, Clock, Driver, Error, Host, HostSettings, Keeper, Program, RouteSettings, RunDir, Settings,
    Tun,
};
use lasthop_path::{ErrorModel, LinkConfig, QueueLimit, WiredConfig};
use lasthop_tcp::{Config, Personality};
use lasthop_units::{BitRate, Direction, Span};
use sim_peer::{PEER, Reader, Seen, SimPeer};

const FILE_BYTES: usize = 1_013_760;

/// A file in which no two places look alike.
fn file() -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..FILE_BYTES).map(|_| next()).collect()
}

fn response(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn linux() -> Config {
    Personality::by_name("linux-6")
        .expect("a known personality")
        .config
}

/// 20 Mbit/s, 20 ms each way, and `loss` of the packets of either direction.
fn wire(loss: f64) -> WiredConfig {
    let link = LinkConfig {
        rate: Some(BitRate::from_bps(20_000_000)),
        delay: Span::from_ms(20),
        queue: QueueLimit::Packets(200),
        errors: vec![ErrorModel::PerPacket { probability: loss }],
        ..LinkConfig::default()
    };
    WiredConfig {
        downlink: link.clone(),
        uplink: link,
    }
}

/// A real host; `None`, with the reason, where none can be built.
fn real_host(receive_memory: Option<u32>) -> Option<(Host, Tun, Addresses)> {
    let addresses = Addresses::of(0, 0);
    let sysctls = receive_memory.map(|bytes| ("ipv4/tcp_rmem".into(), format!("4096 {bytes} {bytes}")));
    let settings = HostSettings {
        name: "real".into(),
        addresses,
        mtu: 1500,
        offload: true,
        route: RouteSettings::default(),
        sysctls: sysctls.into_iter().collect(),
    };
    match Host::build(settings) {
        Ok((host, tun)) => Some((host, tun, addresses)),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            None
        }
    }
}

/// `curl` in the host fetches the file from a simulated server; returns what
/// was seen downlink and uplink.
fn curl_fetches(loss: f64, receive_memory: Option<u32>, then: &str) -> Option<[Seen; 2]> {
    let (host, tun, _) = real_host(receive_memory)?;
    let run = RunDir::create().expect("a place for the run");
    let keeper = Keeper::start(&run, std::iter::once(&host), None).expect("a keeper");
    let peer = SimPeer::server(linux(), &wire(loss), response(&file()), 7);
    let driver = Driver::start(peer, vec![tun], Clock::start(), Settings::default()).expect("a path");
    let line = format!("curl -sS --fail --max-time 60 http://{}/file {then}", PEER.0);
    let command = ["sh", "-c", &line].map(Into::into).to_vec();
    let program = Program {
        command,
        variables: Vec::new(),
        terminal: false,
    };
    let child = match keeper.spawn(&host, program) {
        Ok(child) => child,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return None;
        }
    };
    let output = child.wait_with_output().expect("curl ends");
    let (peer, _) = driver.stop().expect("the path ends well");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.stdout == file(),
        "curl's {} bytes differ from the file",
        output.stdout.len()
    );
    Some(peer.seen)
}

/// One request answered with the file by a program on the kernel's sockets.
fn serve(listener: TcpListener) -> JoinHandle<std::io::Result<()>> {
    thread::spawn(move || {
        let (mut socket, _): (TcpStream, _) = listener.accept()?;
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") {
            socket.read_exact(&mut byte)?;
            request.push(byte[0]);
        }
        socket.write_all(&response(&file()))
    })
}

/// A simulated client fetches the file from a real server.
fn simulated_client_fetches(loss: f64, config: Config, reader: Option<Reader>) -> Option<[Seen; 2]> {
    let (host, tun, addresses) = real_host(None)?;
    let address = IpAddr::V4(addresses.v4);
    let listener = host
        .namespace
        .run(|| TcpListener::bind((address, PEER.1)).map_err(|error| Error::Unavailable(error.to_string())))
        .expect("a listener");
    let server = serve(listener);
    let flow = FlowKey {
        source: PEER.0,
        source_port: 40_000,
        destination: address,
        destination_port: PEER.1,
    };
    let request = b"GET /file HTTP/1.0\r\n\r\n".to_vec();
    let peer = SimPeer::client(config, &wire(loss), flow, request, reader, 7);
    let driver = Driver::start(peer, vec![tun], Clock::start(), Settings::default()).expect("a path");
    let patience = Instant::now() + Duration::from_secs(60);
    while !driver
        .commander()
        .ask(|peer, _| peer.finished)
        .expect("the path runs")
        && Instant::now() < patience
    {
        thread::sleep(Duration::from_millis(20));
    }
    let (peer, _) = driver.stop().expect("the path ends well");
    assert!(
        peer.finished,
        "after a minute: {:?} {:?}",
        peer.seen,
        peer.endpoint().metrics()
    );
    server.join().expect("the server ends").expect("the server sends");
    assert!(
        peer.incoming == response(&file()),
        "{} bytes differ from the answer",
        peer.incoming.len()
    );
    Some(peer.seen)
}

fn both_ways(seen: [Seen; 2]) -> (Seen, Seen) {
    (seen[Direction::Downlink.index()], seen[Direction::Uplink.index()])
}

#[test]
fn curl_gets_the_file_from_a_simulated_server_over_a_lossy_path() {
    let Some(seen) = curl_fetches(0.02, None, "") else {
        return;
    };
    let (simulated, real) = both_ways(seen);
    assert!(simulated.dropped > 0 && real.dropped > 0, "{seen:?}");
    assert_eq!(simulated.with_timestamps, simulated.segments);
    assert_eq!(real.with_timestamps, real.segments);
    assert!(real.with_sack > 0, "{seen:?}");
    assert!(simulated.scale > Some(0) && real.scale > Some(0), "{seen:?}");
}

#[test]
fn a_simulated_client_gets_the_file_from_a_real_server_over_a_lossy_path() {
    let Some(seen) = simulated_client_fetches(0.02, linux(), None) else {
        return;
    };
    let (simulated, real) = both_ways(seen);
    assert!(simulated.dropped > 0 && real.dropped > 0, "{seen:?}");
    assert_eq!(real.with_timestamps, real.segments);
    assert!(simulated.with_sack > 0, "{seen:?}");
    assert!(simulated.scale > Some(0) && real.scale > Some(0), "{seen:?}");
}

#[test]
fn a_stalled_curl_closes_its_window_and_the_simulated_server_waits() {
    // The pipe fills, curl stops reading, and its socket's buffer fills.
    let Some(seen) = curl_fetches(0.01, Some(131_072), "| (sleep 2; cat)") else {
        return;
    };
    let (_, real) = both_ways(seen);
    assert!(real.zero_windows > 0, "{seen:?}");
}

#[test]
fn a_slow_simulated_client_closes_its_window_and_the_real_server_waits() {
    let config = Config {
        receive_buffer: lasthop_tcp::ReceiveBuffer::Fixed { bytes: 20_000 },
        ..linux()
    };
    let reader = Reader {
        bytes: 50_000,
        every: Span::from_ms(100),
    };
    let Some(seen) = simulated_client_fetches(0.01, config, Some(reader)) else {
        return;
    };
    let (simulated, _) = both_ways(seen);
    assert!(simulated.zero_windows > 0, "{seen:?}");
}

#[test]
fn a_tuned_buffer_that_nobody_reads_closes_too() {
    let reader = Reader {
        bytes: 250_000,
        every: Span::from_ms(800),
    };
    let Some(seen) = simulated_client_fetches(0.0, linux(), Some(reader)) else {
        return;
    };
    let (simulated, _) = both_ways(seen);
    assert!(simulated.zero_windows > 0, "{seen:?}");
}

#[test]
fn without_timestamps_and_sack_the_file_arrives_too() {
    let config = Config {
        timestamps: false,
        smss: 1460,
        sack: false,
        dsack: false,
        ..linux()
    };
    let Some(seen) = simulated_client_fetches(0.02, config, None) else {
        return;
    };
    let (simulated, real) = both_ways(seen);
    assert_eq!(
        real.with_timestamps + real.with_sack + simulated.with_sack,
        0,
        "{seen:?}"
    );
}
