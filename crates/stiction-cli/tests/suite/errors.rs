//! Error messages for invalid input.

use std::fs;

use crate::program::{call, folder, scene};

#[test]
fn a_typing_error_is_shown_with_its_place_and_a_suggestion() {
    let folder = folder("error-typo");
    let text = fs::read_to_string(scene("falling_rod")).expect("scene").replace("friction = 0.6", "frction = 0.6");
    let line = text.lines().position(|line| line.starts_with("frction")).expect("the line") + 1;
    fs::write(folder.join("typo.toml"), text).expect("scene");
    for command in ["run", "check"] {
        let call = call(&folder, &[command, "typo.toml"]).expect(2);
        for part in [
            format!("typo.toml:{line}:1"),
            "`frction`".into(),
            "did you mean `friction`".into(),
            "frction = 0.6".into(),
        ] {
            assert!(call.stderr.contains(&part), "{part} in\n{}", call.stderr);
        }
        assert_eq!(call.stdout, "");
    }
    assert!(!folder.join("out").exists(), "nothing is written for a scene that cannot be read");
}

#[test]
fn bad_values_and_bad_usage_exit_with_2() {
    let (folder, rod) = (folder("error-usage"), scene("falling_rod"));
    let cases: [&[&str]; 9] = [
        &["run", "missing.toml"],
        &["run", &rod, "--set", "body.rod.mass=-1.0"],
        &["run", &rod, "--set", "body.rod.mas=1.0"],
        &["run", &rod, "--set", "nonsense"],
        &["run", &rod, "--step", "0"],
        &["run", &rod, "--step", "NaN"],
        &["run", &rod, "--preset", "unheard-of"],
        &["solve", "missing.json"],
        &["bench", "unheard-of"],
    ];
    for arguments in cases {
        let call = call(&folder, arguments).expect(2);
        assert!(!call.stderr.is_empty() && call.stdout.is_empty(), "{arguments:?}");
        assert!(!call.stderr.contains("panicked"), "{arguments:?}: {}", call.stderr);
    }
    let call = call(&folder, &["run", &rod, "--set", "body.rod.mass=-1.0"]);
    assert!(call.stderr.contains("mass") && call.stderr.contains("--set"), "{}", call.stderr);
}

#[test]
fn options_are_blamed_by_their_own_name() {
    let (folder, rod) = (folder("error-blame"), scene("falling_rod"));
    for (option, value, part) in [
        ("--step", "-0.1", "the `step` must be from 1e-9 to 10 seconds, but is -0.1"),
        ("--duration", "-1", "the `duration` must be positive, but is -1"),
        ("--record-every", "-2", "`record_every` is -2"),
        ("--preset", "unheard-of", "`preset` must be one of"),
    ] {
        let call = call(&folder, &["run", &rod, option, value]).expect(2);
        assert!(call.stderr.contains(&format!("{option}: ")) && call.stderr.contains(part), "{}", call.stderr);
        assert!(!call.stderr.contains("--set"), "{}", call.stderr);
    }
}

#[test]
fn unknown_commands_are_refused() {
    let call = call(&folder("error-command"), &["nonsense"]).expect(2);
    assert!(call.stderr.contains("unrecognized subcommand"), "{}", call.stderr);
}

#[test]
fn an_unwritable_folder_is_a_clean_error() {
    let folder = folder("error-folder");
    fs::write(folder.join("taken"), "a file where a folder should be").expect("file");
    let call = call(&folder, &["run", &scene("falling_rod"), "--out", "taken"]).expect(2);
    assert!(call.stderr.contains("cannot write taken") && call.stderr.contains("--out"), "{}", call.stderr);
    assert_eq!(call.stdout, "");
}

#[test]
fn a_file_that_is_not_there_or_of_another_kind_gets_a_way_out() {
    let folder = folder("wrong-files");
    std::fs::copy(scene("falling_rod"), folder.join("rod.toml")).expect("a copy");
    std::fs::write(folder.join("slide.toml"), "[study]\nkind = \"monte-carlo\"\n").expect("a study");
    std::fs::write(folder.join("unknown.toml"), "[simulation]\nstep = 0.1\n").expect("a scene");
    for (arguments, parts) in [
        (["run", "rid.toml"], ["rid.toml: cannot be opened", "did you mean `rod.toml`?"]),
        (["sweep", "slde.toml"], ["slde.toml: cannot be opened", "did you mean `slide.toml`?"]),
        (["run", "far-away.toml"], ["far-away.toml", "cannot be opened"]),
        (["run", "slide.toml"], ["unknown key `study` in a scene", "`stiction sweep` takes it"]),
        (["identify", "unknown.toml"], ["unknown key `simulation` in an identification", "`stiction run` takes it"]),
    ] {
        let said = call(&folder, &arguments).expect(2).stderr;
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    let said = call(&folder, &["run", "far-away.toml"]).expect(2).stderr;
    assert!(!said.contains("did you mean"), "{said}");
}

#[test]
fn help_keeps_the_options_of_robots_apart() {
    for command in ["run", "check", "compare", "bench"] {
        let help = call(&folder("help"), &[command, "--help"]).expect(0).stdout;
        let place = |part: &str| help.find(part).unwrap_or_else(|| panic!("{part} in {help}"));
        assert!(place("Options:") < place("--help") && place("--json") < place("Options for robots"), "{help}");
        assert!(place("Options for robots") < place("--free-base"), "{help}");
    }
}

/// A message that cannot be shown changes nothing: the exit code is still that of the failure.
#[test]
#[cfg(target_os = "linux")]
fn a_stderr_that_cannot_be_written_keeps_the_exit_code() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_stiction"));
    program.current_dir(folder("error-full")).args(["check", "missing.toml"]).stderr(full);
    assert_eq!(program.status().expect("the program").code(), Some(2));
}
