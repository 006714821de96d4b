//! The bytes of a recording.

use std::{fs::File, io::Read, path::Path};

/// The largest recording that is read, bytes.
const LARGEST: u64 = 256 << 20;

/// The bytes of a file, or why there are none: what [`crate::load`] takes where recordings are files.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("is larger than {LARGEST} bytes, the limit for recordings"));
    }
    Ok(bytes)
}
