#include "harness/process/current_folder.h"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace ohm::engine {

std::string current_folder() {
  std::error_code error;
  std::string folder = std::filesystem::current_path(error).string();
  if (!error) return folder;
  throw std::invalid_argument(fmt::format(
      "the current folder is not there any more ({}): go to another one", error.message()));
}

}  // namespace ohm::engine
