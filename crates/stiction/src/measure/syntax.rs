//! Expression trees.

use std::ops::Range;

/// An expression and its byte range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) span: Range<usize>,
}

/// Kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    /// A column, or a predefined name.
    Name(String),
    /// Quoted text: a value to compare with, or a column.
    Text(String),
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
    /// A column of one contact.
    Contact {
        label: String,
        column: String,
    },
}

/// Operators between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
}

/// Functions; the parser resolves overloads by the number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Each(Each),
    Atan2,
    Hypot,
    Min,
    Max,
    Clamp,
    If,
    Default,
    Derivative,
    Integral,
    RunningSum,
    Contacts(Gather),
    Whole(Whole),
    Timed(Timed),
}

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Each {
    Abs,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sign,
    Floor,
}

/// Reduction of the contacts of a moment to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gather {
    Sum,
    Min,
    Max,
    Count,
}

/// Functions of a series and a number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timed {
    At,
    Average,
    SumEvery,
}

/// Reduction of a series to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    Initial,
    Final,
    Min,
    Max,
    Mean,
    First,
    Last,
    Any,
    All,
}

/// Names, functions and numbers of arguments.
pub(super) const FUNCTIONS: [(&str, Function, usize); 38] = [
    ("abs", Function::Each(Each::Abs), 1),
    ("sqrt", Function::Each(Each::Sqrt), 1),
    ("exp", Function::Each(Each::Exp), 1),
    ("log", Function::Each(Each::Log), 1),
    ("sin", Function::Each(Each::Sin), 1),
    ("cos", Function::Each(Each::Cos), 1),
    ("tan", Function::Each(Each::Tan), 1),
    ("asin", Function::Each(Each::Asin), 1),
    ("acos", Function::Each(Each::Acos), 1),
    ("atan", Function::Each(Each::Atan), 1),
    ("sign", Function::Each(Each::Sign), 1),
    ("floor", Function::Each(Each::Floor), 1),
    ("atan2", Function::Atan2, 2),
    ("hypot", Function::Hypot, 2),
    ("min", Function::Min, 2),
    ("min", Function::Whole(Whole::Min), 1),
    ("max", Function::Max, 2),
    ("max", Function::Whole(Whole::Max), 1),
    ("clamp", Function::Clamp, 3),
    ("if", Function::If, 3),
    ("default", Function::Default, 2),
    ("deriv", Function::Derivative, 1),
    ("integral", Function::Integral, 1),
    ("cumsum", Function::RunningSum, 1),
    ("sum_contacts", Function::Contacts(Gather::Sum), 1),
    ("min_contacts", Function::Contacts(Gather::Min), 1),
    ("max_contacts", Function::Contacts(Gather::Max), 1),
    ("count_contacts", Function::Contacts(Gather::Count), 1),
    ("initial", Function::Whole(Whole::Initial), 1),
    ("final", Function::Whole(Whole::Final), 1),
    ("mean", Function::Whole(Whole::Mean), 1),
    ("first", Function::Whole(Whole::First), 1),
    ("last", Function::Whole(Whole::Last), 1),
    ("any", Function::Whole(Whole::Any), 1),
    ("all", Function::Whole(Whole::All), 1),
    ("at", Function::Timed(Timed::At), 2),
    ("average", Function::Timed(Timed::Average), 2),
    ("sum_every", Function::Timed(Timed::SumEvery), 2),
];
