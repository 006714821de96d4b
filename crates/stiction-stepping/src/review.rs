//! Review of a solved step: it is accepted, or one change is made and the step is solved again.

use std::fmt;

/// Reason for another pass of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The solution closes contacts that constraint screening left out.   [STEP-15]
    ContactLeftOut,
    /// The problem without screened contacts was not solved, or would have become too large.   [STEP-15]
    AllContacts,
    /// Pairs of shapes are resolved vertex by vertex.   [CORNER-5]
    CloserLook,
    /// A vertex ended in front of another face of a corner.   [CORNER-2]
    OtherFace,
    /// Another combination of faces, because this one does not solve the disjunctive problem.   [CORNER-4]
    OtherBranch,
    /// The constraints are linearised at the new end of the step.   [STEP-10] [GIM-1]
    Linearisation,
    /// A joint passed a limit that was not in the problem.
    MissedLimit,
    /// A contact that was not in the problem penetrates: bodies move farther than their reach.   [STEP-12]
    FartherReach,
}

impl Change {
    const ALL: [Self; 8] = [
        Self::ContactLeftOut,
        Self::AllContacts,
        Self::CloserLook,
        Self::OtherFace,
        Self::OtherBranch,
        Self::Linearisation,
        Self::MissedLimit,
        Self::FartherReach,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ContactLeftOut => "contact-left-out",
            Self::AllContacts => "all-contacts",
            Self::CloserLook => "closer-look",
            Self::OtherFace => "other-face",
            Self::OtherBranch => "other-branch",
            Self::Linearisation => "linearisation",
            Self::MissedLimit => "missed-limit",
            Self::FartherReach => "farther-reach",
        }
    }

    /// First stage that is repeated.
    pub(crate) fn resume(self) -> Stage {
        match self {
            Self::ContactLeftOut | Self::AllContacts => Stage::Assembly,
            Self::OtherFace | Self::OtherBranch => Stage::Rows,
            Self::CloserLook | Self::Linearisation | Self::MissedLimit | Self::FartherReach => Stage::Detection,
        }
    }
}

/// Stage of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
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
    pub(crate) fn and(&self, other: &Self) -> Self {
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
pub(crate) struct Review {
    /// Problems assembled and solved.
    pub(crate) passes: u32,
    /// Iterations of all solves.
    pub(crate) iterations: u32,
    pub(crate) changes: Changes,
    /// Working sets solved since the last detection; none if the problem has all contacts.
    pub(crate) working_sets: Option<u32>,
    /// Number of the combination of faces being tried; none outside the disjunctive problem.
    pub(crate) branch: Option<usize>,
}

/// Outcome of a review.
pub(crate) enum Verdict<T> {
    Accepted(T),
    Again(Change),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_counted_by_reason() {
        let mut first = Changes::default();
        first.add(Change::OtherFace);
        first.add(Change::OtherFace);
        let mut second = Changes::default();
        second.add(Change::FartherReach);
        let sum = first.and(&second);
        assert_eq!(
            (sum.count(Change::OtherFace), sum.count(Change::FartherReach), sum.count(Change::AllContacts)),
            (2, 1, 0)
        );
        assert_eq!(sum.to_string(), "other-face 2, farther-reach 1");
        assert_eq!(Changes::default().to_string(), "");
    }

    #[test]
    fn later_stages_are_repeated_after_earlier_ones() {
        assert!(Stage::Detection < Stage::Rows && Stage::Rows < Stage::Assembly);
        assert_eq!(Change::MissedLimit.resume(), Stage::Detection);
        assert_eq!(Change::OtherFace.resume(), Stage::Rows);
        assert_eq!(Change::ContactLeftOut.resume(), Stage::Assembly);
    }
}
