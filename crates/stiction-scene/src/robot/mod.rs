//! Robots of other programs: URDF and MJCF become one description, or an error with file, line and column.
//!
//! ```text
//! file ─► files (limits, asset root) ─► xml (elements that know their places) ─► urdf | mjcf ─► Robot
//! ```
//!
//! [`Robot::unsupported`] lists the contents of a file that have no effect here; nothing is dropped silently. No
//! process is started, and no file outside of the asset root is read.

mod description;
mod files;
mod mass;
mod mesh;
mod mjcf;
mod orientation;
mod reader;
mod rigid;
mod scene;
mod tree;
mod urdf;
mod xml;

use std::path::{Path, PathBuf};

pub use description::{
    Actuator, ActuatorLaw, Constraint, ConstraintKind, Form, Format, Inertial, Joint, JointId, JointKind, Keyframe,
    Link, LinkId, Note, Robot, Shape, Site,
};
pub use scene::{SceneOptions, SceneText};
pub use tree::{Dynamics, DynamicsError, RobotTree};

use crate::SceneError;
use files::Files;
use reader::Reader;

/// Options for reading a robot.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Folder that contains includes and meshes. Default: the folder of the file.
    pub asset_root: Option<PathBuf>,
    /// True to replace an inertia that no body can have by a near one, with a note. Default: such an inertia is
    /// refused.
    pub repair_inertia: bool,
    /// Base of a URDF.
    pub base: Base,
}

/// Connection of the root link of a URDF to the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Base {
    /// Fixed to the world.
    #[default]
    Fixed,
    /// Free to move.
    Free,
}

/// True if the file extension is one for [`Robot::load`]. SDF is included; it is refused there with a reason.
pub fn is_robot(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.is_some_and(|ending| ["xml", "urdf", "mjcf", "sdf", "world"].contains(&ending.as_str()))
}

impl Robot {
    /// Reads a URDF or MJCF file; the root element determines the format.
    pub fn load(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, SceneError> {
        read(Files::of_path(path.as_ref(), options.asset_root.as_deref())?, options)
    }

    /// Reads URDF or MJCF from text; `file_name` is for messages. Other files cannot be included.
    pub fn parse(text: &str, file_name: &str, options: &ReadOptions) -> Result<Self, SceneError> {
        read(Files::of_text(file_name, text)?, options)
    }
}

fn read(files: Files, options: &ReadOptions) -> Result<Robot, SceneError> {
    let mut reader = Reader::new(files, options);
    let found = xml::parse(&reader.files, 0).and_then(|root| match root.tag.as_str() {
        "robot" => urdf::read(&mut reader, &root),
        "mujoco" => mjcf::read(&mut reader, root),
        "sdf" => {
            let refusal = root.place.refuse("SDF is not supported: robots are read from URDF and MJCF");
            Err(refusal.hint("convert the model to URDF or MJCF first"))
        }
        other => {
            let refusal = root.place.refuse(format!("<{other}> is neither a URDF <robot> nor an MJCF <mujoco>"));
            Err(refusal.hint("scenes of our own are TOML"))
        }
    });
    found.map_err(|refusal| reader.files.locate(refusal))
}
