// Max unpooling: the maxima of a max pool put back where they stood.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/ops/op.h"

namespace ohm::nn {

/// Inputs: maxima, their indices and, where the windows do not say it, the sizes of the result. As
/// in runtime/ops/unpooling.h.
class MaxUnpool final : public CopyableModule<MaxUnpool> {
 public:
  /// `options`: kernel_size, stride and padding of the op.
  MaxUnpool(std::string_view name, const ops::OpDef& op, std::vector<Value> options)
      : name_(name), op_(&op), options_(std::move(options)) {}

  std::string_view type_name() const override { return name_; }
  std::span<const std::string_view> input_names() const override { return kInputNames; }

  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override;

 private:
  static constexpr std::string_view kInputNames[] = {"input", "indices", "output_size"};

  std::string_view name_;
  const ops::OpDef* op_;
  std::vector<Value> options_;
};

}  // namespace ohm::nn
