#include "sprt/sprt.h"

#include "support/Status.h"

#include <cstdlib>

sprt_code sprt_status_code(const sprt_status *status) {
  return status ? status->code : SPRT_OK;
}
const char *sprt_status_text(const sprt_status *status) {
  return status ? status->text.c_str() : "";
}
int64_t sprt_status_rank(const sprt_status *status) {
  return status ? status->rank : -1;
}
int64_t sprt_status_command(const sprt_status *status) {
  return status ? status->command : -1;
}
int64_t sprt_status_peer(const sprt_status *status) {
  return status ? status->peer : -1;
}
void sprt_status_free(sprt_status *status) { delete status; }

const char *sprt_version(void) { return SPRT_VERSION; }
uint32_t sprt_abi_version(void) { return SPRT_ABI_VERSION; }
void sprt_buffer_free(void *data) { std::free(data); }
