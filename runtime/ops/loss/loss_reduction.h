// The reduction of a loss of many elements to one number.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/ops/value.h"

namespace ohm::ops {

enum class Reduction : std::uint8_t { none, mean, sum };

/// "none", "mean" or "sum". Throws std::invalid_argument for anything else.
Reduction parse_reduction(std::string_view text);

/// A script passes the reduction as a string.
template <>
struct ParamTraits<Reduction> {
  static constexpr ParamKind kKind = ParamKind::string;
  static constexpr bool kIsOptional = false;
  static Reduction get(const Value& value) { return parse_reduction(std::get<std::string>(value)); }
};

/// `losses` itself for `none`; else one new element.
Tensor reduced(const Tensor& losses, Reduction reduction);

/// The mean or the sum of `losses` into `out`, a tensor of one element. Not for `none`.
void reduce_losses_into(const Tensor& out, const Tensor& losses, Reduction reduction);

/// Makes `tensor` 0-dimensional in place: it keeps all of its storage, as PyTorch's resize does,
/// and with it all of its bytes.
void shrink_to_scalar(Tensor& tensor);

/// What each element's gradient is multiplied with for `count` elements.
inline double gradient_factor(Reduction reduction, std::int64_t count) {
  return reduction == Reduction::mean ? 1.0 / static_cast<double>(count) : 1.0;
}

}  // namespace ohm::ops
