#include "harness/lua/vm/script_memory.h"

#include <cstdlib>

namespace ohm::lua {

void* ScriptMemory::reallocate(void* self, void* block, std::size_t old_bytes,
                               std::size_t new_bytes) {
  // For a new block, old_bytes is the kind of the object to come.
  return static_cast<ScriptMemory*>(self)->resize(block, block == nullptr ? 0 : old_bytes,
                                                  new_bytes);
}

void* ScriptMemory::resize(void* block, std::size_t old_bytes, std::size_t new_bytes) {
  if (new_bytes == 0) {
    std::free(block);
    used_bytes_ -= old_bytes;
    return nullptr;
  }
  if (new_bytes > old_bytes && !admits({block, new_bytes}, old_bytes)) return nullptr;
  void* resized = std::realloc(block, new_bytes);
  // A block that cannot be made smaller stays as it is: Lua relies on that.
  if (resized == nullptr) return new_bytes <= old_bytes ? block : nullptr;
  used_bytes_ += new_bytes - old_bytes;
  return resized;
}

// Lua answers most refusals by collecting its garbage and asking once more for the same; the
// buffers that strings are built in give up at once. Either way the next request tells what became
// of it.
bool ScriptMemory::admits(const Request& request, std::size_t old_bytes) {
  const bool is_repeated = refused_ && *refused_ == request;
  if (refused_ && !is_repeated) is_exhausted_ = true;
  refused_.reset();
  if (request.bytes - old_bytes <= cap_bytes_ - used_bytes_) return true;
  if (is_repeated) {
    is_exhausted_ = true;
  } else {
    refused_ = request;
    on_refused_();
  }
  return false;
}

}  // namespace ohm::lua
