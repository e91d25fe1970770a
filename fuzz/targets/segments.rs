//! Any sequence of segments and pauses leaves an endpoint standing.
#![no_main]

use std::sync::Arc;

use lasthop_tcp::{Endpoint, Flags, Personality, Role, SackBlocks, Segment, Seq, Timestamps, apply_sender};
use lasthop_units::{Span, Time};
use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;

const SENDERS: [&str; 8] =
    ["tahoe", "reno", "newreno", "sack", "cubic", "vegas", "westwood", "veno"];

/// Segments near the endpoint's own numbers get further than random ones.
fn number(input: &mut Unstructured<'_>, near: u32) -> Result<Seq> {
    Ok(if input.ratio(7, 8)? {
        Seq(near.wrapping_add_signed(i32::from(i16::arbitrary(input)?)))
    } else {
        Seq(u32::arbitrary(input)?)
    })
}

fn segment(input: &mut Unstructured<'_>, peer: u32, own: u32) -> Result<Segment> {
    let mut sack = SackBlocks::default();
    for _ in 0..input.int_in_range(0..=4)? {
        sack.push(number(input, own)?, number(input, own)?);
    }
    Ok(Segment {
        seq: number(input, peer)?,
        ack: number(input, own)?,
        payload_bytes: u32::from(u16::arbitrary(input)?) % 3000,
        window: u16::arbitrary(input)?,
        flags: Flags::from_bits(u8::arbitrary(input)?),
        window_scale: Option::arbitrary(input)?,
        mss: Option::arbitrary(input)?,
        sack_permitted: bool::arbitrary(input)?,
        timestamps: if bool::arbitrary(input)? {
            Some(Timestamps { value: u32::arbitrary(input)?, echo: u32::arbitrary(input)? })
        } else {
            None
        },
        sack,
    })
}

fn drive(data: &[u8]) -> Result<()> {
    let mut input = Unstructured::new(data);
    let personality = *input.choose(&["ns-2", "linux-2.6", "linux-6", "freebsd-14"])?;
    let Some(personality) = Personality::by_name(personality) else { return Ok(()) };
    let mut config = personality.config;
    apply_sender(&mut config, input.choose(&SENDERS)?);
    let role = if bool::arbitrary(&mut input)? { Role::Active } else { Role::Passive };
    let isn = u32::arbitrary(&mut input)?;
    let mut endpoint = Endpoint::new(Arc::new(config), role, isn);
    let (mut now, mut own, mut peer) = (Time::ZERO, isn, 0);
    if role == Role::Active {
        endpoint.connect(now);
    }
    endpoint.send(now, u64::from(u32::arbitrary(&mut input)?));
    for _ in 0..200 {
        match input.int_in_range(0..=9)? {
            0 => now += Span::from_ms(u64::from(u16::arbitrary(&mut input)?)),
            1 if endpoint.next_deadline() < Time::MAX => {
                now = now.max(endpoint.next_deadline());
                endpoint.on_deadline(now);
            }
            2 => endpoint.close(now),
            3 => endpoint.consume(now, u64::from(u16::arbitrary(&mut input)?)),
            _ => {
                let segment = segment(&mut input, peer, own)?;
                peer = segment.end().0;
                endpoint.on_segment(now, &segment);
            }
        }
        for _ in 0..64 {
            let Some(sent) = endpoint.poll_transmit(now) else { break };
            own = sent.end().0;
        }
        let _ = endpoint.metrics();
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let _ = drive(data);
});
