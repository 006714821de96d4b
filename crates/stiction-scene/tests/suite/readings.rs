//! Files of other kinds, and rewritten scenes.

use std::fs;

use schemars::JsonSchema;
use serde::Deserialize;
use stiction_scene::{Angle, Reading, load, rewrite};

/// A recipe.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "a test recipe")]
struct Recipe {
    oven: Oven,
}

/// Temperature and time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Oven {
    minutes: f64,
    turn: Option<Angle>,
}

fn read(text: &str) -> Result<Reading<Recipe>, stiction_scene::SceneError> {
    Reading::parse(text, "cake.toml")
}

#[test]
fn other_files_get_the_messages_of_scenes() {
    let reading = read("[oven]\nminutes = 40\nturn = \"90 deg\"\n").unwrap();
    assert_eq!(reading.value.oven.minutes, 40.0);
    assert_eq!(reading.value.oven.turn.as_ref().and_then(Angle::radians), Some(std::f64::consts::FRAC_PI_2));
    let burnt = reading.error(&["oven", "minutes"], "is too long").with_hint("take it out");
    assert_eq!(burnt.to_string(), "cake.toml:2:11: is too long (take it out)");
    assert_eq!(reading.error(&["oven", "missing"], "is not there").line, 1);
    for (text, message) in [
        ("[oven]\nminuts = 40", "cake.toml:2:1: unknown key `minuts` in `oven` (did you mean `minutes`?)"),
        ("[ovn]\nminutes = 40", "cake.toml:1:2: unknown key `ovn` in a recipe (did you mean `oven`?)"),
        ("[oven]\nminutes = true", "cake.toml:2:11: `minutes` is true or false, but must be a number"),
        ("[oven]", "cake.toml:1:1: `oven` needs `minutes` (a number)"),
    ] {
        assert_eq!(read(text).map(|_| ()).unwrap_err().to_string(), message);
    }
}

#[test]
fn angles_in_text_need_a_unit_and_a_number() {
    let radians = |text: &str| Angle::Text(text.to_owned()).radians();
    assert_eq!((radians("0.5 rad"), radians("0.5"), Angle::Radians(2.0).radians()), (Some(0.5), None, Some(2.0)));
    assert!(radians("much deg").is_some_and(f64::is_nan));
}

#[test]
fn every_scene_written_again_is_the_same_scene() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("written-again");
    fs::create_dir_all(&folder).unwrap();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let (before, again) = (load(&path).unwrap(), folder.join(path.file_name().unwrap()));
        let changes = [("simulation.duration".to_owned(), "0.125".to_owned())];
        fs::write(&again, rewrite(&path, &changes).unwrap_or_else(|error| panic!("{error}"))).unwrap();
        let after = load(&again).unwrap();
        assert_eq!((after.settings.duration, after.settings.step), (0.125, before.settings.step));
        assert_eq!(after.settings.scheme, before.settings.scheme, "{}", before.name);
        assert_eq!(format!("{:?}", after.model), format!("{:?}", before.model), "{}", before.name);
    }
    let wrong = [("simulation.duration".to_owned(), "-1.0".to_owned())];
    assert!(rewrite(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/falling_rod.toml"), &wrong).is_err());
}
