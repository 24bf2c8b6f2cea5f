#include "runtime/ops/matmul/vector_product.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/matmul/cublas_workspace.h"
#include "runtime/ops/matmul/cuda/matrix_product.h"
#include "runtime/ops/matmul/host/gemm.h"
#include "runtime/ops/matmul/product_operands.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDot{"dot", CastPolicy::widest};
constexpr OpInfo kVdot{"vdot", CastPolicy::widest};
constexpr OpInfo kMv{"mv", CastPolicy::low_precision};
constexpr OpInfo kAddmv{"addmv", CastPolicy::low_precision};
constexpr OpInfo kAddr{"addr", CastPolicy::low_precision};
constexpr OpInfo kAddmvInplace{"addmv_"};
constexpr OpInfo kAddrInplace{"addr_"};

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

// Whether the library reads it by columns, or by rows.
bool is_readable_matrix(const Tensor& matrix) {
  const std::int64_t rows = matrix.shape()[0];
  const std::int64_t columns = matrix.shape()[1];
  const std::int64_t row_step = matrix.strides()[0];
  const std::int64_t column_step = matrix.strides()[1];
  return (row_step == 1 && column_step >= std::max<std::int64_t>(1, rows)) ||
         (column_step == 1 && row_step >= std::max<std::int64_t>(1, columns));
}

/// A matrix and a vector as the library reads them: in copies, the vector's first, where they are
/// laid out otherwise.
class ReadableFactors {
 public:
  ReadableFactors(const Tensor& matrix, const Tensor& vec) : vec_(vec), matrix_(matrix) {
    if (matrix.device().is_cpu()) return;
    if (vec.strides()[0] == 0) vec_ = row_major(vec);
    if (!is_readable_matrix(matrix)) matrix_ = row_major(matrix);
  }
  const Tensor& matrix() const { return matrix_; }
  const Tensor& vec() const { return vec_; }

 private:
  Tensor vec_;
  Tensor matrix_;
};

Tensor raw_mv(const Tensor& matrix, const Tensor& vec) {
  Tensor out = empty({matrix.shape()[0]}, options_of(matrix));
  if (matrix.numel() == 0) {
    fill_values(out, 0.0);
    return out;
  }
  const ReadableFactors factors(matrix, vec);
  compute_mv(out, factors.matrix(), factors.vec(), cublas_workspace(out.device()).get());
  return out;
}

// ---- added to something -------------------------------------------------------------------------

/// What is added: beta · input + alpha · product.
struct Scales {
  double beta = 1.0;
  double alpha = 1.0;
};

Tensor scaled_gradient(const Tensor& grad, double scale) {
  return scale == 1.0 ? grad : mul(grad, scale);
}

Tensor outer_gradient(const Tensor& grad, const Tensor& vec, double scale) {
  const Tensor column = view(grad, {grad.numel(), 1});
  return scaled_gradient(formula::product(column, vec), scale);
}

void add_scaled_product(const Tensor& out, const Tensor& matrix, const Tensor& vec,
                        const Scales& scales) {
  if (!out.has_values() || lacks_values(matrix) || lacks_values(vec)) return;
  const std::vector<double> rows = to_doubles(matrix);
  const std::vector<double> factors = to_doubles(vec);
  std::vector<double> sums = to_doubles(out);
  auto element = rows.begin();
  for (double& sum : sums) {
    double product = 0.0;
    for (const double factor : factors) product += *element++ * factor;
    sum = (scales.beta == 0.0 ? 0.0 : scales.beta * sum) + scales.alpha * product;
  }
  store_values(out, sums);
}

// out = beta · out + alpha · (matrix · vec)
void multiply_vector_onto(const Tensor& out, const Tensor& matrix, const Tensor& vec,
                          const Scales& scales) {
  if (matrix.numel() == 0) return add_scaled_product(out, matrix, vec, scales);
  const ReadableFactors factors(matrix, vec);
  const auto workspace = cublas_workspace(out.device());
  add_scaled_product(out, factors.matrix(), factors.vec(), scales);
}

// The copy of the input goes first.
Tensor raw_addmv(const Tensor& input, const Tensor& matrix, const Tensor& vec,
                 const Scales& scales) {
  Tensor out = empty({matrix.shape()[0]}, options_of(matrix));
  copy_into(out, broadcast_view(input, out.shape()));
  multiply_vector_onto(out, matrix, vec, scales);
  return out;
}

void require_fitting_sum(const OpInfo& info, const Tensor& input, const Shape& shape) {
  if (broadcast_shapes(input.shape(), shape, info.name.data()) == shape) return;
  throw std::invalid_argument(fmt::format("[{}] an input of shape {} does not broadcast to {}",
                                          info.name, input.shape().str(), shape.str()));
}

void require_matrix_and_vector(const OpInfo& info, const Tensor& input, const Tensor& matrix,
                               const Tensor& vec) {
  require_alike(info, input, matrix);
  require_alike(info, matrix, vec);
  if (matrix.dims() != 2 || vec.dims() != 1 || matrix.size(1) != vec.size(0)) {
    refuse_shapes(info, matrix, vec);
  }
  require_fitting_sum(info, input, {matrix.size(0)});
}

void require_two_vectors(const OpInfo& info, const Tensor& input, const Tensor& first,
                         const Tensor& second) {
  require_alike(info, input, first);
  require_alike(info, first, second);
  if (first.dims() != 1 || second.dims() != 1) refuse_shapes(info, first, second);
  require_fitting_sum(info, input, {first.size(0), second.size(0)});
}

auto addmv_gradient(const Scales& scales) {
  return [scales](BackwardCall& call) {
    const Tensor& grad = call.grad();
    TensorList grads{Tensor(), Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = outer_gradient(grad, call.saved(1), scales.alpha);
    if (call.needs(0)) grads[0] = scaled_gradient(grad, scales.beta);
    if (call.needs(2)) grads[2] = scaled_gradient(mv(t(call.saved(0)), grad), scales.alpha);
    return grads;
  };
}

Tensor addmv(const Tensor& given, const Tensor& given_matrix, const Tensor& given_vec, double beta,
             double alpha) {
  const OpFront front(kAddmv);
  const Tensor vec = front.input(given_vec);
  const Tensor matrix = front.input(given_matrix);
  const Tensor input = front.input(given);
  require_matrix_and_vector(kAddmv, input, matrix, vec);
  Recorder record("AddmvBackward", {&input, &matrix, &vec});
  save_factors(record, matrix, vec);
  Tensor out = raw_addmv(input, matrix, vec, {beta, alpha});
  record.attach_differentiable(out, addmv_gradient({beta, alpha}));
  return out;
}

Tensor addmv_(const Tensor& input, const Tensor& matrix, const Tensor& vec, double beta,
              double alpha) {
  const OpFront front(kAddmvInplace);
  Recorder record =
      Recorder::overwriting(kAddmvInplace.name, "AddmvBackward", {&input, &matrix, &vec});
  require_matrix_and_vector(kAddmvInplace, input, matrix, vec);
  require_floating(input, kAddmvInplace);
  require_result_shape(kAddmvInplace, input, {matrix.size(0)});
  save_factors(record, matrix, vec);
  begin_inplace_write(input, kAddmvInplace.name);
  multiply_vector_onto(input, matrix, vec, {beta, alpha});
  record.attach_differentiable(input, addmv_gradient({beta, alpha}));
  return input;
}

void add_outer_product(const Tensor& out, const Tensor& input, const Tensor& column,
                       const Tensor& second, const Scales& scales) {
  const auto add_product = [scales](auto sum, auto x, auto y) {
    using T = decltype(sum);
    const T product = static_cast<T>(scales.alpha) * x * y;
    return scales.beta == 0.0 ? product : static_cast<T>(scales.beta) * sum + product;
  };
  map_floating(out, out.dtype(), add_product, input, column, second);
}

Tensor raw_addr(const Tensor& input, const Tensor& first, const Tensor& second,
                const Scales& scales) {
  const Tensor column = as_column(first);
  const Shape shape{first.numel(), second.numel()};
  const Tensor spread = broadcast_view(input, shape);
  Tensor out = empty_for_loop(shape, {&spread, &column, &second}, options_of(input));
  add_outer_product(out, spread, column, second, scales);
  return out;
}

auto addr_gradient(const Scales& scales) {
  return [scales](BackwardCall& call) {
    const Tensor& grad = call.grad();
    TensorList grads{Tensor(), Tensor(), Tensor()};
    if (call.needs(0)) grads[0] = scaled_gradient(grad, scales.beta);
    if (call.needs(1)) grads[1] = scaled_gradient(mv(grad, call.saved(1)), scales.alpha);
    if (call.needs(2)) grads[2] = scaled_gradient(mv(t(grad), call.saved(0)), scales.alpha);
    return grads;
  };
}

Tensor addr(const Tensor& given, const Tensor& given_first, const Tensor& given_second, double beta,
            double alpha) {
  const OpFront front(kAddr);
  const Tensor second = front.input(given_second);
  const Tensor first = front.input(given_first);
  const Tensor input = front.input(given);
  require_two_vectors(kAddr, input, first, second);
  Recorder record("AddrBackward", {&input, &first, &second});
  save_factors(record, first, second);
  Tensor out = raw_addr(input, first, second, {beta, alpha});
  record.attach_differentiable(out, addr_gradient({beta, alpha}));
  return out;
}

Tensor addr_(const Tensor& input, const Tensor& first, const Tensor& second, double beta,
             double alpha) {
  const OpFront front(kAddrInplace);
  Recorder record =
      Recorder::overwriting(kAddrInplace.name, "AddrBackward", {&input, &first, &second});
  require_two_vectors(kAddrInplace, input, first, second);
  require_floating(input, kAddrInplace);
  require_result_shape(kAddrInplace, input, {first.size(0), second.size(0)});
  save_factors(record, first, second);
  begin_inplace_write(input, kAddrInplace.name);
  add_outer_product(input, input, as_column(first), second, {beta, alpha});
  record.attach_differentiable(input, addr_gradient({beta, alpha}));
  return input;
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
  const ParamName beta{"beta", 1.0};
  const ParamName alpha{"alpha", 1.0};
  return {
      define(kAddmv, kBoth, &addmv, {"input", "mat", "vec", beta, alpha}),
      define(kAddr, kBoth, &addr, {"input", "vec1", "vec2", beta, alpha}),
      define(kAddmvInplace, kMethod, &addmv_, {"input", "mat", "vec", beta, alpha}),
      define(kAddrInplace, kMethod, &addr_, {"input", "vec1", "vec2", beta, alpha}),
      define(kDot, kBoth, &dot, {"input", "other"}),
      define(kVdot, kBoth, &vdot, {"input", "other"}),
      define(kMv, kBoth, &mv, {"input", "vec"}),
  };
}

}  // namespace ohm::ops
