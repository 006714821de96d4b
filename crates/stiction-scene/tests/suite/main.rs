//! Scene files through the public interface: accepted files, refused files and messages.
// Helpers outside of `#[test]` functions fail by panicking, like the tests that use them; scenes are read from the
// repository.
#![allow(clippy::expect_used, clippy::panic, clippy::disallowed_methods)]

mod hostile;
mod joints;
mod limits;
mod materials;
mod messages;
mod overrides;
mod readings;
mod robot_as_they_come;
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

/// A correct scene in the plane: the start of most tests.
const PLANAR: &str = include_str!("planar.toml");

/// A correct scene with compliant layers.
const MATERIALS: &str = include_str!("materials.toml");

/// A correct scene with supports.
const SUPPORTS: &str = include_str!("supports.toml");

/// A correct scene of joints with motors and couplings.
const JOINTS: &str = include_str!("joints.toml");

/// A correct scene in space.
const SPATIAL: &str = include_str!("spatial.toml");

/// Correct scenes of smooth shapes.
const SHAPES_PLANAR: &str = include_str!("shapes_planar.toml");
const SHAPES_SPATIAL: &str = include_str!("shapes_spatial.toml");

/// Correct robots of our own.
const ARM_URDF: &str = include_str!("arm.urdf");
const CRAWLER_MJCF: &str = include_str!("crawler.xml");
