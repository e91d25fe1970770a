//! Ends every TCP connection of a network namespace at once.
//!
//! A connection whose program is gone lives on until its data and its FIN are
//! acknowledged or given up, minutes later, and so do its namespace and the BPF
//! congestion control it uses. `NETLINK_SOCK_DIAG` lists and destroys sockets
//! (`SOCK_DESTROY`, RFC 9293's ABORT). It is spoken here without allocating
//! anything: the warden, a fork of a program with several threads, does so too.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::libc;

// `linux/netlink.h`, `linux/sock_diag.h`, `linux/inet_diag.h`.
const NETLINK_SOCK_DIAG: libc::c_int = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const SOCK_DESTROY: u16 = 21;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;
/// Bytes of `struct inet_diag_sockid`, which names one socket.
const SOCKET_ID: usize = 48;
/// Where it stands in `struct inet_diag_msg`, a listed socket.
const ID_IN_ANSWER: usize = HEADER + 4;
/// Where it stands in `struct inet_diag_req_v2`, a request.
const ID_IN_REQUEST: usize = HEADER + 8;
/// Bytes of a request.
const REQUEST: usize = ID_IN_REQUEST + SOCKET_ID;

/// States of sockets that hold their namespace: all but TIME-WAIT (6) and
/// requests for a connection (12), which end with their listener.
const STATES: u32 = !(1 << 6 | 1 << 12);

/// How often the list is gone through: a socket may be just changing its state.
const ROUNDS: u32 = 8;

type Request = [u8; REQUEST];

/// Destroys every TCP socket of the calling thread's network namespace.
///
/// # Errors
/// When the kernel lists no sockets, or some of them stay.
pub(crate) fn destroy() -> io::Result<()> {
    for _ in 0..ROUNDS {
        let mut found = 0;
        for family in [libc::AF_INET, libc::AF_INET6] {
            found += destroy_listed(family as u8)?;
        }
        if found == 0 {
            return Ok(());
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// Whether this kernel destroys sockets (`CONFIG_INET_DIAG_DESTROY`).
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn can_destroy() -> io::Result<()> {
    let socket = open()?;
    // Nobody has port 0, so where it can, it finds no such socket.
    send(&socket, &request(libc::AF_INET as u8, SOCK_DESTROY, NLM_F_ACK))?;
    let mut answer = [0; 256];
    let length = receive(&socket, &mut answer)?;
    let code = answer[..length]
        .get(HEADER..HEADER + 4)
        .map_or(0, word)
        .cast_signed();
    match -code {
        0 | libc::ENOENT => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Destroys the sockets of a family and returns how many there were.
fn destroy_listed(family: u8) -> io::Result<u32> {
    let (list, orders) = (open()?, open()?);
    send(&list, &request(family, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP))?;
    let mut buffer = [0; 16 << 10];
    let mut found = 0;
    loop {
        let length = receive(&list, &mut buffer)?;
        let mut rest = &buffer[..length];
        while let Some(message) = next_message(&mut rest) {
            match half(&message[4..6]) {
                NLMSG_DONE => return Ok(found),
                NLMSG_ERROR => {
                    let code = message.get(HEADER..HEADER + 4).map_or(0, word).cast_signed();
                    // Without IPv6 in the kernel there are none of its sockets.
                    return if -code == libc::ENOENT {
                        Ok(found)
                    } else {
                        Err(io::Error::from_raw_os_error(-code))
                    };
                }
                SOCK_DIAG_BY_FAMILY => {
                    if let Some(id) = message.get(ID_IN_ANSWER..ID_IN_ANSWER + SOCKET_ID) {
                        let mut order = request(message[HEADER], SOCK_DESTROY, 0);
                        order[ID_IN_REQUEST..].copy_from_slice(id);
                        send(&orders, &order)?;
                        found += 1;
                    }
                }
                _ => {}
            }
        }
    }
}

fn request(family: u8, kind: u16, flags: u16) -> Request {
    let mut bytes = [0; REQUEST];
    bytes[0..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    bytes[6..8].copy_from_slice(&(NLM_F_REQUEST | flags).to_ne_bytes());
    bytes[HEADER] = family;
    bytes[HEADER + 1] = libc::IPPROTO_TCP as u8;
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&STATES.to_ne_bytes());
    bytes
}

/// Takes the first message with its header off `bytes`.
fn next_message<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = word(bytes.get(..4)?) as usize;
    let message = bytes.get(..length).filter(|message| message.len() > HEADER)?;
    *bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some(message)
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_ne_bytes)
}

fn half(bytes: &[u8]) -> u16 {
    bytes.try_into().map_or(0, u16::from_ne_bytes)
}

/// A socket towards the diagnosis of the calling thread's namespace.
fn open() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers; the new descriptor is nobody else's.
    unsafe {
        let fd: RawFd = libc::socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            NETLINK_SOCK_DIAG,
        );
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

fn send(socket: &OwnedFd, request: &Request) -> io::Result<()> {
    // SAFETY: the request is valid for its length.
    let sent = unsafe { libc::send(socket.as_raw_fd(), request.as_ptr().cast(), REQUEST, 0) };
    if sent < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        // SAFETY: the buffer is valid for its length.
        let length = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        if let Ok(length) = usize::try_from(length) {
            return Ok(length);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Attempt;
    use crate::{Error, Namespace};
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_listed_message_is_taken_with_its_padding() {
        let mut bytes = [0; 44];
        bytes[0] = 21;
        bytes[24] = 20;
        let mut rest = &bytes[..];
        assert_eq!(next_message(&mut rest).map(<[u8]>::len), Some(21));
        assert_eq!(next_message(&mut rest).map(<[u8]>::len), Some(20));
        assert_eq!(next_message(&mut rest), None);
    }

    #[test]
    fn a_message_longer_than_what_was_read_is_none() {
        let mut rest = &[64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..];
        assert_eq!(next_message(&mut rest), None);
    }

    #[test]
    fn listeners_and_connections_of_either_family_end_at_once() {
        let Ok(namespace) = Namespace::create() else {
            eprintln!("skipped: no network namespace can be made");
            return;
        };
        let connected = |address: &str| -> Result<(TcpListener, TcpStream, TcpStream), Error> {
            let listener = TcpListener::bind((address, 0)).attempt(|| "listen".into())?;
            let to = listener.local_addr().attempt(|| "name a port".into())?;
            let opened = TcpStream::connect(to).attempt(|| "connect".into())?;
            let (accepted, _) = listener.accept().attempt(|| "accept".into())?;
            Ok((listener, opened, accepted))
        };
        let (mut pairs, listed_after) = namespace
            .run(|| {
                let mut netlink = crate::netlink::Netlink::open().attempt(|| "open netlink".into())?;
                netlink
                    .set_up(1, None)
                    .attempt(|| "bring up the loopback".into())?;
                let pairs = [connected("127.0.0.1")?, connected("::1")?];
                destroy().attempt(|| "destroy sockets".into())?;
                let left = destroy_listed(libc::AF_INET as u8).attempt(|| "list sockets".into())?;
                Ok((pairs, left))
            })
            .unwrap();
        assert_eq!(listed_after, 0);
        for (_, opened, accepted) in &mut pairs {
            for socket in [opened, accepted] {
                let ended = socket.read(&mut [0]).unwrap_err();
                assert!(
                    matches!(
                        ended.kind(),
                        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
                    ),
                    "{ended}"
                );
            }
        }
    }
}
