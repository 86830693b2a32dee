//===- Passes.td - Verify: whether it is right -------------------*- tablegen -*-===//
//
// After Memory, when all is decided: which values, in which order, on which streams
// and in which places.

#ifndef SP_VERIFY_PASSES
#define SP_VERIFY_PASSES

include "mlir/Pass/PassBase.td"

def VerifyCoveragePass : Pass<"sp-verify-coverage", "::mlir::ModuleOp"> {
  let summary = "Prove that every query meets every key that it sees exactly once";
  let description = [{
    Follows the blocks of keys and values from rank to rank through the schedule,
    loops turn by turn. Layouts deal each position to one owner, and bands show
    each pair of positions once; what is left to prove of an attention is that

    - a block holds the rows that `from` says, where it is handed on and where
      it is attended to, and keys, their values and their terms come together,
    - no rank attends to an owner's keys twice, and to all of them whose keys its
      queries see any of,
    - the state grows in one line: no partial result is continued twice or lost,
      and all of them are of the same queries, keys and mask.

    Of the gradients of an attention the same is proved, where the state is the
    gradient of the queries. As each pair is then met in one `sp.attend_backward`,
    what is left of keys and values is that

    - a part of their gradient is added to that of the same rows only, goes on
      once, and is at home where another operation takes it up,
    - where one part is taken up, none of that gradient is lost.

    Where queries travel instead, with all that belongs to them, the state is the
    gradient of keys and values, and the rest is said of queries.

    What other operations make of parts that are at home, as the sum of two, is not
    looked at; nor by which layout an all-gather or an exchange takes its operand's
    rows, which no type says.

    How far a block has come is the same on every rank, so a turn of a ring costs
    the same for any number of ranks. Up to 64 ranks every rank is looked at in
    every turn; of more, the first, the last and those in the middle, in the
    first and the last turns.
  }];
}

def VerifyPlacesPass : Pass<"sp-verify-places", "::mlir::ModuleOp"> {
  let summary = "Prove that what is read is still there";
  let description = [{
    Runs the program on places instead of numbers. What is left to prove, once
    every value has a place, is that

    - a read finds in its place what was written for it, and nothing of it has been
      overwritten since; of a communication, on whichever stream, this holds from
      its start to its wait, for what it reads and for what it writes,
    - partial results are continued in place, and what loops and branches carry
      lies where they expect it,
    - arguments are still there in the end, but for those that results replace.

    Loops run as often as their slots take to come round, so this costs the same
    for any number of turns.
  }];
}

def VerifyStacksPass : Pass<"sp-verify-stacks", "::mlir::ModuleOp"> {
  let summary = "Prove that every row of a stack is put once, before it is read";
  let description = [{
    Of every `sp.empty` it follows the puts, turn by turn of the loops that carry it:

    - no row is put twice,
    - what reads the stack, other than to put more rows, finds all of them there.

    In a loop over blocks of rows every `sp.take` and `sp.put` by its counter is of
    the rows of that block, and what is carried is gone on with.
  }];
}

#endif // SP_VERIFY_PASSES
