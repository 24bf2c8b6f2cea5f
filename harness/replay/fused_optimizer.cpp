#include "harness/replay/fused_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/base/base_name.h"
#include "harness/replay/replay_error.h"

namespace ohm::engine {

namespace {

/// A count of steps: one float.
constexpr std::size_t kStepBytes = 4;

constexpr std::array<std::string_view, 4> kStepFunctions = {
    "_multi_tensor_adam", "_multi_tensor_adamw", "_single_tensor_adam", "_single_tensor_adamw"};

bool is_of_adam(std::string_view file) {
  const std::string_view name = base_name(file);
  return name == "adam.py" || name == "adamw.py";
}

/// What a stack says of a request.
struct AdamRequest {
  bool is_temporary = false;  ///< of a step that is not fused
  /// Where it is of a parameter's state: the file and line that make it.
  std::optional<std::pair<std::string_view, int>> state_line;
  bool is_scaled = false;  ///< within a GradScaler
};

AdamRequest read_stack(const StackTable& tables, StackId stack) {
  AdamRequest request;
  for (const FrameId id : tables.stack(stack)) {
    const StackFrame& frame = tables.frame(id);
    const std::string_view file = tables.text(frame.filename);
    const std::string_view function = tables.text(frame.name);
    if (file.ends_with("grad_scaler.py")) request.is_scaled = true;
    if (!is_of_adam(file)) continue;
    if (std::find(kStepFunctions.begin(), kStepFunctions.end(), function) != kStepFunctions.end()) {
      request.is_temporary = true;
    }
    if (function == "_init_group" && !request.state_line) request.state_line = {file, frame.line};
  }
  return request;
}

}  // namespace

void FusedOptimizer::refuse(const std::string& why) const {
  throw ReplayError(fmt::format("{}: --optimizer fused: {}", file_, why));
}

void FusedOptimizer::change(const VerifiedHistory& history, ChangedProgram& program) {
  const auto device = static_cast<std::size_t>(history.history().device);
  const std::vector<BlockLife>& lives = history.lives().lives;
  program.bytes.clear();
  program.companions.assign(lives.size(), 0);
  std::map<std::string_view, std::map<int, std::vector<std::uint32_t>>> states;  // by their lines
  std::size_t temporaries = 0;
  for (std::uint32_t index = 0; index < lives.size(); ++index) {
    const BlockLife& life = lives[index];
    program.bytes.push_back(life.requested_bytes);
    if (life.began_before()) continue;
    const AdamRequest request =
        read_stack(snapshot_.tables, snapshot_.device_traces[device][life.allocated_at].stack);
    if (!request.is_temporary && !request.state_line) continue;
    if (request.is_scaled) {
      refuse(
          "a GradScaler steps the optimizer, and a fused one unscales gradients itself: the record "
          "does not show what that allocates");
    }
    if (request.is_temporary) {
      program.bytes.back() = 0;
      ++temporaries;
      continue;
    }
    states[request.state_line->first][request.state_line->second].push_back(index);
  }
  if (temporaries > 0 && states.empty()) {
    refuse(
        "the optimizer's state is older than the record: its number of parameters is unknown. "
        "Record from the start of the program (ohm record)");
  }
  if (states.empty()) return;
  has_optimizer_ = true;
  for (const auto& [file, lines] : states) {
    // The first line makes the counts of steps, or else what comes before them where it is fused.
    const std::vector<std::uint32_t>& first = lines.begin()->second;
    const bool are_counts = std::all_of(first.begin(), first.end(), [&](std::uint32_t index) {
      return lives[index].requested_bytes == kStepBytes;
    });
    if (are_counts) {
      refuse("the optimizer's step counts are already on the GPU: it is fused or capturable");
    }
    for (const std::uint32_t index : first) program.companions[index] = kStepBytes;
  }
}

void FusedOptimizer::refuse_what_changes_nothing() const {
  if (has_optimizer_) return;
  refuse(
      "the record has no step of torch.optim.Adam or AdamW; what other optimizers would allocate "
      "is not known");
}

}  // namespace ohm::engine
