#include "harness/lua/vm/call_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "allocator_shim/fault/fault_point.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

namespace {

/// Calls `visit(file, line)` for each frame of a file, the innermost first.
template <class Visit>
void for_each_frame(lua_State* L, Visit&& visit) {
  Interpreter& interpreter = Interpreter::of(L);
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline < 0) continue;
    const std::string_view file = interpreter.file_of(frame.source);
    if (!file.empty()) visit(file, frame.currentline);
  }
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::uint64_t point_of(lua_State* L, const FaultCandidate& candidate) {
  PointHash hash;
  hash.add(name_of(candidate.level)).add(static_cast<std::uint64_t>(candidate.device) + 1);
  if (candidate.where != nullptr) hash.add(candidate.where->op);
  for_each_frame(L, [&](std::string_view file, int line) {
    hash.add(base_name(file)).add(static_cast<std::uint64_t>(line));
  });
  return hash.value();
}

std::vector<std::string> stack_of(lua_State* L) {
  std::vector<std::string> frames;
  for_each_frame(L, [&](std::string_view file, int line) {
    frames.push_back(fmt::format("{}:{}", file, line));
  });
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace ohm::lua
