//! The JSON Schema of scene files: one source for editors, for documentation and for our own checks.

use std::sync::OnceLock;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use crate::file::SceneFile;

/// What the schema is called, for tools that keep several.
const ID: &str = "urn:stiction:scene";

/// The JSON Schema (draft 2020-12) of a scene file, with a description of every field.
pub fn schema() -> Value {
    shared().clone()
}

/// The schema, made once.
pub(crate) fn shared() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schema_of::<SceneFile>(ID))
}

/// The JSON Schema (draft 2020-12) of a file that [`crate::Reading`] reads; `id` is what it is called.
pub fn schema_of<T: JsonSchema>(id: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    drop_null(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.insert("$id".to_owned(), id.into());
    }
    schema
}

/// TOML has no null: a field that may be left out is of its type, not "of its type or null".
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
