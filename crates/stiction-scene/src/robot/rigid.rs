//! Links that are fixed to each other move as one body: their common mass and inertia, and the check that a body can have it.
//!
//! What a file says of one of them alone may be impossible, such as a tool of a gram without inertia on a flange. Only the sum counts.

use nalgebra::{Isometry3, Matrix3};

use super::{
    description::{Inertial, LinkId, Robot, Shape},
    files::{Place, Refusal},
    mass,
    reader::Reader,
};

/// Density of a body whose inertia is estimated without shapes: water, kg/m³.
const DENSITY: f64 = 1000.0;
/// Least moment of a body relative to that of a ball of water of its mass: below it the file gives no inertia.
const LEAST: f64 = 1e-9;

/// Places of a link and of its inertia in the files.
#[derive(Clone)]
pub(super) struct LinkPlaces {
    pub(super) link: Place,
    pub(super) inertia: Option<Place>,
}

/// Links of one body, with their poses in the frame of its first.
pub(super) type Parts = Vec<(usize, Isometry3<f64>)>;

/// Returns for every link the one whose body it is part of: itself if it has joints or is driven, the world if nothing moves it.
pub(super) fn carriers(robot: &Robot) -> Vec<usize> {
    let mut carriers = Vec::with_capacity(robot.links.len());
    for (index, link) in robot.links.iter().enumerate() {
        let above = link.parent.and_then(|LinkId(parent)| carriers.get(parent).copied());
        let is_part = link.joints.is_empty() && !link.driven;
        carriers.push(if is_part { above.unwrap_or(0) } else { index });
    }
    carriers
}

/// Returns the links of every body by its first link.
pub(super) fn parts(robot: &Robot, carriers: &[usize]) -> Vec<Parts> {
    let mut poses: Vec<Isometry3<f64>> = Vec::with_capacity(robot.links.len());
    let mut parts = vec![Vec::new(); robot.links.len()];
    for (index, (link, carrier)) in robot.links.iter().zip(carriers).enumerate() {
        let above = link.parent.and_then(|LinkId(parent)| poses.get(parent)).copied().unwrap_or_default();
        let pose = if *carrier == index { Isometry3::identity() } else { above * link.origin };
        poses.push(pose);
        if let Some(body) = parts.get_mut(*carrier) {
            body.push((index, pose));
        }
    }
    parts
}

/// Returns mass, centre and inertia of the links of a body, in the frame of the first.
pub(super) fn inertial(robot: &Robot, parts: &[(usize, Isometry3<f64>)]) -> Option<Inertial> {
    let masses = parts.iter().filter_map(|(link, at)| Some(moved(robot.links.get(*link)?.inertial.as_ref()?, at)));
    mass::sum(&masses.collect::<Vec<_>>())
}

fn moved(own: &Inertial, pose: &Isometry3<f64>) -> Inertial {
    Inertial { mass: own.mass, centre: pose * own.centre, inertia: turned(&own.inertia, pose) }
}

fn turned(inertia: &Matrix3<f64>, pose: &Isometry3<f64>) -> Matrix3<f64> {
    let r = pose.rotation.to_rotation_matrix();
    r.matrix() * inertia * r.matrix().transpose()
}

impl Reader {
    /// Checks the inertia of every moving body. One that the file does not give is estimated, one that no body can have is refused, or repaired if
    /// the options ask for it.
    pub(super) fn check_inertias(&mut self, robot: &mut Robot, places: &[LinkPlaces]) -> Result<(), Refusal> {
        let carriers = carriers(robot);
        for (carrier, parts) in parts(robot, &carriers).iter().enumerate().skip(1) {
            if robot.links.get(carrier).is_none_or(|link| link.driven) {
                continue;
            }
            let Some(whole) = inertial(robot, parts) else { continue };
            let least = LEAST * ball(whole.mass);
            let Some(violation) = mass::violation(&whole.inertia, least) else { continue };
            let culprit = culprit(robot, parts);
            let Some((link, at)) = parts.get(culprit) else { continue };
            let place = places.get(*link).map(|places| places.inertia.as_ref().unwrap_or(&places.link));
            let name = robot.links.get(*link).map(|link| link.name.clone()).unwrap_or_default();
            let fallback = Place { file: 0, span: 0..0 };
            let place = place.unwrap_or(&fallback);
            let possible = if mass::is_limit(&whole.inertia, least) {
                self.note(place, format!("inertia of link \"{name}\""), "is zero, and estimated from its shapes");
                estimate(robot, parts, whole.mass)
            } else {
                self.repaired(place, &name, (&whole.inertia, &violation))?
            };
            let change = turned(&(possible - whole.inertia), &at.inverse());
            if let Some(own) = robot.links.get_mut(*link).and_then(|link| link.inertial.as_mut()) {
                own.inertia += change;
            }
        }
        Ok(())
    }

    fn repaired(
        &mut self,
        place: &Place,
        link: &str,
        (inertia, violation): (&Matrix3<f64>, &str),
    ) -> Result<Matrix3<f64>, Refusal> {
        let refusal = place.refuse(format!("the inertia of link \"{link}\", with the links fixed to it, {violation}"));
        if !self.options.repair_inertia && !mass::is_rounded(inertia) {
            let hint = "it must be taken about the centre of mass; `--repair-inertia` takes the nearest possible one";
            return Err(refusal.hint(hint));
        }
        let repaired = mass::repaired(inertia).ok_or_else(|| refusal.hint("there is nothing to repair it from"))?;
        self.note(place, format!("inertia of link \"{link}\""), "was impossible and has been repaired");
        Ok(repaired)
    }
}

/// Returns the place among the links of a body of the one with mass whose own inertia is impossible, else of the first with mass.
fn culprit(robot: &Robot, parts: &Parts) -> usize {
    let own = |&(link, _): &(usize, Isometry3<f64>)| robot.links.get(link).and_then(|link| link.inertial);
    let wrong = parts.iter().position(|part| own(part).is_some_and(|own| mass::violation(&own.inertia, 0.0).is_some()));
    wrong.or_else(|| parts.iter().position(|part| own(part).is_some())).unwrap_or(0)
}

/// Returns the inertia of a body of this mass that fills its shapes, or of a ball of water without shapes.
fn estimate(robot: &Robot, parts: &Parts, mass: f64) -> Matrix3<f64> {
    let of_shape = |shape: &Shape, at: &Isometry3<f64>| {
        mass::of_shape(&shape.form, mass::volume(&shape.form)?, &(at * shape.origin))
    };
    let shapes = parts.iter().filter_map(|(link, at)| Some((robot.links.get(*link)?, at)));
    let solids = shapes.flat_map(|(link, at)| link.shapes.iter().filter_map(move |shape| of_shape(shape, at)));
    let solid = mass::sum(&solids.collect::<Vec<_>>());
    solid.map_or_else(|| Matrix3::identity() * ball(mass), |solid| solid.inertia * (mass / solid.mass))
}

/// Returns the moment of inertia of a ball of water of this mass.
fn ball(mass: f64) -> f64 {
    let radius = libm::cbrt(0.75 * mass / (std::f64::consts::PI * DENSITY));
    0.4 * mass * radius * radius
}
