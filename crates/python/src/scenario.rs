//! Scenario files as plans.

use std::sync::Arc;

use lasthop_scenario::LoadOptions;
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
        let sets = sets.into_iter().map(split_setting).collect::<PyResult<_>>()?;
        let options = LoadOptions { sets, seeds: None };
        let mut plan = lasthop_scenario::load(text, file, &options)
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

/// `name=value` as name and value.
fn split_setting(setting: String) -> PyResult<(String, String)> {
    let (name, value) = setting.split_once('=').ok_or_else(|| {
        ScenarioError::new_err(format!(
            "--set {setting}: a value is missing; write {setting}=VALUE"
        ))
    })?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The JSON Schema of scenario files, as text.
#[pyfunction]
pub fn schema() -> String {
    format!("{:#}", lasthop_scenario::schema())
}

/// Everything a scenario can name, as JSON text.
///
/// # Errors
/// Never with the mechanisms there are: all their parts are text.
#[pyfunction]
pub fn catalog() -> PyResult<String> {
    serde_json::to_string(&lasthop_scenario::catalog())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}
