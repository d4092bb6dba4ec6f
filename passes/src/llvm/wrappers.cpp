// What the passes need of LLVM and its C API does not offer. Plain functions over the C API's handles;
// no logic lives here.

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Comdat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

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
  AttributeList All = F->getAttributes();
  SmallVector<AttributeSet, 8> Params;
  for (unsigned I = 0; I < F->arg_size(); I++)
    Params.push_back(All.getParamAttrs(I));
  CB->setAttributes(AttributeList::get(F->getContext(), AttributeSet(), All.getRetAttrs(), Params));
  CB->setCallingConv(F->getCallingConv());
}

// LLVM does not see all calls of the function, so that its parameters stay what they are.
void p3_keep_parameters(LLVMValueRef Fn) {
  auto *F = cast<Function>(unwrap(Fn));
  appendToCompilerUsed(*F->getParent(), {F});
}

// What a call says of how an argument (or with 0 the result) is passed: the bits of extension and register.
uint32_t p3_call_extension(LLVMValueRef Call, uint32_t Index) {
  AttributeSet Set = cast<CallBase>(unwrap(Call))->getAttributes().getAttributes(Index);
  return Set.hasAttribute(Attribute::ZExt) | Set.hasAttribute(Attribute::SExt) << 1 |
         Set.hasAttribute(Attribute::InReg) << 2;
}

// Makes a call say the same.
void p3_set_call_extension(LLVMValueRef Call, uint32_t Index, uint32_t Bits) {
  auto *CB = cast<CallBase>(unwrap(Call));
  const Attribute::AttrKind Kinds[] = {Attribute::ZExt, Attribute::SExt, Attribute::InReg};
  for (unsigned Bit = 0; Bit < 3; Bit++)
    if (Bits >> Bit & 1)
      CB->addAttributeAtIndex(Index, Attribute::get(CB->getContext(), Kinds[Bit]));
}

// The text of the inline assembly that is called, if it is any.
const char *p3_inline_assembly(LLVMValueRef Call, size_t *Length) {
  auto *Asm = dyn_cast<InlineAsm>(cast<CallBase>(unwrap(Call))->getCalledOperand());
  if (!Asm)
    return nullptr;
  *Length = Asm->getAsmString().size();
  return Asm->getAsmString().data();
}

void p3_set_inline_assembly(LLVMValueRef Call, const char *Text, size_t Length) {
  auto *CB = cast<CallBase>(unwrap(Call));
  auto *Asm = cast<InlineAsm>(CB->getCalledOperand());
  CB->setCalledOperand(InlineAsm::get(Asm->getFunctionType(), StringRef(Text, Length), Asm->getConstraintString(),
                                      Asm->hasSideEffects(), Asm->isAlignStack(), Asm->getDialect(), Asm->canThrow()));
}

int p3_is_must_tail(LLVMValueRef Call) {
  auto *CI = dyn_cast<CallInst>(unwrap(Call));
  return CI && CI->isMustTailCall();
}

// Keeps the module flags named in Keep; drops the others, whose disagreement would make the linker refuse.
// Behaviours become those that this LLVM's clang gives the flags: two files may have different ones from
// different compilers, and KLEE's libc has these. wchar_size must be equal, so it stays only where it has the
// usual value.
void p3_keep_module_flags(LLVMModuleRef M, const char *const *Keep, const uint32_t *Behaviors,
                          size_t Count) {
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
        auto *Value = mdconst::dyn_extract<ConstantInt>(E.Val);
        if (!Value || Value->getType() != Ty || (Behaviors[I] == Module::Error && Value->getZExtValue() != 4))
          continue;
        Metadata *Ops[] = {ConstantAsMetadata::get(ConstantInt::get(Ty, Behaviors[I])), E.Key, E.Val};
        Kept.push_back(MDNode::get(Mod->getContext(), Ops));
      }
  Flags->eraseFromParent();
  if (Kept.empty())
    return;
  Flags = Mod->getOrInsertModuleFlagsMetadata();
  for (auto *N : Kept)
    Flags->addOperand(N);
}

// The first function whose processor attributes the code generator would refuse (by ending the process).
LLVMValueRef p3_find_bad_processor(LLVMModuleRef M, LLVMTargetMachineRef Machine) {
  auto *TM = reinterpret_cast<TargetMachine *>(Machine);
  StringRef Triple = TM->getTargetTriple().str();
  StringSet<> Good;
  for (Function &F : *unwrap(M)) {
    StringRef CPU = F.getFnAttribute("target-cpu").getValueAsString();
    StringRef Features = F.getFnAttribute("target-features").getValueAsString();
    if (!Good.insert((CPU + "," + Features).str()).second)
      continue;
    if (!CPU.empty() && !TM->getMCSubtargetInfo()->isCPUStringValid(CPU))
      return wrap(&F);
    std::unique_ptr<MCSubtargetInfo> Info(TM->getTarget().createMCSubtargetInfo(Triple, CPU, Features));
    if (!Info->checkFeatures("+64bit"))
      return wrap(&F);
  }
  return nullptr;
}

// Takes words that are no features of the target out of the functions' attributes, and the attribute that names a
// processor to tune for if there is no such processor. Returns all of these, each once, to be disposed of as a message,
// or null if there are none. LLVM prints a line for each feature.
char *p3_drop_unknown_features(LLVMModuleRef M, LLVMTargetMachineRef Machine) {
  auto *TM = reinterpret_cast<TargetMachine *>(Machine);
  StringRef Triple = TM->getTargetTriple().str();
  auto With = [&](const Twine &Features) {
    std::unique_ptr<MCSubtargetInfo> Info(TM->getTarget().createMCSubtargetInfo(Triple, "", Features.str()));
    return Info->getFeatureBits();
  };
  FeatureBitset None = With("");
  StringMap<bool> Known;
  std::string Dropped;
  auto IsKnown = [&](StringRef Word) {
    auto [Place, IsNew] = Known.try_emplace(Word, false);
    if (IsNew) {
      StringRef Name = Word.drop_front();
      // Whatever is on from the start can be taken away.
      Place->second = (Word[0] == '+' || Word[0] == '-') && (With("+" + Name) != None || With("-" + Name) != None);
      if (!Place->second)
        Dropped += (Dropped.empty() ? "" : ", ") + Word.str();
    }
    return Place->second;
  };
  for (Function &F : *unwrap(M)) {
    StringRef Features = F.getFnAttribute("target-features").getValueAsString();
    SmallVector<StringRef, 32> Words;
    Features.split(Words, ',', -1, false);
    size_t All = Words.size();
    erase_if(Words, [&](StringRef Word) { return !IsKnown(Word); });
    if (Words.size() != All)
      F.addFnAttr("target-features", join(Words, ","));
    StringRef Tuned = F.getFnAttribute("tune-cpu").getValueAsString();
    if (!Tuned.empty() && !TM->getMCSubtargetInfo()->isCPUStringValid(Tuned)) {
      if (Known.try_emplace(("tune-cpu=" + Tuned).str()).second)
        Dropped += (Dropped.empty() ? "" : ", ") + ("tuning for " + Tuned).str();
      F.removeFnAttr("tune-cpu");
    }
  }
  return Dropped.empty() ? nullptr : LLVMCreateMessage(Dropped.c_str());
}

// Puts an underscore for every character of the names of garbage collectors that would break the module's text: LLVM
// writes these names as they are. Returns the functions concerned, to be disposed of as a message, or null.
char *p3_clean_collector_names(LLVMModuleRef M) {
  std::string Changed;
  for (Function &F : *unwrap(M)) {
    if (!F.hasGC())
      continue;
    std::string Name = F.getGC();
    std::replace_if(Name.begin(), Name.end(), [](char C) { return !isPrint(C) || C == '"' || C == '\\'; }, '_');
    if (Name == F.getGC())
      continue;
    F.setGC(Name);
    Changed += (Changed.empty() ? "" : ", ") + F.getName().str();
  }
  return Changed.empty() ? nullptr : LLVMCreateMessage(Changed.c_str());
}

// Assembles the file-level assembly for nothing. Returns the first error, to be disposed of as a message, or null.
char *p3_find_assembly_error(LLVMModuleRef M, LLVMTargetMachineRef Machine) {
  StringRef Text = unwrap(M)->getModuleInlineAsm();
  if (Text.empty())
    return nullptr;
  auto *TM = reinterpret_cast<TargetMachine *>(Machine);
  const Target &T = TM->getTarget();
  const Triple &TT = TM->getTargetTriple();
  std::string First;
  auto Note = [&](const SMDiagnostic &D) {
    if (D.getKind() == SourceMgr::DK_Error && First.empty())
      First = D.getMessage().str();
  };
  SourceMgr Sources;
  Sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(Text), SMLoc());
  MCTargetOptions Options;
  std::unique_ptr<MCRegisterInfo> Registers(T.createMCRegInfo(TT.str()));
  std::unique_ptr<MCAsmInfo> Info(T.createMCAsmInfo(*Registers, TT.str(), Options));
  std::unique_ptr<MCSubtargetInfo> Subtarget(T.createMCSubtargetInfo(TT.str(), "", ""));
  std::unique_ptr<MCInstrInfo> Instructions(T.createMCInstrInfo());
  MCContext Context(TT, Info.get(), Registers.get(), Subtarget.get(), &Sources);
  std::unique_ptr<MCObjectFileInfo> Sections(T.createMCObjectFileInfo(Context, true));
  Context.setObjectFileInfo(Sections.get());
  Context.setDiagnosticHandler(
      [&](const SMDiagnostic &D, bool, const SourceMgr &, std::vector<const MDNode *> &) { Note(D); });
  std::unique_ptr<MCStreamer> Streamer(T.createNullStreamer(Context));
  T.createNullTargetStreamer(*Streamer);
  std::unique_ptr<MCAsmParser> Parser(createMCAsmParser(Sources, Context, *Streamer, *Info));
  std::unique_ptr<MCTargetAsmParser> TargetParser(T.createMCAsmParser(*Subtarget, *Parser, *Instructions, Options));
  Parser->setTargetParser(*TargetParser);
  if (!Parser->Run(false))
    return nullptr;
  return LLVMCreateMessage(First.empty() ? "not accepted by LLVM's assembler" : First.c_str());
}

static bool hasHugeVector(Type *T, uint64_t Most) {
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return V->getNumElements() > Most;
  return any_of(T->subtypes(), [&](Type *Of) { return hasHugeVector(Of, Most); });
}

// The first function or variable with a vector of more than Most elements, or null.
LLVMValueRef p3_find_huge_vector(LLVMModuleRef M, uint64_t Most) {
  for (GlobalVariable &G : unwrap(M)->globals())
    if (hasHugeVector(G.getValueType(), Most))
      return wrap(&G);
  for (Function &F : *unwrap(M)) {
    if (hasHugeVector(F.getFunctionType(), Most))
      return wrap(&F);
    for (Instruction &I : instructions(F)) {
      auto IsHuge = [&](const Use &U) { return hasHugeVector(U->getType(), Most); };
      if (hasHugeVector(I.getType(), Most) || any_of(I.operands(), IsHuge))
        return wrap(&F);
    }
  }
  return nullptr;
}

// Aliases of aliases become aliases of what those are of.
void p3_flatten_aliases(LLVMModuleRef M) {
  for (GlobalAlias &A : unwrap(M)->aliases()) {
    SmallVector<GlobalAlias *, 8> Chain;
    Constant *Target = &A;
    while (auto *Next = dyn_cast<GlobalAlias>(Target)) {
      Chain.push_back(Next);
      Target = Next->getAliasee();
    }
    for (GlobalAlias *Link : Chain)
      Link->setAliasee(Target);
  }
}

void *p3_linker_new(LLVMModuleRef Destination) { return new Linker(*unwrap(Destination)); }

// Consumes Source; 0 is success.
int p3_linker_link(void *L, LLVMModuleRef Source) {
  return static_cast<Linker *>(L)->linkInModule(std::unique_ptr<Module>(unwrap(Source)));
}

void p3_linker_delete(void *L) { delete static_cast<Linker *>(L); }

// Removes a named metadata node, if there is one.
void p3_erase_named_metadata(LLVMModuleRef M, const char *Name) {
  if (NamedMDNode *N = unwrap(M)->getNamedMetadata(Name))
    N->eraseFromParent();
}

// Parameter ToIndex of To becomes byval like parameter FromIndex of From.
void p3_copy_byval(LLVMValueRef To, unsigned ToIndex, LLVMValueRef From, unsigned FromIndex) {
  auto *Src = cast<Function>(unwrap(From));
  auto *Dst = cast<Function>(unwrap(To));
  if (Type *Ty = Src->getParamByValType(FromIndex)) {
    AttrBuilder B(Dst->getContext());
    B.addByValAttr(Ty);
    if (MaybeAlign A = Src->getParamAlign(FromIndex))
      B.addAlignmentAttr(*A);
    Dst->addParamAttrs(ToIndex, B);
  }
}

// String attributes (target features, frame pointer, ...) and those that instrument or lay out code.
void p3_copy_code_generation_attributes(LLVMValueRef To, LLVMValueRef From) {
  auto *Dst = cast<Function>(unwrap(To));
  auto *Src = cast<Function>(unwrap(From));
  for (const Attribute &A : Src->getAttributes().getFnAttrs()) {
    bool Wanted = A.isStringAttribute();
    if (!Wanted)
      switch (A.getKindAsEnum()) {
      case Attribute::UWTable:
      case Attribute::SanitizeAddress:
      case Attribute::SanitizeHWAddress:
      case Attribute::SanitizeMemory:
      case Attribute::SanitizeThread:
      case Attribute::StackProtect:
      case Attribute::StackProtectStrong:
      case Attribute::StackProtectReq:
      case Attribute::NullPointerIsValid:
        Wanted = true;
        break;
      default:
        break;
      }
    if (Wanted)
      Dst->addFnAttr(A);
  }
}

// A function of type Ty with the body, the name and all else of Fn, which is left as a declaration without a name.
LLVMValueRef p3_with_type(LLVMValueRef Fn, LLVMTypeRef Ty) {
  auto *Old = cast<Function>(unwrap(Fn));
  auto *New = Function::Create(unwrap<FunctionType>(Ty), Old->getLinkage(), Old->getAddressSpace());
  Old->getParent()->getFunctionList().insert(Old->getIterator(), New);
  New->copyAttributesFrom(Old);
  New->copyMetadata(Old, 0);
  Old->clearMetadata();
  New->splice(New->begin(), Old);
  New->takeName(Old);
  Old->setLinkage(GlobalValue::ExternalLinkage);
  return wrap(New);
}

// F keeps of its attributes that LLVM does not know those that Other has, too, as they may allow what Other does not; and
// gets what Other forbids.
void p3_keep_common_attributes(LLVMValueRef Fn, LLVMValueRef OtherFn) {
  auto *F = cast<Function>(unwrap(Fn));
  auto *Other = cast<Function>(unwrap(OtherFn));
  SmallVector<StringRef, 8> Dropped;
  for (const Attribute &A : F->getAttributes().getFnAttrs())
    if (A.isStringAttribute() && !A.getKindAsString().startswith("no-builtin") &&
        Other->getFnAttribute(A.getKindAsString()) != A)
      Dropped.push_back(A.getKindAsString());
  for (StringRef Kind : Dropped)
    F->removeFnAttr(Kind);
  for (const Attribute &A : Other->getAttributes().getFnAttrs())
    if (A.isStringAttribute() && A.getKindAsString().startswith("no-builtin"))
      F->addFnAttr(A);
  if (Other->hasFnAttribute(Attribute::NullPointerIsValid))
    F->addFnAttr(Attribute::NullPointerIsValid);
}

// Turns the loads and stores of one alloca, in the order of their blocks, into SSA values. Only the blocks are looked at
// in which the variable is alive. One begins with what its immediate dominator ends with, or with a phi if a predecessor
// ends with something else; those are the phis of Cytron et al. (TOPLAS 1991), without their dominance frontiers.
// Numbers are the blocks' in reverse post-order: only what comes from behind needs another round.
static void promoteOne(ArrayRef<Instruction *> Accesses, StringRef Name, const DominatorTree &DT,
                       const DenseMap<BasicBlock *, unsigned> &Numbers) {
  if (Accesses.empty())
    return;
  DenseMap<BasicBlock *, Value *> Ends, Begins;
  DenseMap<Value *, Value *> Known;
  // Loads of what their blocks begin with.
  SmallVector<LoadInst *, 8> Open;
  SmallVector<BasicBlock *, 16> Alive;
  for (size_t I = 0; I < Accesses.size();) {
    BasicBlock *BB = Accesses[I]->getParent();
    Value *Current = nullptr;
    for (; I < Accesses.size() && Accesses[I]->getParent() == BB; I++) {
      if (auto *Store = dyn_cast<StoreInst>(Accesses[I]))
        Current = Store->getValueOperand();
      else if (Current)
        Known[Accesses[I]] = Current;
      else {
        Open.push_back(cast<LoadInst>(Accesses[I]));
        if (Begins.try_emplace(BB).second)
          Alive.push_back(BB);
      }
    }
    if (Current)
      Ends[BB] = Current;
  }
  for (size_t I = 0; I < Alive.size(); I++)
    for (BasicBlock *Before : predecessors(Alive[I]))
      if (!Ends.count(Before) && Begins.try_emplace(Before).second)
        Alive.push_back(Before);
  llvm::sort(Alive, [&](BasicBlock *A, BasicBlock *B) { return Numbers.lookup(A) < Numbers.lookup(B); });

  Type *Ty = getLoadStoreType(Accesses.front());
  auto AtEnd = [&](BasicBlock *BB) {
    auto Found = Ends.find(BB);
    return Found != Ends.end() ? Found->second : Begins.lookup(BB);
  };
  auto Above = [&](BasicBlock *BB) -> Value * {
    auto *Dominator = DT.getNode(BB)->getIDom();
    return Dominator ? AtEnd(Dominator->getBlock()) : UndefValue::get(Ty);
  };
  DenseMap<BasicBlock *, PHINode *> Phis;
  auto AddPhi = [&](BasicBlock *BB, bool IsBefore) {
    unsigned Number = Numbers.lookup(BB);
    bool Wanted = !Phis.count(BB) && any_of(predecessors(BB), [&](BasicBlock *From) {
      return (Numbers.lookup(From) < Number) == IsBefore && AtEnd(From) != Above(BB);
    });
    if (Wanted)
      Phis[BB] = PHINode::Create(Ty, pred_size(BB), Name, &BB->front());
    return Wanted;
  };
  for (bool Changed = true; Changed;) {
    for (BasicBlock *BB : Alive) {
      AddPhi(BB, true);
      PHINode *Phi = Phis.lookup(BB);
      Begins[BB] = Phi ? Phi : Above(BB);
    }
    Changed = false;
    for (BasicBlock *BB : Alive)
      Changed |= AddPhi(BB, false);
  }
  for (BasicBlock *BB : Alive)
    if (PHINode *Phi = Phis.lookup(BB))
      for (BasicBlock *Before : predecessors(BB))
        Phi->addIncoming(AtEnd(Before), Before);

  // What a load is replaced by may be another one.
  for (LoadInst *Load : Open)
    Known[Load] = Begins[Load->getParent()];
  for (Instruction *I : Accesses)
    if (isa<LoadInst>(I)) {
      Value *V = I;
      while (Value *Next = Known.lookup(V))
        V = Next;
      I->replaceAllUsesWith(V);
    }
  for (Instruction *I : Accesses)
    I->eraseFromParent();
}

// One variable after the other, each at the cost of the blocks in which it is alive. LLVM's PromoteMemToReg keeps the
// values of all variables for every block on its way, and goes through all blocks for every few variables that it gets;
// its SSAUpdater, asked for several blocks, makes phis of equal values that refer to one another.
void p3_promote(LLVMValueRef Fn, const LLVMValueRef *Allocas, size_t Count) {
  auto *F = cast<Function>(unwrap(Fn));
  EliminateUnreachableBlocks(*F);
  DominatorTree DT(*F);
  DenseMap<Value *, size_t> Variables;
  for (size_t I = 0; I < Count; I++)
    Variables[unwrap(Allocas[I])] = I;
  std::vector<SmallVector<Instruction *, 4>> Accesses(Count);
  DenseMap<BasicBlock *, unsigned> Numbers;
  ReversePostOrderTraversal<Function *> Order(F);
  for (BasicBlock *BB : Order) {
    unsigned Number = Numbers.size();
    Numbers[BB] = Number;
    for (Instruction &I : *BB) {
      auto Found = Variables.find(getLoadStorePointerOperand(&I));
      if (Found != Variables.end())
        Accesses[Found->second].push_back(&I);
    }
  }
  // A program's own variables are described by debug info, which LLVM knows how to keep.
  std::vector<AllocaInst *> Described;
  for (size_t I = 0; I < Count; I++) {
    auto *Alloca = cast<AllocaInst>(unwrap(Allocas[I]));
    if (Alloca->isUsedByMetadata() || !Alloca->hasNUses(Accesses[I].size())) {
      Described.push_back(Alloca);
      continue;
    }
    promoteOne(Accesses[I], Alloca->getName(), DT, Numbers);
    Alloca->eraseFromParent();
  }
  if (!Described.empty())
    PromoteMemToReg(Described, DT);
}

static void mergeBlocks(Function &F) {
  for (auto I = F.begin(); I != F.end();) {
    BasicBlock *BB = &*I++;
    MergeBlockIntoPredecessor(BB);
  }
}

void p3_merge_blocks(LLVMValueRef Fn) { mergeBlocks(*cast<Function>(unwrap(Fn))); }

// Conditions of constants become constants, phis of one value that value, and what that makes unreachable goes.
static bool foldConstants(Function &F) {
  DominatorTree DT(F);
  const DataLayout &DL = F.getParent()->getDataLayout();
  SimplifyQuery Q(DL, nullptr, &DT);
  bool Changed = false;
  for (BasicBlock &BB : F)
    for (auto It = BB.begin(); It != BB.end();) {
      Instruction *I = &*It++;
      Value *V = nullptr;
      if (isa<PHINode>(I))
        V = simplifyInstruction(I, Q);
      else if (isa<CmpInst>(I) || I->getOpcode() == Instruction::And || I->getOpcode() == Instruction::Or)
        V = ConstantFoldInstruction(I, DL);
      if (V && V != I) {
        I->replaceAllUsesWith(V);
        I->eraseFromParent();
        Changed = true;
      }
    }
  for (BasicBlock &BB : F)
    Changed |= ConstantFoldTerminator(&BB, true);
  EliminateUnreachableBlocks(F);
  return Changed;
}

// The same, and blocks that follow each other are merged.
void p3_fold_branches(LLVMValueRef Fn) {
  auto *F = cast<Function>(unwrap(Fn));
  foldConstants(*F);
  mergeBlocks(*F);
}

// p3_forward_blocks for the blocks before Target, whose phis have so many values that LLVM's own function, which looks
// through all of them for each block, would take too long.
static void forwardTo(BasicBlock &Target) {
  std::vector<PHINode *> Phis;
  for (PHINode &Phi : Target.phis())
    Phis.push_back(&Phi);
  std::vector<BasicBlock *> Before(Phis.front()->block_begin(), Phis.front()->block_end());
  DenseMap<BasicBlock *, unsigned> Numbers;
  for (unsigned I = 0; I < Before.size(); I++) {
    Numbers[Before[I]] = I;
    for (PHINode *Phi : Phis)
      if (Phi->getIncomingBlock(I) != Before[I])
        return;
  }
  for (unsigned I = 0; I < Before.size(); I++) {
    BasicBlock *BB = Before[I];
    // The way from there to Target must not be there already, with other values.
    BasicBlock *From = BB->getSinglePredecessor();
    if (!From || Numbers.count(From) || BB == &Target || BB->hasAddressTaken() || isa<PHINode>(BB->front()))
      continue;
    auto *Br = dyn_cast<BranchInst>(BB->getFirstNonPHIOrDbg());
    if (!Br || !Br->isUnconditional() || !(isa<BranchInst, SwitchInst>(From->getTerminator())))
      continue;
    for (PHINode *Phi : Phis)
      Phi->setIncomingBlock(I, From);
    From->getTerminator()->replaceSuccessorWith(BB, &Target);
    Numbers[From] = I;
    BB->eraseFromParent();
  }
}

// Blocks that only branch on go: their predecessors branch there.
void p3_forward_blocks(LLVMValueRef Fn) {
  auto *F = cast<Function>(unwrap(Fn));
  for (int Round = 0; Round < 4 && foldConstants(*F); Round++)
    ;
  const unsigned Many = 256;
  for (auto I = std::next(F->begin()); I != F->end();) {
    BasicBlock *BB = &*I++;
    auto *Br = dyn_cast<BranchInst>(BB->getFirstNonPHI());
    if (!Br || !Br->isUnconditional() || Br->getSuccessor(0) == BB)
      continue;
    auto *Phi = dyn_cast<PHINode>(&Br->getSuccessor(0)->front());
    if (!Phi || Phi->getNumIncomingValues() <= Many)
      TryToSimplifyUncondBranchFromEmptyBlock(BB);
  }
  for (BasicBlock &BB : *F)
    if (auto *Phi = dyn_cast<PHINode>(&BB.front()))
      if (Phi->getNumIncomingValues() > Many)
        forwardTo(BB);
  mergeBlocks(*F);
}

// An artificial subprogram in the unit and file of Like's, attached to Fn; null if Like has none.
LLVMMetadataRef p3_make_subprogram(LLVMValueRef Fn, LLVMValueRef Like) {
  auto *F = cast<Function>(unwrap(Fn));
  DISubprogram *Model = cast<Function>(unwrap(Like))->getSubprogram();
  if (!Model)
    return nullptr;
  LLVMContext &C = F->getContext();
  auto *Types = DISubroutineType::get(C, DINode::FlagZero, 0, MDTuple::get(C, {nullptr}));
  auto *SP = DISubprogram::getDistinct(
      C, Model->getFile(), F->getName(), "", Model->getFile(), Model->getLine(), Types, Model->getLine(),
      nullptr, 0, 0, DINode::FlagArtificial, DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit,
      Model->getUnit());
  F->setSubprogram(SP);
  return wrap(SP);
}

LLVMMetadataRef p3_artificial_location(LLVMMetadataRef Subprogram) {
  auto *SP = unwrap<DISubprogram>(Subprogram);
  return wrap(DILocation::get(SP->getContext(), 0, 0, SP));
}

// Copy gets Original's line and scope, as if Original's function were inlined into Subprogram's.
void p3_inline_location(LLVMValueRef Copy, LLVMValueRef Original, LLVMMetadataRef Subprogram) {
  auto *I = cast<Instruction>(unwrap(Copy));
  auto *SP = unwrap<DISubprogram>(Subprogram);
  LLVMContext &C = I->getContext();
  DILocation *Site = DILocation::get(C, 0, 0, SP);
  SmallVector<DILocation *, 4> Chain;
  for (DILocation *L = cast<Instruction>(unwrap(Original))->getDebugLoc(); L; L = L->getInlinedAt())
    Chain.push_back(L);
  DILocation *At = Site;
  for (auto L = Chain.rbegin(); L != Chain.rend(); ++L)
    At = DILocation::get(C, (*L)->getLine(), (*L)->getColumn(), (*L)->getScope(), At, (*L)->isImplicitCode());
  I->setDebugLoc(At);
}

void p3_drop_alias_scopes(LLVMValueRef Inst) {
  auto *I = cast<Instruction>(unwrap(Inst));
  I->setMetadata(LLVMContext::MD_alias_scope, nullptr);
  I->setMetadata(LLVMContext::MD_noalias, nullptr);
}

int p3_has_memory_argument(LLVMValueRef Call) {
  auto *CB = cast<CallBase>(unwrap(Call));
  for (unsigned I = 0; I < CB->arg_size(); I++)
    if (CB->isPassPointeeByValueArgument(I) || CB->paramHasAttr(I, Attribute::StructRet))
      return 1;
  return 0;
}

// The value that llvm.dbg.declare or llvm.dbg.value describes, and the source variable's name; null for others
// and where the value is gone or is an expression over several.
const char *p3_debug_variable(LLVMValueRef Call, LLVMValueRef *Value, size_t *Length) {
  auto *Debug = dyn_cast<DbgVariableIntrinsic>(unwrap(Call));
  if (!Debug || Debug->hasArgList() || Debug->getNumVariableLocationOps() != 1)
    return nullptr;
  llvm::Value *V = Debug->getVariableLocationOp(0);
  DILocalVariable *Variable = Debug->getVariable();
  if (!V || !Variable)
    return nullptr;
  *Value = wrap(V);
  *Length = Variable->getName().size();
  return Variable->getName().data();
}

// What llvm.dbg.declare or llvm.dbg.value says; 0 for other instructions and for values made of several.
struct P3Location {
  LLVMValueRef Value; // null: gone
  LLVMMetadataRef Variable, InlinedAt;
  int64_t Offset, Size; // of the fragment, in bits; -1: the whole variable
  int IsAddress;        // the value is where the variable is
  int IsSimple;         // or nothing but the value; 0: something is computed
};

int p3_debug_location(LLVMValueRef Call, P3Location *Out) {
  auto *Debug = dyn_cast<DbgVariableIntrinsic>(unwrap(Call));
  if (!Debug || isa<DbgAssignIntrinsic>(Debug))
    return 0;
  Out->Variable = wrap(Debug->getVariable());
  Out->InlinedAt = wrap(Debug->getDebugLoc() ? Debug->getDebugLoc()->getInlinedAt() : nullptr);
  Out->Value = nullptr;
  Out->Offset = Out->Size = -1;
  Out->IsAddress = isa<DbgDeclareInst>(Debug);
  Out->IsSimple = 0;
  DIExpression *E = Debug->getExpression();
  if (auto Fragment = E->getFragmentInfo()) {
    Out->Offset = Fragment->OffsetInBits;
    Out->Size = Fragment->SizeInBits;
  }
  if (Debug->hasArgList() || Debug->getNumVariableLocationOps() != 1 || Debug->isKillLocation())
    return 1;
  Out->Value = wrap(Debug->getVariableLocationOp(0));
  unsigned Others = 0, Derefs = 0;
  for (auto Op : E->expr_ops())
    if (Op.getOp() == dwarf::DW_OP_deref)
      Derefs++;
    else if (Op.getOp() != dwarf::DW_OP_LLVM_fragment && Op.getOp() != dwarf::DW_OP_stack_value)
      Others++;
  Out->IsSimple = Others == 0 && Derefs == (Derefs && !Out->IsAddress);
  Out->IsAddress |= Derefs == 1;
  return 1;
}

// The scope and the place of inlining of an instruction; 0: it has none.
int p3_scope_of(LLVMValueRef Inst, LLVMMetadataRef *Scope, LLVMMetadataRef *InlinedAt) {
  const DebugLoc &L = cast<Instruction>(unwrap(Inst))->getDebugLoc();
  if (!L)
    return 0;
  *Scope = wrap(cast<DILocalScope>(L.getScope())->getNonLexicalBlockFileScope());
  *InlinedAt = wrap(L.getInlinedAt());
  return 1;
}

// The scope around a local one; null: that is a function's.
LLVMMetadataRef p3_outer_scope(LLVMMetadataRef Scope) {
  auto *Block = dyn_cast<DILexicalBlockBase>(unwrap(Scope));
  return Block ? wrap(cast<DILocalScope>(Block->getScope())->getNonLexicalBlockFileScope()) : nullptr;
}

// A variable's own scope (null: a file's or a name space's), its name and type.
void p3_variable(LLVMMetadataRef Variable, LLVMMetadataRef *Scope, LLVMMetadataRef *Type, const char **Name,
                 size_t *Length) {
  auto *V = cast<DIVariable>(unwrap(Variable));
  auto *Local = dyn_cast_or_null<DILocalScope>(V->getScope());
  *Scope = Local ? wrap(Local->getNonLexicalBlockFileScope()) : nullptr;
  *Type = wrap(V->getType());
  *Name = V->getName().data();
  *Length = V->getName().size();
}

// The Index-th variable that a function's entry keeps although no instruction need speak of it.
LLVMMetadataRef p3_retained(LLVMValueRef Fn, unsigned Index) {
  DISubprogram *SP = cast<Function>(unwrap(Fn))->getSubprogram();
  if (!SP)
    return nullptr;
  unsigned Seen = 0;
  for (auto *Node : SP->getRetainedNodes())
    if (isa<DILocalVariable>(Node) && Seen++ == Index)
      return wrap(Node);
  return nullptr;
}

// The variable that a global is, if debug info says so of the whole of it.
LLVMMetadataRef p3_global_variable(LLVMValueRef Global) {
  SmallVector<DIGlobalVariableExpression *, 1> All;
  cast<GlobalVariable>(unwrap(Global))->getDebugInfo(All);
  for (auto *E : All)
    if (E->getExpression()->getNumElements() == 0)
      return wrap(E->getVariable());
  return nullptr;
}

// A type, looking through typedefs and qualifiers: tag, encoding, size in bits, base or element type.
struct P3Type {
  unsigned Tag, Encoding;
  uint64_t Bits;
  LLVMMetadataRef Base;
  int64_t Count; // of an array's elements; -1: unknown
};

LLVMMetadataRef p3_plain_type(LLVMMetadataRef Type) {
  Metadata *M = unwrap(Type);
  while (auto *D = dyn_cast_or_null<DIDerivedType>(M)) {
    unsigned Tag = D->getTag();
    if (Tag == dwarf::DW_TAG_pointer_type || Tag == dwarf::DW_TAG_reference_type ||
        Tag == dwarf::DW_TAG_rvalue_reference_type || Tag == dwarf::DW_TAG_ptr_to_member_type)
      break;
    M = D->getBaseType();
  }
  return wrap(M);
}

void p3_type(LLVMMetadataRef Type, P3Type *Out) {
  *Out = {0, 0, 0, nullptr, -1};
  auto *T = dyn_cast_or_null<DIType>(unwrap(Type));
  if (!T)
    return;
  Out->Tag = T->getTag();
  Out->Bits = T->getSizeInBits();
  if (auto *B = dyn_cast<DIBasicType>(T))
    Out->Encoding = B->getEncoding();
  if (auto *D = dyn_cast<DIDerivedType>(T))
    Out->Base = wrap(D->getBaseType());
  auto *C = dyn_cast<DICompositeType>(T);
  if (!C)
    return;
  Out->Base = wrap(C->getBaseType());
  if (C->getTag() == dwarf::DW_TAG_array_type && C->getElements().size() == 1)
    if (auto *R = dyn_cast<DISubrange>(C->getElements()[0]))
      if (auto *N = dyn_cast_if_present<ConstantInt *>(R->getCount()))
        Out->Count = N->getSExtValue();
}

// A member of a structure or union: its type and where it is, in bits. 0: there is none of that name.
int p3_member(LLVMMetadataRef Type, const char *Name, LLVMMetadataRef *Of, uint64_t *Offset, uint64_t *Bits) {
  auto *C = dyn_cast_or_null<DICompositeType>(unwrap(Type));
  if (!C)
    return 0;
  for (auto *Node : C->getElements()) {
    auto *D = dyn_cast_or_null<DIDerivedType>(Node);
    if (!D || D->getTag() != dwarf::DW_TAG_member || D->isStaticMember())
      continue;
    if (D->getName() == Name) {
      *Of = wrap(D->getBaseType());
      *Offset = D->getOffsetInBits();
      *Bits = D->isBitField() ? D->getSizeInBits() : 0;
      return 1;
    }
    // An unnamed one.
    if (D->getName().empty() && p3_member(p3_plain_type(wrap(D->getBaseType())), Name, Of, Offset, Bits)) {
      *Offset += D->getOffsetInBits();
      return 1;
    }
  }
  return 0;
}

// How many parameters the function's declaration has; -1: no debug info says so.
int64_t p3_parameter_count(LLVMValueRef Fn) {
  DISubprogram *SP = cast<Function>(unwrap(Fn))->getSubprogram();
  DISubroutineType *T = SP ? SP->getType() : nullptr;
  if (!T || T->getTypeArray().size() == 0)
    return -1;
  // Unspecified parameters are a null at the end.
  unsigned Size = T->getTypeArray().size();
  return Size > 1 && !T->getTypeArray()[Size - 1] ? Size - 2 : Size - 1;
}

// The type of parameter Index, from 1; 0: the result. Null: void.
LLVMMetadataRef p3_parameter_type(LLVMValueRef Fn, unsigned Index) {
  auto Types = cast<Function>(unwrap(Fn))->getSubprogram()->getType()->getTypeArray();
  return Index < Types.size() ? wrap(Types[Index]) : nullptr;
}

// The same of a function type; -1: there are not so many.
int p3_function_type(LLVMMetadataRef Type, unsigned Index, LLVMMetadataRef *Of) {
  auto *T = dyn_cast<DISubroutineType>(unwrap(Type));
  if (!T || Index >= T->getTypeArray().size())
    return -1;
  *Of = wrap(T->getTypeArray()[Index]);
  return 0;
}

// The name of parameter Index, from 1, unless nothing is left of it.
const char *p3_parameter_name(LLVMValueRef Fn, unsigned Index, size_t *Length) {
  auto *F = cast<Function>(unwrap(Fn));
  DISubprogram *SP = F->getSubprogram();
  auto Is = [&](DILocalVariable *V) { return V && V->getArg() == Index && V->getScope() == SP; };
  DILocalVariable *Found = nullptr;
  for (auto *Node : SP->getRetainedNodes())
    if (auto *V = dyn_cast_or_null<DILocalVariable>(Node); Is(V))
      Found = V;
  if (!Found)
    for (Instruction &I : instructions(*F))
      if (auto *Debug = dyn_cast<DbgVariableIntrinsic>(&I); Debug && Is(Debug->getVariable())) {
        Found = Debug->getVariable();
        break;
      }
  if (!Found)
    return nullptr;
  *Length = Found->getName().size();
  return Found->getName().data();
}

const char *p3_type_name(LLVMMetadataRef Type, size_t *Length) {
  auto *T = cast<DIType>(unwrap(Type));
  *Length = T->getName().size();
  return T->getName().data();
}

// The Index-th data member of a structure; 0: there are not so many. Bits: of a bit-field.
int p3_member_at(LLVMMetadataRef Type, unsigned Index, const char **Name, size_t *Length, LLVMMetadataRef *Of,
                 uint64_t *Offset, uint64_t *Bits) {
  for (auto *Node : cast<DICompositeType>(unwrap(Type))->getElements()) {
    auto *D = dyn_cast_or_null<DIDerivedType>(Node);
    bool IsData = D && !D->isStaticMember() &&
                  (D->getTag() == dwarf::DW_TAG_member || D->getTag() == dwarf::DW_TAG_inheritance);
    if (!IsData || Index-- > 0)
      continue;
    *Name = D->getName().data();
    *Length = D->getName().size();
    *Of = wrap(D->getBaseType());
    *Offset = D->getOffsetInBits();
    *Bits = D->isBitField() ? D->getSizeInBits() : 0;
    return 1;
  }
  return 0;
}

// The Index-th enumerator; 0: there are not so many.
int p3_enumerator_at(LLVMMetadataRef Type, unsigned Index, const char **Name, size_t *Length, int64_t *Value) {
  auto Elements = cast<DICompositeType>(unwrap(Type))->getElements();
  if (Index >= Elements.size())
    return 0;
  auto *E = cast<DIEnumerator>(Elements[Index]);
  *Name = E->getName().data();
  *Length = E->getName().size();
  *Value = E->getValue().getSExtValue();
  return 1;
}

// Elements in dimension Index of an array; -1: there is none, or it says not how many.
int64_t p3_dimension(LLVMMetadataRef Type, unsigned Index) {
  auto Elements = cast<DICompositeType>(unwrap(Type))->getElements();
  auto *R = Index < Elements.size() ? dyn_cast<DISubrange>(Elements[Index]) : nullptr;
  auto *N = R ? dyn_cast_if_present<ConstantInt *>(R->getCount()) : nullptr;
  return N ? N->getSExtValue() : -1;
}

int p3_is_declared_only(LLVMMetadataRef Type) {
  auto *T = dyn_cast<DICompositeType>(unwrap(Type));
  return T && T->isForwardDecl();
}

int p3_parameter_has_attribute(LLVMValueRef Fn, unsigned Index, unsigned Kind) {
  return cast<Function>(unwrap(Fn))->hasParamAttribute(Index, static_cast<Attribute::AttrKind>(Kind));
}

// Whether Def is there whenever At is executed.
int p3_dominates(LLVMValueRef Def, LLVMValueRef At) {
  auto *I = dyn_cast<Instruction>(unwrap(Def));
  if (!I)
    return 1;
  auto *Use = cast<Instruction>(unwrap(At));
  DominatorTree DT(*Use->getFunction());
  return DT.dominates(I, Use);
}

int p3_is_swift_error(LLVMValueRef V) { return unwrap(V)->isSwiftError(); }

// Whether two instructions do the same with corresponding operands, whatever metadata they have.
static bool sameInstruction(const Instruction *I, const Instruction *J) {
  if (!I->isSameOperationAs(J) || !I->hasSameSubclassOptionalData(J))
    return false;
  auto *Call = dyn_cast<CallBase>(I);
  return !Call || Call->getFunctionType() == cast<CallBase>(J)->getFunctionType();
}

int p3_same_instruction(LLVMValueRef A, LLVMValueRef B) {
  return sameInstruction(cast<Instruction>(unwrap(A)), cast<Instruction>(unwrap(B)));
}

// Whether two instructions do the same with their operands: opcode, types, flags, attributes, metadata. Debug
// locations and alias scopes do not count.
int p3_same_operation(LLVMValueRef A, LLVMValueRef B) {
  auto *I = cast<Instruction>(unwrap(A));
  auto *J = cast<Instruction>(unwrap(B));
  if (!sameInstruction(I, J))
    return 0;
  SmallVector<std::pair<unsigned, MDNode *>, 4> All[2];
  I->getAllMetadataOtherThanDebugLoc(All[0]);
  J->getAllMetadataOtherThanDebugLoc(All[1]);
  for (auto &List : All)
    erase_if(List, [](const auto &Entry) {
      return Entry.first == LLVMContext::MD_alias_scope || Entry.first == LLVMContext::MD_noalias;
    });
  return All[0] == All[1];
}
}
