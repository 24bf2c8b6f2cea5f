// The memory of one Lua state: counted, and capped.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace ohm::lua {

/// The `ud` of a lua_Alloc: outlives the state.
class ScriptMemory {
 public:
  /// `on_exhausted` is called, from within an allocation, when something did not fit even after
  /// Lua had collected its garbage.
  ScriptMemory(std::size_t cap_bytes, std::function<void()> on_exhausted)
      : cap_bytes_(cap_bytes), on_exhausted_(std::move(on_exhausted)) {}
  ScriptMemory(const ScriptMemory&) = delete;
  ScriptMemory& operator=(const ScriptMemory&) = delete;

  /// The lua_Alloc. Refuses what would go over the cap; what Lua gives back it always takes.
  static void* reallocate(void* self, void* block, std::size_t old_bytes, std::size_t new_bytes);

  std::size_t used_bytes() const { return used_bytes_; }

 private:
  struct Request {
    void* block = nullptr;
    std::size_t bytes = 0;
    friend bool operator==(const Request&, const Request&) = default;
  };

  void* resize(void* block, std::size_t old_bytes, std::size_t new_bytes);
  bool admits(const Request& request, std::size_t old_bytes);

  std::size_t cap_bytes_;
  std::size_t used_bytes_ = 0;
  Request refused_;  ///< the last one
  std::function<void()> on_exhausted_;
};

}  // namespace ohm::lua
