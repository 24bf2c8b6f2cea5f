// Layers that learn how many features they have from their first input.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/nn/module_def.h"
#include "runtime/nn/new_parameter.h"

namespace ohm::nn {

/// Has the parameters and buffers of the layer that it becomes, without elements: they may be
/// moved, cast and given to an optimizer. At the first call they get the memory and the values that
/// the layer starts with; they stay the same objects. From then on it is that layer, by its name,
/// too.
class LazyLayer final : public CopyableModule<LazyLayer> {
 public:
  using Make = std::function<ModulePtr(std::int64_t features, const ParameterOptions& parameters)>;
  struct Kind {
    std::string_view type_name;
    int feature_dim;  ///< of the input; below 0 it counts from the last one
  };
  struct Parts {
    bool has_weight;
    bool has_bias;
    bool has_statistics = false;  ///< running ones, and how many batches they are of
  };

  LazyLayer(const Kind& kind, const Parts& parts, Make make, const ParameterOptions& parameters);

  std::string_view type_name() const override;

  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override;

 private:
  void become_layer_for(const Tensor& input);

  Kind kind_;
  Make make_;
  ModulePtr layer_;  ///< without its parameters; null before the first call
};

/// LazyLinear, the lazy convolutions and the lazy norms.
std::vector<ModuleDef> lazy_modules();

}  // namespace ohm::nn
