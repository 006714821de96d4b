//! All cases: one file each, one line in the table.

mod c01;
mod c02;
mod c03;
mod c04;
mod c05;
mod c06;
mod c07;
mod c08;
mod c09;
mod c10;
mod c11;
mod c12;
mod c13;
mod c14;
mod c15;
mod c16;
mod c17;
mod c18;
mod c19;
mod c20;
mod c21;
mod c22;
mod c23;
mod c24;
mod c25;
mod c26;
mod c27;
mod c28;
mod c29;
mod c30;
mod c31;
mod c32;
mod c33;
mod pendulum;
mod plate;
mod recorded;
mod space_pendulum;

use crate::Case;

/// Entry of a case in the table: its name and its module.
macro_rules! case {
    ($id:literal, $module:ident) => {
        Case {
            id: $id,
            file: concat!("reference/", stringify!($module), ".json"),
            text: include_str!(concat!("../../../../reference/", stringify!($module), ".json")),
            run: $module::run,
        }
    };
}

/// The cases.
pub const CASES: &[Case] = &[
    case!("C-01", c01),
    case!("C-02", c02),
    case!("C-03", c03),
    case!("C-04", c04),
    case!("C-05", c05),
    case!("C-06", c06),
    case!("C-07", c07),
    case!("C-08", c08),
    case!("C-09", c09),
    case!("C-10", c10),
    case!("C-11", c11),
    case!("C-12", c12),
    case!("C-13", c13),
    case!("C-14", c14),
    case!("C-15", c15),
    case!("C-16", c16),
    case!("C-17", c17),
    case!("C-18", c18),
    case!("C-19", c19),
    case!("C-20", c20),
    case!("C-21", c21),
    case!("C-22", c22),
    case!("C-23", c23),
    case!("C-24", c24),
    case!("C-25", c25),
    case!("C-26", c26),
    case!("C-27", c27),
    case!("C-28", c28),
    case!("C-29", c29),
    case!("C-30", c30),
    case!("C-31", c31),
    case!("C-32", c32),
    case!("C-33", c33),
];
