// Programs and libraries into which nvcc linked CUDA's runtime: its functions are in their symbol
// table, and each begins with a jump to the stand-in's from before the first of their own code
// runs.
//
// Those that a program starts with are seen to by this library's constructor, which runs before all
// others (-z initfirst), those that are opened later by the loader's own hook for debuggers: it is
// called when they are mapped, before their constructors. What is stripped stays as it is: then the
// stand-in driver names it (cuGetExportTable).
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "allocator_shim/interpose/runtime_function.h"
#include "allocator_shim/interpose/static_runtime/function_jump.h"
#include "allocator_shim/interpose/static_runtime/object_file.h"

namespace ohm::interpose {
namespace {

constexpr int kNewestToolkit = 13;

/// CUDA 12's runtime has a function that CUDA 13's has not.
constexpr std::string_view kOnlyIn12 = "cudaGetDeviceProperties_v2";

/// Its code, writable while it lives. Nothing runs in it yet.
class WritableCode {
 public:
  explicit WritableCode(std::uintptr_t address) {
    Dl_info info = {};
    const ElfW(Phdr)* segment = nullptr;
    if (dladdr(reinterpret_cast<void*>(address), &info) == 0) return;
    const auto* const base = static_cast<const std::byte*>(info.dli_fbase);
    const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(base);
    segment = reinterpret_cast<const ElfW(Phdr)*>(base + header.e_phoff);
    std::uintptr_t lowest = UINTPTR_MAX;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr < lowest) lowest = segment[i].p_vaddr;
    }
    const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto load = reinterpret_cast<std::uintptr_t>(base) - lowest / page_bytes * page_bytes;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      const std::uintptr_t begin = (load + segment[i].p_vaddr) / page_bytes * page_bytes;
      const std::uintptr_t end = load + segment[i].p_vaddr + segment[i].p_memsz;
      const bool is_code = segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X) != 0;
      if (!is_code || address < begin || address >= end) continue;
      begin_ = reinterpret_cast<void*>(begin);
      bytes_ = end - begin;
    }
    is_writable_ = begin_ != nullptr && mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) == 0;
  }
  ~WritableCode() {
    if (is_writable_) mprotect(begin_, bytes_, PROT_READ | PROT_EXEC);
  }
  WritableCode(const WritableCode&) = delete;
  WritableCode& operator=(const WritableCode&) = delete;

  bool holds(std::uintptr_t address) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
    return is_writable_ && address >= begin && address - begin < bytes_;
  }

 private:
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
  bool is_writable_ = false;
};

// Comparisons of std::string_view refer to libstdc++ where nothing is optimized.
bool begins(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && std::memcmp(text.data(), with.data(), with.size()) == 0;
}

/// Functions for streams of threads have a name of their own.
std::string_view without_stream_suffix(std::string_view name) {
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.size() <= suffix.size()) continue;
    const std::size_t length = name.size() - suffix.size();
    if (begins({name.data() + length, suffix.size()}, suffix)) name = {name.data(), length};
  }
  return name;
}

std::uintptr_t stand_in_for(std::string_view name, int toolkit) {
  const std::string_view plain = without_stream_suffix(name);
  return reinterpret_cast<std::uintptr_t>(
      ohm_find_runtime_function(plain.data(), plain.size(), toolkit));
}

bool may_be_of_runtime(const char* name) {
  return std::strncmp(name, "cuda", 4) == 0 || std::strncmp(name, "__cuda", 6) == 0;
}

/// What a file says about the runtime in it.
struct LinkedRuntime {
  std::uintptr_t first_function = 0;  ///< 0: it has none
  int toolkit = kNewestToolkit;
};

LinkedRuntime runtime_in(const ObjectFile& file, std::uintptr_t load) {
  LinkedRuntime found;
  file.each_function([&](const char* name, const ElfW(Sym) & symbol) {
    if (!may_be_of_runtime(name)) return;
    if (name == kOnlyIn12) found.toolkit = 12;
    if (std::strcmp(name, "cudaGetDeviceCount") == 0) found.first_function = load + symbol.st_value;
  });
  return found;
}

void redirect(const ObjectFile& file, std::uintptr_t load, const LinkedRuntime& runtime) {
  const WritableCode code(runtime.first_function);
  file.each_function([&](const char* name, const ElfW(Sym) & symbol) {
    const std::uintptr_t address = load + symbol.st_value;
    if (!may_be_of_runtime(name) || !code.holds(address)) return;
    const std::uintptr_t target = stand_in_for(name, runtime.toolkit);
    auto* const function = reinterpret_cast<std::byte*>(address);
    if (target != 0 && has_room_for_jump(function, symbol.st_size)) write_jump(function, target);
  });
}

bool needs_shared_runtime(const link_map& object) {
  const char* names = nullptr;
  for (const ElfW(Dyn)* one = object.l_ld; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(one->d_un.d_ptr);
  }
  // The loader makes these addresses, but for its own objects.
  if (names < reinterpret_cast<const char*>(object.l_addr)) return true;
  for (const ElfW(Dyn)* one = object.l_ld; one->d_tag != DT_NULL; ++one) {
    if (one->d_tag != DT_NEEDED) continue;
    const std::string_view needed = names + one->d_un.d_val;
    if (begins(needed, "libcudart.so") || begins(needed, "libohm_cuda.so")) return true;
  }
  return false;
}

void visit(const link_map& object) {
  if (needs_shared_runtime(object)) return;
  const bool is_program = object.l_name == nullptr || *object.l_name == '\0';
  const ObjectFile file(is_program ? "/proc/self/exe" : object.l_name);
  const LinkedRuntime runtime = runtime_in(file, object.l_addr);
  // The stand-in itself is where they lead.
  if (runtime.first_function == 0) return;
  if (runtime.first_function == stand_in_for("cudaGetDeviceCount", runtime.toolkit)) return;
  redirect(file, object.l_addr, runtime);
}

/// The last object that was visited: others are behind it.
const link_map* newest = nullptr;

void visit_new_objects() {
  const link_map* object = newest == nullptr ? _r_debug.r_map : newest->l_next;
  for (; object != nullptr; object = object->l_next) {
    visit(*object);
    newest = object;
  }
}

/// Objects are closed, too: the newest may be one of them.
void forget_closed_objects() {
  const link_map* last = _r_debug.r_map;
  for (const link_map* one = last; one != nullptr; one = one->l_next) {
    last = one;
    if (one == newest) return;
  }
  newest = last;
}

/// Called by the loader, which holds its lock, when it begins and ends to change its list.
void on_change_of_objects() {
  static bool is_adding = false;
  if (_r_debug.r_state == r_debug::RT_ADD) is_adding = true;
  if (_r_debug.r_state == r_debug::RT_DELETE) is_adding = false;
  if (_r_debug.r_state != r_debug::RT_CONSISTENT) return;
  forget_closed_objects();
  if (is_adding) visit_new_objects();
}

[[gnu::constructor]] void redirect_static_runtimes() {
  visit_new_objects();
  // An empty function: a return, and room behind it.
  auto* const hook = reinterpret_cast<std::byte*>(_r_debug.r_brk);
#if defined(__aarch64__)
  constexpr std::size_t kLeastBytes = 4;
#else
  const bool has_landing_pad = hook != nullptr && static_cast<unsigned char>(hook[0]) == 0xf3;
  const std::size_t kLeastBytes = has_landing_pad ? 5 : 1;
#endif
  if (hook == nullptr || !has_room_for_jump(hook, kLeastBytes)) return;
  write_jump_into_code(hook, reinterpret_cast<std::uintptr_t>(&on_change_of_objects));
}

}  // namespace
}  // namespace ohm::interpose
