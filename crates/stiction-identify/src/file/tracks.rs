//! Tracks of bodies from columns.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use stiction::{Model, multibody::Mobility, scene};

use super::{FieldError, frame::Frame, recordings::Column, tables::RecordingTable, unit::Dimension};
use crate::{Noise, Orientation, Track};

/// Names of the measured components of a body in keys.
const COMPONENTS: [&str; 8] = ["x", "y", "z", "angle", "qw", "qx", "qy", "qz"];

/// Largest deviation of a quaternion from length 1; it is normalised.
const LOOSE: f64 = 0.05;

/// Column of a file that measures a component of a body.
pub(super) struct Mapped {
    /// `body.block.x`.
    pub(super) key: String,
    /// The body.
    pub(super) body: String,
    /// Index of the component in [`COMPONENTS`].
    component: usize,
    /// Its name in the file.
    pub(super) column: String,
    /// Factor from its unit to the SI unit.
    pub(super) factor: f64,
    /// Standard deviation, m or rad.
    noise: f64,
}

/// Columns that a table names, in the order of their keys.
pub(super) fn mapping(model: &Model, table: &RecordingTable) -> Result<Vec<Mapped>, FieldError> {
    let mut mapping = Vec::new();
    for (key, column) in table.columns.iter().filter(|(key, _)| *key != "time") {
        let at = |more: &[&str], (reason, hint): (String, String)| {
            FieldError::new(&[&["columns", key.as_str()], more].concat(), reason).hint(hint)
        };
        let (body, component) = place(model, key).map_err(|field_error| at(&[], field_error))?;
        let (name, unit, noise) = column.parts();
        let [dimension, of_noise] = match component {
            0..3 => [Dimension::Length; 2],
            3 => [Dimension::Angle; 2],
            _ => [Dimension::Number, Dimension::Angle],
        };
        let factor = unit.map_or(Ok(1.0), |unit| dimension.factor(unit)).map_err(|c| at(&["unit"], c))?;
        let general = table.noise.as_ref().and_then(|noise| {
            let (key, noise) = if component < 3 { ("position", &noise.position) } else { ("angle", &noise.angle) };
            Some((key, noise.as_ref()?))
        });
        let noise = match (noise, general) {
            (Some(noise), _) => noise.value(of_noise, factor).map_err(|c| at(&["noise"], c))?,
            (None, Some((word, noise))) => noise
                .value(of_noise, 1.0)
                .map_err(|(reason, hint)| FieldError::new(&["noise", word], reason).hint(hint))?,
            (None, None) => {
                let reason = format!("the noise of `{key}` is not given");
                let hint = "noise = { position = \"1 mm\", angle = \"0.5 deg\" } for all columns, or noise = \"1 mm\" in its own table";
                return Err(at(&[], (reason, hint.to_owned())));
            }
        };
        if !(noise > 0.0 && noise.is_finite()) {
            return Err(at(
                &["noise"],
                (format!("the noise must be positive, but is {noise}"), "a standard deviation".into()),
            ));
        }
        mapping.push(Mapped { key: key.clone(), body, component, column: name.to_owned(), factor, noise });
    }
    if mapping.is_empty() {
        let field_error = FieldError::new(&["columns"], "no column measures a body");
        return Err(field_error.hint("such as \"body.block.x\" = { column = \"bx\", unit = \"mm\" }"));
    }
    complete(&mapping)?;
    Ok(mapping)
}

/// Body and component of a key: `body.block.x`.
fn place(model: &Model, key: &str) -> Result<(String, usize), (String, String)> {
    let no_key = || {
        let reason = format!("`{key}` is not a quantity of a recording");
        (
            reason,
            "time, or \"body.NAME.\" with x, y, z, angle, qw, qx, qy or qz behind it, in quotation marks".to_owned(),
        )
    };
    let (name, word) = key.strip_prefix("body.").and_then(|rest| rest.rsplit_once('.')).ok_or_else(no_key)?;
    let Some(id) = model.find_body(name) else {
        let bodies = model.bodies().iter().map(|body| body.name.as_str());
        return Err((format!("there is no body \"{name}\" in the scene"), scene::suggestion(name, bodies)));
    };
    let Some((mobility, _)) = model.unknowns(id) else {
        let reason = format!("\"{name}\" does not move by itself: only dynamic bodies can be compared");
        return Err((reason, "leave this column out".to_owned()));
    };
    let known: &[&str] = match mobility {
        Mobility::PlanarParticle => &["x", "y"],
        Mobility::Planar => &["x", "y", "angle"],
        Mobility::Particle => &["x", "y", "z"],
        Mobility::Free => &["x", "y", "z", "qw", "qx", "qy", "qz"],
    };
    let component = COMPONENTS.iter().position(|component| *component == word && known.contains(component));
    let component = component
        .ok_or_else(|| (format!("\"{name}\" has no component `{word}`"), format!("it has {}", known.join(", "))))?;
    Ok((name.to_owned(), component))
}

/// Checks that a quaternion has four parts.
fn complete(mapping: &[Mapped]) -> Result<(), FieldError> {
    for mapped in mapping.iter().filter(|mapped| mapped.component > 3) {
        let parts = mapping.iter().filter(|other| other.body == mapped.body && other.component > 3).count();
        if parts != 4 {
            let reason = format!("an orientation needs qw, qx, qy and qz, but \"{}\" has {parts} of them", mapped.body);
            return Err(FieldError::new(&["columns", &mapped.key], reason));
        }
    }
    Ok(())
}

/// Tracks: one for each body, or several if its coordinates have different noise. `place` names a row in messages.
pub(super) fn tracks(
    columns: &[Column],
    frame: &Frame,
    place: &dyn Fn(usize) -> String,
) -> Result<Vec<Track>, FieldError> {
    let mut bodies: Vec<&str> = columns.iter().map(|column| column.mapped.body.as_str()).collect();
    bodies.sort_unstable();
    bodies.dedup();
    let mut tracks = Vec::new();
    for body in bodies {
        let of_body: Vec<&Column> = columns.iter().filter(|column| column.mapped.body == body).collect();
        let rows = of_body.first().map_or(0, |column| column.values.len());
        let orientations = orientations(&of_body, frame, place)?;
        let angle = of_body.iter().find(|column| column.mapped.component >= 3).map(|column| column.mapped.noise);
        let track = |noise: Noise, positions, orientations| Track {
            body: body.to_owned(),
            point: Vector3::zeros(),
            positions,
            orientations,
            velocities: vec![None; rows],
            noise,
        };
        let mut scatters: Vec<f64> =
            of_body.iter().filter(|column| column.mapped.component < 3).map(|column| column.mapped.noise).collect();
        scatters.sort_by(f64::total_cmp);
        scatters.dedup_by(|a, b| a == b);
        check_frame(&of_body, &scatters, frame)?;
        let mut orientations = Some(orientations);
        for position in scatters.iter().copied() {
            let noise = Noise { position, angle: angle.unwrap_or(1.0) };
            let positions = positions(&of_body, position, frame, rows);
            tracks.push(track(noise, positions, orientations.take().unwrap_or_else(|| vec![None; rows])));
        }
        if let Some(orientations) = orientations {
            let noise = Noise { position: 1.0, angle: angle.unwrap_or(1.0) };
            tracks.push(track(noise, vec![None; rows], orientations));
        }
    }
    Ok(tracks)
}

/// Checks a rotated frame, which mixes coordinates: all must be present, and have the same noise.
fn check_frame(of_body: &[&Column], scatters: &[f64], frame: &Frame) -> Result<(), FieldError> {
    let coordinates = of_body.iter().filter(|column| column.mapped.component < 3).count();
    if !frame.is_turned() || coordinates == 0 || (coordinates == frame.coordinates() && scatters.len() == 1) {
        return Ok(());
    }
    let body = of_body.first().map_or("", |column| column.mapped.body.as_str());
    let reason = if scatters.len() > 1 {
        format!("coordinates of \"{body}\" that scatter differently cannot be turned")
    } else {
        format!("\"{body}\" has {coordinates} coordinates, and {} are needed to turn them", frame.coordinates())
    };
    Err(FieldError::new(&["frame", "rotation"], reason))
}

/// Positions of the coordinates with this noise; a row without any has none.
fn positions(of_body: &[&Column], noise: f64, frame: &Frame, rows: usize) -> Vec<Option<Vector3<f64>>> {
    let row = |row: usize| {
        let mut position = Vector3::repeat(f64::NAN);
        for column in of_body.iter().filter(|column| column.mapped.component < 3 && column.mapped.noise == noise) {
            position[column.mapped.component] = column.values.get(row).copied().unwrap_or(f64::NAN);
        }
        let position = frame.position(&position);
        position.iter().any(|x| x.is_finite()).then_some(position)
    };
    (0..rows).map(row).collect()
}

fn orientations(
    of_body: &[&Column],
    frame: &Frame,
    place: &dyn Fn(usize) -> String,
) -> Result<Vec<Option<Orientation>>, FieldError> {
    let rows = of_body.first().map_or(0, |column| column.values.len());
    let column = |component: usize| of_body.iter().find(|column| column.mapped.component == component);
    if let Some(angles) = column(3) {
        let angle = |angle: &f64| angle.is_finite().then(|| Orientation::Angle(frame.angle(*angle)));
        return Ok(angles.values.iter().map(angle).collect());
    }
    let (Some(w), Some(x), Some(y), Some(z)) = (column(4), column(5), column(6), column(7)) else {
        return Ok(vec![None; rows]);
    };
    let row = |row: usize| {
        let [w, i, j, k] = [w, x, y, z].map(|column| column.values.get(row).copied().unwrap_or(f64::NAN));
        let quaternion = Quaternion::new(w, i, j, k);
        let length = quaternion.norm();
        if length.is_nan() {
            return Ok(None);
        }
        if (length - 1.0).abs() > LOOSE {
            let reason = format!("the quaternion in {} has length {length}, not 1", place(row));
            return Err(FieldError::new(&["columns", &x.mapped.key], reason));
        }
        Ok(Some(Orientation::Quaternion(frame.quaternion(&UnitQuaternion::new_normalize(quaternion)))))
    };
    (0..rows).map(row).collect()
}
