//! The senders' state over time: from the kernel's own tracepoints where BPF
//! may be used, by asking the sockets every 10 ms elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lasthop_ebpf::{Filter, Sample, SampleKind, Trace};
use lasthop_record::{EventRow, Log, SampleRow};
use lasthop_scenario::spec::Sampling;
use lasthop_units::{Span, Time};

use crate::error::Attempt;
use crate::recorder::MAX_ROWS;
use crate::tcp_info::TcpInfo;
use crate::workload::FlowState;
use crate::{Clock, Error};

/// Time between two looks at a socket.
const POLL: Duration = Duration::from_millis(10);
/// Time between two looks into the ring buffer.
const DRAIN: Duration = Duration::from_millis(2);
/// Bytes of the ring buffer: 170 000 samples.
const BUFFER_BYTES: u32 = 16 << 20;

/// Which samples belong to which flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SenderKey {
    /// The sender's network namespace by its inode.
    pub(crate) namespace: u32,
    /// The port that names the flow.
    pub(crate) port: u16,
    /// Whether that is the sender's own port.
    pub(crate) is_local: bool,
}

impl SenderKey {
    fn matches(self, sample: &Sample) -> bool {
        let port = if self.is_local {
            sample.local_port
        } else {
            sample.remote_port
        };
        sample.namespace == self.namespace && port == self.port
    }
}

/// What was seen of one sender's decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SenderCounts {
    pub(crate) fast_retransmits: u64,
    pub(crate) timeouts: u64,
    pub(crate) cwnd_cuts: u64,
}

/// Everything sampled.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) samples: Log<SampleRow>,
    pub(crate) events: Vec<EventRow>,
    /// Per flow; `None` when sockets were polled, which sees no decisions.
    pub(crate) counts: Option<Vec<SenderCounts>>,
    /// Samples the ring buffer had no room for.
    pub(crate) lost: u64,
}

/// A sampler, loaded or running.
#[derive(Debug)]
pub(crate) struct Sampler {
    stop: Arc<AtomicBool>,
    go: Option<Sender<Clock>>,
    thread: Option<JoinHandle<Sampled>>,
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // A run that is given up wants no samples.
        let _ = self.end();
    }
}

impl Sampler {
    /// Makes ready to sample; with `trace` from tracepoints, or from the sockets
    /// of `flows` when the kernel refuses them.
    pub(crate) fn load(
        sampling: Sampling,
        keys: Vec<SenderKey>,
        flows: Vec<Arc<FlowState>>,
        trace: bool,
    ) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (ready, loaded) = channel();
        let (go, begun) = channel();
        let thread = thread::Builder::new()
            .name("lasthop-sampler".into())
            .spawn(move || {
                let trace = trace.then(|| Trace::start(&filter(&keys)).ok()).flatten();
                let _ = ready.send(());
                let mut gate = Gate::new(sampling, flows.len());
                let Ok(clock) = begun.recv() else {
                    return Sampled::default();
                };
                match trace {
                    Some(trace) => follow(trace, &keys, &mut gate, clock, &stopped),
                    None => poll(&flows, &mut gate, clock, &stopped),
                }
            })
            .attempt(|| "start the sampler thread".into())?;
        // Programs take a moment to load; the run begins after that.
        let _ = loaded.recv();
        Ok(Self {
            stop,
            go: Some(go),
            thread: Some(thread),
        })
    }

    /// Starts sampling.
    pub(crate) fn begin(&self, clock: Clock) {
        // A sampler that died shows in `stop`.
        let _ = self.go.as_ref().map(|go| go.send(clock));
    }

    /// Ends it and returns what it saw.
    pub(crate) fn stop(mut self) -> Result<Sampled, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Sampled, Error> {
        self.stop.store(true, Ordering::Release);
        self.go = None;
        match self.thread.take() {
            Some(thread) => thread.join().map_err(|_| Error::Panicked("sampler")),
            None => Ok(Sampled::default()),
        }
    }
}

fn filter(keys: &[SenderKey]) -> Filter {
    let mut namespaces: Vec<u32> = keys.iter().map(|key| key.namespace).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    Filter {
        namespaces,
        port: None,
        buffer_bytes: BUFFER_BYTES,
    }
}

/// Lets samples through at the interval asked for, per flow.
struct Gate {
    interval: Option<Span>,
    next: Vec<Time>,
}

impl Gate {
    fn new(sampling: Sampling, flows: usize) -> Self {
        let interval = match sampling {
            Sampling::Off => None,
            Sampling::EveryAck => Some(Span::ZERO),
            Sampling::Every(interval) => Some(interval),
        };
        Self {
            interval,
            next: vec![Time::ZERO; flows],
        }
    }

    fn opens(&mut self, flow: usize, t: Time) -> bool {
        let Some(interval) = self.interval else {
            return false;
        };
        let opens = t >= self.next[flow];
        if opens {
            self.next[flow] = t + interval;
        }
        opens
    }
}

fn follow(mut trace: Trace, keys: &[SenderKey], gate: &mut Gate, clock: Clock, stop: &AtomicBool) -> Sampled {
    let mut sampled = Sampled {
        counts: Some(vec![SenderCounts::default(); keys.len()]),
        ..Sampled::default()
    };
    let mut inbox = Vec::new();
    loop {
        let last = stop.load(Ordering::Acquire);
        // A ring buffer that cannot be read has no samples; `lost` tells.
        let _ = trace.poll(&mut inbox);
        for sample in inbox.drain(..) {
            if let Some(flow) = keys.iter().position(|key| key.matches(&sample)) {
                sampled.take(flow, &sample, gate, clock);
            }
        }
        if last {
            break;
        }
        thread::sleep(DRAIN);
    }
    sampled.lost = trace.lost().unwrap_or(0);
    sampled
}

impl Default for Sampled {
    fn default() -> Self {
        Self {
            samples: Log::limited(MAX_ROWS),
            events: Vec::new(),
            counts: None,
            lost: 0,
        }
    }
}

impl Sampled {
    /// The counts, if every decision was seen.
    pub(crate) fn complete_counts(&self) -> Option<&[SenderCounts]> {
        self.counts.as_deref().filter(|_| self.lost == 0)
    }

    fn take(&mut self, flow: usize, sample: &Sample, gate: &mut Gate, clock: Clock) {
        let t = clock.at_monotonic(sample.time_ns);
        match sample.kind {
            SampleKind::Segment | SampleKind::Sent => {
                if gate.opens(flow, t) {
                    self.samples.push(row(flow as u32, t, sample));
                }
            }
            SampleKind::Congestion(state) => self.decision(flow, t, sample.congestion_state, state),
            SampleKind::Retransmit(_) | SampleKind::State(_) => {}
        }
    }

    /// The congestion state changed: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    fn decision(&mut self, flow: usize, t: Time, before: u32, after: u32) {
        let Some(counts) = self.counts.as_mut().and_then(|counts| counts.get_mut(flow)) else {
            return;
        };
        let kind = match after {
            3 => {
                counts.fast_retransmits += 1;
                "fast-retransmit"
            }
            4 => {
                counts.timeouts += 1;
                "timeout"
            }
            _ => "",
        };
        if after >= 2 && before < 2 {
            counts.cwnd_cuts += 1;
        }
        if !kind.is_empty() {
            self.events.push(EventRow {
                t,
                flow: i64::from(flow as u32),
                kind,
                value: 1.0,
            });
        }
    }
}

fn row(flow: u32, t: Time, sample: &Sample) -> SampleRow {
    SampleRow {
        flow,
        t,
        cwnd_bytes: sample.cwnd_bytes as f64,
        ssthresh_bytes: sample.ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
        rwnd_bytes: sample.rwnd_bytes,
        srtt_s: sample.srtt.map_or(f64::NAN, |srtt| srtt.as_secs_f64()),
        rto_s: sample.rto.as_secs_f64(),
        in_flight_bytes: sample.in_flight_bytes,
        snd_una_bytes: sample.snd_una_bytes,
        snd_nxt_bytes: sample.snd_nxt_bytes,
    }
}

fn poll(flows: &[Arc<FlowState>], gate: &mut Gate, clock: Clock, stop: &AtomicBool) -> Sampled {
    let mut sampled = Sampled::default();
    while !stop.load(Ordering::Acquire) {
        for (flow, state) in flows.iter().enumerate() {
            let t = clock.now();
            if !state.is_finished()
                && let Some(info) = state.info()
                && gate.opens(flow, t)
            {
                sampled.samples.push(polled_row(flow as u32, t, &info));
            }
        }
        thread::sleep(POLL);
    }
    sampled
}

fn polled_row(flow: u32, t: Time, info: &TcpInfo) -> SampleRow {
    SampleRow {
        flow,
        t,
        cwnd_bytes: info.cwnd_bytes as f64,
        ssthresh_bytes: info.ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
        rwnd_bytes: info.rwnd_bytes,
        srtt_s: info.srtt.map_or(f64::NAN, Span::as_secs_f64),
        rto_s: info.rto.as_secs_f64(),
        in_flight_bytes: info.in_flight_bytes,
        snd_una_bytes: info.acked_bytes,
        snd_nxt_bytes: info.sent_bytes,
    }
}
