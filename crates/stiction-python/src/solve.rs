//! Complementarity problems without mechanics.

use numpy::{IntoPyArray, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use stiction::complementarity::{
    Accuracy, DenseMatrix, FrictionProblem, Law, Lcp, MixedLcp, Operator, ProblemError, ProblemFile, RowBlock,
    SparseMatrix,
    catalogue::{self, Answer, Options},
    linalg::BlockMatrix,
};

use crate::{arrays, errors};

/// Converts a matrix of finite numbers; its shape follows from the caller's other arrays.
fn matrix(py: Python<'_>, name: &str, value: &Bound<'_, PyAny>, (rows, columns): (usize, usize)) -> PyResult<Vec<f64>> {
    let numpy = py.import("numpy")?;
    let wrong = |message: String| errors::exception(py, "ProblemError", message, Vec::new());
    let array = numpy.call_method1("asarray", (value,)).map_err(|error| wrong(format!("{name}: {error}")))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !matches!(kind.as_str(), "f" | "i" | "u") {
        return Err(wrong(format!("{name} must hold real numbers")));
    }
    let array = numpy.call_method1("ascontiguousarray", (array, "float64"))?;
    let array =
        array.extract::<PyReadonlyArray2<'_, f64>>().map_err(|_| wrong(format!("{name} must have two dimensions")))?;
    if array.shape() != [rows, columns] {
        let found = array.shape();
        return Err(wrong(format!("{name} has the shape {found:?}, but ({rows}, {columns}) is needed")));
    }
    Ok(array.as_array().iter().copied().collect())
}

fn vector(py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    arrays::reals(py, name, value)
        .map_err(|error| errors::exception(py, "ProblemError", error.value(py).to_string(), Vec::new()))
}

fn sparse(rows: usize, columns: usize, numbers: &[f64]) -> SparseMatrix {
    let mut matrix = SparseMatrix::zeros(rows, columns);
    matrix.clear(rows, columns);
    for row in 0..rows {
        for (column, value) in numbers.iter().skip(row * columns).take(columns).enumerate() {
            if *value != 0.0 {
                matrix.push(column, *value);
            }
        }
        matrix.finish_row();
    }
    matrix
}

/// A problem by its kind: `lcp` (M, q), `mixed` (A, C, D, B, a, b), `friction` (W, q, mu, and `mu_r` with rolling friction), or `file` (the text of a problem file).
#[derive(FromPyObject)]
pub(crate) enum Given<'py> {
    /// The text of a problem file.
    Text(String),
    /// Arrays by name.
    Arrays(Bound<'py, PyDict>),
}

fn needed<'py>(py: Python<'py>, arrays: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = arrays.get_item(name)?;
    found.ok_or_else(|| errors::exception(py, "ProblemError", format!("{name} is missing"), Vec::new()))
}

fn problem_of(py: Python<'_>, kind: &str, arrays: &Bound<'_, PyDict>) -> PyResult<ProblemFile> {
    let refuse = |error: ProblemError| errors::problem(py, &error);
    let get = |name: &str| needed(py, arrays, name);
    match kind {
        "lcp" => {
            let q = vector(py, "q", &get("q")?)?;
            let n = q.len();
            let m = matrix(py, "M", &get("M")?, (n, n))?;
            let m = DenseMatrix::from_row_major(n, n, m).unwrap_or_else(|| DenseMatrix::zeros(n, n));
            Ok(ProblemFile::Lcp(Lcp::new(m, q).map_err(refuse)?))
        }
        "mixed" => {
            let (a, b) = (vector(py, "a", &get("a")?)?, vector(py, "b", &get("b")?)?);
            let (free, bound) = (a.len(), b.len());
            let block = |name: &str, rows: usize, columns: usize| -> PyResult<SparseMatrix> {
                Ok(sparse(rows, columns, &matrix(py, name, &get(name)?, (rows, columns))?))
            };
            let equality =
                RowBlock { on_free: block("A", free, free)?, on_complementary: block("C", free, bound)?, constant: a };
            let complementarity = RowBlock {
                on_free: block("D", bound, free)?,
                on_complementary: block("B", bound, bound)?,
                constant: b,
            };
            Ok(ProblemFile::MixedLcp(MixedLcp::new(equality, complementarity).map_err(refuse)?))
        }
        _ => {
            let (q, mu) = (vector(py, "q", &get("q")?)?, vector(py, "mu", &get("mu")?)?);
            let (rows, contacts) = (q.len(), mu.len());
            if contacts == 0 || rows % contacts != 0 {
                let message = format!("q has {rows} numbers, which is not a multiple of the {contacts} contacts of mu");
                return Err(errors::exception(py, "ProblemError", message, Vec::new()));
            }
            let size = rows / contacts;
            let w = matrix(py, "W", &get("W")?, (rows, rows))?;
            let laws: Vec<Law> = match arrays.get_item("mu_r")? {
                None => mu.iter().map(|mu| Law::Cone { rows: size, mu: *mu }).collect(),
                Some(given) => {
                    let mu_r = vector(py, "mu_r", &given)?;
                    if mu_r.len() != contacts {
                        let message = format!("mu_r has {} numbers, but mu has {contacts}", mu_r.len());
                        return Err(errors::exception(py, "ProblemError", message, Vec::new()));
                    }
                    mu.iter().zip(mu_r).map(|(mu, mu_r)| Law::Rolling { rows: size, mu: *mu, mu_r }).collect()
                }
            };
            if let Some(law) = laws.iter().find(|law| !law.is_legal()) {
                let message = format!(
                    "{law:?} is not a friction law: 2, 3 or 4 rows per contact, 3 to 6 with rolling friction, coefficients finite and not negative"
                );
                return Err(errors::exception(py, "ProblemError", message, Vec::new()));
            }
            let mut blocks = BlockMatrix::default();
            let sizes = || std::iter::repeat_n(size, contacts);
            blocks.clear(sizes(), sizes());
            let mut block = Vec::new();
            for row in 0..contacts {
                for column in 0..contacts {
                    block.clear();
                    for k in 0..size {
                        block.extend(w.iter().skip((row * size + k) * rows + column * size).take(size));
                    }
                    blocks.push(column, &block);
                }
                blocks.finish_row();
            }
            let problem = FrictionProblem::new(Operator::Assembled(blocks), laws, q).map_err(refuse)?;
            Ok(ProblemFile::Friction(problem))
        }
    }
}

/// Solves a problem by a method; returns a dictionary with the outcome, also if it was not solved.
#[pyfunction]
#[pyo3(signature = (kind, given, method = "ladder", tolerance = None))]
pub(crate) fn solve_problem<'py>(
    py: Python<'py>,
    kind: &str,
    given: Given<'py>,
    method: &str,
    tolerance: Option<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let wrong = |message: String| errors::exception(py, "ProblemError", message, Vec::new());
    let problem = match &given {
        Given::Text(text) => ProblemFile::read(text).map_err(|error| wrong(error.to_string()))?,
        Given::Arrays(arrays) => problem_of(py, kind, arrays)?,
    };
    if tolerance.is_some_and(|tolerance| !(tolerance > 0.0 && tolerance < 1.0)) {
        return Err(wrong(format!("the tolerance must be between 0 and 1, but is {}", tolerance.unwrap_or(0.0))));
    }
    let options = Options { tolerance, accuracy: Accuracy::Exact };
    let answer = py.detach(|| catalogue::run(&problem, method, &options)).map_err(|unknown| {
        let names: Vec<_> = catalogue::methods(&problem).into_iter().map(|method| method.name).collect();
        wrong(format!("there is no method `{method}` for {}; there are {}", unknown.kind, names.join(", ")))
    })?;
    let report = match answer {
        Answer::NotApplicable { reason } => {
            return Err(wrong(format!("`{method}` does not apply to this problem: {reason}")));
        }
        Answer::Ended(report) => report,
    };
    let out = PyDict::new(py);
    out.set_item("solved", report.status.is_solved())?;
    out.set_item("status", report.status.to_string())?;
    out.set_item("residual", report.residual.value)?;
    out.set_item("worst", report.worst)?;
    out.set_item("iterations", report.iterations)?;
    out.set_item("rungs", PyList::new(py, report.rungs.iter().map(|rung| rung.name.as_str()))?)?;
    out.set_item("hint", report.hint)?;
    for unknowns in report.solution {
        out.set_item(unknowns.name, unknowns.values.into_pyarray(py))?;
    }
    Ok(out)
}
