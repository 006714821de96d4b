//! x
#[test] fn p() { println!("{}", serde_json::to_string_pretty(&stiction_scene::schema()).unwrap()); }
