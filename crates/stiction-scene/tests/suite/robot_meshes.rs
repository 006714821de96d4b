//! Meshes of robots: formats that are read, and the list of bad ones (B30).

use std::{
    f64::consts::{PI, TAU},
    fmt::Write,
    fs,
    path::PathBuf,
};

use nalgebra::{Isometry3, Rotation3, Translation3};
use stiction_geometry::{Pose, Scratch, Shape, contacts, mass, spatial};
use stiction_scene::{
    Scene, SceneError, load,
    robot::{ReadOptions, Robot, SceneOptions},
};

/// A folder with a robot that has one mesh, removed at the end of its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, mesh: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-mesh-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        fs::write(path.join(mesh), bytes).expect("a mesh");
        let robot = format!(
            "<robot name=\"r\"><link name=\"rock\"><collision><geometry><mesh filename=\"{mesh}\"/></geometry></collision></link></robot>"
        );
        fs::write(path.join("robot.urdf"), robot).expect("a robot");
        Self(path)
    }

    fn load(&self) -> Result<Scene, SceneError> {
        load(self.0.join("robot.urdf"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

fn triangles(corners: [[f32; 3]; 4]) -> Vec<[[f32; 3]; 3]> {
    FACES.iter().map(|face| face.map(|k| corners[k])).collect()
}

fn binary(triangles: &[[[f32; 3]; 3]], declared: u32) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(declared.to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn ascii(triangles: &[[[f32; 3]; 3]]) -> String {
    let mut text = String::from("solid rock\n");
    for triangle in triangles {
        text.push_str("facet normal 0 0 0\nouter loop\n");
        for [x, y, z] in triangle {
            writeln!(text, "  vertex {x} {y} {z}").expect("a text");
        }
        text.push_str("endloop\nendfacet\n");
    }
    text + "endsolid rock\n"
}

fn obj(corners: [[f32; 3]; 4]) -> String {
    let mut text = String::from("# a rock\n");
    for [x, y, z] in corners {
        writeln!(text, "v {x} {y} {z}").expect("a text");
    }
    text + "vt 0 0\nf 1/1/1 3 2\nf 1 2 4\nf -4 -1 -2\nf 2 3 4\n"
}

#[track_caller]
fn corners_of(folder: &Folder) -> usize {
    let scene = folder.load().unwrap_or_else(|error| panic!("{error}"));
    let (_, _, shape) = scene.model.shape(0).expect("a shape");
    let Shape::Spatial(stiction_geometry::spatial::Shape::Polyhedron(hull)) = &shape.shape else { panic!("no hull") };
    hull.vertices().len()
}

#[test]
fn both_formats_are_read_and_become_their_hulls() {
    let rock = triangles(CORNERS);
    for (name, mesh, bytes) in [
        ("binary", "rock.stl", binary(&rock, 4)),
        ("text", "rock.STL", ascii(&rock).into_bytes()),
        ("obj", "rock.obj", obj(CORNERS).into_bytes()),
    ] {
        assert_eq!(corners_of(&Folder::new(name, mesh, &bytes)), 4, "{name}");
    }
    // Inside out, and with a triangle that crosses the others: a hull has no orientation and no inside.
    let mut odd: Vec<_> = rock.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    odd.push([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [0.1, 0.2, 0.1]]);
    assert_eq!(corners_of(&Folder::new("odd", "rock.stl", &binary(&odd, 5))), 4);
}

/// Message about a refused mesh.
#[track_caller]
fn refused(name: &str, mesh: &str, bytes: &[u8], words: &str) {
    let error = Folder::new(name, mesh, bytes).load().map(|_| ()).expect_err(name).to_string();
    assert!(error.starts_with(mesh) && error.contains(words), "{name}: {error}");
}

#[test]
fn bad_meshes_say_what_is_wrong() {
    let rock = triangles(CORNERS);
    let changed = |corner: [f32; 3]| {
        let mut corners = CORNERS;
        corners[3] = corner;
        triangles(corners)
    };
    refused("declared", "m.stl", &binary(&rock, 5), "declares 5 triangles, which take 334 bytes, but has 284");
    refused("negative", "m.stl", &binary(&rock, u32::MAX), "declares 4294967295 triangles");
    refused("short", "m.stl", b"rock", "neither a head of 84 bytes nor the word `solid`");
    refused("none", "m.stl", &binary(&[], 0), "has no triangle");
    refused("nan", "m.stl", &binary(&changed([0.0, f32::NAN, 1.0]), 4), "triangle 2 has a corner that is not finite");
    refused("infinite", "m.stl", &binary(&changed([0.0, f32::INFINITY, 1.0]), 4), "is not finite and within 1e9");
    // Flat ones become plates.
    assert_eq!(corners_of(&Folder::new("one", "m.stl", &binary(&rock[..1], 1))), 6);
    assert_eq!(corners_of(&Folder::new("flat", "m.stl", &binary(&changed([1.0, 1.0, 0.0]), 4))), 8);
    refused("line", "m.stl", &binary(&triangles([[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]]), 4), "has no convex hull");
    refused("point", "m.stl", &binary(&triangles([[1.0; 3]; 4]), 4), "has no convex hull");
    refused("word", "m.stl", ascii(&rock).replace("vertex 1", "vertex one").as_bytes(), ":6:10: `vertex` needs three");
    refused("cut", "m.stl", &ascii(&rock).as_bytes()[..150], "no whole number of triangles");
    let obj = obj(CORNERS);
    refused("index", "m.obj", obj.replace("f 1 2 4", "f 1 2 5").as_bytes(), "m.obj:8:7: a face names a corner");
    refused("zero", "m.obj", obj.replace("f 1 2 4", "f 0 2 4").as_bytes(), "m.obj:8:3: a face names a corner");
    refused("back", "m.obj", obj.replace("f -4", "f -5").as_bytes(), "m.obj:9:3: a face names a corner");
    refused("two", "m.obj", obj.replace("f 1 2 4", "f 1 2").as_bytes(), "m.obj:8:1: a face needs three corners");
    refused(
        "letters",
        "m.obj",
        obj.replace("v 1 0 0", "v 1 0").as_bytes(),
        "m.obj:3:6: `v` needs three finite numbers",
    );
    refused("bytes", "m.obj", &[0xff; 100], "has no triangle");
    refused("large", "m.stl", &vec![b' '; (32 << 20) + 1], "is larger than 33554432 bytes");
    refused(
        "many",
        "m.stl",
        &binary(&vec![rock[3]; 500_001], 500_001),
        "500001 triangles or more; the limit is 500000",
    );
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn tiny_and_rich_meshes_have_a_hull_or_a_reason() {
    // A tetrahedron of 1e-23 m is far smaller than any meaningful length, but it is a shape.
    let tiny = triangles(CORNERS.map(|corner| corner.map(|x| x * 1e-23)));
    let _ = Folder::new("tiny", "m.stl", &binary(&tiny, 4)).load().map_err(|error| assert!(!error.message.is_empty()));
    // A sphere with thousands of vertices keeps the outermost ones, with a note.
    let mut ball = String::new();
    let (rings, sides) = (60_u32, 90_u32);
    for i in 0..=rings {
        for j in 0..sides {
            let (a, b) = (f64::from(i) / f64::from(rings) * PI, f64::from(j) / f64::from(sides) * TAU);
            writeln!(ball, "v {} {} {}", a.sin() * b.cos(), a.sin() * b.sin(), a.cos()).expect("a text");
        }
    }
    for k in 1..=(rings * sides) {
        writeln!(ball, "f {} {} {}", k, k + 1, k + sides - 1).expect("a text");
    }
    let folder = Folder::new("ball", "m.obj", ball.as_bytes());
    assert!((300..=500).contains(&corners_of(&folder)), "{}", corners_of(&folder));
    let robot = Robot::load(folder.0.join("robot.urdf"), &ReadOptions::default()).expect("a robot");
    let notes = robot.to_scene("robot.urdf", &SceneOptions::default()).expect("a scene").notes;
    assert!(notes.iter().any(|note| note.contains("the outermost ones")), "{notes:?}");
}

#[test]
fn meshes_are_cut_into_convex_pieces_on_request() {
    // Two distant tetrahedra in one mesh: their common hull is one body, their convex parts are at least two.
    let far = triangles(CORNERS.map(|[x, y, z]| [x + 3.0, y, z]));
    let folder = Folder::new("pieces", "m.stl", &binary(&[triangles(CORNERS), far].concat(), 8));
    let robot = Robot::load(folder.0.join("robot.urdf"), &ReadOptions::default()).expect("a robot");
    let shapes = |decompose: bool| {
        let options = SceneOptions { decompose, ..SceneOptions::default() };
        let text = robot.to_scene("robot.urdf", &options).expect("a scene").text;
        stiction_scene::parse(&text, "robot.toml").unwrap_or_else(|error| panic!("{error}")).model.shapes().count()
    };
    assert_eq!(shapes(false), 1);
    assert!((2..=32).contains(&shapes(true)), "{}", shapes(true));
}

#[test]
fn meshes_stay_below_the_asset_root() {
    let folder = Folder::new("outside", "m.stl", &binary(&triangles(CORNERS), 4));
    fs::create_dir_all(folder.0.join("in")).expect("a folder");
    fs::copy(folder.0.join("robot.urdf"), folder.0.join("in/robot.urdf")).expect("a robot");
    let missing = load(folder.0.join("in/robot.urdf")).expect_err("no mesh there");
    assert!(missing.to_string().starts_with("m.stl: cannot be found"), "{missing}");
    let hint = missing.hint.unwrap_or_default();
    assert!(hint.starts_with("the mesh is named in ") && hint.contains("robot.urdf:"), "{hint}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.0.join("m.stl"), folder.0.join("in/m.stl")).expect("a link");
        let error = load(folder.0.join("in/robot.urdf")).expect_err("a link out of the root").to_string();
        assert!(error.starts_with("m.stl: leads outside of the asset root"), "{error}");
        fs::remove_file(folder.0.join("in/m.stl")).expect("the link");
        std::os::unix::fs::symlink("/dev/zero", folder.0.join("in/m.stl")).expect("a link");
        assert!(load(folder.0.join("in/robot.urdf")).is_err());
    }
    let other = Folder::new("collada", "m.dae", b"<COLLADA/>");
    let scene = other.load().expect("a scene");
    assert_eq!(scene.model.shapes().count(), 0);
    assert!(scene.notes.iter().any(|note| note.contains("only STL and OBJ are read")), "{:?}", scene.notes);
}

/// A mug in boxes: a floor of 0.1 m and four walls around a cavity of 0.2 m by 0.2 m. Each box is a group of the OBJ.
fn mug(group: &str) -> String {
    let boxes = [
        [[-0.2, -0.2, 0.0], [0.2, 0.2, 0.1]],
        [[-0.2, -0.2, 0.1], [0.2, -0.1, 0.5]],
        [[-0.2, 0.1, 0.1], [0.2, 0.2, 0.5]],
        [[-0.2, -0.1, 0.1], [-0.1, 0.1, 0.5]],
        [[0.1, -0.1, 0.1], [0.2, 0.1, 0.5]],
    ];
    let mut text = String::new();
    for (number, ends) in boxes.iter().enumerate() {
        writeln!(text, "{}", group.replace('N', &number.to_string())).expect("a text");
        for k in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| ends[k >> axis & 1][axis]);
            writeln!(text, "v {x} {y} {z}").expect("a text");
        }
        for [a, b, c, d] in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
            writeln!(text, "f {} {} {} {}", a - 8, b - 8, c - 8, d - 8).expect("a text");
        }
    }
    text
}

/// Groups that are convex were merged: the hull of a mug has no cavity (issue 33).
#[test]
fn convex_groups_of_a_mesh_stay_parts() {
    let touches = |scene: &Scene, at: [f64; 3], radius: f64| {
        let ball = Shape::from(spatial::Shape::sphere(radius).expect("a ball"));
        let pose = Pose::translation(at[0], at[1], at[2]);
        let (mut found, mut scratch) = (Vec::new(), Scratch::default());
        for (_, _, shape) in scene.model.shapes() {
            contacts(&shape.shape, &shape.local, &ball, &pose, 0.0, &mut scratch, &mut found).expect("contacts");
        }
        !found.is_empty()
    };
    for (name, group) in [("objects", "o part_N"), ("groups", "g part_N"), ("both", "o part_N\ng part_N")] {
        let scene = Folder::new(name, "mug.obj", mug(group).as_bytes()).load().expect("a mug");
        assert_eq!(scene.model.shapes().count(), 5, "{name}");
        assert!(scene.notes.iter().any(|note| note.contains("its 5 groups are kept")), "{:?}", scene.notes);
        assert!(!touches(&scene, [0.0, 0.0, 0.2], 0.099), "a ball fits into the mug");
        assert!(touches(&scene, [0.0, 0.0, 0.2], 0.101) && touches(&scene, [0.15, 0.0, 0.3], 0.01));
    }
    // Without groups, or with one that is not convex, a mesh is its hull.
    let whole = Folder::new("whole", "mug.obj", mug("").as_bytes()).load().expect("a mug");
    let open = mug("o part_N").replacen("f -8 -6 -5 -7\n", "", 1);
    let open = Folder::new("open", "mug.obj", open.as_bytes()).load().expect("a mug");
    for scene in [whole, open] {
        assert_eq!(scene.model.shapes().count(), 1);
        assert!(touches(&scene, [0.0, 0.0, 0.2], 0.01));
    }
}

/// Mass properties of meshes were not computed, and robots refused for that (issue 33).
#[test]
fn mesh_geoms_have_the_mass_of_their_solid() {
    let turn = Rotation3::from_euler_angles(0.3, -0.4, 1.1);
    let place = Isometry3::from_parts(Translation3::new(0.2, -0.1, 0.4), turn.into());
    let inertial = |name: &str, file: &str, bytes: &[u8], geom: &str| {
        let folder = Folder::new(name, file, bytes);
        let q = place.rotation.coords;
        let text = format!(
            "<mujoco><asset><mesh name=\"m\" file=\"{file}\" scale=\"1 1 -2\"/></asset><worldbody><body><geom type=\"mesh\" mesh=\"m\" pos=\"0.2 -0.1 0.4\" quat=\"{} {} {} {}\" {geom}/></body></worldbody></mujoco>",
            q.w, q.x, q.y, q.z
        );
        fs::write(folder.0.join("robot.xml"), text).expect("a robot");
        let robot = Robot::load(folder.0.join("robot.xml"), &ReadOptions::default()).expect("a robot");
        (robot.links[1].inertial, robot.unsupported)
    };
    // Five boxes, with z doubled and mirrored.
    let parts = [
        ([0.0, 0.0, -0.1], [0.2, 0.2, 0.1]),
        ([0.0, -0.15, -0.6], [0.2, 0.05, 0.4]),
        ([0.0, 0.15, -0.6], [0.2, 0.05, 0.4]),
        ([-0.15, 0.0, -0.6], [0.05, 0.1, 0.4]),
        ([0.15, 0.0, -0.6], [0.05, 0.1, 0.4]),
    ];
    let shapes = parts.map(|(at, half)| {
        let at = place.to_homogeneous() * nalgebra::Vector4::new(at[0], at[1], at[2], 1.0);
        let pose = Pose::from_parts(at.xyz().into(), turn);
        (Shape::from(spatial::Shape::cuboid(half).expect("a box")), pose)
    });
    let expected =
        mass::composite_mass_properties(shapes.iter().map(|(shape, pose)| (shape, pose)), 700.0).expect("a mass");
    let agree = |found: &stiction_scene::robot::Inertial, factor: f64| {
        assert!((found.mass - factor * expected.mass).abs() < 1e-12 * found.mass, "{found:?}");
        assert!((found.centre - expected.centre).norm() < 1e-12, "{found:?}");
        assert!((found.inertia - expected.inertia * factor).norm() < 1e-11 * found.inertia.norm(), "{found:?}");
    };
    for group in ["", "o part_N"] {
        let (found, notes) = inertial("mass", "mug.obj", mug(group).as_bytes(), "density=\"700\"");
        agree(&found.expect("a mass"), 1.0);
        assert!(notes.is_empty(), "{notes:?}");
    }
    let (found, _) = inertial("given", "mug.obj", mug("").as_bytes(), "mass=\"3\"");
    agree(&found.expect("a mass"), 3.0 / expected.mass);
    // An open mesh has the mass of its hull, and it is said so.
    let rock = triangles(CORNERS);
    let (found, notes) = inertial("holes", "m.stl", &binary(&rock[1..], 3), "");
    assert!((found.expect("a mass").mass - 1000.0 / 3.0).abs() < 1e-9);
    assert!(
        notes.iter().any(|note| note.reason.contains("that of its convex hull: the mesh is open: 3 edges")),
        "{notes:?}"
    );
    // Files that are not read have none.
    let (found, notes) = inertial("foreign", "m.dae", b"<COLLADA/>", "");
    assert!(found.is_none() && notes.iter().any(|note| note.reason.contains("only STL and OBJ are read")), "{notes:?}");
}
