//! `stiction reproduce`: the list, tables, JSON, the page, mistakes.

use std::fs;

use crate::program::{call, folder};

#[test]
fn without_arguments_the_cases_are_listed() {
    let folder = folder("reproduce-list");
    let list = call(&folder, &["reproduce"]).expect(0).stdout;
    for part in ["C-02", "Planar pendulum of two bars", "reference/c02.json", "C-18", "C-26", "--all"] {
        assert!(list.contains(part), "{part} in\n{list}");
    }
}

#[test]
fn cases_give_a_table_each_and_a_page_with_figures() {
    let folder = folder("reproduce-table");
    let text = call(&folder, &["reproduce", "c32", "C-05", "--out", "report"]).expect(0);
    for part in ["C-32  Chatter of a penalty model: holds", "impulse of the hit (N s)", "2 cases", "report.html"] {
        assert!(text.stdout.contains(part), "{part} in\n{}", text.stdout);
    }
    assert!(!text.stdout.contains("FAILS"), "{}", text.stdout);
    let page = fs::read_to_string(folder.join("report/report.html")).expect("page");
    assert!(page.contains("Figure 2.7") && page.contains("<svg") && page.ends_with("</html>\n"));
}

#[test]
fn json_carries_values_verdicts_and_sources() {
    let folder = folder("reproduce-json");
    let json = call(&folder, &["reproduce", "C-32", "--json"]).expect(0).json();
    let case = &json["cases"][0];
    assert_eq!((&case["id"], &case["verdict"]), (&"C-32".into(), &"holds".into()));
    assert!(case["source"].as_str().is_some_and(|source| source.contains("figure 2.7")));
    let row = &case["rows"][0];
    assert_eq!(row["verdict"]["is"], "holds");
    assert!(row["ours"]["number"].as_f64() > row["reference"]["at-least"].as_f64(), "{row}");
}

#[test]
fn mistakes_are_named() {
    let folder = folder("reproduce-mistakes");
    let unknown = call(&folder, &["reproduce", "C-99"]).expect(2).stderr;
    assert!(unknown.contains("no case called `C-99`") && unknown.contains("without arguments"), "{unknown}");
    let both = call(&folder, &["reproduce", "--all", "C-02"]).expect(2).stderr;
    assert!(both.contains("cannot be used with"), "{both}");
    fs::write(folder.join("file"), "").expect("file");
    let blocked = call(&folder, &["reproduce", "C-32", "--out", "file"]).expect(2).stderr;
    assert!(blocked.contains("cannot write file"), "{blocked}");
}
