//! Scenario files as plans.

use std::sync::Arc;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    lasthop._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run; the text names file, line, key and what is allowed."
);

/// A scenario expanded into variants and seeds.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Plan {
    inner: Arc<lasthop_scenario::Plan>,
}

impl Plan {
    /// The plan, to be shared with worker threads.
    pub fn shared(&self) -> Arc<lasthop_scenario::Plan> {
        Arc::clone(&self.inner)
    }
}

#[pymethods]
impl Plan {
    /// Parses `text`, which came from `file`, with `name=value` overrides.
    #[staticmethod]
    #[pyo3(signature = (text, file = "scenario.toml", sets = Vec::new(), seeds = None))]
    fn load(text: &str, file: &str, sets: Vec<String>, seeds: Option<Vec<u64>>) -> PyResult<Self> {
        let mut plan = lasthop_scenario::load(text, file, &sets)
            .map_err(|error| ScenarioError::new_err(error.to_string()))?;
        if let Some(seeds) = seeds {
            plan.seeds = seeds;
        }
        Ok(Self {
            inner: Arc::new(plan),
        })
    }

    /// The scenario's name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// One line for people.
    #[getter]
    fn title(&self) -> &str {
        &self.inner.title
    }

    /// Seeds each variant runs with.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.inner.seeds.clone()
    }

    /// Name and parameters of each variant, in order.
    #[getter]
    fn variants<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
        let variant = |variant: &lasthop_scenario::Variant| {
            let parameters = PyDict::new(py);
            for (name, value) in &variant.parameters {
                parameters.set_item(name, value)?;
            }
            Ok((variant.name.clone(), parameters))
        };
        self.inner.variants.iter().map(variant).collect()
    }

    /// Number of cells: variants times seeds.
    fn __len__(&self) -> usize {
        self.inner.variants.len() * self.inner.seeds.len()
    }
}

/// The JSON Schema of scenario files, as text.
#[pyfunction]
pub fn schema() -> String {
    lasthop_scenario::schema()
}

/// Everything a scenario can name, as JSON text.
#[pyfunction]
pub fn catalog() -> String {
    lasthop_scenario::catalog()
}
