//! `stiction view`: recorded runs in a browser, or as a page to keep; of the folder of a study its page.

mod server;
pub(crate) mod study;

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use stiction::record::{ViewLimits, view_page};

use crate::{arguments::ViewOptions, failure::Failure, layout, signals};
use server::Server;

/// More runs could not be told apart by their tints.
const MOST_RUNS: usize = 5;

pub(crate) fn run(options: &ViewOptions) -> Result<(), Failure> {
    if options.runs.len() > MOST_RUNS {
        let text = format!("{} runs at once, and {MOST_RUNS} can be told apart", options.runs.len());
        return Err(Failure::input(text).with_help("name fewer runs"));
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
            std::fs::write(path, &page)
                .map_err(|error| Failure::input(format!("cannot write {}: {error}", path.display())))?;
            layout::print_text(&format!("{}\n", path.display()))
        }
        None => serve(page, options),
    }
}

fn serve(page: String, options: &ViewOptions) -> Result<(), Failure> {
    let stop = signals::stop_on_signals()?;
    let server = Server::bind(options.port, page).map_err(|error| {
        Failure::input(format!("cannot serve on port {}: {error}", options.port))
            .with_help("leave --port out to have a free one chosen")
    })?;
    let address = server.address();
    layout::print_text(&format!("{address}\n"))?;
    eprintln!("Ctrl-C ends");
    if options.open
        && let Err(error) = open(&address)
    {
        eprintln!("no browser could be started ({error}); open the address above in one");
    }
    server.serve(&stop);
    Ok(())
}

/// Starts the program that this desktop opens addresses with.
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
