//! Robots in several files: includes, and paths that try to leave the asset root.

use std::{fs, path::PathBuf};

use stiction_scene::robot::{Form, ReadOptions, Robot};

/// A folder that is removed at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-robot-{name}-{}", std::process::id()));
        for (file, text) in files {
            let whole = path.join(file);
            fs::create_dir_all(whole.parent().expect("a folder")).expect("a folder");
            fs::write(whole, text).expect("a file");
        }
        Self(path)
    }

    fn load(&self, name: &str) -> Result<Robot, String> {
        Robot::load(self.0.join(name), &ReadOptions::default()).map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const BALL: &str = "<mujocoinclude>\n<body name=\"ball\"><freejoint/><geom size=\"0.1\"/></body></mujocoinclude>";

fn including(file: &str) -> String {
    format!("<mujoco><worldbody>\n<include file=\"{file}\"/></worldbody></mujoco>")
}

#[test]
fn included_bodies_are_there() {
    let folder = Folder::new("include", &[("robot.xml", &including("parts/ball.xml")), ("parts/ball.xml", BALL)]);
    assert!(folder.load("robot.xml").expect("a robot").link("ball").is_some());
}

#[test]
fn errors_in_included_files_name_them() {
    let wrong = BALL.replace("size=\"0.1\"", "size=\"a\"");
    let folder = Folder::new("wrong", &[("robot.xml", &including("ball.xml")), ("ball.xml", &wrong)]);
    let error = folder.load("robot.xml").expect_err("a word for a number");
    assert!(error.starts_with("ball.xml:2:43: ") && error.contains("finite decimal numbers"), "{error}");
}

#[test]
fn includes_do_not_run_away() {
    let folder = Folder::new(
        "cycle",
        &[
            ("self.xml", &including("self.xml")),
            ("a.xml", &including("b.xml")),
            ("b.xml", "<x><include file=\"a.xml\"/></x>"),
            ("twice.xml", "<mujoco><include file=\"empty.xml\"/><include file=\"empty.xml\"/></mujoco>"),
            ("empty.xml", "<x/>"),
            ("missing.xml", &including("nowhere.xml")),
            ("folder.xml", &including("sub")),
            ("sub/x.xml", "<x/>"),
        ],
    );
    for (file, words) in [
        ("self.xml", "included twice"),
        ("a.xml", "included twice"),
        ("twice.xml", "included twice"),
        ("missing.xml", "cannot be found"),
        ("folder.xml", "is no file"),
    ] {
        let error = folder.load(file).expect_err(file);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn no_path_leaves_the_asset_root() {
    let absolute = "/etc/hostname";
    let long = "x/".repeat(2048);
    for path in
        ["../outside.xml", absolute, "file:///etc/hostname", "http://x/y", "C:\\x", "\\\\x\\y", "", long.as_str()]
    {
        let folder = Folder::new("leave", &[("in/robot.xml", &including(path)), ("outside.xml", BALL)]);
        let error = folder.load("in/robot.xml").expect_err(path);
        assert!(error.contains("outside of the asset root") || error.contains("is no path"), "{path}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_devices_do_not_lead_out() {
    let folder = Folder::new(
        "link",
        &[("in/robot.xml", &including("out.xml")), ("in/device.xml", &including("null")), ("secret.xml", BALL)],
    );
    std::os::unix::fs::symlink(folder.0.join("secret.xml"), folder.0.join("in/out.xml")).expect("a link");
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("in/null")).expect("a link");
    for file in ["in/robot.xml", "in/device.xml"] {
        let error = folder.load(file).expect_err("outside");
        assert!(error.contains("outside of the asset root"), "{error}");
    }
    // With a root that contains both, the same link is accepted.
    let options = ReadOptions { asset_root: Some(folder.0.clone()), ..ReadOptions::default() };
    assert!(Robot::load(folder.0.join("in/robot.xml"), &options).is_ok());
}

#[test]
fn files_that_are_no_text_say_so() {
    let folder = Folder::new("bytes", &[("robot.xml", &including("bytes.xml"))]);
    fs::write(folder.0.join("bytes.xml"), b"<x>\xff</x>").expect("a file");
    let error = folder.load("robot.xml").expect_err("no text");
    assert!(error.contains("robot.xml:2:16: ") && error.contains("the first wrong byte is number 4"), "{error}");
    let error = folder.load("bytes.xml").expect_err("no text");
    assert!(error.contains("bytes.xml: is not UTF-8 text"), "{error}");
}

#[test]
fn meshes_are_found_below_the_folder_of_meshes() {
    let text = "<mujoco><compiler meshdir=\"meshes/\"/><asset><mesh file=\"rock.stl\" scale=\"2 2 2\"/></asset>\
        <worldbody><geom type=\"mesh\" mesh=\"rock\"/><body>{}<geom type=\"mesh\" mesh=\"rock\"/></body></worldbody></mujoco>";
    let with = |inertial: &str| {
        let text = text.replace("{}", inertial);
        let robot = Robot::parse(&text, "x.xml", &ReadOptions::default()).expect("a robot");
        assert!(matches!(&robot.links[0].shapes[0].form, Form::Mesh(path, _) if path == "meshes/rock.stl"));
        robot
            .unsupported
            .iter()
            .filter(|note| note.what == "mass of the mesh meshes/rock.stl")
            .map(|note| note.count)
            .sum::<usize>()
    };
    assert_eq!(with(""), 1, "the mass of the body is missing, that of the world is not");
    assert_eq!(with("<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>"), 0, "the mass is given");
}
