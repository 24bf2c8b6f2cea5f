// y = x1ᵀ · W · x2 + b.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

/// [*, in1_features] and [*, in2_features] -> [*, out_features]. weight [out_features,
/// in1_features, in2_features] and bias [out_features] start uniform in ±1/√in1_features.
class Bilinear final : public CopyableModule<Bilinear> {
 public:
  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
           bool has_bias, const ParameterOptions& options);

  std::string_view type_name() const override { return "Bilinear"; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"input1", "input2"};
};

}  // namespace ohm::nn
