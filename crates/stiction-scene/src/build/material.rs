//! `[material.NAME]`: compliant layers, and the references to them.

use nalgebra::Matrix3;
use stiction_multibody::{Layer, LayerRule};

use super::{
    Assembly,
    reader::{At, Reader},
};
use crate::{
    error::Fault,
    file::{MaterialTable, Modulus, SceneFile},
    suggest,
};

/// Name for "no layer".
const RIGID: &str = "rigid";

/// Returns the layers of all materials, by name.
pub(super) fn materials(reader: &Reader, root: &At, file: &SceneFile) -> Result<Vec<(String, Layer)>, Fault> {
    let mut layers = Vec::new();
    for (name, table) in &file.material {
        let at = root.key("material").key(name);
        if name == RIGID {
            return Err(at
                .fault("\"rigid\" means no layer at all and cannot be a material")
                .hint("choose another name"));
        }
        let layer = layer(reader, &at, table)?;
        let layer = layer.validated(name).map_err(|error| at.model_error(&error))?;
        layers.push((name.clone(), layer));
    }
    Ok(layers)
}

impl Assembly<'_> {
    /// Returns the layer of the named material; none for `rigid`.
    pub(super) fn material(&self, at: &At, name: &str) -> Result<Option<Layer>, Fault> {
        if name == RIGID {
            return Ok(None);
        }
        let found = self.materials.iter().find(|(known, _)| known == name);
        found.map(|(_, layer)| Some(*layer)).ok_or_else(|| {
            let known = self.materials.iter().map(|(known, _)| known.as_str()).chain(std::iter::once(RIGID));
            at.fault(format!("there is no material \"{name}\"")).hint(suggest::hint(name, known))
        })
    }

    /// Returns the layer of a contact rule; that of `default` if the rule names none.
    pub(super) fn layer_rule(&self, at: &At, name: Option<&str>, default: LayerRule) -> Result<LayerRule, Fault> {
        match name {
            None => Ok(default),
            Some(name) => Ok(self.material(at, name)?.map_or(LayerRule::Rigid, LayerRule::Given)),
        }
    }
}

fn layer(reader: &Reader, at: &At, table: &MaterialTable) -> Result<Layer, Fault> {
    let depth = table.depth;
    let whole = matches!(table.stiffness, Modulus::Planar(_) | Modulus::Spatial(_));
    if let (true, Some(field)) =
        (whole, ["tangential_stiffness", "tangential_damping"].into_iter().find(|field| at.key(field).exists()))
    {
        let message =
            format!("`stiffness` is a matrix and has its tangential entries: `{field}` is for a single number");
        return Err(at.key(field).fault(message));
    }
    let shears = whole || table.tangential_stiffness.is_some();
    let damping = table.damping.as_ref().unwrap_or(&Modulus::Normal(0.0));
    if !shears && table.tangential_damping.is_some() {
        let fault = at.key("tangential_damping").fault("the layer is rigid along its surface, where nothing is damped");
        return Err(fault.hint("give a `tangential_stiffness`"));
    }
    if !shears && !matches!(damping, Modulus::Normal(_)) {
        let fault = at.key("damping").fault("the layer is rigid along its surface, where nothing is damped");
        return Err(fault.hint("give one number, or a `tangential_stiffness`"));
    }
    let stiffness = matrix(reader, &at.key("stiffness"), &table.stiffness, table.tangential_stiffness)?;
    let damping = matrix(reader, &at.key("damping"), damping, table.tangential_damping)?;
    Ok(Layer { stiffness, damping, shears, depth })
}

/// Returns the matrix of a modulus. In the plane the third direction has the entry of the second and is never used.
fn matrix(reader: &Reader, at: &At, modulus: &Modulus, tangential: Option<f64>) -> Result<Matrix3<f64>, Fault> {
    let t = tangential.unwrap_or(0.0);
    match (modulus, reader.planar()) {
        (Modulus::Normal(normal), _) => Ok(Matrix3::from_partial_diagonal(&[*normal, t, t])),
        (Modulus::Planar([[nn, nt], [tn, tt]]), true) => Ok(Matrix3::new(*nn, *nt, 0.0, *tn, *tt, 0.0, 0.0, 0.0, *tt)),
        (Modulus::Spatial(rows), false) => Ok(Matrix3::from_fn(|i, j| rows[i][j])),
        (Modulus::Planar(_), false) => Err(reader.only_in(at, "a 2x2 matrix", "give a 3x3 matrix")),
        (Modulus::Spatial(_), true) => Err(reader.only_in(at, "a 3x3 matrix", "give a 2x2 matrix")),
    }
}
