//! Files that the program writes. All commands write here, and none writes over what it reads.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

use crate::failure::Failure;

/// Endings of files that people write: scenes, studies, designs, identifications and robots.
const SOURCES: [&str; 5] = ["toml", "urdf", "xml", "mjcf", "sdf"];

/// Refuses a file that the user has named for output if it is one of `inputs`, or a scene or robot that exists.
pub(crate) fn refuse_sources<'p>(path: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> Result<(), Failure> {
    refuse_inputs(&[path.to_path_buf()], inputs)?;
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if ending.is_some_and(|ending| SOURCES.contains(&ending.as_str())) && path.exists() {
        let message = format!("{} exists, and scenes and robots are not overwritten", path.display());
        return Err(Failure::input(message).with_help("choose another name, or remove the file first"));
    }
    Ok(())
}

/// Refuses files for output that are also read, under any name.
pub(crate) fn refuse_inputs<'p>(files: &[PathBuf], inputs: impl IntoIterator<Item = &'p Path>) -> Result<(), Failure> {
    let inputs: Vec<&Path> = inputs.into_iter().collect();
    match files.iter().find(|file| inputs.iter().any(|input| is_same(file, input))) {
        None => Ok(()),
        Some(file) => {
            let message = format!("{} is read by this command, and would be overwritten", file.display());
            Err(Failure::input(message).with_help("choose another file or folder for the results"))
        }
    }
}

/// True for two names of one existing file.
fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
        place(a).is_some_and(|place_of_a| place(b) == Some(place_of_a))
    }
    #[cfg(not(unix))]
    {
        fs::canonicalize(a).is_ok_and(|whole| fs::canonicalize(b).is_ok_and(|other| other == whole))
    }
}

/// Writes a file of results.
pub(crate) fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| unwritten(path, &error))
}

/// Creates a file of results.
pub(crate) fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| unwritable(path, &error))
}

/// Writes the file that the user has named.
pub(crate) fn write_named(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| unwritable(path, &error))
}

/// Failure of writing results.
pub(crate) fn unwritten(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::work(format!("cannot write {}: {error}", path.display()))
}

/// Failure of writing a file that the user has named.
pub(crate) fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::input(format!("cannot write {}: {error}", path.display()))
}
