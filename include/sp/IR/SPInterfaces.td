//===- SPInterfaces.td - What operations of sp have in common ----*- tablegen -*-===//

#ifndef SP_IR_SPINTERFACES_TD
#define SP_IR_SPINTERFACES_TD

include "mlir/IR/OpBase.td"

def Sp_CommunicationOpInterface : OpInterface<"CommunicationOpInterface"> {
  let cppNamespace = "::mlir::sp";
  let description = [{
    Moves values between ranks, or memories of one. In value form, from Partition, results are there at
    once; a start, from Schedule, yields a token last, and results may be used once
    that has been awaited.
  }];
  let methods = [
    InterfaceMethod<"Whether this is a start.", "bool", "isStart", (ins), "", [{
      return $_op->getNumResults() > 0 && ::llvm::isa<TokenType>($_op->getResults().back().getType());
    }]>,
    InterfaceMethod<"The start of what an operation in value form does, before it.",
      "::mlir::Operation *", "createStart", (ins "::mlir::OpBuilder &":$builder), "", [{
      ::mlir::OperationState state($_op->getLoc(), ($_op->getName().getStringRef() + "_start").str());
      state.addOperands($_op->getOperands());
      state.addTypes($_op->getResultTypes());
      state.addTypes(TokenType::get($_op->getContext()));
      state.attributes = $_op->getAttrs();
      return builder.create(state);
    }]>,
    InterfaceMethod<"The token of a start.", "::mlir::Value", "getToken", (ins), "", [{
      return $_op->getResults().back();
    }]>,
    InterfaceMethod<"What a start runs on, beside what computes.", "Stream", "getStream", (ins), "", [{
      auto stream = $_op->template getAttrOfType<StreamAttr>("stream");
      return stream ? stream.getValue() : Stream::Comm;
    }]>,
    InterfaceMethod<"", "void", "setStream", (ins "Stream":$stream), "", [{
      $_op->setAttr("stream", StreamAttr::get($_op->getContext(), stream));
    }]>,
  ];
}

def Sp_ContinuationOpInterface : OpInterface<"ContinuationOpInterface"> {
  let cppNamespace = "::mlir::sp";
  let description = "Goes on with partial results, in their places.";
  let methods = [
    InterfaceMethod<"Each operand that is gone on with, and the result that it becomes.",
      "::llvm::SmallVector<Continued, 3>", "getContinued">,
    InterfaceMethod<"What they are, for people.", "::llvm::StringRef", "nameContinued">,
  ];
}

def Sp_ScoredOpInterface : OpInterface<"ScoredOpInterface"> {
  let cppNamespace = "::mlir::sp";
  let description = [{
    Reads terms in its score function: values beside the score, in the order of the
    function's arguments, which is that of their kinds.
  }];
  let methods = [
    InterfaceMethod<"All of them.", "::mlir::OperandRange", "getTerms">,
    InterfaceMethod<"Of each, its kind.", "TermKindsAttr", "getTermKinds">,
    InterfaceMethod<"Those of a kind.", "::mlir::OperandRange", "getTermsOf", (ins "TermKind":$kind), "", [{
      auto [first, count] = findKind($_op.getTermKinds().getKinds(), kind);
      return $_op.getTerms().slice(first, count);
    }]>,
    InterfaceMethod<"Terms and kinds.", "AttentionTerms", "getScoreTerms", (ins), "", [{
      return AttentionTerms{$_op.getTerms(), ::llvm::to_vector($_op.getTermKinds().getKinds())};
    }]>,
  ];
}

#endif // SP_IR_SPINTERFACES_TD
