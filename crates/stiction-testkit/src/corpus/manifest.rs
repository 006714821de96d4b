//! The manifest `problems/manifest.json`: every file with its origin, and the expected status of every method.

use std::collections::BTreeMap;

/// Expected status of one method on one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Accepted statuses: `solved`, `solved-loosely`, `budget-exhausted`, `infeasible`, `breakdown`, `not-applicable`.
    /// There are several if rounding decides between them.
    pub status: Vec<String>,
    /// Reason for any status other than solved; required then.
    pub why: Option<String>,
}

impl Expectation {
    /// True if the method must solve the problem.
    pub fn is_solved(&self) -> bool {
        self.status == ["solved"]
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path below `problems/`.
    pub file: String,
    /// Its kind.
    pub kind: String,
    /// Its family.
    pub family: String,
    /// Origin: a citation, or a description of the generation.
    pub provenance: String,
    /// The expectations by the name of the method.
    pub expect: BTreeMap<String, Expectation>,
}

/// The whole manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// One entry per file, in the order of the paths.
    pub files: Vec<Entry>,
}

type Json = serde_json::Value;

impl Manifest {
    /// The manifest of this repository.
    ///
    /// # Panics
    /// Panics if the file is missing or not a manifest.
    #[allow(clippy::disallowed_methods)] // Test data is read from the repository.
    pub fn load() -> Self {
        let path = super::folder().join("manifest.json");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::read(&text)
    }

    /// The manifest of a text.
    ///
    /// # Panics
    /// Panics if the text is not a manifest.
    pub fn read(text: &str) -> Self {
        let json: Json = serde_json::from_str(text).unwrap_or_else(|error| panic!("manifest.json: {error}"));
        Self { files: list(&json, "files").iter().map(entry).collect() }
    }

    /// The entry of a file.
    pub fn entry(&self, file: &str) -> Option<&Entry> {
        self.files.iter().find(|entry| entry.file == file)
    }
}

fn entry(json: &Json) -> Entry {
    let expect = json["expect"].as_object().unwrap_or_else(|| panic!("an entry without `expect`: {json}"));
    Entry {
        file: text(json, "file"),
        kind: text(json, "kind"),
        family: text(json, "family"),
        provenance: text(json, "provenance"),
        expect: expect.iter().map(|(method, value)| (method.clone(), expectation(value))).collect(),
    }
}

/// `"solved"`, or `{"status": "…" or ["…", …], "why": "…"}`.
fn expectation(json: &Json) -> Expectation {
    if let Some(status) = json.as_str() {
        return Expectation { status: vec![status.to_owned()], why: None };
    }
    let status = match &json["status"] {
        Json::String(status) => vec![status.clone()],
        _ => list(json, "status").iter().filter_map(Json::as_str).map(str::to_owned).collect(),
    };
    Expectation { status, why: json["why"].as_str().map(str::to_owned) }
}

fn list<'j>(json: &'j Json, field: &str) -> &'j [Json] {
    json[field].as_array().unwrap_or_else(|| panic!("`{field}` is not a list in {json}"))
}

fn text(json: &Json, field: &str) -> String {
    json[field].as_str().unwrap_or_else(|| panic!("`{field}` is not a string in {json}")).to_owned()
}
