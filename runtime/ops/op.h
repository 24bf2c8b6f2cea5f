// An op as a row of its family, next to its code: what it is called, what it takes and how autocast
// treats it. Lua bindings, listings and the byte accounting are made from the rows, which op_list.h
// has all of.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/ops/op_info.h"
#include "runtime/ops/signature.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {

/// Where a script finds the op, as PyTorch has it: `ohm.relu(x)`, `x:relu()`,
/// `ohm.nn.functional.relu(x)`, `ohm.nn.utils.clip_grad_norm_(…)`. Bits.
///
/// A call of a Python function has a frame, which holds the arguments until it returns; one of C++
/// has none. Most of `torch` is C++ and most of torch.nn.functional is Python: the last two are
/// what is the other way round, by `inspect`, in 2.6.0 and 2.15.0.
enum Exposure : unsigned {
  kFunction = 1U,
  kMethod = 2U,
  kFunctional = 4U,
  kUtility = 8U,
  kPythonFunction = kFunction | 16U,
  kCppFunctional = kFunctional | 32U,
};

struct OpDef {
  OpInfo info;
  unsigned exposure = kFunction;
  std::vector<Param> params;
  std::function<Value(std::span<const Value>)> call;
};

/// A row for the C++ function `fn`: kinds of parameters come from its signature. Tensor
/// parameters, then the rest, in the order of the signature.
template <class R, class... Args>
OpDef define(const OpInfo& info, unsigned exposure, R (*fn)(Args...),
             std::vector<ParamName> names) {
  const auto call = [fn, info](std::span<const Value> values) {
    const OpGuard running(info.name);
    return Value(invoke(fn, values));
  };
  return {info, exposure, params_of<Args...>(std::move(names)), call};
}

}  // namespace ohm::ops
