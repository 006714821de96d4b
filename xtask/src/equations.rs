//! `cargo xtask check-equations`: theory and code name the same equations, and every paper cited can be found.
//!
//! The rule. A tag is *defined* where it ends a displayed line of `docs/theory/*.md`: a line of a fenced block, of a `$$`
//! block, or of a block indented by four spaces. That line shows the equation. Everywhere else in the documentation, and in the comments of `crates/**/*.rs`, a tag
//! *cites*. The check fails when
//!
//! - a cited tag is not defined,
//! - a tag is defined twice,
//! - a defined tag is cited nowhere in the code,
//! - a paper is cited, in code or documentation, without an entry in `docs/references.bib`,
//! - the bibliography holds a key twice.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust_source;
use crate::tags::{self, Tag};
use crate::tree;

/// A file name and its text.
struct Text {
    name: String,
    body: String,
}

/// Place in the sources: `file:line`.
type Place = String;

/// Runs the check on this checkout.
pub(crate) fn run() -> Result<(), String> {
    let root = tree::root();
    let theory = texts(&root.join("docs/theory"), "md")?;
    let documents = texts(&root.join("docs"), "md")?;
    let sources = texts(&root.join("crates"), "rs")?;
    let bibliography = root.join("docs/references.bib");
    let bibliography = if bibliography.exists() { tree::read(&bibliography)? } else { String::new() };

    let report = check(&theory, &documents, &sources, &bibliography);
    for complaint in &report.complaints {
        eprintln!("{complaint}");
    }
    if report.complaints.is_empty() {
        println!(
            "{} equations defined, all cited; {} citations in code; {} papers cited",
            report.defined, report.cited, report.papers
        );
        Ok(())
    } else {
        Err(format!("check-equations: {} complaint(s)", report.complaints.len()))
    }
}

fn texts(directory: &std::path::Path, extension: &str) -> Result<Vec<Text>, String> {
    let paths = tree::files(directory, extension)?;
    paths.iter().map(|path| Ok(Text { name: tree::relative(path), body: tree::read(path)? })).collect()
}

struct Report {
    defined: usize,
    cited: usize,
    papers: usize,
    complaints: Vec<String>,
}

fn check(theory: &[Text], documents: &[Text], sources: &[Text], bibliography: &str) -> Report {
    let mut complaints = Vec::new();
    let defined = definitions(theory, &mut complaints);

    let comments: Vec<Text> = sources
        .iter()
        .map(|text| Text { name: text.name.clone(), body: rust_source::mask(&text.body).comments })
        .collect();
    let cited = citations(&comments, tags::tags);
    let mentioned = citations(documents, tags::tags);
    for (tag, places) in cited.iter().chain(&mentioned).filter(|(tag, _)| !defined.contains_key(tag)) {
        complaints.extend(places.iter().map(|place| format!("{place}: {tag} is not defined in docs/theory")));
    }
    for (tag, place) in defined.iter().filter(|(tag, _)| !cited.contains_key(tag)) {
        complaints.push(format!("{place}: {tag} is cited nowhere in the code"));
    }

    let keys = bibliography_keys(bibliography, &mut complaints);
    let mut papers = citations(&comments, tags::papers);
    for (key, places) in citations(documents, tags::papers) {
        papers.entry(key).or_default().extend(places);
    }
    for (key, places) in papers.iter().filter(|(key, _)| !keys.contains(*key)) {
        complaints.extend(places.iter().map(|place| format!("{place}: [{key}] is not in docs/references.bib")));
    }

    let citations_in_code = cited.values().map(Vec::len).sum();
    Report { defined: defined.len(), cited: citations_in_code, papers: papers.len(), complaints }
}

fn definitions(theory: &[Text], complaints: &mut Vec<String>) -> BTreeMap<Tag, Place> {
    let mut defined: BTreeMap<Tag, Place> = BTreeMap::new();
    for text in theory {
        for (place, line) in displayed_lines(text) {
            let Some(tag) = tags::tag_at_end(line) else { continue };
            if let Some(first) = defined.get(&tag) {
                complaints.push(format!("{place}: {tag} is already defined at {first}"));
            } else {
                defined.insert(tag, place);
            }
        }
    }
    defined
}

/// The lines inside fenced, `$$` and indented blocks. A line `$$ … $$  [TAG-1]` is a block of its own.
fn displayed_lines(text: &Text) -> impl Iterator<Item = (Place, &str)> {
    let mut fenced = false;
    text.body.lines().enumerate().filter_map(move |(index, line)| {
        let start = line.trim_start();
        let one_line = start.strip_prefix("$$").is_some_and(|rest| rest.contains("$$"));
        let indented = line.starts_with("    ");
        // The closing line of a `$$` block may carry the tag, so it still counts as inside.
        let displayed = fenced || one_line || indented;
        if !one_line && (start.starts_with("```") || start.starts_with("$$")) {
            fenced = !fenced;
        }
        displayed.then(|| (format!("{}:{}", text.name, index + 1), line))
    })
}

fn citations<K: Ord>(texts: &[Text], find: impl Fn(&str) -> Vec<K>) -> BTreeMap<K, Vec<Place>> {
    let mut found: BTreeMap<K, Vec<Place>> = BTreeMap::new();
    for text in texts {
        for (index, line) in text.body.lines().enumerate() {
            for key in find(line) {
                found.entry(key).or_default().push(format!("{}:{}", text.name, index + 1));
            }
        }
    }
    found
}

fn bibliography_keys(bibliography: &str, complaints: &mut Vec<String>) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for (index, line) in bibliography.lines().enumerate().filter(|(_, line)| line.starts_with('@')) {
        let Some(key) = line.split_once('{').and_then(|(_, rest)| rest.split(',').next()) else { continue };
        if !keys.insert(key.trim().to_string()) {
            complaints.push(format!("docs/references.bib:{}: {} stands there twice", index + 1, key.trim()));
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::{Text, check};

    const THEORY: &str = "# Step\n\nBy [STEP-2] below:\n\n```\nM v = p   [STEP-1]\nJ v = 0   [STEP-2]\n```\n";
    const CODE: &str = "// Balance and constraint [STEP-1..2], after [Stewart1996, eq. 3].\nfn f() {}\n";
    const PAPERS: &str = "@inproceedings{Stewart1996,\n  title = {x},\n}\n";

    fn complaints(theory: &str, code: &str, papers: &str) -> Vec<String> {
        let text = |name: &str, body: &str| vec![Text { name: name.into(), body: body.into() }];
        let theory = text("t.md", theory);
        check(&theory, &theory, &text("c.rs", code), papers).complaints
    }

    #[test]
    fn agreement_passes() {
        assert_eq!(complaints(THEORY, CODE, PAPERS), Vec::<String>::new());
    }

    #[test]
    fn a_missing_tag_is_reported_with_its_place() {
        let code = format!("{CODE}/// See [STEP-9].\n");
        assert_eq!(complaints(THEORY, &code, PAPERS), ["c.rs:3: [STEP-9] is not defined in docs/theory"]);
    }

    #[test]
    fn a_tag_that_no_code_cites_is_reported() {
        let code = CODE.replace("[STEP-1..2]", "[STEP-1]");
        assert_eq!(complaints(THEORY, &code, PAPERS), ["t.md:7: [STEP-2] is cited nowhere in the code"]);
    }

    #[test]
    fn a_tag_defined_twice_is_reported() {
        let theory = THEORY.replace("[STEP-2]\n```", "[STEP-2]\nK v = 0 [STEP-1]\n```");
        assert_eq!(complaints(&theory, CODE, PAPERS), ["t.md:8: [STEP-1] is already defined at t.md:6"]);
    }

    #[test]
    fn tags_in_strings_are_not_citations() {
        let code = CODE.replace("[STEP-1..2]", "[STEP-1]") + "const S: &str = \"[STEP-2]\";\n";
        assert_eq!(complaints(THEORY, &code, PAPERS).len(), 1);
    }

    #[test]
    fn papers_must_be_in_the_bibliography_once() {
        assert_eq!(complaints(THEORY, CODE, ""), ["c.rs:1: [Stewart1996] is not in docs/references.bib"]);
        let twice = PAPERS.repeat(2);
        assert_eq!(complaints(THEORY, CODE, &twice), ["docs/references.bib:4: Stewart1996 stands there twice"]);
    }

    #[test]
    fn indented_blocks_display_too() {
        let theory = "Text:\n\n    M v = p   [STEP-1]\n    J v = 0   [STEP-2]\n\nmore, by [STEP-1]\n";
        assert_eq!(complaints(theory, CODE, PAPERS), Vec::<String>::new());
    }

    #[test]
    fn prose_does_not_define() {
        let theory = "Here stands [STEP-1]\nand here [STEP-2]\n";
        // Both tags are cited twice, once by the page and once by the code, and defined nowhere.
        assert_eq!(complaints(theory, CODE, PAPERS).len(), 4);
    }

    #[test]
    fn dollar_blocks_display_too() {
        let theory = "$$ M v = p $$ [STEP-1]\n\n$$\nJ v = 0   [STEP-2]\n$$\n";
        assert_eq!(complaints(theory, CODE, PAPERS), Vec::<String>::new());
    }
}
