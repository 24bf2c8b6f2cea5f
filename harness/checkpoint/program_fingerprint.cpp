#include "harness/checkpoint/program_fingerprint.h"

#include <fmt/format.h>

#include <stdexcept>
#include <system_error>

#include "allocator_shim/base/whole_file.h"
#include "allocator_shim/fault/fault_point.h"

namespace ohm::engine {

std::string program_fingerprint() {
  try {
    const std::string program = read_whole_file("/proc/self/exe");
    return fmt::format("{} {:016x}", OHM_VERSION, PointHash().add(program).value());
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        fmt::format("cannot read the program's own file: {}", error.code().message()));
  }
}

}  // namespace ohm::engine
