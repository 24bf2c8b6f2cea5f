#include "runtime/ops/pointwise/inplace_binary.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_front.h"
#include "runtime/ops/pointwise/whole_functors.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAddInplace{"add_"};
constexpr OpInfo kSubInplace{"sub_"};
constexpr OpInfo kMulInplace{"mul_"};
constexpr OpInfo kDivInplace{"div_"};
constexpr OpInfo kZeroInplace{"zero_"};
constexpr OpInfo kFillInplace{"fill_"};
constexpr OpInfo kNormalInplace{"normal_"};
constexpr OpInfo kUniformInplace{"uniform_"};

// The input of an in-place op as backward needs it: a copy, for its own values are overwritten.
Tensor kept_input(const Recorder& record, const Tensor& input) {
  return record.needs(1) ? copy_of(input) : Tensor();
}

// One in-place op: checks, records what backward needs before the write, writes.
template <class Write, class Save, class Attach>
Tensor binary_inplace(const OpInfo& info, std::string_view node, const Tensor& input,
                      const TensorOrNumber& other, Write write, Save save, Attach attach) {
  const OpFront front(info);
  require_writable(info, input, other, result_dtype(input, other));
  Recorder record = Recorder::overwriting(info.name, node, {&input, &tensor_of(other)});
  if (record.is_needed()) save(record);
  begin_inplace_write(input, info.name);
  write();
  if (record.is_needed()) attach(record);
  return input;
}

// input[i] = fn(input[i], other[i])
template <class F>
auto overwrite(const Tensor& input, const TensorOrNumber& other, F fn) {
  return [&input, &other, fn] { map_elements(input, input.dtype(), fn, input, input_of(other)); };
}

void add_term(const Tensor& input, const TensorOrNumber& other, const Term& term) {
  if (const std::optional<WholeScaledSum> sum = whole_scaled_sum(term, input.dtype())) {
    return map_elements(input, input.dtype(), *sum, input, input_of(other));
  }
  map_elements(input, input.dtype(), functors::ScaledSum{term.factor()}, input, input_of(other));
}

Tensor add_scaled_inplace(const OpInfo& info, std::string_view node, const Tensor& input,
                          const TensorOrNumber& other, const Term& term) {
  return binary_inplace(
      info, node, input, other, [&] { add_term(input, other, term); }, [](Recorder&) {},
      [&input, term](Recorder& record) {
        record.attach_differentiable(
            input, [term](BackwardCall& call) { return add_gradients(call, term); });
      });
}

// What was there has no influence on what is: its gradient is zeros.
template <class Write>
Tensor overwritten(const OpInfo& info, std::string_view node, const Tensor& input, Write write) {
  const OpFront front(info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  write();
  if (record.is_needed()) {
    record.attach(input, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  }
  return input;
}

}  // namespace

Tensor add_(const Tensor& input, const TensorOrNumber& other, double alpha) {
  return add_scaled_inplace(kAddInplace, "AddBackward", input, other, {alpha, false});
}

Tensor sub_(const Tensor& input, const TensorOrNumber& other, double alpha) {
  require_no_mask(kSubInplace.name, input, other);
  return add_scaled_inplace(kSubInplace, "SubBackward", input, other, {alpha, true});
}

Tensor mul_(const Tensor& input, const TensorOrNumber& other) {
  return binary_inplace(
      kMulInplace, "MulBackward", input, other, overwrite(input, other, functors::Product()),
      [&](Recorder& record) {
        record.save(record.needs(0) ? tensor_of(other) : Tensor());
        record.save(kept_input(record, input));
      },
      [&](Recorder& record) {
        // The copy of what was overwritten has no graph: this is differentiated once only.
        record.attach(input,
                      [number = number_of(other), scalar = is_number(other)](BackwardCall& call) {
                        return mul_gradients(call, number, scalar);
                      });
      });
}

Tensor div_(const Tensor& input, const TensorOrNumber& other) {
  require_floating(input, kDivInplace);
  return binary_inplace(
      kDivInplace, "DivBackward", input, other, overwrite(input, other, functors::Quotient()),
      [&](Recorder& record) {
        record.save(tensor_of(other));
        record.save(kept_input(record, input));
      },
      [&](Recorder& record) {
        // The copy of what was overwritten has no graph: this is differentiated once only.
        record.attach(input,
                      [number = number_of(other), scalar = is_number(other)](BackwardCall& call) {
                        return div_gradients(call, number, scalar);
                      });
      });
}

// All elements may be one in memory: they are the same.
Tensor fill_(const Tensor& input, double value) {
  return overwritten(kFillInplace, "FillBackward", input, [&] {
    input.bump_version();
    fill_values(input, value);
  });
}

Tensor zero_(const Tensor& input) { return fill_(input, 0.0); }

Tensor normal_(const Tensor& input, double mean, double deviation) {
  require_floating(input, kNormalInplace);
  if (!(deviation >= 0.0)) {
    throw std::invalid_argument(
        fmt::format("[normal_] expects std >= 0.0, but found std {}", deviation));
  }
  return overwritten(kNormalInplace, "NormalBackward", input, [&] {
    begin_inplace_write(input, kNormalInplace.name);
    fill_normal(input, mean, deviation);
  });
}

Tensor uniform_(const Tensor& input, double low, double high) {
  require_floating(input, kUniformInplace);
  if (!(low <= high)) {
    throw std::invalid_argument(fmt::format(
        "[uniform_] expects to return a [from, to) range, but found from={} > to={}", low, high));
  }
  return overwritten(kUniformInplace, "UniformBackward", input, [&] {
    begin_inplace_write(input, kUniformInplace.name);
    fill_uniform(input, low, high);
  });
}

std::vector<OpDef> inplace_ops() {
  const ParamName alpha{"alpha", Value(1.0)};
  return {
      define(kAddInplace, kMethod, &add_, {"input", "other", alpha}),
      define(kSubInplace, kMethod, &sub_, {"input", "other", alpha}),
      define(kMulInplace, kMethod, &mul_, {"input", "other"}),
      define(kDivInplace, kMethod, &div_, {"input", "other"}),
      define(kZeroInplace, kMethod, &zero_, {"input"}),
      define(kFillInplace, kMethod, &fill_, {"input", "value"}),
  };
}

}  // namespace ohm::ops
