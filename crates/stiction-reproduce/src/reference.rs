//! The file of a case: parameters, published values, independent reference values, tolerances.
//!
//! A path is a chain of names joined by dots; a number selects an element of a list: `derived.motion.2.theta_a`.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{CaseError, Expected, Tolerance, Value};

/// Content of `reference/NAME.json`.
#[derive(Clone, Debug)]
pub struct Reference {
    file: &'static str,
    content: Json,
}

/// One row of a table: named numbers. Entries that are not numbers are left out.
#[derive(Clone, Debug)]
pub struct Entry {
    file: &'static str,
    path: String,
    numbers: BTreeMap<String, f64>,
}

impl Reference {
    /// Reads the text of a file; `file` is for messages.
    pub fn parse(file: &'static str, text: &str) -> Result<Self, CaseError> {
        let content = serde_json::from_str(text).map_err(|error| CaseError::Reference {
            file: file.to_owned(),
            path: String::new(),
            problem: format!("is not JSON: {error}"),
        })?;
        Ok(Self { file, content })
    }

    /// Name of the file, from the root of the project.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The number at `path`.
    pub fn number(&self, path: &str) -> Result<f64, CaseError> {
        self.at(path)?.as_f64().ok_or_else(|| self.fault(path, "is not a number"))
    }

    /// The number `parameters.NAME`.
    pub fn parameter(&self, name: &str) -> Result<f64, CaseError> {
        self.number(&format!("parameters.{name}"))
    }

    /// The whole number at `path`.
    pub fn count(&self, path: &str) -> Result<usize, CaseError> {
        let count = self.at(path)?.as_u64().ok_or_else(|| self.fault(path, "is not a whole number"))?;
        usize::try_from(count).map_err(|_| self.fault(path, "is too large"))
    }

    /// The list of numbers at `path`.
    pub fn numbers(&self, path: &str) -> Result<Vec<f64>, CaseError> {
        let numbers = self.at(path)?.as_array().map(|list| list.iter().map(Json::as_f64).collect());
        numbers.flatten().ok_or_else(|| self.fault(path, "is not a list of numbers"))
    }

    /// Number of elements of the list at `path`.
    pub fn length(&self, path: &str) -> Result<usize, CaseError> {
        Ok(self.at(path)?.as_array().ok_or_else(|| self.fault(path, "is not a list"))?.len())
    }

    /// The list of N numbers at `path`.
    pub fn vector<const N: usize>(&self, path: &str) -> Result<[f64; N], CaseError> {
        let numbers = self.numbers(path)?;
        <[f64; N]>::try_from(numbers).map_err(|_| self.fault(path, &format!("is not a list of {N} numbers")))
    }

    /// The text at `path`.
    pub fn text(&self, path: &str) -> Result<&str, CaseError> {
        self.at(path)?.as_str().ok_or_else(|| self.fault(path, "is not a text"))
    }

    /// The text at `path`, if there is one.
    pub fn note(&self, path: &str) -> Option<&str> {
        self.at(path).ok().and_then(Json::as_str)
    }

    /// The texts at `path`; none if the path does not exist.
    pub fn notes(&self, path: &str) -> Vec<&str> {
        self.at(path).ok().and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect()
    }

    /// Every text directly under `path`; none if the path does not exist.
    pub fn statements(&self, path: &str) -> Vec<&str> {
        self.at(path)
            .ok()
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(_, text)| text.as_str())
            .collect()
    }

    /// The table at `path`: a list of rows of named numbers.
    pub fn table(&self, path: &str) -> Result<Vec<Entry>, CaseError> {
        let rows = self.at(path)?.as_array().ok_or_else(|| self.fault(path, "is not a table"))?;
        let entry = |(k, row): (usize, &Json)| {
            let path = format!("{path}.{k}");
            let row = row.as_object().ok_or_else(|| self.fault(&path, "is not a row of a table"))?;
            let numbers = row.iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?))).collect();
            Ok(Entry { file: self.file, path, numbers })
        };
        rows.iter().enumerate().map(entry).collect()
    }

    /// Expected value at `path`: a number, a truth value or a text.
    pub fn value(&self, path: &str) -> Result<Value, CaseError> {
        match self.at(path)? {
            Json::Bool(flag) => Ok(Value::Flag(*flag)),
            Json::String(text) => Ok(Value::Text(text.clone())),
            other => other
                .as_f64()
                .map(Value::Number)
                .ok_or_else(|| self.fault(path, "is neither a number, true, false nor a text")),
        }
    }

    /// The tolerance at `path`: `{ "abs": …, "rel": … }`, either part may be absent.
    pub fn tolerance(&self, path: &str) -> Result<Tolerance, CaseError> {
        let value = self.at(path)?;
        let part = |name: &str| value.get(name).and_then(Json::as_f64);
        match (part("abs"), part("rel")) {
            (None, None) => Err(self.fault(path, "is not a tolerance")),
            (abs, rel) => Ok(Tolerance { abs: abs.unwrap_or(0.0), rel: rel.unwrap_or(0.0) }),
        }
    }

    /// The value at one path within the tolerance at another.
    pub fn expected(&self, value: &str, tolerance: &str) -> Result<Expected, CaseError> {
        Ok(Expected::within(self.value(value)?, self.tolerance(tolerance)?))
    }

    /// Exactly the value at `path`: counts, truth values.
    pub fn exactly(&self, path: &str) -> Result<Expected, CaseError> {
        Ok(Expected::within(self.value(path)?, Tolerance::default()))
    }

    /// At most the number at `path`.
    pub fn at_most(&self, path: &str) -> Result<Expected, CaseError> {
        Ok(Expected::bound(Value::AtMost(self.number(path)?)))
    }

    /// At least the number at `path`.
    pub fn at_least(&self, path: &str) -> Result<Expected, CaseError> {
        Ok(Expected::bound(Value::AtLeast(self.number(path)?)))
    }

    /// Between the two numbers at `path`.
    pub fn between(&self, path: &str) -> Result<Expected, CaseError> {
        let [least, most] = self.vector(path)?;
        Ok(Expected::bound(Value::Between(least, most)))
    }

    fn at(&self, path: &str) -> Result<&Json, CaseError> {
        path.split('.').try_fold(&self.content, |value, name| {
            let inside = match value {
                Json::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)),
                _ => value.get(name),
            };
            inside.ok_or_else(|| self.fault(path, &format!("is not there: nothing is called `{name}`")))
        })
    }

    fn fault(&self, path: &str, problem: &str) -> CaseError {
        CaseError::Reference { file: self.file.to_owned(), path: path.to_owned(), problem: problem.to_owned() }
    }
}

impl Entry {
    /// The number of that name.
    pub fn number(&self, name: &str) -> Result<f64, CaseError> {
        self.get(name).ok_or_else(|| CaseError::Reference {
            file: self.file.to_owned(),
            path: format!("{}.{name}", self.path),
            problem: "is not there".to_owned(),
        })
    }

    /// The whole number of that name.
    pub fn count(&self, name: &str) -> Result<u32, CaseError> {
        let number = self.number(name)?;
        let whole = (0.0..=f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0;
        // Within range and whole, so that the cast is exact.
        #[allow(clippy::cast_sign_loss)]
        whole.then_some(number as u32).ok_or_else(|| CaseError::Reference {
            file: self.file.to_owned(),
            path: format!("{}.{name}", self.path),
            problem: "is not a whole number".to_owned(),
        })
    }

    /// The number of that name, if there is one.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// Names and numbers, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.numbers.iter().map(|(name, &number)| (name.as_str(), number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Reference {
        let text =
            r#"{"a": {"b": [1.5, 2.5]}, "flag": true, "rows": [{"t": 1.0, "x": null}], "tolerance": {"rel": 0.01}}"#;
        Reference::parse("reference/sample.json", text).unwrap()
    }

    #[test]
    fn paths_lead_to_values() {
        let case = sample();
        assert_eq!(case.number("a.b.1").unwrap(), 2.5);
        assert_eq!(case.vector::<2>("a.b").unwrap(), [1.5, 2.5]);
        assert_eq!(case.value("flag").unwrap(), Value::Flag(true));
        assert_eq!(case.tolerance("tolerance").unwrap(), Tolerance { abs: 0.0, rel: 0.01 });
        let rows = case.table("rows").unwrap();
        assert_eq!((rows[0].number("t").unwrap(), rows[0].get("x")), (1.0, None));
    }

    #[test]
    fn a_fault_names_file_and_path() {
        let case = sample();
        let faults = [
            (case.number("a.c").map(drop), "reference/sample.json: `a.c` is not there: nothing is called `c`"),
            (case.number("a").map(drop), "reference/sample.json: `a` is not a number"),
            (case.vector::<3>("a.b").map(drop), "reference/sample.json: `a.b` is not a list of 3 numbers"),
            (case.table("rows").unwrap()[0].number("x").map(drop), "reference/sample.json: `rows.0.x` is not there"),
        ];
        for (found, expected) in faults {
            assert_eq!(found.unwrap_err().to_string(), expected);
        }
    }
}
