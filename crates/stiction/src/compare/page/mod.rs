//! `compare.html`: work-precision plots and the table, as one self-contained page.
//!
//! The page is plain HTML, CSS and JavaScript in the files beside this one; its data is the [`Comparison`] itself.

use super::Comparison;
use crate::page;

/// The page of a comparison.
pub fn page(comparison: &Comparison) -> Result<String, serde_json::Error> {
    Ok(fill_page(&serde_json::to_string(comparison)?))
}

fn fill_page(json: &str) -> String {
    let scripts = [include_str!("chart.js"), include_str!("page.js")];
    page::fill(include_str!("page.html"), include_str!("page.css"), &scripts, json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_cannot_leave_the_data() {
        let page = fill_page(&serde_json::to_string("</script><!-- <script>alert(1)").expect("text"));
        let data = page.split("id=\"comparison\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let read = serde_json::from_str::<String>(data.expect("data")).expect("whole");
        assert_eq!(read, "</script><!-- <script>alert(1)");
    }

    #[test]
    fn the_page_refers_to_nothing_outside() {
        let page = fill_page("{}");
        // The name of a namespace is not an address that a browser fetches.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", "src=", "href=", "@import", "url("] {
            assert!(!page.contains(word), "the page contains {word}");
        }
    }
}
