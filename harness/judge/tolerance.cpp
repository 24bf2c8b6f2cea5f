#include "harness/judge/tolerance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "runtime/base/dtype.h"

namespace ohm::engine {

namespace {

struct DtypeRow {
  std::string_view name;
  Tolerance tolerance;
  bool exact = false;  ///< integers, booleans and strings are equal or not
};

constexpr DtypeRow exact(std::string_view name) { return {name, {}, true}; }

// A relative tolerance is some hundred units in the last place of float64 and float32, some ten of
// the others: sums of thousands of terms in another order pass, the next coarser dtype used by
// mistake does not.
constexpr std::array<DtypeRow, 13> kComparedTypes = {{
    exact(name_of(ScriptType::string)),
    exact(name_of(ScriptType::boolean)),
    exact(name_of(ScriptType::integer)),
    exact(name_of(DType::boolean)),
    exact(name_of(DType::uint8)),
    exact(name_of(DType::int8)),
    exact(name_of(DType::int16)),
    exact(name_of(DType::int32)),
    exact(name_of(DType::int64)),
    {name_of(DType::float64), {1e-9, 1e-14}},
    {name_of(DType::float32), {1e-4, 4e-6}},
    {name_of(DType::float16), {1e-2, 4e-3}},
    {name_of(DType::bfloat16), {5e-2, 3e-2}},
}};

constexpr bool has_row(std::string_view name) {
  return std::any_of(kComparedTypes.begin(), kComparedTypes.end(),
                     [&](const DtypeRow& row) { return row.name == name; });
}
static_assert(std::all_of(kDTypes.begin(), kDTypes.end(),
                          [](const DTypeInfo& dtype) { return has_row(dtype.name); }),
              "every dtype has a tolerance");

// A script's own number says nothing of its precision: it came from item(), or from arithmetic on
// such numbers. Alone it counts as PyTorch's default dtype.
constexpr std::string_view kNumber = name_of(ScriptType::number);
constexpr std::string_view kDefaultDtype = name_of(DType::float32);

std::size_t type_index(std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < kComparedTypes.size(); ++i) {
    if (kComparedTypes[i].name == name) return i;
    known.emplace_back(kComparedTypes[i].name);
  }
  throw std::invalid_argument(
      fmt::format("unknown dtype \"{}\"{}", name, did_you_mean(name, known)));
}

}  // namespace

Tolerance tolerance_of(std::string_view dtype) {
  return kComparedTypes[type_index(dtype)].tolerance;
}

Tolerance tolerance_of_value(std::string_view dtype) {
  return tolerance_of(dtype == kNumber ? kDefaultDtype : dtype);
}

std::string_view deciding_dtype(const ReturnedValue& reference, std::string_view compare_as) {
  const std::string_view own = reference.dtype == kNumber ? kDefaultDtype : reference.dtype;
  const bool is_replaced = !compare_as.empty() && !kComparedTypes[type_index(own)].exact;
  return is_replaced ? compare_as : own;
}

bool is_exact(const ReturnedValue& value) {
  return value.dtype != kNumber && kComparedTypes[type_index(value.dtype)].exact;
}

std::int64_t integer_at(const ReturnedValue& value, std::size_t index) {
  return value.integers.empty() ? static_cast<std::int64_t>(value.values[index])
                                : value.integers[index];
}

}  // namespace ohm::engine
