#include "runtime/ops/reduction/row_distance.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCdist{"cdist", CastPolicy::float32};

// What is in front of the rows.
Shape batch_of(const Tensor& rows) {
  Shape batch;
  for (int dim = 0; dim < rows.dims() - 2; ++dim) batch.push_back(rows.shape()[dim]);
  return batch;
}

// Throws where batches do not broadcast, too.
void check_rows(const Tensor& x1, const Tensor& x2) {
  require_alike(kCdist, x1, x2);
  require_floating(x1, kCdist);
  if (x1.dims() >= 2 && x2.dims() >= 2 && x1.size(-1) == x2.size(-1)) {
    broadcast_shapes(batch_of(x1), batch_of(x2), kCdist.name.data());
    return;
  }
  throw std::invalid_argument(
      fmt::format("[cdist] expected [*, n, width] and [*, m, width], got {} and {}",
                  x1.shape().str(), x2.shape().str()));
}

// The shape of `rows` in as many batches as it has with `others`.
Shape shape_beside(const Tensor& rows, const Tensor& others) {
  Shape shape = broadcast_shapes(batch_of(rows), batch_of(others), kCdist.name.data());
  shape.push_back(rows.size(-2));
  shape.push_back(rows.size(-1));
  return shape;
}

Shape shape_of_distances(const Tensor& x1, const Tensor& x2) {
  Shape shape = shape_beside(x1, x2);
  shape[shape.dims() - 1] = x2.size(-2);
  return shape;
}

Tensor row_major_beside(const Tensor& rows, const Tensor& others) {
  const Shape shape = shape_beside(rows, others);
  return row_major(rows.shape() == shape ? rows : broadcast_view(rows, shape));
}

// One dimension in front of the last two.
Tensor in_batches(const Tensor& tensor) {
  const std::int64_t rows = tensor.size(-2);
  const std::int64_t width = tensor.size(-1);
  const std::int64_t batches = rows * width == 0 ? 1 : tensor.numel() / (rows * width);
  return view(tensor, {batches, rows, width});
}

// ---- by a product of matrices -------------------------------------------------------------------

// |a − b|² = |a|² + |b|² − 2ab, as one product of rows with two elements more.
Tensor distances_by_product(const Tensor& x1, const Tensor& x2) {
  const auto squares = [](const Tensor& rows) {
    const Tensor squared = pow(rows, 2.0);
    return sum(squared, Shape{-1}, true, std::nullopt);
  };
  Tensor squares1 = squares(x1);
  Tensor ones1 = ones_like(squares1);
  Tensor squares2 = squares(x2);
  Tensor ones2 = ones_like(squares2);
  Tensor left;
  {
    Tensor twice = mul(x1, -2.0);
    left = cat({twice, squares1, ones1}, -1);
    ones1 = Tensor();
    squares1 = Tensor();
  }
  const Tensor right = cat({x2, ones2, squares2}, -1);
  squares2 = Tensor();
  ones2 = Tensor();
  const Tensor out = matmul(left, transpose(right, -2, -1));
  map_floating(out, out.dtype(), functors::Clamp{0.0, std::numeric_limits<double>::infinity()},
               out);
  map_floating(out, out.dtype(), functors::Sqrt(), out);
  return out;
}

// The gradients of both, whether both are asked for or not. Equal rows have none.
TensorList gradients_by_product(const BackwardCall& call) {
  const Tensor x1 = call.saved(0);
  const Tensor x2 = call.saved(1);
  const Tensor result = call.saved(2);
  const Tensor ratio = div(call.grad(), result);
  {
    const Tensor is_equal = eq(result, 0.0);
    masked_fill_(ratio, is_equal, 0.0);
  }
  const Tensor others1 = matmul(ratio, x2);
  const Tensor total1 = sum(ratio, Shape{-1}, true, std::nullopt);
  const Tensor own1 = mul(x1, total1);
  const Tensor grad1 = sub(own1, others1);
  const Tensor others2 = matmul(transpose(ratio, -2, -1), x1);
  const Tensor total2 = sum(ratio, Shape{-2}, false, std::nullopt);
  const Tensor own2 = mul(x2, unsqueeze(total2, -1));
  const Tensor grad2 = sub(own2, others2);
  return {grad1, grad2};
}

Tensor recorded_product(const Tensor& x1, const Tensor& x2) {
  Recorder record("EuclideanDistBackward", {&x1, &x2});
  record.save(x1);
  record.save(x2);
  Tensor out;
  {
    const NoGradGuard no_graph;
    const Tensor rows1 = row_major(x1);
    const Tensor rows2 = row_major(x2);
    out = distances_by_product(rows1, rows2);
  }
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    TensorList grads = gradients_by_product(call);
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (!call.needs(i)) grads[i] = Tensor();
    }
    return grads;
  });
  return out;
}

// ---- one by one ---------------------------------------------------------------------------------

double distance(const double* a, const double* b, std::int64_t width, double p) {
  double total = 0;
  for (std::int64_t i = 0; i < width; ++i) {
    const double gap = std::abs(a[i] - b[i]);
    if (p == 0.0) {
      total += gap != 0.0 ? 1.0 : 0.0;
    } else if (std::isinf(p)) {
      total = std::max(total, gap);
    } else {
      total += std::pow(gap, p);
    }
  }
  return p == 0.0 || std::isinf(p) ? total : std::pow(total, 1.0 / p);
}

// How much the distance grows with the difference in one element.
double slope(double gap, double whole, double p) {
  const double sign = gap > 0 ? 1.0 : gap < 0 ? -1.0 : 0.0;
  if (p == 0.0 || sign == 0.0) return 0.0;
  if (std::isinf(p)) return std::abs(gap) == whole ? sign : 0.0;
  return p == 1.0 ? sign : sign * std::pow(std::abs(gap) / whole, p - 1.0);
}

/// Which rows are compared: element `i` of the distances.
struct RowPair {
  RowPair(const Tensor& x1, const Tensor& x2, std::int64_t i) {
    const std::int64_t rows1 = x1.size(-2);
    const std::int64_t rows2 = x2.size(-2);
    first = i / rows2;
    second = i / (rows1 * rows2) * rows2 + i % rows2;
  }
  std::int64_t first;
  std::int64_t second;
};

Tensor distances_one_by_one(const Tensor& x1, const Tensor& x2, double p) {
  Tensor out = empty(shape_of_distances(x1, x2), options_of(x1));
  if (!out.has_values()) return out;
  const std::int64_t width = x1.size(-1);
  const std::vector<double> rows1 = to_doubles(x1);
  const std::vector<double> rows2 = to_doubles(x2);
  std::vector<double> distances(static_cast<std::size_t>(out.numel()));
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const RowPair pair(x1, x2, i);
    distances[static_cast<std::size_t>(i)] =
        distance(rows1.data() + pair.first * width, rows2.data() + pair.second * width, width, p);
  }
  store_values(out, distances);
  return out;
}

void store_gradient(const Tensor& out, const Tensor& grad, const Tensor& x1, const Tensor& x2,
                    const Tensor& result, double p) {
  const std::int64_t width = x1.size(-1);
  const std::vector<double> rows1 = to_doubles(x1);
  const std::vector<double> rows2 = to_doubles(x2);
  const std::vector<double> slopes = to_doubles(grad);
  const std::vector<double> distances = to_doubles(result);
  std::vector<double> sums(static_cast<std::size_t>(out.numel()));
  for (std::int64_t i = 0; i < result.numel(); ++i) {
    const auto number = static_cast<std::size_t>(i);
    const RowPair pair(x1, x2, i);
    // The result is rounded: which gap is the largest is looked up in what it came from.
    const double whole = std::isinf(p) ? distance(rows1.data() + pair.first * width,
                                                  rows2.data() + pair.second * width, width, p)
                                       : distances[number];
    for (std::int64_t k = 0; k < width; ++k) {
      const auto mine = static_cast<std::size_t>(pair.first * width + k);
      const auto other = static_cast<std::size_t>(pair.second * width + k);
      sums[mine] += slopes[number] * slope(rows1[mine] - rows2[other], whole, p);
    }
  }
  store_values(out, sums);
}

// Of x1. The kernel of a GPU writes what each row of x2 gives, for a sum over them.
Tensor gradient_one_by_one(const Tensor& given, const Tensor& rows1, const Tensor& rows2,
                           const Tensor& result, double p) {
  const Tensor grad = row_major(given);
  const Tensor x1 = row_major_beside(rows1, rows2);
  const Tensor x2 = row_major_beside(rows2, rows1);
  const Tensor out = empty(x1.shape(), options_of(x1));
  if (x1.device().is_cuda() && p != 0.0) {
    const std::int64_t batches = out.numel() == 0 ? 0 : out.numel() / (x1.size(-2) * x1.size(-1));
    empty({batches, x2.size(-2), x1.size(-2), x1.size(-1)}, options_of(x1));
  }
  if (out.has_values() && grad.has_values()) store_gradient(out, grad, x1, x2, result, p);
  return out;
}

Tensor recorded_one_by_one(const Tensor& x1, const Tensor& x2, double p) {
  Recorder record("CdistBackward", {&x1, &x2});
  record.save(x1);
  record.save(x2);
  Tensor out;
  {
    const NoGradGuard no_graph;
    const Tensor rows1 = row_major_beside(x1, x2);
    const Tensor rows2 = row_major_beside(x2, x1);
    out = distances_one_by_one(rows1, rows2, p);
  }
  record.save_output(out);
  record.attach(out, [p](BackwardCall& call) {
    const Tensor rows1 = call.saved(0);
    const Tensor rows2 = call.saved(1);
    const Tensor result = call.saved(2);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) {
      grads[0] = gradient_one_by_one(call.grad(), rows1, rows2, result, p);
    }
    if (call.needs(1)) {
      const Tensor grad = row_major(transpose(call.grad(), -2, -1));
      const Tensor turned = row_major(transpose(result, -2, -1));
      grads[1] = gradient_one_by_one(grad, rows2, rows1, turned, p);
    }
    return grads;
  });
  return out;
}

}  // namespace

Tensor cdist(const Tensor& given_x1, const Tensor& given_x2, double p) {
  if (!(p >= 0.0)) {
    throw std::invalid_argument(
        fmt::format("[cdist] only supports non-negative p values, got {}", p));
  }
  const OpFront front(kCdist);
  const Tensor x2 = front.input(given_x2);
  const Tensor x1 = front.input(given_x1);
  check_rows(x1, x2);
  constexpr std::int64_t kManyRows = 25;
  const bool is_product = p == 2.0 && std::max(x1.size(-2), x2.size(-2)) > kManyRows &&
                          x1.numel() != 0 && x2.numel() != 0;
  if (!is_product) return recorded_one_by_one(x1, x2, p);
  if (x1.dims() == 2 && x2.dims() == 2) return recorded_product(x1, x2);
  const Tensor rows1 = contiguous(expand(x1, shape_beside(x1, x2)));
  const Tensor rows2 = contiguous(expand(x2, shape_beside(x2, x1)));
  return view(recorded_product(in_batches(rows1), in_batches(rows2)), shape_of_distances(x1, x2));
}

std::vector<OpDef> row_distance_ops() {
  return {define(kCdist, kPythonFunction, &cdist, {"x1", "x2", {"p", 2.0}})};
}

}  // namespace ohm::ops
