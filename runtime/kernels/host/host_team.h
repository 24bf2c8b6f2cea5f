// The host as the team that computes a row: see runtime/kernels/functors/rows.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "allocator_shim/base/assert.h"
#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/digit_sort.h"
#include "runtime/kernels/functors/element_run.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/two_sums.h"

namespace ohm {

struct HostTeam {
  template <class Compute>
  static Compute element(const functors::ElementRun& run, std::int64_t i) {
    return load<Compute>(*run.operand, run.offset(i));
  }
  /// Most elements are of the type that rows compute with, and need no conversion.
  template <class Compute>
  static constexpr bool is_stored_as(DType dtype) {
    if constexpr (std::is_same_v<Compute, float>) return dtype == DType::float32;
    if constexpr (std::is_same_v<Compute, double>) return dtype == DType::float64;
    if constexpr (std::is_same_v<Compute, std::int64_t>) return dtype == DType::int64;
    return false;
  }

  template <class Compute>
  static Compute load(const RowOperand& operand, std::int64_t offset) {
    OHM_ASSERT(offset >= 0 && offset < operand.count, "an element of the operand");
    if (is_stored_as<Compute>(operand.dtype)) {
      return reinterpret_cast<const Compute*>(operand.address)[offset];
    }
    // What is folded or summed is read in double precision.
    if (std::is_same_v<Compute, double> && operand.dtype == DType::float32) {
      return static_cast<Compute>(reinterpret_cast<const float*>(operand.address)[offset]);
    }
    return visit_dtype(operand.dtype, [&]<class Stored>(TypeTag<Stored>) {
      return convert_element<Compute>(reinterpret_cast<const Stored*>(operand.address)[offset]);
    });
  }
  template <class Value>
  static void store(const RowOperand& operand, std::int64_t offset, Value value) {
    OHM_ASSERT(offset >= 0 && offset < operand.count, "an element of the operand");
    if (is_stored_as<Value>(operand.dtype)) {
      reinterpret_cast<Value*>(operand.address)[offset] = value;
      return;
    }
    visit_dtype(operand.dtype, [&]<class Stored>(TypeTag<Stored>) {
      reinterpret_cast<Stored*>(operand.address)[offset] = convert_element<Stored>(value);
    });
  }
  static void keep_least(const RowOperand& operand, std::int64_t value) {
    auto* const kept = reinterpret_cast<std::int64_t*>(operand.address);
    *kept = std::min(*kept, value);
  }
  template <class Visit>
  static void each(std::int64_t size, const Visit& visit) {
    for (std::int64_t i = 0; i < size; ++i) visit(i);
  }
  template <class Visit>
  static void once(const Visit& visit) {
    visit();
  }
  static void meet() {}
  template <class Of>
  static auto sum(std::int64_t size, const Of& of) {
    decltype(of(0)) sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum = wrapping_sum(sum, of(i));
    return sum;
  }
  template <class Value, class Of, class Combine>
  static Value fold(std::int64_t size, Value start, const Of& of, const Combine& combine) {
    for (std::int64_t i = 0; i < size; ++i) start = combine(start, of(i));
    return start;
  }
  // Of elements of runs, as Compute.
  template <class Compute, class Of, class... Runs>
  static auto sum_along(std::int64_t size, const Of& of, const Runs&... runs) {
    return sum(size, [&](std::int64_t i) { return of(element<Compute>(runs, i)...); });
  }
  template <class Compute, class Of, class... Runs>
  static functors::TwoSums two_sums_along(std::int64_t size, const Of& of, const Runs&... runs) {
    functors::TwoSums sums;
    for (std::int64_t i = 0; i < size; ++i) sums = sums + of(element<Compute>(runs, i)...);
    return sums;
  }
  template <class Compute, class Of, class... Runs>
  static auto largest_along(std::int64_t size, const Of& of, const Runs&... runs) {
    return largest(size, [&](std::int64_t i) { return of(element<Compute>(runs, i)...); });
  }
  template <class Compute, class Of, class... Runs>
  static void store_along(std::int64_t size, const functors::ElementRun& to, const Of& of,
                          const Runs&... runs) {
    each(size, [&](std::int64_t i) {
      store(*to.operand, to.offset(i), of(element<Compute>(runs, i)...));
    });
  }
  template <class Of, class Visit>
  static void scan(std::int64_t size, const Of& of, const Visit& visit) {
    decltype(of(0)) sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      sum = wrapping_sum(sum, of(i));
      visit(i, sum);
    }
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
  /// store(column, Σ weight(i) · of(i, column)) for each column.
  template <class Weight, class Of, class Store>
  static void weighted_sums(std::int64_t count, std::int64_t columns, const Weight& weight,
                            const Of& of, const Store& store) {
    std::vector<float> weights;
    for (std::int64_t i = 0; i < count; ++i) weights.push_back(weight(i));
    for (std::int64_t column = 0; column < columns; ++column) {
      double sum = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        sum += static_cast<double>(weights[static_cast<std::size_t>(i)] * of(i, column));
      }
      store(column, sum);
    }
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
  // Digits of a tile: see digit_sort.h.
  template <class Element, class Found>
  static void count_digits(std::int64_t count, const functors::DigitOrder& order,
                           const functors::ElementRun& elements, const Found& found) {
    std::array<std::int64_t, functors::DigitOrder::kValues> counts{};
    for (std::int64_t i = 0; i < count; ++i)
      ++counts.at(order.digit(element<Element>(elements, i)));
    for (std::size_t digit = 0; digit < counts.size(); ++digit) {
      found(static_cast<std::int64_t>(digit), counts.at(digit));
    }
  }
  template <class Element, class InAll, class InTilesBefore, class PutElement, class PutPlace>
  static void move_by_digit(const functors::MovedTile& tile, const functors::DigitOrder& order,
                            const InAll& in_all, const InTilesBefore& in_tiles_before,
                            const PutElement& put_element, const PutPlace& put_place) {
    std::array<std::int64_t, functors::DigitOrder::kValues> next{};
    std::int64_t lower = 0;
    for (std::size_t digit = 0; digit < next.size(); ++digit) {
      const auto value = static_cast<std::int64_t>(digit);
      next.at(digit) = wrapping_sum(lower, in_tiles_before(value));
      lower = wrapping_sum(lower, in_all(value));
    }
    for (std::int64_t i = 0; i < tile.count; ++i) {
      const auto moved = element<Element>(tile.elements, i);
      const std::int64_t to = next.at(order.digit(moved))++;
      put_element(to, moved);
      put_place(to, tile.places.operand->address == 0 ? tile.first_place + i
                                                      : element<std::int64_t>(tile.places, i));
    }
  }
};

}  // namespace ohm
