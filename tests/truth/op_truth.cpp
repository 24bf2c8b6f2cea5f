#include "tests/truth/op_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/attention/attention.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/sorting/sorting.h"
#include "runtime/tensor/context.h"

namespace ohm::truth {

namespace {

constexpr Device kDevice = Device::cuda(0);

/// Of sums over a few thousand elements whose order is the device's own, relative to the largest
/// element of a result.
double relative_tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return 4e-3;
    case DType::bfloat16:
      return 3e-2;
    case DType::float64:
      return 1e-10;
    default:
      return 2e-5;
  }
}

std::optional<Values> on_host(const OpCall& call, DType rounded, DType dtype) {
  try {
    return call.compute(rounded, dtype, Device::cpu());
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // not an op for this dtype
  }
}

void compare(const Values& device, const Values& host, DType dtype, Row& row) {
  if (device.size() != host.size()) {
    row.not_run = fmt::format("{} results and gradients on the device, {} on the host",
                              device.size(), host.size());
    return;
  }
  for (std::size_t list = 0; list < host.size(); ++list) {
    double largest = 0;
    for (const double value : host[list]) {
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    const Tolerance tolerance = {0, relative_tolerance_of(dtype) * std::max(largest, 1e-3)};
    for (std::size_t i = 0; i < host[list].size(); ++i) {
      row.compare(device[list][i], host[list][i], tolerance);
    }
  }
}

std::string why_out_of_memory(const OutOfMemory& error) {
  return fmt::format("the device has no memory left: {}", error.report().message);
}

/// Host values of float64 are the truth. Where a call takes random numbers or rounds in between,
/// which is another function for each dtype, it is the host's value of the same dtype.
Row compared(const OpCall& call, DType dtype, const Values& truth, const Values& same_dtype) {
  Row row;
  row.name = fmt::format("{} {}", call.name, name_of(dtype));
  try {
    const Values device = call.compute(dtype, dtype, kDevice);
    compare(device, truth, dtype, row);
    if (row.different == 0) return row;
    Row other;
    other.name = row.name;
    compare(device, same_dtype, dtype, other);
    return other.different < row.different ? other : row;
  } catch (const OutOfMemory& error) {
    row.not_run = why_out_of_memory(error);
  } catch (const std::invalid_argument& error) {
    row.not_run = error.what();
  }
  return row;
}

// ---- beyond 32 bits -----------------------------------------------------------------------------

constexpr std::int64_t kLarge = (std::int64_t{1} << 31U) + 4099;

Row large_row(const std::string& name, std::size_t bytes, std::size_t free_bytes,
              double (*compute)(), double expected, const Tolerance& tolerance = {1e-6, 0}) {
  Row row;
  row.name = name;
  if (bytes + 1_GiB > free_bytes) {
    row.cannot_run = true;
    row.not_run = fmt::format("needs {}, and {} are free", human_bytes(bytes + 1_GiB),
                              human_bytes(free_bytes));
    return row;
  }
  row.compare(compute(), expected, tolerance);
  return row;
}

/// 1 where every part of sort() is right: the order, and that equal ones stay as they came, where
/// the elements came from, and that none came twice.
double sorts_many() {
  constexpr std::int64_t kCount = (std::int64_t{1} << 25U) + 4099;
  const Tensor input =
      ops::floor_divide(ops::mul(rand({kCount}, {DType::float32, kDevice}), 1e6), 1.0);
  const auto [sorted, places] = ops::sort(input, 0, false);
  const auto pair = [](const Tensor& all) {
    return std::pair(ops::narrow(all, 0, 0, kCount - 1), ops::narrow(all, 0, 1, kCount - 1));
  };
  const auto [lower, higher] = pair(sorted);
  const auto [before, behind] = pair(places);
  const auto count = [](const Tensor& found) { return to_doubles(ops::sum(found))[0]; };
  const double wrong = count(ops::gt(lower, higher)) +
                       count(ops::ne(ops::gather(input, 0, places), sorted)) +
                       count(ops::logical_and(ops::eq(lower, higher), ops::ge(before, behind)));
  const double sum = static_cast<double>(kCount) * static_cast<double>(kCount - 1) / 2;
  return wrong == 0 && count(places) == sum ? 1.0 : 0.0;
}

/// How far the fused kernels are from the ops that attention is made of, and so are the gradients.
double attends_to_many() {
  AttentionKernels& kernels = Context::current().state.attention_kernels;
  const AttentionKernels all = kernels;
  const Tensor heads = randn({1, 2, 8192, 64}, {DType::float32, kDevice});
  const auto attend = [&] {
    const Tensor leaf = make_view(heads, heads.shape(), heads.strides(), heads.impl()->offset);
    leaf.set_requires_grad(true);
    const Tensor out =
        ops::scaled_dot_product_attention(leaf, leaf, leaf, std::nullopt, 0.0, true, std::nullopt);
    backward({out}, {heads}, GraphRetention::release);
    return std::pair(detach(out), leaf.grad());
  };
  const auto [fused, fused_gradient] = attend();
  kernels.flash = kernels.efficient = kernels.cudnn = false;
  const auto [made, made_gradient] = attend();
  kernels = all;
  const auto distance = [](const Tensor& a, const Tensor& b) {
    return to_doubles(ops::max(ops::abs(ops::sub(a, b))))[0] / to_doubles(ops::max(ops::abs(b)))[0];
  };
  return distance(fused, made) + distance(fused_gradient, made_gradient);
}

Tensor large(double value, DType dtype) { return full({kLarge}, value, {dtype, kDevice}); }

}  // namespace

std::vector<Row> op_truth(const std::vector<OpCall>& calls, const std::vector<DType>& dtypes) {
  std::vector<Row> rows;
  for (const OpCall& call : calls) {
    const std::size_t before = rows.size();
    for (const DType dtype : dtypes) {
      const std::optional<Values> truth = on_host(call, dtype, DType::float64);
      const std::optional<Values> same_dtype = on_host(call, dtype, dtype);
      if (truth && same_dtype) rows.push_back(compared(call, dtype, *truth, *same_dtype));
    }
    if (rows.size() > before) continue;
    Row& row = rows.emplace_back();
    row.name = call.name;
    row.not_run = "the host computes it in none of the dtypes";
  }
  return rows;
}

std::vector<Row> whole_number_truth(const std::vector<OpCall>& calls) {
  std::vector<Row> rows;
  for (const OpCall& call : calls) {
    for (const DType dtype : {DType::int64, DType::int32, DType::uint8, DType::boolean}) {
      try {
        const std::optional<Values> host = on_host(call, dtype, dtype);
        if (host) rows.push_back(compared(call, dtype, *host, *host));
      } catch (const std::logic_error& defect) {
        Row& row = rows.emplace_back();
        row.name = fmt::format("{} {}", call.name, name_of(dtype));
        row.not_run = defect.what();
      }
    }
  }
  return rows;
}

std::vector<Row> large_truth(std::size_t free_bytes) {
  const auto elements = static_cast<std::size_t>(kLarge);
  const auto count = static_cast<double>(kLarge);
  const auto many = [](const std::string& name) {
    return fmt::format("{} of {} elements", name, kLarge);
  };
  return {
      large_row(
          many("sum of uint8"), elements, free_bytes,
          [] { return to_doubles(ops::sum(large(1, DType::uint8)))[0]; }, count),
      large_row(
          many("add to uint8, and sum"), 2 * elements, free_bytes,
          [] { return to_doubles(ops::sum(ops::add(large(1, DType::uint8), 2.0)))[0]; }, 3 * count),
      large_row(
          many("product of float32, and sum"), 12 * elements, free_bytes,
          [] {
            const Tensor half = large(0.5, DType::float32);
            return to_doubles(ops::sum(ops::mul(half, half)))[0];
          },
          0.25 * count),
      large_row("sort of 33,558,531 elements", 4_GiB, free_bytes, sorts_many, 1.0),
      large_row("attention of 8,192 queries beside its steps", 6_GiB, free_bytes, attends_to_many,
                0.0, {0, 4e-5}),
  };
}

}  // namespace ohm::truth
