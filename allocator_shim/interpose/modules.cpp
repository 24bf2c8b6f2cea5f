#include "allocator_shim/interpose/modules.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/registered_kernels.h"

namespace ohm::interpose {
namespace {

HandlePool<Module> modules;
HandlePool<Kernel> kernels;

struct KnownKernels {
  std::mutex mutex;
  std::map<std::pair<Module*, std::string>, Kernel*> by_name;
  /// Memory of the host stands for variables, as for those of the runtime (device_variables.h).
  std::map<std::pair<Module*, std::string>, void*> variables;
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

/// Variables are the objects of its table of symbols.
void read_cubin_variables(const char* bytes, const Elf64_Ehdr& header, Module& module) {
  const auto section = [&](std::size_t i) {
    return read<Elf64_Shdr>(bytes + header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header.e_shnum) continue;
    const char* const names = bytes + section(table.sh_link).sh_offset;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(bytes + table.sh_offset + at);
      const bool is_variable = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0;
      if (is_variable) module.variables[names + symbol.st_name] = symbol.st_size;
    }
  }
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
  read_cubin_variables(bytes, header, module);
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

/// Bytes of a type such as .f32 or .b8; 0: it is none.
std::size_t ptx_type_bytes(std::string_view word) {
  constexpr std::size_t kBitsPerByte = 8;
  const std::size_t digits = word.find_first_of("0123456789");
  const bool is_type = digits != std::string_view::npos && word.size() > 2 && digits >= 2 &&
                       std::string_view("bsuf").find(word[1]) != std::string_view::npos;
  if (!is_type || digits != 2) return 0;
  std::size_t bits = 0;
  for (const char digit : word.substr(digits)) {
    if (digit < '0' || digit > '9') return 0;
    bits = bits * 10 + static_cast<std::size_t>(digit - '0');
  }
  return bits / kBitsPerByte;
}

/// `.align 4 .b8 table[2][512]`: the name, and how many bytes.
void read_ptx_variable(std::string_view declaration, Module& module) {
  std::size_t element_bytes = 0;
  std::size_t vector = 1;
  std::string_view name;
  while (true) {
    const std::string_view word = next_word(declaration);
    if (word.empty()) break;
    name = word;
    if (word == ".v2") vector = 2;
    if (word == ".v4") vector = 4;
    if (const std::size_t bytes = ptx_type_bytes(word); bytes != 0) element_bytes = bytes;
  }
  std::size_t elements = 1;
  const std::size_t end = std::min(name.find('['), name.size());
  for (std::size_t at = end; at < name.size(); at = name.find('[', at + 1)) {
    elements *= std::strtoull(name.data() + at + 1, nullptr, 10);
  }
  const std::size_t bytes = element_bytes * vector * elements;
  if (bytes > 0) module.variables[std::string(name.substr(0, end))] = bytes;
}

/// What is declared .global or .const, outside of instructions, which have these in their names.
void read_ptx_variables(std::string_view text, Module& module) {
  for (const std::string_view space : {".global", ".const"}) {
    for (std::size_t at = text.find(space); at != std::string_view::npos;
         at = text.find(space, at + 1)) {
      const bool is_word = at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])) != 0;
      if (!is_word) continue;
      const std::string_view rest = text.substr(at + space.size());
      read_ptx_variable(rest.substr(0, rest.find_first_of(";=")), module);
    }
  }
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
  read_ptx_variables(plain, module);
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

Status load_module_file(Module*& module, const char* path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Status::file_not_found;
  // With an end, as text has, and room for the headers of what is no text.
  constexpr std::size_t kMargin = 64;
  const std::string image =
      std::string(std::istreambuf_iterator<char>(stream), {}) + std::string(kMargin, '\0');
  return load_module(module, image.data());
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
  for (auto one = known.variables.lower_bound({module, ""});
       one != known.variables.end() && one->first.first == module;) {
    gpus().remove_pinned(one->second, Pinned::variable);
    std::free(one->second);
    one = known.variables.erase(one);
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

const char* driver_name_of_kernel(const Kernel* kernel) {
  return kernels.is_alive(kernel) ? kernel->name.c_str() : name_of_kernel(kernel);
}

Status find_global(void*& address, std::size_t& bytes, Module* module, const char* name) {
  KnownKernels& known = known_kernels();
  const std::lock_guard guard(known.mutex);
  if (!is_module(module)) return Status::invalid_handle;
  const auto found = module->variables.find(name);
  if (found == module->variables.end()) return Status::not_found;
  void*& place = known.variables[{module, name}];
  if (place == nullptr) {
    place = std::calloc(found->second, 1);
    if (place == nullptr) return Status::out_of_memory;
    // Devices reach it.
    gpus().add_pinned(place, found->second, Pinned::variable);
  }
  address = place;
  bytes = found->second;
  return Status::success;
}

}  // namespace ohm::interpose
