//! Many simulations of one scene, stepped in parallel.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use nalgebra::Vector3;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::{exceptions::PyBaseException, prelude::*};
use rayon::prelude::*;
use stiction::{BodyId, ModelError, State, StepError, Wrench, scene};

use crate::{arrays::Live, errors};

/// Largest number of worlds: each has a state and scratch memory of its own, and memory that is not there ends the interpreter.
const MOST_WORLDS: usize = 65_536;

/// Simulations of one scene. One call steps all of them on several threads; each result depends on its own world only.
#[pyclass(subclass, module = "stiction._stiction")]
pub(crate) struct Worlds {
    /// Never contended, since every method has exclusive access.
    inner: Mutex<Vec<stiction::Simulation>>,
    pool: rayon::ThreadPool,
    start: State,
    q: Live,
    v: Live,
    scratch: Vec<f64>,
    /// Errors of the worlds in the last call of `step`.
    failures: Vec<(usize, StepError)>,
}

/// Simulations, for a method with exclusive access.
fn all(inner: &mut Mutex<Vec<stiction::Simulation>>) -> &mut Vec<stiction::Simulation> {
    inner.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Worlds {
    /// Updates the exposed arrays from the states of the simulations.
    fn show(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { inner, q, v, scratch, .. } = self;
        let worlds = all(inner);
        let mut fill = |live: &mut Live, of: fn(&State) -> &[f64]| {
            scratch.clear();
            for world in worlds.iter() {
                scratch.extend_from_slice(of(world.state()));
            }
            live.show(py, scratch)
        };
        fill(q, |state| &state.q)?;
        fill(v, |state| &state.v)
    }

    fn body(&mut self, py: Python<'_>, index: usize) -> PyResult<BodyId> {
        let found = all(&mut self.inner).first().and_then(|world| world.model().iter_bodies().nth(index));
        let id = found.map(|(id, _)| id);
        id.ok_or_else(|| errors::exception(py, "HandleError", format!("there is no body {index}"), Vec::new()))
    }
}

/// Converts an array of finite numbers with a row for each world.
fn rows<'py>(py: Python<'py>, what: &str, value: &Bound<'py, PyAny>, shape: [usize; 2]) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray2<'py, f64> = value
        .extract()
        .map_err(|_| errors::state(py, format!("{what} must be an array of float64 in two dimensions")))?;
    if array.shape() != shape {
        return Err(errors::state(py, format!("{what} has the shape {:?}, but {shape:?} is needed", array.shape())));
    }
    let numbers: Vec<f64> = array.as_array().iter().copied().collect();
    match numbers.iter().position(|x| !x.is_finite()) {
        None => Ok(numbers),
        Some(place) => {
            let (row, column) = (place / shape[1].max(1), place % shape[1].max(1));
            Err(errors::state(py, format!("{what}[{row}, {column}] is not a finite number")))
        }
    }
}

#[pymethods]
impl Worlds {
    /// Creates this many simulations of a scene, on this many threads (0 for one per core).
    #[new]
    #[pyo3(signature = (text, file_name, count, threads = 0))]
    fn new(py: Python<'_>, text: &str, file_name: &str, count: usize, threads: usize) -> PyResult<Self> {
        let scene = scene::parse(text, file_name).map_err(|error| errors::scene(py, &error))?;
        if count > MOST_WORLDS {
            return Err(errors::state(
                py,
                format!("{count} worlds are too many: at most {MOST_WORLDS} are made at once"),
            ));
        }
        let made: Result<Vec<_>, _> = (0..count).map(|_| stiction::Simulation::from_scene(&scene)).collect();
        let worlds = made.map_err(|error| errors::build(py, &error))?;
        let Some(start) = worlds.first().map(|world| world.state().clone()) else {
            return Err(errors::state(py, "there must be at least one world"));
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| errors::state(py, error))?;
        let flat = |of: fn(&State) -> &[f64]| worlds.iter().flat_map(|world| of(world.state()).to_vec()).collect();
        let (q, v): (Vec<f64>, Vec<f64>) = (flat(|state| &state.q), flat(|state| &state.v));
        let (q, v) = (Live::rows(py, &q, count)?, Live::rows(py, &v, count)?);
        Ok(Self { inner: Mutex::new(worlds), pool, start, q, v, scratch: Vec::new(), failures: Vec::new() })
    }

    fn __len__(&mut self) -> usize {
        all(&mut self.inner).len()
    }

    /// Number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Coordinates, a row for each world: a read-only array that always shows the current states.
    #[getter]
    fn q(&self, py: Python<'_>) -> Py<PyAny> {
        self.q.array(py)
    }

    /// Velocities, a row for each world: a read-only array that always shows the current states.
    #[getter]
    fn v(&self, py: Python<'_>) -> Py<PyAny> {
        self.v.array(py)
    }

    /// Time of each world, s.
    fn times(&mut self, py: Python<'_>) -> Py<PyArray1<f64>> {
        let times: Vec<f64> = all(&mut self.inner).iter().map(stiction::Simulation::time).collect();
        times.into_pyarray(py).unbind()
    }

    /// Makes this many steps in every world for which `skip` is false. Returns the worlds that failed; they stay at their last successful step,
    /// and `failures` gives the reasons.
    #[pyo3(signature = (steps, skip = None))]
    fn step(&mut self, py: Python<'_>, steps: u32, skip: Option<Vec<bool>>) -> PyResult<Py<PyArray1<bool>>> {
        let Self { inner, pool, .. } = self;
        let worlds = all(inner);
        let skips = |k: usize| skip.as_ref().is_some_and(|skip| skip.get(k).copied().unwrap_or(false));
        let count = worlds.len();
        self.failures = py.detach(|| {
            let one = |(k, world): (usize, &mut stiction::Simulation)| {
                let steps = if skips(k) { 0 } else { steps };
                let failure = (0..steps).try_for_each(|_| world.step().map(drop)).err()?;
                Some((k, failure))
            };
            pool.install(|| worlds.par_iter_mut().enumerate().filter_map(one).collect())
        });
        self.show(py)?;
        let mut failed = vec![false; count];
        for (k, _) in &self.failures {
            failed[*k] = true;
        }
        Ok(failed.into_pyarray(py).unbind())
    }

    /// Exceptions of the last call of `step` by the number of the world; empty if all succeeded.
    #[getter]
    fn failures(&self, py: Python<'_>) -> BTreeMap<usize, Py<PyBaseException>> {
        self.failures.iter().map(|(k, failure)| (*k, errors::step(py, failure).into_value(py))).collect()
    }

    /// Sets the controls of all motors, a row for each world; if one is invalid, none changes.
    fn set_controls(&mut self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let worlds = all(&mut self.inner);
        let motors = worlds.first().map_or(0, |world| world.model().motors().len());
        let values = rows(py, "controls", values, [worlds.len(), motors])?;
        // The motors are the same in all worlds, so the first one validates all values.
        let Some(model) = worlds.first().map(stiction::Simulation::model) else { return Ok(()) };
        let check = |(k, value): (usize, &f64)| model.check_control(k % motors.max(1), *value);
        let checked: Result<(), ModelError> = values.iter().enumerate().try_for_each(check);
        checked.map_err(|error| errors::input(py, &error))?;
        for (world, row) in worlds.iter_mut().zip(values.chunks_exact(motors.max(1))) {
            for (motor, value) in row.iter().enumerate() {
                world.hold_control(motor, *value).map_err(|error| errors::input(py, &error))?;
            }
        }
        Ok(())
    }

    /// Applies a force and a torque to one body, a row of six numbers for each world.
    fn hold_wrenches(&mut self, py: Python<'_>, body: usize, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = self.body(py, body)?;
        let worlds = all(&mut self.inner);
        let values = rows(py, "wrenches", values, [worlds.len(), 6])?;
        let wrenches: Vec<Wrench> = values
            .as_chunks::<6>()
            .0
            .iter()
            .map(|&[x, y, z, a, b, c]| Wrench { linear: Vector3::new(x, y, z), angular: Vector3::new(a, b, c) })
            .collect();
        // The bodies are the same in all worlds, so the first one validates all wrenches.
        let Some(model) = worlds.first().map(stiction::Simulation::model) else { return Ok(()) };
        let checked = wrenches.iter().try_for_each(|wrench| model.check_wrench(id, *wrench));
        checked.map_err(|error| errors::input(py, &error))?;
        for (world, wrench) in worlds.iter_mut().zip(wrenches) {
            world.hold_wrench(id, wrench).map_err(|error| errors::input(py, &error))?;
        }
        Ok(())
    }

    /// Resets one world to the initial state, or to `q` and `v`, at time zero. On error nothing changes.
    #[pyo3(signature = (world, q = None, v = None))]
    fn reset(
        &mut self,
        py: Python<'_>,
        world: usize,
        q: Option<&Bound<'_, PyAny>>,
        v: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut state = self.start.clone();
        if let Some(q) = q {
            state.q = crate::arrays::finite(py, "q", q, state.q.len())?;
        }
        if let Some(v) = v {
            state.v = crate::arrays::finite(py, "v", v, state.v.len())?;
        }
        if q.is_some() || v.is_some() {
            // Joint coordinates follow from those of the bodies.
            state.forest_q.clear();
            state.forest_v.clear();
            state.angles.clear();
        }
        if v.is_some() {
            stiction::Simulation::check_velocities(&state.v).map_err(|error| errors::restore(py, &error))?;
        }
        let worlds = all(&mut self.inner);
        let count = worlds.len();
        let Some(one) = worlds.get_mut(world) else {
            return Err(errors::exception(
                py,
                "HandleError",
                format!("there is no world {world} among {count}"),
                Vec::new(),
            ));
        };
        if q.is_some() {
            one.check_poses(&state.q).map_err(|error| errors::restore(py, &error))?;
        }
        one.set_state(&state).map_err(|error| errors::restore(py, &error))?;
        let state = one.state();
        self.q.show_at(py, world * state.q.len(), &state.q)?;
        self.v.show_at(py, world * state.v.len(), &state.v)
    }

    /// Total contact force on a body over the last step, world axes, N: a row for each world.
    fn contact_forces(&mut self, py: Python<'_>, body: usize) -> PyResult<Py<numpy::PyArray2<f64>>> {
        let id = self.body(py, body)?;
        let worlds = all(&mut self.inner);
        let force = |world: &stiction::Simulation| -> [f64; 3] {
            let mut total = Vector3::zeros();
            for contact in world.contacts() {
                let on_b = contact.normal * contact.normal_impulse + contact.friction_impulse;
                total += if contact.body_b == id { on_b } else { Vector3::zeros() };
                total -= if contact.body_a == id { on_b } else { Vector3::zeros() };
            }
            (total / world.last_step_size()).into()
        };
        let flat: Vec<f64> = worlds.iter().flat_map(force).collect();
        Ok(flat.into_pyarray(py).reshape([worlds.len(), 3])?.unbind())
    }

    /// State of a world as text, bit for bit.
    fn save(&mut self, py: Python<'_>, world: usize) -> PyResult<String> {
        let found = all(&mut self.inner).get(world).map(stiction::Simulation::save);
        found.ok_or_else(|| errors::exception(py, "HandleError", format!("there is no world {world}"), Vec::new()))
    }
}
