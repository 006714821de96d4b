//! The schema describes every key, and the user documentation mentions them all.

use std::collections::BTreeSet;

use serde_json::Value;
use stiction_scene::{parse, schema};

use crate::{JOINTS, MATERIALS, PLANAR, SHAPES_PLANAR, SHAPES_SPATIAL, SPATIAL, SUPPORTS, all_scenes};

/// All tables of the schema: names and keys.
fn tables(schema: &Value) -> Vec<(String, &serde_json::Map<String, Value>)> {
    let defs = schema["$defs"].as_object().expect("$defs");
    let named = defs.iter().map(|(name, def)| (name.clone(), def)).chain([("the file".to_owned(), schema)]);
    named.filter_map(|(name, def)| Some((name, def.get("properties")?.as_object()?))).collect()
}

fn keys(value: &toml::Value, into: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| {
            into.insert(key.clone());
            match value.as_table().filter(|_| key == "material") {
                // Materials have names of their own.
                Some(materials) => materials.values().for_each(|material| keys(material, into)),
                None => keys(value, into),
            }
        }),
        toml::Value::Array(items) => items.iter().for_each(|item| keys(item, into)),
        _ => {}
    }
}

#[test]
fn every_field_is_described_and_closed() {
    let schema = schema();
    assert!(tables(&schema).len() > 15);
    for (name, fields) in tables(&schema) {
        for (field, description) in fields {
            let text = description.get("description").and_then(Value::as_str).unwrap_or_default();
            assert!(text.len() > 5, "{name}.{field} is not described");
        }
    }
    let text = schema.to_string();
    assert_eq!(text.matches("\"properties\"").count(), tables(&schema).len());
    assert!(!text.contains("\"null\""), "TOML has no null");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), schema);
}

#[test]
fn the_schema_has_only_the_present_names_of_keys() {
    let schema = schema();
    let known: BTreeSet<_> = tables(&schema).into_iter().flat_map(|(_, fields)| fields.keys().cloned()).collect();
    for (old, new) in [
        ("feet", "points"),
        ("freedoms", "dofs"),
        ("freedom", "dof"),
        ("follower_freedom", "follower_dof"),
        ("leader_freedom", "leader_dof"),
    ] {
        assert!(known.contains(new) && !known.contains(old), "{new} instead of {old}");
    }
    let text = schema.to_string();
    assert!(["feet", "foot", "freedom"].iter().all(|word| !text.contains(word)), "descriptions use the present names");
}

#[test]
fn domains_are_in_the_schema() {
    let schema = schema();
    let field = |table: &str, field: &str| &schema["$defs"][table]["properties"][field];
    assert_eq!(schema["$id"], "urn:stiction:scene");
    assert_eq!(field("SimulationTable", "step")["maximum"], 10);
    assert_eq!(field("SchemeTable", "gamma")["minimum"], 0);
    assert_eq!(field("RadiusTable", "radius")["exclusiveMinimum"], 0);
    assert_eq!(schema["$defs"]["BodyTable"]["not"]["required"], serde_json::json!(["mass", "density"]));
    assert!(schema["$defs"]["Angle"].to_string().contains("(deg|rad)"), "{}", schema["$defs"]["Angle"]);
}

#[test]
fn the_scenes_use_known_keys_and_the_tests_use_every_one() {
    let schema = schema();
    let known: BTreeSet<_> = tables(&schema).into_iter().flat_map(|(_, fields)| fields.keys().cloned()).collect();
    let mut used = BTreeSet::new();
    for (name, text) in all_scenes() {
        let scene: toml::Value = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        keys(&scene, &mut used);
    }
    assert!(used.is_subset(&known), "not in the schema: {:?}", used.difference(&known));
    for text in [JOINTS, MATERIALS, PLANAR, SPATIAL, SUPPORTS, SHAPES_PLANAR, SHAPES_SPATIAL] {
        keys(&toml::from_str(text).expect("TOML"), &mut used);
    }
    let seldom = ["corners", "undetermined", "ellipse", "point", "polyhedron", "semi_axes", "axis", "first_direction"];
    let stabilisation =
        ["stabilisation", "baumgarte", "ascher", "rate", "projection", "halve_steps", "order", "substeps"];
    let solving = ["residual", "aim", "accept", "refuse", "on_unsolved"];
    used.extend(seldom.into_iter().chain(stabilisation).chain(solving).map(str::to_owned));
    assert!(known.is_subset(&used), "in no scene: {:?}", known.difference(&used));
}

#[test]
fn the_documentation_is_complete_and_its_examples_are_right() {
    let text = include_str!("../../../../docs/scene.md");
    let schema = schema();
    for (name, fields) in tables(&schema) {
        for field in fields.keys() {
            assert!(text.contains(field.as_str()), "docs/scene.md does not mention {field} of {name}");
        }
    }
    // The examples of a dimension, one after the other, are one scene.
    for fence in ["```toml\n", "```toml space\n", "```toml table\n"] {
        let blocks = text.split(fence).skip(1).filter_map(|rest| rest.split("```").next());
        let scene: String = blocks.collect::<Vec<_>>().join("\n");
        parse(&scene, "docs/scene.md").unwrap_or_else(|error| panic!("{error}\n{scene}"));
    }
}
