//! `report.html`: one self-contained page with a section per case.

use std::fmt::Write;

use stiction::scene::text::html;

use super::{Conclusion, Tally};
use crate::{Account, Illustration, Outcome, Reference, Row, Verdict};

/// The page of outcomes.
pub fn page(outcomes: &[Outcome]) -> String {
    let mut content = summary(outcomes);
    for outcome in outcomes {
        section(&mut content, outcome);
    }
    let subtitle = format!(
        "{} cases: {}. What was published, what independent computation says, what this program gives. Version {}.",
        outcomes.len(),
        Tally::of(outcomes).words(),
        env!("CARGO_PKG_VERSION")
    );
    include_str!("page.html")
        .replace("/* style */", include_str!("page.css"))
        .replace("<!-- subtitle -->", &html(&subtitle))
        .replace("<!-- content -->", &content)
}

fn summary(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "<section class=\"card scroll summary\" aria-label=\"Summary\" tabindex=\"0\"><table>\
         <tr><th>case</th><th class=\"words\"></th><th class=\"words\">source</th><th class=\"words\">rows</th><th>verdict</th></tr>\n",
    );
    for outcome in outcomes {
        let conclusion = outcome.conclusion();
        let _ = writeln!(
            text,
            "<tr><td><a href=\"#{id}\">{id}</a></td><td class=\"words\"><a href=\"#{id}\">{title}</a></td>\
             <td class=\"words soft\">{source}</td><td class=\"words\">{rows}</td><td class=\"{class}\">{word}</td></tr>",
            id = outcome.case.id,
            title = html(outcome.title()),
            source = html(&outcome.short_source()),
            rows = Tally::of([outcome]).words(),
            class = class_of(conclusion),
            word = conclusion.word(),
        );
    }
    text + "</table></section>\n"
}

fn section(text: &mut String, outcome: &Outcome) {
    let (id, conclusion) = (outcome.case.id, outcome.conclusion());
    let _ = writeln!(
        text,
        "<section class=\"card\" id=\"{id}\"><div class=\"top\"><h2><small>{id}</small>{}</h2>\
         <span class=\"chip {}\">{}</span></div>",
        html(outcome.title()),
        class_of(conclusion),
        conclusion.word()
    );
    if let Some(reference) = &outcome.reference {
        published(text, outcome, reference);
    }
    match &outcome.account {
        Ok(account) => body(text, account),
        Err(error) => {
            let _ = writeln!(text, "<p class=\"fails\">Did not come to its end: {}</p>", html(&error.to_string()));
        }
    }
    text.push_str("</section>\n");
}

/// Publication, statements of the source, its open points, and the derivation of the reference values.
fn published(text: &mut String, outcome: &Outcome, reference: &Reference) {
    let _ = writeln!(text, "<h3>Published</h3><p>{}</p>", html(&outcome.source()));
    for statement in reference.statements("published") {
        let _ = writeln!(text, "<p class=\"soft\">{}</p>", sentence(statement));
    }
    let missing = reference.notes("missing_in_source");
    if !missing.is_empty() {
        let _ = writeln!(text, "<p class=\"soft\">Not in the source: {}.</p>", html(&missing.join("; ")));
    }
    let derivations = [
        ("parameters.note", "Parameters"),
        ("derivation", "Reference values"),
        ("scheme_derivation", "Values of the scheme"),
    ];
    let found: Vec<_> = derivations.iter().filter_map(|(path, what)| Some((what, reference.note(path)?))).collect();
    if !found.is_empty() {
        text.push_str("<details><summary>Where the numbers come from</summary>");
        for (what, note) in found {
            let _ = write!(text, "<p class=\"soft\"><b>{what}.</b> {}</p>", sentence(note));
        }
        let _ = writeln!(text, "<p class=\"soft\">All of it: <code>{}</code></p></details>", reference.file());
    }
}

fn body(text: &mut String, account: &Account) {
    text.push_str("<h3>What we get</h3><div class=\"scroll\" tabindex=\"0\"><table><tr>");
    for heading in Row::HEADINGS {
        let _ = write!(text, "<th>{heading}</th>");
    }
    text.push_str("</tr>\n");
    for row in &account.rows {
        let [quantity, published, reference, ours, error, tolerance, verdict] = row.cells().map(|cell| html(&cell));
        let _ = writeln!(
            text,
            "<tr><td>{quantity}</td><td>{published}</td><td>{reference}</td><td class=\"ours\">{ours}</td>\
             <td>{error}</td><td>{tolerance}</td><td class=\"{}\">{verdict}</td></tr>",
            class_of_verdict(&row.verdict())
        );
    }
    text.push_str("</table></div>\n");
    for (quantity, reason) in account.reasons() {
        let _ = writeln!(text, "<p class=\"why\"><b>{}.</b> {}</p>", html(quantity), sentence(&reason));
    }
    for remark in &account.remarks {
        let _ = writeln!(text, "<p class=\"soft\">{}</p>", sentence(remark));
    }
    if !account.figures.is_empty() {
        text.push_str("<h3>Figures</h3><div class=\"figures\">\n");
        account.figures.iter().for_each(|illustration| figure(text, illustration));
        text.push_str("</div>\n");
    }
}

fn figure(text: &mut String, Illustration { caption, stands_for, figure }: &Illustration) {
    // Figures of several columns need the whole width.
    let class = if figure.columns > 1 { " class=\"wide\"" } else { "" };
    let _ = writeln!(
        text,
        "<figure{class}><div>{}</div><figcaption>{}<small>{}</small></figcaption></figure>",
        figure.to_svg(),
        sentence(caption),
        html(stands_for)
    );
}

fn class_of(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Holds => "holds",
        Conclusion::Differs => "differs",
        Conclusion::NotInBuild => "other",
        Conclusion::Fails => "fails",
    }
}

fn class_of_verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::Differs(_) | Verdict::DiffersFromFirst(_) => "differs",
        Verdict::NoReference | Verdict::NotInBuild | Verdict::Informative => "other",
    }
}

/// A text of the file as a sentence: with a capital at its start and a stop at its end.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut letters = text.chars();
    let mut whole: String =
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    if !whole.ends_with(['.', '!', '?', ':']) {
        whole.push('.');
    }
    html(&whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_sentences_and_cannot_become_elements() {
        assert_eq!(sentence("the block <slides> past"), "The block &lt;slides&gt; past.");
        assert_eq!(sentence(""), ".");
        assert_eq!(sentence("Stops."), "Stops.");
    }
}
