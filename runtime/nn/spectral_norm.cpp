#include "runtime/nn/spectral_norm.h"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/nn/reparametrization.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

/// A weight as a matrix [outputs, rest], and how its singular vectors are approached.
struct PowerMethod {
  std::int64_t dim;
  std::int64_t iterations;
  double eps;

  Tensor matrix_of(const Tensor& weight) const {
    return ops::reshape(outputs_first(weight), {weight.size(static_cast<int>(dim)), -1});
  }
  // A matrix is itself, for autocast a leaf whose cast is kept.
  Tensor flat_matrix_of(const Tensor& weight) const {
    return ops::flatten(outputs_first(weight), 1, -1);
  }

  // vector = W·other / ‖W·other‖, over what it was.
  void approach(const Tensor& vector, const Tensor& matrix, const Tensor& other) const {
    Tensor product = ops::mv(matrix, other);
    const Tensor length = ops::norm(product, 2.0, Shape{0}, true);
    ops::clamp_(length, eps, std::nullopt);
    map_floating(vector, vector.dtype(), functors::Quotient(), product, length);
    vector.bump_version();
    product = Tensor();  // before its length
  }

  // vector / ‖vector‖ in a new tensor.
  Tensor normalized(const Tensor& vector) const {
    Tensor length;
    {
      const Tensor exact = ops::norm(vector, 2.0, Shape{0}, true);
      length = ops::clamp(exact, eps, std::nullopt);
    }
    return ops::div(vector, ops::expand(length, vector.shape()));
  }

  Tensor outputs_first(const Tensor& weight) const {
    if (dim == 0) return weight;
    Shape order{dim};
    for (std::int64_t other = 0; other < weight.dims(); ++other) {
      if (other != dim) order.push_back(other);
    }
    return ops::permute(weight, order);
  }
};

PowerMethod method_of(const Module& module, const Tensor& weight,
                      const SpectralNormOptions& options) {
  if (options.power_iterations <= 0) {
    throw std::invalid_argument(
        fmt::format("[spectral_norm] Expected n_power_iterations to be positive, but got "
                    "n_power_iterations={}",
                    options.power_iterations));
  }
  std::int64_t dim = options.dim.value_or(is_transposed_convolution(module) ? 1 : 0);
  if (dim < 0) dim += weight.dims();
  if (weight.dims() == 0 || dim < 0 || dim >= weight.dims()) {
    throw std::invalid_argument(fmt::format(
        "[spectral_norm] dim {} is not in the range of a weight of {} dims", dim, weight.dims()));
  }
  return {dim, options.power_iterations, options.eps};
}

void refuse_second(const Module& module, const std::string& name) {
  if (find_computed(module, name) == nullptr) return;
  throw std::invalid_argument(fmt::format(
      "[spectral_norm] Cannot register two spectral_norm hooks on the same parameter {}", name));
}

Tensor random_vector(std::int64_t size, const Tensor& like) {
  Tensor vector = empty({size}, options_of(like));
  fill_normal(vector, 0.0, 1.0);
  return vector;
}

Tensor random_direction(std::int64_t size, const Tensor& like, const PowerMethod& method) {
  Tensor vector = random_vector(size, like);
  Tensor length;
  {
    const Tensor exact = ops::norm(vector, 2.0, Shape{0}, true);
    length = ops::clamp(exact, method.eps, std::nullopt);
  }
  Tensor direction = ops::div(vector, ops::expand(length, vector.shape()));
  vector = Tensor();  // before its length, which outlives it in normalized()
  return direction;
}

// ---- an attribute of the module -----------------------------------------------------------------

class SpectralNorm final : public Reparametrization {
 public:
  SpectralNorm(std::string parameter, const PowerMethod& method)
      : Reparametrization(std::move(parameter)), method_(method) {}

  std::string_view type_name() const override { return "spectral_norm"; }
  bool is_kept() const override { return true; }
  Tensor compute(Module& module) const override { return compute(module, module.is_training()); }

  Tensor compute(const Module& module, bool iterates) const {
    const Tensor& weight = require_parameter(module, parameter() + "_orig");
    Tensor u = require_buffer(module, parameter() + "_u");
    Tensor v = require_buffer(module, parameter() + "_v");
    Tensor matrix = method_.matrix_of(weight);
    if (iterates) {
      const NoGradGuard no_grad;
      for (std::int64_t i = 0; i < method_.iterations; ++i) {
        method_.approach(v, ops::t(matrix), u);
        method_.approach(u, matrix, v);
      }
      // The graph keeps copies: the next call writes over the buffers.
      u = ops::clone_row_major(u);
      v = ops::clone_row_major(v);
    }
    Tensor sigma = ops::dot(u, ops::mv(matrix, v));
    Tensor result = ops::div(weight, sigma);
    u = Tensor();
    v = Tensor();
    matrix = Tensor();
    return result;
  }

 private:
  PowerMethod method_;
};

// ---- a parametrization --------------------------------------------------------------------------

class ParametrizedSpectralNorm final : public Reparametrization {
 public:
  ParametrizedSpectralNorm(std::string parameter, const PowerMethod& method)
      : Reparametrization(std::move(parameter)), method_(method) {}

  std::string_view type_name() const override { return "spectral_norm"; }
  bool is_kept() const override { return false; }
  Tensor compute(Module& module) const override {
    const Module& list = parametrization_of(module, parameter());
    const Module& vectors = *list.children()[0].module;
    const Tensor& weight = require_parameter(list, "original");
    if (weight.dims() == 1) return method_.normalized(weight);
    Tensor matrix = method_.flat_matrix_of(weight);
    if (vectors.is_training()) iterate(vectors, matrix, method_.iterations);
    Tensor u = ops::clone_row_major(require_buffer(vectors, "_u"));
    Tensor v = ops::clone_row_major(require_buffer(vectors, "_v"));
    Tensor sigma = ops::dot(u, ops::mv(matrix, v));
    Tensor result = ops::div(weight, sigma);
    matrix = Tensor();
    u = Tensor();
    v = Tensor();
    return result;
  }

  void iterate(const Module& vectors, const Tensor& matrix, std::int64_t iterations) const {
    const NoGradGuard no_grad;
    const Tensor& u = require_buffer(vectors, "_u");
    const Tensor& v = require_buffer(vectors, "_v");
    for (std::int64_t i = 0; i < iterations; ++i) {
      method_.approach(u, matrix, v);
      method_.approach(v, ops::t(matrix), u);
    }
  }

  /// The vectors of a new parametrization, after some iterations already.
  ModulePtr make_vectors(const Tensor& weight) const {
    constexpr std::int64_t kFirstIterations = 15;
    auto vectors = std::make_shared<PartsModule>("_SpectralNorm");
    if (weight.dims() == 1) return vectors;
    const CategoryGuard category(Category::parameter);
    Tensor matrix = method_.flat_matrix_of(weight);
    Tensor u = random_vector(matrix.size(0), matrix);
    Tensor v = random_vector(matrix.size(1), matrix);
    ModuleEditor editor(*vectors);
    editor.add_buffer("_u", method_.normalized(u));
    editor.add_buffer("_v", method_.normalized(v));
    iterate(*vectors, matrix, kFirstIterations);
    matrix = Tensor();
    u = Tensor();
    return vectors;
  }

 private:
  PowerMethod method_;
};

}  // namespace

void spectral_norm(Module& module, const std::string& name, const SpectralNormOptions& options) {
  refuse_second(module, name);
  Tensor weight = require_parameter(module, name);
  const PowerMethod method = method_of(module, weight, options);
  const auto how = std::make_shared<SpectralNorm>(name, method);
  const CategoryGuard category(Category::parameter);
  Tensor u;
  Tensor v;
  Tensor matrix;
  {
    const NoGradGuard no_grad;
    matrix = method.matrix_of(weight);
    u = random_direction(matrix.size(0), weight, method);
    v = random_direction(matrix.size(1), weight, method);
  }
  ModuleEditor editor(module);
  editor.take_parameter(name);
  editor.add_parameter(name + "_orig", weight);
  editor.keep(name, detach(weight));
  editor.add_buffer(name + "_u", u);
  editor.add_buffer(name + "_v", v);
  editor.compute(how);
}

void remove_spectral_norm(Module& module, const std::string& name) {
  const ComputedParameter* const computed = find_computed(module, name);
  const auto how =
      computed == nullptr ? nullptr : std::dynamic_pointer_cast<const SpectralNorm>(computed->how);
  if (how == nullptr) {
    throw std::invalid_argument(fmt::format(
        "[remove_spectral_norm] spectral_norm of '{}' not found in {}", name, module.type_name()));
  }
  Tensor weight;
  {
    const NoGradGuard no_grad;
    weight = how->compute(module, /*iterates=*/false);
  }
  ModuleEditor editor(module);
  editor.drop_kept(name);
  editor.take_buffer(name + "_u");
  editor.take_buffer(name + "_v");
  editor.take_parameter(name + "_orig");
  weight.storage().set_category(Category::parameter);
  weight.set_requires_grad(true);
  editor.add_parameter(name, std::move(weight));
  editor.stop_computing(*how);
}

void parametrize_spectral_norm(Module& module, const std::string& name,
                               const SpectralNormOptions& options) {
  refuse_second(module, name);
  const Tensor weight = require_parameter(module, name);
  const auto how =
      std::make_shared<ParametrizedSpectralNorm>(name, method_of(module, weight, options));
  const ModulePtr vectors = how->make_vectors(weight);
  vectors->set_training(module.is_training());
  ModuleEditor(module).take_parameter(name);
  const ModulePtr list = add_parametrization(module, name, vectors);
  ModuleEditor(*list).add_parameter("original", weight);
  ModuleEditor(module).compute(how);
  // PyTorch looks at a first result, whose shape and dtype have to be the parameter's.
  static_cast<void>(how->compute(module));
}

}  // namespace ohm::nn
