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
}

/// A piece of debug info; equal if it is the same one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node(LLVMMetadataRef);

fn node(raw: LLVMMetadataRef) -> Option<Node> {
    (!raw.is_null()).then_some(Node(raw))
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
    /// DWARF's numbers.
    pub(crate) tag: u32,
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
            if name.is_null() {
                String::new()
            } else {
                let bytes = std::slice::from_raw_parts(name.cast::<u8>(), length);
                String::from_utf8_lossy(bytes).into_owned()
            }
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
}
