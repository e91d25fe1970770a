//! How fast and how punctual the engine is on this machine, with a plain veth
//! pair beside it: one `name value` per line. `bench [SECONDS]`.
//!
//! Needs root (or a user namespace); says so in one sentence elsewhere.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lasthop_kernel::{
    Addresses, Clock, DelayLine, Driver, Error as KernelError, Host, HostSettings, Namespace, RouteSettings,
    Settings, ensure_privileges,
};
use lasthop_path::{LinkConfig, QueueLimit, WiredConfig};
use lasthop_units::{BitRate, Span};

/// Two namespaces that reach each other; `from` sends to `to` at `address`.
struct Ends {
    from: Arc<Namespace>,
    to: Arc<Namespace>,
    address: IpAddr,
}

fn io<T>(result: std::io::Result<T>) -> Result<T, KernelError> {
    result.map_err(|error| KernelError::Unavailable(error.to_string()))
}

/// Bytes per second of one TCP connection.
fn tcp_rate(ends: &Ends, time: Duration) -> Result<f64, Box<dyn Error>> {
    let at = SocketAddr::new(ends.address, 5001);
    let listener = ends.to.run(|| io(TcpListener::bind(at)))?;
    let reader = thread::spawn(move || -> std::io::Result<f64> {
        let (mut socket, _) = listener.accept()?;
        let mut buffer = vec![0; 1 << 18];
        let (mut bytes, begin) = (0_u64, Instant::now());
        loop {
            let count = socket.read(&mut buffer)?;
            if count == 0 {
                return Ok(bytes as f64 / begin.elapsed().as_secs_f64());
            }
            bytes += count as u64;
        }
    });
    let mut socket = ends.from.run(|| io(TcpStream::connect(at)))?;
    let (buffer, begin) = (vec![0; 1 << 18], Instant::now());
    while begin.elapsed() < time {
        socket.write_all(&buffer)?;
    }
    drop(socket);
    Ok(reader.join().map_err(|_| "the reader panicked")??)
}

/// 64-byte IP packets per second that arrive, of as many as can be sent.
fn small_packets(ends: &Ends, time: Duration) -> Result<f64, Box<dyn Error>> {
    let at = SocketAddr::new(ends.address, 5002);
    let receiver = ends.to.run(|| io(UdpSocket::bind(at)))?;
    receiver.set_read_timeout(Some(Duration::from_millis(200)))?;
    let sender = ends.from.run(|| {
        let socket = io(UdpSocket::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)))?;
        io(socket.connect(at)).map(|()| socket)
    })?;
    let counter = thread::spawn(move || {
        let (mut buffer, mut count, mut begin, mut last) = ([0; 64], 0_u64, None, Instant::now());
        while receiver.recv(&mut buffer).is_ok() {
            begin.get_or_insert_with(Instant::now);
            last = Instant::now();
            count += 1;
        }
        begin.map_or(0.0, |begin| count as f64 / (last - begin).as_secs_f64().max(1e-9))
    });
    let (payload, begin) = ([0; 64 - 28], Instant::now());
    while begin.elapsed() < time {
        for _ in 0..64 {
            // A full queue refuses; that is what is measured.
            let _ = sender.send(&payload);
        }
    }
    counter.join().map_err(|_| "the counter panicked".into())
}

/// Round-trip times of small datagrams, one every 10 ms, in ascending order.
fn round_trips(ends: &Ends, count: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let at = SocketAddr::new(ends.address, 5003);
    let echo = ends.to.run(|| io(UdpSocket::bind(at)))?;
    echo.set_read_timeout(Some(Duration::from_millis(500)))?;
    let echoing = thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok((length, from)) = echo.recv_from(&mut buffer) {
            let _ = echo.send_to(&buffer[..length], from);
        }
    });
    let socket = ends.from.run(|| {
        let socket = io(UdpSocket::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0)))?;
        io(socket.connect(at)).map(|()| socket)
    })?;
    socket.set_read_timeout(Some(Duration::from_millis(400)))?;
    let mut times = Vec::new();
    for _ in 0..count {
        let begin = Instant::now();
        socket.send(&[0; 32])?;
        if socket.recv(&mut [0; 64]).is_ok() {
            times.push(begin.elapsed().as_secs_f64());
        }
        thread::sleep(Duration::from_millis(10));
    }
    echoing.join().map_err(|_| "the echo panicked")?;
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn median(ascending: &[f64]) -> f64 {
    ascending.get(ascending.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Two hosts on our wire.
fn wire(rate: Option<BitRate>, delay: Span, join: bool) -> Result<(Ends, Driver<DelayLine>), Box<dyn Error>> {
    let host = |name: &str, addresses| HostSettings {
        name: name.into(),
        addresses,
        mtu: 1500,
        offload: true,
        route: RouteSettings::default(),
        sysctls: Vec::new(),
    };
    let (server_at, client_at) = (Addresses::of(0, 0), Addresses::of(1, 0));
    let (server, server_tun) = Host::build(host("server", server_at))?;
    let (client, client_tun) = Host::build(host("client", client_at))?;
    let link = LinkConfig {
        rate,
        delay,
        queue: QueueLimit::Packets(10_000),
        ..LinkConfig::default()
    };
    let line = DelayLine::new(
        &WiredConfig {
            downlink: link.clone(),
            uplink: link,
        },
        1,
    );
    let settings = Settings {
        join,
        ..Settings::default()
    };
    let driver = Driver::start(line, vec![server_tun, client_tun], Clock::start(), settings)?;
    let ends = Ends {
        from: Arc::clone(&server.namespace),
        to: Arc::clone(&client.namespace),
        address: IpAddr::V4(client_at.v4),
    };
    Ok((ends, driver))
}

/// Two hosts on the kernel's own wire, made with `ip`.
fn veth() -> Result<Ends, Box<dyn Error>> {
    let (from, to) = (Arc::new(Namespace::create()?), Arc::new(Namespace::create()?));
    let ip = |words: String| {
        let status = io(Command::new("ip").args(words.split(' ')).status())?;
        if status.success() {
            Ok(())
        } else {
            Err(KernelError::Unavailable(format!("ip {words} failed")))
        }
    };
    let (thread_sender, thread_of) = std::sync::mpsc::channel();
    let (done_sender, done) = std::sync::mpsc::channel::<()>();
    let done = Mutex::new(done);
    // A thread that stays in `to` names it for `ip link ... netns`.
    let stay = Arc::clone(&to);
    let holder = thread::spawn(move || {
        stay.run(move || {
            let (thread_sender, done) = (
                thread_sender,
                done.into_inner().unwrap_or_else(PoisonError::into_inner),
            );
            let _ = thread_sender.send(nix::unistd::gettid());
            let _ = done.recv();
            Ok(())
        })
    });
    let there = thread_of.recv()?;
    let made = from.run(|| {
        ip(format!("link add wire0 type veth peer name wire1 netns {there}"))?;
        ip("addr add 10.78.0.1/24 dev wire0".into())?;
        ip("link set wire0 up".into())
    });
    drop(done_sender);
    holder.join().map_err(|_| "the holder panicked")??;
    made?;
    to.run(|| {
        ip("addr add 10.78.0.2/24 dev wire1".into())?;
        ip("link set wire1 up".into())
    })?;
    Ok(Ends {
        from,
        to,
        address: IpAddr::V4(Ipv4Addr::new(10, 78, 0, 2)),
    })
}

#[allow(clippy::print_stdout)]
fn tell(name: &str, value: f64) {
    println!("{name} {value:.4}");
}

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(status) = ensure_privileges()? {
        std::process::exit(status);
    }
    let seconds = std::env::args().nth(1).map_or(Ok(3.0), |word| word.parse())?;
    let time = Duration::from_secs_f64(seconds);
    let kernel = veth()?;
    tell("veth_tcp_gbit_s", tcp_rate(&kernel, time)? * 8e-9);
    tell("veth_small_kpps", small_packets(&kernel, time)? / 1e3);
    let trips = (seconds * 20.0) as usize;
    tell("veth_rtt_ms", median(&round_trips(&kernel, trips)?) * 1e3);
    let (ends, driver) = wire(None, Span::ZERO, true)?;
    tell("wire_tcp_gbit_s", tcp_rate(&ends, time)? * 8e-9);
    drop(driver.stop()?);
    let (ends, driver) = wire(None, Span::ZERO, false)?;
    tell("wire_tcp_by_packet_gbit_s", tcp_rate(&ends, time)? * 8e-9);
    tell("wire_small_kpps", small_packets(&ends, time)? / 1e3);
    drop(driver.stop()?);
    // 20 Mbit/s and 20 ms each way: what a datagram of 60 bytes needs, ideally.
    let rate = BitRate::from_bps(20_000_000);
    let delay = Span::from_ms(20);
    let ideal = 2.0 * (delay.as_secs_f64() + rate.tx_time(60).as_secs_f64());
    let (ends, driver) = wire(Some(rate), delay, false)?;
    tell(
        "wire_rtt_error_ms",
        (median(&round_trips(&ends, trips)?) - ideal) * 1e3,
    );
    tell("wire_tcp_at_20_mbit_s", tcp_rate(&ends, time)? * 8e-6);
    let (_, punctuality) = driver.stop()?;
    tell(
        "wire_lateness_p50_ms",
        punctuality.lateness.p50.as_secs_f64() * 1e3,
    );
    tell(
        "wire_lateness_p99_ms",
        punctuality.lateness.p99.as_secs_f64() * 1e3,
    );
    tell(
        "wire_lateness_max_ms",
        punctuality.lateness.max.as_secs_f64() * 1e3,
    );
    tell("stolen_ms", punctuality.stolen.as_secs_f64() * 1e3);
    Ok(())
}
