// What the kernels of lines have to compute: the same formulas with a team of one, the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allocator_shim/observe/assert.h"
#include "runtime/ops/kernels/formula_list.h"
#include "runtime/ops/kernels/kernel_module.h"
#include "runtime/tensor/card_lines.h"
#include "runtime/tensor/wrapping.h"

namespace ohm::ops::kernels {

/// See LoopKernel.
struct LineKernel {
  std::string_view formula;
  DType dtype = DType::float32;
  int indices = -1;  ///< the operand that holds numbers of lines; -1: none
  const void* parameters = nullptr;
  void (*twin)(const CardLines& lines, const void* parameters) = nullptr;

  std::string symbol() const { return kernel_symbol(formula, dtype); }
};

namespace detail {

struct HostTeam {
  template <class Compute>
  static Compute load(const LineOperand& operand, std::int64_t offset) {
    OHM_ASSERT(offset >= 0 && offset < operand.count, "an element of the operand");
    return visit_dtype(operand.dtype, [&]<class Stored>(TypeTag<Stored>) {
      return convert_element<Compute>(reinterpret_cast<const Stored*>(operand.address)[offset]);
    });
  }
  template <class Value>
  static void store(const LineOperand& operand, std::int64_t offset, Value value) {
    OHM_ASSERT(offset >= 0 && offset < operand.count, "an element of the operand");
    visit_dtype(operand.dtype, [&]<class Stored>(TypeTag<Stored>) {
      reinterpret_cast<Stored*>(operand.address)[offset] = convert_element<Stored>(value);
    });
  }
  template <class Visit>
  static void each(std::int64_t size, const Visit& visit) {
    for (std::int64_t i = 0; i < size; ++i) visit(i);
  }
  template <class Visit>
  static void once(const Visit& visit) {
    visit();
  }
  template <class Of>
  static auto sum(std::int64_t size, const Of& of) {
    decltype(of(0)) sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum = wrapping_sum(sum, of(i));
    return sum;
  }
  template <class Of>
  static auto largest(std::int64_t size, const Of& of) {
    auto largest = -std::numeric_limits<decltype(of(0))>::infinity();
    for (std::int64_t i = 0; i < size; ++i) {
      const auto value = of(i);
      if (largest < value) largest = value;
    }
    return largest;
  }
  template <class Key, class Precedes, class At, class Put>
  static void sort(std::int64_t size, const Precedes& precedes, const At& at, const Put& put) {
    std::vector<std::pair<Key, std::int64_t>> elements;
    for (std::int64_t i = 0; i < size; ++i) elements.emplace_back(at(i), i);
    std::stable_sort(elements.begin(), elements.end(),
                     [&](const auto& a, const auto& b) { return precedes(a.first, b.first); });
    for (std::int64_t i = 0; i < size; ++i) {
      const auto& [key, place] = elements[static_cast<std::size_t>(i)];
      put(i, key, place);
    }
  }
};

template <class Formula, class Compute>
void line_twin(const CardLines& lines, const void* parameters) {
  const auto& formula = *static_cast<const Formula*>(parameters);
  for (std::uint64_t line = 0; line < lines.count; ++line) {
    formula.template run<Compute>(HostTeam(), lines, line);
  }
}

template <class Formula>
struct VerifiedLine {
  template <class... Parameters>
  static const Formula* with(Parameters... parameters) {
    static const Formula formula{parameters...};
    return &formula;
  }
};

}  // namespace detail

/// Every kernel, in the order of the list.
inline std::vector<LineKernel> line_kernels() {
  std::vector<LineKernel> all;
#define OHM_KERNEL(name, Formula, indices, type, Compute, ...)               \
  static_assert(std::string_view(formulas::Formula::kKernel) == #name);      \
  all.push_back({#name, DType::type, indices,                                \
                 detail::VerifiedLine<formulas::Formula>::with(__VA_ARGS__), \
                 detail::line_twin<formulas::Formula, Compute>});
#define OHM_ROW(name, Formula, indices, ...)                                    \
  OHM_KERNEL(name, Formula, indices, float32, float __VA_OPT__(, ) __VA_ARGS__) \
  OHM_KERNEL(name, Formula, indices, float64, double __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_FLOATING_LINE(OHM_ROW)
  OHM_FOR_EACH_POOLING_LINE(OHM_ROW)
  OHM_FOR_EACH_SORTED_TILE(OHM_ROW)
  OHM_FOR_EACH_SORTING_LINE(OHM_ROW)
  OHM_FOR_EACH_GENERAL_LINE(OHM_ROW)
#undef OHM_ROW
#define OHM_ROW(name, Formula, indices, ...) \
  OHM_KERNEL(name, Formula, indices, int64, std::int64_t __VA_OPT__(, ) __VA_ARGS__)
  OHM_FOR_EACH_GENERAL_LINE(OHM_ROW)
#undef OHM_ROW
#undef OHM_KERNEL
  return all;
}

}  // namespace ohm::ops::kernels
