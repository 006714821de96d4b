//! URDF: links with inertias and collision shapes, and joints that name the links they connect.
//!
//! Visual shapes (`<visual>`, `<material>`) are skipped.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Vector3};

use super::{
    Base,
    description::{
        Constraint, ConstraintKind, Form, Format, Inertial, Joint, JointId, JointKind, Link, LinkId, Robot, Shape,
    },
    files::{Place, Refusal},
    orientation,
    reader::{Reader, Words},
    rigid::LinkPlaces,
    xml::{Attribute, Element},
};

const ROBOT: [&str; 4] = ["link", "joint", "material", "mujoco"];
const ROBOT_NOTED: [&str; 3] = ["transmission", "gazebo", "sensor"];
const LINK: [&str; 3] = ["inertial", "visual", "collision"];
const JOINT: [&str; 7] = ["origin", "parent", "child", "axis", "limit", "dynamics", "mimic"];
/// Joint types, with `spherical` of `PyBullet`.
const KINDS: [&str; 7] = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// Largest number of factors of a scale, of which three count.
const MAX_SCALES: usize = 16;

/// Returns a list of attributes that are all read.
const fn only(read: &'static [&'static str]) -> Words {
    Words { read, quiet: &[], noted: &[] }
}

/// A joint of the file: origin of its child and motion, without a place in the tree yet.
struct Edge<'a> {
    element: &'a Element,
    parent: &'a Attribute,
    child: &'a Attribute,
    origin: Isometry3<f64>,
    joint: Option<Joint>,
}

pub(super) fn read(reader: &mut Reader, root: &Element) -> Result<Robot, Refusal> {
    reader.check_attributes(root, &Words { read: &["name"], quiet: &["version"], noted: &[] });
    let mut links = BTreeMap::new();
    let mut joints = BTreeSet::new();
    let mut order = Vec::new();
    let mut edges = Vec::new();
    for element in &root.children {
        match element.tag.as_str() {
            "link" => {
                let name = element.required("name")?;
                if links.insert(name.value.as_str(), read_link(reader, element, &name.value)?).is_some() {
                    return Err(name.refuse(format!("\"{}\" is given to two links", name.value)));
                }
                order.push((name.value.as_str(), element));
            }
            "joint" => {
                let name = element.required("name")?;
                if !joints.insert(name.value.as_str()) {
                    return Err(name.refuse(format!("\"{}\" is given to two joints", name.value)));
                }
                edges.push(read_joint(reader, element)?);
            }
            "material" => {}
            "mujoco" => reader.note(&element.place, "<mujoco>".to_owned(), "is for another program"),
            _ => reader.not_read(element, &ROBOT, &ROBOT_NOTED),
        }
    }
    let (sorted, places) = tree(reader, root, &links, &order, &edges)?;
    let mut robot = Robot {
        name: root.text("name").unwrap_or("robot").to_owned(),
        format: Format::Urdf,
        assets: reader.files.root().map(Path::to_path_buf),
        references: BTreeMap::new(),
        links: sorted,
        sites: Vec::new(),
        actuators: Vec::new(),
        constraints: Vec::new(),
        excludes: Vec::new(),
        keyframes: Vec::new(),
        gravity: None,
        timestep: None,
        unsupported: Vec::new(),
    };
    let singles = single_joints(&robot);
    for edge in &edges {
        robot.constraints.extend(mimic(reader, &singles, edge)?);
    }
    reader.finish(robot, &places)
}

fn pose(reader: &mut Reader, element: &Element) -> Result<Isometry3<f64>, Refusal> {
    let Some(origin) = element.child("origin") else { return Ok(Isometry3::identity()) };
    reader.check_attributes(origin, &only(&["xyz", "rpy"]));
    let xyz = origin.vector("xyz")?.unwrap_or_default();
    let rpy = origin.numbers::<3>("rpy")?.unwrap_or_default();
    Ok(Isometry3::from_parts(Translation3::from(xyz), orientation::roll_pitch_yaw(rpy)))
}

fn read_link(reader: &mut Reader, element: &Element, name: &str) -> Result<Link, Refusal> {
    reader.check_attributes(element, &Words { read: &["name"], quiet: &["type"], noted: &[] });
    let mut link = Link {
        name: name.to_owned(),
        parent: None,
        origin: Isometry3::identity(),
        joints: Vec::new(),
        driven: false,
        gravity_compensation: 0.0,
        inertial: None,
        shapes: Vec::new(),
    };
    for child in &element.children {
        match child.tag.as_str() {
            "inertial" if element.children_of("inertial").count() > 1 => {
                return Err(child.place.refuse(format!("link \"{name}\" has two inertials")));
            }
            "inertial" => link.inertial = read_inertial(reader, child, name)?,
            "collision" => link.shapes.extend(read_collision(reader, child)?),
            "visual" => {}
            _ => reader.not_read(child, &LINK, &["contact", "self_collision_checking"]),
        }
    }
    Ok(link)
}

fn read_inertial(reader: &mut Reader, element: &Element, link: &str) -> Result<Option<Inertial>, Refusal> {
    for child in element.children.iter().filter(|child| !["origin", "mass", "inertia"].contains(&child.tag.as_str())) {
        reader.not_read(child, &["origin", "mass", "inertia"], &[]);
    }
    let frame = pose(reader, element)?;
    let needs = |tag: &str| element.child(tag).ok_or_else(|| element.place.refuse(format!("<inertial> needs <{tag}>")));
    let mass = needs("mass")?;
    reader.check_attributes(mass, &only(&["value"]));
    mass.required("value")?;
    let value = mass.amount("value", 0.0)?;
    let tensor = needs("inertia")?;
    reader.check_attributes(tensor, &only(&["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]));
    let diagonal = |name: &str| tensor.required(name).and_then(|_| tensor.number(name));
    let [xx, yy, zz] = [diagonal("ixx")?, diagonal("iyy")?, diagonal("izz")?].map(Option::unwrap_or_default);
    let [xy, xz, yz] =
        [tensor.number("ixy")?, tensor.number("ixz")?, tensor.number("iyz")?].map(Option::unwrap_or_default);
    let own = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    if value == 0.0 {
        reader.massless(&tensor.place, link, &own);
        return Ok(None);
    }
    let r = frame.rotation.to_rotation_matrix();
    let inertia = r.matrix() * own * r.matrix().transpose();
    Ok(Some(Inertial { mass: value, centre: frame.translation.vector.into(), inertia }))
}

/// Reads a shape; `None` if its form is not known.
fn read_collision(reader: &mut Reader, element: &Element) -> Result<Option<Shape>, Refusal> {
    reader.check_attributes(element, &only(&["name", "group"]));
    for child in element.children.iter().filter(|child| !["origin", "geometry"].contains(&child.tag.as_str())) {
        reader.not_read(child, &["origin", "geometry"], &["verbose", "contact_coefficients"]);
    }
    let geometry = element.child("geometry").ok_or_else(|| element.place.refuse("<collision> needs <geometry>"))?;
    let [form] = geometry.children.as_slice() else {
        return Err(geometry.place.refuse("<geometry> must have one shape"));
    };
    let Some(form) = read_form(reader, form)? else { return Ok(None) };
    Ok(Some(Shape {
        name: element.text("name").map(str::to_owned),
        form,
        origin: pose(reader, element)?,
        friction: None,
        dimension: 3,
        contact_type: 1,
        contact_affinity: 1,
    }))
}

fn read_form(reader: &mut Reader, element: &Element) -> Result<Option<Form>, Refusal> {
    let length = |name: &str| {
        let attribute = element.required(name)?;
        let value = element.number(name)?.unwrap_or_default();
        if value > 0.0 { Ok(value) } else { Err(attribute.refuse("must be positive")) }
    };
    Ok(Some(match element.tag.as_str() {
        "box" => {
            reader.check_attributes(element, &only(&["size"]));
            let size = element.required("size")?;
            let edges = element.vector("size")?.unwrap_or_default();
            if edges.min() <= 0.0 {
                return Err(size.refuse("must be positive"));
            }
            Form::Box(edges * 0.5)
        }
        "sphere" => {
            reader.check_attributes(element, &only(&["radius"]));
            Form::Sphere(length("radius")?)
        }
        tag @ ("cylinder" | "capsule") => {
            reader.check_attributes(element, &only(&["radius", "length"]));
            let (r, half) = (length("radius")?, 0.5 * length("length")?);
            if tag == "cylinder" { Form::Cylinder(r, half) } else { Form::Capsule(r, half) }
        }
        "mesh" => {
            reader.check_attributes(element, &only(&["filename", "scale"]));
            let path = reader.path(element.required("filename")?, "")?;
            Form::Mesh(path, read_scale(reader, element)?)
        }
        _ => {
            reader.not_read(element, &["box", "sphere", "cylinder", "capsule", "mesh"], &["cdf", "plane"]);
            return Ok(None);
        }
    }))
}

/// Reads the scale of a mesh; numbers beyond the third have no effect.
fn read_scale(reader: &mut Reader, element: &Element) -> Result<Vector3<f64>, Refusal> {
    let Some(attribute) = element.get("scale") else { return Ok(Vector3::repeat(1.0)) };
    let all = attribute.list(MAX_SCALES)?;
    if all.len() > 3 {
        reader.note(
            &attribute.place,
            "mesh scale".to_owned(),
            "has more than three numbers, of which the first three count",
        );
    }
    match all.as_slice() {
        [x, y, z, ..] => Ok(Vector3::new(*x, *y, *z)),
        _ => Err(attribute.refuse(format!("needs 3 numbers, but has {}", all.len()))),
    }
}

fn read_joint<'a>(reader: &mut Reader, element: &'a Element) -> Result<Edge<'a>, Refusal> {
    reader.check_attributes(element, &only(&["name", "type"]));
    let name = element.required("name")?;
    let kind = element.required("type")?;
    let end = |tag: &str| {
        let end = element.child(tag).ok_or_else(|| element.place.refuse(format!("<joint> needs <{tag}>")))?;
        end.required("link")
    };
    let (parent, child) = (end("parent")?, end("child")?);
    for child in element.children.iter().filter(|child| !JOINT.contains(&child.tag.as_str())) {
        reader.not_read(child, &JOINT, &["calibration", "safety_controller", "hardwareInterface"]);
    }
    let moves = match kind.value.as_str() {
        "revolute" | "continuous" => Some(JointKind::Revolute),
        "prismatic" => Some(JointKind::Prismatic),
        "planar" => Some(JointKind::Planar),
        "floating" => Some(JointKind::Free),
        "spherical" => Some(JointKind::Ball),
        "fixed" => None,
        other => {
            let hint = crate::suggestion(other, KINDS);
            return Err(kind.refuse(format!("\"{other}\" is no joint of URDF")).hint(hint));
        }
    };
    let origin = pose(reader, element)?;
    let joint = moves.map(|moves| motion(reader, element, name, kind, moves)).transpose()?;
    Ok(Edge { element, parent, child, origin, joint })
}

fn motion(
    reader: &mut Reader,
    element: &Element,
    name: &Attribute,
    kind: &Attribute,
    moves: JointKind,
) -> Result<Joint, Refusal> {
    let axis = match element.child("axis") {
        Some(axis) => {
            reader.check_attributes(axis, &only(&["xyz"]));
            let xyz = axis.required("xyz")?;
            let vector = axis.vector("xyz")?.unwrap_or_default();
            orientation::direction(vector).ok_or_else(|| xyz.refuse("must have a direction"))?
        }
        None => Vector3::x_axis(),
    };
    let mut joint = Joint { name: name.value.clone(), axis, ..Joint::at_rest(moves) };
    let bounded = ["revolute", "prismatic"].contains(&kind.value.as_str());
    if let Some(limit) = element.child("limit") {
        reader.check_attributes(limit, &only(&["lower", "upper", "effort", "velocity"]));
        let [lower, upper] = [limit.number("lower")?, limit.number("upper")?].map(Option::unwrap_or_default);
        if bounded && lower > upper {
            reader.note(
                &limit.place,
                "<limit> with `lower` above `upper`".to_owned(),
                "is taken for a joint without limits",
            );
        }
        joint.limits = (bounded && lower <= upper).then_some([lower, upper]);
        joint.effort_limit = limit.get("effort").map(|_| limit.amount("effort", 0.0)).transpose()?;
        joint.speed_limit = limit.get("velocity").map(|_| limit.amount("velocity", 0.0)).transpose()?;
    } else if bounded {
        return Err(element.place.refuse(format!("a {} joint needs <limit>", kind.value)));
    }
    if let Some(dynamics) = element.child("dynamics") {
        reader.check_attributes(dynamics, &only(&["damping", "friction"]));
        joint.damping = dynamics.amount("damping", 0.0)?;
        joint.friction = dynamics.amount("friction", 0.0)?;
    }
    Ok(joint)
}

/// Returns the links from the root outwards, with the world in front, and the places of their elements.
fn tree(
    reader: &Reader,
    root: &Element,
    links: &BTreeMap<&str, Link>,
    order: &[(&str, &Element)],
    edges: &[Edge],
) -> Result<(Vec<Link>, Vec<LinkPlaces>), Refusal> {
    let mut above: BTreeMap<&str, &Edge> = BTreeMap::new();
    let mut below: BTreeMap<&str, Vec<&Edge>> = BTreeMap::new();
    for edge in edges {
        for end in [edge.parent, edge.child] {
            if !links.contains_key(end.value.as_str()) {
                let hint = crate::suggestion(&end.value, links.keys().copied());
                return Err(end.refuse(format!("\"{}\" is no link of this robot", end.value)).hint(hint));
            }
        }
        if above.insert(edge.child.value.as_str(), edge).is_some() {
            return Err(edge.child.refuse(format!("\"{}\" is the child of two joints", edge.child.value)));
        }
        below.entry(edge.parent.value.as_str()).or_default().push(edge);
    }
    let mut roots = order.iter().filter(|(name, _)| !above.contains_key(name));
    let (Some((first, first_element)), second) = (roots.next(), roots.next()) else {
        let message = if links.is_empty() { "has no link" } else { "has no root: the joints form a cycle" };
        return Err(root.place.refuse(format!("the robot {message}")));
    };
    if let Some((second, element)) = second {
        return Err(element.place.refuse(format!("\"{second}\" and \"{first}\" are both roots: no joint moves them")));
    }
    let mut base = links.get(first).cloned().unwrap_or_else(Link::world);
    base.parent = Some(LinkId(0));
    if reader.options.base == Base::Free {
        base.joints.push(Joint::at_rest(JointKind::Free));
    }
    let inertias: BTreeMap<&str, Place> = order
        .iter()
        .filter_map(|(name, link)| Some((*name, link.child("inertial")?.child("inertia")?.place.clone())))
        .collect();
    let places_of = |name: &str, link: &Place| LinkPlaces { link: link.clone(), inertia: inertias.get(name).cloned() };
    let (mut sorted, mut places) =
        (vec![Link::world(), base], vec![places_of("", &root.place), places_of(first, &first_element.place)]);
    let mut next = 1;
    while let Some(parent) = sorted.get(next).map(|link| link.name.clone()) {
        for edge in below.get(parent.as_str()).into_iter().flatten() {
            let Some(link) = links.get(edge.child.value.as_str()) else { continue };
            let joints = edge.joint.iter().cloned().collect();
            sorted.push(Link { parent: Some(LinkId(next)), origin: edge.origin, joints, ..link.clone() });
            places.push(places_of(&edge.child.value, &edge.element.place));
        }
        next += 1;
    }
    // Links of a cycle all have a parent, but no path from the root.
    let reached: BTreeSet<_> = sorted.iter().skip(1).map(|link| link.name.as_str()).collect();
    match order.iter().find(|(name, _)| !reached.contains(name)) {
        Some((name, element)) => {
            Err(element.place.refuse(format!("link \"{name}\" is its own ancestor: the joints above it form a cycle")))
        }
        None => Ok((sorted, places)),
    }
}

/// Returns the joints with one coordinate, by name.
fn single_joints(robot: &Robot) -> BTreeMap<String, JointId> {
    let single = robot.joints().filter(|(_, joint)| joint.kind.dof() == 1);
    single.map(|(id, joint)| (joint.name.clone(), id)).collect()
}

fn mimic(reader: &mut Reader, singles: &BTreeMap<String, JointId>, edge: &Edge) -> Result<Option<Constraint>, Refusal> {
    let Some(mimic) = edge.element.child("mimic") else { return Ok(None) };
    let Some(own) = &edge.joint else {
        reader.note(&mimic.place, "<mimic>".to_owned(), "has no effect on a fixed joint");
        return Ok(None);
    };
    reader.check_attributes(mimic, &only(&["joint", "multiplier", "offset"]));
    let name = mimic.required("joint")?;
    if name.value == own.name {
        return Err(name.refuse(format!("\"{}\" follows itself", own.name)));
    }
    let Some(&leader) = singles.get(&name.value) else {
        let reason = "has no effect: no joint of one coordinate has this name";
        reader.note(&name.place, format!("<mimic> of \"{}\"", name.value), reason);
        return Ok(None);
    };
    let Some(&follower) = singles.get(&own.name) else {
        return Err(mimic.place.refuse("only a joint of one coordinate can follow another"));
    };
    let [ratio, offset] = [mimic.number("multiplier")?.unwrap_or(1.0), mimic.number("offset")?.unwrap_or(0.0)];
    Ok(Some(Constraint {
        name: None,
        active: true,
        kind: ConstraintKind::Couple { follower, leader: Some(leader), polynomial: [offset, ratio, 0.0, 0.0, 0.0] },
    }))
}

impl Link {
    /// Returns the world link.
    pub(super) fn world() -> Self {
        Self {
            name: "world".to_owned(),
            parent: None,
            origin: Isometry3::identity(),
            joints: Vec::new(),
            driven: false,
            gravity_compensation: 0.0,
            inertial: None,
            shapes: Vec::new(),
        }
    }
}

impl Joint {
    /// Returns a joint about the z axis through the origin, without limits, friction or springs.
    pub(super) fn at_rest(kind: JointKind) -> Self {
        Self {
            name: String::new(),
            kind,
            anchor: Point3::origin(),
            axis: Vector3::z_axis(),
            limits: None,
            speed_limit: None,
            effort_limit: None,
            reference: 0.0,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            stiffness: 0.0,
            spring_reference: 0.0,
        }
    }
}
