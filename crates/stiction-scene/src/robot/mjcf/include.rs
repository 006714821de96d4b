//! `<include file="…"/>`: the children of another file in place of the element.

use crate::robot::{
    files::Refusal,
    reader::Reader,
    xml::{self, Element, MAX_DEPTH},
};

/// Returns the element with all includes expanded. Every file is included once, so the recursion ends.
pub(super) fn expanded(reader: &mut Reader, root: Element) -> Result<Element, Refusal> {
    within(reader, root, 1)
}

fn within(reader: &mut Reader, mut element: Element, depth: usize) -> Result<Element, Refusal> {
    if depth > MAX_DEPTH {
        return Err(element
            .place
            .refuse(format!("elements are nested deeper than {MAX_DEPTH}, with what is included")));
    }
    let mut children = Vec::with_capacity(element.children.len());
    for child in std::mem::take(&mut element.children) {
        if child.tag == "include" {
            let file = child.required("file")?;
            let number = reader.files.include(&file.value).map_err(|message| file.refuse(message))?;
            let included = within(reader, xml::parse(&reader.files, number)?, depth)?;
            children.extend(included.children);
        } else {
            children.push(within(reader, child, depth + 1)?);
        }
    }
    element.children = children;
    Ok(element)
}
