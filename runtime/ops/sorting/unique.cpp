#include "runtime/ops/sorting/unique.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kUnique{"unique"};
constexpr OpInfo kUniqueConsecutive{"unique_consecutive"};

enum class Order : bool { ascending, as_given };

// ---- values -------------------------------------------------------------------------------------

/// The runs of equal elements, in the order in which they come.
struct Runs {
  std::vector<std::int64_t> firsts;  ///< the place of each run's first element
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> of_element;
};

template <class T>
Runs runs_of(const std::vector<T>& values, Order order) {
  std::vector<std::size_t> places(values.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (order == Order::ascending) {
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      const T x = values[a];
      const T y = values[b];
      return x < y || (x == x && y != y);
    });
  }
  Runs runs;
  runs.of_element.resize(values.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == 0 || !(values[places[i]] == values[places[i - 1]])) {
      runs.firsts.push_back(static_cast<std::int64_t>(places[i]));
      runs.lengths.push_back(0);
    }
    ++runs.lengths.back();
    runs.of_element[places[i]] = static_cast<std::int64_t>(runs.firsts.size()) - 1;
  }
  return runs;
}

void store_numbers(const Tensor& target, const std::vector<std::int64_t>& numbers) {
  if (!target.defined() || !target.has_values()) return;
  std::copy(numbers.begin(), numbers.end(), target.data<std::int64_t>());
}

// ---- memory -------------------------------------------------------------------------------------

/// What the kernels take, in their order: a sort, the numbers of runs, their first elements.
class UniqueKernels {
 public:
  UniqueKernels(const Tensor& input, Order order, const UniqueParts& parts)
      : input_(input), order_(order), parts_(parts), dense_(row_major(input)) {
    if (order_ == Order::ascending && is_on_cuda()) sort();
    if (parts_.inverse) number_runs();
    take_firsts();
  }
  UniqueKernels(const UniqueKernels&) = delete;
  UniqueKernels& operator=(const UniqueKernels&) = delete;
  ~UniqueKernels() {
    order_of_sorted_ = Tensor();
    sorted_ = Tensor();
  }

  /// With the runs' number of elements; the memory is what as many as in the input take.
  DifferentElements results(const Runs& runs) const {
    const auto count = static_cast<std::int64_t>(runs.firsts.size());
    const auto shortened = [count](const Tensor& tensor) {
      return tensor.defined() ? make_view(tensor, {count}, {1}, 0) : tensor;
    };
    return {shortened(values_), inverse_, shortened(counts_)};
  }

 private:
  bool is_on_cuda() const { return input_.device().is_cuda(); }
  std::int64_t count() const { return input_.numel(); }
  Tensor numbers(DType dtype = DType::int64) const {
    return empty({count()}, {dtype, input_.device()});
  }
  void scratch(std::int64_t bytes) const {
    const Tensor taken = empty_bytes(bytes, input_.device());
  }

  void sort() {
    sorted_ = empty({count()}, options_of(input_));
    if (!parts_.inverse) {
      scratch(key_sort_scratch_bytes(count(), input_.dtype(), input_.device()));
      return;
    }
    const Tensor range = numbers();
    order_of_sorted_ = numbers();
    scratch(numbered_sort_scratch_bytes(count(), input_.dtype(), input_.device()));
  }

  void number_runs() {
    inverse_ = empty(input_.shape(), {DType::int64, input_.device()});
    if (!is_on_cuda()) return;
    const Tensor places = numbers(order_ == Order::ascending ? DType::int64 : DType::int32);
    scratch(run_number_scratch_bytes(count(), input_.device()));
  }

  void take_firsts() {
    values_ = empty({count()}, options_of(input_));
    Tensor length = is_on_cuda() ? empty({1}, {DType::int64, input_.device()}) : Tensor();
    if (parts_.counts) counts_ = numbers();
    if (!is_on_cuda()) return;
    scratch(parts_.counts ? run_length_scratch_bytes(count(), input_.device())
                          : distinct_scratch_bytes(count(), input_.dtype(), input_.device()));
  }

  Tensor input_;
  Order order_;
  UniqueParts parts_;
  Tensor dense_;
  Tensor sorted_;
  Tensor order_of_sorted_;
  Tensor inverse_;
  Tensor values_;
  Tensor counts_;
};

// Bools are not sorted: a kernel counts those that are true, and the result has room for both.
class UniqueBools {
 public:
  UniqueBools(const Tensor& input, const UniqueParts& parts)
      : parts_(parts), dense_(row_major(input)) {
    const TensorOptions numbers{DType::int64, input.device()};
    count_ = empty({}, {DType::int32, input.device()});
    {
      const Tensor sum =
          empty_bytes(device_sum_scratch_bytes(input.numel(), input.device()), input.device());
    }
    values_ = empty({2}, options_of(input));
    counts_of_both_ = empty({2}, numbers);
    if (parts_.inverse) inverse_ = empty(input.shape(), numbers);
  }
  UniqueBools(const UniqueBools&) = delete;
  UniqueBools& operator=(const UniqueBools&) = delete;
  ~UniqueBools() {
    count_ = Tensor();
    dense_ = Tensor();
  }

  DifferentElements results(const Runs& runs) const {
    const auto count = static_cast<std::int64_t>(runs.firsts.size());
    const Tensor counts = parts_.counts ? make_view(counts_of_both_, {count}, {1}, 0) : Tensor();
    return {make_view(values_, {count}, {1}, 0), inverse_, counts};
  }

 private:
  UniqueParts parts_;
  Tensor counts_of_both_;
  Tensor dense_;
  Tensor count_;
  Tensor values_;
  Tensor inverse_;
};

DifferentElements memory_for(const Tensor& input, Order order, const UniqueParts& parts,
                             const Runs& runs) {
  const bool is_counted =
      order == Order::ascending && input.dtype() == DType::boolean && input.device().is_cuda();
  if (is_counted) return UniqueBools(input, parts).results(runs);
  return UniqueKernels(input, order, parts).results(runs);
}

DifferentElements different_elements(const Tensor& input, Order order, const UniqueParts& parts) {
  if (input.numel() == 0) {
    const TensorOptions numbers{DType::int64, input.device()};
    return {empty({0}, options_of(input)), parts.inverse ? empty(input.shape(), numbers) : Tensor(),
            parts.counts ? empty({0}, numbers) : Tensor()};
  }
  Runs runs;
  visit_numbers(input, [&](const auto& values) { runs = runs_of(values, order); });
  const DifferentElements result = memory_for(input, order, parts, runs);
  store_numbers(result.inverse, runs.of_element);
  store_numbers(result.counts, runs.lengths);
  visit_numbers(input, [&](const auto& values) {
    visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
      T* element = result.values.data<T>();
      for (const std::int64_t first : runs.firsts) {
        *element++ = convert_element<T>(values[static_cast<std::size_t>(first)]);
      }
    });
  });
  return result;
}

DifferentElements unique_of(const OpInfo& info, const Tensor& input, Order order,
                            const UniqueParts& parts) {
  const OpFront front(info);
  require_known_values(info, input);
  Recorder record("NotImplemented", {&input});
  const DifferentElements result = different_elements(input, order, parts);
  record.attach(result.values, [name = info.name](BackwardCall&) -> TensorList {
    throw std::invalid_argument(
        fmt::format("[{}] the derivative is not implemented, as in PyTorch", name));
  });
  return result;
}

Value parts_of(const DifferentElements& found) {
  std::vector<Tensor> parts{found.values};
  if (found.inverse.defined()) parts.push_back(found.inverse);
  if (found.counts.defined()) parts.push_back(found.counts);
  if (parts.size() == 1) return parts[0];
  return parts;
}

// PyTorch sorts where `sorted` is false, too.
Value unique_row(const Tensor& input, bool /*sorted*/, bool return_inverse, bool return_counts) {
  return parts_of(unique(input, {return_inverse, return_counts}));
}
Value unique_consecutive_row(const Tensor& input, bool return_inverse, bool return_counts) {
  return parts_of(unique_consecutive(input, {return_inverse, return_counts}));
}

}  // namespace

DifferentElements unique(const Tensor& input, const UniqueParts& parts) {
  return unique_of(kUnique, input, Order::ascending, parts);
}
DifferentElements unique_consecutive(const Tensor& input, const UniqueParts& parts) {
  return unique_of(kUniqueConsecutive, input, Order::as_given, parts);
}

std::vector<OpDef> unique_ops() {
  const ParamName inverse{"return_inverse", false};
  const ParamName counts{"return_counts", false};
  return {
      define(kUnique, kPythonFunction | kMethod, &unique_row,
             {"input", {"sorted", true}, inverse, counts}),
      define(kUniqueConsecutive, kPythonFunction | kMethod, &unique_consecutive_row,
             {"input", inverse, counts}),
  };
}

}  // namespace ohm::ops
