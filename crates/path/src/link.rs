//! One direction of a wire.

use lasthop_units::{BitRate, Span, Stream, Time};

use crate::errors::ErrorState;
use crate::queue::Queue;
use crate::{DropReason, Jitter, LinkConfig, PacketInfo, QueueLimit};

/// One direction of a wire: a FIFO with a rate, then a delay, then the errors.
///
/// A link stores no packets. It computes when a packet handed over now arrives
/// at the far end, or why it never will, from the departure of the packet
/// before it; the caller keeps the packet until then.
///
/// ```
/// use lasthop_path::{Link, LinkConfig, PacketInfo};
/// use lasthop_units::{BitRate, Span, Time};
///
/// let config = LinkConfig {
///     rate: Some(BitRate::from_bps(10_000_000)),
///     delay: Span::from_ms(50),
///     ..LinkConfig::default()
/// };
/// let mut link = Link::new(&config, 1, "bottleneck/downlink");
/// let packet = PacketInfo { wire_bytes: 1040, is_data: true };
/// // 1040 bytes take 832 us at 10 Mbit/s; the second packet waits for the first.
/// assert_eq!(link.transit(Time::ZERO, packet), Ok(Time::from_ns(50_832_000)));
/// assert_eq!(link.transit(Time::ZERO, packet), Ok(Time::from_ns(51_664_000)));
/// ```
#[derive(Clone, Debug)]
pub struct Link {
    rate: Option<BitRate>,
    delay: Span,
    /// When the last admitted packet leaves the transmitter.
    idle_at: Time,
    /// The last size sent and its transmission time: links carry few sizes.
    cached: (u32, Span),
    queue: Queue,
    errors: Vec<ErrorState>,
    jitter: Option<Box<Varying>>,
    /// A rate, a fixed delay and nothing else: the common case of an access link.
    plain: bool,
}

/// A varying delay.
#[derive(Clone, Debug)]
struct Varying {
    jitter: Jitter,
    stream: Stream,
    /// The latest delivery promised so far.
    latest: Time,
}

impl Link {
    /// A link at rest. `purpose` names its random streams, for example
    /// `"bottleneck/downlink"`; it must be unique within the run.
    pub fn new(config: &LinkConfig, seed: u64, purpose: &str) -> Self {
        let errors = config.errors.iter().enumerate();
        Self {
            plain: config.rate.is_some()
                && config.queue == QueueLimit::Unlimited
                && config.errors.is_empty()
                && config.jitter == Jitter::None,
            rate: config.rate,
            delay: config.delay,
            idle_at: Time::ZERO,
            cached: (0, Span::ZERO),
            queue: Queue::new(config.queue),
            errors: errors
                .map(|(index, model)| ErrorState::new(model, seed, purpose, index))
                .collect(),
            jitter: (config.jitter != Jitter::None).then(|| {
                Box::new(Varying {
                    jitter: config.jitter,
                    stream: Stream::new(seed, &format!("{purpose}/jitter")),
                    latest: Time::ZERO,
                })
            }),
        }
    }

    /// Sends a packet that reaches the link at `now`, which must not decrease
    /// from call to call. Returns when it is delivered at the far end.
    ///
    /// # Errors
    /// [`DropReason::QueueFull`] when the queue has no room,
    /// [`DropReason::Error`] when an error model spoils the packet; it has then
    /// used queue and wire all the same.
    #[inline]
    pub fn transit(&mut self, now: Time, packet: PacketInfo) -> Result<Time, DropReason> {
        if self.plain && self.cached.0 == packet.wire_bytes {
            self.idle_at = self.idle_at.max(now) + self.cached.1;
            return Ok(self.idle_at + self.delay);
        }
        let departure = self.enqueue(now, packet.wire_bytes);
        if self.errors.is_empty() && self.jitter.is_none() {
            return departure.map(|departure| departure + self.delay);
        }
        self.judge(departure, packet)
    }

    /// How long packets already accepted keep the transmitter busy after `now`.
    pub fn queued(&self, now: Time) -> Span {
        self.idle_at.since(now)
    }

    /// Packets in the queue at `now`, counting the one in service; `None` for
    /// an unlimited queue, which keeps no count.
    pub fn queued_packets(&self, now: Time) -> Option<usize> {
        self.queue.packets(now)
    }

    /// Whether a packet may be delivered before an earlier one. If not,
    /// delivery times never decrease and one event per link is enough.
    pub fn can_reorder(&self) -> bool {
        self.jitter.as_ref().is_some_and(|varying| {
            matches!(
                varying.jitter,
                Jitter::Uniform { reorder: true, .. } | Jitter::Normal { reorder: true, .. }
            )
        })
    }

    /// Passes the queue; returns when the packet leaves the transmitter.
    #[inline]
    fn enqueue(&mut self, now: Time, bytes: u32) -> Result<Time, DropReason> {
        let Some(rate) = self.rate else { return Ok(now) };
        if !self.queue.has_room(now, bytes) {
            return Err(DropReason::QueueFull);
        }
        if self.cached.0 != bytes {
            self.cached = (bytes, rate.tx_time(u64::from(bytes)));
        }
        self.idle_at = self.idle_at.max(now) + self.cached.1;
        self.queue.admit(self.idle_at, bytes);
        Ok(self.idle_at)
    }

    /// Applies jitter and errors. Both draw for every packet, also for one the
    /// queue refused, so that the n-th packet's fate depends on n alone.
    #[inline(never)]
    fn judge(&mut self, departure: Result<Time, DropReason>, packet: PacketInfo) -> Result<Time, DropReason> {
        let admitted = departure.is_ok();
        let mut lost = false;
        for model in &mut self.errors {
            lost |= model.judge(packet, admitted);
        }
        let delay = match &mut self.jitter {
            Some(varying) => varying.draw(self.delay),
            None => self.delay,
        };
        let arrival = departure? + delay;
        if lost {
            return Err(DropReason::Error);
        }
        Ok(match &mut self.jitter {
            Some(varying) => varying.order(arrival),
            None => arrival,
        })
    }
}

impl Varying {
    /// This packet's delay.
    fn draw(&mut self, delay: Span) -> Span {
        let offset_ns = match self.jitter {
            Jitter::None => 0.0,
            Jitter::Uniform { spread, .. } => spread.as_ns() as f64 * (2.0 * self.stream.unit() - 1.0),
            Jitter::Normal { spread, .. } => spread.as_ns() as f64 * self.normal(),
        };
        Span::from_ns((delay.as_ns() as f64 + offset_ns).max(0.0).round() as u64)
    }

    /// A standard normal number (Box and Muller 1958); two draws.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.stream.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.stream.unit()).cos()
    }

    /// Keeps the order of packets unless reordering was asked for.
    fn order(&mut self, arrival: Time) -> Time {
        let reorder = matches!(
            self.jitter,
            Jitter::Uniform { reorder: true, .. } | Jitter::Normal { reorder: true, .. }
        );
        if !reorder {
            self.latest = self.latest.max(arrival);
            return self.latest;
        }
        arrival
    }
}
