//! Divided acknowledgements ("divacks"): the receiver answers data with several
//! ACKs, so that a sender that counts ACKs opens its window faster.
//!
//! Where the receiver would send an ACK numbered `A`, it sends
//! `A-n, A-n+1, ..., A-1, A`: the first divack acknowledges almost everything,
//! each later one a single byte (Ciminieri 2013, equation 6.1, codes 6.1 and
//! 6.2). The page `docs/models/divacks.md` states where this agent, which
//! stands outside the receiver's stack, differs from the patch inside it.

use lasthop_tcp::{Flags, Seq};
use lasthop_units::{Direction, Span, Time};

use crate::bpf_form::NoBpfForm;
use crate::config::Mechanism;
use crate::describe::{Description, Parameter, ParameterKind, PlaceKind, Value};
use crate::flow_table::FlowTable;
use crate::{Agent, Counter, Outbox, Packet, TcpView};

/// `tcp_divack` goes from 0 to SMSS - 1; the source's SMSS is 1448 bytes.
const MAX_COUNT: u32 = 1447;

/// The most divacks before one full ACK that the BPF program makes: they leave
/// in one go, with everything else on that processor held off.
pub const BPF_MAX_COUNT: u32 = 64;

/// No window is larger (RFC 7323 section 2.3), so no genuine ACK advances
/// further; one that does belongs to a connection whose start was missed.
const MAX_ADVANCE: i32 = 1 << 30;

/// How long dividing goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivacksMode {
    /// Every ACK is divided (`tcp_divack_controlled = 0`).
    BruteForce,
    /// Plain ACKs after `max_count` divacks of a connection (`tcp_divack_controlled = 1`).
    Controlled,
}

impl DivacksMode {
    const NAMES: [&'static str; 2] = ["brute-force", "controlled"];

    const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Settings of divacks; the defaults are those of the source's experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivacksConfig {
    /// Divacks before each full ACK, `tcp_divack` or *n*: 0 (off) to SMSS - 1.
    pub count: u32,
    /// How long dividing goes on.
    pub mode: DivacksMode,
    /// Controlled only: divacks each connection may send, `tcp_divack_max_count`.
    pub max_count: u64,
    /// Whether ACKs sent by the delayed-ACK timer are divided too.
    pub divide_delayed_acks: bool,
    /// An ACK later than this after the last data packet is a delayed one.
    pub immediate_within: Span,
    /// Connections remembered at once.
    pub max_flows: u32,
}

impl Default for DivacksConfig {
    fn default() -> Self {
        Self {
            count: 12,
            mode: DivacksMode::BruteForce,
            max_count: 1500,
            divide_delayed_acks: false,
            immediate_within: Span::from_ms(1),
            max_flows: 4096,
        }
    }
}

impl Mechanism for DivacksConfig {
    const DESCRIPTION: Description = Description {
        name: "divacks",
        summary: "sends n divided ACKs, one byte apart, before each full ACK",
        source: "Ciminieri 2013, chapters 5 and 6; Arcia-Moret et al. 2013, section III",
        places: &[PlaceKind::Client, PlaceKind::Path],
        parameters: &[
            Parameter {
                name: "count",
                kind: ParameterKind::Integer {
                    min: 0,
                    max: MAX_COUNT as u64,
                },
                default: Value::Integer(12),
                help: "Divided ACKs sent before each full ACK (tcp_divack, n); 0 switches dividing off.",
            },
            Parameter {
                name: "mode",
                kind: ParameterKind::Choice(&DivacksMode::NAMES),
                default: Value::Choice("brute-force"),
                help: "brute-force divides every ACK; controlled stops after max_count divided ACKs of a connection.",
            },
            Parameter {
                name: "max_count",
                kind: ParameterKind::Integer {
                    min: 0,
                    max: u64::MAX,
                },
                default: Value::Integer(1500),
                help: "Divided ACKs a connection may send in mode controlled (tcp_divack_max_count).",
            },
            Parameter {
                name: "divide_delayed_acks",
                kind: ParameterKind::Flag,
                default: Value::Flag(false),
                help: "Whether ACKs sent by the delayed-ACK timer are divided too; the source does not. \
                       Set it on the path, where the agent cannot tell.",
            },
            Parameter {
                name: "immediate_within",
                kind: ParameterKind::Span,
                default: Value::Span(Span::from_ms(1)),
                help: "An ACK that leaves later than this after the connection's last data packet counts as delayed.",
            },
            Parameter {
                name: "max_flows",
                kind: ParameterKind::Integer { min: 1, max: 1 << 20 },
                default: Value::Integer(4096),
                help: "Connections remembered at once; beyond it the one unused for longest is forgotten, \
                       and its next ACK passes undivided.",
            },
        ],
    };

    fn get(&self, name: &str) -> Option<Value<'static>> {
        Some(match name {
            "count" => Value::Integer(self.count.into()),
            "mode" => Value::Choice(self.mode.name()),
            "max_count" => Value::Integer(self.max_count),
            "divide_delayed_acks" => Value::Flag(self.divide_delayed_acks),
            "immediate_within" => Value::Span(self.immediate_within),
            "max_flows" => Value::Integer(self.max_flows.into()),
            _ => return None,
        })
    }

    fn put(&mut self, name: &str, value: Value<'_>) {
        match (name, value) {
            ("count", Value::Integer(count)) => self.count = count as u32,
            ("mode", Value::Choice("controlled")) => self.mode = DivacksMode::Controlled,
            ("mode", Value::Choice(_)) => self.mode = DivacksMode::BruteForce,
            ("max_count", Value::Integer(count)) => self.max_count = count,
            ("divide_delayed_acks", Value::Flag(divide)) => self.divide_delayed_acks = divide,
            ("immediate_within", Value::Span(span)) => self.immediate_within = span,
            ("max_flows", Value::Integer(flows)) => self.max_flows = flows as u32,
            _ => {}
        }
    }

    fn build<P: Packet + 'static>(&self) -> Box<dyn Agent<P>> {
        Box::new(Divacks::new(*self))
    }

    fn bpf_settings(&self) -> Result<(), NoBpfForm> {
        if self.count <= BPF_MAX_COUNT {
            return Ok(());
        }
        Err(NoBpfForm::Beyond {
            name: "count",
            max: BPF_MAX_COUNT.into(),
            value: self.count.into(),
        })
    }
}

/// What is remembered of a connection, under the key of its ACKs.
#[derive(Debug, Default)]
struct Flow {
    /// The highest ACK number seen leave; `None` until the first.
    highest_ack: Option<Seq>,
    /// When data last arrived.
    data_arrived: Option<Time>,
    /// Divacks sent (`tcp_divack_count`).
    sent: u64,
}

/// The agent.
#[derive(Debug)]
pub struct Divacks {
    config: DivacksConfig,
    flows: FlowTable<Flow>,
    divided_acks: u64,
    divisions: u64,
}

impl Divacks {
    /// An agent that has seen nothing yet. A count above SMSS - 1 is lowered to it.
    pub fn new(config: DivacksConfig) -> Self {
        let config = DivacksConfig {
            count: config.count.min(MAX_COUNT),
            ..config
        };
        let flows = FlowTable::new(config.max_flows as usize);
        Self {
            config,
            flows,
            divided_acks: 0,
            divisions: 0,
        }
    }

    /// Notes data on its way to the receiver.
    fn see_data<P: Packet>(&mut self, now: Time, packet: &P) {
        if self.config.divide_delayed_acks {
            return;
        }
        if let (Some(key), Some(tcp)) = (packet.flow(), packet.tcp())
            && tcp.end() != tcp.seq
        {
            self.flows.entry(key.reverse()).data_arrived = Some(now);
        }
    }

    /// How many divacks go before this packet of the receiver.
    fn pieces<P: Packet>(&mut self, now: Time, packet: &P) -> u32 {
        let (Some(key), Some(tcp)) = (packet.flow(), packet.tcp()) else {
            return 0;
        };
        let flow = self.flows.entry(key);
        if tcp.flags.has(Flags::SYN) || tcp.flags.has(Flags::RST) {
            *flow = Flow::default();
        }
        let pieces = flow.pieces(&self.config, now, &tcp);
        flow.sent += u64::from(pieces);
        pieces
    }
}

impl Flow {
    fn pieces(&mut self, config: &DivacksConfig, now: Time, tcp: &TcpView) -> u32 {
        if !tcp.flags.has(Flags::ACK) || tcp.flags.has(Flags::RST) {
            return 0;
        }
        let Some(highest) = self.highest_ack else {
            self.highest_ack = Some(tcp.ack);
            return 0;
        };
        let new_bytes = tcp.ack.since(highest);
        if new_bytes <= 0 {
            // A duplicate, a window update, a keepalive, or an ACK overtaken by a later one.
            return 0;
        }
        self.highest_ack = Some(tcp.ack);
        if new_bytes > MAX_ADVANCE || !tcp.is_pure_ack() {
            return 0;
        }
        let immediate = self
            .data_arrived
            .is_some_and(|arrived| now.since(arrived) <= config.immediate_within);
        if !config.divide_delayed_acks && !immediate {
            return 0;
        }
        // The lowest divack must still acknowledge something new.
        let pieces = config.count.min(new_bytes as u32 - 1);
        match config.mode {
            DivacksMode::BruteForce => pieces,
            DivacksMode::Controlled => {
                let left = config.max_count.saturating_sub(self.sent);
                u64::from(pieces).min(left) as u32
            }
        }
    }
}

impl<P: Packet> Agent<P> for Divacks {
    fn on_packet(&mut self, now: Time, direction: Direction, packet: P, out: &mut Outbox<P>) {
        if self.config.count > 0 {
            match direction {
                Direction::Downlink => self.see_data(now, &packet),
                Direction::Uplink => {
                    let pieces = self.pieces(now, &packet);
                    if pieces > 0 {
                        self.divide(&packet, pieces, out);
                    }
                }
            }
        }
        out.send(direction, packet);
    }

    fn counters(&self) -> Vec<Counter> {
        vec![
            Counter {
                name: "divided_acks",
                value: self.divided_acks,
            },
            Counter {
                name: "divisions",
                value: self.divisions,
            },
        ]
    }
}

impl Divacks {
    /// Sends the divacks `A - pieces` to `A - 1` of the ACK numbered `A`.
    fn divide<P: Packet>(&mut self, full: &P, pieces: u32, out: &mut Outbox<P>) {
        let Some(tcp) = full.tcp() else { return };
        for below in (1..=pieces).rev() {
            let mut divack = full.clone();
            divack.set_ack(tcp.ack.sub(below));
            out.send(Direction::Uplink, divack);
        }
        self.divided_acks += u64::from(pieces);
        self.divisions += 1;
    }
}
