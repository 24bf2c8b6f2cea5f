#include "harness/exec/gpu_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/exec/preloading.h"
#include "harness/exec/python_protocol.h"
#include "harness/exec/python_start.h"

namespace ohm::engine {

ChildCommand gpu_command(const std::vector<std::string>& words, const std::string& gpus) {
  ChildCommand command = preloaded_command(
      words, shipped_file(OHM_BUILT_PRELOAD, OHM_INSTALLED_PRELOAD), PreloadOrder::last);
  add_python_start(command);
  command.environment.emplace_back(interpose::kGpusVariable, gpus);
  return command;
}

void add_recorder(ChildCommand& command, const std::string& folder) {
  command.environment.emplace_back(python::kRecordVariable, folder);
}

}  // namespace ohm::engine
