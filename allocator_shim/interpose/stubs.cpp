// The functions of the table that have a class of behaviour and no source of their own.
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/provisional_values.h"
#include "allocator_shim/interpose/stub.h"

using namespace ohm::interpose;

namespace {

constexpr auto kNotInitialized = static_cast<Word>(Status::not_initialized);

/// The runtime keeps it for cudaGetLastError.
Word stub_failure(std::string_view library, int code) {
  if (library == "cudart") noted(static_cast<Status>(code));
  return static_cast<Word>(code);
}

}  // namespace

#define OHM_SONAME(...)
#define OHM_LIMIT(...)
#define OHM_WRITTEN(...)
#define OHM_STUB(library, name, cuda, support, ...)                                              \
  OHM_EXPORTED Word name(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, \
                         Word j, Word k, Word l, Word m, Word n, Word o, Word p, Word q, Word r, \
                         Word s, Word t, Word u, Word v, Word w, Word x) {                       \
    if constexpr (initializes(#library, #name)) GpuSystem::of_process().initialize();            \
    if constexpr (needs_cuinit(#library, #name)) {                                               \
      if (!GpuSystem::of_process().is_initialized()) return kNotInitialized;                     \
    }                                                                                            \
    const EntryCall entry_call(#name);                                                           \
    if (entry_call.has_failed()) return stub_failure(#library, entry_call.code());               \
    if constexpr (may_write(#library)) judge_provisional_values();                               \
    return __VA_ARGS__::call(                                                                    \
        {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x}, #name);        \
  }
#include "allocator_shim/interpose/entry_points.def"
