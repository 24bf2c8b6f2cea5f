// The settings that the environment of the process holds, read once, when the library is loaded.
#pragma once

#include <cstdint>

#include "allocator_shim/interpose/host/fixed_path.h"
#include "allocator_shim/interpose/host/host_fault.h"

namespace ohm::interpose::host {

struct ProcessSettings {
  HostFault fault;
  std::uint64_t limit_bytes = 0;        ///< 0: none
  const char* record_folder = nullptr;  ///< nullptr: nothing is recorded
  const char* sweep_folder = nullptr;   ///< nullptr: no sweep

  bool is_idle() const {
    return fault.is_none() && limit_bytes == 0 && record_folder == nullptr &&
           sweep_folder == nullptr;
  }
};

/// As the variables say. Ends the process, with a message, where one of them makes no sense: ohm
/// writes none such.
ProcessSettings read_settings(char** environment);

/// Takes the sweep's variables, and the preloading of this library, out of the environment: what
/// the process prints of it, and what it starts, is as if there were none.
void hide_sweep(char** environment);

}  // namespace ohm::interpose::host
