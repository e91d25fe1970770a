//! Files written beside the path: the thread that moves packets must never wait
//! for a disk, so another one writes, and what it cannot take in time is lost
//! and counted.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use crate::Error;
use crate::error::Attempt;

/// Bytes collected before they are handed over.
const CHUNK_BYTES: usize = 64 << 10;
/// Chunks that may wait for the disk: 16 MiB.
const CHUNKS: usize = 256;

type Chunk = (Arc<File>, Vec<u8>);

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Spool {
    chunks: SyncSender<Chunk>,
    lost: Arc<AtomicU64>,
    thread: JoinHandle<io::Result<()>>,
}

impl Spool {
    /// Starts the thread.
    pub(crate) fn start() -> Result<Self, Error> {
        let (chunks, inbox) = sync_channel(CHUNKS);
        let thread = thread::Builder::new()
            .name("lasthop-spool".into())
            .spawn(move || write_all(&inbox))
            .attempt(|| "start the thread that writes captures".into())?;
        Ok(Self {
            chunks,
            lost: Arc::default(),
            thread,
        })
    }

    /// A file to be written through the spool. Each call of [`Write::write`]
    /// takes the whole record it is given, or loses all of it.
    pub(crate) fn file(&self, path: &Path) -> io::Result<SpooledFile> {
        Ok(SpooledFile {
            file: Arc::new(File::create(path)?),
            chunk: Vec::with_capacity(CHUNK_BYTES),
            records: 0,
            chunks: self.chunks.clone(),
            lost: Arc::clone(&self.lost),
        })
    }

    /// Waits until everything is on its way to the disk; every file must be
    /// gone. How many records were lost.
    pub(crate) fn finish(self) -> Result<u64, Error> {
        let Self { chunks, lost, thread } = self;
        drop(chunks);
        let written = thread.join().map_err(|_| Error::Panicked("spool"))?;
        written.attempt(|| "write the captures".into())?;
        Ok(lost.load(Ordering::Relaxed))
    }
}

fn write_all(inbox: &Receiver<Chunk>) -> io::Result<()> {
    for (file, chunk) in inbox {
        (&*file).write_all(&chunk)?;
    }
    Ok(())
}

/// A file behind a spool.
#[derive(Debug)]
pub(crate) struct SpooledFile {
    file: Arc<File>,
    chunk: Vec<u8>,
    /// Records in the chunk.
    records: u64,
    chunks: SyncSender<Chunk>,
    lost: Arc<AtomicU64>,
}

impl SpooledFile {
    fn take(&mut self) -> Chunk {
        self.records = 0;
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        (Arc::clone(&self.file), chunk)
    }
}

impl Write for SpooledFile {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        if self.chunk.len() + record.len() > CHUNK_BYTES {
            let records = self.records;
            let chunk = self.take();
            match self.chunks.try_send(chunk) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => {
                    self.lost.fetch_add(records, Ordering::Relaxed);
                }
                // The disk failed; `Spool::finish` tells how.
                Err(TrySendError::Disconnected(_)) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        self.chunk.extend_from_slice(record);
        self.records += 1;
        Ok(record.len())
    }

    /// Waits for the disk: not while packets move.
    fn flush(&mut self) -> io::Result<()> {
        let chunk = self.take();
        self.chunks
            .send(chunk)
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_written_in_order_and_the_rest_is_counted() {
        let directory = std::env::temp_dir().join(format!("lasthop-spool-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("records");
        let spool = Spool::start().unwrap();
        let mut file = spool.file(&path).unwrap();
        let record = |number: u64| number.to_le_bytes();
        for number in 0..100_000 {
            file.write_all(&record(number)).unwrap();
        }
        file.flush().unwrap();
        drop(file);
        let lost = spool.finish().unwrap();
        let written = std::fs::read(&path).unwrap();
        let numbers: Vec<u64> = written
            .chunks(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert_eq!(numbers.len() as u64 + lost, 100_000);
        assert!(numbers.is_sorted());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_spool_that_nobody_empties_loses_records_and_says_how_many() {
        let (chunks, inbox) = sync_channel(1);
        let mut file = SpooledFile {
            file: Arc::new(File::open("/dev/null").unwrap()),
            chunk: Vec::new(),
            records: 0,
            chunks,
            lost: Arc::default(),
        };
        let record = vec![0; CHUNK_BYTES / 4];
        for _ in 0..20 {
            file.write_all(&record).unwrap();
        }
        // One chunk waits, four records are being collected.
        assert_eq!(file.lost.load(Ordering::Relaxed), 20 - 4 - 4);
        drop(inbox);
        assert!(file.flush().is_err());
    }
}
