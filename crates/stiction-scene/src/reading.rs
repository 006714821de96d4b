//! Other TOML files, read like scenes: checked against the schema of a struct, with places for all errors.

use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    MAX_FILE_SIZE, SceneError, conform,
    document::{Document, Step},
    error::{Fault, Sources},
    read, schema, too_large, unreadable,
};

/// A TOML file read into a struct. Errors about its values can be given their place.
///
/// The last word of the schema's title says what the file is: "unknown key `x` in a *study*".
#[derive(Clone, Debug)]
pub struct Reading<T> {
    /// Contents of the file.
    pub value: T,
    file: String,
    text: String,
    document: Document,
}

impl<T: DeserializeOwned + JsonSchema> Reading<T> {
    /// Reads a file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = read(path).map_err(|message| unreadable(path, &message))?;
        Self::parse(&text, &file)
    }

    /// Reads a text; `file` is the file name for messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, SceneError> {
        if text.len() as u64 > MAX_FILE_SIZE {
            return Err(SceneError::without_place(file, &too_large()));
        }
        let understood = Document::parse(text).and_then(|document| {
            conform::conform(&document, &schema::schema_of::<T>(""))?;
            let value = T::deserialize(document.to_json())
                .map_err(|error| Fault::new(document.root.span.clone(), format!("cannot be understood: {error}")))?;
            Ok((value, document))
        });
        let (value, document) = understood.map_err(|fault| Sources::new(file, text).locate(fault))?;
        Ok(Self { value, file: file.to_owned(), text: text.to_owned(), document })
    }
}

impl<T> Reading<T> {
    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns an error at the value behind these keys, or at the innermost existing table around it. In lists a key
    /// is the number of an item, from 0.
    pub fn error(&self, keys: &[&str], message: impl Into<String>) -> SceneError {
        let path: Vec<_> = keys.iter().map(|key| key.parse().map_or(Step::Key(key), Step::Index)).collect();
        Sources::new(&self.file, &self.text).locate(Fault::new(self.document.place(&path), message))
    }
}
