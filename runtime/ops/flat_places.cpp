#include "runtime/ops/flat_places.h"

#include <fmt/core.h>

#include <stdexcept>
#include <type_traits>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/strided.h"
#include "runtime/base/wrapping.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/index_places.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kTake{"take"};
constexpr OpInfo kPut{"put"};
constexpr OpInfo kPutInplace{"put_"};

void require_numbers(const OpInfo& info, const Tensor& input, const Tensor& index) {
  require_same_device(input, index, info);
  if (index.dtype() != DType::int64 || index.device() != input.device()) {
    throw std::invalid_argument(fmt::format("[{}] expected an int64 index on {}, got {}", info.name,
                                            input.device().str(), describe(index)));
  }
  if (input.numel() == 0 && index.numel() != 0) {
    throw std::invalid_argument(
        fmt::format("[{}] tried to reach elements of an empty tensor", info.name));
  }
  if (input.has_values() && index.has_values()) {
    require_places(info, index, {input.numel(), true});
  }
}

void require_source(const OpInfo& info, const Tensor& input, const Tensor& index,
                    const Tensor& source) {
  if (source.dtype() == input.dtype() && source.device() == input.device() &&
      source.numel() == index.numel()) {
    return;
  }
  throw std::invalid_argument(fmt::format(
      "[{}] expected a source of the input's dtype and device, with an element for each of {}, got "
      "{} for {}",
      info.name, index.shape().str(), describe(source), describe(input)));
}

// The offset of the element of this number, which may count from the end.
std::int64_t offset_of(const Tensor& tensor, std::int64_t number) {
  std::int64_t left = number < 0 ? number + tensor.numel() : number;
  std::int64_t offset = 0;
  for (int dim = tensor.dims() - 1; dim >= 0; --dim) {
    offset += left % tensor.shape()[dim] * tensor.strides()[dim];
    left /= tensor.shape()[dim];
  }
  return offset;
}

void read_numbers(const Tensor& out, const Tensor& input, const Tensor& index) {
  if (!out.has_values() || lacks_values(input) || lacks_values(index) || out.numel() == 0) return;
  const std::vector<std::int64_t> numbers = to_integers(index);
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const elements = input.data<const T>();
    T* element = out.data<T>();
    for (const std::int64_t number : numbers) *element++ = elements[offset_of(input, number)];
  });
}

template <class T>
T added(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    return wrapping_sum(a, b);
  } else {
    return convert_element<T>(convert_element<double>(a) + convert_element<double>(b));
  }
}

void write_numbers(const Tensor& out, const Tensor& index, const Tensor& source, bool accumulate) {
  if (!out.has_values() || lacks_values(index) || lacks_values(source)) return;
  const std::vector<std::int64_t> numbers = to_integers(index);
  visit_dtype(out.dtype(), [&]<class T>(TypeTag<T>) {
    T* const elements = out.data<T>();
    const T* const given = source.data<const T>();
    auto number = numbers.begin();
    for_each_offset(source.shape(), source.strides(), [&](std::int64_t offset) {
      T& element = elements[offset_of(out, *number++)];
      element = accumulate ? added(element, given[offset]) : given[offset];
    });
  });
}

Tensor put_with(const OpInfo& info, const Tensor& input, const Tensor& index, const Tensor& source,
                bool accumulate, bool is_inplace) {
  const OpFront front(info);
  require_numbers(info, input, index);
  require_source(info, input, index, source);
  if (is_inplace) require_no_partial_overlap(input, source, info.name);
  constexpr const char* kNode = "PutBackward";
  Recorder record = is_inplace ? Recorder::overwriting(info.name, kNode, {&input, &source})
                               : Recorder(kNode, {&input, &source});
  record.save(index);
  record.save(record.needs(1) ? source : Tensor());  // for its shape alone
  const Tensor out = is_inplace ? input : copy_of(input);
  if (is_inplace) begin_inplace_write(input, info.name);
  if (index.numel() != 0) {
    const Tensor places = reshape(index, source.shape());
    write_numbers(out, places, source, accumulate);
  }
  record.attach_differentiable(out, [accumulate, shape = source.shape()](BackwardCall& call) {
    const Tensor places = call.saved(0);
    const Tensor& grad = call.grad();
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) {
      grads[0] = accumulate ? grad : put(grad, places, zeros(shape, options_of(grad)), false);
    }
    if (call.needs(1)) grads[1] = reshape(take(grad, places), shape);
    return grads;
  });
  return out;
}

std::vector<Sample> numbered_samples(const std::vector<Value>& further) {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Tensor index = from_values({5, 0, -1, 5}, {2, 2}, {DType::int64, Device::cpu()});
  std::vector<Sample> samples{{randn({3, 4}, options), index}};
  samples[0].insert(samples[0].end(), further.begin(), further.end());
  return samples;
}

std::vector<Sample> put_numbers() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return numbered_samples({randn({4}, options), true});
}

}  // namespace

Tensor take(const Tensor& input, const Tensor& index) {
  const OpFront front(kTake);
  require_numbers(kTake, input, index);
  Recorder record("TakeBackward", {&input});
  record.save(index);
  record.save(input);
  Tensor out = empty(index.shape(), options_of(input));
  read_numbers(out, input, index);
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor like = call.saved(1);
    const Tensor whole = zeros_like(like);
    return TensorList{put_(whole, call.saved(0), call.grad(), true)};
  });
  return out;
}

Tensor put(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate) {
  return put_with(kPut, input, index, source, accumulate, false);
}

Tensor put_(const Tensor& input, const Tensor& index, const Tensor& source, bool accumulate) {
  return put_with(kPutInplace, input, index, source, accumulate, true);
}

std::vector<OpDef> flat_place_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName accumulate{"accumulate", false};
  return {
      define(kTake, kBoth, &take, {"input", "index"}, [] { return numbered_samples({}); }),
      define(kPut, kBoth, &put, {"input", "index", "source", accumulate}, put_numbers),
      define(kPutInplace, kMethod, &put_, {"input", "index", "source", accumulate}),
  };
}

}  // namespace ohm::ops
