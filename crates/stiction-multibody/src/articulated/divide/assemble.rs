//! Hierarchic assembly: the segments of all subassemblies at one configuration, with the joints inside of them eliminated.

use super::{
    super::{MAX_VELOCITIES, SingularInertia, kinematics::Kinematics, tree::Tree},
    joint::{JointFactors, Segment, reversed, singular},
    node::{Node, both, each_subassembly, split_last_subassembly},
    plan::Kind,
    small::Tally,
    spatial,
};

/// Inputs of the assembly.
#[derive(Clone, Copy)]
pub(super) struct Configured<'a> {
    pub(super) tree: &'a Tree,
    pub(super) at: &'a Kinematics,
    /// Inertia of each velocity in addition to the armature of the tree; may be empty.
    pub(super) extra: &'a [f64],
}

/// Assembles one subassembly, from the links to the whole.   [DCA-2] [DCA-4]
pub(super) fn assemble(subassembly: &mut [Node], given: Configured) -> Result<(), SingularInertia> {
    let Some((node, below)) = subassembly.split_last_mut() else { return Ok(()) };
    node.tally = Tally::default();
    match node.kind {
        Kind::Link { link, next } => {
            each_subassembly(below, &|subassembly| assemble(subassembly, given))?;
            node.segment = rigid_segment(given.at, link, next);
            let mut subassemblies = below;
            while let Some((before, last)) = split_last_subassembly(subassemblies) {
                if let Some(hung) = last.last() {
                    node.segment.inertia += hung.segment.inertia;
                }
                subassemblies = before;
            }
        }
        Kind::Hang { link } => {
            assemble(below, given)?;
            let (Some(joint), Some(lower)) = (&mut node.joint, below.last()) else {
                debug_assert!(false, "a hanging subassembly has a joint and a lower subassembly");
                return Ok(());
            };
            eliminate(joint, link, (None, &lower.segment), given, &mut node.tally)?;
            node.arm = given.at.arms[link];
            let shift = spatial::shift(&node.arm);
            node.segment.inertia = shift.tr_mul(&(joint.stiffness * shift));
        }
        Kind::Join { link } => {
            let nodes = below.len();
            let Some((upper, lower)) = split_last_subassembly(below) else {
                debug_assert!(false, "a join has two subassemblies");
                return Ok(());
            };
            let (first, second) = both(nodes, || assemble(upper, given), || assemble(lower, given));
            second.and(first)?;
            let (Some(joint), Some(upper), Some(lower)) = (&mut node.joint, upper.last(), lower.last()) else {
                debug_assert!(false, "a join has a joint and two subassemblies");
                return Ok(());
            };
            eliminate(joint, link, (Some(&upper.segment), &lower.segment), given, &mut node.tally)?;
            connect(&mut node.segment, &upper.segment, joint, &lower.segment);
        }
    }
    Ok(())
}

/// A link alone: K = I, T to the origin of the link that follows, N = 0.   [DCA-2]
fn rigid_segment(at: &Kinematics, link: usize, next: Option<usize>) -> Segment {
    Segment {
        inertia: spatial::inertia(&at.inertias[link]),
        transfer: spatial::shift(&next.map(|next| at.arms[next]).unwrap_or_default()),
        compliance: nalgebra::Matrix6::zeros(),
        rigid: true,
        open: next.is_some(),
    }
}

fn eliminate(
    joint: &mut JointFactors,
    link: usize,
    (upper, lower): (Option<&Segment>, &Segment),
    given: Configured,
    tally: &mut Tally,
) -> Result<(), SingularInertia> {
    let velocities = given.tree.links()[link].velocities();
    debug_assert_eq!(joint.columns.len(), velocities.len(), "one column per velocity of the joint");
    let columns = reversed(&given.at.columns[velocities.clone()]);
    for (column, twist) in joint.columns.iter_mut().zip(&columns) {
        column.subspace = spatial::motion(twist);
    }
    let mut inertia = [0.0; MAX_VELOCITIES];
    for (inertia, k) in inertia.iter_mut().zip(velocities.clone().rev()) {
        *inertia = given.tree.armature()[k] + given.extra.get(k).copied().unwrap_or(0.0);
    }
    joint.eliminate(upper, &lower.inertia, &inertia, tally).map_err(|place| singular(velocities, place))
}

/// Segment of two segments with the joint between them eliminated.   [DCA-4]
fn connect(out: &mut Segment, upper: &Segment, joint: &JointFactors, lower: &Segment) {
    let carried = joint.stiffness * upper.transfer;
    out.inertia = upper.inertia + upper.transfer.tr_mul(&carried);
    out.rigid = false;
    out.open = lower.open;
    if lower.open {
        out.transfer = lower.transfer * joint.pass.tr_mul(&upper.transfer);
        let turned = lower.transfer * joint.compliance;
        out.compliance = lower.compliance + turned * lower.transfer.transpose();
    }
}
