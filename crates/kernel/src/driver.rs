//! Moves real packets through a path in real time: one thread owns every
//! device, and the path's arithmetic decides when each packet leaves.
//!
//! A packet's arrival is the moment it was read; its departure is computed
//! from that and from the path alone, so the lateness of one sleep never adds
//! to the next.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lasthop_agent::Frame;
use lasthop_units::{Span, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

use crate::Error;
use crate::clock::{Clock, Privileges, be_punctual, stolen};
use crate::error::Attempt;
use crate::lateness::{Lateness, LatenessSummary};
use crate::offload::{Burst, split};
use crate::tun::{Tun, VNET_HEADER_BYTES};
use crate::wakefulness::Wakefulness;

/// A packet that came from a device and can return to one.
pub trait Wire: Sized + Send + 'static {
    /// The packet of these bytes, an IP header first; `None` for what the path
    /// does not carry (multicast, malformed).
    fn from_bytes(bytes: Vec<u8>) -> Option<Self>;
    /// Its bytes.
    fn into_bytes(self) -> Vec<u8>;
}

impl Wire for Frame {
    fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        is_unicast(&bytes).then(|| Self::new(bytes))
    }

    fn into_bytes(self) -> Vec<u8> {
        Self::into_bytes(self)
    }
}

/// Whether a packet is meant for one host.
fn is_unicast(packet: &[u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) => packet.get(16).is_some_and(|&high| high < 224),
        Some(6) => packet.get(24).is_some_and(|&high| high != 0xff),
        _ => false,
    }
}

/// A packet leaving the path.
#[derive(Debug)]
pub struct Delivery<P> {
    /// When it ideally leaves.
    pub due: Time,
    /// Which host's device it leaves by.
    pub host: usize,
    /// The packet.
    pub packet: P,
}

/// The path between hosts as the driver sees it. Times never decrease from
/// call to call.
pub trait Forwarder: Send + 'static {
    /// What travels.
    type Packet: Wire;
    /// A packet left host `from`. Everything due before `now` was advanced.
    fn inject(&mut self, now: Time, from: usize, packet: Self::Packet);
    /// When [`Forwarder::advance`] is needed next; [`Time::MAX`] for never.
    fn next_deadline(&self) -> Time;
    /// Does what is due until `now`; packets that reached their host go to `out`.
    fn advance(&mut self, now: Time, out: &mut Vec<Delivery<Self::Packet>>);
}

/// How the driver treats time and bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Before a deadline the thread spins this long instead of sleeping.
    pub spin: Span,
    /// Packets leaving together may be joined into one large segment: faster,
    /// but the receiver acknowledges bursts instead of packets.
    pub join: bool,
    /// Ask for real-time scheduling, locked memory, and processors that stay
    /// awake while packets are on their way.
    pub punctual: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            spin: Span::from_us(60),
            join: false,
            punctual: true,
        }
    }
}

/// What the driver measured about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Punctuality {
    /// How late packets were handed to their host.
    pub lateness: LatenessSummary,
    /// Time the hypervisor took meanwhile, all processors together.
    pub stolen: Span,
    /// What the thread was allowed.
    pub privileges: Privileges,
    /// Whether processors were kept awake.
    pub kept_awake: bool,
    /// Packets read from devices.
    pub packets_in: u64,
    /// Packets written to devices.
    pub packets_out: u64,
    /// Packets a host's device refused.
    pub refused: u64,
}

impl Punctuality {
    /// The p99 lateness beyond which a run is not to be trusted.
    pub const BOUND: Span = Span::from_ms(2);

    /// Whether the run may be used.
    pub fn is_valid(&self, bound: Span) -> bool {
        self.lateness.p99 <= bound
    }
}

type Command<F> = Box<dyn FnOnce(&mut F, Time) + Send>;

/// Speaks to a path in motion.
pub struct Commander<F> {
    commands: Sender<Option<Command<F>>>,
    wake: Arc<EventFd>,
}

impl<F> Clone for Commander<F> {
    fn clone(&self) -> Self {
        Self {
            commands: self.commands.clone(),
            wake: Arc::clone(&self.wake),
        }
    }
}

impl<F> std::fmt::Debug for Commander<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commander").finish_non_exhaustive()
    }
}

impl<F> Commander<F> {
    /// Does something to the path at the next opportunity (a handover on command, a look).
    pub fn tell(&self, command: impl FnOnce(&mut F, Time) + Send + 'static) {
        self.send(Some(Box::new(command)));
    }

    /// Asks the path something and waits for the answer.
    ///
    /// # Errors
    /// When the path has stopped.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut F, Time) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, reply) = channel();
        self.tell(move |path, now| {
            // Nobody waits any more when this fails.
            let _ = answer.send(question(path, now));
        });
        reply.recv().map_err(|_| Error::Panicked("path"))
    }

    fn send(&self, command: Option<Command<F>>) {
        // A stopped path needs no command; its error comes out of `stop`.
        let _ = self.commands.send(command);
        let _ = self.wake.write(1);
    }
}

/// A path in motion. Dropping it stops it.
#[derive(Debug)]
pub struct Driver<F: Forwarder> {
    commander: Commander<F>,
    thread: Option<JoinHandle<Result<(F, Punctuality), Error>>>,
}

impl<F: Forwarder> Driver<F> {
    /// Starts moving packets between `tuns` through `path`; `clock` gives the
    /// run's time.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(path: F, tuns: Vec<Tun>, clock: Clock, settings: Settings) -> Result<Self, Error> {
        let (commands, inbox) = channel();
        let wake = Arc::new(
            EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)
                .attempt(|| "create an event descriptor".into())?,
        );
        let woken = Arc::clone(&wake);
        let thread = thread::Builder::new()
            .name("lasthop-path".into())
            .spawn(move || Loop::new(path, tuns, clock, settings, inbox, woken).run())
            .attempt(|| "start the path thread".into())?;
        Ok(Self {
            commander: Commander { commands, wake },
            thread: Some(thread),
        })
    }

    /// Who speaks to the path.
    pub const fn commander(&self) -> &Commander<F> {
        &self.commander
    }

    /// Stops the path and hands it back with what was measured.
    ///
    /// # Errors
    /// When a device failed while the path ran.
    pub fn stop(mut self) -> Result<(F, Punctuality), Error> {
        self.commander.send(None);
        match self.thread.take() {
            Some(thread) => thread.join().unwrap_or(Err(Error::Panicked("path"))),
            None => Err(Error::Panicked("path")),
        }
    }
}

impl<F: Forwarder> Drop for Driver<F> {
    fn drop(&mut self) {
        self.commander.send(None);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// After so much time without a packet processors may sleep again.
const DOZE: Duration = Duration::from_secs(1);
/// Packets read from one device before the others get their turn.
const READ_BATCH: usize = 32;
/// A burst of 64 KiB and its header.
const READ_BYTES: usize = VNET_HEADER_BYTES + 65_536;

struct Loop<F: Forwarder> {
    path: F,
    tuns: Vec<Tun>,
    bursts: Vec<Burst>,
    clock: Clock,
    settings: Settings,
    inbox: Receiver<Option<Command<F>>>,
    wake: Arc<EventFd>,
    deliveries: Vec<Delivery<F::Packet>>,
    buffer: Vec<u8>,
    awake: Option<Wakefulness>,
    may_stay_awake: bool,
    lateness: Lateness,
    report: Punctuality,
}

impl<F: Forwarder> Loop<F> {
    fn new(
        path: F,
        tuns: Vec<Tun>,
        clock: Clock,
        settings: Settings,
        inbox: Receiver<Option<Command<F>>>,
        wake: Arc<EventFd>,
    ) -> Self {
        let bursts = tuns.iter().map(|_| Burst::default()).collect();
        Self {
            path,
            tuns,
            bursts,
            clock,
            settings,
            inbox,
            wake,
            deliveries: Vec::new(),
            buffer: vec![0; READ_BYTES],
            lateness: Lateness::default(),
            awake: None,
            may_stay_awake: settings.punctual,
            report: Punctuality::default(),
        }
    }

    fn run(mut self) -> Result<(F, Punctuality), Error> {
        if self.settings.punctual {
            self.report.privileges = be_punctual();
            self.stay_awake();
        }
        let stolen_before = stolen();
        let mut ready = vec![true; self.tuns.len()];
        loop {
            self.advance();
            let mut more = false;
            for (host, ready) in ready.iter_mut().enumerate() {
                if *ready {
                    *ready = self.read(host)?;
                    more |= *ready;
                }
            }
            if more {
                continue;
            }
            if self.wait(&mut ready)? && !self.obey() {
                break;
            }
        }
        self.report.stolen = stolen().saturating_sub(stolen_before);
        self.report.lateness = self.lateness.summary();
        Ok((self.path, self.report))
    }

    /// Keeps processors awake from now on, where that is wanted and allowed.
    fn stay_awake(&mut self) {
        if self.awake.is_none() && self.may_stay_awake {
            self.awake = Wakefulness::request();
            self.may_stay_awake = self.awake.is_some();
            self.report.kept_awake |= self.may_stay_awake;
        }
    }

    /// Does what is due and writes what leaves.
    fn advance(&mut self) {
        let now = self.clock.now();
        if self.path.next_deadline() > now {
            return;
        }
        self.path.advance(now, &mut self.deliveries);
        self.write();
    }

    fn write(&mut self) {
        let mut deliveries = std::mem::take(&mut self.deliveries);
        for Delivery { due, host, packet } in deliveries.drain(..) {
            let Some(burst) = self.bursts.get_mut(host) else {
                continue;
            };
            self.lateness.add(self.clock.now().since(due));
            self.report.packets_out += 1;
            match burst.push(packet.into_bytes()) {
                Ok(()) if self.settings.join => {}
                Ok(()) => self.flush(host),
                Err(packet) => {
                    self.flush(host);
                    // An empty burst takes every packet.
                    let _ = self.bursts[host].push(packet);
                }
            }
        }
        self.deliveries = deliveries;
        for host in 0..self.tuns.len() {
            if !self.bursts[host].is_empty() {
                self.flush(host);
            }
        }
    }

    fn flush(&mut self, host: usize) {
        let tun = &self.tuns[host];
        // A full or closed device loses packets as a real interface does.
        if self.bursts[host]
            .flush(|header, pieces| tun.write(header, pieces))
            .is_err()
        {
            self.report.refused += 1;
        }
    }

    /// Reads one batch from a device; whether more may wait there.
    fn read(&mut self, host: usize) -> Result<bool, Error> {
        for _ in 0..READ_BATCH {
            let length = self.tuns[host]
                .read(&mut self.buffer)
                .attempt(|| "read from a host's TUN device".into())?;
            let Some(length) = length else { return Ok(false) };
            self.stay_awake();
            let now = self.clock.now();
            if self.path.next_deadline() <= now {
                self.path.advance(now, &mut self.deliveries);
                self.write();
            }
            let (path, count) = (&mut self.path, &mut self.report.packets_in);
            split(&self.buffer[..length], |bytes| {
                if let Some(packet) = F::Packet::from_bytes(bytes) {
                    *count += 1;
                    path.inject(now, host, packet);
                }
            });
        }
        Ok(true)
    }

    /// Waits for a packet, a command or the next deadline; whether a command came.
    fn wait(&mut self, ready: &mut [bool]) -> Result<bool, Error> {
        loop {
            let deadline = self.path.next_deadline();
            let left = deadline.since(self.clock.now());
            let idle = deadline == Time::MAX;
            let timeout = if idle {
                self.awake.as_ref().map(|_| TimeSpec::from(DOZE))
            } else {
                let sleep = left.saturating_sub(self.settings.spin);
                Some(TimeSpec::from(Duration::from_nanos(sleep.as_ns())))
            };
            let mut fds: Vec<PollFd> = Vec::with_capacity(self.tuns.len() + 1);
            fds.push(PollFd::new(self.wake.as_fd(), PollFlags::POLLIN));
            fds.extend(
                self.tuns
                    .iter()
                    .map(|tun| PollFd::new(tun.as_fd(), PollFlags::POLLIN)),
            );
            match ppoll(&mut fds, timeout, None) {
                // Nobody has sent for a while, as in a shell that is left alone.
                Ok(0) if idle => self.awake = None,
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(Error::system("wait for packets", error)),
            }
            let came = |fd: &PollFd| fd.revents().is_some_and(|events| !events.is_empty());
            for (flag, fd) in ready.iter_mut().zip(&fds[1..]) {
                *flag = came(fd);
            }
            let command = came(&fds[0]);
            if command || ready.contains(&true) || self.path.next_deadline() <= self.clock.now() {
                return Ok(command);
            }
        }
    }

    /// Carries out the commands; false when the path is to stop.
    fn obey(&mut self) -> bool {
        // Reading only resets the counter.
        let _ = self.wake.read();
        while let Ok(command) = self.inbox.try_recv() {
            let Some(command) = command else { return false };
            let now = self.clock.now();
            if self.path.next_deadline() <= now {
                self.path.advance(now, &mut self.deliveries);
                self.write();
            }
            command(&mut self.path, now);
        }
        true
    }
}
