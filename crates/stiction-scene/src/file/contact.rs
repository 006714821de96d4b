//! `[contact_default]` and `[[contact]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Angle, MarginValue, Vector};

macro_rules! rule_table {
    ($(#[$doc:meta])* $name:ident { $($extra:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($extra)*
            /// Coulomb's coefficient of friction, static and kinetic alike.
            #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e9))]
            pub(crate) friction: Option<f64>,
            /// False lets the bodies pass through each other. Bodies joined by a joint do not collide unless a rule of their
            /// own says so.
            pub(crate) collide: Option<bool>,
            /// Number of friction directions in space: even, from 4 to 1024.
            #[schemars(title = "an even whole number from 4 to 1024", extend("examples" = [8]))]
            pub(crate) directions: Option<u32>,
            /// First friction direction, in world axes; projected onto the tangent plane.
            pub(crate) first_direction: Option<Vector>,
            /// The body in whose axes `first_direction` is meant, and with which it turns; the world when left out.
            #[schemars(extend("examples" = ["plate"]))]
            pub(crate) direction_body: Option<String>,
            /// Turns all friction directions about the normal.
            pub(crate) direction_offset: Option<Angle>,
            /// Friction along the first friction direction and across it, in units of the coefficient; `[1, 1]` when left out.
            #[schemars(extend("examples" = [[1.0, 0.5]]))]
            pub(crate) ellipse: Option<[f64; 2]>,
            /// Lever of torsional friction, m: spinning about the normal is resisted like sliding at this radius. 0 when left
            /// out.
            #[schemars(extend("examples" = [0.01], "minimum" = 0))]
            pub(crate) torsion: Option<f64>,
            /// Coefficient of restitution, from 0 (when left out) to 1.
            #[schemars(extend("examples" = [0.7], "minimum" = 0, "maximum" = 1))]
            pub(crate) restitution: Option<f64>,
            /// Weight of the gap, from 0 to 1; that of the scheme when left out.
            #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
            pub(crate) gamma: Option<f64>,
            /// Contacts nearer than this are given to the solver; that of the scheme when left out.
            pub(crate) margin: Option<MarginValue>,
            /// The compliant layer between the bodies: the name of a `[material]`, or `rigid` for none; those that the bodies bear, one
            /// behind the other, when left out.
            #[schemars(extend("examples" = ["rubber"]))]
            pub(crate) material: Option<String>,
        }

        impl $name {
            /// The rule without the pair it is for.
            pub(crate) fn rule(&self) -> ContactRuleTable<'_> {
                ContactRuleTable {
                    friction: self.friction,
                    collide: self.collide,
                    directions: self.directions,
                    first_direction: self.first_direction.as_ref(),
                    direction_body: self.direction_body.as_deref(),
                    direction_offset: self.direction_offset.as_ref(),
                    ellipse: self.ellipse,
                    torsion: self.torsion,
                    restitution: self.restitution,
                    gamma: self.gamma,
                    margin: self.margin.as_ref(),
                    material: self.material.as_deref(),
                }
            }
        }
    };
}

rule_table!(
    /// The rule for every pair of bodies without one of its own.
    #[derive(Default)]
    ContactDefaultTable {}
);
rule_table!(
    /// The rule for one pair of bodies; what is left out follows `[contact_default]`.
    ContactTable {
        /// The two bodies.
        #[schemars(title = "the names of two bodies", extend("examples" = [["rod", "table"]]))]
        pub(crate) between: [String; 2],
    }
);

/// What both kinds of rule say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRuleTable<'a> {
    pub(crate) friction: Option<f64>,
    pub(crate) collide: Option<bool>,
    pub(crate) directions: Option<u32>,
    pub(crate) first_direction: Option<&'a Vector>,
    pub(crate) direction_body: Option<&'a str>,
    pub(crate) direction_offset: Option<&'a Angle>,
    pub(crate) ellipse: Option<[f64; 2]>,
    pub(crate) torsion: Option<f64>,
    pub(crate) restitution: Option<f64>,
    pub(crate) gamma: Option<f64>,
    pub(crate) margin: Option<&'a MarginValue>,
    pub(crate) material: Option<&'a str>,
}
