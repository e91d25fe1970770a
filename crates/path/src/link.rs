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
#[repr(align(64))]
pub struct Link {
    /// When the last admitted packet leaves the transmitter.
    idle_at: Time,
    /// Transmission time of packets of the size sent last: links carry few sizes.
    tx: Span,
    delay: Span,
    bytes: u32,
    rate: Option<BitRate>,
    /// What an access link does without: a run with thousands of them must not
    /// read more than one cache line for each.
    extras: Option<Box<Extras>>,
}

/// A limited queue, errors, jitter.
#[derive(Clone, Debug)]
struct Extras {
    queue: Queue,
    errors: Vec<ErrorState>,
    jitter: Option<Varying>,
    /// Whether there are errors or jitter.
    draws: bool,
    /// Whether the queue alone decides.
    only_queues: bool,
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
        let plain = (config.queue == QueueLimit::Unlimited || config.rate.is_none())
            && config.errors.is_empty()
            && config.jitter == Jitter::None;
        Self {
            idle_at: Time::ZERO,
            tx: Span::ZERO,
            delay: config.delay,
            bytes: 0,
            rate: config.rate,
            extras: (!plain).then(|| Box::new(Extras::new(config, seed, purpose))),
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
        if self.bytes != packet.wire_bytes {
            self.measure(packet.wire_bytes);
        }
        let departure = self.idle_at.max(now) + self.tx;
        if let Some(extras) = &mut self.extras
            && !(extras.only_queues && extras.queue.admit_at_once(departure))
        {
            return self.transit_judged(now, departure, packet);
        }
        self.idle_at = departure;
        Ok(departure + self.delay)
    }

    /// The way through a limited queue, errors and jitter. Kept out of line so
    /// that the loop over plain links stays small.
    #[inline(never)]
    fn transit_judged(&mut self, now: Time, departure: Time, packet: PacketInfo) -> Result<Time, DropReason> {
        let Some(extras) = &mut self.extras else {
            return Ok(departure + self.delay);
        };
        let admitted = self.rate.is_none() || extras.queue.admit(now, departure, packet.wire_bytes);
        if admitted {
            self.idle_at = departure;
        }
        if extras.draws {
            return extras.draw(admitted, departure, self.delay, packet);
        }
        if admitted {
            Ok(departure + self.delay)
        } else {
            Err(DropReason::QueueFull)
        }
    }

    /// Without a rate no packet takes any time, and so none ever waits.
    #[cold]
    fn measure(&mut self, bytes: u32) {
        self.bytes = bytes;
        self.tx = self
            .rate
            .map_or(Span::ZERO, |rate| rate.tx_time(u64::from(bytes)));
    }

    /// How long packets already accepted keep the transmitter busy after `now`.
    pub fn queued(&self, now: Time) -> Span {
        self.idle_at.since(now)
    }

    /// Packets in the queue at `now`, counting the one in service; `None` for
    /// an unlimited queue, which keeps no count.
    pub fn queued_packets(&self, now: Time) -> Option<usize> {
        match &self.extras {
            Some(extras) => extras.queue.packets(now),
            None => None,
        }
    }

    /// Whether a packet may be delivered before an earlier one. If not,
    /// delivery times never decrease and one event per link is enough.
    pub fn can_reorder(&self) -> bool {
        let jitter = self.extras.as_ref().and_then(|extras| extras.jitter.as_ref());
        jitter.is_some_and(Varying::reorders)
    }
}

impl Extras {
    fn new(config: &LinkConfig, seed: u64, purpose: &str) -> Self {
        let errors = config.errors.iter().enumerate();
        let draws = !config.errors.is_empty() || config.jitter != Jitter::None;
        Self {
            queue: Queue::new(config.queue),
            draws,
            only_queues: !draws && config.rate.is_some(),
            errors: errors
                .map(|(index, model)| ErrorState::new(model, seed, purpose, index))
                .collect(),
            jitter: (config.jitter != Jitter::None).then(|| Varying {
                jitter: config.jitter,
                stream: Stream::new(seed, &format!("{purpose}/jitter")),
                latest: Time::ZERO,
            }),
        }
    }

    /// Applies jitter and errors. Both draw for every packet, also for one the
    /// queue refused, so that the n-th packet's fate depends on n alone.
    #[inline(never)]
    fn draw(
        &mut self,
        admitted: bool,
        departure: Time,
        delay: Span,
        packet: PacketInfo,
    ) -> Result<Time, DropReason> {
        let mut lost = false;
        for model in &mut self.errors {
            lost |= model.judge(packet, admitted);
        }
        let delay = match &mut self.jitter {
            Some(varying) => varying.draw(delay),
            None => delay,
        };
        if !admitted {
            return Err(DropReason::QueueFull);
        }
        if lost {
            return Err(DropReason::Error);
        }
        let arrival = departure + delay;
        Ok(match &mut self.jitter {
            Some(varying) => varying.order(arrival),
            None => arrival,
        })
    }
}

impl Varying {
    /// Whether a packet may overtake another.
    const fn reorders(&self) -> bool {
        matches!(
            self.jitter,
            Jitter::Uniform { reorder: true, .. } | Jitter::Normal { reorder: true, .. }
        )
    }

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
        if !self.reorders() {
            self.latest = self.latest.max(arrival);
            return self.latest;
        }
        arrival
    }
}
