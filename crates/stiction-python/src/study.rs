//! Studies and designs: many simulations.

use std::{
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use pyo3::prelude::*;
use stiction_study::{
    Watch,
    design::{self, DesignSearch, Log},
    monte_carlo::{self, MonteCarlo, Packet, Parcel, SweepOptions},
};

use crate::errors;

/// Interval between calls of Python.
const INTERVAL: Duration = Duration::from_millis(100);

/// Reports progress to Python, and asks it whether to continue.
struct Observer {
    progress: Option<Py<PyAny>>,
    started: Instant,
    limit: Option<Duration>,
    asked: Mutex<Instant>,
    stopped: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Observer {
    fn new(progress: Option<Py<PyAny>>, seconds: Option<f64>) -> Self {
        let limit = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self {
            progress,
            started: Instant::now(),
            limit,
            asked: Mutex::new(Instant::now()),
            stopped: AtomicBool::new(false),
            raised: Mutex::new(None),
        }
    }

    /// Result of the calls: Ctrl-C, or an exception of the callback.
    fn into_result(self) -> PyResult<()> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

impl Watch for Observer {
    fn goes_on(&self, finished: u64) -> bool {
        if self.stopped.load(Ordering::Relaxed) || self.limit.is_some_and(|limit| self.started.elapsed() >= limit) {
            return false;
        }
        // Only one thread calls Python at a time.
        let Ok(mut asked) = self.asked.try_lock() else { return true };
        if asked.elapsed() < INTERVAL {
            return true;
        }
        *asked = Instant::now();
        let answer = Python::attach(|py| -> PyResult<()> {
            py.check_signals()?;
            self.progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (finished,)).map(drop))
        });
        if let Err(error) = answer {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            self.stopped.store(true, Ordering::Relaxed);
            return false;
        }
        true
    }
}

fn refused(py: Python<'_>, error: impl ToString) -> PyErr {
    errors::exception(py, "StudyError", error, Vec::new())
}

fn json<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| refused(py, error))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A Monte Carlo study.
#[pyclass(subclass, frozen, module = "stiction._stiction")]
pub(crate) struct Study {
    inner: MonteCarlo,
}

#[pymethods]
impl Study {
    /// Reads a study file and the scenes it names; `trials` and `seed` may differ from those of the file.
    #[new]
    #[pyo3(signature = (path, trials = None, seed = None))]
    fn new(py: Python<'_>, path: PathBuf, trials: Option<u64>, seed: Option<u64>) -> PyResult<Self> {
        let study = py.detach(|| stiction_study::load(&path)).map_err(|error| errors::scene(py, &error))?;
        let stiction_study::Study::MonteCarlo(mut inner) = study else {
            return Err(refused(py, "the study is not of the kind `monte-carlo`; use the program for others"));
        };
        if trials == Some(0) {
            return Err(refused(py, "there must be at least one trial"));
        }
        inner.trials = trials.unwrap_or(inner.trials);
        inner.seed = seed.unwrap_or(inner.seed);
        Ok(Self { inner: *inner })
    }

    /// Creates a study from its packed text.
    #[staticmethod]
    fn unpack(py: Python<'_>, parcel: &str) -> PyResult<Self> {
        let parcel: Parcel = serde_json::from_str(parcel).map_err(|error| refused(py, error))?;
        let inner = monte_carlo::unpack(&parcel).map_err(|error| errors::scene(py, &error))?;
        Ok(Self { inner })
    }

    /// Packs the study as text, for machines without its files.
    fn pack(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&self.inner.parcel()).map_err(|error| refused(py, error))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Trials per cell and variant.
    #[getter]
    fn trials(&self) -> u64 {
        self.inner.trials
    }

    /// Seed of the random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed
    }

    /// Number of trials in all.
    #[getter]
    fn count(&self) -> u64 {
        self.inner.count()
    }

    /// Time limit in its file, s.
    #[getter]
    fn max_seconds(&self) -> Option<f64> {
        self.inner.budget.seconds
    }

    /// Runs the missing trials of a folder on this many threads, and returns the report.
    #[pyo3(signature = (folder, threads = 0, resume = false, replace = false, max_seconds = None, progress = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn make_all<'py>(
        &self,
        py: Python<'py>,
        folder: PathBuf,
        threads: usize,
        resume: bool,
        replace: bool,
        max_seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let watch = Observer::new(progress, max_seconds.or(self.inner.budget.seconds));
        let options = SweepOptions { threads, resume, replace, ..SweepOptions::default() };
        let made = py.detach(|| self.inner.run(&folder, &options, &watch));
        watch.into_result()?;
        json(py, &made.map_err(|error| refused(py, error))?)
    }

    /// Runs some trials for another machine; returns a text for each.
    fn make_packets(&self, py: Python<'_>, trials: Vec<u64>) -> PyResult<Vec<String>> {
        if let Some(beyond) = trials.iter().find(|index| **index >= self.inner.count()) {
            return Err(refused(py, format!("there is no trial {beyond} among {}", self.inner.count())));
        }
        let packets = py.detach(|| {
            let packet = |index: &u64| serde_json::to_string(&self.inner.make_packet(*index));
            trials.iter().map(packet).collect::<Result<Vec<_>, _>>()
        });
        packets.map_err(|error| refused(py, error))
    }

    /// Creates a collector that stores trials of other machines in a folder.
    #[pyo3(signature = (folder, resume = false, replace = false))]
    fn collector(&self, py: Python<'_>, folder: PathBuf, resume: bool, replace: bool) -> PyResult<Collector> {
        let options = SweepOptions { resume, replace, ..SweepOptions::default() };
        let inner = self.inner.collect(&folder, &options).map_err(|error| refused(py, error))?;
        Ok(Collector { inner: Mutex::new(inner) })
    }
}

/// Collects trials of other machines.
#[pyclass(module = "stiction._stiction")]
pub(crate) struct Collector {
    inner: Mutex<monte_carlo::Collector>,
}

#[pymethods]
impl Collector {
    /// Numbers of the missing trials.
    fn missing(&mut self) -> Vec<u64> {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).missing().collect()
    }

    /// Stores a trial; returns false if it is already stored or damaged.
    fn accept(&mut self, py: Python<'_>, packet: &str) -> PyResult<bool> {
        let Ok(packet) = serde_json::from_str::<Packet>(packet) else { return Ok(false) };
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        inner.accept(&packet).map_err(|error| refused(py, error))
    }
}

/// A design: parameters of a scene that minimise an objective.
#[pyclass(subclass, frozen, module = "stiction._stiction")]
pub(crate) struct Design {
    inner: DesignSearch,
}

#[pymethods]
impl Design {
    /// Reads a design file and its scene.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let inner = py.detach(|| design::load(&path)).map_err(|error| errors::scene(py, &error))?;
        Ok(Self { inner })
    }

    /// Creates a design from text: file name, design file, scene file.
    #[staticmethod]
    fn unpack(py: Python<'_>, file: &str, text: &str, scene: &str) -> PyResult<Self> {
        let inner = design::parse(text, file, scene).map_err(|error| errors::scene(py, &error))?;
        Ok(Self { inner })
    }

    /// Text of the scene that its file names.
    #[getter]
    fn scene_text(&self) -> &str {
        self.inner.design().scene_source()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.design().name
    }

    /// Number of starts of the search.
    #[getter]
    fn starts(&self) -> u32 {
        self.inner.options().starts
    }

    /// Names of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        self.inner.design().parameters.iter().map(|parameter| parameter.name.clone()).collect()
    }

    /// Objective at these parameters; NaN if the simulation fails.
    fn evaluate(&self, py: Python<'_>, parameters: Vec<f64>) -> PyResult<f64> {
        let needed = self.inner.design().parameters.len();
        if parameters.len() != needed || parameters.iter().any(|x| !x.is_finite()) {
            return Err(refused(py, format!("{needed} finite numbers are needed")));
        }
        let outcome = py.detach(|| self.inner.design().evaluate(&parameters));
        Ok(outcome.done().map_or(f64::NAN, |evaluation| self.inner.objective(evaluation)))
    }

    /// Searches from all starts on this many threads, and returns the report. Evaluations are stored in `log`, and stored ones are not
    /// repeated.
    #[pyo3(signature = (threads = 0, log = None, resume = false, lines = Vec::new(), progress = None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        log: Option<PathBuf>,
        resume: bool,
        lines: Vec<String>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let design = self.inner.design();
        let opened = match &log {
            None => Ok(Log::default()),
            Some(path) if resume => Log::resume(path, design),
            Some(path) => Log::create(path, design),
        };
        let log = opened.map_err(|error| refused(py, error))?;
        for line in &lines {
            log.add_line(line);
        }
        let watch = Observer::new(progress, None);
        let made = py.detach(|| self.inner.run(threads, &log, &watch));
        watch.into_result()?;
        if let Some(trouble) = log.trouble() {
            return Err(refused(py, trouble));
        }
        json(py, &made.map_err(|error| refused(py, error))?)
    }

    /// Evaluations in a log, a text for each; none if there is no such file.
    fn known(&self, py: Python<'_>, log: PathBuf) -> PyResult<Vec<String>> {
        if !log.exists() {
            return Ok(Vec::new());
        }
        Ok(Log::resume(&log, self.inner.design()).map_err(|error| refused(py, error))?.lines())
    }

    /// Searches from one start for another machine; returns the evaluations, a text for each.
    #[pyo3(signature = (start, lines = Vec::new()))]
    fn search_start(&self, py: Python<'_>, start: u32, lines: Vec<String>) -> PyResult<Vec<String>> {
        if start >= self.inner.options().starts {
            return Err(refused(py, format!("there is no start {start}")));
        }
        let log = Log::default();
        for line in &lines {
            log.add_line(line);
        }
        py.detach(|| self.inner.run_start(start, &log, &()));
        Ok(log.lines())
    }
}
