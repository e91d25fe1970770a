//! From `vary`, `[[variants]]` and `--set` to named variants.

use crate::parameter::{Parameter, Value};
use crate::problem::{At, Report, allowed};
use crate::tree::{Data, Node};

/// More variants than anybody means.
const MOST_VARIANTS: usize = 10_000;

/// One variant's name and the value of every parameter.
#[derive(Clone, Debug)]
pub(crate) struct Expanded {
    pub name: String,
    pub values: Vec<Value>,
}

/// One choice of an axis: its label and what it assigns.
#[derive(Clone, Debug)]
struct Choice {
    label: String,
    assigns: Vec<(usize, Value)>,
}

type Axis = Vec<Choice>;

/// Something wrong with a `--set`.
#[derive(Clone, Debug)]
pub(crate) struct SetProblem {
    pub option: String,
    pub message: String,
}

/// The overrides of the command line, by parameter.
#[derive(Default)]
pub(crate) struct Overrides {
    /// Parameter index and its values; more than one makes variants.
    assigned: Vec<(usize, Vec<Value>)>,
    pub problems: Vec<SetProblem>,
}

/// Reads `--set name=value` options; the last one of a parameter counts.
pub(crate) fn overrides(sets: &[(String, String)], parameters: &[Parameter]) -> Overrides {
    let mut overrides = Overrides::default();
    for (name, text) in sets {
        let mut problem = |message: String| {
            overrides.problems.push(SetProblem {
                option: format!("--set {name}={text}"),
                message,
            });
        };
        let Some(index) = parameters.iter().position(|parameter| parameter.name == *name) else {
            let names = parameters.iter().map(|parameter| parameter.name.as_str());
            problem(format!("unknown parameter \"{name}\"; {}", allowed(name, names)));
            continue;
        };
        let parameter = &parameters[index];
        let is_list = matches!(parameter.kind, crate::parameter::Type::List(_));
        let parts: Vec<&str> = if is_list {
            vec![text]
        } else {
            text.split(',').collect()
        };
        let values: Result<Vec<Value>, String> = parts
            .into_iter()
            .map(|part| parameter.accept_text(part))
            .collect();
        match values {
            Ok(values) => {
                overrides.assigned.retain(|(assigned, _)| *assigned != index);
                overrides.assigned.push((index, values));
            }
            Err(message) => problem(format!("parameter \"{name}\": {message}")),
        }
    }
    overrides
}

/// All variants in order: explicit ones vary slowest, then `vary`'s axes in
/// the order of the file, then those of the command line.
pub(crate) fn expand(
    root: &Node,
    parameters: &[Parameter],
    overrides: &mut Overrides,
    report: &mut Report,
) -> Vec<Expanded> {
    let mut base: Vec<Value> = parameters
        .iter()
        .map(|parameter| parameter.default.clone())
        .collect();
    let mut axes: Vec<Axis> = Vec::new();
    if let Some(explicit) = explicit_variants(root.get("variants"), parameters, report) {
        refuse_conflicts(&explicit, parameters, overrides);
        if let Some(vary) = root.get("vary") {
            refuse_both(&explicit, vary, parameters, report);
        }
        axes.push(explicit);
    }
    axes.extend(vary_axes(root.get("vary"), parameters, overrides, report));
    for (index, values) in &overrides.assigned {
        match values.as_slice() {
            [value] => base[*index] = value.clone(),
            values => axes.push(axis(*index, parameters, values.to_vec())),
        }
    }
    let count = axes
        .iter()
        .try_fold(1_usize, |count, axis| count.checked_mul(axis.len()));
    if count.is_none_or(|count| count > MOST_VARIANTS) {
        let node = root.get("vary").or_else(|| root.get("variants"));
        let at = node.map(|node| node.at("vary")).unwrap_or_default();
        let sizes: Vec<String> = axes.iter().map(|axis| axis.len().to_string()).collect();
        report.add(
            &at,
            format!(
                "{} variants; at most {MOST_VARIANTS} are allowed",
                sizes.join(" x ")
            ),
        );
        return Vec::new();
    }
    product(base, &axes)
}

fn product(base: Vec<Value>, axes: &[Axis]) -> Vec<Expanded> {
    let mut variants = vec![Expanded {
        name: String::new(),
        values: base,
    }];
    for axis in axes {
        variants = variants
            .iter()
            .flat_map(|variant| axis.iter().map(move |choice| variant.with(choice)))
            .collect();
    }
    if let [only] = variants.as_mut_slice()
        && only.name.is_empty()
    {
        "base".clone_into(&mut only.name);
    }
    variants
}

impl Expanded {
    fn with(&self, choice: &Choice) -> Self {
        let mut variant = self.clone();
        if !variant.name.is_empty() {
            variant.name.push(',');
        }
        variant.name.push_str(&choice.label);
        for (index, value) in &choice.assigns {
            variant.values[*index] = value.clone();
        }
        variant
    }
}

fn axis(index: usize, parameters: &[Parameter], values: Vec<Value>) -> Axis {
    let name = &parameters[index].name;
    let choice = |value: Value| Choice {
        label: format!("{name}={value}"),
        assigns: vec![(index, value)],
    };
    values.into_iter().map(choice).collect()
}

/// Finds the parameter a key of `vary` or a variant names.
fn find(key: &str, at: &At, parameters: &[Parameter], report: &mut Report) -> Option<usize> {
    let index = parameters.iter().position(|parameter| parameter.name == key);
    if index.is_none() {
        let names = parameters.iter().map(|parameter| parameter.name.as_str());
        report.add(
            at,
            format!("unknown parameter \"{key}\"; {}", allowed(key, names)),
        );
    }
    index
}

fn vary_axes(
    section: Option<&Node>,
    parameters: &[Parameter],
    overrides: &mut Overrides,
    report: &mut Report,
) -> Vec<Axis> {
    let mut axes = Vec::new();
    let Some(section) = section else { return axes };
    let Data::Table(entries) = &section.data else {
        let found = section.found();
        report.add(
            &section.at("vary"),
            format!("expected a table from parameters to lists, found {found}"),
        );
        return axes;
    };
    for entry in entries {
        let path = format!("vary.{}", entry.key);
        let at = At {
            path: path.clone(),
            span: entry.key_span.clone(),
            origin: None,
        };
        let Some(index) = find(&entry.key, &at, parameters, report) else {
            continue;
        };
        let Data::List(items) = &entry.node.data else {
            let found = entry.node.found();
            report.add(
                &entry.node.at(&path),
                format!("expected a list of values, found {found}"),
            );
            continue;
        };
        if items.is_empty() {
            report.add(
                &entry.node.at(&path),
                "the list is empty; at least one value is needed",
            );
        }
        let mut values: Vec<Value> = Vec::new();
        for (position, item) in items.iter().enumerate() {
            let at = item.at(&format!("{path}[{position}]"));
            match parameters[index].accept(item) {
                Ok(value) if values.contains(&value) => {
                    report.add(&at, format!("{value} is listed twice"));
                }
                Ok(value) => values.push(value),
                Err(message) => report.add(&at, message),
            }
        }
        // The command line replaces what the file ranges over.
        let position = overrides
            .assigned
            .iter()
            .position(|(assigned, _)| *assigned == index);
        if let Some(position) = position {
            if overrides.assigned[position].1.len() == 1 {
                continue;
            }
            values = overrides.assigned.remove(position).1;
        }
        if !values.is_empty() {
            axes.push(axis(index, parameters, values));
        }
    }
    axes
}

fn explicit_variants(section: Option<&Node>, parameters: &[Parameter], report: &mut Report) -> Option<Axis> {
    let section = section?;
    let Data::List(items) = &section.data else {
        report.add(
            &section.at("variants"),
            format!("expected [[variants]], found {}", section.found()),
        );
        return None;
    };
    let mut axis = Axis::new();
    for (position, item) in items.iter().enumerate() {
        let path = format!("variants[{position}]");
        let Some(label) = variant_name(item, &path, &axis, report) else {
            continue;
        };
        let mut assigns = Vec::new();
        for entry in item.entries().iter().filter(|entry| entry.key != "name") {
            let path = format!("{path}.{}", entry.key);
            let at = At {
                path: path.clone(),
                span: entry.key_span.clone(),
                origin: None,
            };
            let Some(index) = find(&entry.key, &at, parameters, report) else {
                continue;
            };
            match parameters[index].accept(&entry.node) {
                Ok(value) => assigns.push((index, value)),
                Err(message) => report.add(&entry.node.at(&path), message),
            }
        }
        axis.push(Choice { label, assigns });
    }
    (!axis.is_empty()).then_some(axis)
}

fn variant_name(item: &Node, path: &str, axis: &Axis, report: &mut Report) -> Option<String> {
    let Some(name) = item.get("name") else {
        report.add(&item.at(path), "missing key \"name\"; every variant needs one");
        return None;
    };
    let at = name.at(&format!("{path}.name"));
    match &name.data {
        Data::Text(text) if text.trim().is_empty() => report.add(&at, "the name is empty"),
        Data::Text(text) if axis.iter().any(|choice| choice.label == *text) => {
            report.add(&at, format!("another variant is called {text:?} already"));
        }
        Data::Text(text) => return Some(text.clone()),
        _ => report.add(&at, format!("expected text, found {}", name.found())),
    }
    None
}

/// Nor can `vary` range over it.
fn refuse_both(explicit: &Axis, vary: &Node, parameters: &[Parameter], report: &mut Report) {
    for entry in vary.entries() {
        let sets = |choice: &&Choice| {
            choice
                .assigns
                .iter()
                .any(|(index, _)| parameters[*index].name == entry.key)
        };
        if let Some(choice) = explicit.iter().find(sets) {
            let at = At {
                path: format!("vary.{}", entry.key),
                span: entry.key_span.clone(),
                origin: None,
            };
            report.add(
                &at,
                format!("the variant {:?} sets this parameter already", choice.label),
            );
        }
    }
}

/// A parameter that named variants assign cannot be set from outside: the
/// names would lie.
fn refuse_conflicts(explicit: &Axis, parameters: &[Parameter], overrides: &mut Overrides) {
    for (index, _) in &overrides.assigned {
        let by = explicit
            .iter()
            .find(|choice| choice.assigns.iter().any(|(set, _)| set == index));
        if let Some(choice) = by {
            let name = &parameters[*index].name;
            overrides.problems.push(SetProblem {
                option: format!("--set {name}"),
                message: format!(
                    "parameter \"{name}\" is what the variant {:?} is about; leave it or change the file",
                    choice.label
                ),
            });
        }
    }
}
