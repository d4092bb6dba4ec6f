//! What a function takes and returns, read from its debug info.
//!
//! Pointers are what debug info leaves open. One belongs to a length if an integer stands beside it that is called
//! like one or is a `size_t`; several pointers before one length share it. Otherwise a pointer to characters is a
//! string, and any other leads to one object. Parameters for which none of this can hold are refused; members of
//! structures begin as null then.

use super::{Driver, Entry};
use crate::llvm::{encoding, tag, Node, Value};
use crate::{Error, Result};

/// The kinds of `runtime/entry/entry.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Integer,
    Bool,
    Float,
    Enum,
    Flags,
    Raw,
    Struct,
    Array,
    Pointer,
    Buffer,
    String,
    Length,
    Address,
}

/// The flags of `runtime/entry/entry.h`.
mod flag {
    pub(super) const SIGNED: u32 = 1;
    pub(super) const CHARACTERS: u32 = 2;
    pub(super) const CONSTANT: u32 = 4;
    pub(super) const TERMINATED: u32 = 8;
    pub(super) const SHOWN: u32 = 16;
    pub(super) const FOLLOWS: u32 = 32;
    pub(super) const THROUGH: u32 = 64;
    pub(super) const STRINGS: u32 = 128;
}

/// A parameter, a member or what a pointer leads to.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    pub(super) flags: u32,
    /// In bytes, in what it is part of.
    pub(super) offset: u64,
    pub(super) size: u64,
    /// Of a bit-field.
    pub(super) bits: u32,
    pub(super) shift: u32,
    /// Elements of an array.
    pub(super) count: u64,
    /// Which of the siblings is a buffer's length.
    pub(super) partner: Option<usize>,
    pub(super) name: String,
    pub(super) children: Vec<Shape>,
    pub(super) enumerators: Vec<(String, i64)>,
    /// The type as it is written.
    text: String,
}

/// How a call of a function is made of bytes.
#[derive(Clone, Debug)]
pub struct Signature {
    pub(super) function: String,
    /// A structure of them.
    pub(super) parameters: Shape,
    /// None: `void`.
    pub(super) result: Option<Shape>,
    /// Bytes for all of these.
    pub(super) frame: u64,
}

/// Structures whose members are nobody's business.
const OPAQUE: [&str; 4] = ["_IO_FILE", "__va_list_tag", "__dirstream", "__jmp_buf_tag"];

/// More shapes than this are no interface.
const MANY: usize = 5000;
/// Longer arrays are not made.
const LARGE: u64 = 1 << 20;

/// A type without typedefs and qualifiers, and what was taken off.
struct Stripped {
    /// None: `void`.
    node: Option<Node>,
    is_const: bool,
    typedefs: Vec<String>,
}

fn strip(ty: Option<Node>) -> Stripped {
    let mut stripped = Stripped {
        node: ty,
        is_const: false,
        typedefs: Vec::new(),
    };
    while let Some(node) = stripped.node {
        let debug = node.debug_type();
        match debug.tag {
            tag::CONST => stripped.is_const = true,
            tag::TYPEDEF => stripped.typedefs.push(node.type_name()),
            tag::VOLATILE | tag::RESTRICT | tag::ATOMIC => {}
            _ => break,
        }
        stripped.node = debug.base;
    }
    stripped
}

impl Stripped {
    fn tag(&self) -> u32 {
        self.node.map_or(0, |node| node.debug_type().tag)
    }

    fn is_pointer(&self) -> bool {
        let pointers = [tag::POINTER, tag::REFERENCE, tag::RVALUE_REFERENCE];
        pointers.contains(&self.tag())
    }

    fn pointee(&self) -> Stripped {
        strip(self.node.and_then(|node| node.debug_type().base))
    }

    /// Of a base type.
    fn encoding(&self) -> Option<u32> {
        let debug = self.node?.debug_type();
        (debug.tag == tag::BASE).then_some(debug.encoding)
    }

    fn bytes(&self) -> u64 {
        self.node.map_or(0, |node| node.debug_type().bits / 8)
    }

    /// `char` of any sign.
    fn is_character(&self) -> bool {
        let characters = [encoding::SIGNED_CHAR, encoding::UNSIGNED_CHAR];
        self.encoding().is_some_and(|e| characters.contains(&e)) && self.bytes() == 1
    }

    /// An integer that can be a length.
    fn is_count(&self) -> bool {
        let others = [encoding::BOOLEAN, encoding::COMPLEX, encoding::FLOAT];
        self.encoding().is_some_and(|e| !others.contains(&e)) && (2..=8).contains(&self.bytes())
    }

    /// A structure that nobody can fill.
    fn is_opaque(&self) -> bool {
        self.node.is_some_and(|node| {
            node.is_declared_only() || OPAQUE.contains(&node.type_name().as_str())
        })
    }
}

/// The type as C writes it.
fn text(ty: Option<Node>) -> String {
    let Some(node) = ty else {
        return "void".into();
    };
    let debug = node.debug_type();
    let name = node.type_name();
    match debug.tag {
        tag::POINTER => match debug.base {
            Some(base) if base.debug_type().tag == tag::SUBROUTINE => function_text(base, "(*)"),
            base => {
                let to = text(base);
                format!("{to}{}*", if to.ends_with('*') { "" } else { " " })
            }
        },
        tag::REFERENCE | tag::RVALUE_REFERENCE => format!("{} &", text(debug.base)),
        tag::CONST
            if debug
                .base
                .is_some_and(|b| b.debug_type().tag == tag::POINTER) =>
        {
            format!("{} const", text(debug.base))
        }
        tag::CONST => format!("const {}", text(debug.base)),
        tag::VOLATILE => format!("volatile {}", text(debug.base)),
        tag::RESTRICT | tag::ATOMIC => text(debug.base),
        tag::ARRAY => {
            let dimensions = (0..).map_while(|index| node.dimension(index));
            let counts: String = dimensions.map(|count| format!("[{count}]")).collect();
            format!("{}{counts}", text(debug.base))
        }
        tag::STRUCTURE if name.is_empty() => "a structure without a name".into(),
        tag::STRUCTURE => format!("struct {name}"),
        tag::UNION => format!("union {name}"),
        tag::ENUMERATION => format!("enum {name}"),
        tag::SUBROUTINE => function_text(node, ""),
        _ => name,
    }
}

fn function_text(ty: Node, name: &str) -> String {
    let parts = ty.function_types();
    let result = text(parts.first().copied().flatten());
    let parameter = |ty: &Option<Node>| ty.map_or("...".to_string(), |ty| text(Some(ty)));
    let parameters: Vec<String> = parts.iter().skip(1).map(parameter).collect();
    format!("{result} {name}({})", parameters.join(", "))
}

/// Whether the name is that of a number of objects.
fn is_called_length(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let whole = ["n", "cnt", "num", "sz", "cap", "max", "avail", "cb", "l"];
    let parts = [
        "len", "size", "count", "nbytes", "nmemb", "capacity", "nelem", "num_", "nitems", "bytes",
    ];
    whole.contains(&name.trim_matches('_'))
        || name.ends_with("_n")
        || name.ends_with("_sz")
        || name.ends_with("_cnt")
        || parts.iter().any(|part| name.contains(part))
}

/// Whether a `size_t` of that name is something else than a length.
fn is_called_otherwise(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts = [
        "pos", "index", "idx", "offset", "off", "seed", "hash", "width", "base",
    ];
    name == "i" || parts.iter().any(|part| name.contains(part))
}

/// Whether a pointer of that name is written, not read.
fn is_called_result(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["end", "out", "res", "tail", "rest"]
        .iter()
        .any(|part| name.contains(part))
}

/// What may stand beside each other: parameters, or members of one structure.
struct Sibling {
    name: String,
    ty: Option<Node>,
    stripped: Stripped,
}

/// For each sibling, which other one is its length.
fn lengths(siblings: &[Sibling]) -> Vec<Option<usize>> {
    let is_memory = |sibling: &Sibling| {
        let pointee = sibling.stripped.pointee();
        sibling.stripped.is_pointer() && pointee.tag() != tag::SUBROUTINE && !pointee.is_pointer()
    };
    let is_size = |sibling: &Sibling| {
        let sizes = ["size_t", "ssize_t", "rsize_t"];
        sibling
            .stripped
            .typedefs
            .iter()
            .any(|t| sizes.contains(&t.as_str()))
    };
    let is_list = |sibling: &Sibling| {
        sibling.stripped.is_pointer() && sibling.stripped.pointee().is_pointer()
    };
    let mut found: Vec<Option<usize>> = vec![None; siblings.len()];
    for index in 0..siblings.len() {
        let is_memory = is_memory(&siblings[index]);
        let pointee = siblings[index].stripped.pointee();
        let may_follow = |next: &Sibling| {
            let through = next.stripped.is_pointer() && !pointee.is_opaque() && {
                let length = next.stripped.pointee();
                length.is_count() && !length.is_const && is_called_length(&next.name)
            };
            let is_plain = next.stripped.is_count()
                && (is_called_length(&next.name)
                    || is_size(next) && !is_called_otherwise(&next.name)
                    || pointee.node.is_none());
            is_memory && (through || is_plain)
                || is_list(&siblings[index])
                    && next.stripped.is_count()
                    && is_called_length(&next.name)
        };
        if siblings.get(index + 1).is_some_and(may_follow) {
            found[index] = Some(index + 1);
        }
    }
    // A length may stand before its pointer, unless it belongs to another one.
    for index in 1..siblings.len() {
        let before = &siblings[index - 1];
        if is_memory(&siblings[index])
            && found[index].is_none()
            && !found.contains(&Some(index - 1))
            && before.stripped.is_count()
            && is_called_length(&before.name)
        {
            found[index] = Some(index - 1);
        }
    }
    // Pointers of one type before one length share it.
    for index in (0..siblings.len().saturating_sub(1)).rev() {
        let next = index + 1;
        let shared = found[next].filter(|length| *length > next);
        let is_length = found.contains(&Some(index)) || found.contains(&Some(next));
        if found[index].is_some() || is_length || !is_memory(&siblings[index]) {
            continue;
        }
        let (a, b) = (
            siblings[index].stripped.pointee(),
            siblings[next].stripped.pointee(),
        );
        if shared.is_some() && a.node == b.node {
            found[index] = shared;
        }
    }
    found
}

/// Where a type stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Parameter,
    Member,
    /// What a pointer among the parameters leads to.
    Pointee,
    Result,
}

struct Reader {
    function: String,
    /// The parameter that is read, for messages.
    parameter: String,
    /// The structures around it.
    around: Vec<Node>,
    count: usize,
}

impl Reader {
    fn unsupported(&self, ty: Option<Node>, what: &str) -> Error {
        let place = format!("'{}'", self.function);
        let what = format!("{} of type {}{what}", self.parameter, text(ty));
        Error::unsupported(place, what)
    }

    fn shape(&mut self, sibling: &Sibling, length: Option<usize>, place: Place) -> Result<Shape> {
        let stripped = &sibling.stripped;
        self.count += 1;
        if self.count > MANY {
            return Err(self.unsupported(sibling.ty, ", which is too large"));
        }
        let mut shape = Shape {
            kind: Kind::Integer,
            flags: 0,
            offset: 0,
            size: stripped.bytes(),
            bits: 0,
            shift: 0,
            count: 0,
            partner: None,
            name: sibling.name.clone(),
            children: Vec::new(),
            enumerators: Vec::new(),
            text: text(sibling.ty),
        };
        let Some(node) = stripped.node else {
            return Err(self.unsupported(sibling.ty, ""));
        };
        match stripped.tag() {
            tag::BASE => self.base(&mut shape, node, sibling.ty)?,
            tag::ENUMERATION => enumeration(&mut shape, node),
            tag::STRUCTURE | tag::CLASS => self.structure(&mut shape, node, sibling.ty)?,
            tag::UNION => {
                // Bytes that are a pointer in one view must not be anything.
                shape.kind = match has_pointer(sibling.ty, &mut Vec::new()) {
                    false => Kind::Raw,
                    true if place == Place::Parameter => {
                        return Err(self.unsupported(sibling.ty, ", a union with pointers"));
                    }
                    true => Kind::Struct,
                };
            }
            tag::ARRAY => self.array(&mut shape, node, sibling.ty)?,
            tag::POINTER | tag::REFERENCE | tag::RVALUE_REFERENCE => {
                self.pointer(&mut shape, sibling, length, place)?;
            }
            _ => return Err(self.unsupported(sibling.ty, "")),
        }
        Ok(shape)
    }

    fn base(&self, shape: &mut Shape, node: Node, ty: Option<Node>) -> Result<()> {
        let name = node.type_name();
        let debug = node.debug_type();
        match debug.encoding {
            encoding::BOOLEAN => shape.kind = Kind::Bool,
            encoding::FLOAT if name.contains("128") || ![4, 8, 16].contains(&shape.size) => {
                return Err(self.unsupported(ty, ""));
            }
            encoding::FLOAT => shape.kind = Kind::Float,
            encoding::COMPLEX => {
                shape.kind = Kind::Struct;
                let part = |name: &str, offset| Shape {
                    kind: Kind::Float,
                    offset,
                    size: shape.size / 2,
                    name: name.into(),
                    ..shape.clone()
                };
                shape.children = vec![part("real", 0), part("imaginary", shape.size / 2)];
            }
            _ if debug.bits % 8 != 0 || ![1, 2, 4, 8, 16].contains(&shape.size) => {
                return Err(self.unsupported(ty, ""));
            }
            code => {
                if [encoding::SIGNED, encoding::SIGNED_CHAR].contains(&code) {
                    shape.flags |= flag::SIGNED;
                }
                if name == "char" {
                    shape.flags |= flag::CHARACTERS;
                }
            }
        }
        Ok(())
    }

    fn structure(&mut self, shape: &mut Shape, node: Node, ty: Option<Node>) -> Result<()> {
        if strip(ty).is_opaque() {
            return Err(self.unsupported(ty, ", whose members are not known"));
        }
        shape.kind = Kind::Struct;
        self.around.push(node);
        let members = node.members();
        let siblings: Vec<Sibling> = members
            .iter()
            .map(|(name, member, _)| Sibling {
                name: name.clone(),
                ty: member.ty,
                stripped: strip(member.ty),
            })
            .collect();
        shape.children = self.siblings(&siblings, Place::Member)?;
        for (child, (_, member, bits)) in shape.children.iter_mut().zip(&members) {
            child.offset = member.offset / 8;
            if member.is_bit_field {
                child.bits = *bits as u32;
                child.shift = (member.offset % 8) as u32;
                // A name for what is between others.
                if child.kind != Kind::Bool {
                    child.kind = Kind::Integer;
                }
            }
        }
        self.around.pop();
        Ok(())
    }

    fn siblings(&mut self, siblings: &[Sibling], place: Place) -> Result<Vec<Shape>> {
        let lengths = lengths(siblings);
        let mut shapes = Vec::new();
        for (index, sibling) in siblings.iter().enumerate() {
            if place == Place::Parameter {
                self.parameter = format!("parameter '{}'", sibling.name);
            }
            let mut shape = self.shape(sibling, lengths[index], place)?;
            if shape.kind == Kind::Buffer {
                let length = &siblings[lengths[index].unwrap_or_default()];
                shape.partner = lengths[index];
                if length.stripped.is_pointer() {
                    shape.flags |= flag::THROUGH;
                }
                let mut same = lengths
                    .iter()
                    .enumerate()
                    .filter(|(_, l)| **l == lengths[index]);
                let first = same.next().map(|(first, _)| first);
                let nearest = same.next_back().map_or(first, |(last, _)| Some(last));
                if first != Some(index) {
                    shape.flags |= flag::FOLLOWS;
                }
                if nearest != Some(index) && sibling.stripped.pointee().is_character() {
                    shape.flags |= flag::TERMINATED;
                }
            }
            shapes.push(shape);
        }
        for index in 0..shapes.len() {
            let partner = shapes[index].partner;
            if let Some(length) = partner.and_then(|partner| shapes.get_mut(partner)) {
                match length.children.first_mut() {
                    Some(behind) => behind.kind = Kind::Length,
                    None => length.kind = Kind::Length,
                }
            }
        }
        Ok(shapes)
    }

    fn array(&mut self, shape: &mut Shape, node: Node, ty: Option<Node>) -> Result<()> {
        let base = node.debug_type().base;
        let mut counts: Vec<u64> = (0..).map_while(|index| node.dimension(index)).collect();
        if counts.is_empty() {
            counts.push(0);
        }
        let element = Sibling {
            name: String::new(),
            ty: base,
            stripped: strip(base),
        };
        let mut inner = self.shape(&element, None, Place::Member)?;
        for count in counts.iter().rev() {
            if *count > LARGE {
                return Err(self.unsupported(ty, ", which is too large"));
            }
            let characters = inner.flags & flag::CHARACTERS;
            inner = Shape {
                kind: Kind::Array,
                flags: if inner.kind == Kind::Integer {
                    characters
                } else {
                    0
                },
                size: count * inner.size,
                count: *count,
                children: vec![inner],
                name: String::new(),
                ..shape.clone()
            };
        }
        inner.name = shape.name.clone();
        *shape = inner;
        Ok(())
    }

    fn pointer(
        &mut self,
        shape: &mut Shape,
        sibling: &Sibling,
        length: Option<usize>,
        place: Place,
    ) -> Result<()> {
        let pointee = sibling.stripped.pointee();
        if pointee.is_const {
            shape.flags |= flag::CONSTANT;
        }
        shape.kind = Kind::Address;
        let refusal = match pointee.tag() {
            tag::SUBROUTINE => Some(""),
            _ if pointee.node.is_none() && length.is_none() => {
                Some(": nothing says how large the memory is")
            }
            _ if pointee.is_opaque() => Some(", whose members are not known"),
            _ if length.is_some() && has_pointer(pointee.node, &mut Vec::new()) => {
                Some(", a list of pointers")
            }
            _ => None,
        };
        let refusal = refusal.filter(|_| place == Place::Parameter);
        if let Some(refusal) = refusal {
            return Err(self.unsupported(sibling.ty, refusal));
        }
        let is_known = pointee.tag() != tag::SUBROUTINE && !pointee.is_opaque();
        let is_around = pointee.node.is_some_and(|node| self.around.contains(&node));
        let is_list = length.is_some() && has_pointer(pointee.node, &mut Vec::new());
        if place == Place::Result && pointee.is_character() {
            shape.flags |= flag::CHARACTERS;
            return Ok(());
        }
        if !is_known || is_around || is_list || pointee.node.is_none() && length.is_none() {
            return Ok(());
        }
        let object = Sibling {
            name: String::new(),
            ty: sibling
                .stripped
                .node
                .and_then(|node| node.debug_type().base),
            stripped: pointee,
        };
        let pointee = &object.stripped;
        if length.is_some() {
            shape.kind = Kind::Buffer;
            shape.children = vec![match pointee.node {
                Some(_) => self.shape(&object, None, Place::Pointee)?,
                None => byte(shape),
            }];
        } else if pointee.is_character() && place != Place::Result {
            shape.kind = Kind::String;
            shape.flags |= flag::CHARACTERS;
        } else {
            let mut behind = match pointee.is_pointer() && is_called_result(&sibling.name) {
                true => result_pointer(shape, pointee),
                false => self.shape(&object, None, Place::Pointee)?,
            };
            // Strings that a function has put there are shown.
            if matches!(behind.kind, Kind::String | Kind::Address)
                && behind.flags & flag::CHARACTERS != 0
            {
                behind.flags |= flag::STRINGS;
            }
            shape.children = vec![behind];
            if place != Place::Result {
                shape.kind = Kind::Pointer;
            }
        }
        Ok(())
    }
}

/// A byte of memory of no type.
fn byte(of: &Shape) -> Shape {
    Shape {
        kind: Kind::Integer,
        flags: 0,
        size: 1,
        name: String::new(),
        ..of.clone()
    }
}

/// A pointer that begins as null.
fn result_pointer(of: &Shape, pointee: &Stripped) -> Shape {
    let characters = match pointee.pointee().is_character() {
        true => flag::CHARACTERS,
        false => 0,
    };
    Shape {
        kind: Kind::Address,
        flags: characters,
        name: String::new(),
        ..of.clone()
    }
}

fn enumeration(shape: &mut Shape, node: Node) {
    shape.enumerators = node.enumerators();
    if strip(node.debug_type().base).encoding() == Some(encoding::SIGNED) {
        shape.flags |= flag::SIGNED;
    }
    let values = || shape.enumerators.iter().map(|(_, value)| *value as u64);
    let bits: std::collections::BTreeSet<u64> =
        values().filter(|value| value.is_power_of_two()).collect();
    let are_bits = values().all(|value| value == 0 || value.is_power_of_two());
    shape.kind = match shape.enumerators.len() {
        0 => Kind::Integer,
        _ if are_bits && bits.len() > 2 => Kind::Flags,
        _ => Kind::Enum,
    };
    // One byte chooses.
    shape.enumerators.truncate(256);
}

/// Whether there is a pointer anywhere in a value of this type.
fn has_pointer(ty: Option<Node>, around: &mut Vec<Node>) -> bool {
    let stripped = strip(ty);
    let Some(node) = stripped.node else {
        return false;
    };
    match stripped.tag() {
        tag::BASE | tag::ENUMERATION => false,
        tag::ARRAY => has_pointer(node.debug_type().base, around),
        tag::STRUCTURE | tag::CLASS | tag::UNION => {
            if around.contains(&node) {
                return false;
            }
            around.push(node);
            let members = node.members();
            members
                .iter()
                .any(|(_, member, _)| has_pointer(member.ty, around))
        }
        _ => true,
    }
}

/// Whether the function is called as main is: nothing says otherwise.
pub(super) fn says_main(function: Value) -> bool {
    let Some(types) = function.debug_signature() else {
        return true;
    };
    let is_text_list = |ty: &Option<Node>| {
        let list = strip(*ty);
        list.is_pointer() && list.pointee().is_pointer() && list.pointee().pointee().is_character()
    };
    let is_int = |ty: Option<Node>| strip(ty).encoding() == Some(encoding::SIGNED);
    match types.get(1..).unwrap_or_default() {
        [] => true,
        [count, rest @ ..] => is_int(*count) && rest.iter().all(is_text_list),
    }
}

impl Signature {
    /// Reads that of a function.
    pub(super) fn read(function: Value, file: &str) -> Result<Signature> {
        let name = function.name_text();
        let types = function.debug_signature().ok_or_else(|| {
            let reason = format!(
                "'{name}' has no debug info, which says what its parameters are: compile with -g"
            );
            Error::bad_input(file, reason)
        })?;
        let mut reader = Reader {
            function: name.clone(),
            parameter: String::new(),
            around: Vec::new(),
            count: 0,
        };
        if function.value_type().is_variadic() {
            let place = format!("'{name}'");
            return Err(Error::unsupported(
                place,
                "an entry function with variable arguments",
            ));
        }
        let siblings: Vec<Sibling> = types
            .iter()
            .skip(1)
            .enumerate()
            .map(|(index, ty)| {
                let name = function.debug_parameter_name(index as u32);
                Sibling {
                    name: if name.is_empty() {
                        format!("argument{}", index + 1)
                    } else {
                        name
                    },
                    ty: *ty,
                    stripped: strip(*ty),
                }
            })
            .collect();
        let children = reader.siblings(&siblings, Place::Parameter)?;
        reader.parameter = "a result".to_string();
        let result = match types.first() {
            Some(Some(ty)) => {
                let sibling = Sibling {
                    name: String::new(),
                    ty: Some(*ty),
                    stripped: strip(Some(*ty)),
                };
                Some(reader.shape(&sibling, None, Place::Result)?)
            }
            _ => None,
        };
        let parameters = Shape {
            kind: Kind::Struct,
            flags: 0,
            offset: 0,
            size: 0,
            bits: 0,
            shift: 0,
            count: 0,
            partner: None,
            name: String::new(),
            children,
            enumerators: Vec::new(),
            text: String::new(),
        };
        let mut signature = Signature {
            function: name,
            parameters,
            result,
            frame: 0,
        };
        signature.lay_out();
        Ok(signature)
    }

    /// Gives parameters and result their places, and says what is shown after a call.
    fn lay_out(&mut self) {
        let mut frame = 0u64;
        for shape in self.parameters.children.iter_mut().chain(&mut self.result) {
            shape.offset = frame;
            frame += shape.size.max(16).next_multiple_of(16);
        }
        self.frame = frame;
        self.parameters.size = frame;
        for shape in &mut self.parameters.children {
            shape.flags &= !flag::SHOWN;
            if is_written(shape) {
                shape.flags |= flag::SHOWN;
            }
        }
    }

    /// How many buffers and strings take as many bytes as there are.
    pub(super) fn parts(&self) -> usize {
        parts(&self.parameters)
    }

    /// Whether arguments have one size, whatever the bytes are.
    pub fn is_fixed(&self) -> bool {
        self.parts() == 0
    }

    /// The bytes of which natively the same arguments are made as of KLEE's objects, in the order in which they became
    /// symbolic; the product was run with `-exact`.
    pub fn bytes_of<'a>(&self, objects: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
        let mut taker = Taker {
            objects,
            bytes: Vec::new(),
            parts: self.parts(),
        };
        taker.fixed(&self.parameters)?;
        taker.pointers(&self.parameters)?;
        Some(taker.bytes)
    }
}

/// Whether the function may write to what a parameter leads to.
fn is_written(shape: &Shape) -> bool {
    match shape.kind {
        Kind::Pointer | Kind::Buffer | Kind::String => shape.flags & flag::CONSTANT == 0,
        Kind::Struct | Kind::Array => shape.children.iter().any(is_written),
        _ => false,
    }
}

fn parts(shape: &Shape) -> usize {
    match shape.kind {
        Kind::String => 1,
        Kind::Buffer => usize::from(shape.flags & flag::FOLLOWS == 0),
        Kind::Array => shape.count as usize * shape.children.iter().map(parts).sum::<usize>(),
        Kind::Struct | Kind::Pointer => shape.children.iter().map(parts).sum(),
        _ => 0,
    }
}

fn fixed_size(shape: &Shape) -> usize {
    match shape.kind {
        Kind::Bool | Kind::Integer | Kind::Raw | Kind::Flags if shape.bits > 0 => {
            shape.bits.div_ceil(8) as usize
        }
        Kind::Bool | Kind::Enum => 1,
        Kind::Float => shape.size.min(8) as usize,
        Kind::Integer | Kind::Raw | Kind::Flags => shape.size as usize,
        Kind::Struct | Kind::Pointer => shape.children.iter().map(fixed_size).sum(),
        Kind::Array => shape.count as usize * shape.children.iter().map(fixed_size).sum::<usize>(),
        Kind::Buffer | Kind::String | Kind::Length | Kind::Address => 0,
    }
}

/// Follows `runtime/entry/take.c`.
struct Taker<'a, I: Iterator<Item = &'a [u8]>> {
    objects: I,
    bytes: Vec<u8>,
    /// Buffers and strings to come.
    parts: usize,
}

impl<'a, I: Iterator<Item = &'a [u8]>> Taker<'a, I> {
    /// Takes an object of that size; nothing becomes symbolic of no bytes.
    fn object(&mut self, size: usize) -> Option<&'a [u8]> {
        if size == 0 {
            return Some(&[]);
        }
        self.objects.next().filter(|object| object.len() == size)
    }

    fn number(&mut self, size: usize) -> Option<usize> {
        let bytes = self.object(size)?;
        Some(bytes.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b)))
    }

    fn copy(&mut self, size: usize) -> Option<()> {
        let object = self.object(size)?;
        self.bytes.extend_from_slice(object);
        Some(())
    }

    fn fixed(&mut self, shape: &Shape) -> Option<()> {
        match shape.kind {
            Kind::Struct | Kind::Pointer => {
                for child in &shape.children {
                    self.fixed(child)?;
                }
                Some(())
            }
            Kind::Array => self.elements(shape.children.first()?, shape.count as usize),
            _ => self.copy(fixed_size(shape)),
        }
    }

    fn elements(&mut self, element: &Shape, count: usize) -> Option<()> {
        let is_plain = match element.kind {
            Kind::Integer | Kind::Raw => element.bits == 0,
            Kind::Float => element.size <= 8,
            _ => false,
        };
        if is_plain {
            return self.copy(count * element.size as usize);
        }
        (0..count).try_for_each(|_| self.fixed(element))
    }

    fn pointers(&mut self, shape: &Shape) -> Option<()> {
        let mut lengths = Vec::new();
        for child in &shape.children {
            match child.kind {
                Kind::Struct | Kind::Pointer => self.pointers(child)?,
                Kind::Array => (0..child.count).try_for_each(|_| self.pointers(child))?,
                Kind::String => {
                    self.parts -= 1;
                    let length = self.number(8)?;
                    self.copy(length)?;
                    if self.parts > 0 {
                        self.bytes.push(0);
                    }
                }
                Kind::Buffer => {
                    let partner = child.partner?;
                    if child.flags & flag::FOLLOWS == 0 {
                        self.parts -= 1;
                        let length = shape.children.get(partner)?;
                        let length = length.children.first().unwrap_or(length);
                        let count = self.number(length.size.min(8) as usize)?;
                        lengths.push((partner, count));
                        if self.parts > 0 {
                            self.bytes.extend_from_slice(&(count as u16).to_le_bytes());
                        }
                    }
                    let (_, count) = lengths.iter().find(|(of, _)| *of == partner)?;
                    self.elements(child.children.first()?, *count)?;
                }
                _ => {}
            }
        }
        Some(())
    }
}

/// Makes one signature of the versions'; fails if they do not agree.
pub(super) fn agree(entries: &mut [Entry], files: &[String]) -> Result<()> {
    let Some((first, others)) = entries.split_first_mut() else {
        return Ok(());
    };
    for (other, file) in others.iter_mut().zip(&files[1..]) {
        let function = first.function.clone();
        match (&mut first.driver, &mut other.driver) {
            (Driver::Signature(a), Driver::Signature(b)) => {
                merge_signatures(a, b).map_err(|what| {
                    let reason = format!(
                        "'{}' differs from '{function}' of {}: {what}",
                        other.function, files[0]
                    );
                    Error::bad_input(file, reason)
                })?;
            }
            (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b) => {}
            _ => {
                let reason = format!(
                    "'{}' has other parameters than '{function}' of {}",
                    other.function, files[0]
                );
                return Err(Error::bad_input(file, reason));
            }
        }
    }
    let Driver::Signature(first) = &first.driver else {
        return Ok(());
    };
    // What the first has learnt from the last, and one name for all.
    let first = first.clone();
    for other in others {
        if let Driver::Signature(other) = &mut other.driver {
            let _ = merge_signatures(&mut first.clone(), other);
            other.function.clone_from(&first.function);
            rename(&first.parameters, &mut other.parameters);
        }
    }
    Ok(())
}

fn merge_signatures(a: &mut Signature, b: &mut Signature) -> std::result::Result<(), String> {
    let (n, m) = (a.parameters.children.len(), b.parameters.children.len());
    if n != m {
        return Err(format!("{m} parameters instead of {n}"));
    }
    let pairs = a
        .parameters
        .children
        .iter_mut()
        .zip(&mut b.parameters.children);
    for (a, b) in pairs {
        merge(a, b).map_err(|what| format!("parameter '{}' {what}", b.name))?;
    }
    match (&mut a.result, &mut b.result) {
        (None, None) => Ok(()),
        (Some(a), Some(b)) => merge(a, b).map_err(|what| format!("the result {what}")),
        (Some(a), None) => Err(format!("the result is void instead of {}", a.text)),
        (None, Some(b)) => Err(format!("the result is {} instead of void", b.text)),
    }?;
    a.lay_out();
    b.lay_out();
    Ok(())
}

/// Lets both say the same; the error is what b is instead.
fn merge(a: &mut Shape, b: &mut Shape) -> std::result::Result<(), String> {
    let different = match a.text == b.text {
        true => format!("is another {}", b.text),
        false => format!("is {} instead of {}", b.text, a.text),
    };
    let is_length = a.kind == Kind::Length;
    let deciding = flag::SIGNED
        | flag::CHARACTERS
        | flag::THROUGH
        | flag::FOLLOWS
        | flag::TERMINATED
        | flag::STRINGS;
    let are_same = a.kind == b.kind
        && a.partner == b.partner
        && (is_length || a.size == b.size || matches!(a.kind, Kind::Struct | Kind::Array))
        && (is_length || a.flags & deciding == b.flags & deciding)
        && a.bits == b.bits
        && a.count == b.count
        && a.children.len() == b.children.len();
    if !are_same {
        return Err(different);
    }
    if !a.enumerators.is_empty() || !b.enumerators.is_empty() {
        // Those that both know.
        let known = b.enumerators.clone();
        a.enumerators.retain(|entry| known.contains(entry));
        b.enumerators.clone_from(&a.enumerators);
        if a.enumerators.is_empty() {
            return Err(different);
        }
    }
    let constant = (a.flags | b.flags) & flag::CONSTANT;
    a.flags |= constant;
    b.flags |= constant;
    for (child, other) in a.children.iter_mut().zip(&mut b.children) {
        if a.kind == Kind::Struct && child.name != other.name {
            return Err(different);
        }
        merge(child, other).map_err(|_| different.clone())?;
    }
    Ok(())
}

/// The names of the first version's parameters.
fn rename(from: &Shape, to: &mut Shape) {
    for (from, to) in from.children.iter().zip(&mut to.children) {
        to.name.clone_from(&from.name);
    }
}
