// The memory of one Lua state: counted, and capped.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

namespace ohm::lua {

/// The `ud` of a lua_Alloc: outlives the state.
class ScriptMemory {
 public:
  /// `on_refused` is called, from within an allocation, when something does not fit.
  ScriptMemory(std::size_t cap_bytes, std::function<void()> on_refused)
      : cap_bytes_(cap_bytes), on_refused_(std::move(on_refused)) {}
  ScriptMemory(const ScriptMemory&) = delete;
  ScriptMemory& operator=(const ScriptMemory&) = delete;

  /// The lua_Alloc. Refuses what would go over the cap; what Lua gives back it always takes.
  static void* reallocate(void* self, void* block, std::size_t old_bytes, std::size_t new_bytes);

  std::size_t used_bytes() const { return used_bytes_; }
  /// Something did not fit, and Lua could not help itself by collecting its garbage.
  bool is_exhausted() const { return is_exhausted_ || refused_; }

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
  std::optional<Request> refused_;  ///< by the last call
  bool is_exhausted_ = false;
  std::function<void()> on_refused_;
};

}  // namespace ohm::lua
