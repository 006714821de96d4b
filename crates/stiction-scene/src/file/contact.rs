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
            /// Coulomb's coefficient of friction, static and kinetic. Default in `[contact_default]`: 0.
            #[schemars(extend("examples" = [0.5], "minimum" = 0, "maximum" = 1e9))]
            pub(crate) friction: Option<f64>,
            /// False if the bodies pass through each other. Bodies connected by a joint collide only if a rule for
            /// their pair says true.
            pub(crate) collide: Option<bool>,
            /// Number of friction directions in space: even, from 4 to 1024. Default in `[contact_default]`: that of
            /// `[scheme]`.
            #[schemars(title = "an even whole number from 4 to 1024", extend("examples" = [8]))]
            pub(crate) directions: Option<u32>,
            /// First friction direction, in the axes of `direction_body`; projected onto the tangent plane.
            pub(crate) first_direction: Option<Vector>,
            /// Body in whose axes `first_direction` is given. The direction turns with this body. Default in
            /// `[contact_default]`: `world`.
            #[schemars(extend("examples" = ["plate"]))]
            pub(crate) direction_body: Option<String>,
            /// Rotation of all friction directions about the normal. Default in `[contact_default]`: 0.
            pub(crate) direction_offset: Option<Angle>,
            /// Factors of the friction coefficient along the first friction direction and across it. Default in
            /// `[contact_default]`: `[1, 1]`.
            #[schemars(extend("examples" = [[1.0, 0.5]]))]
            pub(crate) ellipse: Option<[f64; 2]>,
            /// Lever of torsional friction, m. Spinning about the normal is resisted like sliding at this radius.
            /// Default in `[contact_default]`: 0.
            #[schemars(extend("examples" = [0.01], "minimum" = 0))]
            pub(crate) torsion: Option<f64>,
            /// Coefficient of rolling friction, m. Rolling is resisted by a moment of at most this times the normal
            /// force. Needs `friction` above zero. Default in `[contact_default]`: 0.
            #[schemars(extend("examples" = [0.001], "minimum" = 0))]
            pub(crate) rolling: Option<f64>,
            /// Coefficient of restitution, from 0 to 1. Default in `[contact_default]`: 0.
            #[schemars(extend("examples" = [0.7], "minimum" = 0, "maximum" = 1))]
            pub(crate) restitution: Option<f64>,
            /// Weight γ of the gap, from 0 to 1. Default in `[contact_default]`: that of `[scheme]`.
            #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
            pub(crate) gamma: Option<f64>,
            /// Distance below which contacts enter the solver. Default in `[contact_default]`: that of `[scheme]`.
            pub(crate) margin: Option<MarginValue>,
            /// Compliant layer between the bodies: the name of a `[material]`, or `rigid` for none. Default in
            /// `[contact_default]`: the layers of both bodies in series.
            #[schemars(extend("examples" = ["rubber"]))]
            pub(crate) material: Option<String>,
        }

        impl $name {
            /// Returns the rule without the pair it applies to.
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
                    rolling: self.rolling,
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
    /// Contact rule of all pairs of bodies without a rule of their own.
    #[derive(Default)]
    ContactDefaultTable {}
);
rule_table!(
    /// Contact rule of one pair of bodies. Omitted keys follow `[contact_default]`.
    ContactTable {
        /// Names of the two bodies.
        #[schemars(title = "the names of two bodies", extend("examples" = [["rod", "table"]]))]
        pub(crate) between: [String; 2],
    }
);

/// Keys common to both kinds of rule.
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
    pub(crate) rolling: Option<f64>,
    pub(crate) restitution: Option<f64>,
    pub(crate) gamma: Option<f64>,
    pub(crate) margin: Option<&'a MarginValue>,
    pub(crate) material: Option<&'a str>,
}
