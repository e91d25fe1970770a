//! TUN devices, packet sockets, checksum offload.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

fn request(name: &str) -> libc::ifreq {
    // SAFETY: all zeroes is a valid value of this C structure.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from.cast_signed();
    }
    request
}

/// A TUN device of the calling thread's namespace, gone with this value.
pub struct Tun(File);

impl Tun {
    /// Makes a device; it still has to be set up.
    pub fn new(name: &str) -> Self {
        let file = File::options()
            .read(true)
            .write(true)
            .open("/dev/net/tun")
            .expect("/dev/net/tun");
        let mut request = request(name);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes one ifreq.
        let made = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
        assert_eq!(made, 0, "TUNSETIFF: {}", io::Error::last_os_error());
        Self(file)
    }

    /// Hands the kernel a packet, as if it had arrived; processed on return.
    pub fn inject(&self, packet: &[u8]) {
        assert_eq!((&self.0).write(packet).expect("write to TUN"), packet.len());
    }

    /// The next packet the kernel sent out, if one comes within `patience`.
    pub fn receive(&self, patience: Duration) -> Option<Vec<u8>> {
        let mut poll = libc::pollfd {
            fd: self.0.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid pollfd.
        let ready = unsafe { libc::poll(&raw mut poll, 1, patience.as_millis() as libc::c_int) };
        if ready <= 0 {
            return None;
        }
        let mut bytes = vec![0; 65536];
        let length = (&self.0).read(&mut bytes).ok()?;
        bytes.truncate(length);
        Some(bytes)
    }

    /// What the kernel has sent out by now.
    pub fn drain(&self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.receive(Duration::ZERO)).collect()
    }
}

/// A packet socket on an interface of the calling thread's namespace.
pub struct PacketSocket {
    fd: OwnedFd,
    ifindex: u32,
}

impl PacketSocket {
    /// Opens a socket that sees all frames of the interface, from the IP header on.
    pub fn new(ifindex: u32) -> Self {
        let everything = (libc::ETH_P_ALL as u16).to_be();
        // SAFETY: plain system calls with valid arguments; the descriptor is new.
        let fd = unsafe {
            let fd = libc::socket(
                libc::AF_PACKET,
                libc::SOCK_DGRAM | libc::SOCK_CLOEXEC,
                i32::from(everything),
            );
            assert!(fd >= 0, "packet socket: {}", io::Error::last_os_error());
            OwnedFd::from_raw_fd(fd)
        };
        let socket = Self { fd, ifindex };
        let address = socket.address(everything);
        let room: libc::c_int = 64 << 20;
        // SAFETY: pointers and lengths describe live values.
        unsafe {
            let bound = libc::bind(
                socket.fd.as_raw_fd(),
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            );
            assert_eq!(bound, 0, "bind: {}", io::Error::last_os_error());
            libc::setsockopt(
                socket.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_RCVBUFFORCE,
                (&raw const room).cast(),
                size_of::<libc::c_int>() as u32,
            );
        }
        socket
    }

    fn address(&self, protocol: u16) -> libc::sockaddr_ll {
        // SAFETY: all zeroes is a valid value of this C structure.
        let mut address: libc::sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = self.ifindex.cast_signed();
        address
    }

    /// Sends an IP packet out of the interface, through its egress hook.
    pub fn send(&self, packet: &[u8]) {
        let ethertype = if packet[0] >> 4 == 4 {
            libc::ETH_P_IP
        } else {
            libc::ETH_P_IPV6
        };
        let address = self.address((ethertype as u16).to_be());
        // SAFETY: pointers and lengths describe live values.
        let sent = unsafe {
            libc::sendto(
                self.fd.as_raw_fd(),
                packet.as_ptr().cast(),
                packet.len(),
                0,
                (&raw const address).cast(),
                size_of::<libc::sockaddr_ll>() as u32,
            )
        };
        assert_eq!(
            sent,
            packet.len().cast_signed(),
            "sendto: {}",
            io::Error::last_os_error()
        );
    }

    /// The packets that have arrived by now (not those sent).
    pub fn arrived(&self) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let mut bytes = vec![0u8; 65536];
        loop {
            let mut from = self.address(0);
            let mut from_bytes = size_of::<libc::sockaddr_ll>() as u32;
            // SAFETY: pointers and lengths describe live values.
            let length = unsafe {
                libc::recvfrom(
                    self.fd.as_raw_fd(),
                    bytes.as_mut_ptr().cast(),
                    bytes.len(),
                    libc::MSG_DONTWAIT,
                    (&raw mut from).cast(),
                    &raw mut from_bytes,
                )
            };
            let Ok(length) = usize::try_from(length) else {
                break;
            };
            if from.sll_pkttype != libc::PACKET_OUTGOING {
                packets.push(bytes[..length].to_vec());
            }
        }
        assert_eq!(self.dropped(), 0, "the packet socket's buffer was too small");
        packets
    }

    fn dropped(&self) -> u32 {
        let mut stats = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let mut bytes = size_of::<libc::tpacket_stats>() as u32;
        // SAFETY: the option fills one tpacket_stats.
        unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut stats).cast(),
                &raw mut bytes,
            );
        }
        stats.tp_drops
    }
}

/// Has an interface of the calling thread's namespace send finished checksums,
/// so that a capture can check them.
pub fn checksum_offload_off(name: &str) {
    const SIOCETHTOOL: libc::c_ulong = 0x8946;
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    // ETHTOOL_STXCSUM
    let mut value = Value {
        command: 0x17,
        data: 0,
    };
    let mut request = request(name);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    // SAFETY: SIOCETHTOOL reads the ifreq and the value it points to.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    assert_eq!(done, 0, "ETHTOOL_STXCSUM: {}", io::Error::last_os_error());
}
