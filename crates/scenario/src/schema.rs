//! The JSON Schema of scenario files, made from the table of keys, for editors
//! that complete, explain and check while one types.

use lasthop_units::Quantity;
use serde_json::{Map, Value, json};

use crate::kind::{Case, Key, Kind, Name};
use crate::load::top_keys;
use crate::parameter::{self, expected_quantity};

/// The JSON Schema (draft 2020-12) of scenario files.
///
/// Where a value can be a parameter, the schema accepts text that refers to one.
pub fn schema() -> Value {
    let mut root = object(top_keys(), None);
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lasthop scenario",
        "description": "Hosts, the path between them, the mechanisms on it and the work to do.",
        "$defs": {
            "reference": {
                "type": "string",
                "pattern": r"\$(\$|\{[^}]*\}|[A-Za-z])",
                "description": "A parameter: \"$name\", or text that contains it such as \"$window segments\"."
            },
            "time": quantity(Quantity::Time),
            "rate": quantity(Quantity::Rate),
            "size": quantity(Quantity::Size),
            "parameter": parameter_schema(),
            "parameterValue": parameter_value(),
        },
    });
    if let (Value::Object(root), Value::Object(head)) = (&mut root, head) {
        let rest = std::mem::take(root);
        *root = head.into_iter().chain(rest).collect();
        set_property(
            root,
            "parameters",
            json!({
                "type": "object",
                "propertyNames": { "pattern": "^[A-Za-z][A-Za-z0-9_]*$" },
                "additionalProperties": { "$ref": "#/$defs/parameter" }
            }),
        );
        set_property(
            root,
            "vary",
            json!({
                "type": "object",
                "additionalProperties": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/parameterValue" } }
            }),
        );
        set_property(
            root,
            "variants",
            json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "name": { "type": "string", "minLength": 1, "description": "What results call the variant." } },
                    "required": ["name"],
                    "additionalProperties": { "$ref": "#/$defs/parameterValue" }
                }
            }),
        );
    }
    root
}

/// Gives a property read elsewhere its schema, keeping its description.
fn set_property(root: &mut Map<String, Value>, name: &str, schema: Value) {
    let Some(Value::Object(properties)) = root.get_mut("properties") else {
        return;
    };
    if let (Some(Value::Object(property)), Value::Object(schema)) = (properties.get_mut(name), schema) {
        property.extend(schema);
    }
}

fn parameter_value() -> Value {
    json!({
        "anyOf": [
            { "type": ["string", "number", "boolean"] },
            { "type": "array", "items": { "type": ["string", "number", "boolean"] } }
        ]
    })
}

fn parameter_schema() -> Value {
    let properties: Map<String, Value> = parameter::KEYS
        .iter()
        .map(|(name, help)| {
            let mut schema = match *name {
                "default" => parameter_value(),
                "choices" => json!({ "type": "array", "items": { "type": ["string", "number", "boolean"] } }),
                "min" | "max" => json!({ "type": ["string", "number"] }),
                "items" => {
                    let names: Vec<&str> = parameter::Type::ITEMS.iter().map(|(name, _)| *name).collect();
                    json!({ "enum": names })
                }
                _ => json!({ "type": "string" }),
            };
            schema["description"] = json!(help);
            ((*name).to_owned(), schema)
        })
        .collect();
    json!({
        "anyOf": [
            { "type": "object", "properties": properties, "required": ["default"], "additionalProperties": false },
            { "$ref": "#/$defs/parameterValue" }
        ]
    })
}

/// A table with these keys; `case` adds the `type` that chooses it.
fn object(keys: &[Key], case: Option<&Case>) -> Value {
    let mut properties = Map::new();
    if let Some(case) = case {
        properties.insert(
            "type".to_owned(),
            json!({ "const": case.name, "description": case.help }),
        );
    }
    for key in keys {
        properties.insert(key.name.to_owned(), property(key));
    }
    let required: Vec<&str> = case
        .map(|_| "type")
        .into_iter()
        .chain(keys.iter().filter(|key| key.required).map(|key| key.name))
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = of(&key.kind);
    let description = match (&key.default, &key.otherwise) {
        (None, Some(words)) => format!("{} Otherwise: {words}.", key.help),
        _ => key.help.clone(),
    };
    schema["description"] = json!(description);
    if let Some((_, node)) = &key.default
        && let Some(default) = plain(node)
    {
        schema["default"] = default;
    }
    schema
}

/// A default as JSON.
fn plain(node: &crate::tree::Node) -> Option<Value> {
    use crate::tree::Data;
    Some(match &node.data {
        Data::Text(text) => json!(text),
        Data::Integer(value) => json!(value),
        Data::Number(value) => json!(value),
        Data::Flag(value) => json!(value),
        Data::List(items) => Value::Array(items.iter().filter_map(plain).collect()),
        Data::Table(_) => json!({}),
        Data::Date(_) | Data::Broken => return None,
    })
}

/// The schema of a kind, references included where values can be.
fn of(kind: &Kind) -> Value {
    match kind {
        Kind::Table(keys) => object(keys, None),
        Kind::Tagged { cases, .. } => {
            let options: Vec<Value> = cases.iter().map(|case| object(&case.keys, Some(case))).collect();
            json!({ "anyOf": options })
        }
        Kind::Named(inner) => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z][A-Za-z0-9_-]*$" },
            "additionalProperties": of(inner)
        }),
        Kind::When => json!({
            "type": "object",
            "additionalProperties": { "$ref": "#/$defs/parameterValue" }
        }),
        Kind::Elsewhere { .. } => json!({}),
        Kind::Any(kinds) => {
            let mut options: Vec<Value> = kinds.iter().map(literal).collect();
            options.push(reference());
            json!({ "anyOf": options })
        }
        // A list's items are what refers to parameters; so may the list.
        Kind::List { of, .. } if matches!(of.as_ref(), Kind::Tagged { .. } | Kind::Table(_)) => literal(kind),
        kind => json!({ "anyOf": [literal(kind), reference()] }),
    }
}

fn reference() -> Value {
    json!({ "$ref": "#/$defs/reference" })
}

/// The schema of a value that is spelt out.
fn literal(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::Identifier => json!({ "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]*$" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Integer { min, max } => {
            let mut schema = json!({ "type": "integer", "minimum": min });
            if i64::try_from(*max).is_ok() {
                schema["maximum"] = json!(max);
            }
            schema
        }
        Kind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::Time { .. } => json!({ "$ref": "#/$defs/time" }),
        Kind::Rate => json!({ "$ref": "#/$defs/rate" }),
        Kind::Size { .. } => json!({ "$ref": "#/$defs/size" }),
        Kind::Counted { noun, .. } => {
            let singular = noun.strip_suffix('s').unwrap_or(noun);
            json!({ "type": "string", "pattern": format!(r"^\s*[0-9]+\s*{singular}s?\s*$") })
        }
        Kind::Choice { names, .. } => choice(names),
        Kind::Word { word, help } => json!({ "const": word, "description": help }),
        Kind::List { of: inner, min, max } => {
            let mut schema = json!({ "type": "array", "items": of(inner) });
            if *min > 0 {
                schema["minItems"] = json!(min);
            }
            if *max < usize::MAX {
                schema["maxItems"] = json!(max);
            }
            schema
        }
        kind => of(kind),
    }
}

fn choice(names: &[Name]) -> Value {
    if names.iter().all(|choice| choice.help.is_empty()) {
        let names: Vec<&str> = names.iter().map(|choice| choice.name).collect();
        return json!({ "enum": names });
    }
    let options: Vec<Value> = names
        .iter()
        .map(|choice| json!({ "const": choice.name, "description": choice.help }))
        .collect();
    json!({ "anyOf": options })
}

/// Text that is a number and a unit.
fn quantity(quantity: Quantity) -> Value {
    let mut units: Vec<&str> = quantity.units().iter().map(|(name, _)| *name).collect();
    if quantity == Quantity::Time {
        units.extend(["µs", "μs"]);
    }
    let pattern = format!(r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*({})\s*$", units.join("|"));
    let description = expected_quantity(quantity);
    json!({ "type": "string", "pattern": pattern, "description": description })
}
