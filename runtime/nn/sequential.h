// Modules one after the other.
#pragma once

#include <vector>

#include "runtime/nn/module.h"

namespace ohm::nn {

/// Children are named "0", "1", …. Each intermediate result is released as soon as the next one
/// is there (where no graph keeps it).
class Sequential final : public UnaryModule<Sequential> {
 public:
  explicit Sequential(std::vector<ModulePtr> modules);

  std::string_view type_name() const override { return "Sequential"; }

  using Module::add_child;

 protected:
  Tensor apply(const Tensor& input) override;
};

/// Calls a function: activations, poolings and other modules without parameters.
class FunctionModule final : public UnaryModule<FunctionModule> {
 public:
  using Function = std::function<Tensor(const Tensor& input)>;
  FunctionModule(std::string_view type_name, Function function)
      : type_name_(type_name), function_(std::move(function)) {}

  std::string_view type_name() const override { return type_name_; }

 protected:
  Tensor apply(const Tensor& input) override { return function_(input); }

 private:
  std::string_view type_name_;
  Function function_;
};

/// Calls a function of a prediction and a target.
class LossModule final : public CopyableModule<LossModule> {
 public:
  using Function = std::function<Tensor(const Tensor& input, const Tensor& target)>;
  LossModule(std::string_view type_name, Function function)
      : type_name_(type_name), function_(std::move(function)) {}

  std::string_view type_name() const override { return type_name_; }
  using Module::forward;
  Value forward(const std::vector<Value>& inputs) override;

 private:
  std::string_view type_name_;
  Function function_;
};

}  // namespace ohm::nn
