#include "tests/truth/op_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "allocator_shim/base/bytes.h"
#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/reduction.h"
#include "runtime/tensor/context.h"

namespace ohm::truth {

namespace {

constexpr Device kDevice = Device::cuda(0);

/// Of sums over a few thousand elements whose order is the device's own, relative to the largest
/// element of a result.
double tolerance_of(DType dtype) {
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
    const Tolerance tolerance = {0, tolerance_of(dtype) * std::max(largest, 1e-3)};
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
              double (*compute)(), double expected) {
  Row row;
  row.name = fmt::format("{} of {} elements", name, kLarge);
  if (bytes + 1_GiB > free_bytes) {
    row.cannot_run = true;
    row.not_run = fmt::format("needs {}, and {} are free", human_bytes(bytes + 1_GiB),
                              human_bytes(free_bytes));
    return row;
  }
  row.compare(compute(), expected, {1e-6, 0});
  return row;
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
  return {
      large_row(
          "sum of uint8", elements, free_bytes,
          [] { return to_doubles(ops::sum(large(1, DType::uint8)))[0]; }, count),
      large_row(
          "add to uint8, and sum", 2 * elements, free_bytes,
          [] { return to_doubles(ops::sum(ops::add(large(1, DType::uint8), 2.0)))[0]; }, 3 * count),
      large_row(
          "product of float32, and sum", 12 * elements, free_bytes,
          [] {
            const Tensor half = large(0.5, DType::float32);
            return to_doubles(ops::sum(ops::mul(half, half)))[0];
          },
          0.25 * count),
  };
}

}  // namespace ohm::truth
