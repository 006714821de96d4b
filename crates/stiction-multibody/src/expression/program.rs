//! Flat postfix programs over jets.

use super::Jet;

/// Largest number of operands on the stack; the parser refuses programs that need more.
pub(super) const MAX_STACK: usize = 64;

/// Depth up to which programs (nearly all) run on a small stack, which fits two cache lines of jets.
const SMALL_STACK: usize = 8;

/// One operation; operands come from the top of the stack, the last one topmost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Constant(f64),
    Time,
    Unary(Unary),
    Binary(Binary),
    Clamp,
    /// `if(l ? r, a, b)` takes l, r, a, b.
    Select(Comparison),
}

/// Comparison of the condition of an `if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn holds(self, l: f64, r: f64) -> bool {
        match self {
            Self::Less => l < r,
            Self::LessOrEqual => l <= r,
            Self::Greater => l > r,
            Self::GreaterOrEqual => l >= r,
        }
    }
}

/// Operators and functions of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sqrt,
    Exp,
    Log,
    Abs,
    Sign,
    Floor,
    Step,
}

/// Operators and functions of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Modulo,
    Min,
    Max,
}

impl Op {
    /// Number of operands taken from the stack; each operation leaves one result.
    pub(super) fn operands(self) -> usize {
        match self {
            Self::Constant(_) | Self::Time => 0,
            Self::Unary(_) => 1,
            Self::Binary(_) => 2,
            Self::Clamp => 3,
            Self::Select(_) => 4,
        }
    }
}

/// A postfix program that leaves exactly one result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    ops: Box<[Op]>,
    depth: usize,
}

impl Program {
    /// A program of operations in postfix order.
    pub(super) fn new(ops: Vec<Op>) -> Self {
        let depth = depth_of(&ops);
        Self { ops: ops.into(), depth }
    }

    /// Largest number of operands on the stack.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn as_constant(&self) -> Option<f64> {
        match self.ops.as_ref() {
            [Op::Constant(value)] => Some(*value),
            _ => None,
        }
    }

    pub(super) fn run(&self, t: f64) -> Jet {
        match self.ops.as_ref() {
            [Op::Constant(value)] => Jet::constant(*value),
            _ if self.depth <= SMALL_STACK => self.run_on::<SMALL_STACK>(t),
            _ => self.run_on::<MAX_STACK>(t),
        }
    }

    fn run_on<const N: usize>(&self, t: f64) -> Jet {
        let mut stack = [Jet::default(); N];
        let mut height = 0;
        for &op in &self.ops {
            debug_assert!(op.operands() <= height && height <= N, "{op:?} follows its operands");
            let base = height - op.operands().min(height);
            let result = match (op, stack.get(base..height).unwrap_or_default()) {
                (Op::Constant(value), _) => Jet::constant(value),
                (Op::Time, _) => Jet::time(t),
                (Op::Unary(f), &[x]) => unary(f, x),
                (Op::Binary(f), &[a, b]) => binary(f, a, b),
                (Op::Clamp, &[x, low, high]) => x.max(low).min(high),
                (Op::Select(comparison), &[l, r, a, b]) => {
                    if comparison.holds(l.value, r.value) {
                        a
                    } else {
                        b
                    }
                }
                // Unreachable: the parser emits every operation after its operands.
                _ => {
                    debug_assert!(false, "{op:?} has no operands");
                    Jet::constant(f64::NAN)
                }
            };
            debug_assert!(base < N, "the stack holds the operands of the program");
            if let Some(top) = stack.get_mut(base) {
                *top = result;
            }
            height = base + 1;
        }
        debug_assert_eq!(height, 1, "a program leaves one result");
        stack[0]
    }
}

/// Largest number of operands on the stack while running `ops`.
fn depth_of(ops: &[Op]) -> usize {
    let mut height = 0_usize;
    let heights = ops.iter().map(|op| {
        height = height.saturating_sub(op.operands()) + 1;
        height
    });
    heights.max().unwrap_or(0)
}

fn unary(f: Unary, x: Jet) -> Jet {
    match f {
        Unary::Negate => -x,
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
        Unary::Sqrt => x.sqrt(),
        Unary::Exp => x.exp(),
        Unary::Log => x.log(),
        Unary::Abs => x.abs(),
        Unary::Sign => x.sign(),
        Unary::Floor => x.floor(),
        Unary::Step => x.step(),
    }
}

fn binary(f: Binary, a: Jet, b: Jet) -> Jet {
    match f {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Power => a.power(b),
        Binary::Modulo => a.modulo(b),
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
    }
}
