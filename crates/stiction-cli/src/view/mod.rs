//! `stiction view`: shows recorded runs in a browser, or writes the page; for the folder of a study, its page.

mod server;
pub(crate) mod study;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use stiction::record::{Recorder, ViewLimits, view_page};

use crate::{arguments::ViewOptions, failure::Failure, layout, output, signals};
use server::Server;

/// Largest number of runs; more could not be distinguished by colour.
const MOST_RUNS: usize = 5;

/// Files of a run that a page is made of: its tables and its summary, but not its page.
const TABLES: usize = 3;

pub(crate) fn run(options: &ViewOptions) -> Result<(), Failure> {
    if options.runs.len() > MOST_RUNS {
        let text = format!("{} runs given, at most {MOST_RUNS} can be shown together", options.runs.len());
        return Err(Failure::input(text).with_help("name fewer runs"));
    }
    if let Some(path) = &options.export {
        let tables = options.runs.iter().flat_map(|folder| Recorder::files(folder).into_iter().take(TABLES));
        let tables: Vec<PathBuf> = tables.collect();
        output::refuse_sources(path, tables.iter().map(PathBuf::as_path))?;
    }
    let folders: Vec<&Path> = options.runs.iter().map(PathBuf::as_path).collect();
    let page = match folders.as_slice() {
        [folder] if study::is_study(folder) => study::page(folder)?,
        folders => view_page(folders, &ViewLimits::default()).map_err(|error| {
            Failure::input(error).with_help("`stiction run SCENE --out DIR` makes a folder that can be viewed")
        })?,
    };
    match &options.export {
        Some(path) => {
            output::write_named(path, &page)?;
            layout::print_text(&format!("{}\n", path.display()))
        }
        None => serve(page, options),
    }
}

fn serve(page: String, options: &ViewOptions) -> Result<(), Failure> {
    let stop = signals::stop_on_signals()?;
    let server = Server::bind(options.port, page).map_err(|error| {
        Failure::input(format!("cannot serve on port {}: {error}", options.port))
            .with_help("remove --port to use a free one")
    })?;
    let address = server.address();
    layout::print_text(&format!("{address}\n"))?;
    crate::layout::print_note("Ctrl-C ends");
    if options.open
        && let Err(error) = open(&address)
    {
        crate::layout::print_note(format_args!("no browser could be started ({error}); open the address above in one"));
    }
    server.serve(&stop);
    Ok(())
}

/// Starts the program that opens addresses on this desktop.
fn open(address: &str) -> std::io::Result<()> {
    let (program, first): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let quiet = || Stdio::null();
    Command::new(program).args(first).arg(address).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().map(drop)
}
