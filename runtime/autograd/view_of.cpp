#include "runtime/autograd/view_of.h"

#include <fmt/core.h>

namespace ohm {
namespace {

// A mode that a view was made in, and how its text calls being outside of it.
struct Mode {
  std::string_view name;
  std::string_view outside;
};

constexpr Mode kNoGrad{"no_grad", "with grad mode enabled"};
constexpr Mode kInference{"inference", "in normal mode"};

std::string moved_out_of(std::string_view block) {
  return fmt::format(
      " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
      "your code by moving both the view and the inplace either both inside the {} block (if you "
      "don't want the inplace to be tracked) or both outside (if you want the inplace to be "
      "tracked).",
      block);
}

std::string reason_of(ViewOrigin origin) {
  switch (origin) {
    case ViewOrigin::several_outputs:
      return " This view is the output of a function that returns multiple views. Such functions "
             "do not allow the output views to be modified inplace. You should replace the inplace "
             "operation by an out-of-place one.";
    case ViewOrigin::custom_function:
      return " This view was created inside a custom Function (or because an input was returned "
             "as-is) and the autograd logic to handle view+inplace would override the custom "
             "backward associated with the custom Function, leading to incorrect gradients. This "
             "behavior is forbidden. You can fix this by cloning the output of the custom "
             "Function.";
    case ViewOrigin::inference:
      return moved_out_of("inference_mode");
    default:
      return moved_out_of("no_grad");
  }
}

}  // namespace

std::string refusal_of(ViewOrigin origin, const Node* node, std::uint32_t output_number,
                       std::string_view happened) {
  if (node != nullptr) {
    return fmt::format("Output {} of {} is a view and {} modified inplace.{}", output_number,
                       node->name(), happened, reason_of(origin));
  }
  const Mode& mode = origin == ViewOrigin::inference ? kInference : kNoGrad;
  return fmt::format("A view was created in {} mode and {} modified inplace {}.{}", mode.name,
                     happened, mode.outside, reason_of(origin));
}

}  // namespace ohm
