#include "harness/exec/preloading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "allocator_shim/device/cuda/shared_library.h"
#include "harness/exec/function_names.h"
#include "harness/process/program_file.h"
#include "harness/process/shipped_files.h"

namespace ohm::engine {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), ':', ' ');
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

/// Whether it has an operator new that does not call malloc(): nothing in front of malloc() sees
/// its requests. The loader finds names without folders where this program does not look.
bool has_operator_new(const std::string& library) {
  if (library.find('/') != std::string::npos) return defines_function(library, "_Znwm");
  constexpr std::array<std::string_view, 5> kAllocators = {"jemalloc", "tcmalloc", "mimalloc",
                                                           "asan", "tbbmalloc"};
  return std::any_of(kAllocators.begin(), kAllocators.end(), [&](std::string_view name) {
    return library.find(name) != std::string::npos;
  });
}

std::string preload_list(const std::vector<std::string>& libraries, PreloadOrder order) {
  std::vector<std::string> list;
  for (const std::string& other : words_of(variable("LD_PRELOAD"))) {
    // As of an outer ohm exec.
    if (std::find(libraries.begin(), libraries.end(), other) == libraries.end()) {
      list.push_back(other);
    }
  }
  list.insert(order == PreloadOrder::first ? list.begin() : list.end(), libraries.begin(),
              libraries.end());
  return fmt::format("{}", fmt::join(list, ":"));
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

ChildCommand preloaded_command(const std::vector<std::string>& words,
                               const std::vector<std::string>& libraries, PreloadOrder order) {
  ChildCommand command;
  command.path = find_program(words.front(), variable("PATH"));
  check_preloadable(command.path);
  command.words = words;
  command.environment = {{"LD_PRELOAD", preload_list(libraries, order)}};
  return command;
}

std::string unseen_requests() {
  for (const std::string& library : words_of(variable("LD_PRELOAD"))) {
    if (has_operator_new(library)) {
      return fmt::format("{} has an operator new of its own: what C++ asks of it is not recorded",
                         library);
    }
  }
  return {};
}

}  // namespace ohm::engine
