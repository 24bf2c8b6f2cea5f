#include "runtime/ops/normalization/weight_norm.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kNormExceptDim{"norm_except_dim"};
constexpr OpInfo kWeightNorm{"_weight_norm"};

// Sizes of 1 but for dimension `dim`.
Shape sizes_along(const Shape& shape, int dim) {
  Shape sizes = shape;
  for (int other = 0; other < shape.dims(); ++other) {
    if (other != dim) sizes[other] = 1;
  }
  return sizes;
}

/// A row-major weight, each row along its first or its last dimension of a norm of its own.
struct NormedRows {
  NormedRows(const Shape& shape, std::int64_t dim)
      : is_first(dim == 0),
        dim(static_cast<int>(dim)),
        count(shape[static_cast<int>(dim)]),
        elements(shape.numel()) {}

  std::size_t row_of(std::int64_t element) const {
    return static_cast<std::size_t>(is_first ? element / (elements / count) : element % count);
  }

  bool is_first;
  int dim;
  std::int64_t count;
  std::int64_t elements;
};

void compute(const NormedRows& rows, const Tensor& v, const Tensor& g, const Tensor& out,
             const Tensor& norms) {
  if (!out.has_values()) return;
  visit_computed(v.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> directions(v);
    const HostInput<T> lengths(g);
    HostOutput<T> results(out);
    HostOutput<T> kept(norms);
    std::vector<double> sums(static_cast<std::size_t>(rows.count));
    for (std::int64_t i = 0; i < rows.elements; ++i) {
      const auto x = static_cast<double>(directions.data()[i]);
      sums[rows.row_of(i)] += x * x;
    }
    for (std::size_t row = 0; row < sums.size(); ++row) {
      kept.data()[row] = static_cast<T>(std::sqrt(sums[row]));
    }
    for (std::int64_t i = 0; i < rows.elements; ++i) {
      const std::size_t row = rows.row_of(i);
      results.data()[i] = directions.data()[i] * (lengths.data()[row] / kept.data()[row]);
    }
    results.commit();
    kept.commit();
  });
}

struct WeightNormGradients {
  Tensor v;
  Tensor g;
};

/// What backward needs.
struct WeightNormPass {
  Tensor grad;
  Tensor v;
  Tensor g;
  Tensor norms;
};

void compute_gradients(const NormedRows& rows, const WeightNormPass& pass,
                       const WeightNormGradients& out) {
  if (!out.v.has_values()) return;
  visit_computed(pass.v.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> grads(pass.grad);
    const HostInput<T> directions(pass.v);
    const HostInput<T> lengths(pass.g);
    const HostInput<T> norms(pass.norms);
    HostOutput<T> of_v(out.v);
    HostOutput<T> of_g(out.g);
    std::vector<double> products(static_cast<std::size_t>(rows.count));
    for (std::int64_t i = 0; i < rows.elements; ++i) {
      products[rows.row_of(i)] +=
          static_cast<double>(grads.data()[i]) * static_cast<double>(directions.data()[i]);
    }
    for (std::size_t row = 0; row < products.size(); ++row) {
      of_g.data()[row] = static_cast<T>(products[row]) / norms.data()[row];
    }
    for (std::int64_t i = 0; i < rows.elements; ++i) {
      const std::size_t row = rows.row_of(i);
      const T norm = norms.data()[row];
      const T along = static_cast<T>(products[row]) / (norm * norm);
      of_v.data()[i] =
          lengths.data()[row] / norm * (grads.data()[i] - directions.data()[i] * along);
    }
    of_v.commit();
    of_g.commit();
  });
}

WeightNormGradients raw_gradients(const NormedRows& rows, const WeightNormPass& pass) {
  WeightNormGradients grads;
  grads.v = empty(pass.v.shape(), options_of(pass.v));
  grads.g = empty(pass.g.shape(), options_of(pass.g));
  compute_gradients(rows, pass, grads);
  return grads;
}

// The same of recorded ops. PyTorch takes the norms for constants here, too.
WeightNormGradients recorded_gradients(const NormedRows& rows, const WeightNormPass& pass) {
  const Tensor norms = cast(pass.norms, pass.g.dtype());
  const Shape matrix = rows.is_first ? Shape{rows.count, rows.elements / rows.count}
                                     : Shape{rows.elements / rows.count, rows.count};
  const Tensor products = view(
      sum(view(mul(pass.grad, pass.v), matrix), Shape{rows.is_first ? 1 : 0}, false, std::nullopt),
      sizes_along(pass.v.shape(), rows.dim));
  WeightNormGradients grads;
  {
    const Tensor squares = mul(norms, norms);
    const Tensor share = div(products, squares);
    const Tensor along = mul(pass.v, share);
    const Tensor across = sub(pass.grad, along);
    const Tensor ratio = div(pass.g, norms);
    grads.v = mul(ratio, across);
  }
  grads.g = div(products, norms);
  return grads;
}

TensorList gradients_of(BackwardCall& call, const NormedRows& rows) {
  const WeightNormPass pass{contiguous(call.grad()), call.saved(0), call.saved(1), call.saved(2)};
  WeightNormGradients grads =
      call.is_recorded() ? recorded_gradients(rows, pass) : raw_gradients(rows, pass);
  return {std::move(grads.v), std::move(grads.g)};
}

Tensor fused(const Tensor& v, const Tensor& g, std::int64_t dim) {
  const NormedRows rows(v.shape(), dim);
  Recorder record("WeightNormInterfaceBackward", {&v, &g});
  record.save(v);
  record.save(g);
  Tensor out = empty(v.shape(), options_of(v));
  const DType accumulated = g.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const Tensor norms = empty(g.shape(), {accumulated, g.device()});
  compute(rows, v, g, out, norms);
  record.save(norms);
  record.attach_differentiable(out,
                               [rows](BackwardCall& call) { return gradients_of(call, rows); });
  return out;
}

void check(const Tensor& v, const Tensor& g, std::int64_t dim) {
  require_floating(v, kWeightNorm);
  require_alike(kWeightNorm, v, g);
  const int dims = v.dims();
  if (dim < -1 || dim >= dims) {
    throw std::invalid_argument(fmt::format(
        "[{}] dim {} is not in the range of a tensor of {} dims", kWeightNorm.name, dim, dims));
  }
  const Shape expected = dim == -1 ? Shape{} : sizes_along(v.shape(), static_cast<int>(dim));
  if (g.shape() == expected) return;
  throw std::invalid_argument(fmt::format("[{}] v of shape {} needs a g of shape {}, got {}",
                                          kWeightNorm.name, v.shape().str(), expected.str(),
                                          g.shape().str()));
}

}  // namespace

Tensor norm_except_dim(const Tensor& v, std::int64_t pow, std::int64_t dim) {
  const OpFront front(kNormExceptDim);
  const auto p = static_cast<double>(pow);
  if (dim == -1) return norm(v, p);
  const int dims = v.dims();
  if (dim < 0 || dim >= dims) {
    throw std::invalid_argument(fmt::format(
        "[{}] dim {} is not in the range of a tensor of {} dims", kNormExceptDim.name, dim, dims));
  }
  const Shape sizes = sizes_along(v.shape(), static_cast<int>(dim));
  if (dim == 0) {
    const Tensor rows = view(contiguous(v), {v.size(0), -1});
    return view(norm(rows, p, Shape{1}, false), sizes);
  }
  if (dim == dims - 1) {
    const Tensor columns = view(contiguous(v), {-1, v.size(-1)});
    return view(norm(columns, p, Shape{0}, false), sizes);
  }
  return transpose(norm_except_dim(transpose(v, 0, dim), pow, 0), 0, dim);
}

Tensor weight_norm(const Tensor& given_v, const Tensor& given_g, std::int64_t dim) {
  const OpFront front(kWeightNorm);
  check(given_v, given_g, dim);
  const Tensor v = contiguous(given_v);
  const Tensor g = contiguous(given_g);
  const bool is_along_an_edge = v.dims() > 0 && (dim == 0 || dim == v.dims() - 1);
  const bool has_kernel =
      v.dtype() != DType::float16 || Context::current().rules.weight_norm_fuses_float16;
  if (has_kernel && is_along_an_edge && v.numel() > 0) return fused(v, g, dim);
  const Tensor norms = norm_except_dim(v, 2, dim);
  const Tensor factor = div(g, norms);
  return mul(v, factor);
}

std::vector<OpDef> weight_norm_ops() {
  return {
      define(kNormExceptDim, kFunction, &norm_except_dim,
             {"v", {"pow", std::int64_t{2}}, {"dim", std::int64_t{0}}}),
      define(kWeightNorm, kFunction, &weight_norm, {"v", "g", {"dim", std::int64_t{0}}}),
  };
}

}  // namespace ohm::ops
