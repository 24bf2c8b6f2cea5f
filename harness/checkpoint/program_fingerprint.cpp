#include "harness/checkpoint/program_fingerprint.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "harness/checkpoint/quick_hash.h"
#include "harness/process/shared_text.h"

namespace ohm::engine {

namespace {

/// Descriptors of notes begin at multiples of these bytes, and so do notes.
constexpr std::size_t kNoteAlignment = 4;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kNoteAlignment - 1) / kNoteAlignment * kNoteAlignment;
}

/// The linker's hash of all that it wrote, as bytes; empty where it wrote none.
std::string_view build_id_in(std::string_view notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const std::size_t begin = sizeof note + aligned(note.n_namesz);
    const std::size_t end = begin + aligned(note.n_descsz);
    if (end > notes.size()) return {};
    const bool is_build_id =
        note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, note.n_namesz) == kOwner;
    if (is_build_id) return notes.substr(begin, note.n_descsz);
    notes.remove_prefix(end);
  }
  return {};
}

/// Of dl_iterate_phdr(): looks at the first object, which is the program.
int find_build_id(dl_phdr_info* program, std::size_t /*size*/, void* found) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = program->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const std::uintptr_t address = program->dlpi_addr + segment.p_vaddr;
    const auto* const notes =
        reinterpret_cast<const char*>(address);  // NOLINT(performance-no-int-to-ptr)
    const std::string_view id = build_id_in({notes, segment.p_memsz});
    if (!id.empty()) *static_cast<std::string_view*>(found) = id;
  }
  constexpr int kIsEnough = 1;
  return kIsEnough;
}

/// Of the program's own file. Not by way of the heap, which would stay as large.
std::uint64_t hash_of_file() {
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

std::uint64_t hash_of_program() {
  std::string_view build_id;
  ::dl_iterate_phdr(find_build_id, &build_id);
  return build_id.empty() ? hash_of_file() : quick_hash(build_id);
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
