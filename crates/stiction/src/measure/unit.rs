//! Units of columns and of values computed from them.

/// Powers of kg, m, s and rad.
type Powers = [i32; 4];

const NONE: Powers = [0, 0, 0, 0];
const METRE: Powers = [0, 1, 0, 0];
const SECOND: Powers = [0, 0, 1, 0];
const RADIAN: Powers = [0, 0, 0, 1];
const SPEED: Powers = [0, 1, -1, 0];
const TURNING: Powers = [0, 0, -1, 1];
const IMPULSE: Powers = [1, 1, -1, 0];
const ANGULAR_IMPULSE: Powers = [1, 2, -1, 0];
const JOULE: Powers = [1, 2, -2, 0];

/// Derived units with their powers of the base units.
const NAMED: [(&str, Powers); 16] = [
    ("", NONE),
    ("m", METRE),
    ("s", SECOND),
    ("rad", RADIAN),
    ("m/s", SPEED),
    ("m/s²", [0, 1, -2, 0]),
    ("rad/s", TURNING),
    ("rad/s²", [0, 0, -2, 1]),
    ("N", [1, 1, -2, 0]),
    ("N s", IMPULSE),
    ("N m s", ANGULAR_IMPULSE),
    ("J", JOULE),
    ("W", [1, 2, -3, 0]),
    ("N/m", [1, 0, -2, 0]),
    ("Pa", [1, -1, -2, 0]),
    ("1/s", [0, 0, -1, 0]),
];

/// Unit of a value, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Literal number: it takes the unit of the other operand.
    Any,
    /// Powers of the base units.
    Known(Powers),
    /// Not known.
    Unknown,
}

impl Unit {
    pub(super) const NONE: Self = Self::Known(NONE);
    pub(super) const SECOND: Self = Self::Known(SECOND);

    /// Unit of a sum, a difference or a selection.
    pub(super) fn sum(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, unit) | (unit, Self::Any) => unit,
            (a, b) if a == b => a,
            _ => Self::Unknown,
        }
    }

    /// Unit of a product (`sign` 1) or a quotient (`sign` -1).
    pub(super) fn product(self, other: Self, sign: i32) -> Self {
        match (self, other) {
            (Self::Any, Self::Any) => Self::Any,
            (unit, Self::Any) => unit,
            (Self::Any, unit) => Self::NONE.product(unit, sign),
            (Self::Known(a), Self::Known(b)) => {
                let mut powers = [0, 1, 2, 3].map(|i: usize| {
                    let of = |powers: &Powers| powers.get(i).copied().unwrap_or_default();
                    of(&a) + sign * of(&b)
                });
                // A radian is dimensionless: an angle times a length is a length.
                if let [kg, m, _, rad] = &mut powers
                    && (*kg != 0 || *m != 0)
                {
                    *rad = 0;
                }
                Self::Known(powers)
            }
            _ => Self::Unknown,
        }
    }

    /// Unit of a power with a constant exponent.
    pub(super) fn power(self, exponent: Option<f64>) -> Self {
        match (self, exponent) {
            (Self::Any | Self::Known(NONE), _) => self,
            (Self::Known(powers), Some(n)) => {
                let scaled = powers.map(|power| f64::from(power) * n);
                if scaled.iter().all(|power| power.fract() == 0.0 && power.abs() < 100.0) {
                    Self::Known(scaled.map(|power| power as i32))
                } else {
                    Self::Unknown
                }
            }
            _ => Self::Unknown,
        }
    }

    /// Text for an axis; `None` if the unit is not known.
    pub(super) fn name(self) -> Option<String> {
        let powers = match self {
            Self::Any => NONE,
            Self::Known(powers) => powers,
            Self::Unknown => return None,
        };
        if let Some((name, _)) = NAMED.iter().find(|(_, known)| *known == powers) {
            return Some((*name).to_owned());
        }
        let parts = ["kg", "m", "s", "rad"].into_iter().zip(powers).filter(|(_, power)| *power != 0);
        let parts: Vec<_> = parts.map(|(base, power)| format!("{base}{}", raised(power))).collect();
        Some(parts.join(" "))
    }
}

fn raised(power: i32) -> String {
    if power == 1 {
        return String::new();
    }
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit as usize).unwrap_or(c),
        None => '⁻',
    };
    power.to_string().chars().map(raised).collect()
}

/// Unit of a column of the trajectory, by its name.
pub(super) fn of_column(name: &str) -> Unit {
    match name {
        "t" => return Unit::SECOND,
        "kinetic" | "potential" | "total" => return Unit::Known(JOULE),
        "penetration" => return Unit::Known(METRE),
        "contacts" | "problem_size" | "iterations" => return Unit::NONE,
        _ => {}
    }
    match name.rsplit_once('.').map(|(_, quantity)| quantity) {
        Some("x" | "y" | "z") => Unit::Known(METRE),
        Some("angle") => Unit::Known(RADIAN),
        Some("vx" | "vy" | "vz") => Unit::Known(SPEED),
        Some("wx" | "wy" | "wz") => Unit::Known(TURNING),
        Some("qw" | "qx" | "qy" | "qz") => Unit::NONE,
        Some(part) if part.starts_with("support_") && part.ends_with("_spin") => Unit::Known(ANGULAR_IMPULSE),
        Some(part) if part.starts_with("support_") => Unit::Known(IMPULSE),
        _ => Unit::Unknown,
    }
}

/// Unit of a column of the contact table, by its name.
pub(super) fn of_contact_column(name: &str) -> Unit {
    match name {
        "t" => Unit::SECOND,
        "gap" | "compression" | "point_x" | "point_y" | "point_z" | "shear_x" | "shear_y" | "shear_z" => {
            Unit::Known(METRE)
        }
        "normal_impulse" | "friction_impulse_x" | "friction_impulse_y" | "friction_impulse_z" | "core_impulse"
        | "core_friction_x" | "core_friction_y" | "core_friction_z" => Unit::Known(IMPULSE),
        "spin_impulse" | "core_spin" | "rolling_impulse_x" | "rolling_impulse_y" | "rolling_impulse_z" => {
            Unit::Known(ANGULAR_IMPULSE)
        }
        "slip_x" | "slip_y" | "slip_z" | "sigma" => Unit::Known(SPEED),
        "layer_energy" => Unit::Known(JOULE),
        "normal_x" | "normal_y" | "normal_z" | "shape_a" | "shape_b" | "feature_a" | "feature_b" => Unit::NONE,
        _ => Unit::Unknown,
    }
}
