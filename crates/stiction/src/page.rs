//! Self-contained HTML pages: style, script and data in one file.

/// Fills a template with style, scripts and data.
///
/// The data contains no `<`, so no name in a scene can end the script element or open a comment.
pub(crate) fn fill(template: &str, style: &str, scripts: &[&str], json: &str) -> String {
    let safe = json.replace('<', "\\u003c");
    template
        .replace("/* style */", style)
        .replace("/* script */", &scripts.concat())
        .replace("{ \"data\": null }", &safe)
}
