//! Illegal trees, velocities without inertia, and the numbering of legal trees.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{
    Pose,
    articulated::{ArticulatedFactors, LinkSpec, LtlFactor, SingularInertia, TreeBuilder, TreeJoint},
};
use stiction_testkit::Random;

use super::{kinematics, mass, random_tree};

fn refusal(spec: LinkSpec) -> String {
    TreeBuilder::new(Vector3::zeros()).unwrap().link(spec).unwrap_err().to_string()
}

#[test]
fn bad_links_are_refused_by_name_and_field() {
    let good = || LinkSpec::new("arm", TreeJoint::Spherical).with_mass(1.0, Vector3::x(), Matrix3::identity());
    let with = |change: fn(&mut LinkSpec)| {
        let mut spec = good();
        change(&mut spec);
        refusal(spec)
    };
    assert!(with(|s| s.mass = -1.0).starts_with("body \"arm\", mass"));
    assert!(with(|s| s.mass = f64::NAN).starts_with("body \"arm\", mass"));
    assert!(with(|s| s.center.x = f64::INFINITY).starts_with("body \"arm\", center"));
    assert!(with(|s| s.inertia[(0, 0)] = 9.0).starts_with("body \"arm\", inertia"));
    assert!(with(|s| s.inertia[(0, 1)] = f64::NAN).starts_with("body \"arm\", inertia"));
    assert!(with(|s| s.armature = -0.1).starts_with("body \"arm\", armature"));
    assert!(with(|s| s.joint = TreeJoint::Revolute { axis: Vector3::zeros() }).starts_with("body \"arm\", axis"));
    let parallel = TreeJoint::Universal { axes: [Vector3::x(), -Vector3::x()] };
    assert!(refusal(LinkSpec { joint: parallel, ..good() }).starts_with("body \"arm\", axes"));
    assert!(TreeBuilder::new(Vector3::repeat(f64::NAN)).is_err());

    // A parent of another tree.
    let mut other = TreeBuilder::new(Vector3::zeros()).unwrap();
    let parent = other.link(good()).unwrap();
    assert!(refusal(good().on(parent, Pose::identity())).starts_with("body \"arm\", parent"));
}

/// A massless leaf has no acceleration; a rotor gives it one. A point mass has no inertia about itself.
#[test]
fn velocities_that_move_nothing_are_named() {
    let joint = TreeJoint::Revolute { axis: Vector3::z() };
    let singular = |armature: f64, leaf: LinkSpec| {
        let mut builder = TreeBuilder::new(Vector3::zeros()).unwrap();
        let root = LinkSpec::new("root", joint).with_mass(1.0, Vector3::x(), Matrix3::identity());
        let root = builder.link(root).unwrap();
        builder.link(leaf.on(root, Pose::identity()).with_armature(armature)).unwrap();
        let tree = builder.build();
        let at = kinematics(&tree, &tree.neutral(), &vec![0.0; tree.velocities()]);
        let by_bodies = ArticulatedFactors::new(&tree).update(&tree, &at);
        let by_matrix = LtlFactor::new(&tree).factorise(&mass(&tree, &at));
        assert_eq!(by_bodies.is_err(), by_matrix.is_err());
        by_bodies
    };
    assert_eq!(singular(0.0, LinkSpec::new("leaf", joint)), Err(SingularInertia { velocity: 1 }));
    assert_eq!(singular(0.1, LinkSpec::new("leaf", joint)), Ok(()));
    let bob = LinkSpec::new("bob", TreeJoint::Spherical).with_mass(1.0, Vector3::x(), Matrix3::zeros());
    assert_eq!(singular(0.0, bob), Err(SingularInertia { velocity: 1 }));
}

/// Velocities, coordinates and the paths to the root are consistent.
#[test]
fn numbering_is_consistent() {
    let mut random = Random::new(751);
    for _ in 0..20 {
        let tree = random_tree(&mut random);
        let (mut coordinates, mut velocities) = (0, 0);
        for (id, link) in tree.link_ids().zip(tree.links()) {
            assert!(link.parent().is_none_or(|parent| parent < id.index()));
            assert_eq!(link.coordinates().start, coordinates);
            assert_eq!(link.velocities().start, velocities);
            (coordinates, velocities) = (link.coordinates().end, link.velocities().end);
            assert!(link.velocities().all(|k| tree.link_of(k) == Some(id)));
            // The velocities that move a link are those of the joints on its path to the root.
            let movers: Vec<usize> = tree.ancestors(link.last_velocity()).collect();
            let joints = tree.path_to_root(id).flat_map(|i| tree.links()[i].velocities().rev());
            assert_eq!(movers, joints.collect::<Vec<_>>());
            assert_eq!(movers.len(), tree.depth(id));
        }
        assert_eq!((coordinates, velocities), (tree.coordinates(), tree.velocities()));
        assert_eq!(tree.link_of(velocities), None);
    }
}
