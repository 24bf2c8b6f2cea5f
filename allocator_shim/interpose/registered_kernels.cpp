#include "allocator_shim/interpose/registered_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace ohm::interpose {
namespace {

/// What nvcc puts around a fat binary.
struct Wrapper {
  static constexpr std::uint32_t kMagic = 0x466243b1;
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* data;
};

struct Header {
  static constexpr std::uint32_t kMagic = 0xba55ed50;
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  ///< of the entries, which follow
};

/// In front of each piece of code.
struct Entry {
  static constexpr std::uint16_t kPtx = 1;
  static constexpr std::uint16_t kMachineCode = 2;
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes;
  std::uint32_t unknown;
  std::uint16_t minor_version;
  std::uint16_t major_version;
  std::uint32_t architecture;
};

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Calls visit(entry) for each of a fat binary.
template <class Visit>
void for_each_entry(const void* image, Visit&& visit) {
  const auto wrapper = read<Wrapper>(static_cast<const std::byte*>(image));
  if (wrapper.magic != Wrapper::kMagic || wrapper.data == nullptr) return;
  const auto header = read<Header>(wrapper.data);
  if (header.magic != Header::kMagic) return;
  const std::byte* at = wrapper.data + header.header_bytes;
  const std::byte* const end = at + header.bytes;
  while (static_cast<std::size_t>(end - at) >= sizeof(Entry)) {
    const auto entry = read<Entry>(at);
    visit(entry);
    const std::uint64_t bytes = entry.header_bytes + entry.bytes;
    if (bytes < sizeof(Entry) || bytes > static_cast<std::uint64_t>(end - at)) return;
    at += bytes;
  }
}

struct Registry {
  std::mutex mutex;
  std::deque<const void*> images;                            ///< their places are the handles
  std::vector<std::pair<const void*, const void*>> kernels;  ///< function, image
  bool is_sorted = true;
};

/// Never destroyed: libraries call while a process ends.
Registry& registry() {
  static auto* const made = new Registry;  // NOLINT(cppcoreguidelines-owning-memory)
  return *made;
}

const void* image_of(const void* function) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  if (!std::exchange(known.is_sorted, true)) {
    std::sort(known.kernels.begin(), known.kernels.end());
  }
  const auto found = std::lower_bound(known.kernels.begin(), known.kernels.end(),
                                      std::pair(function, static_cast<const void*>(nullptr)));
  return found == known.kernels.end() || found->first != function ? nullptr : found->second;
}

}  // namespace

void** register_image(const void* wrapper) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  return const_cast<void**>(&known.images.emplace_back(wrapper));
}

void register_kernel(void** image, const void* function) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  known.kernels.emplace_back(function, *image);
  known.is_sorted = false;
}

bool is_registered(const void* function) { return image_of(function) != nullptr; }

std::optional<KernelArchitectures> architectures_of(const void* function, int card) {
  const void* const image = image_of(function);
  if (image == nullptr) return std::nullopt;
  int machine_code = 0;
  int ptx = 0;
  for_each_entry(image, [&](const Entry& entry) {
    const int architecture = static_cast<int>(entry.architecture);
    if (architecture > card) return;
    const bool is_of_generation = architecture / 10 == card / 10;
    if (entry.kind == Entry::kMachineCode && is_of_generation) {
      machine_code = std::max(machine_code, architecture);
    }
    if (entry.kind == Entry::kPtx) ptx = std::max(ptx, architecture);
  });
  if (machine_code != 0) return KernelArchitectures{machine_code, machine_code};
  if (ptx != 0) return KernelArchitectures{ptx, card};
  return std::nullopt;
}

}  // namespace ohm::interpose
