//! Variables and their types, as debug info describes them.

use super::value::{c_string, wrap, Value};
use inkwell::llvm_sys::prelude::*;
use std::ffi::c_char;

/// The layouts are those of `wrappers.cpp`.
#[repr(C)]
struct RawLocation {
    value: LLVMValueRef,
    variable: LLVMMetadataRef,
    inlined_at: LLVMMetadataRef,
    offset: i64,
    size: i64,
    is_address: i32,
    is_simple: i32,
}

#[repr(C)]
struct RawType {
    tag: u32,
    encoding: u32,
    bits: u64,
    base: LLVMMetadataRef,
    count: i64,
}

extern "C" {
    fn p3_debug_location(call: LLVMValueRef, out: *mut RawLocation) -> i32;
    fn p3_scope_of(
        instruction: LLVMValueRef,
        scope: *mut LLVMMetadataRef,
        inlined_at: *mut LLVMMetadataRef,
    ) -> i32;
    fn p3_outer_scope(scope: LLVMMetadataRef) -> LLVMMetadataRef;
    fn p3_variable(
        variable: LLVMMetadataRef,
        scope: *mut LLVMMetadataRef,
        ty: *mut LLVMMetadataRef,
        name: *mut *const c_char,
        length: *mut usize,
    );
    fn p3_retained(function: LLVMValueRef, index: u32) -> LLVMMetadataRef;
    fn p3_global_variable(global: LLVMValueRef) -> LLVMMetadataRef;
    fn p3_plain_type(ty: LLVMMetadataRef) -> LLVMMetadataRef;
    fn p3_type(ty: LLVMMetadataRef, out: *mut RawType);
    fn p3_member(
        ty: LLVMMetadataRef,
        name: *const c_char,
        of: *mut LLVMMetadataRef,
        offset: *mut u64,
        bits: *mut u64,
    ) -> i32;
    fn p3_dominates(definition: LLVMValueRef, at: LLVMValueRef) -> i32;
    fn p3_parameter_count(function: LLVMValueRef) -> i64;
    fn p3_parameter_type(function: LLVMValueRef, index: u32) -> LLVMMetadataRef;
    fn p3_function_type(ty: LLVMMetadataRef, index: u32, of: *mut LLVMMetadataRef) -> i32;
    fn p3_parameter_name(function: LLVMValueRef, index: u32, length: *mut usize) -> *const c_char;
    fn p3_type_name(ty: LLVMMetadataRef, length: *mut usize) -> *const c_char;
    fn p3_member_at(
        ty: LLVMMetadataRef,
        index: u32,
        name: *mut *const c_char,
        length: *mut usize,
        of: *mut LLVMMetadataRef,
        offset: *mut u64,
        bits: *mut u64,
    ) -> i32;
    fn p3_enumerator_at(
        ty: LLVMMetadataRef,
        index: u32,
        name: *mut *const c_char,
        length: *mut usize,
        value: *mut i64,
    ) -> i32;
    fn p3_dimension(ty: LLVMMetadataRef, index: u32) -> i64;
    fn p3_is_declared_only(ty: LLVMMetadataRef) -> i32;
}

/// A name that debug info owns; null is none.
///
/// # Safety
///
/// `name` is null or points to `length` bytes.
unsafe fn text(name: *const c_char, length: usize) -> String {
    if name.is_null() {
        return String::new();
    }
    let bytes = std::slice::from_raw_parts(name.cast::<u8>(), length);
    String::from_utf8_lossy(bytes).into_owned()
}

/// A piece of debug info; equal if it is the same one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node(LLVMMetadataRef);

fn node(raw: LLVMMetadataRef) -> Option<Node> {
    (!raw.is_null()).then_some(Node(raw))
}

/// DWARF's numbers of kinds of types.
pub(crate) mod tag {
    pub(crate) const ARRAY: u32 = 0x01;
    pub(crate) const CLASS: u32 = 0x02;
    pub(crate) const ENUMERATION: u32 = 0x04;
    pub(crate) const POINTER: u32 = 0x0f;
    pub(crate) const REFERENCE: u32 = 0x10;
    pub(crate) const STRUCTURE: u32 = 0x13;
    pub(crate) const SUBROUTINE: u32 = 0x15;
    pub(crate) const TYPEDEF: u32 = 0x16;
    pub(crate) const UNION: u32 = 0x17;
    pub(crate) const BASE: u32 = 0x24;
    pub(crate) const CONST: u32 = 0x26;
    pub(crate) const VOLATILE: u32 = 0x35;
    pub(crate) const RESTRICT: u32 = 0x37;
    pub(crate) const RVALUE_REFERENCE: u32 = 0x42;
    pub(crate) const ATOMIC: u32 = 0x47;
}

/// DWARF's numbers of what basic types hold.
pub(crate) mod encoding {
    pub(crate) const BOOLEAN: u32 = 2;
    pub(crate) const COMPLEX: u32 = 3;
    pub(crate) const FLOAT: u32 = 4;
    pub(crate) const SIGNED: u32 = 5;
    pub(crate) const SIGNED_CHAR: u32 = 6;
    pub(crate) const UNSIGNED_CHAR: u32 = 8;
}

/// Where a variable is from an instruction on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Location {
    /// None: nowhere, or something would have to be computed.
    pub(crate) value: Option<Value>,
    /// Whether `value` is the variable's address instead of what it holds.
    pub(crate) is_address: bool,
    pub(crate) variable: Node,
    pub(crate) inlined_at: Option<Node>,
    /// Offset and size, in bits, of the part that this says something about; none: the whole.
    pub(crate) fragment: Option<(u64, u64)>,
}

/// A source variable.
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The local scope that declares it; none: a file.
    pub(crate) scope: Option<Node>,
    pub(crate) ty: Option<Node>,
}

/// A type, without its typedefs and qualifiers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DebugType {
    /// One of [`tag`].
    pub(crate) tag: u32,
    /// One of [`encoding`].
    pub(crate) encoding: u32,
    pub(crate) bits: u64,
    /// What a pointer points to, or an array consists of.
    pub(crate) base: Option<Node>,
    /// Elements of an array of one dimension.
    pub(crate) count: Option<u64>,
}

/// A member of a structure or union.
pub(crate) struct DebugMember {
    pub(crate) ty: Option<Node>,
    /// In bits.
    pub(crate) offset: u64,
    pub(crate) is_bit_field: bool,
}

impl Value {
    /// What `llvm.dbg.declare` or `llvm.dbg.value` says; none for other instructions.
    pub(crate) fn debug_location(self) -> Option<Location> {
        let mut raw = RawLocation {
            value: std::ptr::null_mut(),
            variable: std::ptr::null_mut(),
            inlined_at: std::ptr::null_mut(),
            offset: -1,
            size: -1,
            is_address: 0,
            is_simple: 0,
        };
        // SAFETY: the wrapper takes any instruction and fills the structure.
        if unsafe { p3_debug_location(self.0, &mut raw) } == 0 {
            return None;
        }
        Some(Location {
            value: wrap(raw.value).filter(|_| raw.is_simple != 0),
            is_address: raw.is_address != 0,
            variable: node(raw.variable)?,
            inlined_at: node(raw.inlined_at),
            fragment: (raw.offset >= 0).then_some((raw.offset as u64, raw.size as u64)),
        })
    }

    /// An instruction's scope, and where that was inlined.
    pub(crate) fn debug_scope(self) -> Option<(Node, Option<Node>)> {
        let (mut scope, mut inlined_at) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the wrapper takes any instruction.
        let has_one = unsafe { p3_scope_of(self.0, &mut scope, &mut inlined_at) } != 0;
        Some((node(scope).filter(|_| has_one)?, node(inlined_at)))
    }

    /// The variables that a function's debug info lists, whether or not anything is left of them.
    pub(crate) fn debug_retained(self) -> Vec<Node> {
        (0..)
            .map_while(|index| node(unsafe { p3_retained(self.0, index) }))
            .collect()
    }

    /// The source variable that a global variable is.
    pub(crate) fn debug_global(self) -> Option<Node> {
        node(unsafe { p3_global_variable(self.0) })
    }

    /// What a function is declared with, result first (none: `void`); none without debug info.
    pub(crate) fn debug_signature(self) -> Option<Vec<Option<Node>>> {
        // SAFETY: the wrappers take any function, and the count says which indices there are.
        let count = u32::try_from(unsafe { p3_parameter_count(self.0) }).ok()?;
        let types = (0..=count).map(|index| node(unsafe { p3_parameter_type(self.0, index) }));
        Some(types.collect())
    }

    /// The name of a parameter, from 0, of a function with debug info; empty if it has none.
    pub(crate) fn debug_parameter_name(self, index: u32) -> String {
        let mut length = 0;
        // SAFETY: the name is `length` bytes owned by the debug info.
        unsafe {
            let name = p3_parameter_name(self.0, index + 1, &mut length);
            text(name, length)
        }
    }

    /// Whether the value can be used at `at`.
    pub(crate) fn dominates(self, at: Value) -> bool {
        unsafe { p3_dominates(self.0, at.0) != 0 }
    }
}

impl Node {
    /// The scope around a local scope; none around a function's.
    pub(crate) fn outer_scope(self) -> Option<Node> {
        node(unsafe { p3_outer_scope(self.0) })
    }

    /// Of a variable.
    pub(crate) fn variable(self) -> Variable {
        let (mut scope, mut ty) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (mut name, mut length) = (std::ptr::null(), 0);
        // SAFETY: the name is `length` bytes owned by the debug info.
        let name = unsafe {
            p3_variable(self.0, &mut scope, &mut ty, &mut name, &mut length);
            text(name, length)
        };
        Variable {
            name,
            scope: node(scope),
            ty: node(ty),
        }
    }

    /// A type without its typedefs and qualifiers; none for `void`.
    pub(crate) fn plain_type(self) -> Option<Node> {
        node(unsafe { p3_plain_type(self.0) })
    }

    /// Of a type.
    pub(crate) fn debug_type(self) -> DebugType {
        let mut raw = RawType {
            tag: 0,
            encoding: 0,
            bits: 0,
            base: std::ptr::null_mut(),
            count: -1,
        };
        // SAFETY: the wrapper takes any metadata and fills the structure.
        unsafe { p3_type(self.0, &mut raw) };
        DebugType {
            tag: raw.tag,
            encoding: raw.encoding,
            bits: raw.bits,
            base: node(raw.base),
            count: u64::try_from(raw.count).ok(),
        }
    }

    /// A member of a structure or union, also of one without a name in it.
    pub(crate) fn member(self, name: &str) -> Option<DebugMember> {
        let (mut ty, mut offset, mut bits) = (std::ptr::null_mut(), 0, 0);
        let name = c_string(name);
        // SAFETY: the wrapper takes any type.
        let found =
            unsafe { p3_member(self.0, name.as_ptr(), &mut ty, &mut offset, &mut bits) } != 0;
        found.then(|| DebugMember {
            ty: node(ty),
            offset,
            is_bit_field: bits != 0,
        })
    }

    /// Of a type; empty if it has none.
    pub(crate) fn type_name(self) -> String {
        let mut length = 0;
        // SAFETY: as above.
        unsafe {
            let name = p3_type_name(self.0, &mut length);
            text(name, length)
        }
    }

    /// What a function type is made of, result first (none: `void`; behind the result, that the rest is unknown).
    pub(crate) fn function_types(self) -> Vec<Option<Node>> {
        let part = |index| {
            let mut of = std::ptr::null_mut();
            // SAFETY: the wrapper takes any type.
            let is_there = unsafe { p3_function_type(self.0, index, &mut of) } == 0;
            is_there.then(|| node(of))
        };
        (0..).map_while(part).collect()
    }

    /// Whether a structure's members are not known.
    pub(crate) fn is_declared_only(self) -> bool {
        unsafe { p3_is_declared_only(self.0) != 0 }
    }

    /// The data members of a structure or union, base classes included.
    pub(crate) fn members(self) -> Vec<(String, DebugMember, u64)> {
        let member = |index| {
            let (mut ty, mut offset, mut bits) = (std::ptr::null_mut(), 0, 0);
            let (mut name, mut length) = (std::ptr::null(), 0);
            // SAFETY: the wrapper takes a structure, and the name is `length` bytes.
            let (is_there, name) = unsafe {
                let is_there = p3_member_at(
                    self.0,
                    index,
                    &mut name,
                    &mut length,
                    &mut ty,
                    &mut offset,
                    &mut bits,
                );
                (is_there != 0, text(name, length))
            };
            let member = DebugMember {
                ty: node(ty),
                offset,
                is_bit_field: bits != 0,
            };
            is_there.then_some((name, member, bits))
        };
        (0..).map_while(member).collect()
    }

    /// The names and values of an enumeration.
    pub(crate) fn enumerators(self) -> Vec<(String, i64)> {
        let enumerator = |index| {
            let (mut name, mut length, mut value) = (std::ptr::null(), 0, 0);
            // SAFETY: the wrapper takes an enumeration, and the name is `length` bytes.
            unsafe {
                let is_there =
                    p3_enumerator_at(self.0, index, &mut name, &mut length, &mut value) != 0;
                is_there.then(|| (text(name, length), value))
            }
        };
        (0..).map_while(enumerator).collect()
    }

    /// Elements in a dimension of an array; none if it says not how many, or has no such dimension.
    pub(crate) fn dimension(self, index: u32) -> Option<u64> {
        u64::try_from(unsafe { p3_dimension(self.0, index) }).ok()
    }
}
