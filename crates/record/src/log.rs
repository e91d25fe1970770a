//! A log that cannot grow without bound.

/// Rows up to a limit; further ones are only counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log<T> {
    rows: Vec<T>,
    limit: usize,
    unlogged: u64,
}

impl<T> Log<T> {
    /// A log of at most `limit` rows.
    pub const fn limited(limit: usize) -> Self {
        Self {
            rows: Vec::new(),
            limit,
            unlogged: 0,
        }
    }

    /// Writes a row down, or counts it when the log is full.
    #[inline]
    pub fn push(&mut self, row: T) {
        if self.rows.len() < self.limit {
            self.rows.push(row);
        } else {
            self.unlogged += 1;
        }
    }

    /// Rows that were not written down.
    pub const fn unlogged(&self) -> u64 {
        self.unlogged
    }

    /// The rows, in the order they came.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// The rows, in the order they came.
    pub fn into_rows(self) -> Vec<T> {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_keeps_what_it_has_and_counts_the_rest() {
        let mut log = Log::limited(3);
        (0..10).for_each(|row| log.push(row));
        assert_eq!(log.rows(), [0, 1, 2]);
        assert_eq!(log.unlogged(), 7);
    }
}
