//! `stiction view`: the page is exported, served, and rejected for folders without a recording.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::Stdio,
};

use serde_json::Value;

use crate::program::{call, folder, program, scene};

fn record(folder: &Path, name: &str, out: &str) {
    call(folder, &["run", &scene(name), "--duration", "0.05", "--out", out]).expect(0);
}

/// Description of the runs of a page.
fn head(page: &str) -> Value {
    let head = page.split("id=\"head\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("a head");
    serde_json::from_str(head).expect("JSON")
}

#[test]
fn an_exported_page_is_that_of_the_run() {
    let folder = folder("view_export");
    record(&folder, "falling_rod", "run");
    call(&folder, &["view", "run", "--export", "page.html"]).expect(0);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a page");
    assert_eq!(read("page.html"), read("run/view.html"));
    let head = head(&read("page.html"));
    assert_eq!(head["runs"][0]["frames"], 21);
    let names: Vec<_> = head["runs"][0]["columns"].as_array().expect("columns").iter().map(|c| &c["name"]).collect();
    assert!(names.contains(&&Value::from("rod.angle")) && names.contains(&&Value::from("total")));
}

#[test]
fn runs_are_laid_over_each_other_under_the_names_of_their_folders() {
    let folder = folder("view_overlay");
    record(&folder, "falling_rod", "coarse");
    record(&folder, "falling_rod", "fine");
    record(&folder, "four_balls", "space");
    call(&folder, &["view", "coarse", "fine", "--export", "page.html"]).expect(0);
    let head = head(&std::fs::read_to_string(folder.join("page.html")).expect("a page"));
    assert_eq!((&head["runs"][0]["label"], &head["runs"][1]["label"]), (&"coarse".into(), &"fine".into()));
    let mixed = call(&folder, &["view", "coarse", "space", "--export", "page.html"]).expect(2);
    assert!(mixed.stderr.contains("cannot share a page"), "{}", mixed.stderr);
}

#[test]
fn what_is_no_recording_is_refused_with_a_hint_and_what_was_cut_off_is_shown_as_far_as_it_goes() {
    let folder = folder("view_refused");
    let missing = call(&folder, &["view", "nothing"]).expect(2);
    assert!(missing.stderr.contains("nothing") && missing.stderr.contains("stiction run"), "{}", missing.stderr);
    record(&folder, "falling_rod", "cut");
    let path = folder.join("cut/trajectory.parquet");
    let whole = std::fs::read(&path).expect("a table");
    std::fs::write(&path, &whole[..8]).expect("a table of which nothing is left");
    let nothing = call(&folder, &["view", "cut", "--export", "page.html"]).expect(2);
    assert!(nothing.stderr.contains("truncated") && !folder.join("page.html").exists(), "{}", nothing.stderr);
    std::fs::write(&path, &whole[..whole.len() - 8]).expect("a cut table");
    call(&folder, &["view", "cut", "--export", "page.html"]).expect(0);
    assert_eq!(head(&std::fs::read_to_string(folder.join("page.html")).expect("a page"))["runs"][0]["cut"], true);
    call(&folder, &["view"]).expect(2);
}

#[test]
fn the_page_is_served_to_this_machine_and_nothing_else_is() {
    let folder = folder("view_served");
    record(&folder, "falling_rod", "run");
    let mut server = program(&folder).args(["view", "run"]).stdout(Stdio::piped()).spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("stdout")).read_line(&mut line).expect("an address");
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let ask = |target: &str| {
        let mut stream = TcpStream::connect(&address).expect("a server");
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let answers = [ask("/"), ask("/other"), ask("/../secret")];
    server.kill().expect("it runs until it is stopped");
    let _ = server.wait();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    assert!(answers[0].starts_with("HTTP/1.1 200 OK\r\n"));
    let body = answers[0].split_once("\r\n\r\n").expect("a body").1;
    assert_eq!(body, std::fs::read_to_string(folder.join("run/view.html")).expect("a page"));
    assert!(answers[1..].iter().all(|answer| answer.starts_with("HTTP/1.1 404 Not Found\r\n")));
}
