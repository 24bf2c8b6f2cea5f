#include "allocator_shim/interpose/modules.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "allocator_shim/interpose/registered_kernels.h"

namespace ohm::interpose {
namespace {

HandlePool<Module> modules;
HandlePool<Kernel> kernels;

struct KnownKernels {
  std::mutex mutex;
  std::map<std::pair<Module*, std::string>, Kernel*> by_name;
};

/// Never destroyed: libraries call while a process ends.
KnownKernels& known_kernels() {
  static auto* const made = new KnownKernels;  // NOLINT(cppcoreguidelines-owning-memory)
  return *made;
}

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
constexpr std::uint16_t kCudaMachine = 190;  // EM_CUDA

template <typename Value>
Value read(const void* from) {
  Value value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

bool is_fat_binary(const void* image) {
  constexpr std::uint16_t kHeaderBytes = 16;
  constexpr std::size_t kHeaderBytesOffset = 6;
  const auto* const bytes = static_cast<const std::byte*>(image);
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 36U;
  return read<std::uint32_t>(image) == kFatBinaryMagic &&
         read<std::uint16_t>(bytes + kHeaderBytesOffset) == kHeaderBytes &&
         read<std::uint64_t>(bytes + sizeof(std::uint64_t)) < kMostBytes;
}

/// What nvcc puts around a fat binary: a magic number, a version, a pointer.
bool is_wrapped_fat_binary(const void* image) {
  if (read<std::uint32_t>(image) != kWrapperMagic) return false;
  const auto* const data =
      read<const void*>(static_cast<const std::byte*>(image) + sizeof(Elf64_Off));
  return data != nullptr && is_fat_binary(data);
}

/// The kernels of a cubin have a section each. False: it is none.
bool read_cubin(const void* image, Module& module) {
  const auto header = read<Elf64_Ehdr>(image);
  const bool is_cubin = header.e_ident[EI_CLASS] == ELFCLASS64 &&
                        header.e_machine == kCudaMachine &&
                        header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shoff != 0 &&
                        header.e_shstrndx < header.e_shnum;
  if (!is_cubin) return false;
  const auto* const bytes = static_cast<const char*>(image);
  const auto section = [&](std::size_t i) {
    return read<Elf64_Shdr>(bytes + header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  const char* const names = bytes + section(header.e_shstrndx).sh_offset;
  constexpr std::string_view kCode = ".text.";
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const std::string_view name = names + section(i).sh_name;
    if (name.starts_with(kCode)) module.names.emplace(name.substr(kCode.size()));
  }
  module.has_names = true;
  return true;
}

/// Without comments.
std::string plain_ptx(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find("//"), text.find("/*"));
    plain += text.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::string_view end = text.substr(begin, 2) == "//" ? "\n" : "*/";
    const std::size_t last = text.find(end, begin);
    plain += ' ';
    text.remove_prefix(last == std::string_view::npos ? text.size() : last + end.size());
  }
  return plain;
}

/// The next word, which is taken off.
std::string_view next_word(std::string_view& text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kSpaces));
  text.remove_prefix(word.size());
  return word;
}

/// PTX begins with its version. What follows the directives about the whole is another one.
Status read_ptx(std::string_view image, Module& module) {
  const std::string plain = plain_ptx(image);
  std::string_view rest = plain;
  if (next_word(rest) != ".version") return Status::invalid_image;
  for (std::string_view word = rest; !word.empty();) {
    next_word(rest);  // the value of the directive
    while (rest.starts_with(',')) next_word(rest);
    word = next_word(rest);
    if (word == ".target" || word == ".address_size") continue;
    if (!word.empty() && word.front() != '.') return Status::invalid_ptx;
    break;
  }
  constexpr std::string_view kEntry = ".entry";
  for (std::size_t at = plain.find(kEntry); at != std::string::npos;
       at = plain.find(kEntry, at + 1)) {
    std::string_view name = std::string_view(plain).substr(at + kEntry.size());
    name = next_word(name);
    module.names.emplace(name.substr(0, name.find('(')));
  }
  module.has_names = true;
  return Status::success;
}

Status read_image(const void* image, Module& module) {
  if (image == nullptr) return Status::invalid_value;
  if (std::memcmp(image, ELFMAG, SELFMAG) == 0) {
    return read_cubin(image, module) ? Status::success : Status::invalid_image;
  }
  if (is_fat_binary(image) || is_wrapped_fat_binary(image)) return Status::success;
  if (read<std::uint64_t>(image) == 0) return Status::success;
  return read_ptx(static_cast<const char*>(image), module);
}

}  // namespace

Status load_module(Module*& module, const void* image) {
  module = nullptr;
  Module read;
  const Status status = read_image(image, read);
  if (status != Status::success) return status;
  module = modules.create(std::move(read));
  return module != nullptr ? Status::success : Status::out_of_memory;
}

bool unload_module(Module* module) {
  KnownKernels& known = known_kernels();
  const std::lock_guard guard(known.mutex);
  if (!modules.is_alive(module)) return false;
  for (auto one = known.by_name.lower_bound({module, ""});
       one != known.by_name.end() && one->first.first == module;) {
    kernels.destroy(one->second);
    one = known.by_name.erase(one);
  }
  return modules.destroy(module);
}

bool is_module(const Module* module) { return modules.is_alive(module); }

Status find_kernel(Kernel*& kernel, Module* module, const char* name) {
  KnownKernels& known = known_kernels();
  const std::lock_guard guard(known.mutex);
  if (!is_module(module)) return Status::invalid_handle;
  if (module->has_names && !module->names.contains(name)) return Status::not_found;
  Kernel*& place = known.by_name[{module, name}];
  if (place == nullptr) place = kernels.create(module, name);
  kernel = place;
  return kernel != nullptr ? Status::success : Status::out_of_memory;
}

bool is_kernel(const Kernel* kernel) { return kernels.is_alive(kernel) || is_registered(kernel); }

Module* module_of(const Kernel* kernel) {
  return kernels.is_alive(kernel) ? kernel->module : nullptr;
}

}  // namespace ohm::interpose
