//! A scene with parameters that are not known.

use stiction::{
    Scene, SceneError,
    gradient::{Unknown, Variants},
    scene,
};

/// A number that is not known.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in tables.
    pub name: String,
    /// The values of the scene that it is.
    pub paths: Vec<String>,
    /// Behind its number in the scene: `deg`.
    pub unit: String,
    /// The first guess.
    pub start: f64,
    /// Least and greatest value; always kept.
    pub bounds: [f64; 2],
    /// Its size, for differences and damping.
    pub scale: f64,
}

impl Parameter {
    /// A value of the scene between two bounds.
    pub fn new(name: &str, path: &str, start: f64, bounds: [f64; 2]) -> Self {
        let scale = if start == 0.0 { 1.0 } else { start.abs() };
        Self { name: name.to_owned(), paths: vec![path.to_owned()], unit: String::new(), start, bounds, scale }
    }
}

/// The scene behind recordings, and what of it is not known.
#[derive(Clone, Debug)]
pub struct Target {
    /// The text of the scene.
    pub text: String,
    /// Its file, for messages.
    pub file_name: String,
    /// What is not known.
    pub parameters: Vec<Parameter>,
}

impl Target {
    /// The scene with these values.
    pub fn scene(&self, values: &[f64]) -> Result<Scene, SceneError> {
        scene::parse_with(&self.text, &self.file_name, &self.changes(values))
    }

    /// The values as changes of the scene: paths, and what stands there.
    pub fn changes(&self, values: &[f64]) -> Vec<(String, String)> {
        let mut changes = Vec::new();
        for (parameter, value) in self.parameters.iter().zip(values) {
            let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
            let text = format!("{value:?}{unit}");
            changes.extend(parameter.paths.iter().map(|path| (path.clone(), text.clone())));
        }
        changes
    }

    /// The scene with these values and beside them, and so many components of its state at the start: displacements, then velocities.
    pub(crate) fn variants(&self, values: &[f64], dof: usize) -> Result<Variants, SceneError> {
        let values = self.parameters.iter().zip(values).map(|(parameter, value)| Unknown::Value {
            paths: parameter.paths.clone(),
            value: inside(*value, parameter),
            unit: parameter.unit.clone(),
            scale: parameter.scale,
        });
        let unknowns: Vec<_> =
            values.chain((0..dof).map(Unknown::Place)).chain((0..dof).map(Unknown::Velocity)).collect();
        Variants::read(&self.text, &self.file_name, &unknowns)
    }

    /// The first guesses.
    pub fn starts(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.start).collect()
    }
}

/// Scenes refuse values beyond physical bounds, and derivatives look two spacings to either side: there they are taken a little inside.
fn inside(value: f64, parameter: &Parameter) -> f64 {
    let [low, high] = parameter.bounds;
    let margin = (2.5e-4 * parameter.scale).min(0.5 * (high - low));
    value.clamp(low + margin, (high - margin).max(low + margin))
}
