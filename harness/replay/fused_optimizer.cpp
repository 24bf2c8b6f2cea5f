#include "harness/replay/fused_optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/replay/replay_error.h"

namespace ohm::engine {

namespace {

/// A count of steps: one float.
constexpr std::size_t kStepBytes = 4;

constexpr std::array<std::string_view, 4> kStepFunctions = {
    "_multi_tensor_adam", "_multi_tensor_adamw", "_single_tensor_adam", "_single_tensor_adamw"};

bool is_of_adam(std::string_view file) {
  return file.ends_with("adam.py") || file.ends_with("adamw.py");
}

/// What a stack says of a request.
struct AdamRequest {
  bool is_temporary = false;      ///< of a step that is not fused
  std::optional<int> state_line;  ///< where it is of a parameter's state: the line that makes it
  bool is_scaled = false;         ///< within a GradScaler
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
    if (function == "_init_group" && !request.state_line) request.state_line = frame.line;
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
  std::vector<std::uint32_t> states;
  std::vector<int> lines;  // of each of them
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
          "the optimizer is stepped by a GradScaler, and a fused one unscales its gradients by "
          "itself: the record does not tell what that takes");
    }
    if (request.is_temporary) {
      program.bytes.back() = 0;
      ++temporaries;
      continue;
    }
    if (life.requested_bytes == kStepBytes) {
      refuse(
          "the optimizer has its counts of steps on the GPU already: it is fused, or capturable");
    }
    states.push_back(index);
    lines.push_back(*request.state_line);
  }
  if (temporaries > 0 && states.empty()) {
    refuse(
        "the optimizer's state was made before the record: of how many parameters it is, is not "
        "known. Record from the start of the program (ohm record)");
  }
  if (states.empty()) return;
  has_optimizer_ = true;
  const int first_line = *std::min_element(lines.begin(), lines.end());
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (lines[i] == first_line) program.companions[states[i]] = kStepBytes;
  }
}

void FusedOptimizer::refuse_what_changes_nothing() const {
  if (has_optimizer_) return;
  refuse(
      "no step of torch.optim.Adam or AdamW is in the record; what other optimizers would take is "
      "not known");
}

}  // namespace ohm::engine
