//! The few rtnetlink requests a host needs, blocking, one answer each.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// An address with the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub bits: u8,
}

/// What a route asks of the connections that use it. `None` keeps the kernel's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteSettings {
    /// Initial congestion window in segments (`initcwnd`).
    pub initial_window: Option<u32>,
    /// Initial receive window in segments (`initrwnd`).
    pub initial_receive_window: Option<u32>,
    /// Acknowledge every segment at once (`quickack`).
    pub quick_ack: bool,
    /// Smallest retransmission timeout in milliseconds (`rto_min`).
    pub rto_min_ms: Option<u32>,
    /// Advertised maximum segment size in bytes (`advmss`).
    pub advertised_mss: Option<u32>,
}

impl RouteSettings {
    fn metrics(&self) -> Vec<RouteMetric> {
        let mut metrics = Vec::new();
        metrics.extend(self.initial_window.map(RouteMetric::InitCwnd));
        metrics.extend(self.initial_receive_window.map(RouteMetric::InitRwnd));
        metrics.extend(self.quick_ack.then_some(RouteMetric::QuickAck(1)));
        metrics.extend(self.rto_min_ms.map(RouteMetric::RtoMin));
        metrics.extend(self.advertised_mss.map(RouteMetric::Advmss));
        metrics
    }
}

/// A netlink socket in the namespace of the thread that opened it.
pub(crate) struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Brings a link up, with an MTU and a transmit queue length in packets.
    pub(crate) fn set_up(&mut self, index: u32, shape: Option<(u32, u32)>) -> io::Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        if let Some((mtu, queue)) = shape {
            link.attributes.push(LinkAttribute::Mtu(mtu));
            link.attributes.push(LinkAttribute::TxQueueLen(queue));
        }
        self.request(RouteNetlinkMessage::SetLink(link), 0)
    }

    /// Gives a link an address, usable at once (no duplicate detection).
    pub(crate) fn add_address(&mut self, index: u32, own: Prefix) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(own.address);
        message.header.prefix_len = own.bits;
        message.header.flags = AddressHeaderFlags::Nodad;
        message.header.scope = AddressScope::Universe;
        message.header.index = index;
        message.attributes.push(AddressAttribute::Local(own.address));
        message.attributes.push(AddressAttribute::Address(own.address));
        self.request(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Routes a prefix to a link.
    pub(crate) fn add_route(&mut self, index: u32, to: Prefix, settings: &RouteSettings) -> io::Result<()> {
        let mut route = RouteMessage::default();
        route.header.address_family = family(to.address);
        route.header.destination_prefix_length = to.bits;
        route.header.table = RouteHeader::RT_TABLE_MAIN;
        route.header.protocol = RouteProtocol::Static;
        route.header.scope = if to.address.is_ipv4() {
            RouteScope::Link
        } else {
            RouteScope::Universe
        };
        route.header.kind = RouteType::Unicast;
        let destination = match to.address {
            IpAddr::V4(address) => RouteAddress::Inet(address),
            IpAddr::V6(address) => RouteAddress::Inet6(address),
        };
        route.attributes.push(RouteAttribute::Destination(destination));
        route.attributes.push(RouteAttribute::Oif(index));
        let metrics = settings.metrics();
        if !metrics.is_empty() {
            route.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.request(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE | NLM_F_REPLACE)
    }

    fn request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut packet = NetlinkMessage::from(message);
        packet.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        packet.header.sequence_number = self.sequence;
        packet.finalize();
        let mut buffer = vec![0; packet.buffer_len()];
        packet.serialize(&mut buffer);
        self.socket.send(&buffer, 0)?;
        loop {
            let (answer, _) = self.socket.recv_from_full()?;
            let answer =
                NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer).map_err(io::Error::other)?;
            if answer.header.sequence_number != self.sequence {
                continue;
            }
            if let NetlinkPayload::Error(error) = answer.payload {
                return if error.code.is_none() {
                    Ok(())
                } else {
                    Err(error.to_io())
                };
            }
        }
    }
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::Inet
    } else {
        AddressFamily::Inet6
    }
}
