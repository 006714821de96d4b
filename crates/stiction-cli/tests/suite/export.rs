//! `stiction convert` of runs: CSV and MCAP.

use stiction::record::{Column, RunTables};

use crate::program::{call, folder, scene};

/// The records of a CSV text, by the rules of RFC 4180.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = vec![vec![String::new()]];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let record = records.last_mut().expect("a record");
        let field = record.last_mut().expect("a field");
        match c {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(String::new()),
            '\r' if !quoted => {}
            '\n' if !quoted => records.push(vec![String::new()]),
            c => field.push(c),
        }
    }
    assert_eq!(records.pop(), Some(vec![String::new()]), "the last line is ended");
    records
}

#[test]
fn csv_gives_back_every_number_to_the_bit() {
    let folder = folder("export-csv");
    call(&folder, &["run", &scene("falling_rod"), "--out", "rod"]).expect(0);
    let said = call(&folder, &["convert", "rod", "rod.csv"]).expect(0);
    assert_eq!(said.stdout.lines().collect::<Vec<_>>(), ["rod.csv", "rod.contacts.csv"]);
    let run = RunTables::open(&folder.join("rod")).expect("tables");
    let tables =
        [("rod.csv", run.columns(), run.frames()), ("rod.contacts.csv", run.contact_columns(), run.contact_rows())];
    for (file, columns, rows) in tables {
        let text = std::fs::read_to_string(folder.join(file)).expect("a table");
        let records = records(&text);
        assert_eq!((records.len(), rows > 100), (rows + 1, true));
        for (i, (name, _)) in columns.iter().enumerate() {
            assert_eq!(records[0][i], *name);
            let column = if file == "rod.csv" { run.column(name) } else { run.contact_column(name) };
            let same = |(row, record): (usize, &Vec<String>)| match column.as_ref().expect("a column") {
                Column::Integers(values) => record[i].parse() == Ok(values[row]),
                Column::Reals(values) => record[i].parse::<f64>().is_ok_and(|x| x.to_bits() == values[row].to_bits()),
                Column::Texts(words) => words.get(row) == Some(record[i].as_str()),
            };
            assert!(records[1..].iter().enumerate().all(same), "{name}");
        }
    }
}

#[test]
fn what_cannot_be_converted_is_said() {
    let folder = folder("export-mistakes");
    call(&folder, &["run", &scene("falling_rod"), "--duration", "0.01", "--out", "rod"]).expect(0);
    std::fs::create_dir(folder.join("empty")).expect("folder");
    for (arguments, part) in [
        (["convert", "rod", "rod.xlsx"], "cannot be written as rod.xlsx"),
        (["convert", "rod.toml", "rod.csv"], "a scene or a robot cannot be written as rod.csv"),
        (["convert", "empty", "x.csv"], "cannot read empty/trajectory.parquet"),
        (["convert", "rod", "missing/x.csv"], "cannot write missing/x.csv"),
    ] {
        let said = call(&folder, &arguments).expect(2);
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    let said = call(&folder, &["convert", "rod", "x.csv", "--keyframe", "home"]).expect(2);
    assert!(said.stderr.contains("for robots"), "{}", said.stderr);
}

#[cfg(not(feature = "mcap"))]
#[test]
fn a_program_without_mcap_says_how_to_build_one() {
    let folder = folder("export-without");
    call(&folder, &["run", &scene("falling_rod"), "--duration", "0.01", "--out", "rod"]).expect(0);
    let said = call(&folder, &["convert", "rod", "rod.mcap"]).expect(2);
    assert!(said.stderr.contains("--features mcap"), "{}", said.stderr);
}

#[cfg(feature = "mcap")]
#[test]
fn mcap_holds_a_message_per_moment_with_its_numbers() {
    let folder = folder("export-mcap");
    call(&folder, &["run", &scene("falling_rod"), "--out", "rod"]).expect(0);
    call(&folder, &["convert", "rod", "rod.mcap"]).expect(0);
    let bytes = std::fs::read(folder.join("rod.mcap")).expect("a log");
    let run = RunTables::open(&folder.join("rod")).expect("tables");
    let Ok(Column::Reals(heights)) = run.column("rod.y") else { panic!("no heights") };
    let contacts = run.contacts_of_frames().expect("contacts");
    let (mut moments, mut touching) = (0, 0);
    for message in mcap::MessageStream::new(&bytes).expect("MCAP") {
        let message = message.expect("a message");
        let value: serde_json::Value = serde_json::from_slice(&message.data).expect("JSON");
        let schema = message.channel.schema.as_ref().expect("a schema");
        assert_eq!((schema.encoding.as_str(), message.channel.message_encoding.as_str()), ("jsonschema", "json"));
        if message.channel.topic == "/trajectory" {
            assert_eq!(value["rod.y"].as_f64(), heights.get(moments).copied());
            let seconds = value["t"].as_f64().expect("time");
            assert!((message.log_time as f64 - 1e9 * seconds).abs() <= 0.5);
            moments += 1;
        } else {
            let listed = value["contacts"].as_array().expect("contacts").len();
            assert_eq!(listed, contacts[touching].len());
            touching += 1;
        }
    }
    assert_eq!((moments, touching), (run.frames(), run.frames()));
}
