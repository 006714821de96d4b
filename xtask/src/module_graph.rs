//! Imports between the modules of a crate, and the circles they form.
//!
//! Modules are compared with their siblings only: those directly below `src`, and those of one folder. A mention of
//! `crate::a::b::C` in `crate::a::d` is an edge from `d` to `b` on the level `a`. A child that uses its parent, or a parent its
//! child, is no edge. What `lib.rs` or the `mod.rs` of a common folder re-exports is followed to the module that it comes from.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::rust_paths::{self, Mention};

/// Names of nested modules, outermost first; empty for the root of the crate.
pub(crate) type ModulePath = Vec<String>;

/// A file of a crate.
pub(crate) struct Source {
    pub(crate) module: ModulePath,
    /// Name of the file in reports.
    pub(crate) file: String,
    /// Code without comments, literals and tests.
    pub(crate) code: String,
}

/// Use of an item of a sibling module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: String,
    pub(crate) to: String,
    /// Path inside `to` as far as its first type; `self` for the module itself.
    pub(crate) item: String,
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// Strongly connected modules of one level.
pub(crate) struct Circle {
    pub(crate) members: BTreeSet<String>,
    /// Edges between members, sorted.
    pub(crate) edges: Vec<Edge>,
}

/// The module of a file given by its path below `src`.
pub(crate) fn module_of(below_src: &str) -> ModulePath {
    let parts = below_src.trim_end_matches(".rs").split('/');
    parts.filter(|part| !matches!(*part, "lib" | "main" | "mod")).map(str::to_owned).collect()
}

/// The circles of a crate by level; levels without circles are left out.
pub(crate) fn circles(sources: &[Source]) -> BTreeMap<ModulePath, Vec<Circle>> {
    let levels = levels(sources);
    let found = levels.into_iter().map(|(level, edges)| (level, circles_of_level(&edges)));
    found.filter(|(_, circles)| !circles.is_empty()).collect()
}

/// The shortest way round, as a list of modules; the first of several in the order of names.
pub(crate) fn smallest_cycle(circle: &Circle) -> Vec<String> {
    let neighbours = neighbours(&circle.edges);
    let cycles = circle.members.iter().filter_map(|start| shortest_way_back(start, &neighbours));
    cycles.min_by_key(Vec::len).unwrap_or_default()
}

/// The modules of a crate and the names that each imports.
#[derive(Default)]
struct Modules(BTreeMap<ModulePath, BTreeMap<String, Vec<String>>>);

impl Modules {
    fn add(&mut self, module: &[String], mention: &Mention) {
        let names = self.0.entry(module.to_vec()).or_default();
        if let Some(name) = &mention.imported_as {
            names.insert(name.clone(), mention.segments.clone());
        }
    }

    /// The first module on a path that is neither `from` nor around it, and the item that the rest names.
    ///
    /// Nothing for paths that end before, and for those of other crates.
    fn destination(&self, from: &[String], segments: &[String]) -> Option<(ModulePath, String)> {
        /// Longer ways through imports are names that import themselves from another crate.
        const LONGEST_WAY: usize = 50;
        let mut at = from.to_vec();
        let mut rest = segments.to_vec();
        for _ in 0..LONGEST_WAY {
            let (first, behind) = rest.split_first()?;
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => _ = at.pop()?,
                name => {
                    let child = [&at, std::slice::from_ref(first)].concat();
                    if !self.0.contains_key(&child) {
                        rest = [self.0.get(&at)?.get(name)?, behind].concat();
                        continue;
                    }
                    at = child;
                }
            }
            if !from.starts_with(&at) {
                return Some((at, item(behind)));
            }
            rest = behind.to_vec();
        }
        None
    }
}

/// A path as far as its first type, so that `Type::function` and `Type` are the same item.
fn item(path: &[String]) -> String {
    let is_type = |name: &String| name.starts_with(char::is_uppercase);
    let end = path.iter().position(is_type).map_or(path.len(), |at| at + 1);
    if path.is_empty() { "self".to_owned() } else { path[..end].join("::") }
}

/// The edges of every level, without repetitions of an item in a file.
fn levels(sources: &[Source]) -> BTreeMap<ModulePath, Vec<Edge>> {
    let mut modules = Modules::default();
    let mut mentions = Vec::new();
    for source in sources {
        modules.0.entry(source.module.clone()).or_default();
        for mention in rust_paths::mentions(&source.code) {
            let module = [source.module.clone(), mention.inside.clone()].concat();
            modules.add(&module, &mention);
            mentions.push((source, module, mention));
        }
    }
    let mut levels: BTreeMap<ModulePath, Vec<Edge>> = BTreeMap::new();
    for (source, module, mention) in mentions {
        let Some((mut level, item)) = modules.destination(&module, &mention.segments) else { continue };
        let (Some(to), Some(from)) = (level.pop(), module.get(level.len())) else { continue };
        let edge = Edge { from: from.clone(), to, item, file: source.file.clone(), line: mention.line };
        levels.entry(level).or_default().push(edge);
    }
    for edges in levels.values_mut() {
        edges.sort();
        edges.dedup_by(|a, b| (&a.from, &a.to, &a.item, &a.file) == (&b.from, &b.to, &b.item, &b.file));
    }
    levels
}

type Neighbours<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn neighbours(edges: &[Edge]) -> Neighbours<'_> {
    let mut found = Neighbours::new();
    for edge in edges {
        found.entry(&edge.from).or_default().insert(&edge.to);
    }
    found
}

fn circles_of_level(edges: &[Edge]) -> Vec<Circle> {
    let neighbours = neighbours(edges);
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        neighbours.keys().map(|start| (*start, reachable(start, &neighbours))).collect();
    let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|seen| seen.contains(to));
    let mut found: Vec<Circle> = Vec::new();
    for &start in reach.keys() {
        if !reaches(start, start) || found.iter().any(|circle| circle.members.contains(start)) {
            continue;
        }
        let members: BTreeSet<String> =
            reach[start].iter().filter(|to| reaches(to, start)).map(|&name| name.to_owned()).collect();
        let inside = |edge: &&Edge| members.contains(&edge.from) && members.contains(&edge.to);
        let edges = edges.iter().filter(inside).cloned().collect();
        found.push(Circle { members, edges });
    }
    found
}

/// Modules that a path of at least one edge leads to.
fn reachable<'a>(start: &'a str, neighbours: &Neighbours<'a>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut pending: Vec<&str> = vec![start];
    while let Some(next) = pending.pop() {
        pending.extend(neighbours.get(next).into_iter().flatten().copied().filter(|to| seen.insert(*to)));
    }
    seen
}

fn shortest_way_back(start: &str, neighbours: &Neighbours) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut pending = VecDeque::from([vec![start]]);
    while let Some(way) = pending.pop_front() {
        for &next in way.last().and_then(|last| neighbours.get(last)).into_iter().flatten() {
            if next == start {
                return Some(way.into_iter().map(str::to_owned).collect());
            }
            if seen.insert(next) {
                pending.push_back([way.as_slice(), &[next]].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Source, circles, levels, module_of, smallest_cycle};
    use crate::rust_items::shipped_code;

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        let source = |&(file, text): &(&str, &str)| Source {
            module: module_of(file),
            file: file.to_owned(),
            code: shipped_code(text),
        };
        files.iter().map(source).collect()
    }

    /// Edges as `level: from > to item line`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let of_level = levels(&sources(files)).into_iter();
        of_level
            .flat_map(|(level, edges)| {
                let level = level.join("::");
                edges.into_iter().map(move |e| format!("{level}: {} > {} {} {}", e.from, e.to, e.item, e.line))
            })
            .collect()
    }

    #[test]
    fn exports_of_the_root_lead_to_the_module_that_defines_them() {
        let found = edges(&[
            (
                "lib.rs",
                "mod a; mod b; mod c;\npub use a::{A, deep::D as E};\npub use nalgebra::Vector3;\npub struct Root;",
            ),
            ("a/mod.rs", "pub mod deep;\npub struct A;"),
            ("a/deep.rs", "pub struct D;"),
            ("b.rs", "use crate::{A, E, Root, Vector3};\nfn f() { crate::c::g(); A::new(); nalgebra::x() }"),
            ("c.rs", "use std::fmt;\nuse crate::a;\nfn g() { a::deep::D::new() }\nuse fmt;"),
        ]);
        assert_eq!(found, [": b > a A 1", ": b > a deep::D 1", ": b > c g 2", ": c > a deep::D 3", ": c > a self 2"]);
    }

    #[test]
    fn parents_are_resolved_and_siblings_compared_on_their_level() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod p; mod q;\nuse crate::b::B;\npub(crate) use q::Q;\nmod inner { use super::super::b::C; }"),
            ("a/p.rs", "use super::{B, Q, super::b::D};\nfn f() { super::super::b::E::new(); super::own() }"),
            ("a/q.rs", "#[cfg(test)]\nmod tests { use super::super::p::X; }"),
            ("b.rs", ""),
        ]);
        assert_eq!(found, [": a > b B 2", ": a > b B 1", ": a > b C 4", ": a > b D 1", ": a > b E 2", "a: p > q Q 1"]);
    }

    #[test]
    fn circles_and_the_shortest_way_round() {
        let files = sources(&[
            ("lib.rs", ""),
            ("a.rs", "use crate::b::X;"),
            ("b.rs", "use crate::c::X;\nuse crate::e::X;"),
            ("c.rs", "use crate::a::X;\nuse crate::d::X;"),
            ("d.rs", "use crate::c::Y;"),
            ("e.rs", ""),
        ]);
        let found = circles(&files);
        let circle = &found[&Vec::new()][0];
        assert_eq!(
            (found.len(), circle.members.iter().map(String::as_str).collect::<Vec<_>>()),
            (1, vec!["a", "b", "c", "d"])
        );
        assert_eq!(smallest_cycle(circle), ["c", "d"]);
        assert_eq!(circle.edges.len(), 5);
    }
}
