//! The kernel's TCP state, sampled at every segment.

use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use libbpf_rs::{Link, MapCore, Object, RingBuffer, RingBufferBuilder};

use crate::Error;
use crate::netns::last;
use crate::object::TCP_TRACE;

/// Bytes of `struct sample` in `bpf/tcp_trace.h`.
const SAMPLE_BYTES: usize = 88;

/// `snd_ssthresh` that was never set (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

const TCP_ESTABLISHED: u32 = 1;
const TCP_CLOSE: u32 = 7;

const PROGRAMS: [&str; 5] = [
    "trace_segment",
    "trace_retransmit",
    "trace_state",
    "trace_congestion",
    "trace_sent",
];

/// Which sockets are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Network namespaces by [`crate::netns_inode`]; empty: all. At most 1024.
    pub namespaces: Vec<u32>,
    /// Local or remote port; `None`: all.
    pub port: Option<u16>,
    /// Bytes of the ring buffer, rounded up to a power of two; a sample takes 96.
    pub buffer_bytes: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            namespaces: Vec::new(),
            port: None,
            buffer_bytes: 4 << 20,
        }
    }
}

/// What occasioned a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// A segment arrived. The values are those it found: what the segment
    /// before it left behind. Only in state ESTABLISHED; see [`SampleKind::Sent`].
    Segment,
    /// A segment was retransmitted, with the retransmissions of the connection
    /// so far.
    Retransmit(u32),
    /// The TCP state changes to this one (Linux's numbers: 1 is ESTABLISHED,
    /// 7 CLOSE).
    State(u32),
    /// The congestion state changes to this one: 0 Open, 1 Disorder, 2 CWR,
    /// 3 Recovery, 4 Loss.
    Congestion(u32),
    /// A segment leaves after one of the ends has closed (FIN-WAIT-1, CLOSE-WAIT,
    /// LAST-ACK, CLOSING): a server often closes with most of a file still in
    /// its send buffer, and arriving segments are not seen from then on. The
    /// values are those after the last ACK.
    Sent,
}

/// A socket's state at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub time_ns: u64,
    /// Names the socket (its cookie), unique until the machine restarts.
    pub socket: u64,
    /// Its network namespace, see [`crate::netns_inode`].
    pub namespace: u32,
    /// What occasioned the sample.
    pub kind: SampleKind,
    /// The socket's own port.
    pub local_port: u16,
    /// The other end's port.
    pub remote_port: u16,
    /// Maximum segment size the other figures in bytes are counted with.
    pub mss_bytes: u32,
    /// Congestion window, segments as the kernel keeps it.
    pub cwnd_segments: u32,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `None` when never set.
    pub ssthresh_bytes: Option<u64>,
    /// Window the receiver offers.
    pub rwnd_bytes: u64,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Duration>,
    /// Retransmission timeout, back-off included.
    pub rto: Duration,
    /// Segments thought to be in the network, in bytes.
    pub in_flight_bytes: u64,
    /// First unacknowledged byte as an offset in the stream: 0 is the first byte
    /// sent after the connection was established, or, when the trace began
    /// later, the first one unacknowledged then.
    pub snd_una_bytes: u64,
    /// Next byte to send, as such an offset.
    pub snd_nxt_bytes: u64,
    /// The kernel's congestion state, as in [`SampleKind::Congestion`]; in a
    /// sample of that kind, the state before.
    pub congestion_state: u32,
}

/// A running trace; ended when dropped.
pub struct Trace {
    // In the order of dropping: no more samples, no more readers, no more maps.
    links: Vec<Link>,
    buffer: RingBuffer<'static>,
    object: Object,
    inbox: Arc<Mutex<Vec<[u8; SAMPLE_BYTES]>>>,
    streams: Streams,
    tick: Duration,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Trace")
            .field("links", &self.links)
            .finish_non_exhaustive()
    }
}

impl Trace {
    /// Starts sampling.
    ///
    /// # Errors
    /// When the kernel refuses the programs: without root or BTF.
    pub fn start(filter: &Filter) -> Result<Self, Error> {
        let mut open = TCP_TRACE.open()?;
        let [low, high] = filter.port.unwrap_or(0).to_ne_bytes();
        let constants = [low, high, u8::from(!filter.namespaces.is_empty())];
        TCP_TRACE.set_initial(&mut open, ".rodata", &constants)?;
        // A power of two and whole pages: the kernel's condition.
        let bytes = filter.buffer_bytes.clamp(64 << 10, 1 << 30).next_power_of_two();
        TCP_TRACE.set_entries(&mut open, "samples", bytes)?;
        let object = TCP_TRACE.load(open)?;
        for namespace in &filter.namespaces {
            TCP_TRACE.write(&object, "namespaces", &namespace.to_ne_bytes(), &[1])?;
        }
        let inbox = Arc::new(Mutex::new(Vec::new()));
        let buffer = open_buffer(&object, Arc::clone(&inbox))?;
        let mut links = Vec::new();
        for name in PROGRAMS {
            let link = TCP_TRACE.program(&object, name)?.attach_trace();
            links.push(link.map_err(|reason| Error::Attach {
                program: name,
                reason,
            })?);
        }
        Ok(Self {
            links,
            buffer,
            object,
            inbox,
            streams: Streams::default(),
            tick: tick()?,
        })
    }

    /// Appends the samples taken since the last call, in the order they were
    /// taken, and says how many. Does not wait.
    ///
    /// # Errors
    /// When the ring buffer cannot be read.
    pub fn poll(&mut self, out: &mut Vec<Sample>) -> Result<usize, Error> {
        self.buffer.consume().map_err(|reason| Error::Map {
            map: "samples",
            reason,
        })?;
        let Ok(mut inbox) = self.inbox.lock() else {
            return Ok(0);
        };
        let count = inbox.len();
        out.extend(
            inbox
                .drain(..)
                .map(|bytes| self.streams.decode(&bytes, self.tick)),
        );
        Ok(count)
    }

    /// Becomes readable when there are samples; for epoll.
    pub fn readiness(&self) -> RawFd {
        self.buffer.epoll_fd()
    }

    /// Samples lost because the ring buffer was full.
    ///
    /// # Errors
    /// When the count cannot be read.
    pub fn lost(&self) -> Result<u64, Error> {
        Ok(u64::from_ne_bytes(TCP_TRACE.read_first(&self.object, ".bss")?))
    }
}

fn open_buffer(
    object: &Object,
    inbox: Arc<Mutex<Vec<[u8; SAMPLE_BYTES]>>>,
) -> Result<RingBuffer<'static>, Error> {
    let map = object
        .maps()
        .find(|map| map.name() == "samples")
        .ok_or(Error::Mismatch {
            object: TCP_TRACE.name,
            what: "samples",
        })?;
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&map, move |bytes| match (bytes.first_chunk(), inbox.lock()) {
            (Some(sample), Ok(mut inbox)) => {
                inbox.push(*sample);
                0
            }
            _ => -libc::EINVAL,
        })
        .map_err(|reason| Error::Map {
            map: "samples",
            reason,
        })?;
    builder.build().map_err(|reason| Error::Map {
        map: "samples",
        reason,
    })
}

/// Length of a jiffy, in which the kernel keeps the retransmission timeout: the
/// resolution of the coarse clock.
fn tick() -> Result<Duration, Error> {
    let mut resolution = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one timespec.
    if unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution) } != 0 {
        return Err(last("reading the kernel's tick"));
    }
    Ok(Duration::new(resolution.tv_sec as u64, resolution.tv_nsec as u32))
}

/// Where each socket's stream begins, to count its sequence numbers from there.
#[derive(Debug, Default)]
struct Streams {
    by_socket: BTreeMap<u64, Stream>,
}

#[derive(Debug)]
struct Stream {
    una: u32,
    una_bytes: u64,
}

impl Streams {
    fn decode(&mut self, bytes: &[u8; SAMPLE_BYTES], tick: Duration) -> Sample {
        let raw = Raw(bytes);
        let [time_ns, socket] = [0, 8].map(|at| raw.u64(at));
        let [kind, value] = [20, 24].map(|at| raw.u32(at));
        let [cwnd, ssthresh, mss, rwnd, srtt, rto] = [32, 36, 40, 44, 48, 52].map(|at| raw.u32(at));
        let [out, sacked, lost, retransmitted] = [56, 60, 64, 68].map(|at| u64::from(raw.u32(at)));
        let [una, nxt, congestion_state] = [72, 76, 80].map(|at| raw.u32(at));
        let kind = match kind {
            1 => SampleKind::Retransmit(value),
            2 => SampleKind::State(value),
            3 => SampleKind::Congestion(value),
            4 => SampleKind::Sent,
            _ => SampleKind::Segment,
        };
        let snd_una_bytes = self.offset(socket, kind, una);
        let segments = |count: u64| count * u64::from(mss);
        Sample {
            time_ns,
            socket,
            namespace: raw.u32(16),
            kind,
            local_port: raw.u16(28),
            remote_port: raw.u16(30),
            mss_bytes: mss,
            cwnd_segments: cwnd,
            cwnd_bytes: segments(cwnd.into()),
            ssthresh_bytes: (ssthresh < INFINITE_SSTHRESH).then(|| segments(ssthresh.into())),
            rwnd_bytes: rwnd.into(),
            srtt: (srtt > 0).then(|| Duration::from_nanos(u64::from(srtt) * 125)),
            rto: tick * rto,
            // tcp_packets_in_flight.
            in_flight_bytes: segments((out + retransmitted).saturating_sub(sacked + lost)),
            snd_una_bytes,
            snd_nxt_bytes: snd_una_bytes + u64::from(nxt.wrapping_sub(una)),
            congestion_state,
        }
    }

    fn offset(&mut self, socket: u64, kind: SampleKind, una: u32) -> u64 {
        let stream = match kind {
            // Both ends are past their SYN here.
            SampleKind::State(TCP_ESTABLISHED) => {
                self.by_socket.insert(socket, Stream { una, una_bytes: 0 });
                return 0;
            }
            SampleKind::State(TCP_CLOSE) => {
                return self
                    .by_socket
                    .remove(&socket)
                    .map_or(0, |stream| stream.una_bytes);
            }
            // The other states may come before the numbers mean anything.
            SampleKind::State(_) => match self.by_socket.get_mut(&socket) {
                Some(stream) => stream,
                None => return 0,
            },
            _ => self
                .by_socket
                .entry(socket)
                .or_insert(Stream { una, una_bytes: 0 }),
        };
        let advance = una.wrapping_sub(stream.una).cast_signed();
        stream.una_bytes = stream.una_bytes.saturating_add_signed(advance.into());
        stream.una = una;
        stream.una_bytes
    }
}

/// Fields of `struct sample`, at their offsets.
struct Raw<'a>(&'a [u8; SAMPLE_BYTES]);

impl Raw<'_> {
    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|byte| self.0[at + byte])
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.field(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.field(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.field(at))
    }
}
