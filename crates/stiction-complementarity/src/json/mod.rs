//! Problems as JSON text: the linear kinds with dense matrices, `mcp`, and the frictional kinds with compressed rows.
//!
//! `boxlcp`: `n`, `M`, `q`, `lb`, `ub`. `mcp`: `n`, `lb`, `ub`, `F`, `starts` (see `ncp.rs`); a bound that is null is infinite.
//! `lcp`: `n`, `M`, `q`. `mlcp`: `n_eq`, `m_comp`, `M`, `q`, where M and q hold the equality rows and the free variables
//! first. Other fields (names, sources, reference solutions) are ignored. The frictional kinds are in `friction.rs`.

mod csr;
mod friction;
mod lcp;
mod ncp;

use crate::box_lcp::BoxLcp;
use crate::friction::FrictionProblem;
use crate::lcp::Lcp;
use crate::mixed_lcp::MixedLcp;
use crate::ncp::expression::ExpressionFunction;
use crate::ncp::{Ncp, NcpSolution};
use crate::problem::ProblemError;
use serde::{Deserialize, Serialize};

/// Largest length of a text that is read, bytes.
pub const MAX_FILE_BYTES: usize = 256 << 20;

/// Largest number of rows of a problem in a file; a dense matrix of that size takes 128 MB.
pub const MAX_FILE_SIZE: usize = 4000;

/// A problem as read from a file or to be written to one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // A few of these exist at a time; matching without a box reads better.
pub enum ProblemFile {
    /// Kind `lcp`.
    Lcp(Lcp),
    /// Kind `mlcp`.
    MixedLcp(MixedLcp),
    /// Kind `boxlcp`.
    BoxLcp(BoxLcp),
    /// Kind `mcp`.
    Ncp {
        /// The problem.
        problem: Ncp<ExpressionFunction>,
        /// Initial guesses listed in the file.
        starts: Vec<NcpSolution>,
    },
    /// Kinds `fc2d`, `fc3d`, `rfc3d` (W given), `gfc2d`, `gfc3d`, `grfc3d` (M and H given) and `friction` (laws listed).
    Friction(FrictionProblem),
}

/// Error of a text that is not a legal problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemFileError {
    /// The text is too long.
    #[error("the text has {bytes} bytes, but at most {MAX_FILE_BYTES} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The text is not JSON, or a field has the wrong type; line and column are in the message.
    #[error("not a problem in JSON: {0}")]
    Syntax(#[from] serde_json::Error),
    /// The kind is unknown.
    #[error(
        "kind `{0}` is unknown; `lcp`, `mlcp`, `boxlcp`, `mcp`, `friction` and `fc2d`, `fc3d`, `rfc3d` (with or without a leading `g`) are supported"
    )]
    UnknownKind(String),
    /// A field is missing.
    #[error("field `{field}` is missing in a problem of kind `{kind}`")]
    MissingField {
        /// The kind.
        kind: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The problem has too many rows.
    #[error("the problem has {rows} rows, but at most {MAX_FILE_SIZE} are read")]
    TooLarge {
        /// Its size.
        rows: usize,
    },
    /// A field has the wrong number of entries.
    #[error("field `{field}` has {found} entries, but {expected} are needed")]
    WrongLength {
        /// The field.
        field: &'static str,
        /// The number the sizes imply.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A row of the matrix has the wrong number of entries.
    #[error("row {row} of `M` has {found} entries, but {expected} are needed")]
    WrongRowLength {
        /// The row.
        row: usize,
        /// The number the sizes imply.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// `dim` is not the number of components per contact of the kind.
    #[error("a problem of kind `{kind}` has {expected} components per contact, but `dim` is {found}")]
    WrongComponents {
        /// The kind.
        kind: &'static str,
        /// The number the kind implies.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A sparse matrix has the wrong size.
    #[error("`{part}` of matrix `{field}` has size {found}, but {expected} is needed")]
    WrongMatrixSize {
        /// The matrix.
        field: &'static str,
        /// Its part.
        part: &'static str,
        /// The number the other fields imply.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A sparse matrix is malformed.
    #[error("row {row} of matrix `{field}`: {what}")]
    BadMatrix {
        /// The matrix.
        field: &'static str,
        /// The row.
        row: usize,
        /// Description of the error.
        what: &'static str,
    },
    /// The mass matrix of a global problem is singular.
    #[error("row {row} of `M` depends on the others, so M is singular")]
    SingularMass {
        /// The row.
        row: usize,
    },
    /// An expression is malformed.
    #[error("expression of row {row}: {what}")]
    BadExpression {
        /// The row.
        row: usize,
        /// Description of the error.
        what: String,
    },
    /// The numbers do not form a legal problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
}

/// Field that selects the other fields.
#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Fields of the linear kinds; `kind` decides on the required ones.
#[derive(Default, Serialize, Deserialize)]
struct Fields {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_eq: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m_comp: Option<usize>,
    #[serde(rename = "M")]
    m: Option<Vec<Vec<f64>>>,
    q: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lb: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ub: Option<Vec<Option<f64>>>,
}

impl ProblemFile {
    /// Reads a problem; checks sizes before it allocates memory of that size.
    pub fn read(text: &str) -> Result<Self, ProblemFileError> {
        if text.len() > MAX_FILE_BYTES {
            return Err(ProblemFileError::TooLong { bytes: text.len() });
        }
        let Kind { kind } = serde_json::from_str(text)?;
        if let Some(kind) = friction::kind(&kind) {
            return friction::read(kind, text).map(Self::Friction);
        }
        if kind == "mcp" {
            return ncp::read(text).map(|(problem, starts)| Self::Ncp { problem, starts });
        }
        let fields: Fields = serde_json::from_str(text)?;
        match fields.kind.as_str() {
            "lcp" => lcp::read_lcp(fields).map(Self::Lcp),
            "mlcp" => lcp::read_mixed_lcp(fields).map(Self::MixedLcp),
            "boxlcp" => lcp::read_box_lcp(fields).map(Self::BoxLcp),
            _ => Err(ProblemFileError::UnknownKind(fields.kind)),
        }
    }

    /// Writes the problem as JSON text that reads back to the same numbers.
    pub fn to_json(&self) -> Result<String, ProblemFileError> {
        let fields = match self {
            Self::Friction(problem) => return friction::write(problem),
            Self::Ncp { problem, starts } => return ncp::write(problem, starts),
            Self::BoxLcp(problem) => lcp::write_box_lcp(problem),
            Self::Lcp(problem) => Fields {
                kind: "lcp".to_owned(),
                n: Some(problem.size()),
                m: Some((0..problem.size()).map(|i| problem.m().row(i).to_vec()).collect()),
                q: Some(problem.q().to_vec()),
                ..Fields::default()
            },
            Self::MixedLcp(problem) => {
                problem.ensure_shapes()?;
                problem.ensure_finite()?;
                let blocks = [&problem.equality, &problem.complementarity];
                Fields {
                    kind: "mlcp".to_owned(),
                    n_eq: Some(problem.free_size()),
                    m_comp: Some(problem.complementary_size()),
                    m: Some(blocks.into_iter().flat_map(|block| lcp::dense_rows(block, problem)).collect()),
                    q: Some(blocks.into_iter().flat_map(|block| block.constant.iter().copied()).collect()),
                    ..Fields::default()
                }
            }
        };
        Ok(serde_json::to_string(&fields)?)
    }
}

fn needed<T>(field: Option<T>, kind: &'static str, name: &'static str) -> Result<T, ProblemFileError> {
    field.ok_or(ProblemFileError::MissingField { kind, field: name })
}
