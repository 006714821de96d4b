//! The list of constraint blocks: order, sizes, rows and auxiliary masses.

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{
    BodyBuilder, BodyId, Dimension, JointDof, JointKind, Layer, LayerRule, Model, ModelBuilder, SupportBuilder, Wrench,
};

use super::support::{Case, disc, floor, friction};
use crate::{
    Coordinates, Scheme, Start,
    constraints::{AuxiliaryKind, Source},
    rows,
};

/// Every kind of constraint: two joints of which one closes a loop, a rigid contact, a layer with a core, supports, joint-space rows.
fn everything() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -10.0, -10.0).unwrap();
    builder.default_contact(friction(0.4)).unwrap();
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Planar))).unwrap();
    let arm = builder.body(disc("arm", 1.0, 0.5).position(0.0, 3.0, 0.0)).unwrap();
    let hinge = |builder: &mut ModelBuilder, name: &str, x: f64| {
        let anchor = Vector3::new(x, 3.0, 0.0);
        builder.joint_at(name, JointKind::Revolute, (BodyId::WORLD, arm), anchor, Vector3::z()).unwrap()
    };
    let first = hinge(&mut builder, "first", -0.5);
    hinge(&mut builder, "second", 0.5);
    let law = JointDof { friction: 0.2, stiffness: 3.0, limits: Some([0.0, 1.0]), ..JointDof::default() };
    builder.joint_dof((first, 0), law).unwrap();
    builder.body(disc("rigid", 1.0, 0.5).position(3.0, 0.5, 0.0)).unwrap();
    let soft = builder.body(disc("soft", 2.0, 0.5).position(6.0, 0.499, 0.0)).unwrap();
    let layer = LayerRule::Given(Layer::shearing([1e4, 1e3], [10.0, 1.0]).with_depth(1e-3));
    builder.contact(ground, soft, stiction_multibody::ContactRule { layer, ..friction(0.4) }).unwrap();
    let slab = builder.body(disc("slab", 4.0, 0.5).position(9.0, 5.0, 0.0)).unwrap();
    builder.support(slab, &SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]]).friction(0.3)).unwrap();
    builder.build().unwrap()
}

fn collected(coordinates: Coordinates) -> Case {
    let mut case = Case::new(everything(), Scheme { coordinates, ..Scheme::default() }, 0.01);
    case.detect().unwrap();
    case.with(rows::write);
    case.with(|start, ws| ws.constraints.collect(start.model, ws.reduced.as_deref()));
    case
}

fn sources(case: &Case) -> Vec<Source> {
    case.ws.constraints.blocks.iter().map(|block| block.source).collect()
}

#[test]
fn blocks_are_joints_contacts_support_points_cores_and_joint_space_rows() {
    let case = collected(Coordinates::Maximal);
    let expected = [
        Source::Joint(0),
        Source::Joint(1),
        Source::Contact(0),
        Source::Contact(1),
        Source::SupportPoint(0),
        Source::SupportPoint(1),
        Source::SupportPoint(2),
        Source::Core { surface: 0, contact: 1 },
        Source::JointSpace(0),
        Source::JointSpace(1),
        Source::JointSpace(2),
    ];
    assert_eq!(sources(&case), expected);
}

/// In reduced coordinates only the joint that closes the loop has rows, and the spring none.
#[test]
fn reduced_coordinates_list_loops_only() {
    for coordinates in [Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let case = collected(coordinates);
        let joints: Vec<_> = sources(&case).into_iter().filter(|source| matches!(source, Source::Joint(_))).collect();
        let loops = case.model.forest().loops();
        assert_eq!(loops.len(), 1);
        assert_eq!(joints, [Source::Joint(loops[0].index())]);
        let rows = case.ws.constraints.joint_space_rows.iter();
        assert!(rows.clone().count() == 2 && rows.into_iter().all(|row| row.compliance == 0.0));
    }
}

#[test]
fn blocks_have_as_many_rows_as_their_laws() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        let case = collected(coordinates);
        let constraints = &case.ws.constraints;
        for block in &constraints.blocks {
            let (rows, constants) = constraints.rows_of(block);
            assert_eq!((rows.len(), constants.len()), (block.law.rows(), block.law.rows()), "{:?}", block.source);
            assert!(block.law.is_legal());
        }
    }
}

/// The rows of a block are those of its own constraint, not of a neighbour.
#[test]
fn rows_belong_to_the_constraint_of_their_block() {
    let case = collected(Coordinates::Maximal);
    let constraints = &case.ws.constraints;
    for block in &constraints.blocks {
        let (rows, constants) = constraints.rows_of(block);
        match block.source {
            Source::Joint(joint) => {
                let first = case.model.joints()[joint].first_row();
                assert_eq!(rows[1], (constraints.joint_rows[first + 1].a, constraints.joint_rows[first + 1].b));
            }
            Source::Contact(index) => {
                let contact = &constraints.contacts[index];
                assert_eq!(rows[0], contact.row(&contact.normal));
                assert_eq!(rows[1], contact.row(&contact.tangents[0]));
                assert_eq!(constants[0], contact.bias);
                assert_eq!(block.bodies, Some((contact.a, contact.b)));
            }
            Source::SupportPoint(index) => {
                let point = &constraints.support_points[index];
                assert_eq!(rows[1], point.row(&Vector3::x()));
                assert_eq!(block.bodies, Some((point.supporting_body, point.body)));
            }
            Source::Core { surface, contact } => {
                assert_eq!(rows[0], constraints.contacts[contact].row(&constraints.contacts[contact].normal));
                assert_eq!(Some(constants[0]), constraints.layer_surfaces[surface].core_bias);
            }
            Source::JointSpace(index) => {
                assert_eq!(rows, [(Wrench::default(), Wrench::default())]);
                assert_eq!(constants, [constraints.joint_space_rows[index].bias]);
                assert!(block.bodies.is_none());
            }
        }
    }
}

/// Auxiliary masses have columns of their own, without gaps: support points, surfaces, compliant rows.
#[test]
fn auxiliary_masses_have_consecutive_columns() {
    let case = collected(Coordinates::Maximal);
    let constraints = &case.ws.constraints;
    let kinds: Vec<_> = constraints.auxiliary_masses().collect();
    let mut columns: Vec<_> = constraints.blocks.iter().filter_map(|block| block.auxiliary).collect();
    columns.sort_by_key(|mass| mass.column);
    assert_eq!(kinds.len(), 3 + 1 + 1);
    for (place, (mass, kind)) in columns.iter().zip(&kinds).enumerate() {
        assert_eq!(mass.column, place);
        assert_eq!(std::mem::discriminant(&mass.kind), std::mem::discriminant(kind));
    }
    let loads: f64 = kinds
        .iter()
        .map(|kind| {
            if let AuxiliaryKind::SupportPoint { mass, load } = kind {
                assert_eq!(*mass, 4.0);
                *load
            } else {
                0.0
            }
        })
        .sum();
    assert!((loads - 40.0).abs() < 1e-12, "the supports carry the weight of the slab");
    assert!(matches!(kinds[4], AuxiliaryKind::JointSpace(compliance) if compliance > 0.0));
}

/// A second collection replaces the first.
#[test]
fn collecting_again_gives_the_same_list() {
    let mut case = collected(Coordinates::Maximal);
    let before = format!("{:?}", case.ws.constraints.blocks);
    case.with(|start, ws| ws.constraints.collect(start.model, ws.reduced.as_deref()));
    assert_eq!(format!("{:?}", case.ws.constraints.blocks), before);
    case.ws.constraints.contacts.iter_mut().for_each(|contact| contact.mu = 0.0);
    case.with(|start, ws| ws.constraints.collect(start.model, ws.reduced.as_deref()));
    for block in &case.ws.constraints.blocks {
        if let Source::Contact(_) | Source::Core { .. } = block.source {
            assert_eq!(block.law, Law::Bounded { lower: 0.0, upper: f64::INFINITY }, "no friction, no tangents");
        }
    }
}

/// In a part of a step that was halved because links were too fast, an error of a joint closes in the time of the whole step.   [STAB-14]
#[test]
fn parts_of_a_step_close_errors_in_the_time_of_the_whole() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let disc = builder.body(disc("disc", 1.0, 0.5).velocity(0.3, 0.0, 0.0)).unwrap();
    let anchor = Vector3::new(0.5, 0.0, 0.0);
    builder.joint_at("hinge", JointKind::Revolute, (BodyId::WORLD, disc), anchor, Vector3::z()).unwrap();
    let mut case = Case::new(builder.build().unwrap(), Scheme::default(), 0.001);
    let error = 1e-4;
    case.state.q[0] += error;
    case.detect().unwrap();
    for factor in [1.0, 4.0, 64.0] {
        let bias = case.with(|start, ws| {
            rows::write(&Start { closing_duration: factor * start.h, ..*start }, ws);
            ws.constraints.joint_rows[0].bias
        });
        assert!((bias - error / (factor * 0.001)).abs() < 1e-12, "{factor}: {bias}");
    }
}
