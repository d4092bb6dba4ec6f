//! What a function takes and returns, read from its debug info.
//!
//! Pointers are what debug info leaves open. One belongs to a length if an integer stands beside it that is called
//! like one or is a `size_t`, or as the user says (`lengths.rs`). Otherwise a pointer to characters is a
//! string, and any other leads to one object. Parameters for which none of this can hold are refused; members of
//! structures begin as null then.

use super::lengths::{lengths, Choice, Given};
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
pub(super) mod flag {
    pub(in crate::entry) const SIGNED: u32 = 1;
    pub(in crate::entry) const CHARACTERS: u32 = 2;
    pub(in crate::entry) const CONSTANT: u32 = 4;
    pub(in crate::entry) const TERMINATED: u32 = 8;
    pub(in crate::entry) const SHOWN: u32 = 16;
    pub(in crate::entry) const FOLLOWS: u32 = 32;
    pub(in crate::entry) const THROUGH: u32 = 64;
    pub(in crate::entry) const STRINGS: u32 = 128;
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
pub(super) const LARGE: u64 = 1 << 20;

/// A type without typedefs and qualifiers, and what was taken off.
pub(super) struct Stripped {
    /// None: `void`.
    pub(super) node: Option<Node>,
    pub(super) is_const: bool,
    pub(super) typedefs: Vec<String>,
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
    pub(super) fn tag(&self) -> u32 {
        self.node.map_or(0, |node| node.debug_type().tag)
    }

    pub(super) fn is_pointer(&self) -> bool {
        let pointers = [tag::POINTER, tag::REFERENCE, tag::RVALUE_REFERENCE];
        pointers.contains(&self.tag())
    }

    pub(super) fn pointee(&self) -> Stripped {
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
    pub(super) fn is_character(&self) -> bool {
        let characters = [encoding::SIGNED_CHAR, encoding::UNSIGNED_CHAR];
        self.encoding().is_some_and(|e| characters.contains(&e)) && self.bytes() == 1
    }

    /// An integer that can be a length.
    pub(super) fn is_integer(&self) -> bool {
        let others = [encoding::BOOLEAN, encoding::COMPLEX, encoding::FLOAT];
        self.encoding().is_some_and(|e| !others.contains(&e)) && (1..=8).contains(&self.bytes())
    }

    /// One that may be called like a length without being a character.
    pub(super) fn is_count(&self) -> bool {
        self.is_integer() && self.bytes() > 1
    }

    /// A structure that nobody can fill.
    pub(super) fn is_opaque(&self) -> bool {
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

/// Whether a pointer of that name is written, not read.
fn is_called_result(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["end", "out", "res", "tail", "rest"]
        .iter()
        .any(|part| name.contains(part))
}

/// What may stand beside each other: parameters, or members of one structure.
pub(super) struct Sibling {
    pub(super) name: String,
    pub(super) ty: Option<Node>,
    pub(super) stripped: Stripped,
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

struct Reader<'a> {
    function: String,
    choice: &'a mut Choice,
    /// The parameter and the members that lead to what is read.
    path: Vec<String>,
    /// The parameter that is read, for messages.
    parameter: String,
    /// The structures around it.
    around: Vec<Node>,
    count: usize,
}

impl Reader<'_> {
    fn unsupported(&self, ty: Option<Node>, what: &str) -> Error {
        let place = format!("'{}'", self.function);
        let what = format!("{} of type {}{what}", self.parameter, text(ty));
        Error::unsupported(place, what)
    }

    fn shape(&mut self, sibling: &Sibling, length: Option<Given>, place: Place) -> Result<Shape> {
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
        let lengths = lengths(siblings, self.choice, &self.path)?;
        let mut shapes = Vec::new();
        for (index, sibling) in siblings.iter().enumerate() {
            if place == Place::Parameter {
                self.parameter = format!("parameter '{}'", sibling.name);
            }
            self.path.push(sibling.name.clone());
            let mut shape = self.shape(sibling, lengths[index], place)?;
            self.path.pop();
            if let (Kind::Buffer, Some(Given::By(partner))) = (shape.kind, lengths[index]) {
                let length = &siblings[partner];
                shape.partner = Some(partner);
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
            inner = array_of(inner, *count, shape);
        }
        inner.name = shape.name.clone();
        *shape = inner;
        Ok(())
    }

    fn pointer(
        &mut self,
        shape: &mut Shape,
        sibling: &Sibling,
        given: Option<Given>,
        place: Place,
    ) -> Result<()> {
        let pointee = sibling.stripped.pointee();
        let is_one = given == Some(Given::Count(1)) && pointee.node.is_some();
        let length = given.filter(|given| *given != Given::String && !is_one);
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
        if let Some(length) = length {
            let element = match pointee.node {
                Some(_) => self.shape(&object, None, Place::Pointee)?,
                None => byte(shape),
            };
            (shape.kind, shape.children) = match length {
                Given::Count(count) => (Kind::Pointer, vec![array_of(element, count, shape)]),
                _ => (Kind::Buffer, vec![element]),
            };
        } else if pointee.is_character() && place != Place::Result && !is_one {
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

/// So many objects, one behind the other.
fn array_of(element: Shape, count: u64, of: &Shape) -> Shape {
    Shape {
        kind: Kind::Array,
        flags: match element.kind {
            Kind::Integer => element.flags & flag::CHARACTERS,
            _ => 0,
        },
        size: count * element.size,
        count,
        children: vec![element],
        name: String::new(),
        ..of.clone()
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
    pub(super) fn read(function: Value, file: &str, choice: &mut Choice) -> Result<Signature> {
        let name = function.name_text();
        let types = function.debug_signature().ok_or_else(|| {
            let reason = format!(
                "'{name}' has no debug info, which says what its parameters are: compile with -g"
            );
            Error::bad_input(file, reason)
        })?;
        let mut reader = Reader {
            function: name.clone(),
            choice,
            path: Vec::new(),
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
