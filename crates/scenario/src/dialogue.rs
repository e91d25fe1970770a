//! What the two programs of a TCP flow say to each other: the one reading of a
//! workload that every engine shares.

use lasthop_units::Span;

use crate::spec::WorkloadKind;

/// The requests and answers of one TCP flow. "Sender" sends the bulk of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialogue {
    /// Whether the sender opens the connection.
    pub sender_opens: bool,
    /// Bytes of one request; 0 when nothing is asked.
    pub request_bytes: u64,
    /// Bytes of the answers, repeated in turn; `None` answers without end.
    pub response_bytes: Option<Vec<u64>>,
    /// How many answers there are.
    pub objects: u32,
    /// Pause before each further request.
    pub think_time: Span,
    /// Whether the sender closes after the last answer.
    pub close: bool,
    /// The sender stops after this time.
    pub lasts: Option<Span>,
}

impl Dialogue {
    /// The dialogue of a workload; `None` for datagrams and programs of the user's.
    pub fn of(kind: &WorkloadKind) -> Option<Self> {
        match kind {
            WorkloadKind::Bulk {
                bytes,
                lasts,
                sender_opens,
                request_bytes,
                close,
            } => Some(Self {
                sender_opens: *sender_opens,
                request_bytes: if *sender_opens { 0 } else { *request_bytes },
                response_bytes: bytes.map(|bytes| vec![bytes]),
                objects: 1,
                think_time: Span::ZERO,
                close: *close,
                lasts: *lasts,
            }),
            WorkloadKind::Objects {
                request_bytes,
                response_bytes,
                objects,
                think_time,
            } => Some(Self {
                sender_opens: false,
                request_bytes: *request_bytes,
                response_bytes: Some(response_bytes.clone()),
                objects: (*objects).max(1),
                think_time: *think_time,
                close: true,
                lasts: None,
            }),
            WorkloadKind::Udp { .. } | WorkloadKind::Command { .. } => None,
        }
    }

    /// Bytes of each answer, in order; none when the answer has no end.
    pub fn responses(&self) -> impl Iterator<Item = u64> {
        let sizes = self.response_bytes.as_deref().unwrap_or_default();
        sizes.iter().copied().cycle().take(self.objects as usize)
    }

    /// Bytes to be moved in all; 0 when without end.
    pub fn total_bytes(&self) -> u64 {
        self.responses().sum()
    }

    /// Whether the flow comes to an end by itself.
    pub const fn is_bounded(&self) -> bool {
        self.response_bytes.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_repeat_in_turn() {
        let kind = WorkloadKind::Objects {
            request_bytes: 300,
            response_bytes: vec![10, 20],
            objects: 5,
            think_time: Span::ZERO,
        };
        let dialogue = Dialogue::of(&kind).unwrap();
        assert!(dialogue.responses().eq([10, 20, 10, 20, 10]));
        assert_eq!(dialogue.total_bytes(), 70);
        assert!(dialogue.is_bounded());
    }

    #[test]
    fn a_sender_that_opens_is_asked_nothing() {
        let kind = WorkloadKind::Bulk {
            bytes: None,
            lasts: None,
            sender_opens: true,
            request_bytes: 300,
            close: true,
        };
        let dialogue = Dialogue::of(&kind).unwrap();
        assert_eq!((dialogue.request_bytes, dialogue.total_bytes()), (0, 0));
        assert!(!dialogue.is_bounded());
    }
}
