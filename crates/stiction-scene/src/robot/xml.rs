//! XML under limits: elements and attributes with their places, and plain decimal numbers.
//!
//! No external entities, no document types, and bounds on size, depth and number of elements.

use nalgebra::Vector3;
use roxmltree::{Document, ParsingOptions};

use super::files::{Files, Place, Refusal};
use crate::suggest;

/// Deepest nesting of elements.
pub(super) const MAX_DEPTH: usize = 128;
/// Largest number of nodes in one file, including text between elements.
const MAX_NODES: u32 = 400_000;
/// Largest number of attributes of one element.
const MAX_ATTRIBUTES: usize = 64;
/// Longest number, characters.
const MAX_NUMBER: usize = 64;

/// An element that owns its data, so that elements of several files can form one tree.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) attributes: Vec<Attribute>,
    pub(super) children: Vec<Element>,
    pub(super) place: Place,
}

/// An attribute and the place of its value.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) place: Place,
}

/// Returns the root element of a file.
pub(super) fn parse(files: &Files, file: usize) -> Result<Element, Refusal> {
    let text = files.text(file);
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let start = offset(text, error.pos().row, error.pos().col);
        Place { file, span: start..start }.refuse(format!("is not valid XML: {error}"))
    })?;
    let root = document.root_element();
    owned(root, root.tag_name().namespace(), (file, 1))
}

fn owned(node: roxmltree::Node, namespace: Option<&str>, (file, depth): (usize, usize)) -> Result<Element, Refusal> {
    let range = node.range();
    // Messages point at the name in the opening tag, not at the whole element.
    let place = Place { file, span: range.start + 1..range.start + 1 + node.tag_name().name().len() };
    if depth > MAX_DEPTH {
        return Err(place.refuse(format!("elements are nested deeper than {MAX_DEPTH}")));
    }
    if node.attributes().len() > MAX_ATTRIBUTES {
        return Err(place.refuse(format!("an element has more than {MAX_ATTRIBUTES} attributes")));
    }
    let attributes = node.attributes().map(|attribute| Attribute {
        name: attribute.name().to_owned(),
        value: attribute.value().to_owned(),
        place: Place { file, span: attribute.range_value() },
    });
    let children = node.children().filter(roxmltree::Node::is_element);
    Ok(Element {
        // Elements of another namespace than the root are not those of URDF or MJCF.
        tag: if node.tag_name().namespace().is_some_and(|own| namespace != Some(own)) {
            format!("other:{}", node.tag_name().name())
        } else {
            node.tag_name().name().to_owned()
        },
        attributes: attributes.collect(),
        children: children.map(|child| owned(child, namespace, (file, depth + 1))).collect::<Result<_, _>>()?,
        place,
    })
}

/// Returns the byte of a line and column, both from 1, the column in characters.
fn offset(text: &str, row: u32, column: u32) -> usize {
    let start: usize = text.split_inclusive('\n').take(row.saturating_sub(1) as usize).map(str::len).sum();
    let line = text.get(start..).unwrap_or_default();
    start + line.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum::<usize>()
}

impl Element {
    pub(super) fn get(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|attribute| attribute.value.as_str())
    }

    pub(super) fn required(&self, name: &str) -> Result<&Attribute, Refusal> {
        self.get(name).ok_or_else(|| {
            let refusal = self.place.refuse(format!("<{}> needs the attribute `{name}`", self.tag));
            let given: Vec<_> = self.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
            match suggest::nearest(name, &given) {
                Some(near) => refusal.hint(format!("did you mean `{name}` where it says `{near}`?")),
                None => refusal,
            }
        })
    }

    pub(super) fn child(&self, tag: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.tag == tag)
    }

    pub(super) fn children_of<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.tag == tag)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, Refusal> {
        Ok(self.numbers::<1>(name)?.map(|[value]| value))
    }

    /// Returns a number that must not be negative, or a default.
    pub(super) fn amount(&self, name: &str, default: f64) -> Result<f64, Refusal> {
        match (self.number(name)?, self.get(name)) {
            (Some(value), Some(attribute)) if value < 0.0 => Err(attribute.refuse("must not be negative")),
            (value, _) => Ok(value.unwrap_or(default)),
        }
    }

    pub(super) fn numbers<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, Refusal> {
        let Some(attribute) = self.get(name) else { return Ok(None) };
        let values = attribute.list(N)?;
        let count = values.len();
        let wrong = |_| attribute.refuse(format!("needs {N} numbers, but has {count}"));
        <[f64; N]>::try_from(values).map(Some).map_err(wrong)
    }

    /// Returns up to N numbers; missing ones are taken from `rest`.
    pub(super) fn numbers_or<const N: usize>(&self, name: &str, rest: [f64; N]) -> Result<[f64; N], Refusal> {
        let mut all = rest;
        if let Some(attribute) = self.get(name) {
            for (slot, value) in all.iter_mut().zip(attribute.list(N)?) {
                *slot = value;
            }
        }
        Ok(all)
    }

    pub(super) fn vector(&self, name: &str) -> Result<Option<Vector3<f64>>, Refusal> {
        Ok(self.numbers::<3>(name)?.map(Vector3::from))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Refusal> {
        let Some(attribute) = self.get(name) else { return Ok(None) };
        match attribute.value.as_str() {
            "true" | "enable" => Ok(Some(true)),
            "false" | "disable" => Ok(Some(false)),
            "auto" => Ok(None),
            _ => Err(attribute.refuse("must be `true` or `false`")),
        }
    }
}

impl Attribute {
    pub(super) fn refuse(&self, message: impl AsRef<str>) -> Refusal {
        self.place.refuse(format!("`{}` {}", self.name, message.as_ref()))
    }

    /// Returns at most `most` finite decimal numbers.
    pub(super) fn list(&self, most: usize) -> Result<Vec<f64>, Refusal> {
        let mut values = Vec::new();
        for word in self.value.split_whitespace() {
            if values.len() == most {
                return Err(self.refuse(format!("has more than {most} numbers")));
            }
            let value = decimal(word).ok_or_else(|| {
                let shown: String = word.chars().take(20).collect();
                self.refuse(format!("must be finite decimal numbers with spaces between them, but has \"{shown}\""))
            })?;
            values.push(value);
        }
        Ok(values)
    }
}

fn decimal(word: &str) -> Option<f64> {
    let plain = word.len() <= MAX_NUMBER && word.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    plain.then(|| word.parse().ok()).flatten().filter(|value: &f64| value.is_finite())
}
