//! Simulated motions beside measured ones, column by column.

use nalgebra::{UnitQuaternion, Vector3};
use serde::Serialize;
use stiction::{Pose, Simulation, multibody::rotation};

use crate::{IdentifyError, Orientation, Recording, Segment, Start, Target, Track, segment::follow};

/// A recording and a simulation of it.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The recording.
    pub recording: String,
    /// Times, s.
    pub times: Vec<f64>,
    /// Measured columns.
    pub columns: Vec<MotionColumn>,
}

/// One coordinate, measured and simulated; NaN if it was not measured or not simulated.
#[derive(Clone, Debug)]
pub struct MotionColumn {
    /// `block.x`; `cube.turned` is the angle from the first orientation that was measured.
    pub name: String,
    /// The body.
    pub body: String,
    /// `m` or `rad`.
    pub unit: &'static str,
    /// Standard deviation of the measurements.
    pub noise: f64,
    /// As measured.
    pub measured: Vec<f64>,
    /// As simulated.
    pub simulated: Vec<f64>,
    /// Simulated minus measured in units of the noise; of orientations in space the root mean square of their three.
    pub residuals: Vec<f64>,
}

/// Misfit of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnMisfit {
    /// Its name.
    pub column: String,
    /// `m` or `rad`.
    pub unit: &'static str,
    /// Standard deviation of the measurements.
    pub noise: f64,
    /// Number of compared measurements.
    pub count: usize,
    /// Root mean square of the residuals in units of the noise: 1 if model and noise are right.
    pub rms: f64,
    /// Mean of the residuals: far from 0 if there is a systematic error.
    pub mean: f64,
    /// The largest, by size.
    pub largest: f64,
}

impl Motion {
    /// Simulates runs of a recording with these values.
    pub(crate) fn of<'s>(
        (target, values): (&Target, &[f64]),
        recording: &Recording,
        runs: impl Iterator<Item = (Segment, &'s Start)>,
    ) -> Result<Self, IdentifyError> {
        let scene = target.scene(values)?;
        let mut poses: Vec<Vec<Option<Pose>>> = vec![vec![None; recording.times.len()]; recording.tracks.len()];
        for run in runs {
            follow(&mut Simulation::from_scene(&scene)?, recording, run, |model, at, row| {
                for (track, poses) in recording.tracks.iter().zip(&mut poses) {
                    let pose = model.find_body(&track.body).map(|id| at.pose(id));
                    poses.get_mut(row).into_iter().for_each(|place| *place = pose);
                }
            })?;
        }
        let columns = recording.tracks.iter().zip(&poses).flat_map(|(track, poses)| columns_of(track, poses));
        Ok(Self { recording: recording.name.clone(), times: recording.times.clone(), columns: columns.collect() })
    }
}

fn columns_of(track: &Track, poses: &[Option<Pose>]) -> Vec<MotionColumn> {
    let mut columns = Vec::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let measured: Vec<f64> = track.positions.iter().map(|x| x.map_or(f64::NAN, |x| x[axis])).collect();
        if measured.iter().all(|x| x.is_nan()) {
            continue;
        }
        let at = |pose: &Option<Pose>| {
            pose.map_or(f64::NAN, |pose| (pose.translation.vector + pose.rotation * track.point)[axis])
        };
        let simulated: Vec<f64> = poses.iter().map(at).collect();
        let residuals = measured.iter().zip(&simulated).map(|(x, y)| (y - x) / track.noise.position).collect();
        let (name, body) = (format!("{}.{name}", track.body), track.body.clone());
        columns.push(MotionColumn {
            name,
            body,
            unit: "m",
            noise: track.noise.position,
            measured,
            simulated,
            residuals,
        });
    }
    columns.extend(turned_of(track, poses));
    columns
}

/// The column of the orientations, if there are any.
fn turned_of(track: &Track, poses: &[Option<Pose>]) -> Option<MotionColumn> {
    let first = track.orientations.iter().flatten().next()?;
    let quaternion = |pose: &Pose| UnitQuaternion::from_rotation_matrix(&pose.rotation);
    let (mut measured, mut simulated, mut residuals) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = 0.0;
    for (orientation, pose) in track.orientations.iter().zip(poses) {
        match first {
            Orientation::Angle(_) => {
                let seen = if let Some(Orientation::Angle(angle)) = orientation { *angle } else { f64::NAN };
                if seen.is_finite() {
                    last = seen;
                }
                // Rotation of the pose that is nearest to the measured one.
                let turned = pose.map_or(f64::NAN, |pose| last + angle_between(&quaternion(&pose), last));
                if turned.is_finite() {
                    last = turned;
                }
                measured.push(seen);
                simulated.push(turned);
                residuals.push((turned - seen) / track.noise.angle);
            }
            Orientation::Quaternion(origin) => {
                let seen = if let Some(Orientation::Quaternion(seen)) = orientation { Some(seen) } else { None };
                let here = pose.as_ref().map(quaternion);
                let turn = |to: &UnitQuaternion<f64>| rotation::to_rotation_vector(&(to * origin.conjugate())).norm();
                measured.push(seen.map_or(f64::NAN, turn));
                simulated.push(here.as_ref().map_or(f64::NAN, turn));
                let off =
                    here.zip(seen).map(|(here, seen)| rotation::to_rotation_vector(&(here * seen.conjugate())).norm());
                residuals.push(off.map_or(f64::NAN, |off| off / (3.0_f64.sqrt() * track.noise.angle)));
            }
        }
    }
    let word = if let Orientation::Angle(_) = first { "angle" } else { "turned" };
    let (name, body) = (format!("{}.{word}", track.body), track.body.clone());
    Some(MotionColumn { name, body, unit: "rad", noise: track.noise.angle, measured, simulated, residuals })
}

/// Angle from one in the plane to an orientation, between −π and π.
fn angle_between(turned: &UnitQuaternion<f64>, from: f64) -> f64 {
    let back = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -from);
    rotation::to_rotation_vector(&(back * turned)).z
}

/// Misfits of the columns of motions, columns of the same name together.
pub(super) fn misfits(motions: &[Motion]) -> Vec<ColumnMisfit> {
    let mut names: Vec<&str> = Vec::new();
    for column in motions.iter().flat_map(|motion| &motion.columns) {
        if !names.contains(&column.name.as_str()) {
            names.push(&column.name);
        }
    }
    let misfit = |name: &str| {
        let columns: Vec<_> = motions.iter().flat_map(|motion| &motion.columns).filter(|c| c.name == name).collect();
        let first = columns.first()?;
        let all: Vec<f64> =
            columns.iter().flat_map(|c| c.residuals.iter().copied()).filter(|r| r.is_finite()).collect();
        let count = all.len().max(1) as f64;
        Some(ColumnMisfit {
            column: name.to_owned(),
            unit: first.unit,
            noise: first.noise,
            count: all.len(),
            rms: (all.iter().map(|r| r * r).sum::<f64>() / count).sqrt(),
            mean: all.iter().sum::<f64>() / count,
            largest: all.iter().copied().fold(0.0, |most: f64, r| if r.abs() > most.abs() { r } else { most }),
        })
    };
    names.into_iter().filter_map(misfit).collect()
}
