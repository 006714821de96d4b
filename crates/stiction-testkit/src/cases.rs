//! Reference cases as data: `reference/*.json` at the root of the checkout.
//!
//! A file contains one case: its description, source, parameters, published values, values derived independently of this
//! code, their derivation, and the tolerances of the comparison.
//!
//! ```
//! let case = stiction_testkit::reference("c02");
//! assert_eq!(case.number("parameters.rod_a.mass"), 1.0);
//! for row in case.table("derived.motion") {
//!     assert!(row["t"] > 0.0 && row["theta_a"].is_finite());
//! }
//! ```
//!
//! A path is a chain of names joined by dots; a number selects an element of a list. Reading a missing value panics with the
//! file and the path.

// Test data is stored in files; the lint against reading files is meant for the numerical crates.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::Tol;

/// One reference case.
#[derive(Clone, Debug)]
pub struct Reference {
    file: String,
    content: Value,
}

/// Reads `reference/NAME.json`.
///
/// # Panics
///
/// Panics if the file is missing or not JSON.
pub fn reference(name: &str) -> Reference {
    let file = format!("reference/{name}.json");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("cannot read {file}: {e}"));
    let content = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file} is not JSON: {e}"));
    Reference { file, content }
}

impl Reference {
    /// The number at `path`.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub fn number(&self, path: &str) -> f64 {
        self.at(path).as_f64().unwrap_or_else(|| self.complain(path, "a number"))
    }

    /// The list of numbers at `path`.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub fn numbers(&self, path: &str) -> Vec<f64> {
        let numbers = self.at(path).as_array().map(|list| list.iter().map(Value::as_f64).collect());
        numbers.flatten().unwrap_or_else(|| self.complain(path, "a list of numbers"))
    }

    /// The list of numbers at `path`, if there is one.
    pub fn try_numbers(&self, path: &str) -> Option<Vec<f64>> {
        let found = path.split('.').try_fold(&self.content, |value, name| match value {
            Value::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)),
            _ => value.get(name),
        })?;
        found.as_array()?.iter().map(Value::as_f64).collect()
    }

    /// The text at `path`.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub fn text(&self, path: &str) -> &str {
        self.at(path).as_str().unwrap_or_else(|| self.complain(path, "a text"))
    }

    /// The table at `path`: a list of rows, each a set of named numbers.
    ///
    /// Entries that are not numbers (`null` for an unpublished value, names of rows) are omitted.
    ///
    /// # Panics
    ///
    /// Panics if there is no list of rows.
    pub fn table(&self, path: &str) -> Vec<BTreeMap<String, f64>> {
        let rows = self.at(path).as_array().unwrap_or_else(|| self.complain(path, "a table"));
        let row = |row: &Value| {
            let entries = row.as_object().unwrap_or_else(|| self.complain(path, "a list of rows"));
            entries.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect()
        };
        rows.iter().map(row).collect()
    }

    /// The tolerance at `path`: `{ "abs": …, "rel": … }`, either part may be absent. `unit` is used in messages.
    ///
    /// # Panics
    ///
    /// Panics if both parts are missing.
    pub fn tolerance(&self, path: &str, unit: &'static str) -> Tol {
        let value = self.at(path);
        let part = |name: &str| value.get(name).and_then(Value::as_f64);
        match (part("abs"), part("rel")) {
            (None, None) => self.complain(path, "a tolerance"),
            (abs, rel) => Tol { abs: abs.unwrap_or(0.0), rel: rel.unwrap_or(0.0), unit },
        }
    }

    fn at(&self, path: &str) -> &Value {
        path.split('.').fold(&self.content, |value, name| {
            let inside = match value {
                Value::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)),
                _ => value.get(name),
            };
            inside.unwrap_or_else(|| panic!("{}: `{name}` of the path `{path}` does not exist", self.file))
        })
    }

    fn complain(&self, path: &str, wanted: &str) -> ! {
        panic!("{}: `{path}` is not {wanted}", self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::{Reference, reference};
    use crate::Tol;

    fn sample() -> Reference {
        let content = serde_json::json!({
            "a": { "b": [1.5, 2.5] },
            "rows": [{ "t": 1.0, "x": null, "name": "n" }],
            "tolerance": { "rel": 0.01 }
        });
        Reference { file: "reference/sample.json".into(), content }
    }

    #[test]
    fn paths_lead_to_values() {
        let case = sample();
        assert_eq!(case.number("a.b.1"), 2.5);
        assert_eq!(case.numbers("a.b"), [1.5, 2.5]);
        assert_eq!(case.tolerance("tolerance", "m"), Tol::relative(0.01, "m"));
        let table = case.table("rows");
        assert_eq!(table.len(), 1);
        assert_eq!(table[0].iter().map(|(name, &x)| (name.as_str(), x)).collect::<Vec<_>>(), [("t", 1.0)]);
    }

    #[test]
    #[should_panic(expected = "reference/sample.json: `c` of the path `a.c` does not exist")]
    fn a_wrong_path_is_named() {
        sample().number("a.c");
    }

    #[test]
    #[should_panic(expected = "`a` is not a number")]
    fn a_wrong_kind_is_named() {
        sample().number("a");
    }

    /// Every file contains the case, its source and the derivation of its numbers.
    #[test]
    fn all_files_are_complete() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reference");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert!(names.len() >= 13, "{names:?}");
        for name in names {
            let case = reference(&name);
            assert_eq!(case.text("case").replace("C-", "c"), name);
            assert!(!case.text("derivation").is_empty() && !case.text("source.work").is_empty(), "{name}");
            for part in ["parameters", "published", "derived", "tolerance"] {
                let _present = case.at(part);
            }
        }
    }
}
