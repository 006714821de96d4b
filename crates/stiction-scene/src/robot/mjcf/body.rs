//! `<worldbody>`, `<body>`, and the elements that only place others: `<frame>` and `<replicate>`.

use nalgebra::{Isometry3, Matrix3};

use super::Mjcf;
use crate::robot::{
    description::{Inertial, JointId, JointKind, Link, LinkId, Site},
    files::Refusal,
    mass,
    reader::Words,
    rigid::LinkPlaces,
    xml::Element,
};

/// Largest number of bodies, shapes, joints and sites together, copies included.
const MAX_PLACED: usize = 100_000;
/// Longest attribute of these elements, bytes; copies read it again.
const MAX_VALUE: usize = 1000;

const PARTS: [&str; 8] = ["inertial", "joint", "freejoint", "geom", "site", "body", "frame", "replicate"];
const NOTED: [&str; 4] = ["composite", "flexcomp", "plugin", "attach"];
const BODY: Words = Words {
    read: &["name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mocap", "gravcomp"],
    quiet: &["user"],
    noted: &["sleep"],
};
const FRAME: Words = Words {
    read: &["name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"],
    quiet: &[],
    noted: &[],
};
const REPLICATE: Words =
    Words { read: &["count", "sep", "offset", "euler", "childclass"], quiet: &["prefix"], noted: &[] };
const INERTIAL: Words = Words {
    read: &["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mass", "diaginertia", "fullinertia"],
    quiet: &[],
    noted: &[],
};

/// Link, frame and class for the elements that are placed.
#[derive(Clone)]
struct Context<'a> {
    link: LinkId,
    /// Frame in the link.
    frame: Isometry3<f64>,
    class: Option<&'a str>,
    /// Suffix that distinguishes the names of copies.
    suffix: String,
    /// True if the masses of the shapes of the link do not count.
    mass_is_given: bool,
}

impl Context<'_> {
    fn name(&self, element: &Element) -> String {
        element.text("name").map_or_else(String::new, |name| format!("{name}{}", self.suffix))
    }
}

impl Mjcf<'_> {
    pub(super) fn world(&mut self, world: &Element) -> Result<(), Refusal> {
        let frame = Isometry3::identity();
        let context = Context { link: LinkId(0), frame, class: None, suffix: String::new(), mass_is_given: true };
        self.parts(world, &context)
    }

    /// Reads all children of a body, frame or replicate.
    fn parts<'a>(&mut self, element: &'a Element, context: &Context<'a>) -> Result<(), Refusal> {
        for child in &element.children {
            self.placed += 1;
            if self.placed > MAX_PLACED {
                return Err(child.place.refuse(format!("there are more than {MAX_PLACED} elements, with all copies")));
            }
            if let Some(long) = child.attributes.iter().find(|attribute| attribute.value.len() > MAX_VALUE) {
                return Err(long.refuse(format!("is longer than {MAX_VALUE} bytes, the limit")));
            }
            match child.tag.as_str() {
                "body" => self.body(child, context)?,
                "frame" => {
                    self.reader.check_attributes(child, &FRAME);
                    let inner = Context { frame: context.frame * self.compiler.pose(child)?, ..context.clone() };
                    self.parts(child, &self.with_class(child, inner)?)?;
                }
                "replicate" => self.replicate(child, context)?,
                "geom" | "joint" | "freejoint" | "site" => self.place(child, context)?,
                "inertial" if element.tag != "body" || element.children_of("inertial").count() > 1 => {
                    return Err(child.place.refuse("<inertial> must stand in a body, and once"));
                }
                // The inertial is read by its body; cameras and lights are visual only.
                "inertial" | "camera" | "light" => {}
                _ => self.reader.not_read(child, &PARTS, &NOTED),
            }
        }
        Ok(())
    }

    fn with_class<'a>(&self, element: &'a Element, context: Context<'a>) -> Result<Context<'a>, Refusal> {
        let Some(attribute) = element.get("childclass") else { return Ok(context) };
        self.classes.named(attribute)?;
        Ok(Context { class: Some(&attribute.value), ..context })
    }

    fn body<'a>(&mut self, element: &'a Element, context: &Context<'a>) -> Result<(), Refusal> {
        self.reader.check_attributes(element, &BODY);
        let name = context.name(element);
        let link = LinkId(self.robot.links.len());
        if let (Some(attribute), Some(_)) = (element.get("name"), self.names.links.insert(name.clone(), link)) {
            return Err(attribute.refuse(format!("\"{name}\" is given to two bodies")));
        }
        let driven = element.flag("mocap")?.unwrap_or(false);
        if let (true, Some(attribute)) = (driven && context.link != LinkId(0), element.get("mocap")) {
            return Err(attribute.refuse("is only for bodies directly in the world"));
        }
        self.robot.links.push(Link {
            name,
            driven,
            gravity_compensation: element.number("gravcomp")?.unwrap_or(0.0),
            parent: Some(context.link),
            origin: context.frame * self.compiler.pose(element)?,
            ..Link::world()
        });
        let inertia = element.child("inertial").map(|own| own.place.clone());
        self.places.push(LinkPlaces { link: element.place.clone(), inertia });
        self.parts.push(Vec::new());
        let mass_is_given = match self.compiler.inertia_from_shapes {
            Some(from_shapes) => !from_shapes,
            None => element.child("inertial").is_some(),
        };
        let inner = Context { link, frame: Isometry3::identity(), mass_is_given, ..context.clone() };
        self.parts(element, &self.with_class(element, inner)?)?;
        let inertial = self.inertial(element, link)?;
        if let Some(own) = self.robot.links.get_mut(link.0) {
            own.inertial = inertial;
        }
        Ok(())
    }

    /// Places copies, each in the frame of the one before.
    fn replicate<'a>(&mut self, element: &'a Element, context: &Context<'a>) -> Result<(), Refusal> {
        self.reader.check_attributes(element, &REPLICATE);
        let attribute = element.required("count")?;
        let count: usize = attribute.value.trim().parse().map_err(|_| attribute.refuse("must be a whole number"))?;
        if count == 0 || count > MAX_PLACED {
            return Err(attribute.refuse(format!("must lie between 1 and {MAX_PLACED}")));
        }
        let offset = element.vector("offset")?.unwrap_or_default();
        let step = Isometry3::from_parts(offset.into(), self.compiler.pose(element)?.rotation);
        let separator = element.text("sep").unwrap_or_default();
        let width = count.to_string().len();
        let mut frame = context.frame;
        for copy in 0..count {
            let suffix = format!("{separator}{copy:0width$}{}", context.suffix);
            let inner = Context { frame, suffix, ..context.clone() };
            self.parts(element, &self.with_class(element, inner)?)?;
            frame *= step;
        }
        Ok(())
    }

    fn place(&mut self, element: &Element, context: &Context) -> Result<(), Refusal> {
        for inside in &element.children {
            self.reader.not_read(inside, &[], &["plugin"]);
        }
        match element.tag.as_str() {
            "geom" => self.place_geom(element, context),
            "site" => self.place_site(element, context),
            _ => self.place_joint(element, context),
        }
    }

    fn place_geom(&mut self, element: &Element, context: &Context) -> Result<(), Refusal> {
        let element = self.classes.applied(element, context.class)?;
        let Some(mut shape) = self.read_geom(&element, &context.frame)? else { return Ok(()) };
        let part = if context.mass_is_given { None } else { self.shape_mass(&element, &shape)? };
        shape.name = shape.name.map(|name| name + &context.suffix);
        if let (Some(link), Some(parts)) =
            (self.robot.links.get_mut(context.link.0), self.parts.get_mut(context.link.0))
        {
            link.shapes.push(shape);
            parts.extend(part);
        }
        Ok(())
    }

    fn place_joint(&mut self, element: &Element, context: &Context) -> Result<(), Refusal> {
        let element = self.classes.applied(element, context.class)?;
        let mut joint = self.read_joint(&element, &context.frame)?;
        joint.name = context.name(&element);
        let force_range = self.limits(&element, "actuatorfrclimited", "actuatorfrcrange", 1.0)?;
        let Some(link) = self.robot.links.get_mut(context.link.0) else { return Ok(()) };
        let free = |kind| kind == JointKind::Free;
        let violation = match link.parent {
            None => Some("the world cannot have joints"),
            _ if link.driven => Some("a mocap body cannot have joints"),
            Some(LinkId(1..)) if free(joint.kind) => Some("only bodies directly in the world can have a free joint"),
            _ if free(joint.kind) && !link.joints.is_empty() => Some("a free joint must be the only one of its body"),
            _ if link.joints.iter().any(|other| free(other.kind)) => {
                Some("a free joint must be the only one of its body")
            }
            _ => None,
        };
        if let Some(violation) = violation {
            return Err(element.place.refuse(violation));
        }
        let id = JointId { link: context.link, joint: link.joints.len() };
        let single = joint.kind.dof() == 1;
        if let (true, Some(range)) = (single, force_range) {
            self.names.force_ranges.insert(id, (range, element.place.clone()));
        }
        if let (Some(attribute), Some(_)) = (element.get("name"), self.names.joints.insert(joint.name.clone(), id)) {
            return Err(attribute.refuse(format!("\"{}\" is given to two joints", joint.name)));
        }
        link.joints.push(joint);
        Ok(())
    }

    fn place_site(&mut self, element: &Element, context: &Context) -> Result<(), Refusal> {
        let element = self.classes.applied(element, context.class)?;
        let words = Words {
            quiet: &["type", "group", "material", "size", "rgba", "user", "class", "fromto"],
            noted: &[],
            ..FRAME
        };
        self.reader.check_attributes(&element, &words);
        let origin = context.frame * self.compiler.pose(&element)?;
        let name = context.name(&element);
        let number = self.robot.sites.len();
        if let (Some(attribute), Some(_)) = (element.get("name"), self.names.sites.insert(name.clone(), number)) {
            return Err(attribute.refuse(format!("\"{name}\" is given to two sites")));
        }
        self.robot.sites.push(Site { name, link: context.link, origin });
        Ok(())
    }

    /// Returns the mass properties of a body: given, or those of its shapes.
    fn inertial(&mut self, body: &Element, link: LinkId) -> Result<Option<Inertial>, Refusal> {
        let name = self.robot.links.get(link.0).map_or_else(String::new, |link| link.name.clone());
        match (body.child("inertial"), self.compiler.inertia_from_shapes) {
            (None, Some(false)) => Ok(None),
            (None, _) | (Some(_), Some(true)) => Ok(self.mass_of_shapes(link.0)),
            (Some(given), _) => self.given_inertial(given, &name),
        }
    }

    fn given_inertial(&mut self, element: &Element, link: &str) -> Result<Option<Inertial>, Refusal> {
        self.reader.check_attributes(element, &INERTIAL);
        element.required("mass")?;
        let mass = element.amount("mass", 0.0)?;
        let frame = self.compiler.pose(element)?;
        let own = match (element.vector("diaginertia")?, element.numbers("fullinertia")?) {
            (Some(_), Some(_)) => return Err(element.place.refuse("<inertial> has two inertias")),
            (Some(diagonal), None) => Matrix3::from_diagonal(&diagonal),
            (None, Some([xx, yy, zz, xy, xz, yz])) => Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
            (None, None) => return Err(element.place.refuse("<inertial> needs `diaginertia` or `fullinertia`")),
        };
        if mass == 0.0 {
            self.reader.massless(&element.place, link, &own);
            return Ok(None);
        }
        let own = self.balanced(element, link, own);
        let r = frame.rotation.to_rotation_matrix();
        let inertia = r.matrix() * own * r.matrix().transpose();
        Ok(Some(Inertial { mass, centre: frame.translation.vector.into(), inertia }))
    }

    /// Repairs an inertia if the file itself asks for it: all moments become their mean.
    fn balanced(&mut self, element: &Element, link: &str, own: Matrix3<f64>) -> Matrix3<f64> {
        if self.compiler.balance && own.trace() > 0.0 && mass::violation(&own, 0.0).is_some() {
            let what = format!("inertia of link \"{link}\"");
            self.reader.note(&element.place, what, "was impossible and has been balanced");
            return Matrix3::identity() * (own.trace() / 3.0);
        }
        own
    }
}
