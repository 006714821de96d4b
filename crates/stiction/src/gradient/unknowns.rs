//! Unknowns that a run is differentiated with respect to.

use std::sync::Arc;

use nalgebra::DMatrix;
use stiction_multibody::Model;
use stiction_scene::{Scene, SceneError, parse_with};
use stiction_sensitivity::{Variation, displacement};

/// A parameter that the motion depends on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unknown {
    /// A value of the scene, or several values that are equal.
    Value {
        /// Paths of the value, as with `--set`.
        paths: Vec<String>,
        /// Value in the given unit.
        value: f64,
        /// Unit in the scene file, such as `deg`; may be empty.
        unit: String,
        /// Magnitude, which sets the spacing of finite differences, also if the value is zero.
        scale: f64,
    },
    /// A displacement of the initial state, by the index of its velocity component in the model.
    Place(usize),
    /// A velocity of the initial state, by its index in the model.
    Velocity(usize),
}

impl Unknown {
    /// Creates a value of the scene whose magnitude is the value itself.
    pub fn value(path: &str, value: f64) -> Self {
        let scale = if value == 0.0 { 1.0 } else { value.abs() };
        Self::Value { paths: vec![path.to_owned()], value, unit: String::new(), scale }
    }

    /// Overrides of the scene that shift the value.
    fn overrides(&self, shift: f64) -> impl Iterator<Item = (String, String)> {
        let (paths, text) = match self {
            Self::Value { paths, value, unit, .. } => (paths.as_slice(), written(value + shift, unit)),
            Self::Place(_) | Self::Velocity(_) => (&[][..], String::new()),
        };
        paths.iter().map(move |path| (path.clone(), text.clone()))
    }
}

/// Formats a number of a scene with its unit.
fn written(value: f64, unit: &str) -> String {
    if unit.is_empty() { format!("{value:?}") } else { format!("{value:?} {unit}") }
}

/// Spacing of finite differences, as a fraction of the magnitude of a value.   [GRAD-3]
const SPACING: f64 = 1e-4;

/// A scene at the values of the unknowns, and at perturbed values.
#[derive(Clone, Debug)]
pub struct Variants {
    /// The scene.
    pub scene: Scene,
    /// For each unknown: the models at −2, −1, 1 and 2 times the spacing, and the spacing. Components of the state have none.
    models: Vec<Option<([Arc<Model>; 4], f64)>>,
    unknowns: Vec<Unknown>,
}

impl Variants {
    /// Reads a scene from its text at the values of the unknowns, and at two perturbed values on each side.
    pub fn read(text: &str, file_name: &str, unknowns: &[Unknown]) -> Result<Self, SceneError> {
        let all: Vec<_> = unknowns.iter().flat_map(|unknown| unknown.overrides(0.0)).collect();
        let scene = parse_with(text, file_name, &all)?;
        let mut models = Vec::with_capacity(unknowns.len());
        for unknown in unknowns {
            let Unknown::Value { scale, .. } = unknown else {
                models.push(None);
                continue;
            };
            let spacing = SPACING * scale.abs();
            let mut beside = Vec::with_capacity(4);
            for distance in [-2.0, -1.0, 1.0, 2.0] {
                let mut overrides = all.clone();
                overrides.extend(unknown.overrides(distance * spacing));
                beside.push(parse_with(text, file_name, &overrides)?.model);
            }
            models.push(<[_; 4]>::try_from(beside).ok().map(|beside| (beside, spacing)));
        }
        Ok(Self { scene, models, unknowns: unknowns.to_vec() })
    }

    /// The unknowns.
    pub fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }

    /// Values of the scene in the form that the stepper needs, in the order of the unknowns.
    pub(super) fn variations(&self) -> Vec<Variation<'_>> {
        let models = self.models.iter().flatten();
        models
            .map(|(models, spacing)| Variation { models: models.each_ref().map(AsRef::as_ref), spacing: *spacing })
            .collect()
    }

    /// Columns of the unknowns that are values of the scene.
    pub(super) fn columns(&self) -> Vec<usize> {
        self.models.iter().enumerate().filter(|(_, models)| models.is_some()).map(|(column, _)| column).collect()
    }

    /// ∂x/∂unknowns of the initial state: from the scene, and the components that are unknowns themselves.   [GRAD-7]
    pub(super) fn at_start(&self) -> DMatrix<f64> {
        let model = &self.scene.model;
        let n = model.dof();
        let start = model.initial_state();
        let mut out = DMatrix::zeros(2 * n, self.unknowns.len());
        for (column, (unknown, models)) in self.unknowns.iter().zip(&self.models).enumerate() {
            match (unknown, models) {
                (Unknown::Place(k), _) if *k < n => out[(*k, column)] = 1.0,
                (Unknown::Velocity(k), _) if *k < n => out[(n + k, column)] = 1.0,
                (_, Some((models, spacing))) => {
                    let weights = [1.0, -8.0, 8.0, -1.0].map(|weight| weight / (12.0 * spacing));
                    for (beside, weight) in models.iter().zip(weights) {
                        let other = beside.initial_state();
                        let moved = displacement(model, &start.q, &other.q);
                        let faster = other.v.iter().zip(&start.v).map(|(v, start)| v - start);
                        let change = moved.into_iter().chain(faster);
                        out.column_mut(column).iter_mut().zip(change).for_each(|(out, x)| *out += weight * x);
                    }
                }
                _ => {}
            }
        }
        out
    }
}
