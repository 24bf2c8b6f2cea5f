#include "harness/checkpoint/program_fingerprint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "harness/checkpoint/quick_hash.h"
#include "harness/process/shared_text.h"

namespace ohm::engine {

namespace {

/// Of the program's own file. Not by way of the heap, which would stay as large.
std::uint64_t hash_of_program() {
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category());
  try {
    const std::uint64_t hash = quick_hash(SharedText(file).text());
    ::close(file);
    return hash;
  } catch (...) {
    ::close(file);
    throw;
  }
}

}  // namespace

std::string program_fingerprint() {
  try {
    static const std::uint64_t hash = hash_of_program();
    return fmt::format("{} {:016x}", OHM_VERSION, hash);
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        fmt::format("cannot read the program's own file: {}", error.code().message()));
  }
}

}  // namespace ohm::engine
