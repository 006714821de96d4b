//! `Simulation`: a scene that can be stepped.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use nalgebra::Vector3;
use pyo3::prelude::*;
use stiction::{
    BodyId, JointId, StepError, Wrench,
    record::RunLabels,
    scene::{self, RobotOptions, Scene, steps_in},
};

use crate::{
    arrays,
    arrays::Live,
    contacts::Contacts,
    dynamics::{PoseNumbers, TwistNumbers, pose_numbers, twist_numbers},
    errors,
    interrupt::Signals,
    run::Recorder,
};

/// A scene that can be stepped. Users use `stiction.Simulation`, which is derived from it.
#[pyclass(subclass, weakref, module = "stiction._stiction")]
pub(crate) struct Simulation {
    /// Never contended, since every method has exclusive access. The lock makes the object shareable between threads.
    inner: Mutex<stiction::Simulation>,
    scene: Scene,
    text: String,
    q: Live,
    v: Live,
    contacts: Option<Py<Contacts>>,
    signals: Signals,
}

/// Report of a step.
#[pyclass(frozen, get_all, module = "stiction")]
pub(crate) struct StepReport {
    /// Number of the step, from 1.
    step: u64,
    /// Time at its end, s.
    time: f64,
    /// Potential contacts given to the solver.
    contacts: usize,
    /// Unknowns of the problem.
    problem_size: usize,
    /// Residual of the solution (natural map of the problem).
    residual: f64,
    /// Status of the solve: `"solved"` within the aimed residual, `"solved loosely"` within that which the scheme refuses.
    status: String,
    /// Contact, joint or body with the largest part of the residual, if it is above the aimed one.
    worst: Option<String>,
    /// Iterations of all passes.
    iterations: u32,
    /// Number of times the problem was linearised and solved.
    passes: u32,
    /// Number of contacts with an impact.
    impacts: usize,
    /// Rung of the solver ladder that solved it.
    rung: &'static str,
    /// Overlap by which jammed contacts were eased, m; zero if the step had a solution without, as usual.
    slack: f64,
    /// Largest penetration at the end of the step, m.
    penetration: f64,
    /// Largest joint error at the end of the step.
    joint_error: f64,
    /// Number of substeps: one, or more if the step was halved.
    substeps: u32,
}

#[pymethods]
impl StepReport {
    fn __repr__(&self) -> String {
        let Self { step, time, contacts, residual, iterations, rung, .. } = self;
        format!(
            "StepReport(step={step}, time={time}, contacts={contacts}, residual={residual:.1e}, iterations={iterations}, rung={rung:?})"
        )
    }
}

impl StepReport {
    /// Report with the names of the model.
    fn new(report: &stiction::StepReport, model: &stiction::Model) -> Self {
        Self {
            step: report.step,
            time: report.time,
            contacts: report.contacts,
            problem_size: report.problem_size,
            residual: report.residual.value,
            status: report.status.to_string(),
            worst: report.worst.map(|worst| worst.name(model)),
            iterations: report.iterations,
            passes: report.passes,
            impacts: report.impacts,
            rung: report.rung,
            slack: report.slack,
            penetration: report.penetration,
            joint_error: report.joint_error,
            substeps: report.substeps,
        }
    }
}

fn unlocked(simulation: &mut Mutex<stiction::Simulation>) -> &mut stiction::Simulation {
    simulation.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Simulation {
    /// Simulation, for a method with exclusive access.
    pub(crate) fn inner(&mut self) -> &mut stiction::Simulation {
        unlocked(&mut self.inner)
    }

    /// Updates the exposed arrays from the state of the simulation.
    pub(crate) fn show(&mut self, py: Python<'_>) -> PyResult<()> {
        self.contacts = None;
        let Self { inner, q, v, .. } = self;
        let state = unlocked(inner).state();
        q.show(py, &state.q)?;
        v.show(py, &state.v)
    }

    pub(crate) fn joint(&mut self, py: Python<'_>, name: &str) -> PyResult<JointId> {
        let found = self.inner().model().find_joint(name);
        found.ok_or_else(|| errors::exception(py, "HandleError", format!("there is no joint \"{name}\""), Vec::new()))
    }

    pub(crate) fn body(&mut self, py: Python<'_>, index: usize) -> PyResult<BodyId> {
        let found = self.inner().model().iter_bodies().nth(index).map(|(id, _)| id);
        found.ok_or_else(|| errors::exception(py, "HandleError", format!("there is no body {index}"), Vec::new()))
    }
}

#[pymethods]
impl Simulation {
    /// Reads a scene; `file_name` is for messages and the name of the scene.
    #[new]
    #[pyo3(signature = (text, file_name, overrides = Vec::new()))]
    fn new(py: Python<'_>, text: &str, file_name: &str, overrides: Vec<(String, String)>) -> PyResult<Self> {
        let parsed = py.detach(|| scene::parse_with(text, file_name, &overrides));
        let scene = parsed.map_err(|error| errors::scene(py, &error))?;
        let inner = stiction::Simulation::from_scene(&scene).map_err(|error| errors::build(py, &error))?;
        let (q, v) = (Live::new(py, &inner.state().q)?, Live::new(py, &inner.state().v)?);
        Ok(Self {
            inner: Mutex::new(inner),
            scene,
            text: text.to_owned(),
            q,
            v,
            contacts: None,
            signals: Signals::new(),
        })
    }

    /// Advances by one step, of `h` seconds if given. On error the state does not change.
    #[pyo3(signature = (h = None))]
    fn step(&mut self, py: Python<'_>, h: Option<f64>) -> PyResult<StepReport> {
        let Self { inner, signals, .. } = self;
        let inner = unlocked(inner);
        let made = signals.during(|| match h {
            None => inner.step(),
            Some(h) => inner.step_with(h),
        })?;
        let report = made.map_err(|error| errors::step(py, &error))?;
        let report = StepReport::new(&report, inner.model());
        self.show(py)?;
        Ok(report)
    }

    /// Advances by one step and records it.
    fn step_recorded(&mut self, py: Python<'_>, mut recorder: PyRefMut<'_, Recorder>) -> PyResult<StepReport> {
        let Self { inner, signals, .. } = self;
        let inner = unlocked(inner);
        let report = signals.during(|| inner.step())?.map_err(|error| errors::step(py, &error))?;
        if let Some(recorder) = recorder.inner() {
            recorder.record(inner, &report);
        }
        let report = StepReport::new(&report, inner.model());
        self.show(py)?;
        Ok(report)
    }

    /// Makes this many steps with the interpreter released, recording each if there is a recorder.
    #[pyo3(signature = (steps, recorder = None))]
    fn advance(&mut self, py: Python<'_>, steps: u64, mut recorder: Option<PyRefMut<'_, Recorder>>) -> PyResult<()> {
        let (simulation, signals) = (unlocked(&mut self.inner), &self.signals);
        let mut keeper = recorder.as_mut().and_then(|recorder| recorder.inner());
        let made = py.detach(|| {
            signals.during(|| -> Result<(), StepError> {
                for _ in 0..steps {
                    let report = simulation.step()?;
                    if let Some(recorder) = &mut keeper {
                        recorder.record(simulation, &report);
                    }
                }
                Ok(())
            })
        });
        self.show(py)?;
        made?.map_err(|error| errors::step(py, &error))
    }

    /// Number of steps in a duration, s.
    fn steps_in(&mut self, duration: f64) -> u64 {
        steps_in(duration, self.inner().step_size())
    }

    /// Time, s.
    #[getter]
    fn time(&mut self) -> f64 {
        self.inner().time()
    }

    /// Steps made so far.
    #[getter]
    fn step_count(&mut self) -> u64 {
        self.inner().state().step
    }

    /// Step size, s.
    #[getter]
    fn step_size(&mut self) -> f64 {
        self.inner().step_size()
    }

    /// Duration in the scene, s.
    #[getter]
    fn duration(&self) -> f64 {
        self.scene.settings.duration
    }

    /// Name of the scene.
    #[getter]
    fn name(&self) -> &str {
        &self.scene.name
    }

    /// Name of the scheme.
    #[getter]
    fn preset(&self) -> &'static str {
        self.scene.settings.preset.name()
    }

    /// Text of the scene.
    #[getter]
    fn toml(&self) -> &str {
        &self.text
    }

    /// 2 in the plane, 3 in space.
    #[getter]
    fn dimension(&mut self) -> u8 {
        match self.inner().model().dimension() {
            stiction::Dimension::Planar => 2,
            stiction::Dimension::Spatial => 3,
        }
    }

    /// Number of steps per recorded row in the scene.
    #[getter]
    fn record_every(&self) -> u32 {
        self.scene.settings.record_every
    }

    /// Coordinates of all dynamic bodies: a read-only array that always shows the current state.
    #[getter]
    fn q(&self, py: Python<'_>) -> Py<PyAny> {
        self.q.array(py)
    }

    /// Velocities of all dynamic bodies: a read-only array that always shows the current state.
    #[getter]
    fn v(&self, py: Python<'_>) -> Py<PyAny> {
        self.v.array(py)
    }

    /// Names of the bodies in the order of the model; the first is the world.
    #[getter]
    fn body_names(&mut self) -> Vec<String> {
        self.inner().model().bodies().iter().map(|body| body.name.clone()).collect()
    }

    /// Names of the joints.
    #[getter]
    fn joint_names(&mut self) -> Vec<String> {
        self.inner().model().joints().iter().map(|joint| joint.name.clone()).collect()
    }

    /// Names of the motors, in the order of `set_controls`.
    #[getter]
    fn motor_names(&mut self) -> Vec<String> {
        self.inner().model().motors().iter().map(|motor| motor.name.clone()).collect()
    }

    /// Ranges of the coordinates and of the velocities of a body: first, and one past the last, of each.
    fn slots(&mut self, py: Python<'_>, body: usize) -> PyResult<((usize, usize), (usize, usize))> {
        let id = self.body(py, body)?;
        let slot = self.inner().model().layout().get(id.index()).cloned().unwrap_or_default();
        Ok(((slot.q.start, slot.q.end), (slot.v.start, slot.v.end)))
    }

    /// Position and orientation (w first) of a body.
    fn pose(&mut self, py: Python<'_>, body: usize) -> PyResult<PoseNumbers> {
        let id = self.body(py, body)?;
        Ok(pose_numbers(&self.inner().configuration().pose(id)))
    }

    /// Velocity of the centre of mass and angular velocity of a body, world axes.
    fn twist(&mut self, py: Python<'_>, body: usize) -> PyResult<TwistNumbers> {
        let id = self.body(py, body)?;
        Ok(twist_numbers(&self.inner().configuration().twist(id)))
    }

    /// Mass of a body, kg; None for one that is not dynamic.
    fn mass(&mut self, py: Python<'_>, body: usize) -> PyResult<Option<f64>> {
        let id = self.body(py, body)?;
        Ok(self.inner().model().body(id).and_then(stiction::multibody::Body::mass))
    }

    /// Kinetic and potential energy, J.
    fn energy(&mut self) -> (f64, f64) {
        let energy = self.inner().energy();
        (energy.kinetic, energy.potential)
    }

    /// Account of the kinetic energy since the start, or since a state was set, J; `fraction` is that of the unexplained gain.
    fn energy_account(&mut self) -> BTreeMap<&'static str, f64> {
        let account = self.inner().energy_account();
        BTreeMap::from([
            ("initial", account.initial),
            ("largest", account.largest),
            ("work", account.work),
            ("removal", account.removal),
            ("gain", account.gain),
            ("fraction", account.fraction()),
        ])
    }

    /// Contacts of the last step.
    #[getter]
    fn contacts(&mut self, py: Python<'_>) -> PyResult<Py<Contacts>> {
        if let Some(contacts) = &self.contacts {
            return Ok(contacts.clone_ref(py));
        }
        let contacts = Py::new(py, Contacts::new(py, self.inner().contacts())?)?;
        self.contacts = Some(contacts.clone_ref(py));
        Ok(contacts)
    }

    /// Labels of these contacts, in the same order, as in tables, events and messages.
    #[getter]
    fn contact_names(&mut self) -> Vec<String> {
        let inner = self.inner();
        inner.contacts().iter().map(|contact| stiction::record::contact_label(inner.model(), &contact.id)).collect()
    }

    /// Contact transitions of the last step: kind and label of the contact.
    fn events(&mut self) -> Vec<(&'static str, String)> {
        let inner = self.inner();
        let model = inner.model();
        let label = |id| stiction::record::contact_label(model, id);
        inner.events().iter().map(|event| (event.kind.name(), label(&event.contact))).collect()
    }

    /// Force (N) and torque (N m, about its centre of mass) that a joint exerted on its second body over the last step.
    fn joint_wrench(&mut self, py: Python<'_>, name: &str) -> PyResult<([f64; 3], [f64; 3])> {
        let id = self.joint(py, name)?;
        let wrench = self.inner().joint_wrench(id).unwrap_or_default();
        Ok((wrench.linear.into(), wrench.angular.into()))
    }

    /// Sets the coordinates or velocities of all dynamic bodies; contact memory is cleared. On error nothing changes.
    #[pyo3(signature = (q = None, v = None))]
    fn set_coordinates(
        &mut self,
        py: Python<'_>,
        q: Option<&Bound<'_, PyAny>>,
        v: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let model = self.inner().model();
        let (coordinates, dof) = (model.coordinates(), model.dof());
        let q = q.map(|q| arrays::finite(py, "q", q, coordinates)).transpose()?;
        let v = v.map(|v| arrays::finite(py, "v", v, dof)).transpose()?;
        let set = self.inner().set_coordinates(q.as_deref(), v.as_deref());
        set.map_err(|error| errors::restore(py, &error))?;
        self.show(py)
    }

    /// Sets the coordinates of one body; in reduced coordinates the bodies beyond it move along. On error nothing changes.
    fn set_body_coordinates(&mut self, py: Python<'_>, body: usize, q: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = self.body(py, body)?;
        let count = self.inner().model().layout().get(id.index()).map_or(0, |slot| slot.q.len());
        let q = arrays::finite(py, "q", q, count)?;
        self.inner().set_body_coordinates(id, &q).map_err(|error| errors::restore(py, &error))?;
        self.show(py)
    }

    /// Moves a joint to a coordinate (m or rad), and the bodies beyond it; `dof` is one of several DOFs. On error nothing changes.
    #[pyo3(signature = (name, coordinate, dof = 0))]
    fn set_joint(&mut self, py: Python<'_>, name: &str, coordinate: f64, dof: usize) -> PyResult<()> {
        let id = self.joint(py, name)?;
        self.inner().set_joint((id, dof), coordinate).map_err(|error| errors::restore(py, &error))?;
        self.show(py)
    }

    /// Coordinate of a joint (m or rad); `dof` is one of several DOFs.
    #[pyo3(signature = (name, dof = 0))]
    fn joint_coordinate(&mut self, py: Python<'_>, name: &str, dof: usize) -> PyResult<f64> {
        let id = self.joint(py, name)?;
        self.inner().joint_coordinate((id, dof)).ok_or_else(|| {
            errors::exception(py, "HandleError", format!("joint \"{name}\" has no DOF {dof}"), Vec::new())
        })
    }

    /// Applies a force and a torque to a body in all following steps.
    fn hold_wrench(&mut self, py: Python<'_>, body: usize, force: [f64; 3], torque: [f64; 3]) -> PyResult<()> {
        let id = self.body(py, body)?;
        let wrench = Wrench { linear: Vector3::from(force), angular: Vector3::from(torque) };
        self.inner().hold_wrench(id, wrench).map_err(|error| errors::input(py, &error))
    }

    /// Removes the applied wrenches of all bodies.
    fn release_wrenches(&mut self) {
        self.inner().release_wrenches();
    }

    /// Sets the control of one motor in all following steps.
    fn hold_control(&mut self, py: Python<'_>, motor: usize, value: f64) -> PyResult<()> {
        self.inner().hold_control(motor, value).map_err(|error| errors::input(py, &error))
    }

    /// Sets the controls of all motors in all following steps; if one is invalid, none changes.
    fn set_controls(&mut self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let inner = self.inner();
        let count = inner.model().motors().len();
        let values = arrays::finite(py, "controls", values, count)?;
        for (motor, value) in values.iter().enumerate() {
            inner.model().check_control(motor, *value).map_err(|error| errors::input(py, &error))?;
        }
        for (motor, value) in values.iter().enumerate() {
            inner.hold_control(motor, *value).map_err(|error| errors::input(py, &error))?;
        }
        Ok(())
    }

    /// State as text, bit for bit.
    fn save(&mut self) -> String {
        self.inner().save()
    }

    /// Restores a saved state; on error nothing changes.
    fn restore(&mut self, py: Python<'_>, saved: &str) -> PyResult<()> {
        self.inner().restore(saved).map_err(|error| errors::restore(py, &error))?;
        self.show(py)
    }

    /// Continues with another scene; the named bodies keep their motion. On error nothing changes.
    fn continue_with(&mut self, py: Python<'_>, text: &str, file_name: &str, kept: Vec<String>) -> PyResult<()> {
        let scene = scene::parse(text, file_name).map_err(|error| errors::scene(py, &error))?;
        let model = std::sync::Arc::clone(&scene.model);
        let keeps = |name: &str| kept.iter().any(|kept| kept == name);
        self.inner().continue_with(model, keeps).map_err(|error| errors::go_on(py, &error))?;
        text.clone_into(&mut self.text);
        self.scene = Scene { settings: self.scene.settings.clone(), ..scene };
        self.show(py)
    }

    /// Creates a recorder of this simulation into a folder.
    fn recorder(&mut self, py: Python<'_>, folder: PathBuf, record_every: u32) -> PyResult<Recorder> {
        let labels = RunLabels { record_every, ..RunLabels::of(&self.scene) };
        Recorder::create(py, &folder, &labels, self.inner())
    }
}

/// Converts a scene from JSON text to TOML text, without checks.
#[pyfunction]
pub(crate) fn scene_from_json(py: Python<'_>, json: &str) -> PyResult<String> {
    let wrong = |error: String| errors::exception(py, "SceneError", error, Vec::new());
    let value: toml::Value = serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    toml::to_string(&value).map_err(|error| wrong(error.to_string()))
}

/// Tables of a scene file as JSON text; an error if they are not a valid scene.
#[pyfunction]
pub(crate) fn scene_to_json(py: Python<'_>, text: &str, file_name: &str) -> PyResult<String> {
    let wrong = |error: String| errors::exception(py, "SceneError", error, Vec::new());
    scene::parse(text, file_name).map_err(|error| errors::scene(py, &error))?;
    let value: toml::Value = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    serde_json::to_string(&value).map_err(|error| wrong(error.to_string()))
}

/// Converts a robot (URDF, MJCF) or a scene file to the text of a scene, with notes on ignored elements.
#[pyfunction]
#[pyo3(signature = (path, asset_root = None, free_base = false, keyframe = None, self_collision = false, repair_inertia = false))]
pub(crate) fn robot_scene(
    py: Python<'_>,
    path: PathBuf,
    asset_root: Option<PathBuf>,
    free_base: bool,
    keyframe: Option<String>,
    self_collision: bool,
    repair_inertia: bool,
) -> PyResult<(String, Vec<String>)> {
    let mut options = RobotOptions::default();
    options.read.asset_root = asset_root;
    options.read.repair_inertia = repair_inertia;
    if free_base {
        options.read.base = scene::robot::Base::Free;
    }
    options.scene.keyframe = keyframe;
    options.scene.self_collision = self_collision;
    let read = py.detach(|| scene::text_of(&path, &options)).map_err(|error| errors::scene(py, &error))?;
    Ok((read.text, read.notes))
}
