//! `report.html`: results of an identification on one self-contained page.

use std::fmt::Write;

use stiction::scene::text::html;
use stiction_identify::{Identification, IdentificationReport};

use super::{figures, table};

const STYLE: &str = "\
:root{color-scheme:light}body{font:15px/1.5 system-ui,sans-serif;color:#1d2330;background:#fbfbfa;max-width:64rem;\
margin:2.5rem auto;padding:0 1.5rem}h1{font-size:1.5rem;margin:0 0 .3rem}h2{font-size:1.05rem;margin:2rem 0 .5rem}\
p{margin:.2rem 0;color:#525a6b}table{border-collapse:collapse;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}\
th,td{text-align:right;padding:.28rem .9rem;border-bottom:1px solid #e3e4e8}th{color:#525a6b;font-weight:600}\
th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto}figure{margin:1rem 0}.warning{color:#9a3412}";

/// Page of the report.
pub(super) fn page(identification: &Identification, report: &IdentificationReport) -> String {
    let name = html(&identification.name);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>{STYLE}</style></head><body>\n\
         <h1>{name}</h1>\n<p>of the scene {}</p>\n",
        html(&identification.scene_path.display().to_string()),
    );
    let figures_of = |page: &mut String, figures: Vec<stiction_plot::Figure>| {
        for figure in figures {
            let _ = writeln!(page, "<figure>{}</figure>", figure.to_svg());
        }
    };
    if let Some(method) = report.methods.first() {
        let (of_method, misfit) = (table::of_method(method), table::misfit(method));
        let _ = writeln!(page, "<p>{}</p>\n<p>misfit {}</p>", html(&of_method), html(&misfit));
        page += "<h2>Estimates</h2>\n";
        page += &rows(&table::ESTIMATES, &table::estimates(method));
        page += &paragraphs("not observable: ", &method.unseen);
        page += &paragraphs("excluded: ", &method.left_out);
        figures_of(&mut page, figures::estimates(report).into_iter().collect());
        page += "<h2>Measured, estimated and simulated motion</h2>\n";
        figures_of(&mut page, figures::motions(method));
        page += "<h2>Residuals</h2>\n";
        page += &rows(&table::RESIDUALS, &table::residuals(method));
        figures_of(&mut page, figures::residuals(method).into_iter().collect());
    }
    page += &paragraphs("note: ", &report.notes);
    if !report.windows.is_empty() {
        page += "<h2>Window study</h2>\n";
        page += &rows(&table::heading("window", report), &table::windows(report));
        figures_of(&mut page, figures::windows(report).into_iter().collect());
    }
    if !report.predictions.is_empty() {
        page += "<h2>Predictions of recordings held out</h2>\n";
        page += &rows(&table::PREDICTIONS, &table::predictions(report));
        figures_of(&mut page, figures::predictions(report));
    }
    page += "<h2>Methods</h2>\n";
    page += &rows(&table::heading("method", report), &table::methods(report));
    page + "</body></html>\n"
}

fn paragraphs(before: &str, lines: &[String]) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "<p class=\"warning\">{before}{}</p>", html(line));
        text
    })
}

/// A table.
fn rows(heading: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |cells: &mut dyn Iterator<Item = &str>, tag: &str| {
        let cells: Vec<_> = cells.map(|cell| format!("<{tag}>{}</{tag}>", html(cell))).collect();
        format!("<tr>{}</tr>\n", cells.concat())
    };
    let head = cells(&mut heading.iter().copied(), "th");
    let body: String = rows.iter().map(|row| cells(&mut row.iter().map(String::as_str), "td")).collect();
    format!("<table>\n{head}{body}</table>\n")
}
