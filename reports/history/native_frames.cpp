#include "reports/history/native_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "allocator_shim/base/base_name.h"
#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

/// Of what was installed: the toolkit's headers, the C++ library, packages of Python.
bool is_installed(std::string_view path) {
  constexpr std::array<std::string_view, 4> kBeginnings = {"/usr/include/", "/usr/lib", "/lib",
                                                           "/usr/bin/"};
  constexpr std::array<std::string_view, 9> kFolders = {"/targets/x86_64-linux/include/",
                                                        "/targets/sbsa-linux/include/",
                                                        "/cuda/include/",
                                                        "/include/c++/",
                                                        "/include/thrust/",
                                                        "/include/cub/",
                                                        "/include/cuda/",
                                                        "/site-packages/",
                                                        "/dist-packages/"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view one) { return path.starts_with(one); }) ||
         std::any_of(kFolders.begin(), kFolders.end(), [&](std::string_view one) {
           return path.find(one) != std::string_view::npos;
         });
}

/// "cudaError cudaMalloc<float>": the toolkit's headers wrap CUDA's functions.
bool is_wrapper(std::string_view function, std::string_view call) {
  const std::size_t at = function.find(call);
  return !call.empty() && at != std::string_view::npos &&
         function.substr(at + call.size()).starts_with('<');
}

int rank_of(std::string_view file, int line) {
  if (file.empty() || is_installed(file) || is_of_interpreter(file)) return 1;
  return line == 0 ? 2 : 3;
}

}  // namespace

bool is_of_interpreter(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.starts_with("python") || name.starts_with("libpython");
}

bool is_of_native_program(const Snapshot& snapshot) {
  return std::any_of(snapshot.external_annotations.begin(), snapshot.external_annotations.end(),
                     [&](const SnapshotAnnotation& annotation) {
                       return snapshot.tables.text(annotation.name) == kNativeProgramNote;
                     });
}

bool is_native_stack(const StackTable& tables, StackId stack) {
  const auto frames = tables.stack(stack);
  return !frames.empty() && tables.text(tables.frame(frames.front()).filename) == kCudaFunctionFile;
}

std::optional<std::size_t> named_native_frame(const StackTable& tables, StackId stack) {
  const auto frames = tables.stack(stack);
  std::optional<std::size_t> named;
  int best = 0;
  if (frames.empty()) return named;
  const std::string_view call = tables.text(tables.frame(frames.front()).name);
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const StackFrame& frame = tables.frame(frames[i]);
    const int rank = is_wrapper(tables.text(frame.name), call)
                         ? 1
                         : rank_of(tables.text(frame.filename), frame.line);
    if (rank <= best) continue;
    best = rank;
    named = i;
  }
  return named;
}

std::string native_reason(const std::string& events, const std::optional<OomResult>& oom,
                          std::optional<std::uint32_t> oom_event) {
  if (!oom || !oom_event) return events;
  return fmt::format("out of memory at event {} of {}: {} requested and {} free on the GPU",
                     grouped(*oom_event), events, short_bytes(oom->requested_bytes),
                     short_bytes(oom->free_bytes));
}

}  // namespace ohm::reports
