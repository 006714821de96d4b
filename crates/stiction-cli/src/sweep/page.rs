//! `results.html` of `monte-carlo` studies: figures, tables and failures on one self-contained page.

use std::fmt::Write;

use stiction::scene::text::html;
use stiction_plot::Figure;
use stiction_study::monte_carlo::{MOST_PROBLEMS, Report};

const STYLE: &str = "body{font:15px/1.5 'Noto Sans',Helvetica,Arial,sans-serif;color:#222;max-width:62rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem;font-weight:600}h2{font-size:1.1rem;font-weight:600}figure{margin:1.5rem 0;text-align:center}figure svg{max-width:100%;height:auto}\
pre{overflow-x:auto;background:#f6f6f6;padding:1rem;border-radius:4px;font-size:13px}code{font-size:13px}";

/// Page of the results; `tables` are the printed ones.
pub(super) fn page(title: &str, tables: &str, figures: &[Figure], report: &Report) -> String {
    let mut page = String::from(crate::view::study::HEAD);
    let _ = writeln!(page, "<title>{0}</title><style>{STYLE}</style></head><body><h1>{0}</h1>", html(title));
    for figure in figures {
        let _ = writeln!(page, "<figure>{}</figure>", figure.to_svg());
    }
    let _ = writeln!(page, "<pre>{}</pre>", html(tables));
    failures(report, &mut page);
    page.push_str("</body></html>\n");
    page
}

/// Every reason of failure with its first trial, and the problem files.
fn failures(report: &Report, page: &mut String) {
    if report.failures.is_empty() {
        return;
    }
    page.push_str("<h2>Failed trials</h2>\n<ul>\n");
    for kind in &report.failures {
        let (reason, detail) = (html(&kind.reason), html(&kind.detail));
        let _ = writeln!(page, "<li>{}: {reason}<br>trial {}: {detail}</li>", kind.count, kind.first_trial);
    }
    page.push_str("</ul>\n");
    if !report.problems.is_empty() {
        let link = |problem: &stiction_study::monte_carlo::KeptProblem| {
            format!("<a href=\"{}\">trial {}</a>", problem.file, problem.trial)
        };
        let links: Vec<_> = report.problems.iter().map(link).collect();
        let rest = if links.len() < MOST_PROBLEMS { "" } else { "; those of later trials are not stored" };
        let _ = writeln!(
            page,
            "<p>Problems that were not solved, for <code>stiction solve</code>: {}{rest}.</p>",
            links.join(", ")
        );
    }
}
