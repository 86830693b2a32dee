/// Which pairs of an attention or a transfer count, for people.
#ifndef SPRT_LIB_PROGRAM_MASKTEXT_H
#define SPRT_LIB_PROGRAM_MASKTEXT_H

#include "sprt/plan_generated.h"

#include <string>
#include <vector>

namespace sprt {

/// ` {q 0..8 k 0..8 -inf..0} in documents 0`; without documents they are -1.
std::string maskText(const std::vector<plan::Band> &bands, int32_t documents);

} // namespace sprt

#endif // SPRT_LIB_PROGRAM_MASKTEXT_H
