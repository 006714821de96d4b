//! `[[site]]`.

use stiction_multibody::{Pose, rotation};

use super::{
    Assembly,
    reader::{angle, unit_quaternion},
};
use crate::{error::Fault, file::SceneFile};

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    for (index, table) in file.site.iter().enumerate() {
        let at = assembly.root.key("site").index(index);
        let (body, _) = assembly.find(&at.key("body"), &table.body)?;
        let reader = &assembly.reader;
        let position = reader.optional_vector(&at.key("position"), table.position.as_ref())?;
        let rotation = match (&table.angle, &table.orientation) {
            (None, None) => rotation::planar(0.0),
            (Some(value), None) if reader.planar() => rotation::planar(angle(&at.key("angle"), value)?),
            (Some(_), None) => return Err(reader.only_in(&at.key("angle"), "an angle", "give an `orientation`")),
            (_, Some(orientation)) => {
                let at = at.key("orientation");
                unit_quaternion(&at, reader.orientation(&at, orientation)?)?.to_rotation_matrix()
            }
        };
        let pose = Pose::from_parts(position.into(), rotation);
        assembly.builder.site(&table.name, body, pose).map_err(|error| at.model_error(&error))?;
    }
    Ok(())
}
