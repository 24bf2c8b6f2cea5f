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
#include "harness/exec/python_start.h"

namespace ohm::engine {

ChildCommand gpu_command(const std::vector<std::string>& words, const std::string& gpus) {
  ChildCommand command =
      preloaded_command(words, shipped_file(OHM_BUILT_PRELOAD, OHM_INSTALLED_PRELOAD));
  add_python_start(command);
  command.environment.emplace_back(interpose::kGpusVariable, gpus);
  return command;
}

void add_recorder(ChildCommand& command, const std::string& folder) {
  command.environment.emplace_back("OHM_RECORD", folder);
}

RecordFolder::RecordFolder() {
  std::error_code none;  // mkdtemp() says it better
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  std::string pattern = (none ? std::filesystem::path("/tmp") : temporary) / "ohm-record-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::invalid_argument(
        fmt::format("cannot create a folder for records at {}: {}; set TMPDIR to another place",
                    pattern, std::strerror(errno)));
  }
  path_ = pattern;
}

RecordFolder::RecordFolder(std::string path) : path_(std::move(path)), is_kept_(true) {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  const bool is_ready = !error && std::filesystem::is_empty(path_, error);
  if (error) throw std::invalid_argument(fmt::format("{}: {}", path_, error.message()));
  if (!is_ready) throw std::invalid_argument(fmt::format("{} is not an empty folder", path_));
  // The command may go to another folder.
  path_ = std::filesystem::absolute(path_);
}

RecordFolder::~RecordFolder() {
  std::error_code ignored;
  if (!is_kept_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ohm::engine
