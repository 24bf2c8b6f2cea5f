#include "harness/exec/gpu_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "allocator_shim/device/cuda/shared_library.h"
#include "allocator_shim/interpose/gpu_variable.h"
#include "harness/process/program_file.h"

namespace ohm::engine {

namespace {

/// The places of a file of this project's: as installed, seen from the program's folder; as built,
/// seen from a folder that the program is somewhere in.
std::vector<std::filesystem::path> places(const char* built, const char* installed) {
  constexpr int kDepth = 3;
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<std::filesystem::path> found = {(folder / installed).lexically_normal()};
  for (int i = 0; i < kDepth; ++i, folder = folder.parent_path()) found.push_back(folder / built);
  return found;
}

/// Throws GpuUnavailable.
std::string shipped(const char* built, const char* installed) {
  const std::vector<std::filesystem::path> all = places(built, installed);
  for (const std::filesystem::path& path : all) {
    if (!std::filesystem::exists(path)) continue;
    // What the loader, and Python, take for the end of a name.
    if (path.string().find_first_of(" :") != std::string::npos) {
      throw GpuUnavailable(fmt::format(
          "{} cannot be preloaded: there is a space or a colon in its path", path.string()));
    }
    return path;
  }
  throw GpuUnavailable(fmt::format("there is no {}", all.front().string()));
}

void check_environment() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  if (preloaded == nullptr || *preloaded == '\0') return;
  throw std::invalid_argument(fmt::format(
      "LD_PRELOAD is set already ({}): ohm preloads a library of its own; unset it", preloaded));
}

}  // namespace

ChildCommand gpu_command(const std::vector<std::string>& words, const std::string& gpus) {
  check_environment();
  const char* search_path = std::getenv("PATH");
  ChildCommand command;
  command.path = find_program(words.front(), search_path == nullptr ? "" : search_path);
  check_preloadable(command.path);
  command.words = words;
  command.environment = {{interpose::kGpusVariable, gpus},
                         {"LD_PRELOAD", shipped(OHM_BUILT_PRELOAD, OHM_INSTALLED_PRELOAD)}};
  return command;
}

void add_recorder(ChildCommand& command, const std::string& folder) {
  const std::string recorder = shipped(OHM_BUILT_RECORDER, OHM_INSTALLED_RECORDER);
  std::string path = std::filesystem::path(recorder).parent_path();
  const char* own_path = std::getenv("PYTHONPATH");
  if (own_path != nullptr && *own_path != '\0') path += std::string(":") + own_path;
  command.environment.emplace_back("PYTHONPATH", path);
  command.environment.emplace_back("OHM_RECORD", folder);
}

RecordFolder::RecordFolder() {
  std::error_code none;  // mkdtemp() says it better
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  std::string pattern = (none ? std::filesystem::path("/tmp") : temporary) / "ohm-record-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    throw std::invalid_argument(
        fmt::format("no folder for records can be made at {}: {}; TMPDIR names another place, "
                    "--record a folder, --no-record does without",
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
