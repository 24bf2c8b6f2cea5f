#include "harness/exec/python_start.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "harness/exec/preloading.h"
#include "harness/exec/python_protocol.h"

namespace ohm::engine {

namespace {

std::filesystem::path folder() {
  const std::filesystem::path imported = shipped_file(OHM_BUILT_RECORDER, OHM_INSTALLED_RECORDER);
  return imported.parent_path();
}

}  // namespace

std::string python_start_file(const std::string& name) { return folder() / name; }

void add_python_start(ChildCommand& command) {
  command.environment.emplace_back(python::kProtocolVariable,
                                   std::to_string(python::kProtocolVersion));
  std::string path = folder();
  const char* value = std::getenv("PYTHONPATH");
  const std::string_view own = value == nullptr ? "" : value;
  // A command that was prepared already: ohm exec -- ohm record.
  const bool is_there = own == path || own.substr(0, path.size() + 1) == path + ":";
  if (is_there) return;
  if (!own.empty()) path.append(":").append(own);
  command.environment.emplace_back("PYTHONPATH", path);
}

}  // namespace ohm::engine
