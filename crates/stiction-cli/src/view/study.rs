//! Page of a `monte-carlo` study.

use std::path::Path;

use crate::{failure::Failure, input};

/// Start of the page; its policy forbids scripts and external resources.
pub(crate) const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">";

/// File of the page in the folder of a study.
const PAGE: &str = "results.html";

/// Largest page that is read, bytes.
const LARGEST: u64 = 256 << 20;

/// True if a folder holds a study and no run.
pub(crate) fn is_study(folder: &Path) -> bool {
    folder.join(PAGE).is_file() && !folder.join("trajectory.parquet").exists()
}

/// Reads the page. Only a page that forbids scripts is shown, since the folder may come from others.
pub(crate) fn page(folder: &Path) -> Result<String, Failure> {
    let path = folder.join(PAGE);
    let text = input::read_text(&path, LARGEST)?;
    if text.starts_with(HEAD) {
        return Ok(text);
    }
    Err(Failure::input(format!("{} is not the page of a study of the kind `monte-carlo`", path.display()))
        .with_help("`stiction sweep STUDY --out DIR --resume` writes it anew"))
}
