//! TUN devices: where real IP packets leave and enter a host.
//!
//! Devices are not persistent, so they vanish with their last descriptor.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

use crate::Error;
use crate::error::Attempt;

/// The name every host's device has in its own namespace.
pub const DEVICE_NAME: &str = "lasthop0";

/// Bytes of the header that precedes each packet (`struct virtio_net_hdr`).
pub(crate) const VNET_HEADER_BYTES: usize = 10;

/// Offloads a device promises to take care of, `TUN_F_*` in `linux/if_tun.h`.
const TUN_F_CSUM: libc::c_ulong = 0x01;
const TUN_F_TSO4: libc::c_ulong = 0x02;
const TUN_F_TSO6: libc::c_ulong = 0x04;

mod calls {
    use nix::libc;
    nix::ioctl_write_ptr_bad!(set_interface, libc::TUNSETIFF, libc::ifreq);
    nix::ioctl_write_int_bad!(set_offload, libc::TUNSETOFFLOAD);
    nix::ioctl_write_ptr_bad!(set_header_size, libc::TUNSETVNETHDRSZ, libc::c_int);
}

/// An open TUN device; reads and writes never block.
#[derive(Debug)]
pub struct Tun {
    file: File,
    index: u32,
}

impl Tun {
    /// Creates the device in the calling thread's network namespace. With
    /// `offload` the stack hands over whole TCP bursts instead of packets.
    ///
    /// # Errors
    /// When `/dev/net/tun` is missing or may not be used.
    pub fn open(offload: bool) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .attempt(|| "open /dev/net/tun".into())?;
        // SAFETY: all zeroes is a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (slot, byte) in request.ifr_name.iter_mut().zip(DEVICE_NAME.bytes()) {
            *slot = byte.cast_signed();
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        let fd = file.as_raw_fd();
        let header: libc::c_int = (VNET_HEADER_BYTES as u8).into();
        let features = if offload {
            TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6
        } else {
            0
        };
        // SAFETY: the descriptor is open and both pointers are valid for the calls.
        unsafe {
            calls::set_interface(fd, &raw const request).attempt(|| "create a TUN device".into())?;
            calls::set_header_size(fd, &raw const header).attempt(|| "set the TUN header size".into())?;
            calls::set_offload(fd, features as libc::c_int).attempt(|| "set the TUN offloads".into())?;
        }
        let index =
            nix::net::if_::if_nametoindex(DEVICE_NAME).attempt(|| "find the new TUN device".into())?;
        Ok(Self { file, index })
    }

    /// The device's index in its namespace.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Reads one packet with its header; `None` when none waits.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match io::Read::read(&mut &self.file, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes one packet after its header.
    pub(crate) fn write(&self, header: &[u8; VNET_HEADER_BYTES], packet: &[&[u8]]) -> io::Result<()> {
        let mut slices = [io::IoSlice::new(header); MAX_PIECES + 1];
        for (slot, piece) in slices[1..].iter_mut().zip(packet) {
            *slot = io::IoSlice::new(piece);
        }
        let used = 1 + packet.len().min(MAX_PIECES);
        io::Write::write_vectored(&mut &self.file, &slices[..used]).map(drop)
    }
}

/// The most pieces one written packet may be made of.
pub(crate) const MAX_PIECES: usize = 64;

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
