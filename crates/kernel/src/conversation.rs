//! What the two programs of a flow say to each other, over real sockets.
//!
//! "Sender" sends the bulk of the data. Each end runs on a thread of its own
//! and stamps what it does with the run's clock.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

use lasthop_scenario::Dialogue;
use lasthop_scenario::spec::WorkloadKind;
use lasthop_units::{Span, Time};

use crate::Clock;

/// The two programs of a TCP flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversation {
    /// What they say to each other.
    pub(crate) dialogue: Dialogue,
}

impl Conversation {
    /// The conversation of a workload; `None` for datagrams.
    pub(crate) fn of(kind: &WorkloadKind) -> Option<Self> {
        Dialogue::of(kind).map(|dialogue| Self { dialogue })
    }

    /// The sending program, on a connected socket. `start` is the flow's.
    pub(crate) fn send(&self, mut socket: &TcpStream, clock: Clock, start: Time) -> io::Result<()> {
        let stop = self.dialogue.lasts.map_or(Time::MAX, |lasts| start + lasts);
        let mut pattern = Pattern::new();
        if !self.dialogue.is_bounded() {
            self.read_request(socket)?;
            while clock.now() < stop {
                socket.write_all(pattern.next(Pattern::CHUNK))?;
            }
            return socket.shutdown(Shutdown::Write);
        }
        for bytes in self.dialogue.responses() {
            self.read_request(socket)?;
            let mut left = bytes;
            while left > 0 && clock.now() < stop {
                let chunk = left.min(Pattern::CHUNK as u64) as usize;
                socket.write_all(pattern.next(chunk))?;
                left -= chunk as u64;
            }
        }
        if self.dialogue.close {
            socket.shutdown(Shutdown::Write)
        } else {
            Ok(())
        }
    }

    fn read_request(&self, socket: &TcpStream) -> io::Result<()> {
        let asked = self.dialogue.request_bytes;
        let copied = io::copy(&mut socket.take(asked), &mut io::sink())?;
        if copied < asked {
            Err(io::ErrorKind::UnexpectedEof.into())
        } else {
            Ok(())
        }
    }

    /// The receiving program, on a connected socket; reports how many bytes
    /// arrived as it goes, and when the last one asked for did.
    pub(crate) fn receive(
        &self,
        mut socket: &TcpStream,
        clock: Clock,
        mut arrived: impl FnMut(u64),
    ) -> io::Result<Option<Time>> {
        let request = vec![b'?'; self.dialogue.request_bytes as usize];
        let mut expected = Pattern::new();
        let mut buffer = vec![0; Pattern::CHUNK];
        let endless = (!self.dialogue.is_bounded()).then_some(u64::MAX);
        let mut end = None;
        for (number, bytes) in endless.into_iter().chain(self.dialogue.responses()).enumerate() {
            if number > 0 && self.dialogue.think_time > Span::ZERO {
                clock.sleep_until(clock.now() + self.dialogue.think_time);
            }
            socket.write_all(&request)?;
            let mut left = bytes;
            while left > 0 {
                let room = left.min(buffer.len() as u64) as usize;
                let count = socket.read(&mut buffer[..room])?;
                if count == 0 {
                    return Ok(None);
                }
                if buffer[..count] != *expected.next(count) {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "the bytes that arrived are not those sent",
                    ));
                }
                left -= count as u64;
                arrived(count as u64);
            }
            end = Some(clock.now());
        }
        Ok(end)
    }
}

/// The bytes every flow carries: a pattern that repeats at no power of two, so
/// that a lost, doubled or shifted segment shows. Printable characters: readers
/// of captures take arbitrary bytes for protocols of their acquaintance.
struct Pattern {
    bytes: Vec<u8>,
    offset: usize,
}

impl Pattern {
    const PERIOD: usize = 251;
    const CHUNK: usize = 1 << 16;

    fn new() -> Self {
        let bytes = (0..Self::CHUNK + Self::PERIOD)
            .map(|at| b'!' + (at % Self::PERIOD % 94) as u8)
            .collect();
        Self { bytes, offset: 0 }
    }

    /// The next `count` bytes, at most [`Pattern::CHUNK`].
    fn next(&mut self, count: usize) -> &[u8] {
        let from = self.offset;
        self.offset = (from + count) % Self::PERIOD;
        &self.bytes[from..from + count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    /// Both programs over the loopback.
    fn talk(kind: &WorkloadKind) -> (u64, Option<Time>) {
        let conversation = Conversation::of(kind).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let clock = Clock::start();
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let (socket, _) = listener.accept().unwrap();
                conversation.send(&socket, clock, Time::ZERO)
            });
            let socket = TcpStream::connect(address).unwrap();
            let mut bytes = 0;
            let end = conversation
                .receive(&socket, clock, |count| bytes += count)
                .unwrap();
            sender.join().unwrap().unwrap();
            (bytes, end)
        })
    }

    #[test]
    fn a_download_arrives_whole() {
        let (bytes, end) = talk(&WorkloadKind::Bulk {
            bytes: Some(1_013_760),
            lasts: None,
            sender_opens: false,
            request_bytes: 300,
            close: true,
        });
        assert_eq!(bytes, 1_013_760);
        assert!(end.is_some());
    }

    #[test]
    fn objects_are_asked_for_one_after_the_other() {
        let (bytes, end) = talk(&WorkloadKind::Objects {
            request_bytes: 100,
            response_bytes: vec![10, 70_000],
            objects: 5,
            think_time: Span::from_ms(1),
        });
        assert_eq!(bytes, 3 * 10 + 2 * 70_000);
        assert!(end.is_some());
    }

    #[test]
    fn an_endless_transfer_stops_after_its_time() {
        let (bytes, end) = talk(&WorkloadKind::Bulk {
            bytes: None,
            lasts: Some(Span::from_ms(20)),
            sender_opens: false,
            request_bytes: 0,
            close: true,
        });
        assert!(bytes > 0);
        assert_eq!(end, None);
    }
}
