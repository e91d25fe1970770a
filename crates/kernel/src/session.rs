//! A scenario's world in motion: its hosts exist, its path carries packets.

use std::ffi::CString;
use std::fmt::Write;
use std::io;
use std::net::IpAddr;

use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Child;
use std::sync::Arc;

use lasthop_ebpf::{Growth, PerAck, netns_inode};
use lasthop_network::{Captures, Network, PacketLog, Route, Watch};
use lasthop_path::QueuedFrames;
use lasthop_record::Log;
use lasthop_scenario::spec::{Side, World};
use lasthop_tcp::IpVersion;

use crate::capability::capability;
use crate::control::{ControlSocket, Radios};
use crate::driver::{Driver, Punctuality, Settings};
use crate::error::Attempt;
use crate::in_kernel::{Divacks, attach, split_agents};
use crate::options::Options;
use crate::path::{WorldPath, sends};
use crate::recorder::{MAX_ROWS, Recorder};
use crate::routed::{MAX_FLOWS, Routes, Standing};
use crate::run_dir::HANDLES;
use crate::spool::Spool;
use crate::stack::{Control, Refusal, Stack};
use crate::status::Status;
use crate::window_clamp::WindowClamp;
use crate::workload::{EndPlan, SocketOptions};
use crate::{Addresses, Clock, Error, Host, HostSettings, Keeper, Program, RunDir, Tun, namespace_handle};

/// A host with what its programs need to know.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) host: Host,
    pub(crate) group: usize,
    pub(crate) in_group: u32,
    pub(crate) side: Side,
    pub(crate) options: SocketOptions,
    /// The namespace's inode, which names it in traces.
    pub(crate) inode: u32,
    /// The index of its device.
    pub(crate) device: u32,
}

/// Hosts and path of one world. Dropping it removes everything.
pub struct Session {
    // Dropped in this order: programs, then the path, then what they ran on.
    keeper: Keeper,
    driver: Option<Driver<WorldPath>>,
    /// The path before it is set in motion.
    idle: Option<(WorldPath, Vec<Tun>)>,
    radios: Option<Radios>,
    control: Option<ControlSocket>,
    settings: Settings,
    pub(crate) divacks: Divacks,
    pub(crate) seats: Vec<Seat>,
    per_ack: Option<PerAck>,
    /// Writes the captures.
    spool: Option<Spool>,
    clock: Clock,
    run: RunDir,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("run", &self.run)
            .field("seats", &self.seats)
            .finish_non_exhaustive()
    }
}

/// What is left of a session when it ends.
pub(crate) struct Ended {
    pub(crate) path: WorldPath,
    pub(crate) punctuality: Punctuality,
    /// Packets missing in the captures because the disk did not keep up.
    pub(crate) uncaptured: u64,
}

impl Session {
    /// Builds the hosts of `world`; [`Session::begin`] sets its path in motion.
    /// `flows` are the routes of the built-in workloads' flows.
    pub(crate) fn open_with(
        world: &World,
        flows: Vec<Route>,
        seed: u64,
        options: &Options,
    ) -> Result<Self, Error> {
        capability(world)?;
        if flows.len() > MAX_FLOWS {
            return Err(Refusal::new(format!("more than {MAX_FLOWS} flows")).into());
        }
        let (world, in_kernel) = split_agents(world, options.ebpf);
        let run = RunDir::create()?;
        let per_ack = register(&world)?;
        let (seats, tuns) = seat_hosts(&world, per_ack.as_ref(), options)?;
        let namespaces_of = seats.iter().map(|seat| seat.host.namespace.as_fd());
        run.write(HANDLES, &namespace_handle::listed(namespaces_of))?;
        let names = run.path().join("hosts");
        let keeper = Keeper::start(
            &run,
            seats.iter().map(|seat| &seat.host),
            CString::new(names.as_os_str().as_bytes()).ok(),
        )?;
        let divacks = attach(&seats, &in_kernel)?;
        run.write("hosts", &hosts_file(&seats))?;
        run.write("namespaces", &namespaces(&seats))?;
        let flow_count = flows.len();
        let routes = routes(&world, &seats, flows);
        let log = world.record.packets;
        let log = log.then(|| PacketLog::new(Log::limited(MAX_ROWS), flow_count));
        let (captures, spool) = captures(&world, options.captures.as_deref())?.unzip();
        let watch = Watch::new(&world, &routes.list, log, captures);
        let mut network = Network::new(&world, routes.list.clone(), 0, seed)
            .map_err(|error| Refusal::new(error.to_string()))?;
        network.report_attempts(world.record.mac);
        let recorder = Recorder::new(watch, flow_count);
        Ok(Self {
            keeper,
            driver: None,
            idle: Some((WorldPath::new(network, routes, recorder), tuns)),
            radios: Radios::of(&world),
            control: None,
            settings: options.driver,
            divacks,
            seats,
            per_ack,
            spool,
            clock: Clock::start(),
            run,
        })
    }

    /// Starts the run's clock and sets the path in motion.
    pub(crate) fn begin(&mut self) -> Result<Clock, Error> {
        if let Some((path, tuns)) = self.idle.take() {
            self.clock = Clock::start();
            let driver = Driver::start(path, tuns, self.clock, self.settings)?;
            let commander = driver.commander().clone();
            self.driver = Some(driver);
            self.control = Some(ControlSocket::start(&self.run, commander, self.radios.take())?);
        }
        Ok(self.clock)
    }

    /// Builds the hosts of `world` and sets its path in motion, without its
    /// workloads: for programs of the user's own.
    ///
    /// # Errors
    /// When the kernel cannot play the scenario or this user may not build it.
    pub fn open(world: &World, seed: u64, options: &Options) -> Result<Self, Error> {
        let mut session = Self::open_with(world, Vec::new(), seed, options)?;
        session.begin()?;
        Ok(session)
    }

    /// The run's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The run's name.
    pub fn name(&self) -> &str {
        self.run.name()
    }

    /// Names of the hosts with their addresses; groups of one are called by
    /// the group's name, others `name-1`, `name-2`, …
    pub fn hosts(&self) -> Vec<(&str, Addresses)> {
        self.seats
            .iter()
            .map(|seat| (seat.host.settings.name.as_str(), seat.host.settings.addresses))
            .collect()
    }

    /// Starts a program in the host of that name.
    ///
    /// # Errors
    /// When there is no such host or the program cannot be started.
    pub fn spawn(&self, host: &str, program: Program) -> Result<Child, Error> {
        self.spawn_at(self.seat_called(host)?, program)
    }

    /// Starts a program in the host of that index.
    pub(crate) fn spawn_at(&self, seat: usize, program: Program) -> Result<Child, Error> {
        self.keeper.spawn(&self.seats[seat].host, program)
    }

    fn seat_called(&self, host: &str) -> Result<usize, Error> {
        self.seats
            .iter()
            .position(|seat| seat.host.settings.name == host)
            .ok_or_else(|| Error::Unavailable(format!("the scenario has no host {host:?}")))
    }

    /// The end of a flow at the host of that name.
    pub(crate) fn end_of(&self, host: &str, ip: IpVersion) -> Result<EndPlan, Error> {
        Ok(self.end(self.seat_called(host)?, ip))
    }

    /// Takes a station's radio down or up now; clients are counted from 1.
    pub fn set_radio(&self, station: u32, up: bool, queued: QueuedFrames) {
        if let Some(driver) = &self.driver {
            driver
                .commander()
                .tell(move |path, now| path.set_radio(now, station, up, queued));
        }
    }

    /// What the path looks like now.
    ///
    /// # Errors
    /// When the path has stopped.
    pub fn status(&self) -> Result<Status, Error> {
        let Some(driver) = &self.driver else {
            return Err(Error::Panicked("path"));
        };
        driver.commander().ask(|path, now| Status::of(path, now))
    }

    /// One end of a flow, for the built-in workloads.
    pub(crate) fn end(&self, seat: usize, ip: IpVersion) -> EndPlan {
        let seat = &self.seats[seat];
        let Addresses { v4, v6 } = seat.host.settings.addresses;
        EndPlan {
            namespace: Arc::clone(&seat.host.namespace),
            address: match ip {
                IpVersion::V4 => v4.into(),
                IpVersion::V6 => v6.into(),
            },
            options: seat.options.clone(),
        }
    }

    /// Index of a host.
    pub(crate) fn seat(&self, group: usize, in_group: u32) -> usize {
        let meant = |seat: &Seat| seat.group == group && seat.in_group == in_group;
        self.seats.iter().position(meant).unwrap_or(0)
    }

    /// ACKs the receivers' stacks coalesced while their programs held the socket.
    pub(crate) fn backlog_coalesced(&self) -> u64 {
        self.seats
            .iter()
            .filter_map(|seat| tcp_ext(&seat.host, &["TCPBacklogCoalesce"]))
            .sum()
    }

    /// The sum of TCP counters (`TcpExt`) of the host of that index; `None`
    /// where its kernel does not have them all.
    pub(crate) fn tcp_counters(&self, seat: usize, counters: &[&str]) -> Option<u64> {
        tcp_ext(&self.seats[seat].host, counters)
    }

    /// Whether a sender here counts every ACK.
    pub fn counts_every_ack(&self) -> bool {
        self.per_ack.is_some()
    }

    /// Stops the path and finishes its captures.
    pub(crate) fn end_path(&mut self) -> Result<Ended, Error> {
        self.control = None;
        let driver = self.driver.take().ok_or(Error::Panicked("path"))?;
        let (mut path, punctuality) = driver.stop()?;
        let watch = path.recorder.watch.as_mut();
        let finished = watch
            .and_then(|watch| watch.captures.take())
            .map_or(Ok(()), Captures::finish);
        // Where the spool knows what went wrong, it says more.
        let uncaptured = self.spool.take().map_or(Ok(0), Spool::finish)?;
        finished.attempt(|| "write the captures".into())?;
        Ok(Ended {
            path,
            punctuality,
            uncaptured,
        })
    }
}

fn register(world: &World) -> Result<Option<PerAck>, Error> {
    for host in &world.hosts {
        if let Control::PerAck { when_limited } = Stack::of(host)?.control {
            let growth = if when_limited {
                Growth::WhenLimited
            } else {
                Growth::Always
            };
            let registered = PerAck::register(growth).map_err(|error| {
                Error::Unavailable(format!(
                    "host {:?} counts every ACK, which needs a BPF congestion control: {error}",
                    host.name
                ))
            })?;
            return Ok(Some(registered));
        }
    }
    Ok(None)
}

/// The captures of a run and who writes them.
fn captures(world: &World, directory: Option<&Path>) -> Result<Option<(Captures, Spool)>, Error> {
    let Some(directory) = directory else {
        return Ok(None);
    };
    let spool = Spool::start()?;
    let create = |name: &str| -> io::Result<Box<dyn io::Write + Send>> {
        Ok(Box::new(spool.file(&directory.join(format!("{name}.pcapng")))?))
    };
    let captures =
        Captures::create(world, create).attempt(|| format!("write captures into {}", directory.display()))?;
    Ok(Some((captures, spool)))
}

fn seat_hosts(
    world: &World,
    per_ack: Option<&PerAck>,
    options: &Options,
) -> Result<(Vec<Seat>, Vec<Tun>), Error> {
    let (mut seats, mut tuns) = (Vec::new(), Vec::new());
    for (group, spec) in world.hosts.iter().enumerate() {
        let stack = Stack::of(spec)?;
        for in_group in 0..spec.count {
            let name = if spec.count == 1 {
                spec.name.clone()
            } else {
                format!("{}-{}", spec.name, in_group + 1)
            };
            let congestion_control = match (&stack.control, per_ack) {
                (Control::Named(name), _) => name.clone(),
                (Control::PerAck { .. }, Some(registered)) => registered.name().to_owned(),
                (Control::PerAck { .. }, None) => "reno".to_owned(),
            };
            let (host, tun) = Host::build(HostSettings {
                name,
                addresses: Addresses::of(group as u8, in_group as u8),
                mtu: stack.mtu,
                offload: options.offload,
                route: stack.route,
                sysctls: stack.sysctls.clone(),
            })?;
            let inode = netns_inode(host.namespace.as_fd()).attempt(|| "name a network namespace".into())?;
            seats.push(Seat {
                host,
                group,
                in_group,
                side: spec.side,
                options: SocketOptions {
                    congestion_control,
                    window_clamp: stack.window_clamp.map(WindowClamp),
                    no_delay: stack.no_delay,
                },
                inode,
                device: tun.index(),
            });
            tuns.push(tun);
        }
    }
    Ok((seats, tuns))
}

fn routes(world: &World, seats: &[Seat], flows: Vec<Route>) -> Routes {
    let standing = |seat: &Seat| Standing {
        sends: sends(seat.side),
        group: seat.group,
        in_group: seat.in_group,
    };
    let hosts: Vec<_> = seats
        .iter()
        .map(|seat| {
            let Addresses { v4, v6 } = seat.host.settings.addresses;
            (standing(seat), vec![IpAddr::V4(v4), IpAddr::V6(v6)])
        })
        .collect();
    Routes::new(&hosts, flows, |client| {
        Route::station_of(world, client.group, client.in_group)
    })
}

/// `/etc/hosts` as the programs of the run see it.
fn hosts_file(seats: &[Seat]) -> String {
    let mut text = "127.0.0.1 localhost\n::1 localhost\n".to_owned();
    for seat in seats {
        let HostSettings {
            name,
            addresses: Addresses { v4, v6 },
            ..
        } = &seat.host.settings;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{v4} {name}\n{v6} {name}");
    }
    text
}

/// Where the namespaces can be entered while the run lives.
fn namespaces(seats: &[Seat]) -> String {
    let mut text = String::new();
    for Seat { host, .. } in seats {
        let _ = writeln!(text, "{} {}", host.settings.name, host.namespace_path());
    }
    text
}

/// The sum of counters of `TcpExt` in `/proc/net/netstat` of the host.
fn tcp_ext(host: &Host, counters: &[&str]) -> Option<u64> {
    let text = host
        .namespace
        .run(|| {
            std::fs::read_to_string("/proc/thread-self/net/netstat")
                .attempt(|| "read a host's TCP counters".into())
        })
        .ok()?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let value = |wanted: &&str| -> Option<u64> {
        let position = names.split_whitespace().position(|name| name == *wanted)?;
        values.split_whitespace().nth(position)?.parse().ok()
    };
    counters.iter().map(value).sum()
}
