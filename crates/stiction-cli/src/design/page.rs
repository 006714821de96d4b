//! `results.html`: results of a design on one self-contained page.

use stiction::scene::text::html;
use stiction_study::design::{DesignReport, DesignSearch};

use super::table;

const STYLE: &str = "\
:root{color-scheme:light}body{font:15px/1.5 system-ui,sans-serif;color:#1d2330;background:#fbfbfa;max-width:60rem;\
margin:2.5rem auto;padding:0 1.5rem}h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.05rem;margin:2rem 0 .5rem}\
p{margin:.2rem 0;color:#525a6b}table{border-collapse:collapse;font-variant-numeric:tabular-nums}\
th,td{text-align:right;padding:.28rem .9rem;border-bottom:1px solid #e3e4e8}th{color:#525a6b;font-weight:600}\
th:first-child,td:first-child,.words th:last-child,.words td:last-child{text-align:left}code{font:13px ui-monospace,monospace}\
.number{font-size:1.9rem;color:#1d2330;font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}";

/// Page with a figure of the convergence.
pub(super) fn page(search: &DesignSearch, report: &DesignReport, figure: &str) -> String {
    let design = search.design();
    let name = html(&design.name);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>{STYLE}</style></head><body>\n\
         <h1>{name}</h1>\n<p>of the scene {}, by {}, {} evaluations</p>\n<p class=\"number\">objective {}</p>\n",
        html(&design.scene_path.display().to_string()),
        report.method.name(),
        report.evaluations,
        html(&table::objective(report)),
    );
    text += "<h2>Parameters</h2>\n";
    let parameters = ["parameter", "found", "start", "bounds", "in the scene"];
    text += &rows("words", &parameters, &table::parameters(report));
    if let Some(first) = report.runs.first() {
        let terms = first.terms.iter().map(|(name, _)| name.as_str());
        text += "<h2>Terms of the runs</h2>\n";
        text += &rows("", &std::iter::once("run").chain(terms).collect::<Vec<_>>(), &table::runs(report));
    }
    text += "<h2>Convergence</h2>\n";
    text += figure;
    if report.starts.len() > 1 {
        text += "\n<h2>Starts</h2>\n";
        text += &rows("words", &["start", "objective", "evaluations", "ended"], &table::starts(report));
    }
    text += "<h2>Objective</h2>\n";
    let terms = design.terms.iter().map(|term| {
        let (measure, weight) = (format!("<code>{}</code>", html(term.measure.text())), term.weight);
        format!("<p>{}: {weight} × {measure}</p>\n", html(&term.name))
    });
    text.extend(terms);
    text + "</body></html>\n"
}

/// A table; with the class `words` its last column is text.
fn rows(class: &str, heading: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |cells: &mut dyn Iterator<Item = &str>, tag: &str| {
        let cells: Vec<_> = cells.map(|cell| format!("<{tag}>{}</{tag}>", html(cell))).collect();
        let cells = cells.concat();
        format!("<tr>{cells}</tr>\n")
    };
    let head = cells(&mut heading.iter().copied(), "th");
    let body: String = rows.iter().map(|row| cells(&mut row.iter().map(String::as_str), "td")).collect();
    format!("<table class=\"{class}\">\n{head}{body}</table>\n")
}
