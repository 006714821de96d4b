//! `cargo xtask check-documents`: the README stays short and its Rust lines are those of an example, and no link of a page leads nowhere.

use std::path::Path;

use crate::tree;

/// Limits of the README, code and tables counted: a first reader reads it in five minutes.
const README_WORDS: usize = 900;
const README_LINES: usize = 120;

/// The example whose lines the README shows.
const EXAMPLE: &str = "crates/stiction/examples/readme.rs";

/// Runs the checks on this checkout.
pub(crate) fn run() -> Result<(), String> {
    let root = tree::root();
    let readme = tree::read(&root.join("README.md"))?;
    let mut faults = readme_faults(&readme, &tree::read(&root.join(EXAMPLE))?);
    let mut links = 0;
    for path in pages(&root)? {
        let page = tree::relative(&path);
        for link in relative_links(&tree::read(&path)?) {
            links += 1;
            if !path.parent().unwrap_or(&root).join(&link).exists() {
                faults.push(format!("{page}: the link {link} leads nowhere"));
            }
        }
    }
    for fault in &faults {
        eprintln!("{fault}");
    }
    println!("README: {} words, {} lines; {links} links", words(&readme), readme.lines().count());
    if faults.is_empty() { Ok(()) } else { Err(format!("check-documents: {} fault(s)", faults.len())) }
}

/// The pages at the root, in `docs/` and in the crates.
fn pages(root: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let own = tree::children(root)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    Ok(own.chain(tree::files(&root.join("docs"), "md")?).chain(tree::files(&root.join("crates"), "md")?).collect())
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn readme_faults(readme: &str, example: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if words(readme) > README_WORDS {
        faults.push(format!("README.md has {} words; at most {README_WORDS}", words(readme)));
    }
    if readme.lines().count() > README_LINES {
        faults.push(format!("README.md has {} lines; at most {README_LINES}", readme.lines().count()));
    }
    let rust = readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
    // What stands behind a comment is for readers.
    let code = |line: &str| line.split("//").next().unwrap_or_default().trim().to_owned();
    let known: Vec<String> = example.lines().map(code).collect();
    for line in rust.flat_map(str::lines).map(code).filter(|line| !known.contains(line)) {
        faults.push(format!("README.md: `{line}` is not in {EXAMPLE}"));
    }
    faults
}

/// Targets of links to files, without their anchors; links in code and to other sites are left alone.
fn relative_links(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let inline_code_removed: String = prose.split('`').step_by(2).collect();
    let targets = inline_code_removed.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with(['#', '<']));
    files.map(|target| target.split(['#', ' ']).next().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{readme_faults, relative_links};

    #[test]
    fn links_are_read_from_prose_alone() {
        let text = "[a](b.md#c) `[x](y)` ![p](q.png)\n```\n[no](nowhere)\n```\n[s](https://x.y/z) [t](#u)\n";
        assert_eq!(relative_links(text), ["b.md", "q.png"]);
    }

    #[test]
    fn a_long_readme_and_strange_lines_are_found() {
        assert!(readme_faults("```rust\nlet x = 1;   // one\n```\n", "fn main() {\n    let x = 1;\n}\n").is_empty());
        assert_eq!(readme_faults("```rust\nlet x = 2;\n```\n", "let x = 1;").len(), 1);
        assert_eq!(readme_faults(&"word \n".repeat(901), "").len(), 2);
    }
}
