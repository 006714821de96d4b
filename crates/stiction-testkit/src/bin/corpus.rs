//! Writes the generated files of `problems/`: `cargo xtask corpus`.

// This program writes files; the lint against that is meant for the numerical crates.
#![allow(clippy::disallowed_methods)]

use std::process::ExitCode;
use stiction_testkit::corpus;

fn main() -> ExitCode {
    let folder = corpus::folder();
    let mut written = 0;
    for file in corpus::files() {
        let path = folder.join(&file.path);
        let text = file.text();
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        let parent = path.parent().unwrap_or(&folder);
        if let Err(error) = std::fs::create_dir_all(parent).and_then(|()| std::fs::write(&path, text)) {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::FAILURE;
        }
        println!("{} [{}] {}", file.path, file.family, file.provenance);
        written += 1;
    }
    println!("{written} files written; the others are unchanged");
    ExitCode::SUCCESS
}
