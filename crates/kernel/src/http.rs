//! A small HTTP/1.1 file server for a host: enough for `curl`, `wget` and
//! browsers to fetch files from (RFC 9112; GET and HEAD, no ranges).

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::Socket;

use lasthop_tcp::IpVersion;

use crate::error::Attempt;
use crate::workload::{EndPlan, accept, listen};
use crate::{Error, Session};

/// A request line and its headers may take this much.
const MAX_HEAD_BYTES: u64 = 16 << 10;
/// What is handed to the socket at once.
const CHUNK_BYTES: usize = 64 << 10;
/// An idle connection is closed after this.
const IDLE: Duration = Duration::from_secs(30);

/// A file server in a host; ended when dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl HttpServer {
    /// Serves the files below `root` in the host of that name. Any path
    /// `/bytes/N` gives N bytes, also without a root. Connections use the
    /// host's congestion control.
    ///
    /// # Errors
    /// When there is no such host or the port is taken.
    pub fn start(session: &Session, host: &str, port: u16, root: Option<PathBuf>) -> Result<Self, Error> {
        let root = root
            .map(|root| {
                root.canonicalize()
                    .attempt(|| format!("serve {}", root.display()))
            })
            .transpose()?;
        // Clients ask for the IPv6 address first where a name has one.
        Self::start_at(
            &[
                session.end_of(host, IpVersion::V4)?,
                session.end_of(host, IpVersion::V6)?,
            ],
            port,
            root.as_deref(),
        )
    }

    /// Serves at every one of `ends`, which are addresses of one host.
    pub(crate) fn start_at(ends: &[EndPlan], port: u16, root: Option<&Path>) -> Result<Self, Error> {
        let address = ends
            .first()
            .map(|end| SocketAddr::new(end.address, port))
            .ok_or_else(|| Error::Unavailable("the file server has no address".into()))?;
        let mut server = Self {
            address,
            stop: Arc::new(AtomicBool::new(false)),
            threads: Vec::new(),
        };
        for end in ends {
            let listener = listen(end, SocketAddr::new(end.address, port))?;
            let (stop, root) = (Arc::clone(&server.stop), root.map(Path::to_owned));
            let thread = thread::Builder::new()
                .name("lasthop-http".into())
                .spawn(move || serve(&listener, root.as_deref(), &stop))
                .attempt(|| "start the file server".into())?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Where it listens; the first address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &Socket, root: Option<&Path>, stop: &AtomicBool) {
    while let Some(accepted) = accept(listener, stop) {
        let (Ok(socket), root) = (accepted, root.map(Path::to_owned)) else {
            continue;
        };
        // A connection ends with its peer, its idle time, or the host.
        let _ = thread::Builder::new()
            .name("lasthop-http".into())
            .spawn(move || converse(&socket, root.as_deref()));
    }
}

fn converse(socket: &TcpStream, root: Option<&Path>) -> io::Result<()> {
    socket.set_read_timeout(Some(IDLE))?;
    socket.set_write_timeout(Some(IDLE))?;
    let no_delay = socket.nodelay()?;
    let mut reader = BufReader::new(socket);
    while let Some(request) = read_request(&mut reader)? {
        answer(socket, &request, root)?;
        // The end of an answer does not wait for ACKs: the connection
        // stays open, so no FIN pushes it out.
        socket.set_nodelay(true)?;
        socket.set_nodelay(no_delay)?;
        if request.close {
            break;
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
struct Request {
    method: String,
    path: String,
    close: bool,
}

fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut head = reader.take(MAX_HEAD_BYTES);
    let mut line = String::new();
    if head.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        close: words.next() == Some("HTTP/1.0"),
    };
    loop {
        let mut header = String::new();
        if head.read_line(&mut header)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            return Ok(Some(request));
        }
        if let Some(value) = header.strip_prefix("connection:") {
            request.close = value.trim() == "close";
        }
    }
}

fn answer(socket: &TcpStream, request: &Request, root: Option<&Path>) -> io::Result<()> {
    // The head travels with the first bytes of the body, as with any real server.
    let mut out = BufWriter::with_capacity(CHUNK_BYTES, socket);
    let body = request.method == "GET";
    if !body && request.method != "HEAD" {
        head(&mut out, "405 Method Not Allowed", 0)?;
    } else if let Some(bytes) = request.path.strip_prefix("/bytes/").and_then(|n| n.parse().ok()) {
        head(&mut out, "200 OK", bytes)?;
        if body {
            io::copy(&mut io::repeat(b'.').take(bytes), &mut out)?;
        }
    } else if let Some((file, bytes)) = root.and_then(|root| open_below(root, &request.path)) {
        head(&mut out, "200 OK", bytes)?;
        if body {
            io::copy(&mut file.take(bytes), &mut out)?;
        }
    } else {
        head(&mut out, "404 Not Found", 0)?;
    }
    out.flush()
}

fn head(out: &mut impl Write, status: &str, bytes: u64) -> io::Result<()> {
    write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Length: {bytes}\r\nContent-Type: application/octet-stream\r\n\r\n"
    )
}

/// The regular file a path names, never one outside `root`.
fn open_below(root: &Path, path: &str) -> Option<(File, u64)> {
    let relative = Path::new(path.trim_start_matches('/'));
    if relative
        .components()
        .any(|part| !matches!(part, Component::Normal(_)))
    {
        return None;
    }
    let full = root.join(relative).canonicalize().ok()?;
    if !full.starts_with(root) {
        return None;
    }
    let file = File::open(full).ok()?;
    let metadata = file.metadata().ok()?;
    metadata.is_file().then_some((file, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_as_curl_writes_it() {
        let text = b"GET /a/b?c HTTP/1.1\r\nHost: server\r\nConnection: close\r\n\r\n";
        let request = read_request(&mut &text[..]).unwrap().unwrap();
        assert_eq!(
            request,
            Request {
                method: "GET".into(),
                path: "/a/b".into(),
                close: true
            }
        );
    }

    #[test]
    fn nothing_outside_the_root_is_opened() {
        let root = std::env::temp_dir().join(format!("lasthop-http-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("file"), "abc").unwrap();
        let root = root.canonicalize().unwrap();
        assert_eq!(open_below(&root, "/file").map(|(_, bytes)| bytes), Some(3));
        assert!(open_below(&root, "/../etc/hostname").is_none());
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        assert!(open_below(&root, "/link/hostname").is_none());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
