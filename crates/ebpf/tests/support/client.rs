//! A receiver written out by hand behind a TUN device, whose every ACK the test
//! chooses; the sender is the kernel. A packet handed to the device has been
//! processed when the call returns, so nothing here waits for time to pass.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

use lasthop_agent::{FlowKey, Frame};
use lasthop_tcp::{Flags, SackBlocks, Segment, Seq};

use super::device::Tun;
use super::netns::Namespace;

/// What the client announces, in bytes.
pub const MSS: u32 = 1000;
/// Linux's initial window, segments.
pub const INITIAL: u32 = 10;
const PATIENCE: Duration = Duration::from_secs(10);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// A namespace whose TCP sends to hand-made clients.
pub struct Server {
    pub namespace: Namespace,
    pub tun: Tun,
}

impl Server {
    pub fn new() -> Self {
        let namespace = Namespace::new();
        let tun = namespace.run(|| Tun::new("tun0"));
        namespace.ip("addr add 10.0.0.1/24 dev tun0");
        namespace.ip("link set tun0 up");
        // Timeouts far beyond any pause of the test's own.
        namespace.ip("route change 10.0.0.0/24 dev tun0 rto_min 20s");
        Self { namespace, tun }
    }

    /// A connection from port 40 000 with far more to send than any window
    /// allows, its first window already under way.
    pub fn sending(&self, congestion_control: &str) -> Connection<'_> {
        let mut connection = self.connect(40_000, congestion_control);
        connection.write(400_000);
        connection.await_data(INITIAL * MSS);
        connection
    }

    /// A connection from a client's port; its sender uses `congestion_control`.
    pub fn connect(&self, port: u16, congestion_control: &str) -> Connection<'_> {
        let listener = self
            .namespace
            .run(|| TcpListener::bind((SERVER, 0)))
            .expect("listen");
        let flow = FlowKey {
            source: IpAddr::V4(CLIENT),
            source_port: port,
            destination: IpAddr::V4(SERVER),
            destination_port: listener.local_addr().expect("address").port(),
        };
        let syn = Segment {
            seq: Seq(1000),
            flags: Flags::SYN,
            window: u16::MAX,
            mss: Some(MSS as u16),
            window_scale: Some(7),
            sack_permitted: true,
            ..Segment::default()
        };
        let mut connection = Connection {
            tun: &self.tun,
            flow,
            next: Seq(0),
            stream: None,
        };
        connection.inject(&syn);
        let answer = connection.receive(|segment| segment.flags.has(Flags::SYN));
        connection.next = answer.seq.add(1);
        connection.ack(0);
        let (stream, _) = listener.accept().expect("accept");
        option(
            &stream,
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            congestion_control.as_bytes(),
        );
        option(
            &stream,
            libc::SOL_SOCKET,
            libc::SO_SNDBUFFORCE,
            &(4i32 << 20).to_ne_bytes(),
        );
        // Closed with a reset: an orphan that still has data to send would keep
        // its namespace and its congestion control for minutes.
        let reset = [1i32.to_ne_bytes(), 0i32.to_ne_bytes()].concat();
        option(&stream, libc::SOL_SOCKET, libc::SO_LINGER, &reset);
        connection.stream = Some(stream);
        connection
    }
}

/// One connection; offsets count the server's bytes from 0.
pub struct Connection<'a> {
    tun: &'a Tun,
    flow: FlowKey,
    /// Sequence number of the server's byte 0.
    next: Seq,
    stream: Option<TcpStream>,
}

impl Connection<'_> {
    /// The server's port.
    pub fn port(&self) -> u16 {
        self.flow.destination_port
    }

    /// The server's application writes bytes.
    pub fn write(&mut self, bytes: usize) {
        self.stream
            .as_mut()
            .expect("connected")
            .write_all(&vec![1; bytes])
            .expect("write");
    }

    /// The server's application closes its side.
    pub fn finish(&self) {
        let stream = self.stream.as_ref().expect("connected");
        stream.shutdown(std::net::Shutdown::Write).expect("shutdown");
    }

    /// Waits until the server has sent up to this offset.
    pub fn await_data(&self, up_to: u32) {
        self.receive(|segment| segment.seq.add(segment.payload_bytes).since(self.next.add(up_to)) >= 0);
    }

    /// The client acknowledges everything before this offset.
    pub fn ack(&self, offset: u32) {
        self.ack_with_sack(offset, None);
    }

    /// The client sends `n` divacks and the full ACK of each of these segments.
    pub fn ack_divided(&self, segments: std::ops::Range<u32>, n: u32) {
        for segment in segments {
            for below in (0..=n).rev() {
                self.ack((segment + 1) * MSS - below);
            }
        }
    }

    /// The client acknowledges bytes before `offset` and those of a later block.
    pub fn ack_with_sack(&self, offset: u32, block: Option<(u32, u32)>) {
        let mut sack = SackBlocks::default();
        if let Some((left, right)) = block {
            sack.push(self.next.add(left), self.next.add(right));
        }
        self.inject(&Segment {
            seq: Seq(1001),
            ack: self.next.add(offset),
            flags: Flags::ACK,
            window: u16::MAX,
            sack,
            ..Segment::default()
        });
    }

    /// The first segment is lost: each of the next three is acknowledged by a SACK.
    pub fn lose_first(&self) {
        for segments in 2..=4 {
            self.ack_with_sack(0, Some((MSS, segments * MSS)));
        }
    }

    /// What the kernel tells of the sender.
    pub fn info(&self) -> libc::tcp_info {
        // SAFETY: all zeroes is a valid value of this C structure.
        let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
        let mut bytes = size_of_val(&info) as u32;
        let stream = self.stream.as_ref().expect("connected");
        // SAFETY: the kernel fills at most `bytes` bytes of the structure.
        let done = unsafe {
            let to = (&raw mut info).cast();
            libc::getsockopt(
                stream.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                to,
                &raw mut bytes,
            )
        };
        assert_eq!(done, 0);
        info
    }

    /// The congestion window in segments.
    pub fn cwnd(&self) -> u32 {
        self.info().tcpi_snd_cwnd
    }

    fn inject(&self, segment: &Segment) {
        let frame = Frame::from_segment(self.flow, segment, &[]).expect("a frame");
        self.tun.inject(frame.bytes());
    }

    fn receive(&self, wanted: impl Fn(&Segment) -> bool) -> Segment {
        loop {
            let packet = self.tun.receive(PATIENCE).expect("the awaited segment comes");
            if let Some(segment) = Frame::new(packet).segment().filter(&wanted) {
                return segment;
            }
        }
    }
}

fn option(stream: &TcpStream, level: i32, name: i32, value: &[u8]) {
    // SAFETY: pointer and length describe a live slice.
    let done = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            level,
            name,
            value.as_ptr().cast(),
            value.len() as u32,
        )
    };
    assert_eq!(done, 0, "setsockopt: {}", std::io::Error::last_os_error());
}
