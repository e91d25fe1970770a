//! Tables as named columns of equal length.

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnData {
    /// Real numbers; NaN means "none".
    F64(Vec<f64>),
    /// Counts and byte numbers.
    U64(Vec<u64>),
    /// Counts of which some are not known.
    KnownU64 {
        /// The counts; 0 where nothing is known.
        values: Vec<u64>,
        /// Whether each is known.
        known: Vec<bool>,
    },
    /// Small indices.
    U32(Vec<u32>),
    /// Signed indices; -1 means "none".
    I64(Vec<i64>),
    /// Flags.
    Bool(Vec<bool>),
    /// One of a few names, as codes into `names`.
    Category {
        /// Index into `names` for each row.
        codes: Vec<u8>,
        /// The names.
        names: Vec<String>,
    },
}

impl ColumnData {
    /// Number of rows.
    pub const fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U64(values) | Self::KnownU64 { values, .. } => values.len(),
            Self::U32(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Category { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no row.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name with its unit, for example `goodput_bps`.
    pub name: &'static str,
    /// Values.
    pub data: ColumnData,
}

/// A named table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name, for example `flows`.
    pub name: &'static str,
    /// Columns of equal length.
    pub columns: Vec<Column>,
}

impl Table {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&ColumnData> {
        self.columns
            .iter()
            .find(|column| column.name == name)
            .map(|column| &column.data)
    }
}

/// Builds one column from a slice of rows.
pub(crate) fn f64_column<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> f64) -> Column {
    Column {
        name,
        data: ColumnData::F64(rows.iter().map(value).collect()),
    }
}

pub(crate) fn u64_column<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> u64) -> Column {
    Column {
        name,
        data: ColumnData::U64(rows.iter().map(value).collect()),
    }
}

/// A column of counts, with a mask only when one is unknown.
pub(crate) fn known_column<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> Option<u64>) -> Column {
    let known: Vec<bool> = rows.iter().map(|row| value(row).is_some()).collect();
    let values = rows.iter().map(|row| value(row).unwrap_or(0)).collect();
    let data = if known.contains(&false) {
        ColumnData::KnownU64 { values, known }
    } else {
        ColumnData::U64(values)
    };
    Column { name, data }
}

pub(crate) fn u32_column<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> u32) -> Column {
    Column {
        name,
        data: ColumnData::U32(rows.iter().map(value).collect()),
    }
}

pub(crate) fn i64_column<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> i64) -> Column {
    Column {
        name,
        data: ColumnData::I64(rows.iter().map(value).collect()),
    }
}

pub(crate) fn bool_column<R>(name: &'static str, rows: &[R], value: impl Fn(&R) -> bool) -> Column {
    Column {
        name,
        data: ColumnData::Bool(rows.iter().map(value).collect()),
    }
}

/// A category column; names are numbered in the order they first appear, and
/// the 256th and later distinct names share the last code.
pub(crate) fn category_column<R, S: AsRef<str>>(
    name: &'static str,
    rows: &[R],
    value: impl Fn(&R) -> S,
) -> Column {
    let mut names: Vec<String> = Vec::new();
    let mut codes = Vec::with_capacity(rows.len());
    for row in rows {
        let text = value(row);
        let text = text.as_ref();
        let code = names.iter().position(|known| known == text).unwrap_or_else(|| {
            if u8::try_from(names.len()).is_ok() {
                names.push(text.to_owned());
            }
            names.len() - 1
        });
        codes.push(code as u8);
    }
    Column {
        name,
        data: ColumnData::Category { codes, names },
    }
}
