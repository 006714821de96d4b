//! The JSON Schema of scene files, for editors, for documentation and for the checks of this crate.

use std::sync::OnceLock;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::file::SceneFile;

/// Identifier of the schema, for tools that keep several.
const ID: &str = "urn:stiction:scene";

/// Returns the JSON Schema (draft 2020-12) of a scene file, with a description of every key.
pub fn schema() -> Value {
    shared().clone()
}

/// Returns the schema, which is made once.
pub(crate) fn shared() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schema_of::<SceneFile>(ID))
}

/// Returns the JSON Schema (draft 2020-12) of a file that [`crate::Reading`] reads, with the identifier `id`.
pub fn schema_of<T: JsonSchema>(id: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    drop_null(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.insert("$id".to_owned(), id.into());
    }
    schema
}

/// Removes null from the schema. TOML has no null: the type of an optional key is its own, not "its own or null".
fn drop_null(schema: &mut Value) {
    let is_null = |alternative: &Value| alternative.get("type").and_then(Value::as_str) == Some("null");
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| !(key == "default" && value.is_null()));
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(alternatives)) = object.get_mut("anyOf") {
                alternatives.retain(|alternative| !is_null(alternative));
                if let [Value::Object(only)] = alternatives.as_slice() {
                    let only = only.clone();
                    object.remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(drop_null);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        _ => {}
    }
}
