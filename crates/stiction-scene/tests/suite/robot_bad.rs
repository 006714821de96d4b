//! Bad robots of the reliability list, one test for each kind: B02 (numbers), B04 (inertias), B05 (no mass), B21 (loops), B27 (XML),
//! B28 (includes), B29 (paths). B30 (meshes) is in `robot_meshes`.

use std::{fmt::Write, fs, path::PathBuf};

use stiction_scene::{
    SceneError, load, parse,
    robot::{Base, ReadOptions, Robot, SceneOptions},
};

use crate::{ARM_URDF, CRAWLER_MJCF};

fn read(text: &str) -> Result<Robot, SceneError> {
    Robot::parse(text, "robot.xml", &ReadOptions::default())
}

/// Attributes whose value is a list of numbers: name and the bytes of the value.
fn numeric_attributes(text: &str) -> Vec<(&str, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("=\"") {
        let name = text[..at].rsplit([' ', '\n']).next().unwrap_or_default();
        let start = at + 2;
        let end = start + text[start..].find('"').expect("a closing quote");
        let numbers = text[start..end].split_whitespace().all(|word| word.parse::<f64>().is_ok());
        if numbers && name != "version" && !text[start..end].is_empty() {
            found.push((name, start..end));
        }
    }
    found
}

#[test]
fn b02_every_attribute_takes_finite_decimals_only() {
    let long = "1".repeat(10_000);
    for text in [ARM_URDF, CRAWLER_MJCF] {
        let attributes = numeric_attributes(text);
        assert!(attributes.len() > 25, "{}", attributes.len());
        for (name, range) in attributes {
            let rest = text[range.clone()].split_once(' ').map_or(String::new(), |(_, rest)| format!(" {rest}"));
            for word in ["nan", "NaN", "inf", "-Infinity", "1e400", "0x1p3", "1,0", "1_0", "०", long.as_str()] {
                let changed = format!("{}{word}{rest}{}", &text[..range.start], &text[range.end..]);
                let error = read(&changed).expect_err(name);
                assert!(error.message.contains(&format!("`{name}`")), "{name}: {error}");
                assert_eq!(error.span.expect("a place").start, range.start, "{name}");
            }
        }
    }
}

#[test]
fn b04_inertias_that_no_body_has_are_refused() {
    let with = |moments: [f64; 3], products: [f64; 3]| {
        let ([xx, yy, zz], [xy, xz, yz]) = (moments, products);
        let text = format!(
            "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/>\n\
            <inertia ixx=\"{xx}\" iyy=\"{yy}\" izz=\"{zz}\" ixy=\"{xy}\" ixz=\"{xz}\" iyz=\"{yz}\"/></inertial></link></robot>"
        );
        Robot::parse(&text, "robot.urdf", &ReadOptions { base: Base::Free, ..ReadOptions::default() })
    };
    for (what, moments, products) in [
        ("negative", [1.0, 1.0, -1.0], [0.0; 3]),
        ("indefinite by its products", [1.0, 1.0, 1.0], [2.0, 0.0, 0.0]),
        ("a moment greater than the sum of the others by a tenth", [1.0, 1.0, 2.2], [0.0; 3]),
        ("the same, seen from other axes", [1.6, 1.6, 1.0], [0.6, 0.0, 0.0]),
    ] {
        let error = with(moments, products).expect_err(what);
        assert!(error.line == 2 && error.message.contains("principal moments"), "{what}: {error}");
    }
    // A plate, exact and rounded to the digits of a file.
    assert!(with([1.0, 1.0, 2.0], [0.0; 3]).is_ok());
    assert!(with([1.0, 1.0, 2.0 * (1.0 + 1e-12)], [0.0; 3]).is_ok());
}

#[test]
fn b05_a_chain_without_mass_at_its_tip_is_refused() {
    let chain = |tip: &str| {
        format!(
            "<mujoco><worldbody><body name=\"a\"><joint name=\"first\"/><geom size=\"0.1\"/>\n\
            <body name=\"b\" pos=\"1 0 0\"><joint name=\"second\"/><body name=\"c\" pos=\"1 0 0\"><joint name=\"third\"/>{tip}</body></body>\
            </body></worldbody></mujoco>"
        )
    };
    let error = read(&chain("")).expect_err("nothing at the tip");
    assert!(error.line == 2 && error.message.contains("no link behind it has a mass"), "{error}");
    assert!(read(&chain("<geom size=\"0.1\"/>")).is_ok(), "a frame in the middle is no harm");
}

/// A linkage of two cranks and a rod in the plane y = 0, closed by a pin at the distance `gap` from the ends.
fn four_bar(gap: f64, more: &str) -> String {
    let bar = |name: &str, at: &str, to: &str, inside: &str| {
        format!(
            "<body name=\"{name}\" pos=\"{at}\"><joint name=\"{name} hinge\" axis=\"0 1 0\"/>\
            <geom type=\"capsule\" size=\"0.02\" fromto=\"0 0 0 {to}\" contype=\"0\" conaffinity=\"0\"/>{inside}</body>"
        )
    };
    let rod = bar("rod", "0 0 -1", "1 0 0", "<site name=\"end\" pos=\"1 0 0\"/>");
    let pin = format!("<site name=\"pin\" pos=\"0 0 {}\"/>", -1.0 - gap);
    format!(
        "<mujoco><worldbody>{}{}</worldbody><equality><connect name=\"loop\" site1=\"end\" site2=\"pin\"/>{more}</equality></mujoco>",
        bar("left", "0 0 0", "0 0 -1", &rod),
        bar("right", "1 0 0", "0 0 -1", &pin),
    )
}

#[test]
fn b21_loops_that_cannot_be_closed_or_say_too_much_become_joints() {
    let joints = |text: &str| {
        let made = read(text).expect("a robot").to_scene("x", &SceneOptions::default()).expect("a scene");
        parse(&made.text, "x").unwrap_or_else(|error| panic!("{error}")).model.joints().len()
    };
    // A pin in space closes a linkage of parallel axes with three equations; two would suffice.
    assert_eq!(joints(&four_bar(0.0, "")), 4);
    assert_eq!(joints(&four_bar(0.0, "<connect name=\"again\" site1=\"end\" site2=\"pin\"/>")), 5);
    assert_eq!(joints(&four_bar(0.0, "<weld body1=\"rod\" body2=\"right\"/>")), 5);
    assert_eq!(joints(&four_bar(5.0, "")), 4, "open by more than its bars can reach");
}

#[test]
fn b27_names_and_trees_must_make_sense() {
    let joint = |name: &str, a: &str, b: &str, inside: &str| {
        format!(
            "<joint name=\"{name}\" type=\"continuous\"><parent link=\"{a}\"/><child link=\"{b}\"/>{inside}</joint>"
        )
    };
    let link = |name: &str| {
        let mass = "<mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>";
        format!("<link name=\"{name}\"><inertial>{mass}</inertial></link>")
    };
    let robot = |parts: &[String]| format!("<robot name=\"r\">{}</robot>", parts.concat());
    for (parts, words) in [
        (vec![link("a"), link("a")], "\"a\" is given to two links"),
        (vec![link("a"), link("b"), joint("j", "a", "b", ""), joint("j", "a", "b", "")], "is given to two joints"),
        (vec![link("a"), link("b"), joint("j", "a", "b", ""), joint("k", "a", "b", "")], "is the child of two joints"),
        (vec![link("a"), joint("j", "a", "c", "")], "\"c\" is no link of this robot"),
        (vec![link("a"), link("b")], "are both roots"),
        (
            vec![link("a"), link("b"), link("c"), joint("j", "b", "c", ""), joint("k", "c", "b", "")],
            "the joints above it form a cycle",
        ),
        (vec![link("a"), link("b"), joint("j", "a", "b", "<mimic joint=\"j\"/>")], "\"j\" follows itself"),
    ] {
        let error = read(&robot(&parts)).expect_err(words);
        assert!(error.message.contains(words) && error.span.is_some(), "{words}: {error}");
    }
    let mut wide = String::from("<mujoco model=\"");
    wide.push_str(&"x".repeat(5 << 20));
    assert!(read(&(wide + "\"/>")).expect_err("an attribute of five megabytes").message.contains("larger than"));
    let strange = ARM_URDF.replace("<transmission", "<wormhole name=\"x\"/><transmission");
    let notes = read(&strange).expect("a robot").unsupported;
    assert!(notes.iter().any(|note| note.to_string().contains("<wormhole>: is not known")), "{notes:?}");
}

/// A folder that is removed at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-bad-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn b28_includes_that_double_at_every_level_are_refused_at_the_second() {
    let folder = Folder::new("bomb");
    for level in 0..30 {
        let below = format!("<include file=\"level{}.xml\"/>", level + 1);
        folder.write(&format!("level{level}.xml"), &format!("<mujoco>{below}{below}</mujoco>"));
    }
    folder.write("level30.xml", "<mujoco/>");
    let error = Robot::load(folder.0.join("level0.xml"), &ReadOptions::default()).expect_err("an avalanche");
    assert!(error.message.contains("included twice"), "{error}");
    let mut many = String::from("<mujoco>");
    for k in 0..100 {
        folder.write(&format!("part{k}.xml"), "<mujoco/>");
        write!(many, "<include file=\"part{k}.xml\"/>").expect("a text");
    }
    let path = folder.write("many.xml", &(many + "</mujoco>"));
    let error = Robot::load(path, &ReadOptions::default()).expect_err("too many files");
    assert!(error.message.contains("one file too many: the limit is 64"), "{error}");
}

#[cfg(unix)]
#[test]
fn b28_pipes_are_not_waited_for() {
    let folder = Folder::new("pipe");
    let made = std::process::Command::new("mkfifo").arg(folder.0.join("pipe.xml")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe");
    let path = folder.write("robot.xml", "<mujoco><include file=\"pipe.xml\"/></mujoco>");
    let error = Robot::load(path, &ReadOptions::default()).expect_err("a pipe");
    assert!(error.message.contains("is no file"), "{error}");
    let mesh = "<robot name=\"r\"><link name=\"a\"><collision><geometry><mesh filename=\"pipe.stl\"/></geometry></collision></link></robot>";
    let path = folder.write("robot.urdf", mesh);
    fs::rename(folder.0.join("pipe.xml"), folder.0.join("pipe.stl")).expect("the pipe");
    assert!(load(path).expect_err("a pipe").message.contains("is no file"));
}

#[test]
fn b29_no_path_of_a_mesh_leaves_the_asset_root() {
    let folder = Folder::new("paths");
    fs::create_dir_all(folder.0.join("in")).expect("a folder");
    folder.write("secret.stl", "solid x");
    let long = "x/".repeat(2048) + "x.stl";
    for path in [
        "../secret.stl",
        "../../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://example.org/x.stl",
        "package://x/../../secret.stl",
        "package://../secret.stl",
        "C:\\x.stl",
        "\\\\server\\x.stl",
        "a/../../secret.stl",
        "",
        long.as_str(),
    ] {
        for (name, text) in [
            (
                "in/robot.urdf",
                format!(
                    "<robot name=\"r\"><link name=\"a\"><collision><geometry>\n<mesh filename=\"{path}\"/></geometry></collision></link></robot>"
                ),
            ),
            (
                "in/robot.xml",
                format!(
                    "<mujoco><asset>\n<mesh name=\"m\" file=\"{path}\"/></asset><worldbody><geom type=\"mesh\" mesh=\"m\"/></worldbody></mujoco>"
                ),
            ),
        ] {
            let error = load(folder.write(name, &text)).map(|_| ()).expect_err(path);
            let refused = error.message.contains("outside of the asset root") || error.message.contains("is no path");
            assert!(refused && error.line == 2, "{path} in {name}: {error}");
        }
    }
    // Names that differ by case only are different files on case-sensitive file systems.
    folder.write("in/A.xml", "<mujoco/>");
    let path = folder.write("in/cases.xml", "<mujoco><include file=\"A.xml\"/><include file=\"a.xml\"/></mujoco>");
    let error = Robot::load(path, &ReadOptions::default()).expect_err("there is one of them").message;
    assert!(error.contains("cannot be found") || error.contains("included twice"), "{error}");
}
