//! Default classes: attributes that elements inherit from their class, and classes from other classes.

use std::collections::BTreeMap;

use crate::robot::{
    files::Refusal,
    reader::Reader,
    xml::{Attribute, Element},
};

/// Attributes that may be given with their first numbers only.
const PARTIAL: [&str; 5] = ["size", "friction", "gear", "gainprm", "biasprm"];
/// Alternative attributes: an element's own one replaces all those of its class.
const ORIENTATIONS: [&str; 5] = ["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// Elements with defaults that are read.
const READ: [&str; 8] = ["mesh", "joint", "geom", "site", "equality", "motor", "position", "velocity"];
/// Other elements with defaults; those without effect are reported at the elements themselves.
const OTHERS: [&str; 13] = [
    "general",
    "material",
    "camera",
    "light",
    "pair",
    "tendon",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "plugin",
];

/// Largest number of classes.
const MAX_CLASSES: usize = 256;
/// Longest default, bytes; together with the number of classes it bounds the cost of inheritance.
const MAX_DEFAULT: usize = 256;

/// Attributes by element.
type Class = BTreeMap<String, Vec<Attribute>>;

/// Classes by name; `main` is the name of the one that applies to all elements.
pub(super) struct Classes {
    classes: BTreeMap<String, Class>,
    main: String,
}

impl Classes {
    pub(super) fn read(reader: &mut Reader, root: &Element) -> Result<Self, Refusal> {
        let first = root.child("default").and_then(|section| section.text("class"));
        let main = first.unwrap_or("main").to_owned();
        let mut classes = Self { classes: BTreeMap::from([(main.clone(), Class::new())]), main };
        for section in root.children_of("default") {
            classes.section(reader, section, &classes.main.clone())?;
        }
        Ok(classes)
    }

    fn section(&mut self, reader: &mut Reader, section: &Element, name: &str) -> Result<(), Refusal> {
        let mut class = self.classes.get(name).cloned().unwrap_or_default();
        for element in section.children.iter().filter(|child| child.tag != "default") {
            let tag = element.tag.as_str();
            if !READ.contains(&tag) && !OTHERS.contains(&tag) {
                reader.not_read(element, &[&READ[..], &OTHERS[..]].concat(), &[]);
                continue;
            }
            if let Some(long) = element.attributes.iter().find(|attribute| attribute.value.len() > MAX_DEFAULT) {
                return Err(long.refuse(format!("is longer than {MAX_DEFAULT} bytes, the limit for defaults")));
            }
            let inherited = class.get(&element.tag).map_or(&[][..], Vec::as_slice);
            let merged = overlaid(&element.attributes, inherited);
            class.insert(element.tag.clone(), merged);
        }
        self.classes.insert(name.to_owned(), class.clone());
        for child in section.children_of("default") {
            let child_name = child.required("class")?;
            if self.classes.insert(child_name.value.clone(), class.clone()).is_some() {
                return Err(child_name.refuse(format!("\"{}\" is defined twice", child_name.value)));
            }
            if self.classes.len() > MAX_CLASSES {
                return Err(child_name.refuse(format!("is one class too many: the limit is {MAX_CLASSES}")));
            }
            self.section(reader, child, &child_name.value)?;
        }
        Ok(())
    }

    /// Returns the element with the attributes of its class, else of the class of its body, else of the main class.
    pub(super) fn applied(&self, element: &Element, of_body: Option<&str>) -> Result<Element, Refusal> {
        let class = match element.get("class") {
            Some(attribute) => Some(self.named(attribute)?),
            None => self.classes.get(of_body.unwrap_or(&self.main)),
        };
        let inherited = class.and_then(|class| class.get(&element.tag)).map_or(&[][..], Vec::as_slice);
        Ok(Element {
            attributes: overlaid(&element.attributes, inherited),
            children: Vec::new(),
            tag: element.tag.clone(),
            place: element.place.clone(),
        })
    }

    /// Returns the class that an attribute names.
    pub(super) fn named(&self, attribute: &Attribute) -> Result<&Class, Refusal> {
        self.classes.get(&attribute.value).ok_or_else(|| {
            let hint = crate::suggestion(&attribute.value, self.classes.keys().map(String::as_str));
            attribute.refuse(format!("\"{}\" is no default class", attribute.value)).hint(hint)
        })
    }
}

/// Returns the attributes together with the inherited ones that they do not replace.
fn overlaid(own: &[Attribute], inherited: &[Attribute]) -> Vec<Attribute> {
    let mut all = own.to_vec();
    let turned = own.iter().any(|attribute| ORIENTATIONS.contains(&attribute.name.as_str()));
    for attribute in inherited {
        let name = attribute.name.as_str();
        match all.iter_mut().find(|other| other.name == name) {
            Some(same) if PARTIAL.contains(&name) => {
                let given = same.value.split_whitespace().count();
                for rest in attribute.value.split_whitespace().skip(given) {
                    same.value.push(' ');
                    same.value.push_str(rest);
                }
            }
            Some(_) => {}
            None if turned && ORIENTATIONS.contains(&name) => {}
            None => all.push(attribute.clone()),
        }
    }
    all
}
