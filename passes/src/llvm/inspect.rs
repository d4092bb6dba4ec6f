//! What instructions, constants and debug info consist of, for passes that compare code.

use super::value::{attribute_kind, wrap, Type, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{
    LLVMIntPredicate, LLVMOpcode, LLVMTypeKind, LLVMUnnamedAddr, LLVMVisibility,
};
use std::ffi::{c_char, CStr};

extern "C" {
    fn p3_debug_variable(
        call: LLVMValueRef,
        value: *mut LLVMValueRef,
        length: *mut usize,
    ) -> *const c_char;
    fn p3_is_swift_error(value: LLVMValueRef) -> i32;
    fn p3_same_operation(a: LLVMValueRef, b: LLVMValueRef) -> i32;
    fn p3_same_instruction(a: LLVMValueRef, b: LLVMValueRef) -> i32;
}

/// A place in a source file; `line` counts from 1.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    /// As the compiler wrote it: relative names are relative to the directory of the compilation.
    pub(crate) file: String,
    pub(crate) directory: String,
    pub(crate) line: u32,
}

impl Value {
    /// An instruction's line, 0 where debug info has none.
    pub(crate) fn debug_line(self) -> u32 {
        unsafe { LLVMGetDebugLocLine(self.0) }
    }

    /// An instruction's place in the source.
    pub(crate) fn debug_place(self) -> Option<Place> {
        let line = self.debug_line();
        (line != 0).then(|| Place {
            // SAFETY: both answers are null or `length` bytes owned by the debug info.
            file: unsafe { text(|length| LLVMGetDebugLocFilename(self.0, length)) },
            directory: unsafe { text(|length| LLVMGetDebugLocDirectory(self.0, length)) },
            line,
        })
    }

    /// Where a function begins, if it has debug info.
    pub(crate) fn definition_place(self) -> Option<Place> {
        // SAFETY: a subprogram is a scope; its file may be missing.
        unsafe {
            let subprogram = LLVMGetSubprogram(self.0);
            if subprogram.is_null() {
                return None;
            }
            let file = LLVMDIScopeGetFile(subprogram);
            if file.is_null() {
                return None;
            }
            Some(Place {
                file: text(|length| LLVMDIFileGetFilename(file, length)),
                directory: text(|length| LLVMDIFileGetDirectory(file, length)),
                line: LLVMDISubprogramGetLine(subprogram),
            })
        }
    }

    /// For `llvm.dbg.declare` and `llvm.dbg.value`: the value described and the source variable's name.
    pub(crate) fn debug_variable(self) -> Option<(Value, String)> {
        let mut value = std::ptr::null_mut();
        let mut length = 0;
        // SAFETY: the wrapper returns null or `length` bytes owned by the debug info.
        unsafe {
            let name = p3_debug_variable(self.0, &mut value, &mut length);
            Some((wrap(value)?, bytes_as_text(name, length)))
        }
    }

    /// The comparison or read-modify-write operation of an instruction or constant expression that has one.
    pub(crate) fn operation(self) -> u32 {
        let opcode = self.expression_opcode().unwrap_or_else(|| self.opcode());
        // SAFETY: asked only of what has it.
        unsafe {
            match opcode {
                LLVMOpcode::LLVMICmp => LLVMGetICmpPredicate(self.0) as u32,
                LLVMOpcode::LLVMFCmp => LLVMGetFCmpPredicate(self.0) as u32,
                LLVMOpcode::LLVMAtomicRMW => LLVMGetAtomicRMWBinOp(self.0) as u32,
                _ => 0,
            }
        }
    }

    /// The type that an alloca, a getelementptr or a call names besides those of its operands and result.
    pub(crate) fn named_type(self) -> Option<Type> {
        // SAFETY: asked only of the instruction that has it.
        unsafe {
            match self.opcode() {
                LLVMOpcode::LLVMAlloca => Some(Type(LLVMGetAllocatedType(self.0))),
                LLVMOpcode::LLVMGetElementPtr => Some(Type(LLVMGetGEPSourceElementType(self.0))),
                LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr => {
                    Some(Type(LLVMGetCalledFunctionType(self.0)))
                }
                _ => None,
            }
        }
    }

    /// The constant indices of extractvalue and insertvalue and the mask of shufflevector.
    pub(crate) fn indices(self) -> Vec<u32> {
        // SAFETY: asked only of the instructions that have them.
        unsafe {
            match self.opcode() {
                LLVMOpcode::LLVMExtractValue | LLVMOpcode::LLVMInsertValue => {
                    let count = LLVMGetNumIndices(self.0) as usize;
                    std::slice::from_raw_parts(LLVMGetIndices(self.0), count).to_vec()
                }
                LLVMOpcode::LLVMShuffleVector => (0..LLVMGetNumMaskElements(self.0))
                    .map(|i| LLVMGetMaskValue(self.0, i) as u32)
                    .collect(),
                _ => Vec::new(),
            }
        }
    }

    pub(crate) fn is_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// A global variable that nobody writes to.
    pub(crate) fn is_immutable(self) -> bool {
        unsafe { LLVMIsGlobalConstant(self.0) != 0 }
    }

    /// A global variable that each thread has for itself.
    pub(crate) fn is_thread_local(self) -> bool {
        unsafe { LLVMIsThreadLocal(self.0) != 0 }
    }

    pub(crate) fn is_global(self) -> bool {
        unsafe { !LLVMIsAGlobalValue(self.0).is_null() }
    }

    pub(crate) fn is_argument(self) -> bool {
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    pub(crate) fn is_global_variable(self) -> bool {
        unsafe { !LLVMIsAGlobalVariable(self.0).is_null() }
    }

    /// Undefined and poison values.
    pub(crate) fn is_undefined(self) -> bool {
        unsafe { !LLVMIsAUndefValue(self.0).is_null() }
    }

    /// The all-zero constant of any type.
    pub(crate) fn is_null(self) -> bool {
        unsafe { LLVMIsNull(self.0) != 0 }
    }

    /// The value of a floating-point constant, as nearly as a double holds it.
    pub(crate) fn as_real(self) -> Option<f64> {
        // SAFETY: asked only of such a constant.
        unsafe {
            (!LLVMIsAConstantFP(self.0).is_null()).then(|| {
                let mut loses = 0;
                LLVMConstRealGetDouble(self.0, &mut loses)
            })
        }
    }

    /// A constant array, structure or vector that is written out, with its parts as operands.
    pub(crate) fn is_aggregate(self) -> bool {
        unsafe {
            !LLVMIsAConstantArray(self.0).is_null()
                || !LLVMIsAConstantStruct(self.0).is_null()
                || !LLVMIsAConstantVector(self.0).is_null()
        }
    }

    /// Whether a global is for its own executable or library only.
    pub(crate) fn is_hidden(self) -> bool {
        unsafe { LLVMGetVisibility(self.0) == LLVMVisibility::LLVMHiddenVisibility }
    }

    /// The bytes of a constant array of i8.
    pub(crate) fn as_bytes(self) -> Option<Vec<u8>> {
        // SAFETY: LLVM returns `length` bytes owned by the constant.
        unsafe {
            let is_string =
                !LLVMIsAConstantDataArray(self.0).is_null() && LLVMIsConstantString(self.0) != 0;
            is_string.then(|| {
                let mut length = 0;
                let raw = LLVMGetAsString(self.0, &mut length);
                std::slice::from_raw_parts(raw.cast::<u8>(), length).to_vec()
            })
        }
    }

    /// The operation of a constant expression.
    pub(crate) fn expression_opcode(self) -> Option<LLVMOpcode> {
        unsafe { (!LLVMIsAConstantExpr(self.0).is_null()).then(|| LLVMGetConstOpcode(self.0)) }
    }

    /// What a phi takes, one entry per predecessor edge.
    pub(crate) fn incoming_values(self) -> Vec<Value> {
        (0..unsafe { LLVMCountIncoming(self.0) })
            .map(|i| Value(unsafe { LLVMGetIncomingValue(self.0, i) }))
            .collect()
    }

    /// LLVM's text of a value: a line for an instruction.
    pub(crate) fn print(self) -> String {
        unsafe { owned_text(LLVMPrintValueToString(self.0)) }
    }

    /// Whether a call itself, not the function it calls, has this attribute.
    pub(crate) fn call_has_attribute(self, kind: &str) -> bool {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        let found = unsafe { LLVMGetCallSiteEnumAttribute(self.0, index, attribute_kind(kind)) };
        !found.is_null()
    }

    /// Whether two instructions do the same with their operands, which are not compared but for their types.
    pub(crate) fn is_same_operation(self, other: Value) -> bool {
        unsafe { p3_same_operation(self.0, other.0) != 0 }
    }

    /// The same for code whose metadata is known to mean the same.
    pub(crate) fn is_same_but_for_metadata(self, other: Value) -> bool {
        unsafe { p3_same_instruction(self.0, other.0) != 0 }
    }

    /// Whether nobody may depend on this constant having an address of its own.
    pub(crate) fn is_without_identity(self) -> bool {
        unsafe { LLVMGetUnnamedAddress(self.0) == LLVMUnnamedAddr::LLVMGlobalUnnamedAddr }
    }

    /// Whether an integer comparison is for inequality (true) or equality (false); `None`: another one.
    pub(crate) fn compares_unequal(self) -> Option<bool> {
        match unsafe { LLVMGetICmpPredicate(self.0) } {
            LLVMIntPredicate::LLVMIntNE => Some(true),
            LLVMIntPredicate::LLVMIntEQ => Some(false),
            _ => None,
        }
    }

    /// Swift's error register: a parameter or an alloca.
    pub(crate) fn is_swift_error(self) -> bool {
        unsafe { p3_is_swift_error(self.0) != 0 }
    }
}

impl Type {
    pub(crate) fn is_token(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMTokenTypeKind
    }

    /// LLVM's text of the type; that of a named struct has its definition behind ` = type`.
    pub(crate) fn print(self) -> String {
        unsafe { owned_text(LLVMPrintTypeToString(self.0)) }
    }
}

/// Copies a message and disposes of it.
///
/// # Safety
/// `raw` must be a message that LLVM hands over.
unsafe fn owned_text(raw: *mut c_char) -> String {
    let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
    LLVMDisposeMessage(raw);
    text
}

/// # Safety
/// `get` must return null or a pointer to as many bytes as it stores.
unsafe fn text(get: impl FnOnce(*mut u32) -> *const c_char) -> String {
    let mut length = 0;
    let raw = get(&mut length);
    bytes_as_text(raw, length as usize)
}

/// # Safety
/// `raw` must be null or point to `length` bytes.
unsafe fn bytes_as_text(raw: *const c_char, length: usize) -> String {
    if raw.is_null() {
        return String::new();
    }
    let bytes = std::slice::from_raw_parts(raw.cast::<u8>(), length);
    String::from_utf8_lossy(bytes).into_owned()
}
