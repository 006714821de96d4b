//! The published cases: run by `--all` and by `cargo xtask reproduce`; the short tier checks that they were run with these numerics.
//!
//! `reference/stamp.txt` holds the numerics version and a hash of everything the cases depend on: the code (without comments) of the crates
//! below, the reference values and the scenes. Only a run in which every case holds writes it. `--all` ignores it.

use std::path::Path;

use crate::runner::{self, Binary, Tier};
use crate::{rust_source, tree};

/// The package with the cases.
pub(crate) const PACKAGE: &str = "stiction-reproduce";

const STAMP: &str = "reference/stamp.txt";

/// The crates whose code decides the numbers of the cases.
const CRATES: [&str; 13] = [
    "stiction-complementarity",
    "stiction-geometry",
    "stiction-multibody",
    "stiction-options",
    "stiction-stepping",
    "stiction-schemes",
    "stiction-sensitivity",
    "stiction-scene",
    "stiction",
    "stiction-study",
    "stiction-mpec",
    "stiction-identify",
    "stiction-reproduce",
];

/// Refuses numerics with which the cases have not been run. The short tier has no engine for nonlinear programs, which two cases need, so it
/// does not run them itself.
pub(crate) fn is_kept() -> Result<(), String> {
    let (now, then) = (stamp()?, tree::read(&tree::root().join(STAMP)).unwrap_or_default());
    if now == then {
        println!("kept: all cases held with these numerics ({})", now.trim().replace('\n', ", "));
        return Ok(());
    }
    Err(format!("the numerics differ from {STAMP}: run `cargo xtask reproduce`, which runs every case and renews it"))
}

/// Runs the cases and writes the stamp if they hold. A build without engines leaves rows out, so it writes none.
pub(crate) fn run(binaries: &[Binary], features: &str) -> Result<(), String> {
    let own: Vec<Binary> = binaries.iter().filter(|binary| binary.package == PACKAGE).cloned().collect();
    runner::run(&own, Tier::All, &[])?;
    if !features.contains("ipopt") {
        println!("{STAMP} is not renewed: this build has no engine for nonlinear programs");
        return Ok(());
    }
    let path = tree::root().join(STAMP);
    let stamp = stamp()?;
    if tree::read(&path).unwrap_or_default() != stamp {
        std::fs::write(&path, stamp).map_err(|error| format!("cannot write {STAMP}: {error}"))?;
        println!("{STAMP} is renewed: commit it");
    }
    Ok(())
}

/// Numerics version and hash of this checkout.
fn stamp() -> Result<String, String> {
    let mut hash = Hash::default();
    for name in CRATES {
        for path in tree::files(&tree::root().join("crates").join(name).join("src"), "rs")? {
            hash.add(&tree::relative(&path));
            hash.add(&code(&tree::read(&path)?));
        }
    }
    for (folder, extension) in [("reference", "json"), ("scenes", "toml"), ("scenes", "xml")] {
        for path in tree::files(&tree::root().join(folder), extension)? {
            hash.add(&tree::relative(&path));
            hash.add(&tree::read(&path)?);
        }
    }
    Ok(format!("numerics version {}\nhash {:016x}\n", numerics_version(&tree::root())?, hash.0))
}

/// Source without comments, blank lines and indentation: what cannot change a number.
fn code(source: &str) -> String {
    let comments = rust_source::mask(source).comments;
    let kept = source.lines().zip(comments.lines()).map(|(line, comment)| {
        // The mask has the characters of a comment where it stands and spaces elsewhere.
        line.chars().zip(comment.chars()).filter(|(_, mask)| mask.is_whitespace()).map(|(c, _)| c).collect::<String>()
    });
    kept.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The newest version in the changelog.
fn numerics_version(root: &Path) -> Result<u32, String> {
    let text = tree::read(&root.join("CHANGELOG.md"))?.to_lowercase();
    let numbers = text.split("numerics version ").skip(1);
    let number = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().ok();
    numbers.filter_map(number).max().ok_or_else(|| "CHANGELOG.md names no numerics version".into())
}

/// Fowler, Noll and Vo's hash FNV-1a, 64 bits.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, text: &str) {
        // The zero byte keeps apart what is added one after the other.
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hash, code};

    #[test]
    fn comments_and_layout_do_not_count() {
        let plain = "fn f() {\n    g(1.0)\n}\n";
        let told = "/// Calls g.\nfn f() {\n\n    // why\n    g(1.0)\n}\n";
        assert_eq!(code(plain), code(told));
        assert_ne!(code(plain), code("fn f() {\n    g(2.0)\n}\n"));
        assert_ne!(code("f(\"a\")"), code("f(\"b\")"), "literals count");
    }

    #[test]
    fn the_hash_is_the_published_one() {
        // FNV-1a of the empty string followed by the zero byte, and of "a" followed by it.
        let mut hash = Hash::default();
        hash.add("");
        assert_eq!(hash.0, 0xcbf2_9ce4_8422_2325_u64.wrapping_mul(0x0100_0000_01b3));
    }
}
