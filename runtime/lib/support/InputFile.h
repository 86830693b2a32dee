/// Reading of files.
#ifndef SPRT_LIB_SUPPORT_INPUTFILE_H
#define SPRT_LIB_SUPPORT_INPUTFILE_H

#include "support/Status.h"

#include <string>

namespace sprt {

/// Documented at `sprt_file_check_input`.
Status checkInput(const std::string &path);

} // namespace sprt

#endif // SPRT_LIB_SUPPORT_INPUTFILE_H
