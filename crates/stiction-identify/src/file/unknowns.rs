//! Unknown parameters: names, bounds and places in the scene.

use std::collections::BTreeMap;

use stiction::scene::{Reading, SceneError};

use super::{
    FieldError,
    tables::{IdentificationFile, UnknownTable},
};
use crate::{Parameter, Target};

/// The parameters in the order of their names.
pub(super) fn parameters(tables: &BTreeMap<String, UnknownTable>) -> Result<Vec<Parameter>, FieldError> {
    if tables.is_empty() {
        let field_error = FieldError::new(&["unknowns"], "there is no unknown parameter to identify");
        return Err(field_error.hint("such as [unknowns.mu] with path, start, low and high"));
    }
    tables.iter().map(|(name, table)| parameter(name, table).map_err(|c| c.inside(&["unknowns", name]))).collect()
}

fn parameter(name: &str, table: &UnknownTable) -> Result<Parameter, FieldError> {
    let UnknownTable { low, high, start, .. } = *table;
    for (key, value) in [("low", low), ("high", high), ("start", start)] {
        if !value.is_finite() {
            return Err(FieldError::new(&[key], format!("`{key}` of `{name}` must be a number, but is {value}")));
        }
    }
    if low >= high {
        let reason = format!("the bounds of `{name}` contradict each other: low is {low} and high is {high}");
        return Err(
            FieldError::new(&["low"], reason).hint("low must be below high; a known value belongs into the scene")
        );
    }
    if !(low..=high).contains(&start) {
        let reason = format!("the start {start} of `{name}` is not between its bounds {low} and {high}");
        return Err(FieldError::new(&["start"], reason));
    }
    let usual = if start == 0.0 { 0.5 * (high - low) } else { start.abs() };
    let scale = table.scale.unwrap_or(usual);
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(FieldError::new(&["scale"], format!("the scale of `{name}` must be positive, but is {scale}")));
    }
    let further = table.also.iter().flatten().cloned();
    Ok(Parameter {
        name: name.to_owned(),
        paths: std::iter::once(table.path.clone()).chain(further).collect(),
        unit: table.unit.clone().unwrap_or_default(),
        start,
        bounds: [low, high],
        scale,
    })
}

/// Error at the unknown whose value the scene refuses.
pub(super) fn error_in_unknowns(
    target: &Target,
    reading: &Reading<IdentificationFile>,
    error: SceneError,
) -> SceneError {
    if error.file != "--set" {
        return error;
    }
    let refused = |path: &String| error.source_text.starts_with(&format!("{path}="));
    let Some(unknown) = target.parameters.iter().find(|parameter| parameter.paths.iter().any(refused)) else {
        return error;
    };
    let index = unknown.paths.iter().position(refused).unwrap_or(0);
    let further = index.saturating_sub(1).to_string();
    let keys: &[&str] = if index == 0 { &["path"] } else { &["also", &further] };
    let keys = [&["unknowns", unknown.name.as_str()], keys].concat();
    let placed = reading.error(&keys, format!("{} ({})", error.message, error.source_text));
    match error.hint {
        Some(hint) => placed.with_hint(hint),
        None => placed,
    }
}
