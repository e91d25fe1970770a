//! What the two programs at the ends of a TCP flow do: who opens, who asks,
//! who answers, when the work is done.

use lasthop_scenario::Dialogue;
use lasthop_scenario::spec::WorkloadKind;
use lasthop_tcp::Endpoint;
use lasthop_units::{Span, Time};

/// More bytes than any run moves.
const ENDLESS_BYTES: u64 = 1 << 60;

/// The programs of one flow. "Sender" sends the bulk of the data.
#[derive(Clone, Debug)]
pub(crate) struct Application {
    /// Whether the sender opens the connection.
    pub(crate) sender_opens: bool,
    /// Bytes of one request; 0 when nothing is asked.
    request_bytes: u64,
    /// Bytes of the answers, in turn.
    response_bytes: Vec<u64>,
    /// Answers still to be asked for after the current one.
    further_objects: u32,
    /// Pause before the next request.
    think_time: Span,
    /// Whether the sender closes after the last answer.
    close: bool,
    /// The sender stops after this time.
    pub(crate) lasts: Option<Span>,
    /// Number of the current object, from 0.
    object: u32,
    /// Requests the sender has answered.
    answered: u32,
    /// Stream offset at which the current answer ends.
    expected_bytes: u64,
    /// Whether the workload moves a stated number of bytes.
    pub(crate) bounded: bool,
    /// When the next request is due.
    pub(crate) next_request: Option<Time>,
}

/// What an endpoint's progress means to the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Nothing to note.
    Continues,
    /// The last byte asked for has been delivered.
    Done,
    /// The next request is due at this time.
    Thinks(Time),
}

impl Application {
    /// The programs of `kind`; `None` for datagrams.
    pub(crate) fn new(kind: &WorkloadKind) -> Option<Self> {
        let dialogue = Dialogue::of(kind)?;
        let bounded = dialogue.is_bounded();
        let response_bytes = dialogue.response_bytes.unwrap_or_else(|| vec![ENDLESS_BYTES]);
        Some(Self {
            sender_opens: dialogue.sender_opens,
            request_bytes: dialogue.request_bytes,
            expected_bytes: response_bytes.first().copied().unwrap_or(0),
            response_bytes,
            further_objects: dialogue.objects - 1,
            think_time: dialogue.think_time,
            close: dialogue.close && bounded,
            lasts: dialogue.lasts,
            object: 0,
            answered: 0,
            bounded,
            next_request: None,
        })
    }

    /// Bytes the workload moves in all; 0 when unbounded.
    pub(crate) fn total_bytes(&self) -> u64 {
        if !self.bounded {
            return 0;
        }
        (0..=self.further_objects)
            .map(|object| self.response(object))
            .sum()
    }

    fn response(&self, object: u32) -> u64 {
        let count = self.response_bytes.len().max(1);
        self.response_bytes
            .get(object as usize % count)
            .copied()
            .unwrap_or(0)
    }

    /// The flow starts: the opener connects and writes what it has to say first.
    pub(crate) fn start(&mut self, now: Time, opener: &mut Endpoint) {
        opener.connect(now);
        if self.sender_opens {
            self.answer(now, opener);
        } else if self.request_bytes > 0 {
            opener.send(now, self.request_bytes);
        }
    }

    fn answer(&mut self, now: Time, sender: &mut Endpoint) {
        sender.send(now, self.response(self.answered));
        self.answered += 1;
        if self.close && self.answered > self.further_objects {
            sender.close(now);
        }
    }

    /// Something happened at the sending program's endpoint.
    #[inline]
    pub(crate) fn at_sender(&mut self, now: Time, sender: &mut Endpoint) {
        if self.answered > self.further_objects {
            return;
        }
        let asked = u64::from(self.answered + 1) * self.request_bytes;
        if sender.is_established() && sender.received_bytes() >= asked {
            self.answer(now, sender);
        }
    }

    /// Something happened at the receiving program's endpoint.
    #[inline]
    pub(crate) fn at_receiver(&mut self, now: Time, receiver: &mut Endpoint) -> Progress {
        if receiver.received_bytes() < self.expected_bytes {
            return Progress::Continues;
        }
        if self.object < self.further_objects {
            if self.next_request.is_some() {
                return Progress::Continues;
            }
            let due = now + self.think_time;
            self.next_request = Some(due);
            return Progress::Thinks(due);
        }
        if receiver.peer_closed() {
            receiver.close(now);
        }
        Progress::Done
    }

    /// The pause is over: ask for the next object.
    pub(crate) fn ask(&mut self, now: Time, receiver: &mut Endpoint) {
        self.next_request = None;
        self.object += 1;
        self.expected_bytes += self.response(self.object);
        receiver.send(now, self.request_bytes);
    }
}
