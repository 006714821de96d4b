//! Files that end: what is no regular file is refused before it is opened, since a pipe without a writer blocks and a device has no end.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// Opens a regular file for reading. Folders, devices, sockets and named pipes are refused with [`io::ErrorKind::InvalidInput`] and a message that says what
/// it is. Open descriptors such as `/dev/stdin` and `/dev/fd/3` may be pipes, since they have a writer.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || is_descriptor(path) {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {}, not a regular file", named(kind))))
}

/// Reads at most `limit` bytes of a regular file; `None` if it has more.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(open_regular(path)?, limit.saturating_add(1)), &mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// True for the names of open descriptors of this process.
fn is_descriptor(path: &Path) -> bool {
    cfg!(unix)
        && (path == Path::new("/dev/stdin") || ["/dev/fd", "/proc/self/fd"].iter().any(|in_| path.starts_with(in_)))
}

/// Name of a kind of file.
fn named(kind: fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    if kind.is_dir() { "a folder" } else { "something else" }
}
