//! Meshes of collision shapes: vertices and triangles from STL and OBJ under limits, convex hulls, and mass properties.
//!
//! A mesh may be inside out, self-intersecting or open. A mesh without volume is refused.

mod hull;
mod obj;
mod stl;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use nalgebra::{Point3, Vector3};

use crate::{
    SceneError,
    error::{Fault, Sources},
};
pub(super) use hull::{hulls, mass};

/// Largest size of a mesh file, bytes (32 MiB).
const MAX_MESH_SIZE: u64 = 32 << 20;
/// Largest number of triangles of a mesh.
const MAX_TRIANGLES: usize = 500_000;
/// Largest magnitude of a vertex coordinate, m.
const MAX_COORDINATE: f64 = 1e9;

/// Corners and triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Mesh {
    pub(super) corners: Vec<Point3<f64>>,
    pub(super) triangles: Vec<[usize; 3]>,
    /// Numbers of triangles before which a group of triangles ends and the next begins.
    pub(super) ends: Vec<usize>,
}

impl Mesh {
    /// Returns the triangles of every group that has any.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[[usize; 3]]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ends = self.ends.iter().copied().chain(std::iter::once(self.triangles.len()));
        starts.zip(ends).filter_map(|(start, end)| self.triangles.get(start..end).filter(|group| !group.is_empty()))
    }
}

/// A refused mesh: the reason, at a byte of a text or without a place.
pub(super) enum Trouble {
    At(usize, String),
    Whole(String),
}

/// True if meshes with this file extension are read.
pub(super) fn is_read(path: &str) -> bool {
    ["stl", "obj"].contains(&ending(path).as_str())
}

fn ending(path: &str) -> String {
    Path::new(path).extension().map_or_else(String::new, |ending| ending.to_string_lossy().to_ascii_lowercase())
}

/// Reads a mesh below the asset root and scales it.
pub(super) fn load(root: &Path, path: &str, scale: &Vector3<f64>) -> Result<Mesh, SceneError> {
    let bytes = bytes(root, path).map_err(|message: String| SceneError::without_place(path, &message))?;
    let mut mesh = parse(path, &bytes)?;
    for corner in &mut mesh.corners {
        corner.coords.component_mul_assign(scale);
    }
    Ok(mesh)
}

/// Parses a mesh file; the extension determines the format.
fn parse(path: &str, bytes: &[u8]) -> Result<Mesh, SceneError> {
    let read = if ending(path) == "obj" { obj::parse(bytes) } else { stl::parse(bytes) };
    let mesh = read.map_err(|trouble| match trouble {
        Trouble::Whole(message) => SceneError::without_place(path, &message),
        Trouble::At(byte, message) => {
            let text = String::from_utf8_lossy(bytes);
            Sources::new(path, &text).locate(Fault::new(byte..byte, message))
        }
    })?;
    if mesh.triangles.is_empty() {
        return Err(SceneError::without_place(path, "has no triangle"));
    }
    Ok(mesh)
}

fn bytes(root: &Path, path: &str) -> Result<Vec<u8>, String> {
    let whole: PathBuf = root.join(path);
    let whole = whole.canonicalize().map_err(|error| super::files::not_found(&whole, &error))?;
    if !whole.starts_with(root) {
        return Err(super::files::outside());
    }
    // Devices and pipes may be endless; they are refused before they are opened.
    let kind = whole.metadata().map_err(|error| format!("cannot be opened: {error}"))?;
    if !kind.is_file() {
        return Err("is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(&whole).map_err(|error| format!("cannot be opened: {error}"))?;
    file.take(MAX_MESH_SIZE + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_MESH_SIZE {
        return Err(format!("is larger than {MAX_MESH_SIZE} bytes, the limit for meshes"));
    }
    Ok(bytes)
}

/// Returns a vertex if its coordinates are finite and within the limit.
fn corner(coordinates: [f64; 3]) -> Option<Point3<f64>> {
    coordinates.iter().all(|x| x.abs() <= MAX_COORDINATE).then(|| Point3::from(coordinates))
}

/// Returns the first word at or after a byte of a line, and its first byte.
fn word(line: &[u8], from: usize) -> Option<(usize, &[u8])> {
    let start = from + line.get(from..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let rest = line.get(start..)?;
    let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    Some((start, rest.get(..length)?))
}

/// Returns three numbers of a line, from a byte on; or the byte of the wrong one.
fn three(line: &[u8], from: usize) -> Result<Point3<f64>, usize> {
    let (mut at, mut coordinates) = (from, [0.0; 3]);
    for coordinate in &mut coordinates {
        let (start, text) = word(line, at).ok_or(line.trim_ascii_end().len())?;
        // The longest decimal of a number has far fewer characters than this.
        let number = std::str::from_utf8(text).ok().filter(|text| text.len() <= 64);
        *coordinate = number.and_then(|text| text.parse().ok()).ok_or(start)?;
        at = start + text.len();
    }
    corner(coordinates).ok_or(from)
}

/// Returns the lines of a text with the first byte of each.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    bytes.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let begin = start;
        start += line.len();
        (begin, line)
    })
}
