//! C-27: the double pendulum in space. It slides on a plane with P1 (beside an integrator of high order), and is dropped on a
//! plane without friction (drift of the centre of mass).

mod absolute;
mod drift;
mod sliding;

use nalgebra::Rotation3;
use stiction::multibody::rotation::from_body_123;
use stiction::schemes::{HybridForm, HybridOptions};

use super::space_pendulum::Pendulum;
use crate::{Account, CaseError, Entry, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    sliding::add(case, &mut account)?;
    drift::add(case, &mut account)?;
    sizes(case, &mut account)?;
    Ok(account)
}

/// Number of unknowns of the contact problem: it does not depend on the number of bodies.
fn sizes(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let (h, directions) = (case.number("published.step")?, case.count("sizes.directions")?);
    for (name, form) in [("terminal", HybridForm::Terminal), ("appended", HybridForm::Appended)] {
        let mut pendulum = Pendulum::with(case, "sliding", HybridOptions { form, directions })?;
        account.add(
            Row::new(
                format!("unknowns of the {name} form with {directions} friction directions"),
                "",
                pendulum.size(h)?,
            )
            .reference(case.exactly(&format!("sizes.{name}"))?),
        );
    }
    Ok(())
}

/// The orientations of a and of b relative to a in a row of the table.
fn orientations_in(row: &Entry) -> Result<[Rotation3<f64>; 2], CaseError> {
    let angles = |body: &str| -> Result<[f64; 3], CaseError> {
        let number = |k: u32| row.number(&format!("{body}_{k}"));
        Ok([number(1)?, number(2)?, number(3)?])
    };
    Ok([angles("a")?, angles("b")?].map(|angles| from_body_123(angles).to_rotation_matrix()))
}

/// Angles between the orientations of a, and between those of b, both in the world.
fn turned_by(found: [Rotation3<f64>; 2], exact: [Rotation3<f64>; 2]) -> [f64; 2] {
    let [a, b] = found;
    let [exact_a, exact_b] = exact;
    [(a.inverse() * exact_a).angle(), ((a * b).inverse() * (exact_a * exact_b)).angle()]
}
