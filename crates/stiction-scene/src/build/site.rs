//! `[[site]]`.

use super::Assembly;
use crate::{error::Fault, file::SceneFile};

pub(super) fn add(assembly: &mut Assembly, file: &SceneFile) -> Result<(), Fault> {
    for (index, table) in file.site.iter().enumerate() {
        let at = assembly.root.key("site").index(index);
        let (body, _) = assembly.find(&at.key("body"), &table.body)?;
        let turned = (table.angle.as_ref(), table.orientation.as_ref());
        let pose = assembly.reader.local_pose(&at, table.position.as_ref(), turned)?;
        assembly.builder.site(&table.name, body, pose).map_err(|error| at.model_error(&error))?;
    }
    Ok(())
}
