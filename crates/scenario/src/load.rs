//! From a file's text to a plan.

use std::sync::OnceLock;

use crate::check::Checker;
use crate::expand::{Expanded, expand, overrides};
use crate::fields::Fields;
use crate::kind::{Key, Kind};
use crate::parameter::{self, Parameter};
use crate::problem::{Place, Problem, Report, ScenarioError, ScenarioErrors};
use crate::reference::{Assignment, resolve_file};
use crate::section::top;
use crate::spec::{Plan, Variant, World};
use crate::tree::{self, Node};

/// What the command line changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// `--set name=value`, in order. Several values separated by commas make
    /// variants, or are the items when the parameter is a list.
    pub sets: Vec<(String, String)>,
    /// `--seeds n`: seeds 1 to n instead of the file's.
    pub seeds: Option<u32>,
}

/// After so many problems further variants are not looked at.
const ENOUGH_PROBLEMS: usize = 200;

/// The table of keys, built once.
pub(crate) fn keys() -> &'static Kind {
    static KEYS: OnceLock<Kind> = OnceLock::new();
    KEYS.get_or_init(|| Kind::Table(top::keys()))
}

pub(crate) fn top_keys() -> &'static [Key] {
    match keys() {
        Kind::Table(keys) => keys,
        _ => &[],
    }
}

/// Reads a scenario. `file` is what messages call it.
///
/// # Errors
/// Everything that is wrong with the text and the options, each with its place.
pub fn load(text: &str, file: &str, options: &LoadOptions) -> Result<Plan, ScenarioErrors> {
    let mut report = Report::default();
    let mut errors: Vec<ScenarioError> = Vec::new();
    let plan =
        tree::parse(text, &mut report).and_then(|root| plan(&root, file, options, &mut report, &mut errors));
    errors.extend(
        report
            .problems
            .into_iter()
            .map(|problem| locate(problem, text, file)),
    );
    match plan {
        Some(plan) if errors.is_empty() => Ok(plan),
        _ => Err(ScenarioErrors { errors }),
    }
}

fn locate(problem: Problem, text: &str, file: &str) -> ScenarioError {
    ScenarioError {
        file: file.to_owned(),
        place: Some(Place::of(text, &(problem.start..problem.end))),
        key: problem.path,
        message: problem.message,
    }
}

fn option_error(option: String, message: impl Into<String>) -> ScenarioError {
    ScenarioError {
        file: option,
        place: None,
        key: String::new(),
        message: message.into(),
    }
}

fn plan(
    root: &Node,
    file: &str,
    options: &LoadOptions,
    report: &mut Report,
    errors: &mut Vec<ScenarioError>,
) -> Option<Plan> {
    let parameters = parameter::read_all(root.get("parameters"), report);
    let seeds_option = seeds_option(options, errors);
    // Errors in the parameters would come back at every reference to them.
    if !report.is_empty() {
        return None;
    }
    let mut overrides = overrides(&options.sets, &parameters);
    let expanded = expand(root, &parameters, &mut overrides, report);
    errors.extend(
        overrides
            .problems
            .into_iter()
            .map(|p| option_error(p.option, p.message)),
    );
    if !errors.is_empty() {
        return None;
    }
    let mut variants = Vec::new();
    let mut seeds = seeds_option.unwrap_or_default();
    let (mut name, mut title) = (None, None);
    for one in &expanded {
        let mut own = Report::default();
        let checked = variant(root, one, &parameters, &mut own);
        if let Some((fields, world)) = checked {
            if options.seeds.is_none() && seeds.is_empty() {
                seeds = top::seeds(&fields);
            }
            name = name.or_else(|| fields.text("name").map(str::to_owned));
            title = title.or_else(|| fields.text("title").map(str::to_owned));
            if own.is_empty() {
                variants.extend(world.map(|world| named(one, &parameters, world)));
            }
        }
        merge(own, one, expanded.len(), report);
        if report.problems.len() > ENOUGH_PROBLEMS {
            break;
        }
    }
    let name = name.unwrap_or_else(|| stem(file));
    Some(Plan {
        title: title.unwrap_or_else(|| name.clone()),
        name,
        variants,
        seeds,
    })
}

fn seeds_option(options: &LoadOptions, errors: &mut Vec<ScenarioError>) -> Option<Vec<u64>> {
    let count = u64::from(options.seeds?);
    if count == 0 || count > top::MOST_SEEDS {
        let message = format!("{count} is not between 1 and {}", top::MOST_SEEDS);
        errors.push(option_error(format!("--seeds {count}"), message));
    }
    Some((1..=count.min(top::MOST_SEEDS)).collect())
}

/// Checks one variant. Fields may be incomplete when something was reported.
fn variant(
    root: &Node,
    one: &Expanded,
    parameters: &[Parameter],
    report: &mut Report,
) -> Option<(Fields, Option<World>)> {
    let assignment = Assignment {
        parameters,
        values: &one.values,
    };
    let resolved = resolve_file(root, &assignment, report);
    let checked = Checker { assignment, report }.check(keys(), &resolved, "")?;
    let crate::fields::Value::Table(fields) = checked.value else {
        return None;
    };
    let world = top::lower(&fields, report);
    Some((fields, world))
}

fn named(one: &Expanded, parameters: &[Parameter], world: World) -> Variant {
    let values = parameters.iter().zip(&one.values);
    Variant {
        name: one.name.clone(),
        parameters: values
            .map(|(parameter, value)| (parameter.name.clone(), value.to_string()))
            .collect(),
        world,
    }
}

/// Adds a variant's problems once each; the first variant that has one is
/// named when there are several variants.
fn merge(own: Report, one: &Expanded, variants: usize, report: &mut Report) {
    for mut problem in own.problems {
        let known = report.problems.iter().any(|known| {
            known.start == problem.start
                && known.path == problem.path
                && known.message.starts_with(&problem.message)
        });
        if known {
            continue;
        }
        if variants > 1 && problem.message.contains("(from $") {
            problem.message = format!("{} in variant \"{}\"", problem.message, one.name);
        }
        report.problems.insert(problem);
    }
}

/// The file's name without its directory and ending.
fn stem(file: &str) -> String {
    let name = std::path::Path::new(file)
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| "scenario".to_owned())
}
