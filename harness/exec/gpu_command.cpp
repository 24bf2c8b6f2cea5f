#include "harness/exec/gpu_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "allocator_shim/device/gpu_table.h"
#include "allocator_shim/interpose/device_record.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "allocator_shim/interpose/sonames.h"
#include "harness/exec/linked_runtime.h"
#include "harness/exec/preloading.h"
#include "harness/exec/python_protocol.h"
#include "harness/exec/python_start.h"

namespace ohm::engine {

namespace {

/// A program finds NVIDIA's own libraries before what a preloaded library needs: the stand-ins have
/// to be preloaded, each. The last of them brings the rest.
std::vector<std::string> stand_ins() {
  const std::filesystem::path last = shipped_file(OHM_BUILT_PRELOAD, OHM_INSTALLED_PRELOAD);
  std::vector<std::string> files;
  for (const std::string_view soname : interpose::kSonames) {
    files.push_back(last.parent_path() / soname);
  }
  files.push_back(last);
  return files;
}

}  // namespace

ChildCommand gpu_command(const std::vector<std::string>& words, const std::string& gpus) {
  ChildCommand command = preloaded_command(words, stand_ins(), PreloadOrder::last);
  check_linked_runtime(command.path);
  add_python_start(command);
  command.environment.emplace_back(interpose::kGpusVariable, gpus);
  // Not as an ohm that started this one has them.
  command.environment.emplace_back(interpose::kSharedGpusVariable, "");
  command.environment.emplace_back(interpose::kInFlightVariable, "");
  return command;
}

void share_gpus(ChildCommand& command, const std::string& folder) {
  const std::string path = std::filesystem::path(folder) / "shared-gpus";
  GpuTable::create(path);
  command.environment.emplace_back(interpose::kSharedGpusVariable, path);
}

void add_recorder(ChildCommand& command, const std::string& folder) {
  command.environment.emplace_back(python::kRecordVariable, folder);
}

void add_device_recorder(ChildCommand& command, const std::string& folder) {
  command.environment.emplace_back(interpose::kDeviceRecordVariable, folder);
}

}  // namespace ohm::engine
