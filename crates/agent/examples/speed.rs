//! Nanoseconds per client packet through the divacks agent, on simulated
//! segments and on frames: `cargo run --release -p lasthop-agent --example speed`.
//! One data packet down and one ACK up per round; `n = 0` is the agent switched off.

use std::hint::black_box;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use lasthop_agent::{Agent, AgentConfig, DivacksConfig, FlowKey, Frame, Outbox, Packet, TcpView};
use lasthop_tcp::{Flags, Segment, Seq, Timestamps};
use lasthop_units::{Direction, Time};

const ROUNDS: u32 = 500_000;
const SMSS: u32 = 1448;

#[derive(Clone)]
struct Simulated(FlowKey, Segment);

impl Packet for Simulated {
    fn wire_bytes(&self) -> u32 {
        self.1.ipv4_bytes()
    }
    fn is_data(&self) -> bool {
        self.1.payload_bytes > 0
    }
    fn flow(&self) -> Option<FlowKey> {
        Some(self.0)
    }
    fn tcp(&self) -> Option<TcpView> {
        let Segment {
            seq,
            ack,
            flags,
            window,
            payload_bytes,
            timestamps,
            sack,
            ..
        } = self.1;
        Some(TcpView {
            seq,
            ack,
            flags,
            window,
            payload_bytes,
            timestamps,
            has_sack: !sack.is_empty(),
        })
    }
    fn set_ack(&mut self, ack: Seq) {
        self.1.ack = ack;
    }
    fn set_window(&mut self, window: u16) {
        self.1.window = window;
    }
}

fn main() -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    for count in [0, 12] {
        let simulated = measure(
            count,
            |packet: &Simulated| packet.clone(),
            |flow, segment, _| Simulated(flow, segment),
        );
        let frames = measure(count, reparsed, |flow, segment, payload| {
            Frame::from_segment(flow, &segment, payload).expect("a packet that fits")
        });
        writeln!(
            stdout,
            "n = {count:2}: {simulated:6.1} ns per round simulated, {frames:6.1} ns on IPv4 frames"
        )?;
    }
    Ok(())
}

/// A frame as it would come from a device: its headers not yet parsed.
fn reparsed(frame: &Frame) -> Frame {
    Frame::new(frame.bytes().to_vec())
}

fn measure<P: Packet + 'static>(
    count: u32,
    fresh: impl Fn(&P) -> P,
    make: impl Fn(FlowKey, Segment, &[u8]) -> P,
) -> f64 {
    let [client, server] = [1, 2].map(|host| IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)));
    let flow = FlowKey {
        source: client,
        source_port: 40_000,
        destination: server,
        destination_port: 80,
    };
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let data = Segment {
        flags: Flags::ACK,
        payload_bytes: SMSS,
        timestamps,
        ..Segment::default()
    };
    let data = make(flow.reverse(), data, &[0; SMSS as usize]);
    let ack = make(
        flow,
        Segment {
            flags: Flags::ACK,
            timestamps,
            ..Segment::default()
        },
        &[],
    );
    let mut agent: Box<dyn Agent<P>> = AgentConfig::Divacks(DivacksConfig {
        count,
        ..DivacksConfig::default()
    })
    .build();
    let mut out = Outbox::default();
    let start = Instant::now();
    for round in 0..ROUNDS {
        agent.on_packet(Time::ZERO, Direction::Downlink, fresh(&data), &mut out);
        let mut ack = fresh(&ack);
        ack.set_ack(Seq(round.wrapping_mul(SMSS)));
        agent.on_packet(Time::ZERO, Direction::Uplink, ack, &mut out);
        black_box(&out.packets);
        out.clear();
    }
    start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
}
