// What the passes need of LLVM and its C API does not offer. Plain functions over the C API's handles;
// no logic lives here.

#include <llvm-c/Core.h>
#include <llvm/IR/Comdat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

using namespace llvm;

extern "C" {

// Turns a definition into a declaration (external linkage, no comdat).
void p3_delete_body(LLVMValueRef V) {
  if (auto *F = dyn_cast<Function>(unwrap(V))) {
    F->deleteBody();
    F->setComdat(nullptr);
  } else if (auto *G = dyn_cast<GlobalVariable>(unwrap(V))) {
    G->setInitializer(nullptr);
    G->setLinkage(GlobalValue::ExternalLinkage);
    G->setComdat(nullptr);
  }
}

void p3_drop_comdat(LLVMValueRef V) {
  if (auto *G = dyn_cast<GlobalObject>(unwrap(V)))
    G->setComdat(nullptr);
}

// The block's tail from I on becomes a new block, which is returned; phis of the successors follow.
LLVMBasicBlockRef p3_split_before(LLVMValueRef I, const char *Name) {
  auto *Inst = cast<Instruction>(unwrap(I));
  return wrap(Inst->getParent()->splitBasicBlock(Inst, Name));
}

// A new block that only branches to To and stands in for From in To's phis.
LLVMBasicBlockRef p3_insert_on_edge(LLVMBasicBlockRef From, LLVMBasicBlockRef To, const char *Name) {
  BasicBlock *Target = unwrap(To);
  BasicBlock *Edge = BasicBlock::Create(Target->getContext(), Name, Target->getParent(), Target);
  BranchInst::Create(Target, Edge);
  Target->replacePhiUsesWith(unwrap(From), Edge);
  return wrap(Edge);
}

// The call passes its arguments as the function wants them (byval, sret, inreg, calling convention).
void p3_copy_call_attributes(LLVMValueRef Call, LLVMValueRef Fn) {
  auto *CB = cast<CallBase>(unwrap(Call));
  auto *F = cast<Function>(unwrap(Fn));
  CB->setAttributes(F->getAttributes());
  CB->setCallingConv(F->getCallingConv());
}

int p3_is_must_tail(LLVMValueRef Call) {
  auto *CI = dyn_cast<CallInst>(unwrap(Call));
  return CI && CI->isMustTailCall();
}

// Keeps the module flags named in Keep; drops the others, whose disagreement would make the linker refuse.
// A kept flag never makes the linker refuse: its behaviour becomes "warning" unless it is "max".
void p3_keep_module_flags(LLVMModuleRef M, const char *const *Keep, size_t Count) {
  Module *Mod = unwrap(M);
  NamedMDNode *Flags = Mod->getModuleFlagsMetadata();
  if (!Flags)
    return;
  SmallVector<Module::ModuleFlagEntry, 8> Entries;
  Mod->getModuleFlagsMetadata(Entries);
  auto *Ty = Type::getInt32Ty(Mod->getContext());
  SmallVector<MDNode *, 8> Kept;
  for (auto &E : Entries)
    for (size_t I = 0; I < Count; I++)
      if (E.Key->getString() == Keep[I]) {
        auto Behavior = E.Behavior == Module::Max ? Module::Max : Module::Warning;
        Metadata *Ops[] = {ConstantAsMetadata::get(ConstantInt::get(Ty, Behavior)), E.Key, E.Val};
        Kept.push_back(MDNode::get(Mod->getContext(), Ops));
      }
  Flags->eraseFromParent();
  if (Kept.empty())
    return;
  Flags = Mod->getOrInsertModuleFlagsMetadata();
  for (auto *N : Kept)
    Flags->addOperand(N);
}

// Removes a named metadata node, if there is one.
void p3_erase_named_metadata(LLVMModuleRef M, const char *Name) {
  if (NamedMDNode *N = unwrap(M)->getNamedMetadata(Name))
    N->eraseFromParent();
}
}
