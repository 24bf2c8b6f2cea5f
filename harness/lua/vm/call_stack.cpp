#include "harness/lua/vm/call_stack.h"

#include <algorithm>
#include <string_view>

#include "allocator_shim/base/base_name.h"
#include "allocator_shim/fault/fault_point.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

namespace {

/// Calls `visit(file, frame)` for each frame of a file, the innermost first, with what Lua tells
/// for these letters.
template <class Visit>
void for_each_frame(lua_State* L, const char* what, Visit&& visit) {
  Interpreter& interpreter = Interpreter::of(L);
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, what, &frame);
    if (frame.currentline < 0) continue;
    const std::string_view file = interpreter.file_of(frame.source);
    if (!file.empty()) visit(file, frame);
  }
}

}  // namespace

std::uint64_t point_of(lua_State* L, const FaultCandidate& candidate) {
  PointHash hash;
  hash.add(name_of(candidate.level)).add(static_cast<std::uint64_t>(candidate.device) + 1);
  if (candidate.where != nullptr) hash.add(candidate.where->op);
  for_each_frame(L, "Sl", [&](std::string_view file, const lua_Debug& frame) {
    hash.add(base_name(file)).add(static_cast<std::uint64_t>(frame.currentline));
  });
  return hash.value();
}

std::vector<ScriptFrame> stack_of(lua_State* L) {
  std::vector<ScriptFrame> frames;
  for_each_frame(L, "Sln", [&](std::string_view file, const lua_Debug& frame) {
    frames.push_back({file, frame.currentline, frame.name == nullptr ? "" : frame.name});
  });
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace ohm::lua
