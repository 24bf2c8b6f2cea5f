// Arguments of natives, checked: "[dropout] argument 'p' must be a number, got nil". Everything
// here throws std::invalid_argument. Arguments that are handles are read where their class is.
#pragma once

#include <cstdint>
#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/device.h"
#include "runtime/base/dtype.h"
#include "runtime/base/shape.h"

namespace ohm::lua {

/// What an error names.
struct ArgumentName {
  std::string_view function;
  std::string_view argument;
};

/// The type of a value as messages say it: "tensor", "nil", "table", …
std::string type_of(lua_State* L, int index);

[[noreturn]] void refuse_argument(lua_State* L, int index, const ArgumentName& name,
                                  std::string_view expected);

double number_argument(lua_State* L, int index, const ArgumentName& name);
/// A number without a fraction.
std::int64_t integer_argument(lua_State* L, int index, const ArgumentName& name);
bool boolean_argument(lua_State* L, int index, const ArgumentName& name);
std::string_view string_argument(lua_State* L, int index, const ArgumentName& name);
/// A list of integers, or one integer.
Shape sizes_argument(lua_State* L, int index, const ArgumentName& name);
/// "float16", or ohm.float16, which is the same.
DType dtype_argument(lua_State* L, int index, const ArgumentName& name);
/// "cpu", "cuda", "cuda:1", or the index of a GPU.
Device device_argument(lua_State* L, int index, const ArgumentName& name);

/// The number of elements of the list at `index`, a table. Throws when it has fields with names.
lua_Integer list_length(lua_State* L, int index, const ArgumentName& name);

/// A table with names and without a list, as named arguments are passed.
bool is_named_table(lua_State* L, int index);

/// The table of named arguments that may stand last: `F.dropout(x, {p = 0.1})`.
class NamedArguments {
 public:
  /// Looks at the arguments of the running native, `function`.
  NamedArguments(lua_State* L, std::string_view function);
  /// The table stands at `table`, or nowhere when that is 0.
  NamedArguments(lua_State* L, std::string_view function, int table);

  std::string_view function() const { return function_; }
  /// How many arguments stand before the table.
  int positional_count() const { return positional_count_; }

  /// Pushes the argument called `name` and returns true; pushes nothing when it is not there.
  bool push(std::string_view name) const;

  /// Throws when there is a name that is not among `known`.
  void check_names(std::span<const std::string_view> known) const;

  // The argument, or `otherwise`.
  bool boolean(std::string_view name, bool otherwise) const;
  double number(std::string_view name, double otherwise) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  DType dtype(std::string_view name, DType otherwise) const;
  Device device(std::string_view name, Device otherwise) const;

 private:
  lua_State* state_;
  std::string_view function_;
  int positional_count_;
  int table_ = 0;  ///< 0: there is none
};

/// Puts those of a function's own arguments, `own` in their order, that the table of named ones at
/// the end has behind those that stand by position: f(0, {steps = 4}) is f(0, 4, {steps = 4}).
/// Throws std::invalid_argument for one that is given both ways.
void place_named_arguments(lua_State* L, std::string_view function,
                           std::span<const std::string_view> own);

/// The sizes that stand from argument `first` on: `f(3, 4)` or `f({3, 4})`; empty for none.
Shape sizes_arguments(lua_State* L, int first, const NamedArguments& named);

}  // namespace ohm::lua
