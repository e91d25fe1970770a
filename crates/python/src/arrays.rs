//! Tables as dictionaries of NumPy arrays, without copying a value: each
//! column's vector becomes the memory of its array.

use lasthop_record::{ColumnData, Table};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One column: an array, a pair of codes and names for a category, or a pair
/// of counts and whether each is known.
fn column(py: Python<'_>, data: ColumnData) -> PyResult<Bound<'_, PyAny>> {
    Ok(match data {
        ColumnData::F64(values) => values.into_pyarray(py).into_any(),
        ColumnData::U64(values) => values.into_pyarray(py).into_any(),
        ColumnData::KnownU64 { values, known } => (values.into_pyarray(py), known.into_pyarray(py))
            .into_pyobject(py)?
            .into_any(),
        ColumnData::U32(values) => values.into_pyarray(py).into_any(),
        ColumnData::I64(values) => values.into_pyarray(py).into_any(),
        ColumnData::Bool(values) => values.into_pyarray(py).into_any(),
        ColumnData::Category { codes, names } => {
            (codes.into_pyarray(py), names).into_pyobject(py)?.into_any()
        }
    })
}

/// `{table: {column: array}}`.
///
/// # Errors
/// Only when Python cannot allocate.
pub fn tables(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for entry in table.columns {
            columns.set_item(entry.name, column(py, entry.data)?)?;
        }
        all.set_item(table.name, columns)?;
    }
    Ok(all)
}
