//! `cargo xtask check-licences`: every dependency may be used under a licence that `deny.toml` allows.
//!
//! Reads the licence expressions that `cargo tree` prints, so it needs no further tool. `cargo deny check`, where
//! installed, also knows advisories and sources; both read the same list.

use std::collections::BTreeSet;

use crate::stage::cargo;
use crate::tree;

/// Runs the check on this checkout.
pub(crate) fn run() -> Result<(), String> {
    let allowed = allowed(&tree::read(&tree::root().join("deny.toml"))?);
    let format = ["tree", "--workspace", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p}|{l}"];
    let output = cargo(&format).current_dir(tree::root()).output().map_err(|e| format!("cargo tree: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let packages: BTreeSet<(&str, &str)> =
        text.lines().map(|line| line.trim_end_matches(" (*)")).filter_map(|line| line.split_once('|')).collect();
    let refused: Vec<_> = packages.iter().filter(|(_, licence)| !is_allowed(licence, &allowed)).collect();
    for (package, licence) in &refused {
        eprintln!("{package}: licence \"{licence}\" is not allowed by deny.toml");
    }
    println!("{} packages, {} licences allowed", packages.len(), allowed.len());
    if refused.is_empty() { Ok(()) } else { Err(format!("check-licences: {} package(s) refused", refused.len())) }
}

/// The quoted words of the `allow` list.
fn allowed(deny: &str) -> BTreeSet<String> {
    let list = deny.split("allow = [").nth(1).and_then(|rest| rest.split("\n]").next()).unwrap_or_default();
    list.lines().filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

/// True if one alternative of an SPDX expression needs only allowed licences. Parentheses group; AND binds before OR; an
/// old-style slash is an OR.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ");
    if let Some((open, close)) = innermost(&expression) {
        // A group is replaced by a word that stands for its verdict.
        let verdict = if is_allowed(&expression[open + 1..close], allowed) { "(yes)" } else { "(no)" };
        let verdict = verdict.trim_matches(['(', ')']);
        let flat = format!("{}{verdict}{}", &expression[..open], &expression[close + 1..]);
        return is_allowed(&flat, allowed);
    }
    let known = |word: &str| word == "yes" || allowed.contains(word);
    let alternative = |part: &str| !part.trim().is_empty() && part.split(" AND ").all(|word| known(word.trim()));
    expression.split(" OR ").any(alternative)
}

/// The first group without a group inside.
fn innermost(expression: &str) -> Option<(usize, usize)> {
    let close = expression.find(')')?;
    Some((expression[..close].rfind('(')?, close))
}

#[cfg(test)]
mod tests {
    use super::{allowed, is_allowed};

    #[test]
    fn expressions_are_read_as_spdx_means_them() {
        let list = allowed("allow = [\n    \"MIT\",\n    \"Zlib\",   # why\n]\nother = [\n    \"GPL-3.0\",\n]\n");
        assert_eq!(list.len(), 2);
        for good in ["MIT", "MIT OR GPL-3.0", "GPL-3.0/MIT", "(MIT OR GPL-3.0) AND Zlib", "MIT AND Zlib"] {
            assert!(is_allowed(good, &list), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-3.0", "MIT-0"] {
            assert!(!is_allowed(bad, &list), "{bad}");
        }
    }
}
