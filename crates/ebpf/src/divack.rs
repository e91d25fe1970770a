//! Divided ACKs on an interface's egress.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libbpf_rs::{Link, Object, TC_EGRESS, TC_INGRESS, TcAttachPoint, TcHookBuilder, libbpf_sys};

use crate::Error;
use crate::netns::{link_header_bytes, within};
use crate::object::{DIVACK, attach_tcx};

/// The most divacks before one full ACK; a higher count is lowered to it.
pub const MAX_COUNT: u32 = 64;

/// Connections remembered at once; beyond it the one unused for longest is
/// forgotten, and its next ACK passes undivided.
const MAX_FLOWS: u32 = 4096;

const ACKS: &str = "divack_acks";
const DATA: &str = "divack_data";

/// How ACKs are divided. The names are those of the user-space agent `divacks`,
/// whose rules are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DivackSettings {
    /// Divacks before each full ACK, the source's `tcp_divack` or *n*: 0 (off)
    /// to [`MAX_COUNT`].
    pub count: u32,
    /// `Some` is Controlled: after this many divacks of a connection its ACKs
    /// pass undivided (`tcp_divack_max_count`). `None` is Brute Force.
    pub max_count: Option<u64>,
    /// `Some`: an ACK that leaves later than this after the connection's last
    /// data is the delayed-ACK timer's, and is not divided. `None` divides all.
    pub immediate_within: Option<Duration>,
}

impl DivackSettings {
    /// `struct settings` of bpf/divack.h.
    fn encode(self, link_header_bytes: u32) -> [u8; 32] {
        // Zero would switch the check off.
        let immediate = self.immediate_within.map_or(0, |span| {
            u64::try_from(span.as_nanos()).unwrap_or(u64::MAX).max(1)
        });
        let mut bytes = [0; 32];
        bytes[0..8].copy_from_slice(&self.max_count.unwrap_or(0).to_ne_bytes());
        bytes[8..16].copy_from_slice(&immediate.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.count.min(MAX_COUNT).to_ne_bytes());
        bytes[20..24].copy_from_slice(&u32::from(self.max_count.is_some()).to_ne_bytes());
        bytes[24..28].copy_from_slice(&link_header_bytes.to_ne_bytes());
        bytes
    }
}

/// What the program has done since it was attached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Divacks sent.
    pub divided_acks: u64,
    /// ACKs divided.
    pub divisions: u64,
    /// Divacks lost on the way out: no memory, or the device's queue was full.
    pub clone_errors: u64,
}

/// What the program has done for one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowTally {
    /// Where its ACKs come from.
    pub source: SocketAddr,
    /// Where they go.
    pub destination: SocketAddr,
    /// Divacks sent.
    pub divided_acks: u64,
}

impl FlowTally {
    /// `struct flow_key` and `struct tally` of bpf/divack.h.
    fn decode(key: &[u8], value: &[u8]) -> Option<Self> {
        let key: &[u8; 36] = key.try_into().ok()?;
        let end = |address: usize, port: usize| -> Option<SocketAddr> {
            let address: [u8; 16] = key[address..address + 16].try_into().ok()?;
            let port = u16::from_be_bytes(key[port..port + 2].try_into().ok()?);
            Some(SocketAddr::new(
                IpAddr::from(Ipv6Addr::from(address)).to_canonical(),
                port,
            ))
        };
        Some(Self {
            source: end(0, 32)?,
            destination: end(16, 34)?,
            divided_acks: u64::from_ne_bytes(value.try_into().ok()?),
        })
    }
}

/// The kernel's two ways to run a program on an interface's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// Linux 6.6 and later. Goes away with the process, however it ends.
    Tcx,
    /// Earlier kernels. A killed process leaves it until the interface or its
    /// namespace goes.
    Clsact,
}

/// The program on an interface; detached when dropped.
#[derive(Debug)]
pub struct Divack {
    // Detached before the program goes.
    attached: Attached,
    object: Object,
    link_header_bytes: u32,
}

#[derive(Debug)]
enum Attached {
    Tcx { _links: [Link; 2] },
    Clsact { _filters: Filters },
}

impl Divack {
    /// Divides the ACKs that leave through an interface, in the network
    /// namespace `netns` (`None`: the calling thread's). Uses tcx, or clsact
    /// where the kernel has no tcx. The link type is found out.
    ///
    /// # Errors
    /// When the kernel refuses the program or the interface does not exist.
    pub fn attach(
        netns: Option<BorrowedFd<'_>>,
        ifindex: u32,
        settings: DivackSettings,
    ) -> Result<Self, Error> {
        match Self::attach_by(Hook::Tcx, netns, ifindex, settings) {
            Err(Error::Attach { .. }) => Self::attach_by(Hook::Clsact, netns, ifindex, settings),
            result => result,
        }
    }

    /// As [`Divack::attach`], by the given hook.
    ///
    /// # Errors
    /// As [`Divack::attach`], and when the kernel lacks the hook.
    pub fn attach_by(
        hook: Hook,
        netns: Option<BorrowedFd<'_>>,
        ifindex: u32,
        settings: DivackSettings,
    ) -> Result<Self, Error> {
        let link_header_bytes = within(netns, || link_header_bytes(ifindex))?;
        let mut open = DIVACK.open()?;
        DIVACK.set_entries(&mut open, "flows", MAX_FLOWS)?;
        let object = DIVACK.load(open)?;
        write_settings(&object, settings, link_header_bytes)?;
        let attached = match hook {
            Hook::Tcx => Attached::Tcx {
                _links: within(netns, || attach_links(&object, ifindex))?,
            },
            Hook::Clsact => attach_filters(&object, netns, ifindex)?,
        };
        Ok(Self {
            attached,
            object,
            link_header_bytes,
        })
    }

    /// Changes the settings; they hold from the next ACK on, counts go on.
    ///
    /// # Errors
    /// When the map cannot be written.
    pub fn set(&self, settings: DivackSettings) -> Result<(), Error> {
        write_settings(&self.object, settings, self.link_header_bytes)
    }

    /// What has been done so far, over all connections.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn counters(&self) -> Result<Counters, Error> {
        let bytes: [u8; 24] = DIVACK.read_first(&self.object, "counters")?;
        let [divided_acks, divisions, clone_errors] = std::array::from_fn(|index| {
            u64::from_ne_bytes(std::array::from_fn(|byte| bytes[index * 8 + byte]))
        });
        Ok(Counters {
            divided_acks,
            divisions,
            clone_errors,
        })
    }

    /// Divacks of each flow whose ACKs were divided, those of several
    /// connections of the same addresses and ports together. At most 16,384
    /// flows are counted apart; [`Divack::counters`] has all.
    ///
    /// # Errors
    /// When the map cannot be read.
    pub fn flows(&self) -> Result<Vec<FlowTally>, Error> {
        let mismatch = Error::Mismatch {
            object: DIVACK.name,
            what: "tallies",
        };
        let entries = DIVACK.entries(&self.object, "tallies")?;
        let flows = entries.iter().map(|(key, value)| FlowTally::decode(key, value));
        flows.collect::<Option<_>>().ok_or(mismatch)
    }

    /// By which hook the program runs.
    pub fn hook(&self) -> Hook {
        match self.attached {
            Attached::Tcx { .. } => Hook::Tcx,
            Attached::Clsact { .. } => Hook::Clsact,
        }
    }
}

fn write_settings(object: &Object, settings: DivackSettings, link_header_bytes: u32) -> Result<(), Error> {
    DIVACK.write(
        object,
        "settings",
        &0u32.to_ne_bytes(),
        &settings.encode(link_header_bytes),
    )
}

fn attach_links(object: &Object, ifindex: u32) -> Result<[Link; 2], Error> {
    Ok([
        attach_tcx(&DIVACK.program(object, ACKS)?, ACKS, ifindex)?,
        attach_tcx(&DIVACK.program(object, DATA)?, DATA, ifindex)?,
    ])
}

fn attach_filters(object: &Object, netns: Option<BorrowedFd<'_>>, ifindex: u32) -> Result<Attached, Error> {
    let kept = netns.map(|netns| netns.try_clone_to_owned()).transpose();
    let kept = kept.map_err(|reason| Error::System {
        what: "keeping the network namespace",
        reason,
    })?;
    // Filled step by step: what is attached when a later step fails is detached.
    let mut filters = Filters {
        attached: Vec::new(),
        ifindex,
        netns: kept,
    };
    for (point, name) in [(TC_EGRESS, ACKS), (TC_INGRESS, DATA)] {
        let program = DIVACK.program(object, name)?;
        let program = program.as_fd();
        filters.attached.push(within(netns, || {
            let interface = i32::try_from(ifindex).unwrap_or(-1);
            let mut hook = TcHookBuilder::new(program).ifindex(interface).hook(point);
            let hook = hook.create().and_then(|mut hook| hook.attach());
            let hook = hook.map_err(|reason| Error::Attach {
                program: name,
                reason,
            })?;
            Ok((point, hook.get_handle(), hook.get_priority()))
        })?);
    }
    Ok(Attached::Clsact { _filters: filters })
}

/// Filters on the clsact qdisc: hook point, handle and priority.
#[derive(Debug)]
struct Filters {
    attached: Vec<(TcAttachPoint, u32, u32)>,
    ifindex: u32,
    netns: Option<OwnedFd>,
}

impl Drop for Filters {
    fn drop(&mut self) {
        // The qdisc stays: others may have filters on it. A failure means that
        // the interface is gone, and the filters with it.
        let _ = within(self.netns.as_ref().map(AsFd::as_fd), || {
            for &(attach_point, handle, priority) in &self.attached {
                let hook = libbpf_sys::bpf_tc_hook {
                    sz: size_of::<libbpf_sys::bpf_tc_hook>() as _,
                    ifindex: i32::try_from(self.ifindex).unwrap_or(-1),
                    attach_point,
                    ..Default::default()
                };
                let which = libbpf_sys::bpf_tc_opts {
                    sz: size_of::<libbpf_sys::bpf_tc_opts>() as _,
                    handle,
                    priority,
                    ..Default::default()
                };
                // SAFETY: both structures live through the call and carry their sizes.
                unsafe { libbpf_sys::bpf_tc_detach(&raw const hook, &raw const which) };
            }
            Ok(())
        });
    }
}
