//! The bytes of a recording.

use std::{fs::File, io::Read, path::Path};

/// Size of the largest recording that is read, bytes.
const LARGEST: u64 = 256 << 20;

/// Bytes of a file, or the reason why it cannot be read: the reader of [`crate::load`] for recordings in files.
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
