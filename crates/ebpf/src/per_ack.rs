//! The congestion control that counts ACKs.

use std::sync::atomic::{AtomicU32, Ordering};

use libbpf_rs::{ErrorKind, Link, MapType, Object};

use crate::Error;
use crate::object::PER_ACK;

/// Bytes of a congestion control's name with its terminator (`TCP_CA_NAME_MAX`).
const NAME_BYTES: usize = 16;

/// When the window grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// On every ACK of new data: the source's sender.
    #[default]
    Always,
    /// On every ACK of new data while the window limits the sender, as the
    /// kernel's own congestion controls do.
    WhenLimited,
}

/// A registered congestion control; unregistered when dropped.
///
/// Sockets that use it keep its programs loaded until they are gone, and one
/// closed with data unsent goes only after minutes of retransmissions, holding
/// its network namespace too. Close such sockets with a reset (`SO_LINGER` of
/// zero), or destroy them (`SOCK_DESTROY`).
#[derive(Debug)]
pub struct PerAck {
    _link: Link,
    _object: Object,
    name: String,
}

impl PerAck {
    /// Registers the congestion control under a name of its own. The registry
    /// is the whole kernel's, so the name holds the process id; a program
    /// selects it with the socket option `TCP_CONGESTION`.
    ///
    /// # Errors
    /// When the kernel refuses it: without root, without BTF or `struct_ops`.
    pub fn register(growth: Growth) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Another process-id namespace may use the same names.
        const ATTEMPTS: u32 = 64;
        let mut refused = None;
        for _ in 0..ATTEMPTS {
            let serial = NEXT.fetch_add(1, Ordering::Relaxed) % 0x10_0000;
            let name = format!("lh_{:x}_{serial:x}", std::process::id());
            match Self::register_as(&name, growth) {
                Err(Error::Attach { program, reason }) if reason.kind() == ErrorKind::AlreadyExists => {
                    refused = Some(Error::Attach { program, reason });
                }
                result => return result,
            }
        }
        refused.map_or_else(
            || {
                Err(Error::Mismatch {
                    object: PER_ACK.name,
                    what: "free name",
                })
            },
            Err,
        )
    }

    fn register_as(name: &str, growth: Growth) -> Result<Self, Error> {
        let mut open = PER_ACK.open()?;
        PER_ACK.set_initial(&mut open, ".rodata", &[u8::from(growth == Growth::WhenLimited)])?;
        let mut bytes = [0; NAME_BYTES];
        bytes
            .get_mut(..name.len())
            .filter(|_| name.len() < NAME_BYTES)
            .ok_or(Error::Mismatch {
                object: PER_ACK.name,
                what: "name",
            })?
            .copy_from_slice(name.as_bytes());
        PER_ACK.set_initial(&mut open, "per_ack", &bytes)?;
        let mut object = PER_ACK.load(open)?;
        let link = object
            .maps_mut()
            .find(|map| libbpf_rs::MapCore::map_type(map) == MapType::StructOps)
            .ok_or(Error::Mismatch {
                object: PER_ACK.name,
                what: "per_ack",
            })?
            .attach_struct_ops()
            .map_err(|reason| Error::Attach {
                program: "per_ack",
                reason,
            })?;
        Ok(Self {
            _link: link,
            _object: object,
            name: name.to_owned(),
        })
    }

    /// The name to select it by.
    pub fn name(&self) -> &str {
        &self.name
    }
}
