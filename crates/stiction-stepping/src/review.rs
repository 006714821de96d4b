//! Review of a solved step: it is accepted, or one change is made and the step is solved again.

use std::fmt;

/// Change that another pass of a step makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Adds screened contacts that the solution closes.   [STEP-15]
    AddScreenedContacts,
    /// Adds all screened contacts: the problem without them was not solved, or nearly all of them close.   [STEP-15]
    AddAllContacts,
    /// Replaces the contacts of a pair of shapes with one separating face by contacts at its vertices.   [CORNER-5]
    VertexContacts,
    /// Takes another face of a corner, outside of which the vertex ended.   [CORNER-2]
    SwitchFace,
    /// Takes the next combination of faces: with this one the disjunctive problem, which contains the choice of faces
    /// (`corners = "disjunctive"`), is not solved.   [CORNER-4]
    NextFaceCombination,
    /// Linearises the constraints at the new end of the step.   [STEP-10] [GIM-1]
    Relinearise,
    /// Adds joint limits that were not in the problem and are passed.
    AddJointLimits,
    /// Enlarges the reach of bodies that moved farther: a contact that was not in the problem penetrates.   [STEP-12]
    EnlargeReach,
    /// Leaves the part of joint errors that no motion removes: redundant joints contradict each other by it.   [EQ-2]
    LeaveContradictions,
    /// Adds slack: contacts are jammed, so that no motion keeps them all from overlapping.   [EXIST-1]
    AddSlack,
    /// Moves the bodies by their end velocity, not the mean one: a rigid contact is active.   [SOFT-6]
    EndVelocity,
}

impl Change {
    const ALL: [Self; 11] = [
        Self::AddScreenedContacts,
        Self::AddAllContacts,
        Self::VertexContacts,
        Self::SwitchFace,
        Self::NextFaceCombination,
        Self::Relinearise,
        Self::AddJointLimits,
        Self::EnlargeReach,
        Self::LeaveContradictions,
        Self::AddSlack,
        Self::EndVelocity,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::AddScreenedContacts => "screened-contacts",
            Self::AddAllContacts => "all-contacts",
            Self::VertexContacts => "vertex-contacts",
            Self::SwitchFace => "other-face",
            Self::NextFaceCombination => "next-face-combination",
            Self::Relinearise => "linearisation",
            Self::AddJointLimits => "joint-limits",
            Self::EnlargeReach => "reach",
            Self::LeaveContradictions => "contradicting-joints",
            Self::AddSlack => "jammed-contacts",
            Self::EndVelocity => "end-velocity",
        }
    }

    /// First stage that is repeated.
    pub(crate) fn resume(self) -> Stage {
        match self {
            Self::EndVelocity => Stage::Kinematics,
            Self::AddScreenedContacts | Self::AddAllContacts | Self::LeaveContradictions | Self::AddSlack => {
                Stage::Assembly
            }
            Self::SwitchFace | Self::NextFaceCombination => Stage::Rows,
            Self::VertexContacts | Self::Relinearise | Self::AddJointLimits | Self::EnlargeReach => Stage::Detection,
        }
    }
}

/// Stage of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Motion at the start of the step.
    Kinematics,
    /// Contacts within reach.
    Detection,
    /// Constraint rows and their biases.
    Rows,
    /// Problem and solution.
    Assembly,
}

/// Number of passes of a step by their reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes([u32; Change::ALL.len()]);

impl Changes {
    /// Number of passes for this reason.
    pub fn count(&self, change: Change) -> u32 {
        Change::ALL.iter().zip(self.0).filter(|(known, _)| **known == change).map(|(_, count)| count).sum()
    }

    /// Reasons that occurred, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Change, u32)> {
        Change::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }

    pub(crate) fn add(&mut self, change: Change) {
        for (known, count) in Change::ALL.iter().zip(&mut self.0) {
            *count += u32::from(*known == change);
        }
    }

    /// Sum with the changes of another part of the step.
    #[must_use]
    pub(crate) fn sum(&self, other: &Self) -> Self {
        let mut sum = *self;
        sum.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
        sum
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (change, count)) in self.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            write!(f, "{separator}{} {count}", change.name())?;
        }
        Ok(())
    }
}

/// Counts of a step that bound its passes.
#[derive(Debug, Default)]
pub(crate) struct PassCounts {
    /// Problems assembled and solved.
    pub(crate) passes: u32,
    /// Iterations of all solves.
    pub(crate) iterations: u32,
    pub(crate) changes: Changes,
    /// Working sets solved since the last detection; none if the problem has all contacts.
    pub(crate) working_sets: Option<u32>,
    /// Index of the combination of faces being tried; none outside the disjunctive problem.
    pub(crate) branch: Option<usize>,
}

/// Outcome of a review.
pub(crate) enum Verdict<T> {
    Accepted(T),
    Repeat(Change),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_by_reason() {
        let mut first = Changes::default();
        first.add(Change::SwitchFace);
        first.add(Change::SwitchFace);
        let mut second = Changes::default();
        second.add(Change::EnlargeReach);
        let sum = first.sum(&second);
        assert_eq!(
            (sum.count(Change::SwitchFace), sum.count(Change::EnlargeReach), sum.count(Change::AddAllContacts)),
            (2, 1, 0)
        );
        assert_eq!(sum.to_string(), "other-face 2, reach 1");
        assert_eq!(Changes::default().to_string(), "");
    }

    #[test]
    fn later_stages_are_repeated_after_earlier_ones() {
        assert!(Stage::Detection < Stage::Rows && Stage::Rows < Stage::Assembly);
        assert_eq!(Change::AddJointLimits.resume(), Stage::Detection);
        assert_eq!(Change::SwitchFace.resume(), Stage::Rows);
        assert_eq!(Change::AddScreenedContacts.resume(), Stage::Assembly);
    }
}
