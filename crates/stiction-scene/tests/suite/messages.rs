//! Messages and places of errors, one mistake at a time.

use stiction_scene::parse;

use crate::{PLANAR, SPATIAL};

/// Puts one mistake into a correct scene and compares the message.
#[track_caller]
fn refused(base: &str, right: &str, wrong: &str, expected: &str) {
    assert!(base.contains(right), "the scene has no {right}");
    let error = parse(&base.replacen(right, wrong, 1), "x.toml").expect_err(wrong);
    assert_eq!(error.to_string(), expected);
    let span = error.span.expect("a place");
    assert!(error.source_text.get(span).is_some());
}

#[test]
fn unknown_keys_get_a_suggestion() {
    for (right, wrong, expected) in [
        ("mass = 1.0", "mas = 1.0", "x.toml:36:1: unknown key `mas` in `body` (did you mean `mass`?)"),
        ("[scheme]", "[shceme]", "x.toml:9:2: unknown key `shceme` in a scene (did you mean `scheme`?)"),
        (
            "friction = 0.6",
            "friktion = 0.6",
            "x.toml:113:1: unknown key `friktion` in `contact` (did you mean `friction`?)",
        ),
        ("0.25, radius", "0.25, radios", "x.toml:43:33: unknown key `radios` in `capsule` (did you mean `radius`?)"),
        (
            "record_every = 2",
            "colour = 2",
            "x.toml:7:1: unknown key `colour` in `simulation` (known here: dimension, duration, gravity, preset, record_every, step)",
        ),
    ] {
        refused(PLANAR, right, wrong, expected);
    }
    refused(
        SPATIAL,
        "body_123 = [",
        "body_321 = [",
        "x.toml:36:17: unknown key `body_321` in `orientation` (did you mean `body_123`?)",
    );
}

#[test]
fn wrong_types_say_what_was_expected() {
    for (right, wrong, expected) in [
        ("step = 0.01", "step = \"fast\"", "x.toml:3:8: `step` is a text, but must be a number (such as 0.0025)"),
        ("step = 0.01\n", "", "x.toml:1:1: `simulation` needs `step` (a number, such as 0.0025)"),
        (
            "kind = \"fixed\"",
            "kind = 3",
            "x.toml:20:8: `kind` is a whole number, but must be one of \"fixed\", \"kinematic\", \"dynamic\", \"frame\"",
        ),
        (
            "position = [0.0, 1.0]",
            "position = [0.0]",
            "x.toml:38:12: `position` is a list of 1, but must be two numbers in the plane or three in space (such as [0.0,1.0])",
        ),
        (
            "position = [0.0, 1.0]",
            "position = [0.0, \"up\"]",
            "x.toml:38:18: `position` is a text, but must be a number",
        ),
        (
            "angle = \"30 deg\"",
            "angle = true",
            "x.toml:39:9: `angle` is true or false, but must be an angle: a number of radians or a text with a unit (such as \"30 deg\")",
        ),
        (
            "record_every = 2",
            "record_every = 0",
            "x.toml:7:16: `record_every` is 0, but must be a whole number from 1 on (such as 8)",
        ),
        (
            "record_every = 2",
            "record_every = 2.5",
            "x.toml:7:16: `record_every` is a number, but must be a whole number from 1 on (such as 8)",
        ),
        ("disc = { radius = 0.2 }", "disc = 0.2", "x.toml:52:8: `disc` is a number, but must be a table"),
        (
            "margin = 0.02",
            "margin = \"automatic\"",
            "x.toml:14:10: `margin` is a text, but must be a distance in metres or \"auto\" (such as 0.02)",
        ),
        (
            "between = [\"rod\", \"floor\"]",
            "between = [\"rod\"]",
            "x.toml:112:11: `between` is a list of 1, but must be the names of two bodies (such as [\"rod\",\"table\"])",
        ),
    ] {
        refused(PLANAR, right, wrong, expected);
    }
}

#[test]
fn wrong_words_are_corrected() {
    let preset = "preset = \"anitescu-hart\"";
    refused(
        PLANAR,
        preset,
        "preset = \"anitescu-heart\"",
        "x.toml:4:10: `preset` must be one of \"ncp\", \"stewart-trinkle\", \"anitescu-potra\", \"anitescu-hart\", \
         \"moreau-jean\", \"reference\", \"quasistatic\", \"geometrically-implicit\", not \"anitescu-heart\" \
         (did you mean `anitescu-hart`?)",
    );
    refused(
        PLANAR,
        preset,
        "preset = \"stewart-trinkle\"",
        "x.toml:10:9: the preset \"stewart-trinkle\" means gamma = 1, not 0.3 \
         (with `preset = \"anitescu-hart\"` gamma is free to choose)",
    );
    let both = "[simulation]\nduration = 1.0\nstep = 0.1\npreset = \"geometrically-implicit\"\n[scheme]\njacobians = \"start\"\n";
    let error = stiction_scene::parse(both, "x.toml").unwrap_err().to_string();
    assert!(error.contains("the preset \"geometrically-implicit\" means jacobians = \"implicit\""), "{error}");
}

#[test]
fn plane_and_space_do_not_mix() {
    let why = "but the scene is in the plane: `simulation.dimension` says so";
    for (right, wrong, expected) in [
        (
            "position = [0.0, 1.0]",
            "position = [0.0, 1.0, 0.0]",
            format!("x.toml:38:12: `position` has 3 components, {why} (give two)"),
        ),
        (
            "inertia = 0.002",
            "inertia = [1.0, 1.0, 1.0]",
            format!("x.toml:37:11: an inertia matrix exists only in space, {why} (give one number)"),
        ),
        (
            "disc = { radius = 0.2 }",
            "sphere = { radius = 0.2 }",
            format!("x.toml:52:10: a sphere exists only in space, {why} (use `disc`)"),
        ),
    ] {
        refused(PLANAR, right, wrong, &expected);
    }
    refused(
        SPATIAL,
        "orientation = [1.0, 0.0, 0.0, 0.0]",
        "angle = 0.1",
        "x.toml:25:9: an angle exists only in the plane, but the scene is in space: body \"turntable\" has a position of 3 \
         (give an `orientation`)",
    );
}

#[test]
fn names_are_resolved() {
    let between = "between = [\"rod\", \"floor\"]";
    refused(
        PLANAR,
        between,
        "between = [\"rod\", \"flor\"]",
        "x.toml:112:19: there is no body \"flor\" (did you mean `floor`?)",
    );
    refused(
        PLANAR,
        between,
        "between = [\"rod\", \"rod\"]",
        "x.toml:112:11: contact rule 0, between: needs two different bodies",
    );
    refused(PLANAR, "name = \"disc\"", "name = \"rod\"", "x.toml:48:8: there is already a body \"rod\"");
}

#[test]
fn expressions_point_into_their_text() {
    let error = parse(&PLANAR.replacen("0.4*sin(t)", "0.4*sine(t)", 1), "x.toml").expect_err("sine");
    assert_eq!((error.line, error.column), (30, 27));
    assert!(error.message.starts_with("`sine` is not known"), "{error}");
    refused(
        PLANAR,
        "x = \"0.5 + 0.4*sin(t)\"",
        "x = \"log(t)\"",
        "x.toml:30:16: `x` of body \"plate\" must be finite and at most 1e9 in magnitude, but is -inf at t = 0",
    );
}

#[test]
fn bodies_say_what_they_lack_or_have_too_much() {
    let disc = "disc = { radius = 0.2 }";
    for (right, wrong, expected) in [
        (
            "density = 10.0",
            "",
            "x.toml:47:1: body \"disc\" is dynamic and needs a `mass` (or a `density`; or `kind = \"fixed\"` if it never moves)",
        ),
        (
            "density = 10.0",
            "density = 10.0\nmass = 1.0",
            "x.toml:49:11: body \"disc\" has a `mass` as well (keep one of the two)",
        ),
        (
            "kind = \"fixed\"",
            "kind = \"fixed\"\nmass = 1.0",
            "x.toml:21:8: body \"floor\" is fixed: `mass` is for dynamic bodies",
        ),
        ("motion = {", "mation = {", "x.toml:30:1: unknown key `mation` in `body` (did you mean `motion`?)"),
        (
            "motion = { x = \"0.5 + 0.4*sin(t)\", y = 2.0, angle = \"t\" }",
            "",
            "x.toml:27:1: body \"plate\" is kinematic and needs a `motion` (such as motion = { x = \"0.5*t\" })",
        ),
        (
            disc,
            "polygon = { vertices = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] }",
            "x.toml:52:11: body \"disc\": the outline of a polygon must not touch itself: \
             the edge from vertex 1 to 2 meets the edge from vertex 3 to 0",
        ),
        (
            disc,
            "polygon = { vertices = [[0.0, 0.0], [0.0, 2.0], [0.5, 0.5], [2.0, 0.0]] }",
            "x.toml:52:11: body \"disc\": the vertices of a polygon must be listed counter-clockwise",
        ),
        (
            disc,
            "disc = { radius = 0.2 }\npoint = {}",
            "x.toml:52:8: one shape cannot be point and disc at once (write a [[body.shape]] for each)",
        ),
        (
            disc,
            "disc = { radius = 0.2 }\nposition = [0.5, 0.25]",
            "x.toml:51:1: the shapes of body \"disc\" have their centre of mass at [0.5, 0.25], not at the body's origin \
             (move every shape by [-0.5, -0.25], or give `inertia`)",
        ),
        (
            disc,
            "point = {}",
            "x.toml:47:1: body \"disc\" has no solid shape to compute its inertia from \
             (give `inertia`, or `particle = true` for a point mass)",
        ),
        (
            disc,
            "disc = { radius = -0.2 }",
            "x.toml:52:8: body \"disc\": the radius of a disc must be a positive finite number, not -0.2",
        ),
        ("axis = [1.0, 0.0]\n", "", "x.toml:75:1: a prismatic joint needs `axis`"),
    ] {
        refused(PLANAR, right, wrong, expected);
    }
}

#[test]
fn beginners_are_told_what_to_write() {
    let simulation = "[simulation]\nduration = 1.0\nstep = 0.01\n";
    for (rest, expected) in [
        (
            "[[shape]]\ndisc = { radius = 0.1 }\n",
            "x.toml:4:3: unknown key `shape` in a scene (write [[body.shape]] under its body)",
        ),
        ("[joint]\n", "x.toml:4:1: `joint` is a single table, but there may be several (write [[joint]])"),
        (
            "[[body]]\nname = \"a\"\n[body.shape]\npoint = {}\n",
            "x.toml:6:1: `shape` is a single table, but there may be several (write [[body.shape]])",
        ),
        (
            "[[body]]\nname = \"a\"\nkind = \"static\"\n",
            "x.toml:6:8: `kind` must be one of \"fixed\", \"kinematic\", \"dynamic\", \"frame\", not \"static\" (did you mean `fixed`?)",
        ),
        (
            "[[body]]\nname = \"a\"\nkind = \"colourful\"\n",
            "x.toml:6:8: `kind` must be one of \"fixed\", \"kinematic\", \"dynamic\", \"frame\", not \"colourful\"",
        ),
    ] {
        assert_eq!(parse(&format!("{simulation}{rest}"), "x.toml").expect_err(rest).to_string(), expected);
    }
    for (rest, hint) in [
        ("[body]\nname = \"a\"\n[body]\nname = \"b\"\n", "write [[body]] for each of several"),
        ("[[body]]\nname = \"a\"\nmass = 0,5\n", "use a decimal point: 0.5, not 0,5"),
    ] {
        let error = parse(&format!("{simulation}{rest}"), "x.toml").expect_err(rest);
        assert_eq!((error.line, error.hint.as_deref()), (6, Some(hint)), "{error}");
    }
}

#[test]
fn a_position_and_a_motion_must_agree_at_the_start() {
    let motion = "motion = { x = \"0.5 + 0.4*sin(t)\", y = 2.0, angle = \"t\" }";
    refused(
        PLANAR,
        motion,
        &format!("{motion}\nposition = [0.5, 1.0]"),
        "x.toml:30:40: `y` of body \"plate\" starts at 2, but the body's `position` says 1 \
         (keep one of the two, or let them agree at t = 0)",
    );
    let agreeing = PLANAR.replacen(motion, &format!("{motion}\nposition = [0.5, 2.0]\nangle = 0.0"), 1);
    let scene = parse(&agreeing, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scene.motions["plate"].position[0].to_string(), "0.5 + 0.4*sin(t)");
}

#[test]
fn syntax_errors_have_their_place() {
    let error = parse("[simulation]\nduration = \n", "x.toml").expect_err("no value");
    assert_eq!((error.line, error.column), (2, 12));
    assert!(error.message.starts_with("is not valid TOML: "), "{error}");
    let error = parse(&PLANAR.replacen("step = 0.01", "step = 0.01\nstep = 0.02", 1), "x.toml").expect_err("twice");
    assert_eq!(error.line, 4, "{error}");
    // Columns count characters, not bytes.
    let error = parse("simulation = { \"é\" = 1, duration = nan }", "x.toml").expect_err("nan");
    assert_eq!((error.line, error.column), (1, 36));
}

#[test]
fn vibrations_say_what_is_wrong() {
    let wrong = |right: &str, wrong: &str| {
        let text = SPATIAL.replacen(right, wrong, 1);
        parse(&text, "x.toml").map(|_| ()).expect_err(wrong).to_string()
    };
    let message = wrong("frequency = 33.0", "frequency = 0.0");
    assert!(message.contains("`frequency` of body \"feeder\" must be from 1e-6 to 1e6 Hz, but is 0"), "{message}");
    let message = wrong("angular_acceleration = [100.0, 100.0, 3.0]", "angular_acceleration = [1e5, 100.0, 3.0]");
    assert!(message.contains("turns by more than 1 rad about several axes"), "{message}");
    let message = wrong("[body.vibration]", "motion = { x = 0.0 }\n[body.vibration]");
    assert!(message.contains("body \"feeder\" has a `motion` and a `vibration`: it can follow one"), "{message}");
    let message = wrong("name = \"feeder\"\nkind = \"kinematic\"", "name = \"feeder\"\nmass = 1.0");
    assert!(message.contains("body \"feeder\" is dynamic: `vibration` is for kinematic bodies"), "{message}");
    let message = wrong("direction_body = \"feeder\"", "direction_body = \"feder\"");
    assert!(message.contains("there is no body \"feder\" (did you mean `feeder`?)"), "{message}");
    let planar = PLANAR.replacen("motion = {", "vibration = { frequency = 1.0 } #", 1);
    let message = parse(&planar, "x.toml").map(|_| ()).expect_err("planar").to_string();
    assert!(message.contains("a vibration exists only in space"), "{message}");
}

/// A ball on a table, to which lines are added.
const BALL: &str = "simulation = { duration = 1.0, step = 0.01 }\n\
    [[body]]\nname = \"ball\"\nmass = 1.0\ninertia = 0.1\nposition = [0.0, 1.0]\n[[body.shape]]\ndisc = { radius = 0.1 }\n";

/// The message about [`BALL`] with these lines behind it.
fn said(lines: &str) -> String {
    parse(&format!("{BALL}{lines}"), "x.toml").map(|_| ()).expect_err(lines).to_string()
}

#[test]
fn names_that_a_terminal_would_obey_are_refused() {
    for (name, shown, code) in [
        (r"a\u001b[31m", r"a\u{1b}[31m", "U+001B"),
        (r"a\nerror: forged", r"a\nerror: forged", "U+000A"),
        (r"a\u009b2J", r"a\u{9b}2J", "U+009B"),
        (r"a\u202eb", r"a\u{202e}b", "U+202E"),
    ] {
        let message = parse(&BALL.replacen("ball", name, 1), "x.toml").expect_err(name).to_string();
        let expected = format!("x.toml:3:8: the name \"{shown}\" holds the character {code}, which cannot be shown");
        assert!(message.starts_with(&expected), "{message}");
        let message = said(&format!("[material.\"{name}\"]\nstiffness = 1000.0\n"));
        assert!(message.contains(&format!("the name \"{shown}\"")), "{message}");
        // Keys and values are quoted in messages before any name is checked.
        for quoting in [format!("\"{name}\" = 1"), format!("[scheme]\nfriction = \"{name}\"")] {
            let message = said(&quoting);
            assert!(message.contains(shown) && !message.contains(['\u{1b}', '\n', '\u{9b}', '\u{202e}']), "{message}");
        }
    }
    assert!(parse(&BALL.replacen("ball", "Körper 雪, \u{200c}=1+1", 1), "x.toml").is_ok());
}

#[test]
fn what_has_no_effect_is_refused() {
    for (lines, expected) in [
        (
            "[contact_default]\nfriction = 0.5\ntorsion = 0.1\n",
            "x.toml:11:11: torsional friction exists only in space, but the scene is in the plane: body \"ball\" has a position of 2 (leave `torsion` out)",
        ),
        (
            "[contact_default]\nfriction = 0.5\nfirst_direction = [0.0, 1.0]\n",
            "x.toml:11:19: a choice of directions exists only in space, but the scene is in the plane: body \"ball\" has a position of 2 (leave `first_direction` out)",
        ),
        (
            "[[spring]]\nbetween = [\"ball\", \"ball\"]\nstiffness = 1.0\nrest_length = 0.1\n",
            "x.toml:10:11: spring 0, between: needs two different bodies: forces between points of one body do nothing",
        ),
        (
            "[[damper]]\nbetween = [\"ball\", \"ball\"]\ndamping = 1.0\n",
            "x.toml:10:11: damper 0, between: needs two different bodies: forces between points of one body do nothing",
        ),
    ] {
        assert_eq!(said(lines), expected);
    }
    assert!(parse(&format!("{BALL}[contact_default]\ntorsion = 0.0\n"), "x.toml").is_ok());
}

/// Places beyond the 65,535 columns that a formatting width can count.
#[test]
fn errors_far_to_the_right_have_their_column() {
    let far = format!("{BALL}[contact_default]\nfriction ={}\"a\"\n", " ".repeat(70_000));
    let error = parse(&far, "x.toml").expect_err("a text");
    assert_eq!((error.line, error.column), (10, 70_011));
}
