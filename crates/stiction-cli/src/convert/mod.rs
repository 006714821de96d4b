//! `stiction convert`: a robot as a scene file, a run as CSV or MCAP.

#[cfg(feature = "mcap")]
mod mcap;

use std::{
    ffi::OsStr,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use stiction::{
    record::{RunTables, Table},
    scene::{self, robot},
};

use crate::{arguments::ConvertOptions, failure::Failure, input, output};

pub(crate) fn run(options: &ConvertOptions) -> Result<(), Failure> {
    let (from, to) = (&options.from, &options.to);
    if from.is_dir() {
        return export(options);
    }
    input::ensure_robot(from, &options.robot)?;
    if ending_of(to).as_deref() != Some("toml") {
        return Err(Failure::input(format!("a scene or a robot cannot be written as {}", to.display()))
            .with_help("use .toml for it; the folder of a run can be written as .csv or .mcap"));
    }
    output::refuse_sources(to, [from.as_path()])?;
    let text = if robot::is_robot(from) {
        let made = scene::text_of(from, &options.robot.options())?;
        // Checks that the written scene can be read.
        scene::parse(&made.text, &to.display().to_string())?;
        input::list(&made.notes);
        made.text
    } else {
        scene::rewrite(from, &[])?
    };
    output::write_named(to, text)
}

/// Writes the tables of a run in another format.
fn export(options: &ConvertOptions) -> Result<(), Failure> {
    let (from, to) = (&options.from, &options.to);
    if let Some(option) = options.robot.given().first() {
        return Err(Failure::input(format!("`{option}` is for robots, and {} is a folder", from.display())));
    }
    let formats = "a run can be written as .csv, or as .mcap if the program was built with that feature";
    match ending_of(to).as_deref() {
        Some("csv") => {
            let tables = open(from)?;
            write_csv(&tables, Table::Trajectory, to)?;
            write_csv(&tables, Table::Contacts, &contacts_beside(to))
        }
        Some("mcap") => export_mcap(from, to),
        _ => Err(Failure::input(format!("a run cannot be written as {}", to.display())).with_help(formats)),
    }
}

fn ending_of(path: &Path) -> Option<String> {
    path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

fn open(folder: &Path) -> Result<RunTables, Failure> {
    let tables = RunTables::open(folder).map_err(|error| {
        Failure::input(error).with_help("a folder must be that of a run, with trajectory.parquet and contacts.parquet")
    })?;
    if tables.is_cut() {
        crate::layout::print_note(format_args!(
            "{} was truncated while it was written: the complete part is converted",
            folder.display()
        ));
    }
    Ok(tables)
}

/// Path `NAME.contacts.csv` for `NAME.csv`.
fn contacts_beside(path: &Path) -> PathBuf {
    path.with_extension("contacts.csv")
}

fn write_csv(tables: &RunTables, table: Table, path: &Path) -> Result<(), Failure> {
    let file = output::create(path)?;
    let mut out = BufWriter::new(file);
    tables.write_csv(table, &mut out).map_err(Failure::input)?;
    out.flush().map_err(|error| output::unwritable(path, &error))?;
    crate::layout::print_text(&format!("{}\n", path.display()))
}

#[cfg(feature = "mcap")]
fn export_mcap(from: &Path, to: &Path) -> Result<(), Failure> {
    mcap::write(&open(from)?, to)?;
    crate::layout::print_text(&format!("{}\n", to.display()))
}

#[cfg(not(feature = "mcap"))]
fn export_mcap(_: &Path, to: &Path) -> Result<(), Failure> {
    Err(Failure::input(format!("this program was built without support for {}", to.display()))
        .with_help("build it with `cargo build --release --features mcap`, or write .csv"))
}
