#include "allocator_shim/interpose/granted_values.h"

#include <string_view>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"

namespace ohm::interpose {
namespace {

thread_local int checks = 0;  // that this thread is in

}  // namespace

bool grant_check(void* read, std::size_t bytes) {
  if (checks == 0 || bytes != sizeof(bool)) return false;
  *static_cast<bool*>(read) = true;
  note_assumption(Assumption::passed_checks);
  return true;
}

}  // namespace ohm::interpose

OHM_EXPORTED void ohm_begin_check() { ++ohm::interpose::checks; }

OHM_EXPORTED void ohm_end_check() { --ohm::interpose::checks; }

OHM_EXPORTED void ohm_note_assumption(const char* name) {
  for (const ohm::AssumptionInfo& info : ohm::assumption_table()) {
    if (info.name == std::string_view(name)) {
      ohm::interpose::note_assumption(info.assumption);
    }
  }
}
