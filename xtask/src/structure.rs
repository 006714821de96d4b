//! `cargo xtask structure`: structs, imports, parameters and calls that a reader cannot follow.
//!
//! Four limits: fields of a struct; in the numerical crates, modules that import each other in a circle and parameters of a
//! function; calls from `Simulation::step` to the inner loop, as ARCHITECTURE.md lists them. `xtask/structure.txt` lists what is
//! allowed to exceed a limit, with its present size. The list only shrinks: a larger size, a new entry and an entry
//! without need fail. Tests do not count.

use std::collections::BTreeMap;
use std::path::Path;

use crate::module_graph::{self, Circle, Source};
use crate::rust_items;
use crate::tree;

/// The crates whose imports and parameters are limited.
const NUMERICAL: [&str; 7] = [
    "stiction-complementarity",
    "stiction-geometry",
    "stiction-multibody",
    "stiction-options",
    "stiction-stepping",
    "stiction-schemes",
    "stiction-sensitivity",
];

/// Most fields of a struct.
const FIELDS: usize = 25;
/// Most parameters of a function, elements of tuples included.
const PARAMETERS: usize = 7;
/// Most calls from `Simulation::step` to the inner loop.
const CALLS: usize = 7;

/// The list of exceptions, from the root of the checkout.
const EXCEPTIONS: &str = "xtask/structure.txt";

/// Amount of detail in the report.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Detail {
    /// One shortest way round for each circle.
    Cycles,
    /// All imports inside the circles.
    Edges,
}

/// Thing beyond a limit.
struct Excess {
    size: usize,
    /// Its file and line, or the modules of a circle.
    place: String,
}

/// Things beyond a limit by kind, crate and name, as the list of exceptions spells them.
type Excesses = BTreeMap<String, Excess>;

/// Runs the check on this checkout.
pub(crate) fn run(detail: Detail) -> Result<(), String> {
    let root = tree::root();
    let mut excesses = Excesses::new();
    let (mut structs, mut functions) = (0, 0);
    for package in tree::children(&root.join("crates"))? {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        let sources = sources(&package.join("src"))?;
        for source in &sources {
            structs += measure_structs(&name, source, &mut excesses);
        }
        if !NUMERICAL.contains(&name.as_ref()) {
            continue;
        }
        for source in &sources {
            functions += measure_functions(&name, source, &mut excesses);
        }
        for (level, circles) in module_graph::circles(&sources) {
            let name = [&[name.to_string()], level.as_slice()].concat().join("::");
            measure_circles(&name, &circles, &mut excesses);
            for circle in &circles {
                print_circle(&name, circle, detail);
            }
        }
    }
    let allowed = read_exceptions(&tree::read(&root.join(EXCEPTIONS))?)?;
    let mut failures = judge(&excesses, &allowed);
    failures.extend(check_calls(&root)?);
    for failure in &failures {
        eprintln!("{failure}");
    }
    println!("{structs} structs, {functions} functions of the numerical crates, {} exceptions", allowed.len());
    if failures.is_empty() { Ok(()) } else { Err(format!("structure: {} failed", failures.len())) }
}

/// The files of a crate without its tests.
fn sources(folder: &Path) -> Result<Vec<Source>, String> {
    let below = format!("{}/", tree::relative(folder));
    let paths = tree::files(folder, "rs")?;
    let read = |path: &std::path::PathBuf| {
        let file = tree::relative(path);
        let module = module_graph::module_of(file.strip_prefix(&below).unwrap_or(&file));
        Ok(Source { module, file, code: rust_items::shipped_code(&tree::read(path)?) })
    };
    paths.iter().filter(|path| !rust_items::is_test_file(path)).map(read).collect()
}

/// Adds the structs beyond the limit; returns the number of all.
fn measure_structs(package: &str, source: &Source, excesses: &mut Excesses) -> usize {
    let structs = rust_items::structs(&source.code);
    for found in structs.iter().filter(|found| found.fields > FIELDS) {
        let place = format!("{}:{}", source.file, found.line);
        add(excesses, format!("fields {package} {}", found.name), found.fields, place);
    }
    structs.len()
}

/// Adds the functions with parameters beyond the limit; returns the number of all.
fn measure_functions(package: &str, source: &Source, excesses: &mut Excesses) -> usize {
    let functions = rust_items::functions(&source.code);
    for found in functions.iter().filter(|found| found.parameters > PARAMETERS) {
        let place = format!("{}:{}", source.file, found.line);
        add(excesses, format!("parameters {package} {}", found.name), found.parameters, place);
    }
    functions.len()
}

/// Adds the modules of a level that lie in a circle.
fn measure_circles(name: &str, circles: &[Circle], excesses: &mut Excesses) {
    let members: Vec<&str> = circles.iter().flat_map(|circle| &circle.members).map(String::as_str).collect();
    add(excesses, format!("circle {name}"), members.len(), members.join(", "));
}

/// Of several things with one name the largest counts.
fn add(excesses: &mut Excesses, key: String, size: usize, place: String) {
    if excesses.get(&key).is_none_or(|known| known.size < size) {
        excesses.insert(key, Excess { size, place });
    }
}

fn print_circle(name: &str, circle: &Circle, detail: Detail) {
    let members: Vec<&str> = circle.members.iter().map(String::as_str).collect();
    println!("{name}: {} modules import each other in a circle: {}", members.len(), members.join(", "));
    let way = module_graph::smallest_cycle(circle);
    println!("  shortest way round: {} > {}", way.join(" > "), way.first().map_or("", String::as_str));
    let next = |from: &str| way.iter().position(|name| name == from).map(|at| &way[(at + 1) % way.len()]);
    for edge in &circle.edges {
        if detail == Detail::Edges || next(&edge.from) == Some(&edge.to) {
            println!("    {} > {}: {}   {}:{}", edge.from, edge.to, edge.item, edge.file, edge.line);
        }
    }
}

/// Reads lines of a key and a size; `#` starts a comment.
fn read_exceptions(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
    {
        let wrong = |what| format!("{EXCEPTIONS}:{}: {what}: {line}", number + 1);
        let (key, size) = line.trim_end().rsplit_once(' ').ok_or_else(|| wrong("not a name and a size"))?;
        let size = size.parse().map_err(|_| wrong("the size is no number"))?;
        if found.last_key_value().is_some_and(|(last, _)| last.as_str() >= key) {
            return Err(wrong("not in the order of names"));
        }
        found.insert(key.to_owned(), size);
    }
    Ok(found)
}

/// Compares with the list of exceptions; returns what fails.
fn judge(excesses: &Excesses, allowed: &BTreeMap<String, usize>) -> Vec<String> {
    let mut failures = Vec::new();
    for (key, Excess { size, place }) in excesses {
        match allowed.get(key) {
            None => failures.push(format!("{key}: {size} is beyond the limit: {place}")),
            Some(known) if size > known => failures.push(format!("{key}: grew from {known} to {size}: {place}")),
            Some(known) if size < known => println!("{key}: shrank; write {size} for {known} in {EXCEPTIONS}"),
            Some(_) => {}
        }
    }
    let needless = allowed.keys().filter(|key| !excesses.contains_key(*key));
    failures.extend(needless.map(|key| format!("{key}: within the limit now; remove it from {EXCEPTIONS}")));
    failures
}

/// Checks the calls that ARCHITECTURE.md lists; returns what fails.
fn check_calls(root: &Path) -> Result<Vec<String>, String> {
    let Some(calls) = read_calls(&tree::read(&root.join("ARCHITECTURE.md"))?) else {
        println!("no table of calls yet");
        return Ok(Vec::new());
    };
    let mut failures = Vec::new();
    for (place, Call { function, file }) in calls.iter().enumerate() {
        let code = tree::read(&root.join(file)).map(|source| rust_items::shipped_code(&source)).unwrap_or_default();
        if !rust_items::defines_function(&code, function) {
            failures.push(format!("ARCHITECTURE.md: there is no function `{function}` in {file}"));
        } else if let Some(next) = calls.get(place + 1)
            && !rust_items::calls(&code, function, &next.function)
        {
            failures.push(format!("ARCHITECTURE.md: `{function}` in {file} does not call `{}`", next.function));
        }
    }
    if calls.len() > CALLS {
        failures.push(format!("ARCHITECTURE.md: {} calls from a step to its inner loop, at most {CALLS}", calls.len()));
    }
    println!("{} calls from a step to its inner loop", calls.len());
    Ok(failures)
}

/// Row of the table of calls.
#[derive(Debug, PartialEq)]
struct Call {
    /// Name without its type and module.
    function: String,
    file: String,
}

/// The first table with a column `call` and a column `file`. Names and files stand in backticks.
fn read_calls(text: &str) -> Option<Vec<Call>> {
    let mut lines = text.lines();
    let (call, file) = lines.find_map(|line| {
        let heads = cells(line)?;
        let column = |name| heads.iter().position(|head| *head == name);
        Some((column("call")?, column("file")?))
    })?;
    let rows = lines.map_while(cells).filter(|row| !row.iter().all(|cell| cell.starts_with(['-', ':'])));
    let read = |row: Vec<&str>| {
        let quoted = |column: usize| row.get(column).and_then(|cell| cell.split('`').nth(1)).unwrap_or_default();
        let path = quoted(call).split(['(', '<']).next().unwrap_or_default();
        Call { function: path.rsplit(':').next().unwrap_or_default().to_owned(), file: quoted(file).to_owned() }
    };
    Some(rows.map(read).collect())
}

/// The cells of a line of a table.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?;
    Some(inside.strip_suffix('|').unwrap_or(inside).split('|').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Excess, Excesses, judge, read_calls, read_exceptions};

    #[test]
    fn the_list_only_shrinks() {
        let allowed =
            read_exceptions("# Head.\n\ncircle a 3\nfields a Big 30\nfields a Gone 26\nfields a Less 40\n").unwrap();
        let size = |size| Excess { size, place: "x.rs:1".into() };
        let found: Excesses = [("circle a", 3), ("fields a Big", 31), ("fields a Less", 39), ("fields a New", 26)]
            .map(|(key, value)| (key.to_string(), size(value)))
            .into();
        let expected = [
            "fields a Big: grew from 30 to 31: x.rs:1",
            "fields a New: 26 is beyond the limit: x.rs:1",
            "fields a Gone: within the limit now; remove it from xtask/structure.txt",
        ];
        assert_eq!(judge(&found, &allowed), expected);
        assert_eq!(judge(&Excesses::new(), &BTreeMap::new()), [""; 0]);
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(read_exceptions("b 1\na 1\n").is_err());
        assert!(read_exceptions("a 1\na 2\n").is_err());
        assert!(read_exceptions("a many\n").is_err());
        assert!(read_exceptions("a\n").is_err());
    }

    #[test]
    fn calls_are_read_from_their_table() {
        let text = "| term | file |\n|---|---|\n| a | `b` |\n\n| call | does | file |\n|---|:--|---|\n\
                    | `Simulation::step(…)` | all | `a/b.rs` |\n| `solve` | `x` | `c.rs` |\nend\n| `not` | | `this` |\n";
        let calls = read_calls(text).unwrap();
        let found: Vec<_> = calls.iter().map(|call| (call.function.as_str(), call.file.as_str())).collect();
        assert_eq!(found, [("step", "a/b.rs"), ("solve", "c.rs")]);
        assert_eq!(read_calls("| term | file |\n"), None);
    }
}
