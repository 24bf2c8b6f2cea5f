#include "runtime/ops/complex_views.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/complex_copy.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/view_history.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/slice.h"
#include "runtime/tensor/complex_parts.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kViewAsReal{.name = "view_as_real", .takes_complex = true};
constexpr OpInfo kViewAsComplex{"view_as_complex"};
constexpr OpInfo kReal{.name = "real", .takes_complex = true};
constexpr OpInfo kImag{.name = "imag", .takes_complex = true};
constexpr OpInfo kConj{.name = "conj", .takes_complex = true};
constexpr OpInfo kResolveConj{.name = "resolve_conj", .takes_complex = true};

void require_complex(const Tensor& input, const OpInfo& info) {
  if (is_complex(input.dtype())) return;
  throw std::invalid_argument(fmt::format("[{}] is only supported for complex tensors, got {}",
                                          info.name, name_of(input.dtype())));
}

void require_resolved(const Tensor& input, const OpInfo& info) {
  if (!input.impl()->is_conjugated) return;
  throw std::invalid_argument(
      fmt::format("[{}] doesn't work on unresolved conjugated tensors. To resolve the conjugate "
                  "tensor so you can view it as real, use resolve_conj()",
                  info.name));
}

void require_pairs(const Tensor& input) {
  if (input.dtype() != DType::float32 && input.dtype() != DType::float64) {
    throw std::invalid_argument(
        fmt::format("[view_as_complex] is only supported for float32 and float64 tensors, but got "
                    "a tensor of {}",
                    name_of(input.dtype())));
  }
  const int last = input.dims() - 1;
  if (last < 0 || input.shape()[last] != 2) {
    throw std::invalid_argument(
        fmt::format("[view_as_complex] Tensor must have a last dimension of size 2, got {}",
                    input.shape().str()));
  }
  const bool is_even = input.impl()->offset % 2 == 0 &&
                       std::all_of(input.strides().begin(), input.strides().end() - 1,
                                   [](std::int64_t stride) { return stride % 2 == 0; });
  if (input.strides()[last] != 1 || !is_even) {
    throw std::invalid_argument(fmt::format(
        "[view_as_complex] Tensor must have a last dimension with stride 1, and all other strides "
        "and the offset divisible by 2, got strides {}",
        input.strides().str()));
  }
}

// What views of another dtype are to the graph: no place to write to.
constexpr ViewOrigin kOrigin = ViewOrigin::several_outputs;

// The gradient of one is the other of it, of values that lie in a row.
Tensor paired(const Tensor& grad) {
  if (Context::current().state.grad_enabled) return view_as_complex(contiguous(grad));
  const Tensor pairs = row_major(grad);
  require_pairs(pairs);
  return complex_of_parts(pairs);
}

Tensor in_parts(const Tensor& grad) {
  if (Context::current().state.grad_enabled) return view_as_real(resolve_conj(contiguous(grad)));
  return parts_of(unconjugated(row_major(grad)));
}

Tensor part(const Tensor& input, std::int64_t which) {
  return select(view_as_real(input), -1, which);
}

std::vector<Sample> complex_matrix() {
  return {{randn({2, 3}, {DType::complex128, Device::cpu()})}};
}

std::vector<Sample> pairs() { return {{randn({2, 3, 2}, {DType::float64, Device::cpu()})}}; }

}  // namespace

Tensor view_as_real(const Tensor& input) {
  const OpFront front(kViewAsReal);
  require_complex(input, kViewAsReal);
  require_resolved(input, kViewAsReal);
  Tensor out = parts_of(input);
  if (Recorder record("ViewAsRealBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{paired(call.grad())}; });
  }
  track_view(out, input, kOrigin);
  return out;
}

Tensor view_as_complex(const Tensor& input) {
  const OpFront front(kViewAsComplex);
  require_pairs(input);
  Tensor out = complex_of_parts(input);
  if (Recorder record("ViewAsComplexBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{in_parts(call.grad())}; });
  }
  track_view(out, input, kOrigin);
  return out;
}

Tensor real(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  const OpFront front(kReal);
  return part(input.impl()->is_conjugated ? conj(input) : input, 0);
}

Tensor imag(const Tensor& input) {
  const OpFront front(kImag);
  require_complex(input, kImag);
  require_resolved(input, kImag);
  return part(input, 1);
}

Tensor conj(const Tensor& input) {
  if (!is_complex(input.dtype())) return input;
  const OpFront front(kConj);
  Tensor out = conjugated_view(input);
  if (Recorder record("ConjBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{conjugated(call.grad())}; });
  }
  track_view(out, input, kOrigin);
  return out;
}

Tensor resolve_conj(const Tensor& input) {
  return input.impl()->is_conjugated ? clone(input) : input;
}

Tensor conjugated(const Tensor& tensor) {
  if (!is_complex(tensor.dtype())) return tensor;
  return Context::current().state.grad_enabled ? conj(tensor) : conjugated_view(tensor);
}

std::vector<OpDef> complex_view_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kViewAsReal, kFunction, &view_as_real, {"input"}, complex_matrix),
      define(kViewAsComplex, kFunction, &view_as_complex, {"input"}, pairs),
      define(kReal, kFunction, &real, {"input"}, complex_matrix),
      define(kImag, kFunction, &imag, {"input"}, complex_matrix),
      define(kConj, kBoth, &conj, {"input"}, complex_matrix),
      define(kResolveConj, kBoth, &resolve_conj, {"input"}, complex_matrix),
  };
}

}  // namespace ohm::ops
