//! OBJ: lines `v x y z` for vertices and `f i j k …` for faces; `o` and `g` begin a group; all other lines are skipped.

use super::{MAX_TRIANGLES, Mesh, Trouble, lines, three, word};

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Trouble> {
    let mut mesh = Mesh::default();
    for (begin, line) in lines(bytes) {
        match word(line, 0) {
            Some((start, b"v")) => {
                let corner = three(line, start + 1)
                    .map_err(|at| Trouble::At(begin + at, "`v` needs three finite numbers within 1e9".to_owned()))?;
                mesh.corners.push(corner);
            }
            Some((start, b"f")) => face(&mut mesh, begin, line, start + 1)?,
            Some((_, b"o" | b"g")) => mesh.ends.push(mesh.triangles.len()),
            _ => continue,
        }
        let most = mesh.ends.len().max(mesh.triangles.len());
        if mesh.corners.len() > 3 * MAX_TRIANGLES || most > MAX_TRIANGLES {
            return Err(Trouble::Whole(format!("has more than {MAX_TRIANGLES} triangles, the limit")));
        }
    }
    Ok(mesh)
}

/// Adds a face as a fan of triangles. Of `vertex/texture/normal` only the first number counts; negative numbers count
/// back from the last vertex.
fn face(mesh: &mut Mesh, begin: usize, line: &[u8], from: usize) -> Result<(), Trouble> {
    let (mut at, mut fan) = (from, Vec::new());
    while let Some((start, text)) = word(line, at) {
        let first = text.split(|byte| *byte == b'/').next().unwrap_or_default();
        let number = std::str::from_utf8(first).ok().and_then(|text| text.parse::<i64>().ok());
        let count = mesh.corners.len();
        let index = number.and_then(|number| {
            let distance = usize::try_from(number.unsigned_abs()).ok()?;
            if number > 0 { distance.checked_sub(1) } else { count.checked_sub(distance) }
        });
        let index = index.filter(|index| *index < count).ok_or_else(|| {
            Trouble::At(begin + start, format!("a face names a corner that is not among the {count} before it"))
        })?;
        fan.push(index);
        at = start + text.len();
        if fan.len() > MAX_TRIANGLES {
            return Err(Trouble::At(begin + start, format!("a face has more than {MAX_TRIANGLES} corners")));
        }
    }
    match fan.as_slice() {
        [first, rest @ ..] if rest.len() >= 2 => {
            mesh.triangles.extend(rest.iter().zip(rest.iter().skip(1)).map(|(b, c)| [*first, *b, *c]));
            Ok(())
        }
        _ => Err(Trouble::At(begin, "a face needs three corners".to_owned())),
    }
}
