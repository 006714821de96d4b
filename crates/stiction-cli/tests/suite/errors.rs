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
        ("--step", "nan", "must be a finite number, not NaN"),
        ("--duration", "inf", "must be a finite number, not inf"),
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

/// A pipe without a writer would block for ever.
#[test]
#[cfg(unix)]
fn what_is_no_regular_file_is_refused_with_a_sentence() {
    let folder = folder("error-kinds");
    let made = std::process::Command::new("mkfifo").current_dir(&folder).arg("pipe.toml").status().expect("mkfifo");
    assert!(made.success());
    for (arguments, kind) in [
        (["check", "pipe.toml"], "a named pipe"),
        (["run", "pipe.toml"], "a named pipe"),
        (["solve", "pipe.toml"], "a named pipe"),
        (["sweep", "pipe.toml"], "a named pipe"),
        (["identify", "pipe.toml"], "a named pipe"),
        (["check", "/dev/zero"], "a device"),
        (["run", "."], "a folder"),
    ] {
        let said = call(&folder, &arguments).expect(2).stderr;
        assert!(said.contains(&format!("it is {kind}, not a regular file")) && said.contains("/dev/stdin"), "{said}");
    }
    let said = call(&folder, &["check", "-"]).expect(2).stderr;
    assert!(said.contains("/dev/stdin"), "{said}");
    // What a command writes is read through a pipe that it has open.
    let script = format!("cat {} | \"$0\" check /dev/stdin", scene("falling_rod"));
    let mut shell = std::process::Command::new("sh");
    let piped =
        shell.current_dir(&folder).args(["-c", &script, env!("CARGO_BIN_EXE_stiction")]).output().expect("a shell");
    assert!(piped.status.success(), "{}", String::from_utf8_lossy(&piped.stderr));
}

#[test]
fn inputs_and_scenes_are_not_overwritten() {
    let folder = folder("error-overwriting");
    let rod = fs::read_to_string(scene("falling_rod")).expect("a scene");
    for name in ["c.toml", "d.toml"] {
        fs::write(folder.join(name), &rod).expect("a scene");
    }
    fs::hard_link(folder.join("c.toml"), folder.join("same.toml")).expect("a second name");
    call(&folder, &["run", "c.toml", "--duration", "0.01", "--out", "run"]).expect(0);
    for (arguments, part) in [
        (&["convert", "c.toml", "c.toml"][..], "is read by this command"),
        (&["convert", "c.toml", "same.toml"], "is read by this command"),
        (&["convert", "c.toml", "d.toml"], "scenes and robots are not overwritten"),
        (&["view", "run", "--export", "d.toml"], "scenes and robots are not overwritten"),
        (&["view", "run", "--export", "run/summary.json"], "is read by this command"),
        (&["reproduce", "C-32", "--markdown", "d.toml"], "scenes and robots are not overwritten"),
    ] {
        let said = call(&folder, arguments).expect(2).stderr;
        assert!(said.contains(part) && said.contains("choose another"), "{said}");
        assert!(["c.toml", "d.toml"].iter().all(|name| fs::read_to_string(folder.join(name)).expect("a scene") == rod));
    }
    // The scene of a study that lies in the folder of its results.
    fs::write(folder.join("best.toml"), &rod).expect("a scene");
    let design = "[design]\nscene = \"best.toml\"\nmethod = \"nelder-mead\"\nevaluations = 1\n\
        [[parameter]]\nname = \"mass\"\npath = \"body.rod.mass\"\nstart = 1.5\nbounds = [1.0, 2.0]\nscale = 0.5\n\
        [[run]]\nname = \"fall\"\n[[term]]\nname = \"height\"\nvalue = \"final(rod.y)\"\n";
    fs::write(folder.join("lightest.toml"), design).expect("a design");
    let said = call(&folder, &["design", "lightest.toml", "--out", "."]).expect(2).stderr;
    assert!(said.contains("best.toml is read by this command"), "{said}");
    assert_eq!(fs::read_to_string(folder.join("best.toml")).expect("a scene"), rod);
}

#[test]
fn problems_of_steps_that_do_not_exist_are_refused() {
    let (folder, rod) = (folder("error-problems"), scene("falling_rod"));
    let run =
        |kept: &str| call(&folder, &["run", &rod, "--duration", "0.01", "--keep-problems", kept]).expect(2).stderr;
    assert!(run("0").contains("0 is not in 1.."), "{}", run("0"));
    assert!(run("1,5").contains("`--keep-problems 5`: the run has 4 steps"), "{}", run("1,5"));
    assert!(!folder.join("out").exists());
}

/// A width of the formatter is at most 65,535, and names may be longer.
#[test]
fn a_name_of_65536_characters_is_shown() {
    let folder = folder("error-name");
    let rod = fs::read_to_string(scene("falling_rod")).expect("a scene");
    fs::write(folder.join("long.toml"), rod.replace("\"rod\"", &format!("\"{}\"", "n".repeat(65_536))))
        .expect("a scene");
    let said = call(&folder, &["check", "long.toml"]).expect(0).stdout;
    assert!(said.contains("ready to run") && said.len() < 1_000_000, "{} bytes", said.len());
}

#[test]
fn schemes_that_contradict_themselves_or_the_model_are_refused_at_their_key() {
    let folder = folder("error-scheme");
    let rod = fs::read_to_string(scene("falling_rod")).expect("a scene");
    let lines = rod.lines().count();
    fs::write(folder.join("x.toml"), rod + "[scheme]\nstabilisation = \"reduction\"\n").expect("a scene");
    let place = format!("x.toml:{}:17: scheme, stabilisation: this stabilises joints, and there are none", lines + 2);
    for command in ["run", "check"] {
        let said = call(&folder, &[command, "x.toml"]).expect(2).stderr;
        assert!(said.contains(&place) && said.contains("help: leave `stabilisation` out, or use"), "{said}");
    }
    let rod = scene("falling_rod");
    let rolling = ["--set", "contact.0.rolling=0.1"];
    let named = call(&folder, &[&["run", &rod, "--preset", "reference"][..], &rolling].concat()).expect(2).stderr;
    assert!(named.contains("--preset: scheme, preset: the event-driven reference has no rolling friction"), "{named}");
    let set = call(&folder, &["check", &rod, "--set", "scheme.stabilisation=reduction"]).expect(2).stderr;
    assert!(set.contains("--set: scheme, stabilisation:") && !folder.join("out").exists(), "{set}");
}
