//! The JSON Schema is complete in itself, and the catalogue names its sources.

use lasthop_scenario::{catalog, schema};
use serde_json::Value;

/// Calls `visit` for every object of the schema.
fn walk(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(map);
            map.values().for_each(|inner| walk(inner, visit));
        }
        Value::Array(items) => items.iter().for_each(|inner| walk(inner, visit)),
        _ => {}
    }
}

#[test]
fn every_reference_of_the_schema_leads_somewhere() {
    let schema = schema();
    let mut references = 0;
    walk(&schema, &mut |map| {
        if let Some(Value::String(target)) = map.get("$ref") {
            references += 1;
            let pointer = target.trim_start_matches('#');
            assert!(schema.pointer(pointer).is_some(), "{target}");
        }
    });
    assert!(references > 50);
}

#[test]
fn an_editor_can_explain_every_key() {
    walk(&schema(), &mut |map| {
        // Only what maps keys to schemas; a key may itself be called "properties".
        let (Some(Value::String(kind)), Some(Value::Object(properties))) =
            (map.get("type"), map.get("properties"))
        else {
            return;
        };
        assert_eq!(kind, "object");
        for (name, property) in properties {
            let text = property
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            assert!(text.len() > 4, "{name} has no description");
        }
    });
}

#[test]
fn values_may_be_parameters() {
    let schema = schema();
    let delay = "/properties/path/items/anyOf/0/properties/delay/anyOf/1/$ref";
    assert_eq!(schema.pointer(delay), Some(&Value::from("#/$defs/reference")));
}

#[test]
fn the_catalogue_lists_every_mechanism_of_the_other_crates() {
    let all = catalog();
    let has = |kind: &str, name: &str| all.iter().any(|m| m.kind == kind && m.name == name);
    assert!(lasthop_tcp::SENDERS.iter().all(|name| has("sender", name)));
    assert!(lasthop_tcp::CongestionConfig::names().all(|name| has("congestion control", name)));
    assert!(lasthop_tcp::Personality::names().all(|name| has("personality", name)));
    assert!(lasthop_tcp::Recovery::names().all(|name| has("recovery", name)));
    assert!(lasthop_tcp::AckCounting::names().all(|name| has("ACK counting", name)));
    assert!(
        lasthop_agent::AgentConfig::names()
            .into_iter()
            .all(|name| has("agent", name))
    );
    assert!(
        lasthop_path::ErrorModel::NAMES
            .iter()
            .all(|name| has("error model", name))
    );
    for standard in lasthop_path::Standard::names() {
        assert!(has("Wi-Fi standard", &format!("802.11{standard}")));
    }
    let cubic = all
        .iter()
        .find(|m| m.kind == "congestion control" && m.name == "cubic");
    assert!(cubic.is_some_and(|cubic| {
        cubic
            .parameters
            .iter()
            .any(|p| p.name == "beta" && p.default == "0.7")
    }));
    for mechanism in &all {
        assert!(
            !mechanism.summary.is_empty() && !mechanism.place.is_empty(),
            "{}",
            mechanism.name
        );
        assert!(
            mechanism
                .parameters
                .iter()
                .all(|p| !p.help.is_empty() && !p.unit.is_empty())
        );
    }
}

#[test]
fn every_choice_of_the_stack_is_explained() {
    let schema = schema();
    for key in [
        "sender",
        "personality",
        "recovery",
        "reduction",
        "loss_detection",
        "idle_restart",
        "ack_counting",
    ] {
        let pointer = format!("/properties/hosts/additionalProperties/properties/{key}/anyOf/0/anyOf");
        let options = schema
            .pointer(&pointer)
            .and_then(Value::as_array)
            .expect("a choice with explanations");
        for option in options {
            assert!(
                !option["description"].as_str().unwrap_or_default().is_empty(),
                "{key}: {option}"
            );
        }
    }
}
