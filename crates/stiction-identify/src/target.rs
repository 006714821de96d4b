//! Scene with unknown parameters.

use stiction::{
    Scene, SceneError,
    gradient::{Unknown, Variants},
    scene,
};

/// Unknown parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in tables.
    pub name: String,
    /// Paths of the values of the scene that it sets.
    pub paths: Vec<String>,
    /// Unit of its number in the scene: `deg`.
    pub unit: String,
    /// Initial guess.
    pub start: f64,
    /// Lower and upper bound, which are never violated.
    pub bounds: [f64; 2],
    /// Scale, for finite differences and damping.
    pub scale: f64,
}

impl Parameter {
    /// Parameter of one value of the scene between two bounds.
    pub fn new(name: &str, path: &str, start: f64, bounds: [f64; 2]) -> Self {
        let scale = if start == 0.0 { 1.0 } else { start.abs() };
        Self { name: name.to_owned(), paths: vec![path.to_owned()], unit: String::new(), start, bounds, scale }
    }
}

/// Scene of recordings with its unknown parameters.
#[derive(Clone, Debug)]
pub struct Target {
    /// The text of the scene.
    pub text: String,
    /// Its file, for messages.
    pub file_name: String,
    /// Unknown parameters.
    pub parameters: Vec<Parameter>,
}

impl Target {
    /// The scene with these values.
    pub fn scene(&self, values: &[f64]) -> Result<Scene, SceneError> {
        scene::parse_with(&self.text, &self.file_name, &self.changes(values))
    }

    /// Values as changes of the scene: paths and values.
    pub fn changes(&self, values: &[f64]) -> Vec<(String, String)> {
        let mut changes = Vec::new();
        for (parameter, value) in self.parameters.iter().zip(values) {
            let unit = if parameter.unit.is_empty() { String::new() } else { format!(" {}", parameter.unit) };
            let text = format!("{value:?}{unit}");
            changes.extend(parameter.paths.iter().map(|path| (path.clone(), text.clone())));
        }
        changes
    }

    /// Scene with these values and neighbouring ones, with this number of components of its initial state: displacements, then velocities.
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

    /// Initial guesses.
    pub fn starts(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.start).collect()
    }
}

/// Scenes refuse values beyond physical bounds, and derivatives need two spacings to either side: near a bound they are taken a little
/// inside.
fn inside(value: f64, parameter: &Parameter) -> f64 {
    let [low, high] = parameter.bounds;
    let margin = (2.5e-4 * parameter.scale).min(0.5 * (high - low));
    value.clamp(low + margin, (high - margin).max(low + margin))
}
