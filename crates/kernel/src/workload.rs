//! The built-in workloads: every flow is two programs on real sockets, each in
//! its host's namespace.

use std::io;
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use lasthop_scenario::spec::WorkloadKind;
use lasthop_units::{BitRate, Time};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{Domain, SockRef, Socket, Type};

use crate::conversation::Conversation;
use crate::error::Attempt;
use crate::tcp_info::TcpInfo;
use crate::window_clamp::WindowClamp;
use crate::{Clock, Error, Namespace};

/// How often a waiting program looks whether the run is over.
const LOOK: Duration = Duration::from_millis(20);

/// One end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct EndPlan {
    /// The host's namespace.
    pub(crate) namespace: Arc<Namespace>,
    /// The host's address.
    pub(crate) address: IpAddr,
    /// What its sockets are told.
    pub(crate) options: SocketOptions,
}

/// What a host's own programs set on their sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SocketOptions {
    pub(crate) congestion_control: String,
    pub(crate) window_clamp: Option<WindowClamp>,
    pub(crate) no_delay: bool,
}

impl SocketOptions {
    fn apply(&self, socket: &Socket) -> Result<(), Error> {
        let name = &self.congestion_control;
        socket
            .set_tcp_congestion(name.as_bytes())
            .attempt(|| format!("use the congestion control {name}"))?;
        if let Some(clamp) = self.window_clamp {
            clamp
                .apply(socket)
                .attempt(|| "bound the receive window".into())?;
        }
        socket
            .set_tcp_nodelay(self.no_delay)
            .attempt(|| "switch off Nagle's algorithm".into())
    }
}

/// A flow to be run.
#[derive(Clone, Debug)]
pub(crate) struct FlowPlan {
    pub(crate) kind: WorkloadKind,
    pub(crate) port: u16,
    pub(crate) start: Time,
    pub(crate) sender: EndPlan,
    pub(crate) receiver: EndPlan,
    /// The hosts' indices in the session.
    pub(crate) seats: [usize; 2],
}

/// What came of a flow so far; written by its programs, read by the engine.
#[derive(Debug, Default)]
pub(crate) struct FlowState {
    started: Mutex<Option<Time>>,
    ended: Mutex<Option<Time>>,
    delivered: AtomicU64,
    sent_packets: AtomicU64,
    finished: AtomicBool,
    /// The sender's socket and both, to end them.
    sender: Mutex<Option<TcpStream>>,
    sockets: Mutex<Vec<TcpStream>>,
    error: Mutex<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FlowState {
    /// When the flow really started.
    pub(crate) fn start(&self) -> Option<Time> {
        *lock(&self.started)
    }

    /// When its last byte was delivered.
    pub(crate) fn end(&self) -> Option<Time> {
        *lock(&self.ended)
    }

    /// Bytes handed to the receiving program.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Datagrams sent.
    pub(crate) fn sent_packets(&self) -> u64 {
        self.sent_packets.load(Ordering::Relaxed)
    }

    /// Whether it needs no more waiting for.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// What went wrong.
    pub(crate) fn error(&self) -> Option<String> {
        lock(&self.error).clone()
    }

    /// The sender's TCP state now; `None` before the connection.
    pub(crate) fn info(&self) -> Option<TcpInfo> {
        lock(&self.sender)
            .as_ref()
            .and_then(|socket| TcpInfo::of(socket.as_fd()).ok())
    }

    /// A program of its own moved `bytes` between these times.
    pub(crate) fn observe(&self, start: Time, end: Time, bytes: u64) {
        *lock(&self.started) = Some(start);
        *lock(&self.ended) = Some(end);
        self.delivered.store(bytes, Ordering::Relaxed);
        self.finished.store(true, Ordering::Release);
    }

    fn keep(&self, socket: &TcpStream, sends: bool) -> io::Result<()> {
        if sends {
            *lock(&self.sender) = Some(socket.try_clone()?);
        }
        lock(&self.sockets).push(socket.try_clone()?);
        Ok(())
    }

    pub(crate) fn fail(&self, error: &impl ToString) {
        lock(&self.error).get_or_insert_with(|| error.to_string());
        self.finished.store(true, Ordering::Release);
    }
}

/// The flows of a run at work.
pub(crate) struct Work {
    pub(crate) flows: Vec<Arc<FlowState>>,
    bounded: Vec<bool>,
    stop: Arc<AtomicBool>,
    prepared: Vec<Prepared>,
    threads: Vec<JoinHandle<()>>,
}

/// A program that waits for the run's clock.
type Prepared = Box<dyn FnOnce(Clock) + Send>;

impl Work {
    /// Opens every socket; the programs start with [`Work::begin`].
    pub(crate) fn prepare(plans: impl Iterator<Item = FlowPlan>) -> Result<Self, Error> {
        let mut work = Self {
            flows: Vec::new(),
            bounded: Vec::new(),
            stop: Arc::new(AtomicBool::new(false)),
            prepared: Vec::new(),
            threads: Vec::new(),
        };
        for plan in plans {
            work.add(plan)?;
        }
        Ok(work)
    }

    /// Flows that other programs make; each comes to an end.
    pub(crate) fn by_others(flows: usize) -> Self {
        Self {
            flows: std::iter::repeat_with(Arc::default).take(flows).collect(),
            bounded: vec![true; flows],
            stop: Arc::new(AtomicBool::new(false)),
            prepared: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Starts the programs.
    pub(crate) fn begin(&mut self, clock: Clock) -> Result<(), Error> {
        for program in std::mem::take(&mut self.prepared) {
            let thread = thread::Builder::new()
                .name("lasthop-flow".into())
                // Thousands of flows must fit.
                .stack_size(256 << 10)
                .spawn(move || program(clock))
                .attempt(|| "start a workload thread".into())?;
            self.threads.push(thread);
        }
        Ok(())
    }

    fn add(&mut self, plan: FlowPlan) -> Result<(), Error> {
        let state = Arc::new(FlowState::default());
        self.flows.push(Arc::clone(&state));
        if matches!(plan.kind, WorkloadKind::Command { .. }) {
            // Others start it; it ends by itself.
            self.bounded.push(true);
            return Ok(());
        }
        let Some(conversation) = Conversation::of(&plan.kind) else {
            self.bounded.push(false);
            return self.add_udp(&plan, &state);
        };
        self.bounded.push(conversation.dialogue.is_bounded());
        self.add_tcp(plan, &Arc::new(conversation), &state)
    }

    fn add_tcp(
        &mut self,
        plan: FlowPlan,
        conversation: &Arc<Conversation>,
        state: &Arc<FlowState>,
    ) -> Result<(), Error> {
        let sender_opens = conversation.dialogue.sender_opens;
        let (opener, answerer) = if sender_opens {
            (plan.sender, plan.receiver)
        } else {
            (plan.receiver, plan.sender)
        };
        let address = SocketAddr::new(answerer.address, plan.port);
        let listener = listen(&answerer, address)?;
        let socket = opener.namespace.run(|| tcp_socket(&opener, address))?;
        let start = plan.start;
        let (active_clamp, passive_clamp) = (opener.options.window_clamp, answerer.options.window_clamp);
        let active = Program {
            conversation: Arc::clone(conversation),
            start,
            sends: sender_opens,
            window_clamp: active_clamp,
            state: Arc::clone(state),
            stop: Arc::clone(&self.stop),
        };
        let passive = Program {
            sends: !sender_opens,
            window_clamp: passive_clamp,
            ..active.clone()
        };
        let stop = Arc::clone(&self.stop);
        self.prepare_program(move |clock| {
            if let Some(accepted) = accept(&listener, &stop) {
                passive.run(
                    clock,
                    accepted.and_then(|socket| {
                        passive.state.keep(&socket, passive.sends)?;
                        Ok(socket)
                    }),
                );
            }
        });
        self.prepare_program(move |clock| {
            clock.sleep_until(start);
            *lock(&active.state.started) = Some(clock.now());
            let socket = TcpStream::from(socket);
            // Known before it connects, so that the end of the run ends the attempt.
            let connected = active
                .state
                .keep(&socket, active.sends)
                .and_then(|()| SockRef::from(&socket).connect(&address.into()));
            active.run(clock, connected.map(|()| socket));
        });
        Ok(())
    }

    fn add_udp(&mut self, plan: &FlowPlan, state: &Arc<FlowState>) -> Result<(), Error> {
        let WorkloadKind::Udp {
            rate: Some(rate),
            payload_bytes,
        } = plan.kind
        else {
            return Err(crate::Refusal::new(
                "a UDP workload without a rate keeps a simulated queue full; give it a rate",
            )
            .into());
        };
        let to = SocketAddr::new(plan.receiver.address, plan.port);
        let from = SocketAddr::new(plan.sender.address, plan.port);
        let bind = |address: SocketAddr| {
            move || UdpSocket::bind(address).attempt(|| format!("open UDP port {address}"))
        };
        let receiver = plan.receiver.namespace.run(bind(to))?;
        let sender = plan.sender.namespace.run(bind(from))?;
        let (start, stop, counted) = (plan.start, Arc::clone(&self.stop), Arc::clone(state));
        self.prepare_program(move |clock| {
            clock.sleep_until(start);
            *lock(&counted.started) = Some(clock.now());
            send_datagrams(&sender, to, rate, payload_bytes, clock, &stop, &counted);
        });
        let (stop, counted) = (Arc::clone(&self.stop), Arc::clone(state));
        self.prepare_program(move |_| receive_datagrams(&receiver, &stop, &counted));
        Ok(())
    }

    fn prepare_program(&mut self, program: impl FnOnce(Clock) + Send + 'static) {
        self.prepared.push(Box::new(program));
    }

    /// Whether there is work and all of it is done.
    pub(crate) fn is_done(&self) -> bool {
        !self.flows.is_empty()
            && self.bounded.iter().all(|&bounded| bounded)
            && self.flows.iter().all(|flow| flow.is_finished())
    }

    /// Ends what still runs and waits for the programs.
    pub(crate) fn stop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for flow in &self.flows {
            for socket in lock(&flow.sockets).iter() {
                // A socket that is closed already needs no ending.
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop();
    }
}

/// One program of a TCP flow.
#[derive(Clone)]
struct Program {
    conversation: Arc<Conversation>,
    start: Time,
    sends: bool,
    window_clamp: Option<WindowClamp>,
    state: Arc<FlowState>,
    stop: Arc<AtomicBool>,
}

impl Program {
    fn run(&self, clock: Clock, socket: io::Result<TcpStream>) {
        let result = socket.and_then(|socket| {
            if self.sends {
                return self.conversation.send(&socket, clock, self.start);
            }
            let count = |bytes| {
                self.state.delivered.fetch_add(bytes, Ordering::Relaxed);
                if let Some(clamp) = self.window_clamp {
                    // A connection that is gone needs no bound any more.
                    let _ = clamp.hold(&socket);
                }
            };
            let end = self.conversation.receive(&socket, clock, count)?;
            *lock(&self.state.ended) = end;
            self.state.finished.store(true, Ordering::Release);
            Ok(())
        });
        // Sockets that the end of the run closed have not failed.
        if let Err(error) = result
            && !self.stop.load(Ordering::Acquire)
        {
            self.state.fail(&error);
        }
    }
}

fn tcp_socket(end: &EndPlan, towards: SocketAddr) -> Result<Socket, Error> {
    let socket = Socket::new(Domain::for_address(towards), Type::STREAM, None)
        .attempt(|| "open a TCP socket".into())?;
    end.options.apply(&socket)?;
    Ok(socket)
}

pub(crate) fn listen(end: &EndPlan, address: SocketAddr) -> Result<Socket, Error> {
    end.namespace.run(|| {
        let socket = tcp_socket(end, address)?;
        socket
            .bind(&address.into())
            .and_then(|()| socket.listen(16))
            .attempt(|| format!("listen at {address}"))?;
        Ok(socket)
    })
}

/// Waits for one connection; `None` when the run ends first.
pub(crate) fn accept(listener: &Socket, stop: &AtomicBool) -> Option<io::Result<TcpStream>> {
    let timeout = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::ZERO);
    while !stop.load(Ordering::Acquire) {
        let mut fds = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        if poll(&mut fds, timeout).is_ok_and(|ready| ready > 0) {
            return Some(listener.accept().map(|(socket, _)| socket.into()));
        }
    }
    None
}

fn send_datagrams(
    socket: &UdpSocket,
    to: SocketAddr,
    rate: BitRate,
    payload_bytes: u32,
    clock: Clock,
    stop: &AtomicBool,
    state: &FlowState,
) {
    let payload = vec![0; payload_bytes as usize];
    let interval = rate.tx_time(payload_bytes.into());
    let mut due = clock.now();
    while !stop.load(Ordering::Acquire) {
        // The device's queue may be full: such a datagram is lost like any other.
        let _ = socket.send_to(&payload, to);
        state.sent_packets.fetch_add(1, Ordering::Relaxed);
        due += interval;
        clock.sleep_until(due);
    }
}

fn receive_datagrams(socket: &UdpSocket, stop: &AtomicBool, state: &FlowState) {
    let mut buffer = vec![0; 65_536];
    if let Err(error) = socket.set_read_timeout(Some(LOOK)) {
        state.fail(&error);
        return;
    }
    while !stop.load(Ordering::Acquire) {
        if let Ok(count) = socket.recv(&mut buffer) {
            state.delivered.fetch_add(count as u64, Ordering::Relaxed);
        }
    }
}
