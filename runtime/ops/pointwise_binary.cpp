#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/formula.h"
#include "runtime/ops/pointwise.h"

namespace ohm::ops {
namespace {

using formula::negated;
using formula::times;

constexpr OpInfo kAdd{"add"};
constexpr OpInfo kSub{"sub"};
constexpr OpInfo kRsub{"rsub"};
constexpr OpInfo kMul{"mul"};
constexpr OpInfo kDiv{"div"};
constexpr OpInfo kMaximum{"maximum"};
constexpr OpInfo kMinimum{"minimum"};
constexpr OpInfo kWhere{"where"};
constexpr OpInfo kAddInplace{"add_"};
constexpr OpInfo kSubInplace{"sub_"};
constexpr OpInfo kMulInplace{"mul_"};
constexpr OpInfo kDivInplace{"div_"};
constexpr OpInfo kZeroInplace{"zero_"};
constexpr OpInfo kFillInplace{"fill_"};

constexpr formulas::Product kProduct;
constexpr formulas::Quotient kQuotient;

Tensor product(const Tensor& a, const TensorOrNumber& b) {
  return binary_new(kMul, a, b, result_dtype(a, b), kProduct);
}

Tensor gradient_product(const Tensor& grad, const Tensor& factor) {
  return formula::is_recorded() ? mul(grad, factor) : product(grad, factor);
}

// input + alpha · other, or input − alpha · other.
struct Term {
  double alpha = 1.0;
  bool is_subtracted = false;

  double factor() const { return is_subtracted ? -alpha : alpha; }
};

// d/d other; the gradient of `input` is the incoming one itself.
TensorList add_gradients(BackwardCall& call, const Term& term) {
  TensorList grads{call.needs(0) ? call.grad() : Tensor(), Tensor()};
  if (call.needs(1)) {
    const Tensor signed_grad = term.is_subtracted ? negated(call.grad()) : call.grad();
    grads[1] = term.alpha == 1.0 ? signed_grad : times(signed_grad, term.alpha);
  }
  return grads;
}

formulas::ScaledSum scaled_sum(const Term& term) { return {term.factor()}; }

Tensor add_scaled(const OpInfo& info, std::string_view node, const Tensor& input,
                  const TensorOrNumber& other, const Term& term) {
  const OpFront front(info);
  Tensor out = binary_new(info, input, other, result_dtype(input, other), scaled_sum(term));
  if (Recorder record(node, {&input, &tensor_of(other)}); record.is_needed()) {
    record.attach_differentiable(out,
                                 [term](BackwardCall& call) { return add_gradients(call, term); });
  }
  return out;
}

// The operands of a product or quotient, as far as their gradients need them, in the order in which
// PyTorch releases them: saved slot 0 is the other one, slot 1 the input.
void save_operands(Recorder& record, const Tensor& input, bool saves_input, const Tensor& other,
                   bool saves_other) {
  record.save(saves_other ? other : Tensor());
  record.save(saves_input ? input : Tensor());
}

TensorList mul_gradients(BackwardCall& call, double number, bool is_number) {
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(1)) grads[1] = gradient_product(call.grad(), call.saved(1));
  if (call.needs(0)) {
    grads[0] =
        is_number ? times(call.grad(), number) : gradient_product(call.grad(), call.saved(0));
  }
  return grads;
}

TensorList div_gradients(BackwardCall& call, double number, bool is_number) {
  TensorList grads{Tensor(), Tensor()};
  if (call.needs(1)) {
    const Tensor other = call.saved(0);
    const Tensor ratio = formula::quotient(call.saved(1), other);
    const Tensor slope = formula::quotient(ratio, other);
    const Tensor opposite = negated(call.grad());
    grads[1] = gradient_product(opposite, slope);
  }
  if (call.needs(0)) {
    grads[0] = is_number ? times(call.grad(), 1.0 / number)
                         : formula::quotient(call.grad(), call.saved(0));
  }
  return grads;
}

double number_of(const TensorOrNumber& operand) {
  const double* number = std::get_if<double>(&operand);
  return number == nullptr ? 0.0 : *number;
}

bool is_number(const TensorOrNumber& operand) { return std::holds_alternative<double>(operand); }

// An in-place result must fit what it is written into.
void require_writable(const OpInfo& info, const Tensor& input, const TensorOrNumber& other,
                      DType result) {
  if (const Tensor* tensor = std::get_if<Tensor>(&other)) {
    require_same_device(input, *tensor, info);
    if (!(broadcast_shapes(input.shape(), tensor->shape(), info.name.data()) == input.shape())) {
      throw std::invalid_argument(
          fmt::format("[{}] output with shape {} doesn't match the broadcast shape of {}",
                      info.name, input.shape().str(), tensor->shape().str()));
    }
    require_no_partial_overlap(input, *tensor, info.name);
  }
  if (is_floating(result) && !is_floating(input.dtype())) {
    throw std::invalid_argument(fmt::format("[{}] result type {} can't be cast to the output's {}",
                                            info.name, name_of(result), name_of(input.dtype())));
  }
}

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
  Recorder record(node, {&input, &tensor_of(other)});
  if (record.is_needed()) save(record);
  begin_inplace_write(input, info.name);
  write();
  if (record.is_needed()) attach(record);
  return input;
}

// input[i] = fn(input[i], other[i])
template <class F>
auto overwrite(const Tensor& input, const TensorOrNumber& other, F fn) {
  return [&input, &other, fn] {
    visit_dtype(input.dtype(),
                [&]<class T>(TypeTag<T>) { loop_binary<T, T>(input, input, other, fn); });
  };
}

Tensor add_scaled_inplace(const OpInfo& info, std::string_view node, const Tensor& input,
                          const TensorOrNumber& other, const Term& term) {
  return binary_inplace(
      info, node, input, other, overwrite(input, other, scaled_sum(term)), [](Recorder&) {},
      [&input, term](Recorder& record) {
        record.attach_differentiable(
            input, [term](BackwardCall& call) { return add_gradients(call, term); });
      });
}

// The gradient of the larger (or smaller) of two: half of it where both are equal, nothing where
// the other one was chosen.
template <class Pick>
Tensor chosen_gradient(const Tensor& grad, const Tensor& mine, const Tensor& theirs,
                       Pick is_second_chosen) {
  const Tensor half = map_new(grad, formulas::Divided{2.0});
  const Tensor is_equal = empty(grad.shape(), {DType::boolean, grad.device()});
  Tensor out = empty_like(grad);
  const Tensor is_theirs = empty(grad.shape(), {DType::boolean, grad.device()});
  const DType dtype = result_dtype(mine, theirs);
  visit_floating(dtype, [&]<class T>(TypeTag<T>) {
    map_binary<bool, T>(is_equal, mine, theirs, formulas::Equal());
    map_binary<bool, T>(is_theirs, mine, theirs, is_second_chosen);
  });
  visit_floating(grad.dtype(), [&]<class T>(TypeTag<T>) {
    map_ternary<T, T>(out, is_equal, half, grad, formulas::Where());
    map_binary<T, T>(out, out, is_theirs, formulas::Kept{false});
  });
  return out;
}

// max and min: the gradient goes to the chosen operand, half to each where they are equal.
template <class Chosen, class Pick>
Tensor pick_one(const OpInfo& info, std::string_view node, const Tensor& input, const Tensor& other,
                Chosen chosen, Pick is_second_chosen) {
  const OpFront front(info);
  Recorder record(node, {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out = binary_new(info, input, other, result_dtype(input, other), chosen);
  record.attach(out, [=](BackwardCall& call) {
    const Tensor a = call.saved(1);
    const Tensor b = call.saved(0);
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = chosen_gradient(call.grad(), b, a, is_second_chosen);
    if (call.needs(0)) grads[0] = chosen_gradient(call.grad(), a, b, is_second_chosen);
    return grads;
  });
  return out;
}

Tensor make_sample(const Shape& shape, double low) {
  Tensor tensor = rand(shape, {DType::float64, Device::cpu()});
  map_unary<double, double>(tensor, tensor, [low](double x) { return low + x; });
  return tensor;
}

// Same shapes, broadcasting both ways, a number.
std::vector<Sample> operand_pairs() {
  return {{make_sample({2, 3}, 0.5), make_sample({2, 3}, 0.5)},
          {make_sample({2, 3}, 0.5), make_sample({3}, 0.5)},
          {make_sample({2, 1}, 0.5), make_sample({2, 3}, 0.5)},
          {make_sample({2, 3}, 0.5), 1.5}};
}

std::vector<Sample> operand_pairs_with_alpha() {
  std::vector<Sample> samples = operand_pairs();
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].emplace_back(i % 2 == 0 ? 1.0 : 2.5);
  return samples;
}

std::vector<Sample> distinct_pair() {
  return {{make_sample({2, 3}, 0.0), make_sample({2, 3}, 2.0)},
          {make_sample({2, 3}, 2.0), make_sample({3}, 0.0)}};
}

std::vector<Sample> number_minus_tensor() { return {{make_sample({2, 3}, 0.5), 2.0}}; }

std::vector<Sample> condition_and_pair() {
  return {{from_values({1, 0, 1, 1, 0, 0}, {2, 3}, {DType::boolean, Device::cpu()}),
           make_sample({2, 3}, 0.0), make_sample({3}, 2.0)}};
}

}  // namespace

Tensor add(const Tensor& input, const TensorOrNumber& other, double alpha) {
  return add_scaled(kAdd, "AddBackward", input, other, {alpha, false});
}

Tensor sub(const Tensor& input, const TensorOrNumber& other, double alpha) {
  return add_scaled(kSub, "SubBackward", input, other, {alpha, true});
}

Tensor rsub(const Tensor& input, double number) {
  const OpFront front(kRsub);
  Tensor out =
      binary_new(kRsub, input, number, result_dtype(input, number), formulas::ReversedDifference());
  if (Recorder record("RsubBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [](BackwardCall& call) { return TensorList{negated(call.grad())}; });
  }
  return out;
}

Tensor mul(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kMul);
  Recorder record("MulBackward", {&input, &tensor_of(other)});
  save_operands(record, input, record.needs(1), tensor_of(other), record.needs(0));
  Tensor out = product(input, other);
  record.attach_differentiable(
      out, [number = number_of(other), scalar = is_number(other)](BackwardCall& call) {
        return mul_gradients(call, number, scalar);
      });
  return out;
}

Tensor div(const Tensor& input, const TensorOrNumber& other) {
  const OpFront front(kDiv);
  const DType promoted = result_dtype(input, other);
  const DType dtype = is_floating(promoted) ? promoted : DType::float32;
  Recorder record("DivBackward", {&input, &tensor_of(other)});
  save_operands(record, input, record.needs(1), tensor_of(other), !is_number(other));
  Tensor out = binary_new_floating(kDiv, input, other, dtype, kQuotient);
  record.attach_differentiable(
      out, [number = number_of(other), scalar = is_number(other)](BackwardCall& call) {
        return div_gradients(call, number, scalar);
      });
  return out;
}

Tensor maximum(const Tensor& input, const Tensor& other) {
  return pick_one(kMaximum, "MaximumBackward", input, other, formulas::Maximum(), formulas::Less());
}

Tensor minimum(const Tensor& input, const Tensor& other) {
  return pick_one(kMinimum, "MinimumBackward", input, other, formulas::Minimum(),
                  formulas::Greater());
}

Tensor where(const Tensor& condition, const Tensor& input, const Tensor& other) {
  const OpFront front(kWhere);
  if (condition.dtype() != DType::boolean) {
    throw std::invalid_argument(fmt::format(
        "[where] expected condition to be a bool tensor, got {}", name_of(condition.dtype())));
  }
  require_same_device(condition, input, kWhere);
  require_same_device(input, other, kWhere);
  const DType dtype = result_dtype(input, other);
  const Shape pair = broadcast_shapes(input.shape(), other.shape(), "where");
  Recorder record("WhereBackward", {&input, &other});
  record.save(condition);
  // The kernel takes two tensors of one dtype: the narrower one is converted first.
  const Tensor when_true = cast(input, dtype);
  const Tensor when_false = cast(other, dtype);
  Tensor out = empty(broadcast_shapes(condition.shape(), pair, "where"), {dtype, input.device()});
  visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
    map_ternary<T, T>(out, condition, when_true, when_false, formulas::Where());
  });
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor chosen = call.saved(0);
    const auto share = [&](bool mine) {
      const Tensor zero = full({}, 0.0, options_of(call.grad()));
      if (call.is_recorded()) {
        return mine ? where(chosen, call.grad(), zero) : where(chosen, zero, call.grad());
      }
      return map_new(call.grad(), chosen, formulas::Kept{mine});
    };
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = share(false);
    if (call.needs(0)) grads[0] = share(true);
    return grads;
  });
  return out;
}

Tensor add_(const Tensor& input, const TensorOrNumber& other, double alpha) {
  return add_scaled_inplace(kAddInplace, "AddBackward", input, other, {alpha, false});
}

Tensor sub_(const Tensor& input, const TensorOrNumber& other, double alpha) {
  return add_scaled_inplace(kSubInplace, "SubBackward", input, other, {alpha, true});
}

Tensor mul_(const Tensor& input, const TensorOrNumber& other) {
  return binary_inplace(
      kMulInplace, "MulBackward", input, other, overwrite(input, other, kProduct),
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
      kDivInplace, "DivBackward", input, other,
      [&] {
        visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
          loop_binary<T, T>(input, input, other, kQuotient);
        });
      },
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

Tensor fill_(const Tensor& input, double value) {
  const OpFront front(kFillInplace);
  Recorder record("FillBackward", {&input});
  begin_inplace_fill(input, kFillInplace.name);
  fill_values(input, value);
  if (record.is_needed()) {
    record.attach(input, [](BackwardCall& call) { return TensorList{zeros_like(call.grad())}; });
  }
  return input;
}

Tensor zero_(const Tensor& input) { return fill_(input, 0.0); }

std::vector<OpDef> binary_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName alpha{"alpha", Value(1.0)};
  return {
      define(kAdd, kBoth, &add, {"input", "other", alpha}, operand_pairs_with_alpha),
      define(kSub, kBoth, &sub, {"input", "other", alpha}, operand_pairs_with_alpha),
      define(kRsub, kBoth, &rsub, {"input", "number"}, number_minus_tensor),
      define(kMul, kBoth, &mul, {"input", "other"}, operand_pairs),
      define(kDiv, kBoth, &div, {"input", "other"}, operand_pairs),
      define(kMaximum, kBoth, &maximum, {"input", "other"}, distinct_pair),
      define(kMinimum, kBoth, &minimum, {"input", "other"}, distinct_pair),
      define(kWhere, kFunction, &where, {"condition", "input", "other"}, condition_and_pair),
  };
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
