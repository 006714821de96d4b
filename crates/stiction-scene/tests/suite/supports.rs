//! `[body.support]`: meaning of its keys, and messages about mistakes.

use stiction_multibody::Dimension;
use stiction_scene::parse;

use crate::SUPPORTS;

#[test]
fn supports_are_read() {
    let model = parse(SUPPORTS, "x.toml").unwrap_or_else(|error| panic!("{error}")).model;
    assert_eq!(model.dimension(), Dimension::Planar, "a support is in the plane");
    let points: Vec<_> = model.support_points().map(|(body, support, _, point)| (body, support.on, *point)).collect();
    let id = |name| model.find_body(name).expect("a body");
    assert_eq!(points.len(), 3 + 1 + 1 + 2);
    for (k, (body, on, point)) in points.iter().take(3).enumerate() {
        assert_eq!((*body, *on), (id("part"), id("table")));
        assert!((point.load - 20.0 / 3.0).abs() < 1e-13 && (point.friction - 0.1 * (k + 1) as f64).abs() < 1e-15);
    }
    let numbers: Vec<_> =
        points.iter().skip(3).map(|(.., point)| [point.load, point.friction, point.torsion]).collect();
    assert_eq!(numbers, [[5.0, 0.4, 0.0], [10.0, 0.5, 0.07], [2.5, 0.0, 0.0], [7.5, 0.0, 0.0]]);
    let disc = SUPPORTS.replace("{ lever = 0.07 }", "{ disc = 0.1 }");
    let model = parse(&disc, "x.toml").unwrap_or_else(|error| panic!("{error}")).model;
    assert!(model.support_point_count() > 7, "a disc has several support points");
}

#[test]
fn mistakes_in_supports_are_explained() {
    let cases = [
        (
            "points = [[0, 0.3], ",
            "points = [",
            "x.toml:12:10: `points` of body \"part\" are 2: statics gives the loads of three",
        ),
        (
            "[0, 0.3], [-0.3, -0.15]",
            "[1, 0.3], [2, -0.15]",
            "x.toml:12:10: body \"part\", points: the centre of mass is outside",
        ),
        ("[0, 0.3], ", "[0, -0.15], ", "x.toml:12:10: body \"part\", points: the three points are in line"),
        (
            "friction = [0.1, 0.2, 0.3]",
            "friction = [0.1, 0.2]",
            "x.toml:13:12: body \"part\", friction: has 2 numbers for 3 points",
        ),
        (
            "friction = [0.1, 0.2, 0.3]",
            "friction = \"high\"",
            "x.toml:13:12: `friction` is a text, but must be a number, or a list",
        ),
        ("on = \"table\"", "on = \"tabel\"", "x.toml:14:6: there is no body \"tabel\" (did you mean"),
        ("on = \"table\"", "under = \"table\"", "x.toml:14:1: unknown key `under` in `support`"),
        ("{ lever = 0.07 }", "{}", "`limit_surface` of body \"disc\" must have exactly one of `disc` and `lever`"),
        ("{ lever = 0.07 }", "{ lever = -1.0 }", "a lever or radius must be finite and not negative"),
        (
            "limit_surface = { lever = 0.07 }, ",
            "",
            "`support` of body \"disc\" needs exactly one of `points` and `limit_surface`",
        ),
        ("loads = [1, 3]", "loads = [1]", "body \"crate\", loads: there are 1 for 2 points"),
        ("particle = true", "inertia = 1.0", "`support` of body \"grain\" needs exactly one of"),
        (
            "motion = { x = \"0.1*t\" }",
            "motion = { x = \"0.1*t\" }\nsupport = {}",
            "body \"table\" is kinematic: `support` is for dynamic",
        ),
        ("gravity = [0.5, 0, -10]", "gravity = [0.5, -10]", "body \"part\", support: must be pressed on by gravity"),
    ];
    for (right, wrong, sentence) in cases {
        assert!(SUPPORTS.contains(right), "the scene has no {right}");
        let error = parse(&SUPPORTS.replacen(right, wrong, 1), "x.toml").expect_err(wrong);
        assert!(error.to_string().contains(sentence), "{error}");
        assert!(error.span.is_some(), "{error}");
    }
    let space = "[simulation]\nduration = 1\nstep = 0.1\ndimension = 3\n[[body]]\nname = \"a\"\nmass = 1\nparticle = true\nsupport = {}\n";
    let error = parse(space, "x.toml").expect_err("a support in space").to_string();
    assert!(error.contains("a support exists only in the plane, but the scene is in space"), "{error}");
    let plain = "[simulation]\nduration = 1\nstep = 0.1\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"a\"\nmass = 1\nparticle = true\nposition = [0, 0]\n";
    let error = parse(plain, "x.toml").expect_err("nothing lies on anything").to_string();
    assert!(error.starts_with("x.toml:4:11: model, gravity: has a component out of the plane"), "{error}");
}
