//! Scene files from the outside: what parses, what is refused, and in which words.
// Helpers outside of `#[test]` functions fail by panicking, like the tests they serve; scenes are read from the repository.
#![allow(clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod hostile;
mod joints;
mod limits;
mod materials;
mod messages;
mod overrides;
mod readings;
mod robot_bad;
mod robot_files;
mod robot_hostile;
mod robot_masses;
mod robot_meshes;
mod robot_messages;
mod robot_models;
mod robot_scenes;
mod scenes;
mod schema;
mod shapes;
mod supports;
mod tables;

/// The scenes of the repository: file name and text.
fn all_scenes() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    let entries = |folder: String| std::fs::read_dir(folder).expect("a folder of scenes");
    let mut scenes: Vec<_> = entries(folder.to_owned())
        .chain(entries(format!("{folder}/plate")))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a readable scene"))
        })
        .collect();
    scenes.sort();
    assert!(scenes.len() >= 12, "only {} scenes", scenes.len());
    scenes
}

/// A scene that is right, in the plane: the start of most tests.
const PLANAR: &str = include_str!("planar.toml");

/// A scene that is right, with compliant layers.
const MATERIALS: &str = include_str!("materials.toml");

/// A scene that is right, with supports.
const SUPPORTS: &str = include_str!("supports.toml");

/// A scene that is right, of joints with motors and couplings.
const JOINTS: &str = include_str!("joints.toml");

/// A scene that is right, in space.
const SPATIAL: &str = include_str!("spatial.toml");

/// Scenes that are right, of smooth shapes.
const SHAPES_PLANAR: &str = include_str!("shapes_planar.toml");
const SHAPES_SPATIAL: &str = include_str!("shapes_spatial.toml");

/// Robots that are right, of our own drawing.
const ARM_URDF: &str = include_str!("arm.urdf");
const CRAWLER_MJCF: &str = include_str!("crawler.xml");
