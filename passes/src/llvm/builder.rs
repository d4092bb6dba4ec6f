//! Inserts instructions.

use super::value::{c_string, Block, Type, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::LLVMIntPredicate;

/// An owned instruction builder with a position.
pub(crate) struct Builder(LLVMBuilderRef);

impl Drop for Builder {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.0) }
    }
}

impl Builder {
    /// A builder that inserts before `instruction`, with its debug location.
    pub(crate) fn before(instruction: Value) -> Builder {
        let block = instruction.parent_block();
        let builder = Builder::in_context_of(block.parent());
        unsafe {
            LLVMPositionBuilderBefore(builder.0, instruction.0);
            LLVMSetCurrentDebugLocation2(builder.0, LLVMInstructionGetDebugLoc(instruction.0));
        }
        builder
    }

    /// A builder at the end of `block`, without a debug location.
    pub(crate) fn at_end(block: Block) -> Builder {
        let builder = Builder::in_context_of(block.parent());
        unsafe { LLVMPositionBuilderAtEnd(builder.0, block.0) };
        builder
    }

    fn in_context_of(function: Value) -> Builder {
        Builder(unsafe {
            LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(function.0)))
        })
    }

    /// Takes over the debug location of `instruction`.
    pub(crate) fn set_location_of(&self, instruction: Value) {
        unsafe { LLVMSetCurrentDebugLocation2(self.0, LLVMInstructionGetDebugLoc(instruction.0)) }
    }

    pub(crate) fn call(&self, ty: Type, callee: Value, arguments: &[Value]) -> Value {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|a| a.0).collect();
        Value(unsafe {
            LLVMBuildCall2(
                self.0,
                ty.0,
                callee.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                c"".as_ptr(),
            )
        })
    }

    pub(crate) fn load(&self, ty: Type, pointer: Value) -> Value {
        Value(unsafe { LLVMBuildLoad2(self.0, ty.0, pointer.0, c"".as_ptr()) })
    }

    pub(crate) fn store(&self, value: Value, pointer: Value) -> Value {
        Value(unsafe { LLVMBuildStore(self.0, value.0, pointer.0) })
    }

    /// `value == 0`
    pub(crate) fn is_zero(&self, value: Value) -> Value {
        let zero = value.ty().zero();
        Value(unsafe {
            LLVMBuildICmp(
                self.0,
                LLVMIntPredicate::LLVMIntEQ,
                value.0,
                zero.0,
                c"".as_ptr(),
            )
        })
    }

    pub(crate) fn conditional_branch(
        &self,
        condition: Value,
        then: Block,
        otherwise: Block,
    ) -> Value {
        Value(unsafe { LLVMBuildCondBr(self.0, condition.0, then.0, otherwise.0) })
    }

    pub(crate) fn ret(&self, value: Option<Value>) -> Value {
        Value(unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.0, value.0),
                None => LLVMBuildRetVoid(self.0),
            }
        })
    }

    /// Sign- or zero-extends or truncates an integer.
    pub(crate) fn integer_cast(&self, value: Value, ty: Type, signed: bool) -> Value {
        Value(unsafe { LLVMBuildIntCast2(self.0, value.0, ty.0, signed.into(), c"".as_ptr()) })
    }
}

/// Appends an empty block to `function`.
pub(crate) fn append_block(function: Value, name: &str) -> Block {
    Block(unsafe {
        LLVMAppendBasicBlockInContext(
            LLVMGetModuleContext(LLVMGetGlobalParent(function.0)),
            function.0,
            c_string(name).as_ptr(),
        )
    })
}
