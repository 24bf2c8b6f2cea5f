#include "runtime/ops/vector_product.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/cublas_workspace.h"
#include "runtime/ops/cuda/matrix_product.h"
#include "runtime/ops/host/gemm.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDot{"dot", CastPolicy::widest};
constexpr OpInfo kVdot{"vdot", CastPolicy::widest};
constexpr OpInfo kMv{"mv", CastPolicy::low_precision};

[[noreturn]] void refuse_shapes(const OpInfo& info, const Tensor& a, const Tensor& b) {
  throw std::invalid_argument(fmt::format("[{}] shapes do not fit: {} and {}", info.name,
                                          a.shape().str(), b.shape().str()));
}

// out [rows] = matrix [rows, vec.numel()] · vec on the host.
void host_gemv(const Tensor& out, const Tensor& matrix, const Tensor& vec) {
  if (!out.has_values()) return;
  const std::int64_t columns = vec.numel();
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> rows(matrix);
    const HostInput<T> factors(vec);
    HostOutput<T> target(out);
    const Matrix<T> left{rows.data(), std::max<std::int64_t>(1, columns), false};
    host_gemm(out.numel(), 1, columns, left, {factors.data(), 1, false}, T(0), target.data(), 1);
    target.commit();
  });
}

Tensor as_column(const Tensor& vec) {
  return make_view(vec, {vec.numel(), 1}, {vec.strides()[0], 1}, vec.impl()->offset);
}

// out = matrix · vec, on a CUDA device where they lie on one.
void compute_mv(const Tensor& out, const Tensor& matrix, const Tensor& vec,
                const Storage* workspace) {
  const bool is_on_cuda = out.cuda_backend() != nullptr && vec.numel() > 0;
  if (is_on_cuda && multiply_on_cuda(matrix, as_column(vec), as_column(out), false, workspace) ==
                        CudaResult::done) {
    return;
  }
  host_gemv(out, matrix, vec);
}

// Result first, then the library's handle: a matrix product would take them the other way round.
Tensor raw_dot(const Tensor& a, const Tensor& b) {
  Tensor out = empty({}, options_of(a));
  const Tensor row = make_view(a, {1, a.numel()}, {1, a.strides()[0]}, a.impl()->offset);
  const Tensor sum = make_view(out, {1}, {1}, out.impl()->offset);
  compute_mv(sum, row, b, cublas_workspace(out.device()).get());
  return out;
}

Tensor raw_mv(const Tensor& matrix, const Tensor& vec) {
  Tensor out = empty({matrix.shape()[0]}, options_of(matrix));
  compute_mv(out, matrix, vec, cublas_workspace(out.device()).get());
  return out;
}

Tensor vector_sample(std::int64_t size) { return randn({size}, {DType::float64, Device::cpu()}); }
Tensor matrix_sample(std::int64_t rows, std::int64_t columns) {
  return randn({rows, columns}, {DType::float64, Device::cpu()});
}

// The gradient by `side`, of what was saved of the other one in slot 1 − side.
Tensor dot_gradient(const BackwardCall& call, std::size_t side) {
  return formula::product(call.grad(), call.saved(1 - side));
}

// dot and vdot: of real numbers they are the same, but for the order of their gradients.
Tensor dot_product(const OpInfo& info, std::string_view node, const Tensor& given,
                   const Tensor& given_other, std::size_t first_gradient) {
  const OpFront front(info);
  const std::vector<Tensor> operands = front.widest({given, given_other});
  const Tensor& input = operands[0];
  const Tensor& other = operands[1];
  require_alike(info, input, other);
  if (input.dims() != 1 || !(input.shape() == other.shape())) refuse_shapes(info, input, other);
  Recorder record(node, {&input, &other});
  record.save(record.needs(1) ? input : Tensor());
  record.save(record.needs(0) ? other : Tensor());
  Tensor out = raw_dot(input, other);
  record.attach_differentiable(out, [first_gradient](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    for (const std::size_t side : {first_gradient, 1 - first_gradient}) {
      if (call.needs(side)) grads[side] = dot_gradient(call, side);
    }
    return grads;
  });
  return out;
}

Tensor vdot(const Tensor& input, const Tensor& other) {
  return dot_product(kVdot, "VdotBackward", input, other, 1);
}

}  // namespace

Tensor dot(const Tensor& input, const Tensor& other) {
  return dot_product(kDot, "DotBackward", input, other, 0);
}

Tensor mv(const Tensor& given, const Tensor& given_vec) {
  const OpFront front(kMv);
  const Tensor vec = front.input(given_vec);
  const Tensor input = front.input(given);
  require_alike(kMv, input, vec);
  if (input.dims() != 2 || vec.dims() != 1 || input.size(1) != vec.size(0)) {
    refuse_shapes(kMv, input, vec);
  }
  Recorder record("MvBackward", {&input, &vec});
  record.save(record.needs(1) ? input : Tensor());
  record.save(record.needs(0) ? vec : Tensor());
  Tensor out = raw_mv(input, vec);
  record.attach_differentiable(out, [](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    const Tensor& grad = call.grad();
    if (call.needs(0)) {
      const Tensor column = view(grad, {grad.numel(), 1});
      grads[0] = formula::product(column, call.saved(1));
    }
    if (call.needs(1)) {
      const Tensor turned = t(call.saved(0));
      grads[1] = call.is_recorded() ? mv(turned, grad) : raw_mv(turned, grad);
    }
    return grads;
  });
  return out;
}

std::vector<OpDef> vector_product_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kDot, kBoth, &dot, {"input", "other"},
             [] {
               return std::vector<Sample>{{vector_sample(4), vector_sample(4)}};
             }),
      define(kVdot, kBoth, &vdot, {"input", "other"},
             [] {
               return std::vector<Sample>{{vector_sample(4), vector_sample(4)}};
             }),
      define(kMv, kBoth, &mv, {"input", "vec"},
             [] {
               return std::vector<Sample>{{matrix_sample(3, 4), vector_sample(4)}};
             }),
  };
}

}  // namespace ohm::ops
