//! Downloads by `curl` from a file server in the sender's host: the same flows
//! as the built-in workloads, made by programs that know nothing of this.

use std::ffi::OsString;
use std::io::Read;
use std::net::SocketAddr;
use std::process::Child;
use std::sync::Arc;

use lasthop_scenario::Dialogue;
use lasthop_units::Span;

use crate::http::HttpServer;
use crate::keeper::Program;
use crate::workload::{FlowPlan, FlowState};
use crate::{Clock, Error, Refusal, Session};

/// What curl is asked to say when it is done.
const TELL: &str = "%{time_total} %{size_download} %{http_code}";

/// Every download of a run.
pub(crate) struct Fetches {
    fetches: Vec<Fetch>,
    servers: Vec<HttpServer>,
}

struct Fetch {
    plan: FlowPlan,
    bytes: u64,
    child: Option<Child>,
    done: bool,
}

impl Fetches {
    /// No downloads.
    pub(crate) const fn none() -> Self {
        Self {
            fetches: Vec::new(),
            servers: Vec::new(),
        }
    }

    /// Starts a file server for every flow, at the flow's own port.
    ///
    /// # Errors
    /// When a workload is not a download.
    pub(crate) fn prepare(plans: Vec<FlowPlan>) -> Result<Self, Error> {
        let mut all = Self::none();
        for plan in plans {
            let bytes = Dialogue::of(&plan.kind)
                .filter(|dialogue| dialogue.is_bounded() && !dialogue.sender_opens)
                .map(|dialogue| dialogue.total_bytes())
                .ok_or_else(|| Refusal::new("curl makes downloads of a given size only"))?;
            all.servers.push(HttpServer::start_at(
                std::slice::from_ref(&plan.sender),
                plan.port,
                None,
            )?);
            all.fetches.push(Fetch {
                plan,
                bytes,
                child: None,
                done: false,
            });
        }
        Ok(all)
    }

    /// Starts what is due and collects what has ended.
    pub(crate) fn look(&mut self, session: &Session, clock: Clock, flows: &[Arc<FlowState>]) {
        for (fetch, state) in self.fetches.iter_mut().zip(flows) {
            if let Err(error) = fetch.look(session, clock, state) {
                fetch.done = true;
                state.fail(&error);
            }
        }
    }

    /// Ends what still runs.
    pub(crate) fn stop(&mut self) {
        for child in self.fetches.iter_mut().filter_map(|fetch| fetch.child.as_mut()) {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
        self.servers.clear();
    }
}

impl Drop for Fetches {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Fetch {
    fn look(&mut self, session: &Session, clock: Clock, state: &FlowState) -> Result<(), Error> {
        if self.done || clock.now() < self.plan.start {
            return Ok(());
        }
        let Some(child) = &mut self.child else {
            self.child = Some(self.start(session)?);
            return Ok(());
        };
        let failed = |what: String| Error::Unavailable(format!("curl {what}"));
        let Some(status) = child.try_wait().map_err(|error| failed(error.to_string()))? else {
            return Ok(());
        };
        let end = clock.now();
        self.done = true;
        let (mut told, mut complaint) = (String::new(), String::new());
        // What it did not say is missed below.
        let _ = child
            .stdout
            .take()
            .map(|mut output| output.read_to_string(&mut told));
        let _ = child
            .stderr
            .take()
            .map(|mut output| output.read_to_string(&mut complaint));
        match parse(&told) {
            Some((total, bytes)) if status.success() && bytes == self.bytes => {
                // curl's own clock, which begins after the program has been loaded.
                state.observe(end - total, end, bytes);
                Ok(())
            }
            _ => Err(failed(format!(
                "ended with {status}: {} {}",
                told.trim(),
                complaint.trim()
            ))),
        }
    }

    fn start(&self, session: &Session) -> Result<Child, Error> {
        let address = SocketAddr::new(self.plan.sender.address, self.plan.port);
        let url = format!("http://{address}/bytes/{}", self.bytes);
        let words = [
            "curl",
            "--silent",
            "--show-error",
            "--noproxy",
            "*",
            "--output",
            "/dev/null",
            "--write-out",
            TELL,
        ];
        let mut command: Vec<OsString> = words.iter().map(Into::into).collect();
        command.push(url.into());
        session.spawn_at(
            self.plan.seats[1],
            Program {
                command,
                variables: Vec::new(),
                terminal: false,
            },
        )
    }
}

/// Time and size in what curl says after a successful download.
fn parse(told: &str) -> Option<(Span, u64)> {
    let mut words = told.split_whitespace();
    let (total, bytes, code) = (words.next()?, words.next()?, words.next()?);
    let total: f64 = total.parse().ok()?;
    let span = Span::from_ns((total * 1e9).round() as u64);
    (code == "200" && total.is_finite() && total >= 0.0).then_some((span, bytes.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_curl_says_is_read() {
        assert_eq!(
            parse("2.061234 1013760 200"),
            Some((Span::from_us(2_061_234), 1_013_760))
        );
        assert_eq!(parse("0.250000 0 404"), None);
        assert_eq!(parse(""), None);
    }
}
