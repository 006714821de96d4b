//! Schemes that are refused: which field is at fault and why.

use nalgebra::{Matrix3, Point2, Vector3};
use stiction_geometry::planar;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Damper, Dimension, JointDof, JointKind, Layer, LimitSurface, Model, ModelBuilder,
    SupportBuilder,
};

use super::support::{ball, builder, disc, friction, on_floor};
use crate::{
    Coordinates, CornerLogic, Dynamics, FrictionSet, Impact, LineariseAt, Manifold, Margin, Method, Order,
    PositionUpdate, Preset, Scheme, SchemeError, Solving, Stabilisation, Substeps,
};

/// Ball on a floor with a rule.
fn plain(rule: ContactRule) -> Model {
    on_floor(Dimension::Spatial, rule, [ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5)])
}

fn nothing_special() -> Model {
    plain(friction(0.3))
}

/// Disc on a hinge, with or without a weight of its own or a limit.
fn hinged(gamma: Option<f64>, joint_dof: JointDof) -> Model {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let body = builder.body(disc("disc", 1.0, 0.5)).unwrap();
    let joint =
        builder.joint_at("hinge", JointKind::Revolute, (BodyId::WORLD, body), Vector3::zeros(), Vector3::z()).unwrap();
    if let Some(gamma) = gamma {
        builder.joint_gamma(joint, gamma).unwrap();
    }
    builder.joint_dof((joint, 0), joint_dof).unwrap();
    builder.build().unwrap()
}

fn soft(layer: Layer) -> Model {
    on_floor(Dimension::Spatial, ContactRule::default(), [ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5).layer(layer)])
}

#[track_caller]
fn refuses(scheme: &Scheme, model: &Model, field: &str, words: &str) {
    scheme.validate().unwrap();
    let error = scheme.check_model(model).unwrap_err();
    assert_eq!(error.field, field, "{error}");
    assert!(error.reason.contains(words), "{error}");
    assert!(error.to_string().starts_with(&format!("scheme, {field}: ")));
}

#[test]
fn every_preset_suits_a_plain_model() {
    for preset in Preset::ALL {
        let scheme = preset.scheme();
        scheme.validate().unwrap();
        scheme.check_model(&nothing_special()).unwrap();
        assert_eq!(Preset::find(preset.name()), Some(preset));
        assert_eq!(Preset::INERTIAL.contains(&preset), scheme.dynamics == Dynamics::Inertial);
    }
    assert_eq!(Preset::find("unknown"), None);
}

/// Numbers at and beyond the ends of their ranges.
#[test]
#[allow(clippy::cast_sign_loss, reason = "the counts in the table are not negative")]
fn numbers_out_of_range_name_their_field() {
    type Set = fn(&mut Scheme, f64);
    let fields: [(&str, Set, &[f64], &[f64]); 8] = [
        ("gamma", |s, x| s.gamma = x, &[0.0, 0.5, 1.0], &[-1e-9, 1.1, f64::NAN]),
        ("joint_gamma", |s, x| s.joint_gamma = x, &[0.0, 1.0], &[-0.1, 2.0, f64::NAN]),
        ("directions", |s, x| s.directions = x as u32, &[4.0, 6.0, 1024.0], &[0.0, 2.0, 5.0, 1026.0]),
        ("margin", |s, x| s.margin = Margin::Fixed(x), &[0.0, 1e9], &[-1.0, f64::INFINITY, f64::NAN]),
        ("halve_steps", |s, x| s.solving.halve_steps = x as u32, &[0.0, 10.0], &[11.0]),
        ("steps_per_period", |s, x| s.substeps.steps_per_period = x as u32, &[0.0, 10_000.0], &[10_001.0]),
        ("protective_layer", |s, x| s.protective_layer = x, &[0.0, 1e-3], &[-1e-3, f64::INFINITY, f64::NAN]),
        ("slip_threshold", |s, x| s.slip_threshold = x, &[0.0, 1.0], &[-1e-9, 1.5, f64::NAN]),
    ];
    for (field, set, legal, illegal) in fields {
        for &x in legal {
            let mut scheme = Scheme::default();
            set(&mut scheme, x);
            assert_eq!(scheme.validate(), Ok(()), "{field} = {x}");
        }
        for &x in illegal {
            let mut scheme = Scheme::default();
            set(&mut scheme, x);
            let error = scheme.validate().unwrap_err();
            assert_eq!(error.field, field);
            assert!(error.reason.contains("but is"), "{error}");
        }
    }
    let error = Scheme { touch_threshold: -1.0, ..Scheme::default() }.validate().unwrap_err();
    assert_eq!((error.field, error.reason.as_str()), ("touch_threshold", "must lie between 0 and 1, but is -1"));
}

#[test]
fn rates_of_stabilisations_must_be_positive() {
    let check = |stabilisation| Scheme { stabilisation, ..Scheme::default() }.validate();
    for bad in [0.0, -1.0, f64::NAN, 2e12] {
        let cases = [
            (Stabilisation::Baumgarte { damping: bad, stiffness: 1.0 }, "damping"),
            (Stabilisation::Baumgarte { damping: 1.0, stiffness: bad }, "stiffness"),
            (Stabilisation::Ascher { rate: bad }, "rate"),
        ];
        for (stabilisation, number) in cases {
            let SchemeError { field, reason } = check(stabilisation).unwrap_err();
            assert_eq!(field, "stabilisation");
            assert!(reason.starts_with(&format!("the {number} must be positive")), "{reason}");
        }
    }
    check(Stabilisation::Baumgarte { damping: 1.0, stiffness: 1e12 }).unwrap();
}

#[test]
fn linear_friction_sets_refuse_torsion_and_rolling() {
    for friction in [FrictionSet::Polygon, FrictionSet::Box] {
        let scheme = Scheme { friction, ..Scheme::default() };
        let rule = super::support::friction(0.3);
        refuses(&scheme, &plain(ContactRule { torsion: 0.1, ..rule.clone() }), "friction", "no direction for spin");
        refuses(
            &scheme,
            &plain(ContactRule { rolling: 0.1, ..rule }),
            "friction",
            "linear friction sets have no rolling friction",
        );
        // Torsion without friction has no effect.
        scheme.check_model(&plain(ContactRule { torsion: 0.1, ..ContactRule::default() })).unwrap();
    }
}

#[test]
fn rolling_friction_needs_time_stepping_with_inertia() {
    let model = plain(ContactRule { rolling: 0.1, ..friction(0.3) });
    refuses(&Preset::Reference.scheme(), &model, "preset", "no rolling friction");
    refuses(&Preset::GeometricallyImplicit.scheme(), &model, "jacobians", "no rolling friction");
    refuses(&Preset::Quasistatic.scheme(), &model, "preset", "no rolling friction");
    Preset::Ncp.scheme().check_model(&model).unwrap();
}

#[test]
fn poissons_law_needs_linear_time_stepping() {
    let model = nothing_special();
    let poisson = |scheme: Scheme| Scheme { impact: Impact::Poisson, ..scheme };
    refuses(&poisson(Scheme::default()), &model, "impact", "second-order cone");
    let theta = Scheme { friction: FrictionSet::Polygon, ..Preset::MoreauJean.scheme() };
    refuses(&poisson(theta), &model, "impact", "time-stepping only");
    poisson(Preset::StewartTrinkle.scheme()).check_model(&model).unwrap();
}

#[test]
fn restitution_needs_an_impact_law_and_inertia() {
    let model = plain(ContactRule { restitution: 0.5, ..ContactRule::default() });
    let inelastic = Scheme { impact: Impact::Inelastic, ..Scheme::default() };
    refuses(&inelastic, &model, "impact", "impacts are inelastic");
    refuses(&Preset::Quasistatic.scheme(), &model, "impact", "do not rebound");
    Scheme::default().check_model(&model).unwrap();
}

#[test]
fn protective_layers_need_their_own_detection() {
    let model = nothing_special();
    let with_layer = |scheme: Scheme| Scheme { protective_layer: 1e-3, ..scheme };
    refuses(&with_layer(Preset::MoreauJean.scheme()), &model, "protective_layer", "its own contact detection");
    refuses(&with_layer(Preset::GeometricallyImplicit.scheme()), &model, "protective_layer", "closest points");
}

#[test]
fn reduced_coordinates_refuse_what_is_written_for_all_bodies() {
    let model = nothing_special();
    for coordinates in [Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let with = |scheme: Scheme| Scheme { coordinates, ..scheme };
        refuses(&with(Preset::MoreauJean.scheme()), &model, "coordinates", "all bodies as unknowns");
        refuses(&with(Preset::Quasistatic.scheme()), &model, "coordinates", "without inertia");
        refuses(&with(Preset::GeometricallyImplicit.scheme()), &model, "jacobians", coordinates.name());
        let projected = Scheme { stabilisation: Stabilisation::Projection(Manifold::Both), ..Scheme::default() };
        refuses(&with(projected), &model, "stabilisation", "cannot drift");
        with(Scheme::default()).check_model(&model).unwrap();
    }
}

#[test]
fn massless_frames_need_reduced_coordinates() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let frame = builder.body(BodyBuilder::frame("gimbal")).unwrap();
    let arm = builder.body(BodyBuilder::rigid("arm", 1.0, Matrix3::identity()).position(1.0, 0.0, 0.0)).unwrap();
    let mut hinge = |name: &str, bodies, axis| {
        builder.joint_at(name, JointKind::Revolute, bodies, Vector3::zeros(), axis).unwrap();
    };
    hinge("first", (BodyId::WORLD, frame), Vector3::x());
    hinge("second", (frame, arm), Vector3::y());
    let model = builder.build().unwrap();
    refuses(&Scheme::default(), &model, "coordinates", "body \"gimbal\" has no mass");
    Scheme { coordinates: Coordinates::Reduced, ..Scheme::default() }.check_model(&model).unwrap();
}

#[test]
fn actuated_joints_need_time_stepping() {
    let model = hinged(None, JointDof { limits: Some([-1.0, 1.0]), ..JointDof::default() });
    refuses(&Preset::MoreauJean.scheme(), &model, "preset", "joint \"hinge\"");
    refuses(&Preset::Quasistatic.scheme(), &model, "preset", "joint \"hinge\"");
    refuses(&Preset::GeometricallyImplicit.scheme(), &model, "jacobians", "joint \"hinge\"");
    Scheme::default().check_model(&model).unwrap();
}

#[test]
fn disjunctive_corners_need_one_linear_problem() {
    let with = |scheme: Scheme| Scheme { corners: CornerLogic::Disjunctive, ..scheme };
    let polygonal = with(Preset::StewartTrinkle.scheme());
    refuses(&polygonal, &nothing_special(), "corners", "only contacts in the plane are alternatives");
    let model = hinged(None, JointDof::default());
    refuses(&with(Scheme::default()), &model, "corners", "one linear problem");
    let poisson = Scheme { impact: Impact::Poisson, ..Preset::StewartTrinkle.scheme() };
    refuses(&with(poisson), &model, "corners", "one linear problem");
    let theta = Scheme { friction: FrictionSet::Polygon, ..Preset::MoreauJean.scheme() };
    refuses(&with(theta), &model, "corners", "one linear problem");
    with(Preset::StewartTrinkle.scheme()).check_model(&model).unwrap();
}

#[test]
fn implicit_steps_refuse_weights_sets_and_shapes() {
    let implicit = Preset::GeometricallyImplicit.scheme();
    let model = nothing_special();
    let polygonal = Scheme { friction: FrictionSet::Polygon, ..implicit.clone() };
    refuses(&polygonal, &model, "friction", "second-order cone");
    let still = Scheme { dynamics: Dynamics::Quasistatic, ..implicit.clone() };
    refuses(&still, &model, "jacobians", "without inertia");
    let mean = Scheme { position_update: PositionUpdate::Average, ..implicit.clone() };
    refuses(&mean, &model, "position_update", "end velocity");
    for weighed in [Scheme { gamma: 0.5, ..implicit.clone() }, Scheme { joint_gamma: 0.5, ..implicit.clone() }] {
        refuses(&weighed, &model, "gamma", "gamma = 1");
    }
    refuses(&implicit, &plain(ContactRule { gamma: Some(0.5), ..ContactRule::default() }), "gamma", "gamma = 1");
    refuses(&implicit, &hinged(Some(0.5), JointDof::default()), "gamma", "gamma = 1");
    let damped = Stabilisation::Baumgarte { damping: 1.0, stiffness: 1.0 };
    let damped = Scheme { stabilisation: damped, ..implicit.clone() };
    refuses(&damped, &hinged(None, JointDof::default()), "stabilisation", "no drift");
    let corners = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 0.5], [0.0, 2.0]].map(|[x, y]| Point2::new(x, y));
    let notched = BodyBuilder::planar("notched", 1.0, 1.0).shape(planar::Shape::polygon(&corners).unwrap().into());
    let model = on_floor(Dimension::Planar, ContactRule::default(), [notched]);
    refuses(&implicit, &model, "jacobians", "body \"notched\"");
}

#[test]
fn other_methods_choose_their_own_geometry_and_steps() {
    let model = nothing_special();
    for preset in [Preset::MoreauJean, Preset::Reference] {
        let scheme = Scheme { linearise_at: LineariseAt::End, ..preset.scheme() };
        refuses(&scheme, &model, "jacobians", "decides by itself");
    }
    let linear = Scheme { friction: FrictionSet::Polygon, ..Preset::Reference.scheme() };
    refuses(&linear, &model, "friction", "second-order cone");
    refuses(
        &Scheme { solving: Solving { halve_steps: 5, ..Solving::default() }, ..Preset::Reference.scheme() },
        &model,
        "halve_steps",
        "its own steps",
    );
    Scheme { solving: Solving { halve_steps: 0, ..Solving::default() }, ..Preset::Reference.scheme() }
        .check_model(&model)
        .unwrap();
}

fn supported(support: &SupportBuilder) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -10.0).unwrap();
    let body = builder.body(disc("slab", 1.0, 0.5)).unwrap();
    builder.support(body, support).unwrap();
    builder.build().unwrap()
}

#[test]
fn supports_refuse_the_reference_and_limit_surfaces_linear_sets() {
    let surface = SupportBuilder::limit_surface(LimitSurface::uniform_disc(0.3).unwrap()).friction(0.3);
    let linear = Preset::StewartTrinkle.scheme();
    refuses(&linear, &supported(&surface), "friction", "limit surfaces");
    let tripod = SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]]).friction(0.3);
    linear.check_model(&supported(&tripod)).unwrap();
    refuses(&Preset::Reference.scheme(), &supported(&tripod), "preset", "no planar supports");
}

#[test]
fn layers_need_time_stepping_with_full_gaps_and_cones() {
    let model = soft(Layer::normal(1e4, 10.0));
    Scheme::default().check_model(&model).unwrap();
    refuses(&Preset::MoreauJean.scheme(), &model, "preset", "compliant layers");
    refuses(&Preset::Quasistatic.scheme(), &model, "preset", "compliant layers");
    refuses(&Preset::StewartTrinkle.scheme(), &model, "friction", "compliant layers");
    refuses(&Scheme { gamma: 0.5, ..Scheme::default() }, &model, "gamma", "compression of the layer");
    for manifold in [Manifold::Positions, Manifold::Both] {
        let scheme = Scheme { stabilisation: Stabilisation::Projection(manifold), ..Scheme::default() };
        refuses(&scheme, &model, "stabilisation", "out of their layers");
    }
}

#[test]
fn options_of_layers_need_layers() {
    let model = nothing_special();
    refuses(
        &Scheme { substeps: Substeps { locate_contacts: true, ..Substeps::default() }, ..Scheme::default() },
        &model,
        "locate_contacts",
        "the model has none",
    );
    refuses(
        &Scheme { substeps: Substeps { steps_per_period: 10, ..Substeps::default() }, ..Scheme::default() },
        &model,
        "steps_per_period",
        "the model has none",
    );
}

#[test]
fn mean_velocities_refuse_what_moves_bodies_otherwise() {
    let model = nothing_special();
    let mean = |scheme: Scheme| Scheme { position_update: PositionUpdate::Average, ..scheme };
    refuses(&mean(Preset::MoreauJean.scheme()), &model, "position_update", "its own position update");
    refuses(&mean(Preset::Quasistatic.scheme()), &model, "position_update", "its own position update");
    let poisson = Scheme { impact: Impact::Poisson, ..Preset::StewartTrinkle.scheme() };
    refuses(&mean(poisson), &model, "position_update", "Poisson");
    let projected = Scheme { stabilisation: Stabilisation::Projection(Manifold::Positions), ..Scheme::default() };
    refuses(&mean(projected), &model, "stabilisation", "end velocity");
    let mut coupled = Matrix3::from_diagonal_element(1e4);
    (coupled.m12, coupled.m21) = (100.0, 100.0);
    let model = soft(Layer::coupled(coupled, coupled * 1e-3));
    refuses(&mean(Scheme::default()), &model, "position_update", "couples pressing and shearing");
}

#[test]
fn stabilisations_fit_method_and_joints() {
    let with = |stabilisation, preset: Preset| Scheme { stabilisation, ..preset.scheme() };
    let damped = Stabilisation::Baumgarte { damping: 1.0, stiffness: 1.0 };
    let joints_only = [
        damped,
        Stabilisation::Ascher { rate: 1.0 },
        Stabilisation::Multiplier,
        Stabilisation::Projection(Manifold::Velocities),
    ];
    for stabilisation in joints_only {
        refuses(&with(stabilisation, Preset::Ncp), &nothing_special(), "stabilisation", "there are none");
    }
    let model = hinged(None, JointDof::default());
    refuses(&with(Stabilisation::Reduction, Preset::Ncp), &model, "stabilisation", "only the reference");
    refuses(&with(damped, Preset::MoreauJean), &model, "stabilisation", "θ-method");
    refuses(&with(damped, Preset::Ncp), &hinged(Some(0.5), JointDof::default()), "stabilisation", "weight `gamma`");
    with(Stabilisation::Reduction, Preset::Reference).check_model(&model).unwrap();
    with(damped, Preset::Ncp).check_model(&model).unwrap();
}

/// Hints name what the user wrote: an implicit preset has no `jacobians` to leave out.
#[test]
fn steps_of_second_order_refuse_presets_of_first_order() {
    for (preset, hint) in [
        (Preset::GeometricallyImplicit, "leave `order` out"),
        (Preset::Quasistatic, "leave `order` out"),
        (Preset::MoreauJean, "leave `order` out"),
        (Preset::Reference, "leave `order` out"),
        (Preset::AnitescuPotra, "with a weight of 0"),
    ] {
        let scheme = Scheme { order: Order::Second, ..preset.scheme() };
        refuses(&scheme, &nothing_special(), "order", hint);
    }
    for preset in [Preset::Ncp, Preset::StewartTrinkle, Preset::AnitescuHart] {
        Scheme { order: Order::Second, ..preset.scheme() }.check_model(&nothing_special()).unwrap();
    }
}

#[test]
fn quasistatic_models_have_no_dampers() {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let body = builder.body(disc("disc", 1.0, 0.5)).unwrap();
    let ends = ((BodyId::WORLD, Vector3::zeros()), (body, Vector3::x()));
    builder.damper(Damper { a: ends.0, b: ends.1, damping: 1.0 }).unwrap();
    refuses(&Preset::Quasistatic.scheme(), &builder.build().unwrap(), "preset", "dampers");
    let scheme = Scheme { method: Method::Reference, ..Preset::Quasistatic.scheme() };
    refuses(&scheme, &nothing_special(), "preset", "no accelerations");
}

/// The weights of presets: 1 keeps gaps closed, 0 is the velocity level.
#[test]
fn presets_differ_in_weights_and_friction_sets() {
    use FrictionSet::{Polygon, Quadratic};
    let expected = [
        (Preset::Ncp, 1.0, Quadratic),
        (Preset::StewartTrinkle, 1.0, Polygon),
        (Preset::AnitescuPotra, 0.0, Polygon),
        (Preset::AnitescuHart, 0.3, Polygon),
        (Preset::MoreauJean, 1.0, Quadratic),
        (Preset::Quasistatic, 1.0, Quadratic),
    ];
    for (preset, gamma, friction) in expected {
        let scheme = preset.scheme();
        assert_eq!((scheme.gamma, scheme.joint_gamma, scheme.friction), (gamma, gamma, friction), "{preset:?}");
    }
}
