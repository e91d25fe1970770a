//! Handovers on command: a socket in the run's directory that other programs
//! write to, whoever may write there, also from inside the run's hosts.
//!
//! A request is one line, `handover NANOSECONDS STATION ELEMENT`, station 0 for
//! all, `-` for the path's own radio element. The answer is one line: `ok` and
//! which radios went down, or `no` and the reason.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lasthop_path::QueuedFrames;
use lasthop_scenario::spec::{ElementKind, Side, World};
use lasthop_units::Span;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;

use crate::driver::Commander;
use crate::error::Attempt;
use crate::path::WorldPath;
use crate::{Error, RunDir, Status};

/// The socket's name in the run's directory.
pub(crate) const SOCKET: &str = "control";
/// How long a program may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(1);

/// The radios of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Radios {
    /// The element they belong to.
    pub(crate) element: String,
    /// Stations are numbered from 1 to this.
    pub(crate) stations: u32,
}

impl Radios {
    /// Those of `world`, if its path has any.
    pub(crate) fn of(world: &World) -> Option<Self> {
        let wifi = |kind: &ElementKind| matches!(kind, ElementKind::Wifi(_));
        let element = world.path.iter().find(|element| wifi(&element.kind))?;
        let clients = world.hosts.iter().filter(|host| host.side == Side::Client);
        Some(Self {
            element: element.name.clone(),
            stations: clients.map(|host| host.count).sum(),
        })
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) lasts: Span,
    /// One station, or all.
    pub(crate) station: Option<u32>,
    /// The element that is meant, if one was named.
    pub(crate) element: Option<String>,
}

impl Request {
    /// As it is sent.
    pub(crate) fn line(&self) -> String {
        let element = self.element.as_deref().unwrap_or("-");
        format!(
            "handover {} {} {element}\n",
            self.lasts.as_ns(),
            self.station.unwrap_or(0)
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let ("handover", lasts, station, element) =
            (words.next()?, words.next()?, words.next()?, words.next()?)
        else {
            return None;
        };
        Some(Self {
            lasts: Span::from_ns(lasts.parse().ok()?),
            station: Some(station.parse().ok()?).filter(|&number| number > 0),
            element: Some(element.to_owned()).filter(|name| name != "-"),
        })
    }

    /// The stations that are meant, or why there are none.
    fn stations(&self, radios: Option<&Radios>) -> Result<Vec<u32>, String> {
        let Some(Radios { element, stations }) = radios else {
            return Err("the path of this run has no radio".to_owned());
        };
        if let Some(named) = self.element.as_ref().filter(|named| *named != element) {
            return Err(format!(
                "{named:?} has no radio; the path's radio element is {element:?}"
            ));
        }
        match self.station {
            Some(station) if station > *stations => Err(format!(
                "there is no station {station}; there are 1 to {stations}"
            )),
            Some(station) => Ok(vec![station]),
            None => Ok((1..=*stations).collect()),
        }
    }
}

/// Listens while the run lives; dropping it ends that.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    end: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
}

impl ControlSocket {
    /// Opens the socket of `run` for commands to its path.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub(crate) fn start(
        run: &RunDir,
        path: Commander<WorldPath>,
        radios: Option<Radios>,
    ) -> Result<Self, Error> {
        let file = run.path().join(SOCKET);
        let listener = UnixListener::bind(&file)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .attempt(|| format!("listen at {}", file.display()))?;
        let end = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC);
        let end = Arc::new(end.attempt(|| "create an event descriptor".into())?);
        let ended = Arc::clone(&end);
        let desk = Desk {
            path,
            radios,
            returns: Vec::new(),
        };
        let thread = thread::Builder::new()
            .name("lasthop-control".into())
            .spawn(move || desk.serve(&listener, &ended))
            .attempt(|| "start the control thread".into())?;
        Ok(Self {
            end,
            thread: Some(thread),
        })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = self.end.write(1);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes requests one after the other and brings radios back in time.
struct Desk {
    path: Commander<WorldPath>,
    radios: Option<Radios>,
    /// When which station's radio comes back.
    returns: Vec<(Instant, u32)>,
}

impl Desk {
    fn serve(mut self, listener: &UnixListener, end: &EventFd) {
        loop {
            self.bring_back();
            let next = self.returns.iter().map(|(at, _)| *at).min();
            let timeout = next.map(|at| TimeSpec::from(at.saturating_duration_since(Instant::now())));
            let mut fds = [end.as_fd(), listener.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            // Interrupted or not: what is there is looked at.
            let _ = ppoll(&mut fds, timeout, None);
            if fds[0].any().unwrap_or(false) {
                return;
            }
            if let Ok((stream, _)) = listener.accept() {
                // Who hangs up needs no answer.
                let _ = self.answer(&stream);
            }
        }
    }

    fn bring_back(&mut self) {
        let now = Instant::now();
        for (_, station) in self.returns.extract_if(.., |(at, _)| *at <= now) {
            self.path
                .tell(move |path, now| path.set_radio(now, station, true, QueuedFrames::Keep));
        }
    }

    fn answer(&mut self, stream: &UnixStream) -> io::Result<()> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new(io::Read::take(stream, 1024)).read_line(&mut line)?;
        let answer = match Request::parse(&line) {
            Some(request) => self.hand_over(&request),
            None => Err("this is no request".to_owned()),
        };
        let (word, text) = match answer {
            Ok(text) => ("ok", text),
            Err(text) => ("no", text),
        };
        writeln!({ stream }, "{word} {text}")
    }

    /// Takes the radios down, and notes when they come back.
    fn hand_over(&mut self, request: &Request) -> Result<String, String> {
        let stations = request.stations(self.radios.as_ref())?;
        let status = self
            .path
            .ask(|path, now| Status::of(path, now))
            .map_err(|error| error.to_string())?;
        if let Some(down) = stations
            .iter()
            .find(|station| status.radios_down.contains(station))
        {
            return Err(format!("the radio of station {down} is down already"));
        }
        let back = Instant::now() + Duration::from_nanos(request.lasts.as_ns());
        for &station in &stations {
            self.path
                .tell(move |path, now| path.set_radio(now, station, false, QueuedFrames::Keep));
            self.returns.push((back, station));
        }
        let names: Vec<String> = stations.iter().map(ToString::to_string).collect();
        let stations = if names.len() == 1 { "station" } else { "stations" };
        Ok(format!(
            "{stations} {} down for {}",
            names.join(", "),
            request.lasts
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(station: Option<u32>, element: Option<&str>) -> Request {
        Request {
            lasts: Span::from_ms(500),
            station,
            element: element.map(str::to_owned),
        }
    }

    #[test]
    fn a_request_survives_its_way() {
        for request in [request(None, None), request(Some(3), Some("wlan"))] {
            assert_eq!(Request::parse(&request.line()), Some(request));
        }
        for line in ["", "handover", "handover 1 2", "handover x 1 -", "go 1 1 -"] {
            assert_eq!(Request::parse(line), None, "{line}");
        }
    }

    #[test]
    fn only_radios_that_exist_can_go_down() {
        let radios = Radios {
            element: "wlan".to_owned(),
            stations: 2,
        };
        let stations = |station, element| request(station, element).stations(Some(&radios));
        assert_eq!(stations(None, None), Ok(vec![1, 2]));
        assert_eq!(stations(Some(2), Some("wlan")), Ok(vec![2]));
        assert_eq!(
            stations(Some(3), None),
            Err("there is no station 3; there are 1 to 2".to_owned())
        );
        assert!(stations(None, Some("wire")).unwrap_err().contains("\"wlan\""));
        assert!(
            request(None, None)
                .stations(None)
                .unwrap_err()
                .contains("no radio")
        );
    }
}
