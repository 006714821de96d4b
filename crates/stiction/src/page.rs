//! Pages that hold everything they show: style, script and data in one file, nothing from a network.

/// Puts style, scripts and data into the places of a template.
///
/// No `<` survives in the data, so no name in a scene can end the script element or open a comment.
pub(crate) fn fill(template: &str, style: &str, scripts: &[&str], json: &str) -> String {
    let safe = json.replace('<', "\\u003c");
    template
        .replace("/* style */", style)
        .replace("/* script */", &scripts.concat())
        .replace("{ \"data\": null }", &safe)
}
