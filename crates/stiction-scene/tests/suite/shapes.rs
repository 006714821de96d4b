//! Smooth shapes in scene files, and messages about mistakes in them.

use stiction_geometry::{Shape, planar, spatial};
use stiction_scene::parse;

use crate::{SHAPES_PLANAR, SHAPES_SPATIAL};

fn shape_of(text: &str, body: &str) -> Shape {
    let scene = parse(text, "x.toml").expect("a scene");
    let id = scene.model.find_body(body).expect("a body");
    scene.model.body(id).expect("a body").shapes.first().expect("a shape").shape.clone()
}

#[test]
fn smooth_shapes_are_what_the_file_says() {
    let tooth = planar::Shape::superellipse([0.23, 0.11], 4.0).expect("a shape");
    assert_eq!(shape_of(SHAPES_PLANAR, "tooth"), tooth.into());
    let lens = shape_of(SHAPES_PLANAR, "lens");
    assert_eq!((lens.name(), lens.convex().expect("convex").functions()), ("implicit shape", 2));
    let egg = spatial::Shape::ellipsoid([0.1, 0.1, 0.15]).expect("a shape");
    assert_eq!(shape_of(SHAPES_SPATIAL, "egg"), egg.into());
    let can = spatial::Shape::cylinder(0.1, 0.05).expect("a shape");
    assert_eq!(shape_of(SHAPES_SPATIAL, "can"), can.into());
    let pillow = spatial::Shape::superquadric([0.2, 0.2, 0.1], [4.0, 2.5]).expect("a shape");
    assert_eq!(shape_of(SHAPES_SPATIAL, "pillow"), pillow.into());
    // Flat faces that enclose a solid are a polyhedron: a cube without one of its edges.
    let Shape::Spatial(spatial::Shape::Polyhedron(wedge)) = shape_of(SHAPES_SPATIAL, "wedge") else {
        panic!("not a polyhedron")
    };
    assert_eq!((wedge.vertices().len(), wedge.faces().count()), (6, 5));
}

#[test]
fn mistakes_are_named() {
    let tooth = "superellipse = { semi_axes = [0.23, 0.11], exponent = 4 }";
    let lens = "{ disc = { radius = 0.5 }, position = [0.0, 0.4] }";
    let can = "cylinder = { half_length = 0.1, radius = 0.05 }";
    for (base, right, wrong, words) in [
        (
            SHAPES_PLANAR,
            tooth,
            "superellipse = { semi_axes = [1.0, 1.0], exponent = 1.5 }",
            "between 2 and 64, not 1.5",
        ),
        (
            SHAPES_PLANAR,
            tooth,
            "superellipse = { semi_axes = [1.0, -1.0], exponent = 4 }",
            "body \"tooth\": a semi-axis",
        ),
        (SHAPES_PLANAR, tooth, "superellipse = { semi_axes = [1.0, 1.0] }", "needs `exponent`"),
        (SHAPES_PLANAR, tooth, "ellipsoid = { semi_axes = [1.0, 1.0, 1.0] }", "use `ellipse`"),
        (SHAPES_PLANAR, tooth, can, "use `disc` or `box`"),
        (SHAPES_PLANAR, tooth, "implicit = { intersection = [] }", "at least one shape"),
        (SHAPES_PLANAR, "inertia = 0.01\n", "", "the volume of an implicit shape is not computed"),
        (SHAPES_PLANAR, lens, "{ disc = { radius = 0.5 }, position = [0.0, 4.0] }", "no interior in common"),
        (SHAPES_PLANAR, lens, "{ disc = { radius = -0.5 } }", "the radius of a disc must be a positive"),
        (SHAPES_PLANAR, lens, "{ disk = { radius = 0.5 } }", "did you mean `disc`?"),
        (SHAPES_PLANAR, lens, "{ position = [0.0, 4.0] }", "names no shape"),
        (
            SHAPES_PLANAR,
            lens,
            "{ polygon = { vertices = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 1.0], [0.0, 2.0]] } }",
            "not convex",
        ),
        (SHAPES_SPATIAL, can, "ellipse = { semi_axes = [1.0, 1.0] }", "use `ellipsoid`"),
        (SHAPES_SPATIAL, can, tooth, "use `superquadric`"),
        (SHAPES_SPATIAL, can, "superquadric = { semi_axes = [1.0, 1.0, 1.0], exponents = [4.0, 65.0] }", "not 65"),
        (SHAPES_SPATIAL, can, "cylinder = { half_length = 0.0, radius = 0.05 }", "the half length of a cylinder"),
    ] {
        assert!(base.contains(right));
        let error = parse(&base.replacen(right, wrong, 1), "x.toml").expect_err(wrong);
        assert!(error.to_string().contains(words), "{wrong}: {error}");
        assert!(error.span.is_some_and(|span| error.source_text.get(span).is_some()));
    }
}
