#include "harness/exec/preloading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <stdexcept>

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

/// Where the loader found a library of this name for this program; the name itself: nowhere, or it
/// is a path.
std::string loaded_file(const std::string& library) {
  struct Search {
    const std::string& library;
    std::string found;
  };
  Search search{library, library};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const std::filesystem::path path = object->dlpi_name;
        if (path.filename() != wanted.library) return 0;
        wanted.found = path.string();
        return 1;
      },
      &search);
  return search.found;
}

/// Whether it has an operator new that does not call malloc(): nothing in front of malloc() sees
/// its requests. This program was started with the same libraries in front of it.
bool has_operator_new(const std::string& library) {
  return defines_function(loaded_file(library), "_Znwm");
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
