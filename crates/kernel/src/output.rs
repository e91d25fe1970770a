//! What a program prints: kept in a file, or only its last lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::Error;
use crate::error::Attempt;

/// Bytes of the end that are remembered.
const TAIL_BYTES: usize = 2048;
/// Lines of the end that are told.
const TAIL_LINES: usize = 5;
/// How many times, 5 ms apart, the last output is waited for.
const PATIENCE: u32 = 40;

/// One of a program's output streams, read as it comes.
pub(crate) struct Output {
    tail: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl Output {
    /// Reads `pipe` to its end, into `file` when there is one.
    ///
    /// # Errors
    /// When the file cannot be created or the system refuses a thread.
    pub(crate) fn keep(pipe: impl Read + Send + 'static, file: Option<PathBuf>) -> Result<Self, Error> {
        let file = file
            .map(|path| File::create(&path).attempt(|| format!("create {}", path.display())))
            .transpose()?;
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&tail);
        let reader = thread::Builder::new()
            .name("lasthop-output".into())
            // A full disk ends the copy; what the program prints is then lost, not the run.
            .spawn(move || drop(copy(pipe, file, &shared)))
            .attempt(|| "start a thread for a program's output".into())?;
        Ok(Self { tail, reader })
    }

    /// Waits a moment for what an ended program printed last. A program it left
    /// in the background may hold the pipe until the run ends.
    pub(crate) fn settle(&self) {
        for _ in 0..PATIENCE {
            if self.reader.is_finished() {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The last lines so far.
    pub(crate) fn last_lines(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = tail.as_slices();
        last_lines(&[front, back].concat())
    }
}

fn copy(mut pipe: impl Read, mut file: Option<File>, tail: &Mutex<VecDeque<u8>>) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let count = match pipe.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        {
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.extend(&buffer[..count]);
            let excess = tail.len().saturating_sub(TAIL_BYTES);
            tail.drain(..excess);
        }
        if let Some(file) = &mut file {
            file.write_all(&buffer[..count])?;
        }
    }
}

/// The last lines of `bytes`; a line whose beginning was forgotten is left out.
fn last_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let whole = if bytes.len() < TAIL_BYTES {
        &text[..]
    } else {
        text.split_once('\n').map_or(&text[..], |(_, rest)| rest)
    };
    let lines: Vec<&str> = whole.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told() {
        assert_eq!(last_lines(b""), "");
        assert_eq!(last_lines(b"one\ntwo\n"), "one\ntwo");
        assert_eq!(last_lines(b"1\n2\n3\n4\n5\n6"), "2\n3\n4\n5\n6");
    }

    #[test]
    fn a_line_cut_in_the_middle_is_left_out() {
        let mut bytes = vec![b'x'; TAIL_BYTES - 4];
        bytes.extend(b"\nend");
        assert_eq!(last_lines(&bytes), "end");
        assert_eq!(last_lines(&vec![b'x'; TAIL_BYTES]).len(), TAIL_BYTES);
    }

    #[test]
    fn a_long_output_is_kept_whole_and_remembered_by_its_end() {
        let path = std::env::temp_dir().join(format!("lasthop-output-{}", std::process::id()));
        let lines: Vec<String> = (0..10_000).map(|number| format!("line {number}")).collect();
        let text = lines.join("\n");
        let output = Output::keep(io::Cursor::new(text.clone().into_bytes()), Some(path.clone())).unwrap();
        output.settle();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert!(output.last_lines().ends_with("line 9998\nline 9999"));
        std::fs::remove_file(&path).unwrap();
    }
}
