#include "harness/exec/preloading.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "allocator_shim/device/cuda/shared_library.h"
#include "harness/process/program_file.h"
#include "harness/process/shipped_files.h"

namespace ohm::engine {

namespace {

void check_environment() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  if (preloaded == nullptr || *preloaded == '\0') return;
  throw std::invalid_argument(fmt::format(
      "LD_PRELOAD is set already ({}): ohm preloads a library of its own; unset it", preloaded));
}

}  // namespace

std::string shipped_file(const char* built, const char* installed) {
  const std::vector<std::filesystem::path> all = shipped_places(built, installed);
  for (const std::filesystem::path& path : all) {
    if (!std::filesystem::exists(path)) continue;
    // What the loader, and Python, take for the end of a name.
    if (path.string().find_first_of(" :") != std::string::npos) {
      throw GpuUnavailable(fmt::format(
          "{} cannot be preloaded: its path contains a space or a colon", path.string()));
    }
    return path;
  }
  throw GpuUnavailable(fmt::format("there is no {}", all.front().string()));
}

ChildCommand preloaded_command(const std::vector<std::string>& words, const std::string& library) {
  check_environment();
  const char* search_path = std::getenv("PATH");
  ChildCommand command;
  command.path = find_program(words.front(), search_path == nullptr ? "" : search_path);
  check_preloadable(command.path);
  command.words = words;
  command.environment = {{"LD_PRELOAD", library}};
  return command;
}

}  // namespace ohm::engine
