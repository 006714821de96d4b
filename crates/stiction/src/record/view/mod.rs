//! `view.html`: the run as one page that plays without a network.
//!
//! Here the data of the page are gathered; the page itself is plain HTML, CSS and JavaScript in the files beside this one.
//! Long runs are thinned out while they are recorded, so memory and page stay small.

use std::path::Path;

use serde::Serialize;
use stiction_multibody::{BodyId, ContactMode, Energy, Model, Pose};

use super::{EventSummary, Outline, RecordError, Role, RunInfo, RunLabels, Summary, layout::Sample};
use crate::{Simulation, page};

/// The page shows at most this many moments.
const FRAME_LIMIT: usize = 2000;

/// Events listed on the page.
const EVENT_LIMIT: usize = 1000;

/// Collects the moments of a run, at an even stride that doubles whenever there are too many.
pub(crate) struct ViewBuilder {
    scene: SceneData,
    moving: Vec<(usize, Role)>,
    frames: Vec<FrameData>,
    seen: usize,
    stride: usize,
    sample: Sample,
    last_energy: Energy,
}

/// What does not change during the run.
#[derive(Serialize)]
struct SceneData {
    name: String,
    preset: String,
    version: String,
    dimension: u8,
    step: f64,
    bodies: Vec<BodyData>,
    links: Vec<LinkData>,
}

#[derive(Serialize)]
struct BodyData {
    name: String,
    role: Role,
    /// Place among the poses of a frame; fixed bodies have a pose of their own instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    track: Option<usize>,
    pose: Vec<f64>,
    outlines: Vec<Outline>,
}

/// A joint, spring or damper between a point of one body and a point of another.
#[derive(Serialize)]
struct LinkData {
    kind: &'static str,
    a: usize,
    at_a: [f64; 3],
    b: usize,
    at_b: [f64; 3],
}

/// One moment.
#[derive(Serialize)]
struct FrameData {
    t: f64,
    /// Poses of the moving bodies: x, y, angle in the plane; x, y, z and a quaternion in space.
    poses: Vec<f64>,
    energy: [f64; 2],
    contacts: Vec<ContactData>,
}

/// A loaded contact: point, normal from a to b, normal impulse, friction impulse on b.
#[derive(Serialize)]
struct ContactData {
    slips: bool,
    at: [f64; 3],
    normal: [f64; 3],
    push: f64,
    drag: [f64; 3],
}

/// The whole page data.
#[derive(Serialize)]
struct PageData<'a> {
    scene: &'a SceneData,
    steps: u64,
    events: &'a [EventSummary],
    events_total: u64,
    frames: &'a [FrameData],
}

impl ViewBuilder {
    pub(crate) fn new(info: &RunInfo, labels: &RunLabels, model: &Model) -> Self {
        let mut moving = Vec::new();
        let mut bodies = Vec::new();
        for (index, body) in info.bodies.iter().enumerate() {
            let track = (body.role != Role::Fixed).then_some(moving.len());
            if track.is_some() {
                moving.push((index, body.role));
            }
            let pose = body.position.iter().chain(&body.orientation).map(|x| shorten(*x)).collect();
            let outlines = body.outlines.clone();
            bodies.push(BodyData { name: body.name.clone(), role: body.role, track, pose, outlines });
        }
        let scene = SceneData {
            name: info.scene.clone(),
            preset: labels.preset.clone(),
            version: info.version.clone(),
            dimension: info.dimension,
            step: info.step,
            bodies,
            links: links(model),
        };
        let (sample, last_energy) = (Sample::default(), Energy::default());
        Self { scene, moving, frames: Vec::new(), seen: 0, stride: 1, sample, last_energy }
    }

    /// Takes note of the current moment, if its turn has come.
    pub(crate) fn push(&mut self, simulation: &Simulation, energy: &Energy) {
        if self.seen.is_multiple_of(self.stride) {
            if self.frames.len() >= FRAME_LIMIT {
                let mut number = 0;
                self.frames.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                let frame = self.frame(simulation, energy);
                self.frames.push(frame);
            }
        }
        self.last_energy = *energy;
        self.seen += 1;
    }

    /// Makes sure that the page ends where the run ended.
    pub(crate) fn push_last(&mut self, simulation: &Simulation) {
        let energy = self.last_energy;
        let frame = self.frame(simulation, &energy);
        if self.frames.last().is_none_or(|last| last.t < frame.t) {
            self.frames.push(frame);
        }
    }

    fn frame(&mut self, simulation: &Simulation, energy: &Energy) -> FrameData {
        let (model, state) = (simulation.model(), simulation.state());
        let mut poses = Vec::new();
        for (index, role) in &self.moving {
            self.sample.take(model, *index, state);
            poses.extend(self.sample.q.iter().map(|x| shorten(*x)));
            match role {
                Role::PlanarParticle => poses.push(0.0),
                Role::Particle => poses.extend([1.0, 0.0, 0.0, 0.0]),
                _ => {}
            }
        }
        // The page divides by the usual step to show forces.
        let usual = simulation.step_size() / simulation.last_step_size();
        let loaded = simulation.contacts().iter().filter(|contact| contact.mode != ContactMode::Open);
        let contacts = loaded.map(|contact| ContactData {
            slips: contact.mode == ContactMode::Slip,
            at: <[f64; 3]>::from(contact.point).map(shorten),
            normal: <[f64; 3]>::from(contact.normal).map(shorten),
            push: shorten(usual * contact.normal_impulse),
            drag: <[f64; 3]>::from(usual * contact.friction_impulse).map(shorten),
        });
        FrameData {
            // Times stay exact enough to tell two frames apart.
            t: state.time,
            poses,
            energy: [energy.kinetic, energy.potential].map(shorten),
            contacts: contacts.collect(),
        }
    }

    /// The finished page.
    pub(crate) fn page(&self, summary: &Summary, path: &Path) -> Result<String, RecordError> {
        let events = summary.events.get(..EVENT_LIMIT).unwrap_or(&summary.events);
        let data = PageData {
            scene: &self.scene,
            steps: summary.steps,
            events,
            events_total: summary.events_total,
            frames: &self.frames,
        };
        let json = serde_json::to_string(&data).map_err(|error| RecordError::encode(path, &error))?;
        Ok(fill_page(&json))
    }
}

/// Puts style, script and data into the page.
fn fill_page(json: &str) -> String {
    let script =
        [include_str!("camera.js"), include_str!("figures.js"), include_str!("plot.js"), include_str!("player.js")];
    page::fill(include_str!("page.html"), include_str!("page.css"), &script, json)
}

fn links(model: &Model) -> Vec<LinkData> {
    let link = |kind, (a, at_a): (BodyId, [f64; 3]), (b, at_b): (BodyId, _)| LinkData {
        kind,
        a: a.index(),
        at_a,
        b: b.index(),
        at_b,
    };
    let joints = model.joints().iter().map(|joint| {
        let end = |(body, frame): &(_, Pose)| (*body, frame.translation.vector.into());
        link(joint.kind.name(), end(&joint.a), end(&joint.b))
    });
    let springs = model.springs().iter().map(|s| link("spring", (s.a.0, s.a.1.into()), (s.b.0, s.b.1.into())));
    let dampers = model.dampers().iter().map(|d| link("damper", (d.a.0, d.a.1.into()), (d.b.0, d.b.1.into())));
    joints.chain(springs).chain(dampers).collect()
}

/// Seven significant digits: far finer than a pixel, and a third of the bytes.
fn shorten(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_seven_digits() {
        assert_eq!(shorten(2.0 / 3.0), 0.666_666_7);
        assert_eq!(shorten(-1.234_567_89e-12), -1.234_568e-12);
        assert_eq!(shorten(0.0), 0.0);
    }

    #[test]
    fn a_hostile_name_cannot_leave_the_data() {
        let page = fill_page(&serde_json::to_string("</script><!-- <script>alert(1)").expect("text"));
        let data = page.split("id=\"run\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
        assert_eq!(serde_json::from_str::<String>(data).expect("whole"), "</script><!-- <script>alert(1)");
        assert_eq!(page.matches("alert(1)").count(), 1);
    }

    #[test]
    fn the_page_refers_to_nothing_outside() {
        let page = fill_page("{}");
        for word in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(word), "the page contains {word}");
        }
    }
}
