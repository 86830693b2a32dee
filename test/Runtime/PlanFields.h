/// The numbers of a plan, wherever they stand in its bytes.
#ifndef SP_TEST_RUNTIME_PLANFIELDS_H
#define SP_TEST_RUNTIME_PLANFIELDS_H

#include "sprt/plan_generated.h"

#include <string>
#include <vector>

namespace sprt::test {

struct Field {
  std::string name; ///< "Attend.batch"
  flatbuffers::ElementaryType type;
  size_t at; ///< first byte
  size_t bytes;
};

/// Every number of the plan that `bytes` are. Those that a table leaves out,
/// because they are what is meant without them, are not there.
std::vector<Field> fieldsOf(const std::vector<uint8_t> &bytes);

/// The plan's bytes with every number of every table in them.
std::vector<uint8_t> writtenOut(const plan::PlanT &plan);

} // namespace sprt::test

#endif // SP_TEST_RUNTIME_PLANFIELDS_H
