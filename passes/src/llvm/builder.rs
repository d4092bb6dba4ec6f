//! Inserts instructions.

use super::value::{c_string, Block, Subprogram, Type, Value};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMTypeKind};

extern "C" {
    fn p3_artificial_location(subprogram: LLVMMetadataRef) -> LLVMMetadataRef;
}

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

    /// The block that the builder inserts into.
    pub(crate) fn block(&self) -> Block {
        Block(unsafe { LLVMGetInsertBlock(self.0) })
    }

    /// A builder at the end of `block` with this one's debug location.
    pub(crate) fn followed_by(&self, block: Block) -> Builder {
        let builder = Builder::at_end(block);
        // SAFETY: both belong to the same context.
        unsafe {
            LLVMSetCurrentDebugLocation2(builder.0, LLVMGetCurrentDebugLocation2(self.0));
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

    pub(crate) fn volatile_load(&self, ty: Type, pointer: Value) -> Value {
        let load = self.load(ty, pointer);
        unsafe { LLVMSetVolatile(load.0, 1) };
        load
    }

    /// The value, or an arbitrary one if it is undefined.
    pub(crate) fn freeze(&self, value: Value) -> Value {
        Value(unsafe { LLVMBuildFreeze(self.0, value.0, c"".as_ptr()) })
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

    /// Line 0 of a function made by p3-ir.
    pub(crate) fn set_artificial_location(&self, subprogram: Subprogram) {
        unsafe { LLVMSetCurrentDebugLocation2(self.0, p3_artificial_location(subprogram.0)) }
    }

    pub(crate) fn branch(&self, target: Block) -> Value {
        Value(unsafe { LLVMBuildBr(self.0, target.0) })
    }

    pub(crate) fn phi(&self, ty: Type, incoming: &[(Value, Block)]) -> Value {
        let (mut values, mut blocks): (Vec<_>, Vec<_>) =
            incoming.iter().map(|(v, b)| (v.0, b.0)).unzip();
        unsafe {
            let phi = LLVMBuildPhi(self.0, ty.0, c"".as_ptr());
            let count = incoming.len() as u32;
            LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), count);
            Value(phi)
        }
    }

    pub(crate) fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(unsafe { LLVMBuildSelect(self.0, condition.0, then.0, otherwise.0, c"".as_ptr()) })
    }

    /// A floating-point value's bits as an integer; none for a type that is none.
    pub(crate) fn bits(&self, value: Value) -> Option<Value> {
        let width = match value.ty().kind() {
            LLVMTypeKind::LLVMHalfTypeKind | LLVMTypeKind::LLVMBFloatTypeKind => 16,
            LLVMTypeKind::LLVMFloatTypeKind => 32,
            LLVMTypeKind::LLVMDoubleTypeKind => 64,
            LLVMTypeKind::LLVMX86_FP80TypeKind => 80,
            LLVMTypeKind::LLVMFP128TypeKind => 128,
            _ => return None,
        };
        let function = self.block().parent();
        let ty = super::Types::of_function(function).integer(width);
        Some(Value(unsafe {
            LLVMBuildBitCast(self.0, value.0, ty.0, c"".as_ptr())
        }))
    }

    pub(crate) fn unreachable(&self) -> Value {
        Value(unsafe { LLVMBuildUnreachable(self.0) })
    }

    pub(crate) fn switch(&self, value: Value, default: Block, cases: &[(Value, Block)]) -> Value {
        unsafe {
            let switch = LLVMBuildSwitch(self.0, value.0, default.0, cases.len() as u32);
            for (case, target) in cases {
                LLVMAddCase(switch, case.0, target.0);
            }
            Value(switch)
        }
    }

    pub(crate) fn alloca(&self, ty: Type, name: &str) -> Value {
        let name = c_string(name);
        Value(unsafe { LLVMBuildAlloca(self.0, ty.0, name.as_ptr()) })
    }

    /// The same for so many values.
    pub(crate) fn array_alloca(&self, ty: Type, count: Value, name: &str) -> Value {
        let name = c_string(name);
        Value(unsafe { LLVMBuildArrayAlloca(self.0, ty.0, count.0, name.as_ptr()) })
    }

    /// The address of a field of a struct.
    pub(crate) fn field(&self, ty: Type, pointer: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildStructGEP2(self.0, ty.0, pointer.0, index, c"".as_ptr()) })
    }

    /// The address of what stands in a value of type `ty` at these indices, the first of which is 0.
    pub(crate) fn element(&self, ty: Type, pointer: Value, indices: &[Value]) -> Value {
        let mut indices: Vec<_> = indices.iter().map(|index| index.0).collect();
        let count = indices.len() as u32;
        Value(unsafe {
            LLVMBuildInBoundsGEP2(
                self.0,
                ty.0,
                pointer.0,
                indices.as_mut_ptr(),
                count,
                c"".as_ptr(),
            )
        })
    }

    /// The address so many bytes behind another.
    pub(crate) fn offset(&self, pointer: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return pointer;
        }
        let types = super::Types::of_function(self.block().parent());
        let mut index = types.constant(64, bytes).0;
        Value(unsafe {
            LLVMBuildGEP2(
                self.0,
                types.integer(8).0,
                pointer.0,
                &mut index,
                1,
                c"".as_ptr(),
            )
        })
    }

    pub(crate) fn extract_value(&self, aggregate: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildExtractValue(self.0, aggregate.0, index, c"".as_ptr()) })
    }

    pub(crate) fn insert_value(&self, aggregate: Value, value: Value, index: u32) -> Value {
        Value(unsafe { LLVMBuildInsertValue(self.0, aggregate.0, value.0, index, c"".as_ptr()) })
    }

    pub(crate) fn and(&self, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildAnd(self.0, a.0, b.0, c"".as_ptr()) })
    }

    pub(crate) fn or(&self, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildOr(self.0, a.0, b.0, c"".as_ptr()) })
    }

    pub(crate) fn equal(&self, a: Value, b: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntEQ, a, b)
    }

    /// `a < b` without signs.
    pub(crate) fn less(&self, a: Value, b: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntULT, a, b)
    }

    pub(crate) fn not_equal(&self, a: Value, b: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntNE, a, b)
    }

    fn compare(&self, predicate: LLVMIntPredicate, a: Value, b: Value) -> Value {
        Value(unsafe { LLVMBuildICmp(self.0, predicate, a.0, b.0, c"".as_ptr()) })
    }

    /// Inserts a copy of an instruction; its operands are still the original's.
    pub(crate) fn insert_clone(&self, instruction: Value) -> Value {
        unsafe {
            let clone = LLVMInstructionClone(instruction.0);
            LLVMInsertIntoBuilder(self.0, clone);
            Value(clone)
        }
    }

    pub(crate) fn pointer_to_integer(&self, value: Value, ty: Type) -> Value {
        Value(unsafe { LLVMBuildPtrToInt(self.0, value.0, ty.0, c"".as_ptr()) })
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
