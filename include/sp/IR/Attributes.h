/// Discardable attributes of the dialect. Each is declared here and checked by
/// the dialect; what the stages say of places is read by `placeOf` alone.
#ifndef SP_IR_ATTRIBUTES_H
#define SP_IR_ATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sp {

// From Plan: how arguments and results of @main are cut (Sharding), and the
// result that an argument is donated for (number).
inline constexpr llvm::StringLiteral kSharding = "sp.sharding";
inline constexpr llvm::StringLiteral kDonatedTo = "sp.donated_to";
/// Within Partition: of an argument that is donated for itself with other rows
/// (flag).
inline constexpr llvm::StringLiteral kCache = "sp.cache";
/// Within Partition: how an operation's results are cut (list of Sharding).
inline constexpr llvm::StringLiteral kShardings = "sp.shardings";
/// From Partition: of a loop in which queries of one block after another meet
/// all keys (flag).
inline constexpr llvm::StringLiteral kTurns = "sp.turns";
/// From Partition: of a loop that goes through the rows of the batch, by its
/// counter; what documents say inside is that of the row (flag).
inline constexpr llvm::StringLiteral kRowsOfBatch = "sp.rows_of_batch";
/// From Partition: of a reshape where a rank has one row by some axis, or one
/// run of rows, the dimension of the result in which each axis deals; shapes do
/// not tell the row from other dimensions of one (axis = number).
inline constexpr llvm::StringLiteral kOneRow = "sp.one_row";
/// Within Partition: of a loop over rows of a dealt dimension why every rank
/// runs all of its trips (text).
inline constexpr llvm::StringLiteral kNotDealt = "sp.not_dealt";
/// From Partition: communication of gradients, which stays apart from that of
/// the forward (flag).
inline constexpr llvm::StringLiteral kBackward = "sp.backward";
/// From Schedule: of communication in the turns of a loop, that it makes what
/// the next turn reads; in the last one it does nothing (flag).
inline constexpr llvm::StringLiteral kAhead = "sp.ahead";
/// From Schedule: how often a long `stablehlo.while` runs (number).
inline constexpr llvm::StringLiteral kTrips = "sp.trips";
/// From Schedule: of a loop over blocks of rows the number of its region, and
/// how many tokens that and a block have (list of numbers).
inline constexpr llvm::StringLiteral kRowBlocks = "sp.row_blocks";
// From Memory: places of an operation's tensor results and of what a loop
// carries (lists of Place), and of an argument of @main (Place).
inline constexpr llvm::StringLiteral kPlaces = "sp.places";
inline constexpr llvm::StringLiteral kCarriedPlaces = "sp.carried_places";
inline constexpr llvm::StringLiteral kPlace = "sp.place";
/// From Memory: of the argument of a kernel onto which its result is written
/// (flag).
inline constexpr llvm::StringLiteral kOnto = "sp.onto";
// From Memory: sizes of the spaces of @main, in bytes (numbers).
inline constexpr llvm::StringLiteral kArenaBytes = "sp.arena_bytes";
inline constexpr llvm::StringLiteral kConstantBytes = "sp.constant_bytes";
inline constexpr llvm::StringLiteral kFarBytes = "sp.far_bytes";
// Within Codegen: of a kernel's function its tiles and the scratch memory of a
// thread (numbers); on GPUs that it is a grid (flag) and the threads of a block
// (number); of its loops, which are written out (flag).
inline constexpr llvm::StringLiteral kTiles = "sp.tiles";
inline constexpr llvm::StringLiteral kScratchBytes = "sp.scratch_bytes";
inline constexpr llvm::StringLiteral kGrid = "sp.grid";
inline constexpr llvm::StringLiteral kThreads = "sp.threads";
inline constexpr llvm::StringLiteral kUnrolled = "sp.unrolled";
// Of a module, for comparisons of kernels: attention leaves its state (flag),
// in this tile (numbers).
inline constexpr llvm::StringLiteral kAttentionState = "sp.attention_state";
inline constexpr llvm::StringLiteral kAttentionTile = "sp.attention_tile";

} // namespace mlir::sp

#endif // SP_IR_ATTRIBUTES_H
