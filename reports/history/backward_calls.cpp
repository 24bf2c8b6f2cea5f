#include "reports/history/backward_calls.h"

#include <string_view>

#include "allocator_shim/base/base_name.h"

namespace ohm::reports {

namespace {

/// The outermost Python functions of Python's own threads: of the program's first one, begun by its
/// file or by -m, and of the others. Autograd's threads call Python, too, from elsewhere: hooks,
/// recomputation, functions that are written in it.
constexpr std::string_view kMainThread = "<module>";
constexpr std::string_view kMainThreadOfModule = "_run_module_as_main";
constexpr std::string_view kOtherThread = "_bootstrap";

std::string_view outermost_function(const StackTable& tables, StackId stack) {
  std::string_view outermost;
  for (const FrameId id : tables.stack(stack)) {
    const StackFrame& frame = tables.frame(id);
    const std::string_view file = tables.text(frame.filename);
    if (file.ends_with(".py") || file.starts_with('<')) outermost = tables.text(frame.name);
  }
  return outermost;
}

}  // namespace

bool is_of_python_thread(const StackTable& tables, StackId stack) {
  return outermost_function(tables, stack) == kOtherThread;
}

void BackwardCalls::follow(StackId allocation) {
  const Part part = part_of(allocation);
  if (part.thread == Thread::native) return;
  const bool is_main = part.thread == Thread::main;
  if (!is_main) others_run_ = part.begins_backward;
  if (!is_main && !part.begins_backward) return;
  running_ = is_main && part.begins_backward && !others_run_ ? allocation : kNoStack;
}

BackwardCalls::Part BackwardCalls::part_of(StackId stack) {
  const auto [known, is_new] = parts_.try_emplace(stack);
  if (is_new) {
    const std::string_view outermost = outermost_function(tables_, stack);
    const bool is_main = outermost == kMainThread || outermost == kMainThreadOfModule;
    Part& part = known->second;
    if (is_main) part.thread = Thread::main;
    if (outermost == kOtherThread) part.thread = Thread::other;
    part.begins_backward = frames_of_first_gradient(tables_, stack) > 0;
  }
  return known->second;
}

std::size_t frames_of_first_gradient(const StackTable& tables, StackId stack) {
  std::size_t frames = 0;
  for (const FrameId id : tables.stack(stack)) {
    ++frames;
    const StackFrame& frame = tables.frame(id);
    if (tables.text(frame.name) == "_make_grads" &&
        base_name(tables.text(frame.filename)) == "__init__.py") {
      return frames;
    }
  }
  return 0;
}

}  // namespace ohm::reports
