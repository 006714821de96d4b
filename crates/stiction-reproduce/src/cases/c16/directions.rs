//! A field over the number of friction directions.

use rayon::prelude::*;
use stiction::Scene;
use stiction_plot::Figure;

use super::AT;
use super::path::{Path, errors_over_time, plan, polygon};
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

/// A field with an increasing number of friction directions.
pub(super) struct OverDirections {
    name: &'static str,
    pub(super) base: Path,
    paths: Vec<(u32, Path)>,
}

impl OverDirections {
    pub(super) fn run(case: &Reference, field: &Scene, name: &'static str, base: Path) -> Result<Self, CaseError> {
        let h = case.parameter("step")?;
        let directions = Self::table(case, name)?;
        let run = |row: &Entry| {
            #[allow(clippy::cast_sign_loss, reason = "numbers of directions are positive")]
            let n_d = row.number("n_d")? as u32;
            Ok((n_d, Path::run(case, field, &polygon(n_d), h)?))
        };
        let paths: Result<Vec<_>, CaseError> = directions.par_iter().map(run).collect();
        Ok(Self { name, base, paths: paths? })
    }

    fn table(case: &Reference, name: &str) -> Result<Vec<Entry>, CaseError> {
        case.table(&format!("derived.{name}.directions"))
    }

    pub(super) fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let (tolerance, title) = (case.tolerance("tolerance.numbers")?, self.name.replace('_', " "));
        for ((n_d, path), row) in self.paths.iter().zip(Self::table(case, self.name)?) {
            for (time, name) in AT {
                let expected = Expected::within(row.number(name)?, tolerance);
                let quantity = format!("{title}: error at {time} s, {n_d} directions");
                account.add(Row::new(quantity, "cm", path.distance(&self.base, time)?).reference(expected));
            }
        }
        Ok(())
    }

    pub(super) fn figure(&self) -> Figure {
        let named = |n_d: &u32| format!("{n_d} directions");
        let mut all = vec![(Some("cone".to_owned()), &self.base)];
        all.extend(self.paths.iter().map(|(n_d, path)| (Some(named(n_d)), path)));
        let errors: Vec<_> = self.paths.iter().map(|(n_d, path)| (named(n_d), path)).collect();
        Figure::new("").columns(2).with(plan(&all).titled("(a) paths")).with(errors_over_time(&errors, &self.base))
    }
}
