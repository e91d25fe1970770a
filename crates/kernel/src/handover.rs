//! Asks a run that is going on for a handover.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use lasthop_units::Span;

use crate::Error;
use crate::control::{Request, SOCKET};
use crate::error::Attempt;
use crate::keeper::RUN_VARIABLE;
use crate::run_dir::base;

/// How long a run may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes the radio of one station, or of all, down now and up again after
/// `lasts`; `element` is the path element that must be meant. `run` names the
/// run; without it the run this program belongs to, or the only one there is.
/// Returns the run's name and its answer.
///
/// # Errors
/// When there is no such run, or it has no such radio.
pub fn handover(
    run: Option<&str>,
    element: Option<&str>,
    station: Option<u32>,
    lasts: Span,
) -> Result<(String, String), Error> {
    let base = base();
    let own = std::env::var(RUN_VARIABLE).ok();
    let name = choose(run.map(str::to_owned).or(own), &runs(&base))?;
    let mut stream = connect(&base, &name)?;
    let request = Request {
        lasts,
        station,
        element: element.map(str::to_owned),
    };
    let asked = || format!("ask run {name}");
    stream.set_read_timeout(Some(PATIENCE)).attempt(asked)?;
    stream.write_all(request.line().as_bytes()).attempt(asked)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).attempt(asked)?;
    match answer.trim_end().split_once(' ') {
        Some(("ok", text)) => Ok((name, text.to_owned())),
        Some(("no", reason)) => Err(Error::Unavailable(format!("run {name}: {reason}"))),
        _ => Err(Error::Unavailable(format!("run {name} has just ended"))),
    }
}

/// Names of the runs that listen.
fn runs(base: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(base).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| connect(base, name).is_ok())
        .collect();
    names.sort_unstable();
    names
}

fn connect(base: &Path, name: &str) -> Result<UnixStream, Error> {
    UnixStream::connect(base.join(name).join(SOCKET)).attempt(|| format!("reach run {name}"))
}

fn choose(wanted: Option<String>, runs: &[String]) -> Result<String, Error> {
    let there = |reason: String| Err(Error::Unavailable(reason));
    match (wanted, runs) {
        (Some(name), _) if runs.contains(&name) => Ok(name),
        (Some(name), []) => there(format!("no run {name} is going on, nor any other of yours")),
        (Some(name), _) => there(format!(
            "no run {name} is going on; there are: {}",
            runs.join(", ")
        )),
        (None, [only]) => Ok(only.clone()),
        (None, []) => there("no run of yours is going on".to_owned()),
        (None, _) => there(format!(
            "several runs are going on, choose one: {}",
            runs.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(wanted: Option<&str>, runs: &[&str]) -> Result<String, String> {
        let runs: Vec<String> = runs.iter().map(|&name| name.to_owned()).collect();
        choose(wanted.map(str::to_owned), &runs).map_err(|error| error.to_string())
    }

    #[test]
    fn the_only_run_needs_no_name() {
        assert_eq!(chosen(None, &["7-0"]), Ok("7-0".to_owned()));
        assert_eq!(chosen(Some("8-0"), &["7-0", "8-0"]), Ok("8-0".to_owned()));
    }

    #[test]
    fn a_doubtful_choice_is_refused_with_the_runs_there_are() {
        assert_eq!(
            chosen(None, &["7-0", "8-0"]),
            Err("several runs are going on, choose one: 7-0, 8-0".to_owned())
        );
        assert_eq!(chosen(None, &[]), Err("no run of yours is going on".to_owned()));
        assert!(chosen(Some("9-0"), &["7-0"]).unwrap_err().contains("7-0"));
    }
}
