//! The hosts: what their endpoints and programs do when something happens.

use lasthop_network::Network;
use lasthop_tcp::{Endpoint, Segment};
use lasthop_units::{Direction, Time};

use crate::application::Progress;
use crate::datagrams::{BACKLOG_FRAMES, Pace, RETRY};
use crate::flow::{Flow, TcpFlow, Transport};
use crate::packet::SimPacket;
use crate::recorder::Recorder;

/// Alarms of each flow: one per endpoint, by its direction, and the program's.
const ALARMS_PER_FLOW: usize = 3;
const PROGRAM: usize = 2;

/// How many alarms `flows` flows need.
pub(crate) const fn alarms(flows: usize) -> usize {
    flows * ALARMS_PER_FLOW
}

const fn program_alarm(flow: usize) -> usize {
    flow * ALARMS_PER_FLOW + PROGRAM
}

/// All flows, and how many of them the run must go on for.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) flows: Vec<Flow>,
    pub(crate) unfinished: usize,
}

/// The moment of an event, and what it can act on.
struct Moment<'a> {
    now: Time,
    network: &'a mut Network<SimPacket>,
    recorder: &'a mut Recorder,
}

impl Hosts {
    /// The hosts at the start, with their programs' alarms set.
    pub(crate) fn new(flows: Vec<Flow>, network: &mut Network<SimPacket>) -> Self {
        for (index, flow) in flows.iter().enumerate() {
            network.arm(program_alarm(index), flow.start);
        }
        Self {
            unfinished: flows.iter().filter(|flow| flow.unfinished()).count(),
            flows,
        }
    }

    /// Looks after an endpoint to which a packet has come or which has otherwise
    /// been touched: its program, its packets, its timer, its sample.
    fn attend(&mut self, moment: Moment<'_>, index: usize, end: Direction, arrived: Option<&SimPacket>) {
        let Moment {
            now,
            network,
            recorder,
        } = moment;
        let flow = &mut self.flows[index];
        let tcp = match (&mut flow.transport, arrived) {
            (Transport::Tcp(tcp), _) => tcp,
            (Transport::Datagrams(datagrams), Some(packet)) => return datagrams.take(packet),
            (Transport::Datagrams(_), None) => return,
        };
        let TcpFlow {
            ends, application, ..
        } = tcp.as_mut();
        let endpoint = &mut ends[end.index()];
        let sends = end == flow.direction;
        if let Some(packet) = arrived {
            let before = endpoint.stats().fast_retransmits;
            take(endpoint, now, packet);
            if endpoint.stats().fast_retransmits > before && sends {
                recorder.path.event(now, index as i64, "fast-retransmit", 1.0);
            }
        }
        if sends {
            application.at_sender(now, endpoint);
        } else {
            match application.at_receiver(now, endpoint) {
                Progress::Continues => {}
                Progress::Thinks(due) => network.arm(program_alarm(index), due),
                Progress::Done => {
                    if flow.end.is_none() {
                        flow.end = Some(now);
                        self.unfinished -= 1;
                        recorder.path.event(now, index as i64, "completed", 1.0);
                    }
                }
            }
        }
        loop {
            // Each kind is packed where it comes from, so that no segment is copied.
            let packet = if let Some(segment) = endpoint.poll_usual(now) {
                simulated(index, end, endpoint, &segment)
            } else if let Some(segment) = endpoint.poll_transmit(now) {
                simulated(index, end, endpoint, &segment)
            } else {
                break;
            };
            recorder.sent(now, end, &packet);
            network.inject(now, end, packet, recorder);
        }
        network.arm(index * ALARMS_PER_FLOW + end.index(), endpoint.next_deadline());
        if sends {
            recorder.sample(now, index as u32, endpoint);
        }
    }

    fn timer(&mut self, moment: Moment<'_>, index: usize, end: Direction) {
        let Transport::Tcp(tcp) = &mut self.flows[index].transport else {
            return;
        };
        let now = moment.now;
        let endpoint = &mut tcp.ends[end.index()];
        if endpoint.next_deadline() > now {
            let alarm = index * ALARMS_PER_FLOW + end.index();
            moment.network.arm(alarm, endpoint.next_deadline());
            return;
        }
        let before = endpoint.stats().timeouts;
        endpoint.on_deadline(now);
        if endpoint.stats().timeouts > before {
            moment.recorder.path.event(now, index as i64, "timeout", 1.0);
        }
        self.attend(moment, index, end, None);
    }

    /// The program of a flow is due: to start, to ask again, to stop, to send a datagram.
    fn program(&mut self, moment: Moment<'_>, index: usize) {
        let now = moment.now;
        let flow = &mut self.flows[index];
        let Transport::Tcp(tcp) = &mut flow.transport else {
            self.send_datagrams(moment, index);
            return;
        };
        let TcpFlow {
            ends, application, ..
        } = tcp.as_mut();
        let (sender, receiver) = (flow.direction, flow.direction.reverse());
        let touched = if !flow.started {
            flow.started = true;
            let opener = if application.sender_opens {
                sender
            } else {
                receiver
            };
            application.start(now, &mut ends[opener.index()]);
            if let Some(lasts) = application.lasts {
                moment.network.arm(program_alarm(index), now + lasts);
            }
            opener
        } else if application.next_request.is_some_and(|due| due <= now) {
            application.ask(now, &mut ends[receiver.index()]);
            receiver
        } else if application.lasts.is_some_and(|lasts| flow.start + lasts <= now) {
            ends[sender.index()].close(now);
            sender
        } else {
            return;
        };
        self.attend(moment, index, touched, None);
    }

    fn send_datagrams(&mut self, moment: Moment<'_>, index: usize) {
        let flow = &mut self.flows[index];
        flow.started = true;
        let Transport::Datagrams(datagrams) = &mut flow.transport else {
            return;
        };
        match datagrams.pace {
            Pace::Every(interval) => {
                datagrams.next = moment.now + interval;
                moment.network.arm(program_alarm(index), datagrams.next);
                self.send_datagram(moment, index);
            }
            Pace::Backlog => self.fill_backlog(moment, index),
        }
    }

    fn fill_backlog(&mut self, moment: Moment<'_>, index: usize) {
        let Moment {
            now,
            network,
            recorder,
        } = moment;
        let direction = self.flows[index].direction;
        for _ in 0..BACKLOG_FRAMES {
            if network.wifi_queue_len(index as u32, direction) >= BACKLOG_FRAMES {
                break;
            }
            let moment = Moment {
                now,
                network,
                recorder,
            };
            self.send_datagram(moment, index);
        }
        // Otherwise the next frame that departs makes room.
        if network.wifi_queue_len(index as u32, direction) == 0 {
            network.arm(program_alarm(index), now + RETRY);
        }
    }

    fn send_datagram(&mut self, moment: Moment<'_>, index: usize) {
        let flow = &mut self.flows[index];
        let direction = flow.direction;
        let Transport::Datagrams(datagrams) = &mut flow.transport else {
            return;
        };
        let packet = SimPacket::datagram(
            index as u32,
            direction,
            datagrams.ip,
            datagrams.sent,
            datagrams.payload_bytes,
        );
        datagrams.sent += 1;
        let Moment {
            now,
            network,
            recorder,
        } = moment;
        recorder.sent(now, direction, &packet);
        network.inject(now, direction, packet, recorder);
    }
}

/// Hands a packet to the endpoint it is for.
#[inline]
fn take(endpoint: &mut Endpoint, now: Time, packet: &SimPacket) {
    let usual = packet
        .plain_segment()
        .is_some_and(|segment| endpoint.on_usual(now, &segment));
    if !usual {
        endpoint.on_other(now, &packet.segment());
    }
}

impl lasthop_network::Hosts<SimPacket, Recorder> for Hosts {
    #[inline]
    fn delivered(
        &mut self,
        network: &mut Network<SimPacket>,
        now: Time,
        direction: Direction,
        packet: SimPacket,
        recorder: &mut Recorder,
    ) {
        recorder.received(now, direction, &packet);
        let moment = Moment {
            now,
            network,
            recorder,
        };
        // A packet travelling downlink reaches the end that sends uplink.
        self.attend(moment, packet.flow as usize, direction.reverse(), Some(&packet));
    }

    fn alarm(&mut self, network: &mut Network<SimPacket>, now: Time, alarm: usize, recorder: &mut Recorder) {
        let index = alarm / ALARMS_PER_FLOW;
        let moment = Moment {
            now,
            network,
            recorder,
        };
        match alarm % ALARMS_PER_FLOW {
            PROGRAM => self.program(moment, index),
            which => self.timer(moment, index, Direction::BOTH[which]),
        }
    }

    fn departed(
        &mut self,
        network: &mut Network<SimPacket>,
        now: Time,
        direction: Direction,
        route: u32,
        recorder: &mut Recorder,
    ) {
        let index = route as usize;
        let flow = &self.flows[index];
        if let Transport::Datagrams(datagrams) = &flow.transport
            && datagrams.pace == Pace::Backlog
            && flow.direction == direction
        {
            let moment = Moment {
                now,
                network,
                recorder,
            };
            self.fill_backlog(moment, index);
        }
    }
}

/// A segment of `endpoint` as the path carries it.
#[inline]
fn simulated(flow: usize, end: Direction, endpoint: &Endpoint, segment: &Segment) -> SimPacket {
    let ip = endpoint.config().ip_version;
    SimPacket::new(flow as u32, end, ip, endpoint.wire_bytes(segment), segment)
}
