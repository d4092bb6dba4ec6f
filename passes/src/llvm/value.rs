//! Handles of values, blocks and types.

use inkwell::llvm_sys::comdat::LLVMGetComdat;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use std::collections::HashMap;
use std::ffi::{c_char, CStr, CString};

extern "C" {
    fn p3_delete_body(value: LLVMValueRef);
    fn p3_drop_comdat(value: LLVMValueRef);
    fn p3_split_before(instruction: LLVMValueRef, name: *const c_char) -> LLVMBasicBlockRef;
    fn p3_parameter_has_attribute(function: LLVMValueRef, index: u32, kind: u32) -> i32;
    fn p3_is_must_tail(call: LLVMValueRef) -> i32;
    fn p3_insert_on_edge(
        from: LLVMBasicBlockRef,
        to: LLVMBasicBlockRef,
        name: *const c_char,
    ) -> LLVMBasicBlockRef;
    fn p3_copy_call_attributes(call: LLVMValueRef, function: LLVMValueRef);
    fn p3_copy_byval(to: LLVMValueRef, to_index: u32, from: LLVMValueRef, from_index: u32);
    fn p3_copy_code_generation_attributes(to: LLVMValueRef, from: LLVMValueRef);
    fn p3_keep_common_attributes(function: LLVMValueRef, other: LLVMValueRef);
    fn p3_call_extension(call: LLVMValueRef, index: u32) -> u32;
    fn p3_set_call_extension(call: LLVMValueRef, index: u32, bits: u32);
    fn p3_inline_assembly(call: LLVMValueRef, length: *mut usize) -> *const c_char;
    fn p3_set_inline_assembly(call: LLVMValueRef, text: *const c_char, length: usize);
    fn p3_with_type(function: LLVMValueRef, ty: LLVMTypeRef) -> LLVMValueRef;
    fn p3_promote(function: LLVMValueRef, allocas: *const LLVMValueRef, count: usize);
    fn p3_merge_blocks(function: LLVMValueRef);
    fn p3_fold_branches(function: LLVMValueRef);
    fn p3_forward_blocks(function: LLVMValueRef);
    fn p3_make_subprogram(function: LLVMValueRef, like: LLVMValueRef) -> LLVMMetadataRef;
    fn p3_inline_location(copy: LLVMValueRef, original: LLVMValueRef, subprogram: LLVMMetadataRef);
    fn p3_drop_alias_scopes(instruction: LLVMValueRef);
    fn p3_keep_parameters(function: LLVMValueRef);
    fn p3_has_memory_argument(call: LLVMValueRef) -> i32;
}

/// A value of some module: constant, global, argument or instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Value(pub(super) LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Block(pub(super) LLVMBasicBlockRef);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Type(pub(super) LLVMTypeRef);

/// The debug-info entry of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subprogram(pub(super) LLVMMetadataRef);

pub(super) fn wrap(raw: LLVMValueRef) -> Option<Value> {
    (!raw.is_null()).then_some(Value(raw))
}

fn wrap_block(raw: LLVMBasicBlockRef) -> Option<Block> {
    (!raw.is_null()).then_some(Block(raw))
}

/// A C string for LLVM; an interior NUL, which no LLVM API takes here, ends it.
pub(crate) fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

/// The linkages that the passes tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Linkage {
    External,
    AvailableExternally,
    Internal,
    Private,
    Common,
    Appending,
    ExternWeak,
    /// weak, weak_odr, linkonce and linkonce_odr
    Weak,
}

impl Value {
    /// A copy of the name; names may hold any bytes but NUL is legal too.
    pub(crate) fn name(self) -> Vec<u8> {
        let mut length = 0;
        // SAFETY: LLVM returns a pointer to `length` bytes that stay valid until the value is renamed.
        unsafe {
            let bytes = LLVMGetValueName2(self.0, &mut length);
            std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec()
        }
    }

    /// The name as text, for messages and look-ups.
    pub(crate) fn name_text(self) -> String {
        String::from_utf8_lossy(&self.name()).into_owned()
    }

    pub(crate) fn set_name(self, name: &[u8]) {
        // SAFETY: LLVM copies the bytes.
        unsafe { LLVMSetValueName2(self.0, name.as_ptr().cast(), name.len()) }
    }

    pub(crate) fn ty(self) -> Type {
        Type(unsafe { LLVMTypeOf(self.0) })
    }

    /// The type of what a global holds; a function's is its function type.
    pub(crate) fn value_type(self) -> Type {
        Type(unsafe { LLVMGlobalGetValueType(self.0) })
    }

    pub(crate) fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.0) != 0 }
    }

    pub(crate) fn as_function(self) -> Option<Value> {
        wrap(unsafe { LLVMIsAFunction(self.0) })
    }

    /// Whether this is another name of something.
    pub(crate) fn is_alias(self) -> bool {
        unsafe { !LLVMIsAGlobalAlias(self.0).is_null() }
    }

    /// What an alias stands for, through all aliases in between; anything else for itself.
    pub(crate) fn behind_aliases(self) -> Option<Value> {
        let mut target = Some(self);
        while let Some(alias) = target.filter(|target| target.is_alias()) {
            target = alias.operand(0);
        }
        target
    }

    /// Whether this is a name whose function a resolver chooses when the program is loaded.
    pub(crate) fn is_ifunc(self) -> bool {
        unsafe { !LLVMIsAGlobalIFunc(self.0).is_null() }
    }

    pub(crate) fn linkage(self) -> Linkage {
        match unsafe { LLVMGetLinkage(self.0) } {
            LLVMLinkage::LLVMAvailableExternallyLinkage => Linkage::AvailableExternally,
            LLVMLinkage::LLVMInternalLinkage => Linkage::Internal,
            LLVMLinkage::LLVMPrivateLinkage => Linkage::Private,
            LLVMLinkage::LLVMCommonLinkage => Linkage::Common,
            LLVMLinkage::LLVMAppendingLinkage => Linkage::Appending,
            LLVMLinkage::LLVMExternalWeakLinkage => Linkage::ExternWeak,
            LLVMLinkage::LLVMLinkOnceAnyLinkage
            | LLVMLinkage::LLVMLinkOnceODRLinkage
            | LLVMLinkage::LLVMWeakAnyLinkage
            | LLVMLinkage::LLVMWeakODRLinkage => Linkage::Weak,
            _ => Linkage::External,
        }
    }

    pub(crate) fn set_internal(self) {
        unsafe {
            LLVMSetLinkage(self.0, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetVisibility(
                self.0,
                inkwell::llvm_sys::LLVMVisibility::LLVMDefaultVisibility,
            );
            LLVMSetDLLStorageClass(
                self.0,
                inkwell::llvm_sys::LLVMDLLStorageClass::LLVMDefaultStorageClass,
            );
        }
    }

    pub(crate) fn set_external(self) {
        unsafe { LLVMSetLinkage(self.0, LLVMLinkage::LLVMExternalLinkage) }
    }

    pub(crate) fn section(self) -> Option<String> {
        // SAFETY: LLVM returns null or a C string owned by the global.
        let section = unsafe {
            let raw = LLVMGetSection(self.0);
            (!raw.is_null()).then(|| CStr::from_ptr(raw).to_string_lossy().into_owned())
        };
        section.filter(|name| !name.is_empty())
    }

    pub(crate) fn set_section(self, name: &str) {
        unsafe { LLVMSetSection(self.0, c_string(name).as_ptr()) }
    }

    pub(crate) fn has_comdat(self) -> bool {
        // Only functions and variables can be in one.
        let is_object = unsafe {
            !LLVMIsAFunction(self.0).is_null() || !LLVMIsAGlobalVariable(self.0).is_null()
        };
        is_object && unsafe { !LLVMGetComdat(self.0).is_null() }
    }

    pub(crate) fn drop_comdat(self) {
        unsafe { p3_drop_comdat(self.0) }
    }

    /// Makes a definition a declaration.
    pub(crate) fn delete_body(self) {
        unsafe { p3_delete_body(self.0) }
    }

    pub(crate) fn initializer(self) -> Option<Value> {
        wrap(unsafe { LLVMGetInitializer(self.0) })
    }

    pub(crate) fn set_initializer(self, value: Value) {
        unsafe { LLVMSetInitializer(self.0, value.0) }
    }

    pub(crate) fn set_constant(self, constant: bool) {
        unsafe { LLVMSetGlobalConstant(self.0, constant.into()) }
    }

    pub(crate) fn delete_global(self) {
        unsafe { LLVMDeleteGlobal(self.0) }
    }

    pub(crate) fn replace_all_uses_with(self, other: Value) {
        unsafe { LLVMReplaceAllUsesWith(self.0, other.0) }
    }

    /// The users (instructions and constants) of a value, each use once.
    pub(crate) fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        // SAFETY: walks LLVM's use list without changing it.
        unsafe {
            let mut current = LLVMGetFirstUse(self.0);
            while !current.is_null() {
                users.push(Value(LLVMGetUser(current)));
                current = LLVMGetNextUse(current);
            }
        }
        users
    }

    pub(crate) fn operand_count(self) -> u32 {
        unsafe { LLVMGetNumOperands(self.0) as u32 }
    }

    /// None if there are not so many: LLVM itself does not look.
    pub(crate) fn operand(self, index: u32) -> Option<Value> {
        (index < self.operand_count())
            .then(|| wrap(unsafe { LLVMGetOperand(self.0, index) }))
            .flatten()
    }

    pub(crate) fn set_operand(self, index: u32, value: Value) {
        unsafe { LLVMSetOperand(self.0, index, value.0) }
    }

    /// Gives a call the parameter attributes and calling convention of the function it names.
    pub(crate) fn copy_call_attributes_from(self, function: Value) {
        unsafe { p3_copy_call_attributes(self.0, function.0) }
    }

    /// The element of a constant aggregate, whichever way LLVM stores it.
    pub(crate) fn element(self, index: u32) -> Option<Value> {
        wrap(unsafe { LLVMGetAggregateElement(self.0, index) })
    }

    /// The complement of a constant integer, folded as far as LLVM can.
    pub(crate) fn constant_not(self) -> Value {
        debug_assert!(self.is_constant());
        Value(unsafe { LLVMConstNot(self.0) })
    }

    /// The value of a constant integer.
    pub(crate) fn as_integer(self) -> Option<u64> {
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetZExtValue(self.0)) }
    }

    /// Looks through constant casts to the function that a constant names.
    pub(crate) fn strip_to_function(self) -> Option<Value> {
        let mut current = self;
        loop {
            if let Some(function) = current.as_function() {
                return Some(function);
            }
            // Aliases and casts both have the thing itself as operand 0.
            let through = unsafe {
                !LLVMIsAConstantExpr(current.0).is_null()
                    && LLVMGetConstOpcode(current.0) != LLVMOpcode::LLVMGetElementPtr
                    || !LLVMIsAGlobalAlias(current.0).is_null()
            };
            if !through {
                return None;
            }
            current = current.operand(0)?;
        }
    }

    // Functions.

    pub(crate) fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut current = unsafe { LLVMGetFirstBasicBlock(self.0) };
        while let Some(block) = wrap_block(current) {
            blocks.push(block);
            current = unsafe { LLVMGetNextBasicBlock(current) };
        }
        blocks
    }

    /// The blocks that branch to each block of this function, once per branch to it. Blocks without any are missing.
    pub(crate) fn predecessors(self) -> HashMap<Block, Vec<Block>> {
        let mut predecessors: HashMap<Block, Vec<Block>> = HashMap::new();
        for block in self.blocks() {
            let terminator = block.terminator();
            for next in terminator.map(Value::successors).unwrap_or_default() {
                predecessors.entry(next).or_default().push(block);
            }
        }
        predecessors
    }

    pub(crate) fn parameters(self) -> Vec<Value> {
        (0..unsafe { LLVMCountParams(self.0) })
            .map(|i| Value(unsafe { LLVMGetParam(self.0, i) }))
            .collect()
    }

    pub(crate) fn remove_attribute(self, kind: &str) {
        let kind = attribute_kind(kind);
        unsafe {
            LLVMRemoveEnumAttributeAtIndex(
                self.0,
                inkwell::llvm_sys::LLVMAttributeFunctionIndex,
                kind,
            )
        }
    }

    pub(crate) fn has_attribute(self, kind: &str) -> bool {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        !unsafe { LLVMGetEnumAttributeAtIndex(self.0, index, attribute_kind(kind)) }.is_null()
    }

    /// Whether what a function returns has the attribute.
    pub(crate) fn result_has_attribute(self, kind: &str) -> bool {
        let index = inkwell::llvm_sys::LLVMAttributeReturnIndex;
        !unsafe { LLVMGetEnumAttributeAtIndex(self.0, index, attribute_kind(kind)) }.is_null()
    }

    /// Whether a function names a garbage collector.
    pub(crate) fn has_collector(self) -> bool {
        unsafe { !LLVMGetGC(self.0).is_null() }
    }

    /// Whether parameter `index`, from 0, has the attribute.
    pub(crate) fn parameter_has_attribute(self, index: u32, kind: &str) -> bool {
        // SAFETY: the wrapper takes a function, and any index.
        unsafe { p3_parameter_has_attribute(self.0, index, attribute_kind(kind)) != 0 }
    }

    pub(crate) fn add_attribute(self, kind: &str) {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(kind), 0);
            LLVMAddAttributeAtIndex(self.0, index, attribute);
        }
    }

    pub(crate) fn remove_text_attribute(self, kind: &str) {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        unsafe {
            LLVMRemoveStringAttributeAtIndex(self.0, index, kind.as_ptr().cast(), kind.len() as u32)
        }
    }

    /// The value of an attribute of a function that LLVM does not know.
    pub(crate) fn text_attribute(self, kind: &str) -> Option<String> {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        let raw = unsafe {
            LLVMGetStringAttributeAtIndex(self.0, index, kind.as_ptr().cast(), kind.len() as u32)
        };
        if raw.is_null() {
            return None;
        }
        let mut length = 0;
        // SAFETY: the attribute belongs to the context, which outlives this; its value has `length` bytes.
        let bytes = unsafe {
            let value = LLVMGetStringAttributeValue(raw, &mut length);
            std::slice::from_raw_parts(value.cast::<u8>(), length as usize)
        };
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(crate) fn add_text_attribute(self, kind: &str, value: &str) {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(self.0));
            let attribute = LLVMCreateStringAttribute(
                context,
                kind.as_ptr().cast(),
                kind.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.0, index, attribute);
        }
    }

    /// Whether the address of this function is taken: it is used in any way but being called.
    pub(crate) fn address_taken(self) -> bool {
        self.users().into_iter().any(|user| {
            if user.is_call() && user.called_operand() == Some(self) {
                user.arguments().contains(&self)
            } else {
                true
            }
        })
    }

    /// Gives parameter `index` the `byval` attribute (type and alignment) of a parameter of `from`, if it has one.
    pub(crate) fn copy_byval(self, index: u32, from: Value, from_index: u32) {
        unsafe { p3_copy_byval(self.0, index, from.0, from_index) }
    }

    /// Takes over the attributes that choose the target's features, stack layout and instrumentation.
    pub(crate) fn copy_code_generation_attributes(self, from: Value) {
        unsafe { p3_copy_code_generation_attributes(self.0, from.0) }
    }

    /// Gives up attributes of those that [`Value::copy_code_generation_attributes`] takes over which `other` lacks, and
    /// takes over what `other` forbids: the code of both will stand in this function.
    pub(crate) fn keep_common_attributes(self, other: Value) {
        unsafe { p3_keep_common_attributes(self.0, other.0) }
    }

    /// How a call extends its result (first) and arguments, and which are in registers: a set of bits each.
    pub(crate) fn call_extensions(self) -> Vec<u32> {
        let all = 0..=self.argument_count();
        all.map(|index| unsafe { p3_call_extension(self.0, index) })
            .collect()
    }

    /// Lets a call do that as [`Value::call_extensions`] says of another.
    pub(crate) fn set_call_extensions(self, extensions: &[u32]) {
        for (index, &bits) in extensions.iter().enumerate() {
            unsafe { p3_set_call_extension(self.0, index as u32, bits) }
        }
    }

    /// A function of another type that takes over this one's body, name, attributes and debug info. The body still
    /// uses the parameters of this one, which has none.
    pub(crate) fn with_type(self, ty: Type) -> Value {
        Value(unsafe { p3_with_type(self.0, ty.0) })
    }

    /// Turns allocas of this function into SSA values, after removing unreachable blocks.
    pub(crate) fn promote(self, allocas: &[Value]) {
        let raw: Vec<_> = allocas.iter().map(|a| a.0).collect();
        unsafe { p3_promote(self.0, raw.as_ptr(), raw.len()) }
    }

    /// Merges blocks into their only predecessors where these have no other successor.
    pub(crate) fn merge_blocks(self) {
        unsafe { p3_merge_blocks(self.0) }
    }

    /// Decides branches whose conditions are known, and removes and merges blocks accordingly.
    pub(crate) fn fold_branches(self) {
        unsafe { p3_fold_branches(self.0) }
    }

    /// Removes blocks that only branch on, phis that are one value, and branches by constants.
    pub(crate) fn forward_blocks(self) {
        unsafe { p3_forward_blocks(self.0) }
    }

    /// Gives a function made by p3-ir an artificial subprogram, if `like` has one.
    pub(crate) fn make_subprogram(self, like: Value) -> Option<Subprogram> {
        let raw = unsafe { p3_make_subprogram(self.0, like.0) };
        (!raw.is_null()).then_some(Subprogram(raw))
    }

    pub(crate) fn delete_function(self) {
        unsafe { LLVMDeleteFunction(self.0) }
    }

    // Instructions.

    /// Takes a function's debug info away: a declaration's does not fit a definition.
    pub(crate) fn drop_subprogram(self) {
        // SAFETY: `dbg` is the first of LLVM's fixed kinds of metadata.
        unsafe { LLVMGlobalEraseMetadata(self.0, 0) }
    }

    /// Gives a copy the line and scope of its original, inlined into the function of `subprogram`.
    pub(crate) fn inline_location(self, original: Value, subprogram: Subprogram) {
        unsafe { p3_inline_location(self.0, original.0, subprogram.0) }
    }

    /// Alias scopes hold for one copy of a function's code only.
    pub(crate) fn drop_alias_scopes(self) {
        unsafe { p3_drop_alias_scopes(self.0) }
    }

    pub(crate) fn has_uses(self) -> bool {
        unsafe { !LLVMGetFirstUse(self.0).is_null() }
    }

    pub(crate) fn operands(self) -> Vec<Value> {
        (0..self.operand_count())
            .filter_map(|i| self.operand(i))
            .collect()
    }

    /// The operands of a call that are its arguments.
    pub(crate) fn arguments(self) -> Vec<Value> {
        (0..self.argument_count())
            .filter_map(|i| self.operand(i))
            .collect()
    }

    /// A phi's values and the blocks they come from.
    pub(crate) fn incoming(self) -> Vec<(Value, Block)> {
        (0..unsafe { LLVMCountIncoming(self.0) })
            .map(|i| unsafe {
                (
                    Value(LLVMGetIncomingValue(self.0, i)),
                    Block(LLVMGetIncomingBlock(self.0, i)),
                )
            })
            .collect()
    }

    /// A phi's value on the edge from `block`.
    pub(crate) fn incoming_from(self, block: Block) -> Option<Value> {
        self.incoming()
            .into_iter()
            .find(|(_, from)| *from == block)
            .map(|(value, _)| value)
    }

    /// A switch's case values, in the order of its successors behind the default.
    pub(crate) fn case_values(self) -> Vec<Value> {
        (1..self.operand_count() / 2)
            .filter_map(|i| self.operand(2 * i))
            .collect()
    }

    /// The function type that a call assumes.
    pub(crate) fn called_type(self) -> Type {
        Type(unsafe { LLVMGetCalledFunctionType(self.0) })
    }

    pub(crate) fn has_default_convention(self) -> bool {
        unsafe { LLVMGetInstructionCallConv(self.0) == 0 }
    }

    /// Whether a call passes an argument as a copy of memory (byval and its kin).
    pub(crate) fn passes_memory_by_value(self) -> bool {
        unsafe { p3_has_memory_argument(self.0) != 0 }
    }

    pub(crate) fn opcode(self) -> LLVMOpcode {
        unsafe { LLVMGetInstructionOpcode(self.0) }
    }

    pub(crate) fn is_instruction(self) -> bool {
        unsafe { !LLVMIsAInstruction(self.0).is_null() }
    }

    /// Attaches metadata of this kind, a number, to an instruction.
    pub(crate) fn set_number(self, kind: &str, number: u64) {
        // SAFETY: everything belongs to the context of the instruction's type.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let number = LLVMConstInt(LLVMInt64TypeInContext(context), number, 0);
            self.attach(kind, &mut [LLVMValueAsMetadata(number)]);
        }
    }

    /// Attaches a node of metadata of this kind to an instruction.
    ///
    /// # Safety
    /// The operands belong to the context of the instruction's type.
    unsafe fn attach(self, kind: &str, operands: &mut [LLVMMetadataRef]) {
        let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
        let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
        let node = LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len());
        LLVMSetMetadata(self.0, kind, LLVMMetadataAsValue(context, node));
    }

    /// How often a terminator goes to each of its successors, compared with the others.
    pub(crate) fn set_branch_weights(self, weights: &[u32]) {
        let name = "branch_weights";
        // SAFETY: everything belongs to the context of the instruction's type; LLVM copies the name.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let integer = LLVMInt32TypeInContext(context);
            let mut operands = vec![LLVMMDStringInContext2(
                context,
                name.as_ptr().cast(),
                name.len(),
            )];
            for &weight in weights {
                operands.push(LLVMValueAsMetadata(LLVMConstInt(integer, weight.into(), 0)));
            }
            self.attach("prof", &mut operands);
        }
    }

    /// What [`Value::set_number`] attached.
    pub(crate) fn number(self, kind: &str) -> Option<u64> {
        // SAFETY: such a node has one operand, which is a constant.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let kind = LLVMGetMDKindIDInContext(context, kind.as_ptr().cast(), kind.len() as u32);
            let node = LLVMGetMetadata(self.0, kind);
            if node.is_null() || LLVMGetMDNodeNumOperands(node) != 1 {
                return None;
            }
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(node, &mut operand);
            wrap(operand)?.as_integer()
        }
    }

    /// A call, invoke or callbr.
    pub(crate) fn is_call(self) -> bool {
        self.is_instruction()
            && matches!(
                self.opcode(),
                LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr
            )
    }

    pub(crate) fn is_must_tail(self) -> bool {
        unsafe { p3_is_must_tail(self.0) != 0 }
    }

    /// Keeps a function's parameters from whoever optimises the module later, used or not.
    pub(crate) fn keep_parameters(self) {
        unsafe { p3_keep_parameters(self.0) }
    }

    /// Says of a call that what it calls does not use local variables of the caller.
    pub(crate) fn set_tail_call(self) {
        unsafe { LLVMSetTailCall(self.0, 1) }
    }

    pub(crate) fn is_inline_asm(self) -> bool {
        unsafe { !LLVMIsAInlineAsm(self.0).is_null() }
    }

    pub(crate) fn called_operand(self) -> Option<Value> {
        wrap(unsafe { LLVMGetCalledValue(self.0) })
    }

    /// The function that a call names directly.
    pub(crate) fn called_function(self) -> Option<Value> {
        self.called_operand()?.strip_to_function()
    }

    pub(crate) fn argument_count(self) -> u32 {
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    /// The text of the inline assembly that this calls.
    pub(crate) fn inline_assembly(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: the text belongs to the context, which outlives this; it has `length` bytes.
        let bytes = unsafe {
            let text = p3_inline_assembly(self.0, &mut length);
            (!text.is_null()).then(|| std::slice::from_raw_parts(text.cast::<u8>(), length))?
        };
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Calls inline assembly with another text, and else the same.
    pub(crate) fn set_inline_assembly(self, text: &str) {
        unsafe { p3_set_inline_assembly(self.0, text.as_ptr().cast(), text.len()) }
    }

    pub(crate) fn add_call_attribute(self, kind: &str) {
        let index = inkwell::llvm_sys::LLVMAttributeFunctionIndex;
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(kind), 0);
            LLVMAddCallSiteAttribute(self.0, index, attribute);
        }
    }

    pub(crate) fn remove_call_attribute(self, kind: &str) {
        let kind = attribute_kind(kind);
        unsafe {
            LLVMRemoveCallSiteEnumAttribute(
                self.0,
                inkwell::llvm_sys::LLVMAttributeFunctionIndex,
                kind,
            )
        }
    }

    pub(crate) fn is_terminator(self) -> bool {
        unsafe { !LLVMIsATerminatorInst(self.0).is_null() }
    }

    /// The successors of a terminator, one per edge.
    pub(crate) fn successors(self) -> Vec<Block> {
        (0..unsafe { LLVMGetNumSuccessors(self.0) })
            .map(|i| Block(unsafe { LLVMGetSuccessor(self.0, i) }))
            .collect()
    }

    pub(crate) fn next_instruction(self) -> Option<Value> {
        wrap(unsafe { LLVMGetNextInstruction(self.0) })
    }

    pub(crate) fn previous_instruction(self) -> Option<Value> {
        wrap(unsafe { LLVMGetPreviousInstruction(self.0) })
    }

    pub(crate) fn parent_block(self) -> Block {
        Block(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The normal destination of an invoke.
    pub(crate) fn normal_destination(self) -> Block {
        Block(unsafe { LLVMGetNormalDest(self.0) })
    }

    pub(crate) fn set_normal_destination(self, block: Block) {
        unsafe { LLVMSetNormalDest(self.0, block.0) }
    }

    pub(crate) fn erase_instruction(self) {
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// Moves the instruction in front of another one.
    pub(crate) fn move_before(self, other: Value) {
        // SAFETY: the builder is in the context of both and is disposed of.
        unsafe {
            LLVMInstructionRemoveFromParent(self.0);
            let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(self.0)));
            LLVMPositionBuilderBefore(builder, other.0);
            LLVMInsertIntoBuilder(builder, self.0);
            LLVMDisposeBuilder(builder);
        }
    }

    pub(crate) fn set_successor(self, index: u32, block: Block) {
        unsafe { LLVMSetSuccessor(self.0, index, block.0) }
    }

    /// Splits the block so that this instruction starts a new one, which is returned.
    pub(crate) fn split_before(self, name: &str) -> Block {
        Block(unsafe { p3_split_before(self.0, c_string(name).as_ptr()) })
    }
}

impl Block {
    /// The block as an operand of terminators.
    pub(crate) fn as_value(self) -> Value {
        Value(unsafe { LLVMBasicBlockAsValue(self.0) })
    }

    pub(crate) fn instructions(self) -> Vec<Value> {
        let mut instructions = Vec::new();
        let mut current = wrap(unsafe { LLVMGetFirstInstruction(self.0) });
        while let Some(instruction) = current {
            instructions.push(instruction);
            current = instruction.next_instruction();
        }
        instructions
    }

    pub(crate) fn terminator(self) -> Option<Value> {
        wrap(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// Makes a block that only branches here, for the edge from `from`; the phis here take it as their
    /// predecessor. The caller redirects the edge.
    pub(crate) fn insert_on_edge_from(self, from: Block, name: &str) -> Block {
        Block(unsafe { p3_insert_on_edge(from.0, self.0, c_string(name).as_ptr()) })
    }

    pub(crate) fn parent(self) -> Value {
        Value(unsafe { LLVMGetBasicBlockParent(self.0) })
    }
}

impl Type {
    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    pub(crate) fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }

    /// The width of an integer type.
    pub(crate) fn integer_width(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind)
            .then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
    }

    /// The all-zero value; `undef` for types that have none (tokens never get here).
    pub(crate) fn zero(self) -> Value {
        Value(unsafe { LLVMConstNull(self.0) })
    }

    /// The number of fields of a struct type.
    pub(crate) fn field_count(self) -> u32 {
        unsafe { LLVMCountStructElementTypes(self.0) }
    }

    pub(crate) fn undefined(self) -> Value {
        Value(unsafe { LLVMGetUndef(self.0) })
    }

    pub(crate) fn return_type(self) -> Type {
        Type(unsafe { LLVMGetReturnType(self.0) })
    }

    pub(crate) fn parameter_types(self) -> Vec<Type> {
        let count = unsafe { LLVMCountParamTypes(self.0) } as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        unsafe { LLVMGetParamTypes(self.0, raw.as_mut_ptr()) };
        raw.into_iter().map(Type).collect()
    }

    pub(crate) fn is_variadic(self) -> bool {
        unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    /// The number of elements of an array type.
    pub(crate) fn array_length(self) -> u32 {
        unsafe { LLVMGetArrayLength(self.0) }
    }
}

pub(super) fn attribute_kind(name: &str) -> u32 {
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}
