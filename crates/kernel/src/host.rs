//! A host of the scenario: a network namespace with one device towards the path.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use crate::error::Attempt;
use crate::netlink::{Netlink, Prefix, RouteSettings};
use crate::{Error, Namespace, Tun, connections};

/// The network all hosts of a run share, IPv4 and IPv6.
const NETWORK_V4: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 0);
const NETWORK_V6: Ipv6Addr = Ipv6Addr::new(0xfd6c, 0x6173, 0x7468, 0, 0, 0, 0, 0);

/// Smaller devices carry no IPv6 (RFC 8200 section 5).
const IPV6_MIN_MTU: u32 = 1280;

/// Packets the device holds for the path before the stack is told to wait.
const DEVICE_QUEUE: u32 = 5_000;

/// The addresses of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// IPv4.
    pub v4: Ipv4Addr,
    /// IPv6.
    pub v6: Ipv6Addr,
}

impl Addresses {
    /// The `number`-th host (from 0) of group `group`.
    pub fn of(group: u8, number: u8) -> Self {
        let (group, number) = (group.saturating_add(1), number.saturating_add(1));
        let [a, b, c, ..] = NETWORK_V6.segments();
        let v6 = Ipv6Addr::new(a, b, c, 0, 0, 0, u16::from(group), u16::from(number));
        Self {
            v4: Ipv4Addr::new(10, 77, group, number),
            v6,
        }
    }
}

/// How a host's stack is set up.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// Its name on the run's network.
    pub name: String,
    /// Its addresses.
    pub addresses: Addresses,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// Whether the stack hands over whole bursts (TSO).
    pub offload: bool,
    /// What its connections start with.
    pub route: RouteSettings,
    /// Kernel settings below `/proc/sys/net`, as `("ipv4/tcp_sack", "1")`.
    /// They hold inside the namespace only.
    pub sysctls: Vec<(String, String)>,
}

/// A host that is ready for work.
#[derive(Debug)]
pub struct Host {
    /// Its settings.
    pub settings: HostSettings,
    /// Its namespace.
    pub namespace: Arc<Namespace>,
}

impl Host {
    /// Builds the host and the device that carries its packets.
    ///
    /// # Errors
    /// When the namespace or device cannot be made, or a setting is refused.
    pub fn build(settings: HostSettings) -> Result<(Self, Tun), Error> {
        let namespace = Arc::new(Namespace::create()?);
        let tun = namespace.run(|| set_up(&settings))?;
        Ok((Self { settings, namespace }, tun))
    }

    /// Where the namespace can be found while this process lives
    /// (`nsenter --net=…`).
    pub fn namespace_path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.namespace.as_raw_fd())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // Nobody answers any more: connections would wait for minutes, and the
        // namespace with them.
        let _ = self
            .namespace
            .run(|| connections::destroy().attempt(|| "end a host's connections".into()));
    }
}

fn set_up(settings: &HostSettings) -> Result<Tun, Error> {
    // Before the device exists: it must not greet routers or make up addresses.
    quiet_ipv6()?;
    for (name, value) in &settings.sysctls {
        write_sysctl(name, value)?;
    }
    let tun = Tun::open(settings.offload)?;
    let name = &settings.name;
    let mut netlink = Netlink::open().attempt(|| "open a netlink socket".into())?;
    netlink
        .set_up(LOOPBACK, None)
        .attempt(|| format!("bring up the loopback of {name}"))?;
    netlink
        .set_up(tun.index(), Some((settings.mtu, DEVICE_QUEUE)))
        .attempt(|| format!("bring up the device of {name} with MTU {}", settings.mtu))?;
    let v4 = Prefix {
        address: settings.addresses.v4.into(),
        bits: 32,
    };
    let v6 = Prefix {
        address: settings.addresses.v6.into(),
        bits: 128,
    };
    for (own, network) in [
        (
            v4,
            Prefix {
                address: NETWORK_V4.into(),
                bits: 16,
            },
        ),
        (
            v6,
            Prefix {
                address: NETWORK_V6.into(),
                bits: 64,
            },
        ),
    ] {
        if own.address.is_ipv6() && (!has_ipv6() || settings.mtu < IPV6_MIN_MTU) {
            continue;
        }
        netlink
            .add_address(tun.index(), own)
            .attempt(|| format!("give {name} the address {}", own.address))?;
        netlink
            .add_route(tun.index(), network, &settings.route)
            .attempt(|| format!("route {}/{} on {name}", network.address, network.bits))?;
    }
    Ok(tun)
}

/// The loopback is the first device of every namespace.
const LOOPBACK: u32 = 1;

fn has_ipv6() -> bool {
    fs::exists("/proc/sys/net/ipv6").unwrap_or(false)
}

fn quiet_ipv6() -> Result<(), Error> {
    if !has_ipv6() {
        return Ok(());
    }
    write_sysctl("ipv6/conf/default/router_solicitations", "0")?;
    write_sysctl("ipv6/conf/default/addr_gen_mode", "1")
}

/// Writes a kernel setting of the calling thread's namespace.
fn write_sysctl(name: &str, value: &str) -> Result<(), Error> {
    fs::write(format!("/proc/sys/net/{name}"), value)
        .attempt(|| format!("set net/{name} to {value} inside the host's namespace"))
}
