//! The page that shows runs: built from `viewer/`, compared byte by byte with the one in the crate, tried out in a browser.
//!
//! Everything lies below the target directory. Without npm or Chromium the stages are skipped, unless nothing may be.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::program::Source;
use crate::stage::{Stages, execute, silently};
use crate::tree;

/// The built page, which `cargo run` needs without npm.
const PAGE: &str = "crates/stiction/src/record/view/viewer.html";

/// Sources of the viewer that are built and tested.
const PARTS: [&str; 6] = ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "src"];

/// The oldest Node that the tools of the viewer run on.
const NODE: (u32, u32) = (20, 19);

/// Chromium under its names.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Comparison with the committed files, or their replacement.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Purpose {
    Check,
    Write,
}

/// Enters the two stages: the page, and the page in a browser.
pub(crate) fn stages(stages: &mut Stages, in_ci: bool, purpose: Purpose, program: Source) {
    let names = ["viewer", "viewer in a browser"];
    let workshop = match Workshop::open() {
        Ok(workshop) => workshop,
        Err(reason) if in_ci => return stages.run(names[0], || Err(reason)),
        Err(reason) => return names.iter().for_each(|name| stages.skip(name, &reason)),
    };
    stages.run(names[0], || workshop.page(purpose));
    match browser() {
        Some(browser) => stages.run(names[1], || workshop.browse(&browser, purpose, &program()?)),
        None if in_ci => stages.run(names[1], || Err("CI=true, but there is no Chromium".into())),
        None => stages.skip(names[1], "enable with: apt-get install chromium"),
    }
}

/// A copy of the viewer with its tools installed.
struct Workshop {
    folder: PathBuf,
    /// Search path of programs: a Node that is new enough comes first.
    path: std::ffi::OsString,
}

impl Workshop {
    fn open() -> Result<Self, String> {
        let folder = tree::target_directory().join("xtask/viewer");
        let source = tree::root().join("viewer");
        for part in PARTS.iter().chain(&["tests"]) {
            renew(&source.join(part), &folder.join(part))?;
        }
        let workshop = Self { folder, path: path_with_node()? };
        workshop.install()?;
        Ok(workshop)
    }

    /// Installs what the lock file names, unless that was done.
    fn install(&self) -> Result<(), String> {
        let (lock, done) = (self.folder.join("package-lock.json"), self.folder.join("node_modules/installed.json"));
        let wanted = tree::read(&lock)?;
        if fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        silently(self.npm(&["ci", "--no-audit", "--no-fund"]).env("npm_config_engine_strict", "false"))
            .map_err(|reason| format!("npm cannot install the tools of the viewer: is there a network? ({reason})"))?;
        fs::write(&done, wanted).map_err(|error| error.to_string())
    }

    fn npm(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("npm");
        command.arg("--prefix").arg(&self.folder).args(arguments).env("PATH", &self.path);
        command
    }

    fn script(&self, name: &str) -> Command {
        self.npm(&["run", "--silent", name])
    }

    /// Checks types, runs the unit tests, builds, and compares with the committed page.
    fn page(&self, purpose: Purpose) -> Result<(), String> {
        for script in ["types", "unit", "build"] {
            silently(&mut self.script(script)).map_err(|reason| format!("{script}: {reason}"))?;
            println!("npm run {script}: done");
        }
        let built = fs::read(self.folder.join("dist/index.html")).map_err(|error| error.to_string())?;
        let committed = tree::root().join(PAGE);
        if purpose == Purpose::Write {
            fs::write(&committed, &built).map_err(|error| format!("cannot write {PAGE}: {error}"))?;
        }
        println!("{PAGE}: {} kB", built.len() / 1000);
        if fs::read(&committed).is_ok_and(|bytes| bytes == built) {
            Ok(())
        } else {
            Err(format!("{PAGE} is not what viewer/ builds; keep what it builds with: cargo xtask viewer --write"))
        }
    }

    /// Makes runs with the program and opens them in the browser.
    fn browse(&self, browser: &Path, purpose: Purpose, program: &Path) -> Result<(), String> {
        let mut command = self.script("browser");
        command.env("STICTION_PROGRAM", program).env("CHROMIUM", browser);
        command.env("STICTION_SCENES", tree::root().join("scenes")).env("STICTION_OUT", self.folder.join("out"));
        if purpose == Purpose::Write {
            command.env("STICTION_PICTURES", "write");
        }
        execute(&mut command)?;
        if purpose == Purpose::Write {
            renew(&self.folder.join("tests/pictures"), &tree::root().join("viewer/tests/pictures"))?;
        }
        Ok(())
    }
}

/// Replaces a file or a folder by a copy of another.
fn renew(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot copy {}: {error}", tree::relative(from));
    if from.is_dir() {
        let _ = fs::remove_dir_all(to);
        fs::create_dir_all(to).map_err(failed)?;
        for child in tree::children(from)? {
            renew(&child, &to.join(child.file_name().unwrap_or_default()))?;
        }
        return Ok(());
    }
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::copy(from, to).map(drop).map_err(failed)
}

/// The places of programs, after that of a Node that is new enough: the one that is there, or one that npm fetches.
fn path_with_node() -> Result<std::ffi::OsString, String> {
    const ENABLE: &str = "enable with: apt-get install nodejs npm";
    let usual = env::var_os("PATH").unwrap_or_default();
    let version = |program: &Path| {
        let output = Command::new(program).arg("--version").output().ok()?;
        version_of(&String::from_utf8_lossy(&output.stdout))
    };
    let found = version(Path::new("node")).ok_or(ENABLE)?;
    silently(Command::new("npm").arg("--version")).map_err(|_| ENABLE)?;
    if found >= NODE {
        return Ok(usual);
    }
    let folder = tree::target_directory().join("xtask/node");
    let programs = folder.join("node_modules/node/bin");
    if version(&programs.join("node")).is_none_or(|version| version < NODE) {
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        silently(Command::new("npm").arg("--prefix").arg(&folder).args([
            "install",
            "--no-audit",
            "--no-fund",
            "node@20",
        ]))
        .map_err(|reason| {
            format!("Node {}.{} or newer is needed, and npm cannot fetch it ({reason})", NODE.0, NODE.1)
        })?;
    }
    env::join_paths(std::iter::once(programs).chain(env::split_paths(&usual))).map_err(|error| error.to_string())
}

/// The first two numbers of a version such as `v20.19.4`.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().trim_start_matches('v').split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The browser that `CHROMIUM` names, or the first that is installed.
fn browser() -> Option<PathBuf> {
    let named = env::var_os("CHROMIUM").filter(|name| !name.is_empty()).map(PathBuf::from);
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let mut installed = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    named.or_else(|| installed.find(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_node_are_read() {
        assert_eq!(version_of("v20.19.4\n"), Some((20, 19)));
        assert_eq!(version_of("18.20"), Some((18, 20)));
        assert_eq!(version_of("none"), None);
        assert!(version_of("v20.9.0") < Some(NODE) && version_of("v22.1.0") > Some(NODE));
    }
}
