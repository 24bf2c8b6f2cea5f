#include "allocator_shim/interpose/registered_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/device_model.h"

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

struct RegisteredKernel {
  const void* function = nullptr;
  const void* image = nullptr;
  const char* name = nullptr;
  int shared_bytes = kSharedBytes;  ///< dynamic ones that a launch may ask for
};

struct Registry {
  std::mutex mutex;
  std::deque<const void*> images;  ///< their places are the handles
  std::vector<RegisteredKernel> kernels;
  bool is_sorted = true;
};

/// Never destroyed: libraries call while a process ends.
Registry& registry() {
  static auto* const made = new Registry;  // NOLINT(cppcoreguidelines-owning-memory)
  return *made;
}

/// Calls with(kernel), under the lock; nullptr: nobody registered it.
template <typename With>
auto with_kernel(const void* function, const With& with) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  const auto is_before = [](const RegisteredKernel& one, const RegisteredKernel& other) {
    return one.function < other.function;
  };
  if (!std::exchange(known.is_sorted, true)) {
    std::sort(known.kernels.begin(), known.kernels.end(), is_before);
  }
  const auto found = std::lower_bound(known.kernels.begin(), known.kernels.end(),
                                      RegisteredKernel{function}, is_before);
  const bool is_there = found != known.kernels.end() && found->function == function;
  return with(is_there ? &*found : nullptr);
}

const void* image_of(const void* function) {
  return with_kernel(function, [](const RegisteredKernel* kernel) {
    return kernel == nullptr ? nullptr : kernel->image;
  });
}

}  // namespace

void** register_image(const void* wrapper) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  return const_cast<void**>(&known.images.emplace_back(wrapper));
}

void register_kernel(void** image, const void* function, const char* name) {
  Registry& known = registry();
  const std::lock_guard guard(known.mutex);
  known.kernels.push_back({function, *image, name});
  known.is_sorted = false;
}

bool is_registered(const void* function) { return image_of(function) != nullptr; }

const char* name_of_kernel(const void* function) {
  return with_kernel(function, [](const RegisteredKernel* kernel) {
    return kernel == nullptr ? nullptr : kernel->name;
  });
}

void allow_shared_bytes(const void* function, int bytes) {
  with_kernel(function, [bytes](RegisteredKernel* kernel) {
    if (kernel != nullptr) kernel->shared_bytes = bytes;
  });
}

int allowed_shared_bytes(const void* function) {
  return with_kernel(function, [](const RegisteredKernel* kernel) {
    return kernel == nullptr ? kSharedBytes : kernel->shared_bytes;
  });
}

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
