#include "harness/exec/preloading.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "allocator_shim/device/cuda/shared_library.h"
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

void check_environment() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  if (preloaded == nullptr || *preloaded == '\0') return;
  throw std::invalid_argument(fmt::format(
      "LD_PRELOAD is set already ({}): ohm preloads a library of its own; unset it", preloaded));
}

}  // namespace

std::string shipped_file(const char* built, const char* installed) {
  const std::vector<std::filesystem::path> all = places(built, installed);
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
