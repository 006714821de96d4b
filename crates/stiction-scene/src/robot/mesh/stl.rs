//! STL, binary (80 bytes, a count and 50 bytes per triangle) or text (facets).

use super::{MAX_TRIANGLES, Mesh, Trouble, corner, lines, three, word};

const HEAD: usize = 84;
const FACET: usize = 50;

pub(super) fn parse(bytes: &[u8]) -> Result<Mesh, Trouble> {
    let declared = bytes.get(80..HEAD).and_then(|count| Some(u32::from_le_bytes(count.try_into().ok()?) as usize));
    // Some binary files begin with `solid` like a text, so the length decides.
    match declared {
        Some(count) if bytes.len() == HEAD + FACET.saturating_mul(count) => binary(bytes, count),
        _ if bytes.trim_ascii_start().starts_with(b"solid") => text(bytes),
        Some(count) => Err(Trouble::Whole(format!(
            "is no STL: it declares {count} triangles, which take {} bytes, but has {}",
            HEAD + FACET.saturating_mul(count),
            bytes.len()
        ))),
        None => Err(Trouble::Whole("is no STL: it has neither a head of 84 bytes nor the word `solid`".to_owned())),
    }
}

fn too_many(count: usize) -> Trouble {
    Trouble::Whole(format!("has {count} triangles or more; the limit is {MAX_TRIANGLES}"))
}

fn binary(bytes: &[u8], count: usize) -> Result<Mesh, Trouble> {
    if count > MAX_TRIANGLES {
        return Err(too_many(count));
    }
    let mut mesh = Mesh::default();
    let facets = bytes.get(HEAD..).unwrap_or_default().chunks_exact(FACET);
    for (number, facet) in facets.enumerate() {
        // Twelve bytes of a normal, then three vertices.
        let mut numbers = facet.get(12..48).unwrap_or_default().chunks_exact(4).map(|four| {
            let four: [u8; 4] = four.try_into().unwrap_or_default();
            f64::from(f32::from_le_bytes(four))
        });
        for _ in 0..3 {
            let coordinates = [(); 3].map(|()| numbers.next().unwrap_or(f64::NAN));
            let corner = corner(coordinates).ok_or_else(|| {
                Trouble::Whole(format!("triangle {} has a corner that is not finite and within 1e9", number + 1))
            })?;
            mesh.corners.push(corner);
        }
        mesh.triangles.push([3 * number, 3 * number + 1, 3 * number + 2]);
    }
    Ok(mesh)
}

fn text(bytes: &[u8]) -> Result<Mesh, Trouble> {
    let mut mesh = Mesh::default();
    for (begin, line) in lines(bytes) {
        let Some((start, b"vertex")) = word(line, 0) else { continue };
        let corner = three(line, start + 6)
            .map_err(|at| Trouble::At(begin + at, "`vertex` needs three finite numbers within 1e9".to_owned()))?;
        mesh.corners.push(corner);
        if mesh.corners.len() > 3 * MAX_TRIANGLES {
            return Err(too_many(MAX_TRIANGLES));
        }
    }
    let corners = mesh.corners.len();
    if !corners.is_multiple_of(3) {
        return Err(Trouble::Whole(format!("is no STL: {corners} corners are no whole number of triangles")));
    }
    mesh.triangles = (0..corners / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    Ok(mesh)
}
