//! Files of a robot: texts of limited size, and paths that stay below the asset root.

use std::{
    collections::BTreeSet,
    fs::File,
    io::Read,
    ops::Range,
    path::{Component, Path, PathBuf},
};

use crate::{
    MAX_FILE_SIZE, SceneError,
    error::{Fault, Sources},
};

/// Largest number of files of one robot.
const MAX_FILES: usize = 64;
/// Largest size of all its files together, bytes.
const MAX_TOTAL: u64 = 4 * MAX_FILE_SIZE;
/// Longest path in a file, bytes.
const MAX_PATH: usize = 1024;

/// Bytes of one of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) span: Range<usize>,
}

/// A refused robot: the reason and its place.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) place: Place,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Refusal {
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Place {
    pub(super) fn refuse(&self, message: impl Into<String>) -> Refusal {
        Refusal { place: self.clone(), message: message.into(), hint: None }
    }
}

/// Names and texts of the files read so far, and the folders of others.
pub(super) struct Files {
    /// Folder that no path may leave; `None` if no other file may be read.
    root: Option<PathBuf>,
    /// Folder of the first file.
    folder: PathBuf,
    read: Vec<(String, String)>,
    /// Canonical paths of the files read. Each is read once, which excludes cycles and exponential growth.
    opened: BTreeSet<PathBuf>,
}

impl Files {
    /// Starts with the text of the first file.
    pub(super) fn of_text(name: &str, text: &str) -> Result<Self, SceneError> {
        if text.len() as u64 > MAX_FILE_SIZE {
            return Err(SceneError::without_place(name, &format!("is larger than {MAX_FILE_SIZE} bytes, the limit")));
        }
        let read = vec![(name.to_owned(), text.to_owned())];
        Ok(Self { root: None, folder: PathBuf::new(), read, opened: BTreeSet::new() })
    }

    /// Starts with the path of the first file; `root` is its folder unless another is given.
    pub(super) fn of_path(path: &Path, root: Option<&Path>) -> Result<Self, SceneError> {
        let name = path.display().to_string();
        let wrong = |message: String| SceneError::without_place(&name, &message);
        let text = read(path, MAX_FILE_SIZE).map_err(wrong)?;
        let whole = |path: &Path| path.canonicalize().map_err(|error| wrong(format!("cannot be found: {error}")));
        let own = whole(path)?;
        let folder = own.parent().map(Path::to_path_buf).unwrap_or_default();
        let root = root.map_or_else(|| Ok(folder.clone()), whole)?;
        if !folder.starts_with(&root) {
            return Err(wrong("is not below the asset root".to_owned()));
        }
        Ok(Self { root: Some(root), folder, read: vec![(name, text)], opened: BTreeSet::from([own]) })
    }

    /// Returns the folder that no path may leave, if there is one.
    pub(super) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    pub(super) fn text(&self, file: usize) -> &str {
        self.read.get(file).map_or("", |(_, text)| text)
    }

    /// Reads a file that another one includes and returns its number.
    pub(super) fn include(&mut self, reference: &str) -> Result<usize, String> {
        let Some(root) = &self.root else {
            return Err("names another file, but this text was not read from a folder".to_owned());
        };
        if self.read.len() >= MAX_FILES {
            return Err(format!("is one file too many: the limit is {MAX_FILES}"));
        }
        let path = self.resolved(reference)?;
        let whole = root.join(&path);
        let whole = whole.canonicalize().map_err(|error| not_found(&whole, &error))?;
        if !whole.starts_with(root) {
            return Err(outside());
        }
        if !self.opened.insert(whole.clone()) {
            return Err("is included twice".to_owned());
        }
        let used: u64 = self.read.iter().map(|(_, text)| text.len() as u64).sum();
        let text = read(&whole, MAX_FILE_SIZE.min(MAX_TOTAL.saturating_sub(used)))?;
        self.read.push((path.display().to_string(), text));
        Ok(self.read.len() - 1)
    }

    /// Returns a path of the file as one below the asset root.
    ///
    /// The folder of packages is the asset root. A package that is not there is looked for in the folders above the file, from the nearest, and may
    /// be one of them.
    pub(super) fn resolved(&self, reference: &str) -> Result<PathBuf, String> {
        let path = self.below_root(reference)?;
        let exists = |path: &PathBuf| self.root.as_ref().is_some_and(|root| root.join(path).exists());
        let mut parts = path.components();
        let package = parts.next().filter(|_| reference.starts_with("package://") && !exists(&path));
        let Some(package) = package else { return Ok(path) };
        let folder = self.folder_below_root();
        let places = folder.ancestors().flat_map(|above| {
            let own = above.file_name() == Some(package.as_os_str());
            [Some(above.join(&path)), own.then(|| above.join(parts.as_path()))].into_iter().flatten()
        });
        Ok(places.into_iter().find(exists).unwrap_or(path))
    }

    /// Returns a path of the file as one below the asset root, without access to the file system.
    fn below_root(&self, reference: &str) -> Result<PathBuf, String> {
        if reference.is_empty() || reference.len() > MAX_PATH {
            return Err(format!("is no path: it must have 1 to {MAX_PATH} bytes"));
        }
        let (start, rest) = match reference.strip_prefix("package://") {
            Some(rest) => (PathBuf::new(), rest.trim_start_matches('/')),
            None => (self.folder_below_root(), reference),
        };
        if rest.contains(['\\', ':', '\0']) {
            return Err(format!("{}: only paths with `/` and `package://` are followed", outside()));
        }
        let mut path = start;
        for component in Path::new(rest).components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                _ => return Err(outside()),
            }
        }
        Ok(path)
    }

    fn folder_below_root(&self) -> PathBuf {
        self.root
            .as_ref()
            .and_then(|root| self.folder.strip_prefix(root).ok())
            .map(Path::to_path_buf)
            .unwrap_or_default()
    }

    /// Gives a refusal its file, line and column.
    pub(super) fn locate(&self, refusal: Refusal) -> SceneError {
        let Refusal { place, message, hint } = refusal;
        let (name, text) = self.read.get(place.file).map_or(("", ""), |(name, text)| (name, text));
        Sources::new(name, text).locate(Fault { span: place.span, message, hint })
    }
}

/// Says where a file was looked for.
pub(super) fn not_found(path: &Path, error: &std::io::Error) -> String {
    format!("cannot be found at {}: {error}", path.display())
}

pub(super) fn outside() -> String {
    "leads outside of the asset root".to_owned()
}

/// Returns the text with an XML declaration behind blank lines, where XML has none, as a comment of the same length.
fn late_declaration_as_comment(text: &str) -> Option<String> {
    let (start, end) = (text.find("<?xml ").filter(|at| *at > 0)?, text.find("?>")?);
    let (blank, declaration) = (text.get(..start)?, text.get(start + 5..end.checked_sub(1)?)?);
    let rest = text.get(end + 2..)?;
    blank.trim().is_empty().then(|| format!("{blank}<!-- {declaration}-->{rest}"))
}

fn read(path: &Path, limit: u64) -> Result<String, String> {
    // Devices and pipes may be endless; they are refused before they are opened.
    let kind = path.metadata().map_err(|error| format!("cannot be opened: {error}"))?;
    if !kind.is_file() {
        return Err("is no file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("cannot be opened: {error}"))?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > limit {
        return Err(format!("is larger than {limit} bytes, the limit"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("is not UTF-8 text: the first wrong byte is number {}", error.utf8_error().valid_up_to() + 1)
    })?;
    // Marks that editors and exporters leave at both ends.
    let text = text.trim_start_matches('\u{feff}').trim_end_matches('\0');
    Ok(late_declaration_as_comment(text).unwrap_or_else(|| text.to_owned()))
}
