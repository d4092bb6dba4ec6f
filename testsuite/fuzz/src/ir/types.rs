//! The types of generated values, and constants of them.

use super::tape::Tape;

/// A type of LLVM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ty {
    Int(u32),
    Float(&'static str),
    /// So many integers of that width.
    Vector(u32, u32),
    /// [`STRUCTURE`].
    Structure,
}

/// A structure that is passed and returned as it is.
pub const STRUCTURE: &str = "{ i32, i64, i8 }";

const ALL: [Ty; 17] = [
    Ty::Int(1),
    Ty::Int(3),
    Ty::Int(8),
    Ty::Int(13),
    Ty::Int(16),
    Ty::Int(32),
    Ty::Int(64),
    Ty::Int(65),
    Ty::Int(128),
    Ty::Int(257),
    Ty::Float("float"),
    Ty::Float("double"),
    Ty::Float("x86_fp80"),
    Ty::Vector(4, 32),
    Ty::Vector(3, 8),
    Ty::Vector(8, 1),
    Ty::Structure,
];

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Ty::Int(width) => write!(f, "i{width}"),
            Ty::Float(name) => f.write_str(name),
            Ty::Vector(count, width) => write!(f, "<{count} x i{width}>"),
            Ty::Structure => f.write_str(STRUCTURE),
        }
    }
}

impl Ty {
    /// Any type; integers more often than others.
    pub fn draw(tape: &mut Tape) -> Ty {
        match tape.once_in(3) {
            true => Ty::Int(tape.choose(&[8, 32, 64])),
            false => tape.choose(&ALL),
        }
    }

    /// How names of intrinsics end.
    pub fn suffix(self) -> String {
        match self {
            Ty::Int(width) => format!("i{width}"),
            Ty::Float("float") => "f32".to_string(),
            Ty::Float("double") => "f64".to_string(),
            Ty::Float(_) => "f80".to_string(),
            Ty::Vector(count, width) => format!("v{count}i{width}"),
            Ty::Structure => String::new(),
        }
    }

    /// A constant.
    pub fn constant(self, tape: &mut Tape) -> String {
        match self {
            Ty::Int(1) => tape.choose(&["true", "false"]).to_string(),
            Ty::Int(width) => {
                // The value has to fit, whichever way it is read.
                let limit = 1u64 << (width - 1).min(62);
                let number = match tape.below(4) {
                    0 => tape.below(4) as u64,
                    1 => limit - 1,
                    2 => tape.any(),
                    _ => tape.any() & 0xff,
                };
                (number % limit).to_string()
            }
            Ty::Float("x86_fp80") => tape
                .choose(&[
                    "0xK00000000000000000000",
                    "0xK3FFF8000000000000000",
                    "0xKC000C90FDAA22168C000",
                    "0xK400EC350000000000000",
                ])
                .to_string(),
            Ty::Float(_) => tape
                .choose(&["0.0", "1.0", "-2.5", "1.024e+03"])
                .to_string(),
            Ty::Vector(count, width) => {
                let elements: Vec<String> = (0..count)
                    .map(|_| format!("i{width} {}", Ty::Int(width).constant(tape)))
                    .collect();
                format!("<{}>", elements.join(", "))
            }
            Ty::Structure => {
                let mut field = |width| format!("i{width} {}", Ty::Int(width).constant(tape));
                format!("{{ {}, {}, {} }}", field(32), field(64), field(8))
            }
        }
    }
}
