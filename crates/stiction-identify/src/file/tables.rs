//! What may stand in an identification file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stiction::scene::Angle;

use super::unit::Quantity;

/// Parameters of a scene from recorded motions. SI units where no unit is given.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "stiction identification")]
pub(super) struct IdentificationFile {
    /// The scene and how its parameters are found.
    pub(super) identification: IdentificationTable,
    /// What is not known, each parameter under its name.
    pub(super) unknowns: BTreeMap<String, UnknownTable>,
    /// The motions that were measured.
    #[schemars(length(min = 1, max = 10000))]
    pub(super) recording: Vec<RecordingTable>,
    /// Motions that are held out: the estimates predict them.
    #[serde(default)]
    pub(super) predict: Vec<RecordingTable>,
}

/// The scene and how its parameters are found.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IdentificationTable {
    /// The scene file, as seen from the folder of this file.
    #[schemars(extend("examples" = ["../scenes/pulled_block.toml"]))]
    pub(super) scene: String,
    /// How parameters are found; shooting when left out.
    pub(super) method: Option<Method>,
    /// Further methods, whose estimates stand beside those of the first.
    pub(super) compare: Option<Vec<Method>>,
    /// Whether the starts of runs are corrected too; otherwise they are as measured. True when left out.
    pub(super) free_starts: Option<bool>,
    /// Differences beyond so many standard deviations count linearly (Huber); all count by their squares when left out.
    #[schemars(extend("examples" = [3.0]))]
    pub(super) huber: Option<f64>,
    /// Iterations at most; 50 when left out.
    #[schemars(range(min = 1, max = 100_000), title = "a whole number from 1 on", extend("examples" = [50]))]
    pub(super) iterations: Option<u32>,
    /// Recordings are compared in runs of so many rows, each from a start of its own; whole when left out.
    #[schemars(range(min = 1, max = 10_000_000), title = "a whole number from 1 on", extend("examples" = [50]))]
    pub(super) rows_per_run: Option<u32>,
    /// Window study: estimates from the last so many rows, row after row; none when left out.
    #[schemars(extend("examples" = [[5, 20, 50]]))]
    pub(super) windows: Option<Vec<u32>>,
}

/// How parameters are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Least squares over runs, with their exact derivatives.
    Shooting,
    /// Particles that are weighted by what was measured; estimates are means over the second half of the rows.
    Filter,
    /// States, impulses and parameters of all steps as one program with complementarity constraints.
    Mpec,
}

impl Method {
    /// As it is written in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Shooting => "shooting",
            Self::Filter => "filter",
            Self::Mpec => "mpec",
        }
    }
}

/// A number that is not known.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UnknownTable {
    /// The value of the scene that it is, by its path.
    #[schemars(extend("examples" = ["body.block.support.friction"]))]
    pub(super) path: String,
    /// Further values of the scene that it is.
    pub(super) also: Option<Vec<String>>,
    /// The unit behind its number: `deg` for angles; that of the scene when left out.
    #[schemars(extend("examples" = ["deg"]))]
    pub(super) unit: Option<String>,
    /// The first guess.
    #[schemars(extend("examples" = [0.5]))]
    pub(super) start: f64,
    /// The least value.
    #[schemars(extend("examples" = [0.0]))]
    pub(super) low: f64,
    /// The greatest value.
    #[schemars(extend("examples" = [1.0]))]
    pub(super) high: f64,
    /// Its size, for damping and for what counts as seen; that of the start when left out, or half the range where that is 0.
    #[schemars(extend("examples" = [0.1]))]
    pub(super) scale: Option<f64>,
}

/// A measured motion: a table with a row per moment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingTable {
    /// The file, as seen from the folder of this file: CSV with a heading, or Parquet.
    #[schemars(extend("examples" = ["sliding_block.csv"]))]
    pub(super) file: Option<String>,
    /// Several files with the same columns, instead of one.
    pub(super) files: Option<Vec<String>>,
    /// What the columns are: `time`, and `body.NAME.` with x, y, z, angle, qw, qx, qy or qz behind it.
    #[schemars(extend("examples" = [{"time": "t", "body.block.x": {"column": "bx", "unit": "mm"}}]))]
    pub(super) columns: BTreeMap<String, ColumnTable>,
    /// How far measurements scatter where their column does not say so.
    pub(super) noise: Option<NoiseTable>,
    /// The frame of the recording, as seen from the scene.
    pub(super) frame: Option<FrameTable>,
    /// Rows before this time are left out, s.
    pub(super) from: Option<f64>,
    /// Rows after this time are left out, s.
    pub(super) to: Option<f64>,
    /// The largest share of a column that may be missing; 0.5 when left out.
    #[schemars(extend("examples" = [0.5]))]
    pub(super) max_gaps: Option<f64>,
    /// Of recordings that are predicted: the start is fitted to so many rows, and the rest is compared; 10 when left out.
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
    /// Its name and more.
    Described(DescribedColumn),
}

/// A column of a file with its unit and noise.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribedColumn {
    /// Its name in the heading.
    pub(super) column: String,
    /// Its unit: m, cm, mm; rad, deg; s, ms, us, ns. The SI unit when left out.
    pub(super) unit: Option<String>,
    /// Standard deviation of its measurements, in its unit or with a unit of its own.
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
    /// Of an angle, or of a turn about each axis.
    pub(super) angle: Option<Quantity>,
}

/// A frame: x of the scene is translation + rotation · x of the recording.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameTable {
    /// The origin of the recording in the scene, m.
    #[schemars(title = "two or three numbers", extend("examples" = [[0.1, 0.0]]))]
    pub(super) translation: Option<Vec<f64>>,
    /// How the recording is turned in the scene: an angle in the plane, a quaternion (w, x, y, z) in space.
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
