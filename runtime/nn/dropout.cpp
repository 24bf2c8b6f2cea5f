#include "runtime/nn/dropout.h"

#include <fmt/core.h>

#include <cstdint>
#include <stdexcept>

#include "runtime/ops/random/dropout.h"

namespace ohm::nn {

const DropoutKind kElementDropout{"Dropout", &ops::dropout, &ops::dropout_};
const DropoutKind kChannelDropout{"Dropout2d", &ops::dropout2d, &ops::dropout2d_};
const DropoutKind kLineDropout{"Dropout1d", &ops::dropout1d, &ops::dropout1d_};
// In PyTorch it makes a new tensor always.
const DropoutKind kAlphaDropout{"AlphaDropout", &ops::alpha_dropout, &ops::alpha_dropout};
const DropoutKind kVolumeDropout{"Dropout3d", &ops::dropout3d, &ops::dropout3d_};

bool Dropout::set_option(std::string_view name, const Value& value) {
  if (name != "p" && name != "inplace") return false;
  const double* const p = std::get_if<double>(&value);
  const std::int64_t* const whole = std::get_if<std::int64_t>(&value);
  const bool* const in_place = std::get_if<bool>(&value);
  if (name == "inplace" && in_place != nullptr) {
    in_place_ = *in_place;
  } else if (name == "p" && p != nullptr) {
    p_ = *p;
  } else if (name == "p" && whole != nullptr) {
    p_ = static_cast<double>(*whole);
  } else {
    throw std::invalid_argument(fmt::format("[{}] '{}' must be {}", type_name(), name,
                                            name == "p" ? "a number" : "a boolean"));
  }
  return true;
}

Tensor Dropout::apply(const Tensor& input) {
  const auto drop = in_place_ ? kind_->drop_in_place : kind_->drop;
  return drop(input, p_, is_training());
}

}  // namespace ohm::nn
