#include "harness/lua/libraries/factory_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/triangle_indices.h"
#include "runtime/base/wrapping.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

using ArgumentNames = std::initializer_list<std::string_view>;

/// The arguments of a factory: `own` in their order, by position or by name, and the options.
class FactoryCall {
 public:
  FactoryCall(lua_State* L, std::string_view function, ArgumentNames own)
      : state_(L), named_(placed(L, function, own)), category_(Category::input) {
    std::vector<std::string_view> known = {"dtype", "device", "requires_grad"};
    known.insert(known.end(), own.begin(), own.end());
    named_.check_names(known);
  }

  int count() const { return named_.positional_count(); }
  ArgumentName name(std::string_view argument) const { return {named_.function(), argument}; }
  Shape sizes(int first) const { return sizes_arguments(state_, first, named_); }
  TensorOptions options(const TensorOptions& otherwise) const {
    return {named_.dtype("dtype", otherwise.dtype), named_.device("device", otherwise.device)};
  }

  int push(const Tensor& tensor) const {
    if (named_.boolean("requires_grad", false)) tensor.set_requires_grad(true);
    push_tensor(state_, tensor);
    return 1;
  }

 private:
  static NamedArguments placed(lua_State* L, std::string_view function, ArgumentNames own) {
    place_named_arguments(L, function, own);
    return {L, function};
  }

  lua_State* state_;
  NamedArguments named_;
  CategoryGuard category_;
};

// Uninitialized values; a bool is 0 or 1 even then.
Tensor unwritten(const Shape& shape, const TensorOptions& options) {
  return options.dtype == DType::boolean ? ohm::zeros(shape, options) : ohm::empty(shape, options);
}

using SizedFactory = Tensor (*)(const Shape& shape, const TensorOptions& options);

int make_sized(lua_State* L, std::string_view function, SizedFactory factory) {
  const FactoryCall call(L, function, {"size"});
  return call.push(factory(call.sizes(1), call.options({})));
}

// A new tensor's memory in the order of `like`, without its gaps. Dimensions of size 1 keep their
// strides: what is a view of a gradient later has them too.
Tensor laid_out_as(const Tensor& like, Tensor fresh) {
  Shape& strides = fresh.impl()->strides;
  strides = like.is_dense() ? like.strides() : dense_strides(like.shape(), {&like.strides(), 1});
  fresh.impl()->is_contiguous = are_contiguous(like.shape(), strides);
  return fresh;
}

int make_like(lua_State* L, std::string_view function, SizedFactory factory) {
  const FactoryCall call(L, function, {"input"});
  const Tensor& like = tensor_argument(L, 1, call.name("input"));
  return call.push(laid_out_as(like, factory(like.shape(), call.options(options_of(like)))));
}

int make_new(lua_State* L, std::string_view method, SizedFactory factory) {
  const FactoryCall call(L, method, {"input", "size"});
  const Tensor& like = tensor_argument(L, 1, call.name("input"));
  return call.push(factory(call.sizes(2), call.options(options_of(like))));
}

int empty(lua_State* L) { return make_sized(L, "empty", &unwritten); }
int zeros(lua_State* L) { return make_sized(L, "zeros", &ohm::zeros); }
int ones(lua_State* L) { return make_sized(L, "ones", &ohm::ones); }
int randn(lua_State* L) { return make_sized(L, "randn", &ohm::randn); }
int rand(lua_State* L) { return make_sized(L, "rand", &ohm::rand); }

int empty_like(lua_State* L) { return make_like(L, "empty_like", &unwritten); }
int zeros_like(lua_State* L) { return make_like(L, "zeros_like", &ohm::zeros); }
int ones_like(lua_State* L) { return make_like(L, "ones_like", &ohm::ones); }
int randn_like(lua_State* L) { return make_like(L, "randn_like", &ohm::randn); }
int rand_like(lua_State* L) { return make_like(L, "rand_like", &ohm::rand); }

// randint([low,] high, sizes): 0 is the lowest when none is given.
int randint(lua_State* L) {
  const FactoryCall call(L, "randint", {"low", "high", "size"});
  const bool has_low = lua_type(L, 2) == LUA_TNUMBER;
  const std::int64_t low = has_low ? integer_argument(L, 1, call.name("low")) : 0;
  const int high = has_low ? 2 : 1;
  const Shape shape = sizes_argument(L, high + 1, call.name("size"));
  const TensorOptions options = call.options({DType::int64, Device::cpu()});
  return call.push(ohm::randint(low, integer_argument(L, high, call.name("high")), shape, options));
}

// randint_like(input, [low,] high)
int randint_like(lua_State* L) {
  const FactoryCall call(L, "randint_like", {"input", "low", "high"});
  const Tensor& like = tensor_argument(L, 1, call.name("input"));
  const bool has_low = call.count() > 2;
  const std::int64_t low = has_low ? integer_argument(L, 2, call.name("low")) : 0;
  const std::int64_t high = integer_argument(L, has_low ? 3 : 2, call.name("high"));
  return call.push(
      laid_out_as(like, ohm::randint(low, high, like.shape(), call.options(options_of(like)))));
}

// The dtype of a number or boolean that stands in a script: as PyTorch infers it.
DType dtype_of_literal(lua_State* L, int index) {
  if (lua_isboolean(L, index)) return DType::boolean;
  return lua_isinteger(L, index) != 0 ? DType::int64 : DType::float32;
}

double literal(lua_State* L, int index, const ArgumentName& name) {
  if (lua_isboolean(L, index)) return lua_toboolean(L, index);
  return number_argument(L, index, name);
}

/// Of the number or boolean at `index`; integers are exact.
Tensor filled(lua_State* L, int index, const ArgumentName& name, const Shape& shape,
              const TensorOptions& options) {
  const Tensor made = ohm::full(shape, literal(L, index, name), options);
  if (made.dtype() == DType::int64 && made.has_values() && lua_isinteger(L, index) != 0) {
    std::fill_n(made.data<std::int64_t>(), made.numel(), lua_tointeger(L, index));
  }
  return made;
}

int full_with(lua_State* L, const FactoryCall& call, int first, TensorOptions otherwise,
              bool infers_dtype) {
  const Shape shape = sizes_argument(L, first, call.name("size"));
  if (infers_dtype) otherwise.dtype = dtype_of_literal(L, first + 1);
  return call.push(filled(L, first + 1, call.name("fill_value"), shape, call.options(otherwise)));
}

int full(lua_State* L) {
  return full_with(L, FactoryCall(L, "full", {"size", "fill_value"}), 1, {}, true);
}

int full_like(lua_State* L) {
  const FactoryCall call(L, "full_like", {"input", "fill_value"});
  const Tensor& like = tensor_argument(L, 1, call.name("input"));
  return call.push(laid_out_as(
      like, filled(L, 2, call.name("fill_value"), like.shape(), call.options(options_of(like)))));
}

// A step by name begins at 0 where nothing says otherwise: arange(4, {step = 2}).
void place_start(lua_State* L) {
  const NamedArguments named(L, "arange");
  const auto has = [&](std::string_view name) {
    if (!named.push(name)) return false;
    lua_pop(L, 1);
    return true;
  };
  if (!has("step") || has("start")) return;
  if (named.positional_count() + (has("end") ? 1 : 0) > 1) return;
  lua_pushinteger(L, 0);
  lua_insert(L, 1);
}

DType dtype_of_literals(lua_State* L, int count) {
  for (int index = 1; index <= count; ++index) {
    if (lua_isinteger(L, index) == 0) return DType::float32;
  }
  return DType::int64;
}

// Of int64: adds `number` to each element, exactly.
void move_by(std::int64_t number, const Tensor& made) {
  if (made.dtype() != DType::int64 || !made.has_values()) return;
  auto* const elements = made.data<std::int64_t>();
  for (std::int64_t i = 0; i < made.numel(); ++i) elements[i] = wrapping_sum(elements[i], number);
}

// arange([start,] stop [, step]), without `stop` itself.
int arange(lua_State* L) {
  place_start(L);
  const FactoryCall call(L, "arange", {"start", "end", "step"});
  const bool has_start = call.count() > 1;
  const double start = has_start ? number_argument(L, 1, call.name("start")) : 0;
  const double stop = number_argument(L, has_start ? 2 : 1, call.name("stop"));
  const double step = call.count() > 2 ? number_argument(L, 3, call.name("step")) : 1;
  const DType dtype = dtype_of_literals(L, call.count());
  // Between integers that doubles round the distance is counted, from 0 on.
  const bool is_rounded = std::max(std::abs(start), std::abs(stop)) > 0x1p53;
  const bool is_moved = has_start && dtype == DType::int64 && is_rounded;
  const std::int64_t origin = is_moved ? lua_tointeger(L, 1) : 0;
  const double distance =
      is_moved ? static_cast<double>(wrapping_difference<std::int64_t>(lua_tointeger(L, 2), origin))
               : stop - start;
  const double count = std::ceil(distance / step);
  if (step == 0 || !std::isfinite(count) || count < 0) {
    throw std::invalid_argument(
        fmt::format("[arange] cannot go from {} to {} in steps of {}", start, stop, step));
  }
  if (count > static_cast<double>(std::numeric_limits<std::int32_t>::max()) * 4096) {
    throw std::invalid_argument(fmt::format("[arange] {} elements are too many", count));
  }
  const TensorOptions options = call.options({dtype, Device::cpu()});
  const auto elements = static_cast<std::int64_t>(count);
  if (!is_moved || options.dtype != DType::int64) {
    return call.push(ohm::arange(start, step, elements, options));
  }
  const Tensor made = ohm::arange(0, step, elements, options);
  move_by(origin, made);
  return call.push(made);
}

// linspace(start, stop, steps): both are among them.
int linspace(lua_State* L) {
  const FactoryCall call(L, "linspace", {"start", "end", "steps"});
  const double start = number_argument(L, 1, call.name("start"));
  const double stop = number_argument(L, 2, call.name("end"));
  const std::int64_t steps = integer_argument(L, 3, call.name("steps"));
  if (steps < 0) {
    throw std::invalid_argument(fmt::format("[linspace] steps must be >= 0, got {}", steps));
  }
  const double step = steps > 1 ? (stop - start) / static_cast<double>(steps - 1) : 0.0;
  return call.push(ohm::arange(start, step, steps, call.options({})));
}

// tril_indices(row, col [, offset]): [2, count].
int triangle_indices(lua_State* L, std::string_view function,
                     Tensor (*make)(const TriangleOf&, const TensorOptions&)) {
  const FactoryCall call(L, function, {"row", "col", "offset"});
  const std::int64_t rows = integer_argument(L, 1, call.name("row"));
  const std::int64_t columns = integer_argument(L, 2, call.name("col"));
  return call.push(
      make({rows, columns, call.count() > 2 ? integer_argument(L, 3, call.name("offset")) : 0},
           call.options({DType::int64, Device::cpu()})));
}
int tril_indices(lua_State* L) { return triangle_indices(L, "tril_indices", &ohm::tril_indices); }
int triu_indices(lua_State* L) { return triangle_indices(L, "triu_indices", &ohm::triu_indices); }

// eye(n [, m]): ones on the diagonal of [n, m].
int eye(lua_State* L) {
  const FactoryCall call(L, "eye", {"n", "m"});
  const std::int64_t rows = integer_argument(L, 1, call.name("n"));
  const std::int64_t columns = call.count() > 1 ? integer_argument(L, 2, call.name("m")) : rows;
  const Tensor matrix = ohm::zeros({rows, columns}, call.options({}));
  const std::int64_t count = std::min(rows, columns);
  fill_values(make_view(matrix, {count}, {columns + 1}, 0), 1.0);
  return call.push(matrix);
}

/// The numbers of nested lists, and the shape that they have.
class NestedList {
 public:
  NestedList(lua_State* L, int index, std::string_view function) : state_(L), function_(function) {
    read(index, 0, "data");
  }

  const Shape& shape() const { return shape_; }
  const std::vector<double>& values() const { return values_; }
  DType dtype() const { return dtype_.value_or(DType::float32); }
  /// Of a list of nothing but integers: what doubles do not have all the bits of.
  const std::vector<std::int64_t>& integers() const { return integers_; }

 private:
  void read(int index, int depth, const std::string& place) {
    if (lua_type(state_, index) != LUA_TTABLE) return read_number(index, depth, place);
    luaL_checkstack(state_, LUA_MINSTACK, nullptr);
    const auto count = static_cast<std::int64_t>(lua_rawlen(state_, index));
    if (depth == shape_.dims() && values_.empty()) {
      shape_.push_back(count);
    } else if (depth >= shape_.dims() || shape_[depth] != count) {
      refuse(place, fmt::format("a list of {}", count), depth);
    }
    const int table = lua_absindex(state_, index);
    for (std::int64_t i = 1; i <= count; ++i) {
      lua_rawgeti(state_, table, i);
      read(-1, depth + 1, fmt::format("{}[{}]", place, i));
      lua_pop(state_, 1);
    }
  }

  void read_number(int index, int depth, const std::string& place) {
    if (depth != shape_.dims()) refuse(place, type_of(state_, index), depth);
    values_.push_back(literal(state_, index, {function_, place}));
    if (lua_isinteger(state_, index) != 0) integers_.push_back(lua_tointeger(state_, index));
    const DType own = dtype_of_literal(state_, index);
    dtype_ = dtype_ ? promote_types(*dtype_, own) : own;
  }

  [[noreturn]] void refuse(const std::string& place, const std::string& got, int depth) const {
    const std::string expected = depth < shape_.dims() ? fmt::format("a list of {}", shape_[depth])
                                                       : std::string("a number");
    throw std::invalid_argument(
        fmt::format("[{}] expected {} at {}, got {}", function_, expected, place, got));
  }

  lua_State* state_;
  std::string_view function_;
  Shape shape_;
  std::vector<double> values_;
  std::vector<std::int64_t> integers_;
  std::optional<DType> dtype_;
};

/// Without `dtype` it is what the data say.
int make_tensor(lua_State* L, const FactoryCall& call, int data, Device device,
                std::optional<DType> dtype = std::nullopt) {
  if (test_handle<Tensor>(L, data) != nullptr) {
    refuse_argument(L, data, call.name("data"), "numbers (x:clone():detach() copies a tensor)");
  }
  const NestedList list(L, data, call.name("data").function);
  const Tensor made = from_values(list.values(), list.shape(),
                                  call.options({dtype.value_or(list.dtype()), device}));
  if (made.dtype() == DType::int64 && made.has_values() && list.dtype() == DType::int64 &&
      list.integers().size() == list.values().size()) {
    std::copy(list.integers().begin(), list.integers().end(), made.data<std::int64_t>());
  }
  return call.push(made);
}

int tensor(lua_State* L) {
  return make_tensor(L, FactoryCall(L, "tensor", {"data"}), 1, Device::cpu());
}

// as_tensor(data [, {dtype, device}]): a tensor that is one already is converted where it has to
// be.
int as_tensor(lua_State* L) {
  if (test_handle<Tensor>(L, 1) == nullptr) return tensor(L);
  constexpr std::string_view kNames[] = {"device", "dtype"};
  const NamedArguments named(L, "as_tensor");
  named.check_names(kNames);
  Tensor given = tensor_argument(L, 1, {"as_tensor", "data"});
  given = ops::to_device(given, named.device("device", given.device()));
  given = ops::to_dtype(given, named.dtype("dtype", given.dtype()));
  return push_result(L, given, 1);
}

// x:new_zeros(sizes…, {dtype, device, requires_grad}): of x's dtype and device where not given.
int new_empty(lua_State* L) { return make_new(L, "new_empty", &unwritten); }
int new_ones(lua_State* L) { return make_new(L, "new_ones", &ohm::ones); }
int new_zeros(lua_State* L) { return make_new(L, "new_zeros", &ohm::zeros); }

int new_full(lua_State* L) {
  const FactoryCall call(L, "new_full", {"input", "size", "fill_value"});
  const Tensor& like = tensor_argument(L, 1, call.name("input"));
  return full_with(L, call, 2, options_of(like), false);
}

int new_tensor(lua_State* L) {
  const FactoryCall call(L, "new_tensor", {"input", "data"});
  const Tensor& like = tensor_argument(L, 1, call.name("input"));
  return make_tensor(L, call, 2, like.device(), like.dtype());
}

constexpr luaL_Reg kFactoryTensorMethods[] = {
    {"new_empty", native<new_empty>}, {"new_full", native<new_full>},
    {"new_ones", native<new_ones>},   {"new_tensor", native<new_tensor>},
    {"new_zeros", native<new_zeros>},
};

constexpr luaL_Reg kFactoryFunctions[] = {
    {"arange", native<arange>},
    {"as_tensor", native<as_tensor>},
    {"empty", native<empty>},
    {"empty_like", native<empty_like>},
    {"eye", native<eye>},
    {"full", native<full>},
    {"full_like", native<full_like>},
    {"linspace", native<linspace>},
    {"ones", native<ones>},
    {"ones_like", native<ones_like>},
    {"rand", native<rand>},
    {"rand_like", native<rand_like>},
    {"randint", native<randint>},
    {"randint_like", native<randint_like>},
    {"randn", native<randn>},
    {"randn_like", native<randn_like>},
    {"tensor", native<tensor>},
    {"tril_indices", native<tril_indices>},
    {"triu_indices", native<triu_indices>},
    {"zeros", native<zeros>},
    {"zeros_like", native<zeros_like>},
};

}  // namespace

std::span<const luaL_Reg> factory_functions() { return kFactoryFunctions; }
std::span<const luaL_Reg> tensor_factory_methods() { return kFactoryTensorMethods; }

}  // namespace ohm::lua
