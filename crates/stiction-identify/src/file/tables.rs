//! Tables of an identification file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiction::scene::Angle;

use super::unit::Quantity;

/// Parameters of a scene from recorded motions. SI units unless a unit is given.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stiction identification")]
pub(super) struct IdentificationFile {
    /// The scene and the options of the identification.
    pub(super) identification: IdentificationTable,
    /// Unknown parameters, by name.
    pub(super) unknowns: BTreeMap<String, UnknownTable>,
    /// Measured motions.
    #[schemars(length(min = 1, max = 10000))]
    pub(super) recording: Vec<RecordingTable>,
    /// Motions that are held out: the estimates predict them.
    #[serde(default)]
    pub(super) predict: Vec<RecordingTable>,
}

/// The scene and the options of the identification.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IdentificationTable {
    /// The scene file, relative to the folder of this file.
    #[schemars(extend("examples" = ["../scenes/pulled_block.toml"]))]
    pub(super) scene: String,
    /// Method of identification; shooting by default.
    pub(super) method: Option<Method>,
    /// Further methods, whose estimates are reported beside those of the first.
    pub(super) compare: Option<Vec<Method>>,
    /// Corrects the starts of runs too; otherwise they are as measured. True by default.
    pub(super) free_starts: Option<bool>,
    /// Residuals beyond this number of standard deviations count linearly (Huber); by default all count by their squares.
    #[schemars(extend("examples" = [3.0]))]
    pub(super) huber: Option<f64>,
    /// Largest number of iterations; 50 by default.
    #[schemars(range(min = 1, max = 100_000), title = "a whole number from 1 on", extend("examples" = [50]))]
    pub(super) iterations: Option<u32>,
    /// Number of rows of a run; recordings are compared in such runs, each with its own start. By default a run is a whole recording.
    #[schemars(range(min = 1, max = 10_000_000), title = "a whole number from 1 on", extend("examples" = [50]))]
    pub(super) rows_per_run: Option<u32>,
    /// Window study: lengths of windows in rows; each estimate uses the last rows. None by default.
    #[schemars(extend("examples" = [[5, 20, 50]]))]
    pub(super) windows: Option<Vec<u32>>,
}

/// Method of identification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Least squares over runs, with their exact derivatives.
    Shooting,
    /// Particle filter; estimates are means over the second half of the rows.
    Filter,
    /// Direct transcription: states, impulses and parameters of all steps in one program with complementarity constraints (MPEC).
    Mpec,
}

impl Method {
    /// Name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Shooting => "shooting",
            Self::Filter => "filter",
            Self::Mpec => "mpec",
        }
    }
}

/// An unknown parameter.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UnknownTable {
    /// Path of the value of the scene that it sets.
    #[schemars(extend("examples" = ["body.block.support.friction"]))]
    pub(super) path: String,
    /// Paths of further values of the scene that it sets.
    pub(super) also: Option<Vec<String>>,
    /// Unit of its number: `deg` for angles; that of the scene by default.
    #[schemars(extend("examples" = ["deg"]))]
    pub(super) unit: Option<String>,
    /// Initial guess.
    #[schemars(extend("examples" = [0.5]))]
    pub(super) start: f64,
    /// Lower bound.
    #[schemars(extend("examples" = [0.0]))]
    pub(super) low: f64,
    /// Upper bound.
    #[schemars(extend("examples" = [1.0]))]
    pub(super) high: f64,
    /// Scale, for damping and for the test of observability; that of the start by default, or half the range if that is 0.
    #[schemars(extend("examples" = [0.1]))]
    pub(super) scale: Option<f64>,
}

/// A measured motion: a table with a row for each time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingTable {
    /// The file, relative to the folder of this file: CSV with a heading, or Parquet.
    #[schemars(extend("examples" = ["sliding_block.csv"]))]
    pub(super) file: Option<String>,
    /// Several files with the same columns, instead of one.
    pub(super) files: Option<Vec<String>>,
    /// Meaning of the columns: `time`, and `body.NAME.` followed by x, y, z, angle, qw, qx, qy or qz.
    #[schemars(extend("examples" = [{"time": "t", "body.block.x": {"column": "bx", "unit": "mm"}}]))]
    pub(super) columns: BTreeMap<String, ColumnTable>,
    /// Standard deviations of measurements whose column gives none.
    pub(super) noise: Option<NoiseTable>,
    /// The frame of the recording, relative to the scene.
    pub(super) frame: Option<FrameTable>,
    /// Time before which rows are skipped, s.
    pub(super) from: Option<f64>,
    /// Time after which rows are skipped, s.
    pub(super) to: Option<f64>,
    /// Largest fraction of a column that may be missing; 0.5 by default.
    #[schemars(extend("examples" = [0.5]))]
    pub(super) max_gaps: Option<f64>,
    /// Number of rows that the start of a predicted recording is fitted to; the rest is compared. 10 by default.
    #[schemars(range(min = 2, max = 10_000_000), title = "a whole number from 2 on", extend("examples" = [10]))]
    pub(super) start_rows: Option<u32>,
}

/// A column of a file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "the name of a column, or a table with its name and unit")]
pub(super) enum ColumnTable {
    /// Its name; in SI units.
    Name(String),
    /// Its name with unit and noise.
    Described(DescribedColumn),
}

/// A column of a file with its unit and noise.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribedColumn {
    /// Its name in the heading.
    pub(super) column: String,
    /// Its unit: m, cm, mm; rad, deg; s, ms, us, ns. The SI unit by default.
    pub(super) unit: Option<String>,
    /// Standard deviation of its measurements, in its unit or with its own unit.
    pub(super) noise: Option<Quantity>,
}

impl ColumnTable {
    /// Name, unit and noise.
    pub(super) fn parts(&self) -> (&str, Option<&str>, Option<&Quantity>) {
        match self {
            Self::Name(name) => (name, None, None),
            Self::Described(of) => (&of.column, of.unit.as_deref(), of.noise.as_ref()),
        }
    }
}

/// Standard deviations of measurements.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NoiseTable {
    /// Of each coordinate of a position.
    pub(super) position: Option<Quantity>,
    /// Of an angle, or of a rotation about each axis.
    pub(super) angle: Option<Quantity>,
}

/// A frame: x of the scene is translation + rotation · x of the recording.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameTable {
    /// The origin of the recording in the scene, m.
    #[schemars(title = "two or three numbers", extend("examples" = [[0.1, 0.0]]))]
    pub(super) translation: Option<Vec<f64>>,
    /// Rotation of the recording in the scene: an angle in the plane, a quaternion (w, x, y, z) in space.
    pub(super) rotation: Option<RotationTable>,
}

/// A rotation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "an angle, or the four numbers of a quaternion", extend("examples" = ["90 deg"]))]
pub(super) enum RotationTable {
    /// About the normal of the plane.
    Angle(Angle),
    /// In space: w, x, y, z.
    Quaternion([f64; 4]),
}
