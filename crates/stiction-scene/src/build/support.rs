//! `[body.support]`, added when all bodies are known.

use stiction_multibody::{LimitSurface, SupportBuilder};

use super::{Assembly, reader::At};
use crate::{
    error::Fault,
    file::{LimitSurfaceTable, SceneFile, SupportFriction, SupportTable},
};

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    for (index, table) in file.body.iter().enumerate() {
        let Some(support) = &table.support else { continue };
        let at = assembly.root.key("body").index(index).key("support");
        if !assembly.reader.planar() {
            return Err(assembly.reader.only_in(&at, "a support", "let the body lie on a shape"));
        }
        let (id, _) = assembly.find(&at, &table.name)?;
        let builder = builder(assembly, &at, support, table.particle)?;
        assembly.builder.support(id, &builder).map_err(|error| at.model_error(&error))?;
    }
    Ok(())
}

fn builder(assembly: &Assembly, at: &At, table: &SupportTable, particle: bool) -> Result<SupportBuilder, Fault> {
    let mut builder = match (&table.points, &table.limit_surface) {
        (None, None) if particle => SupportBuilder::point(),
        (Some(support_points), None) => support_points_of(at, support_points, table.loads.as_deref())?,
        (None, Some(surface)) => SupportBuilder::limit_surface(limit_surface(at, surface)?),
        _ => {
            let fault = at.fault(format!("{} needs exactly one of `points` and `limit_surface`", at.what()));
            return Err(
                fault.hint("such as points = [[0, 0.1], [-0.1, -0.1], [0.1, -0.1]] or limit_surface = { disc = 0.1 }")
            );
        }
    };
    if table.loads.is_some() && table.points.is_none() {
        return Err(at
            .key("loads")
            .fault(format!("{} are the loads of `points`, which are missing", at.key("loads").what())));
    }
    builder = match &table.friction {
        None => builder,
        Some(SupportFriction::All(mu)) => builder.friction(*mu),
        Some(SupportFriction::Each(mu)) => builder.frictions(mu.clone()),
    };
    match &table.on {
        None => Ok(builder),
        Some(name) => Ok(builder.on(assembly.find(&at.key("on"), name)?.0)),
    }
}

fn support_points_of(at: &At, support_points: &[[f64; 2]], loads: Option<&[f64]>) -> Result<SupportBuilder, Fault> {
    match (support_points, loads) {
        (_, Some(loads)) => Ok(SupportBuilder::points(support_points, loads)),
        (&[a, b, c], None) => Ok(SupportBuilder::tripod([a, b, c])),
        _ => {
            let at = at.key("points");
            let message = format!("{} are {}: statics gives the loads of three", at.what(), support_points.len());
            Err(at.fault(message).hint("give three points, or `loads` with one number for each"))
        }
    }
}

fn limit_surface(at: &At, table: &LimitSurfaceTable) -> Result<LimitSurface, Fault> {
    let at = at.key("limit_surface");
    let made = match (table.disc, table.lever) {
        (Some(radius), None) => LimitSurface::uniform_disc(radius),
        (None, Some(lever)) => LimitSurface::ellipsoid(lever),
        _ => {
            let fault = at.fault(format!("{} must have exactly one of `disc` and `lever`", at.what()));
            return Err(fault.hint("such as { disc = 0.1 }"));
        }
    };
    made.map_err(|error| at.fault(format!("{}: {error}", at.what())))
}
