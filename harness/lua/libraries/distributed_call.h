// Calls of ohm.distributed: their arguments, the group that they are of, and handles of groups and
// of calls that were not waited for.
#pragma once

#include <lua.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::lua {

template <>
struct HandleOf<parallel::GroupPtr> {
  static const HandleClass kClass;
};
template <>
struct HandleOf<parallel::WorkPtr> {
  static const HandleClass kClass;
};

/// Arguments of the running native, by position or by name. Each throws std::invalid_argument.
class DistributedCall {
 public:
  /// `names`: of the arguments, in their order; the last `only_named` are none by position.
  DistributedCall(lua_State* L, std::string_view function, std::span<const std::string_view> names,
                  std::size_t only_named = 0);

  /// Pushes the argument and returns true; pushes nothing where it is left out or nil.
  bool push(std::string_view name) const;
  /// Whether it is given.
  bool has(std::string_view name) const;

  Tensor tensor(std::string_view name) const;
  std::vector<Tensor> tensors(std::string_view name) const;
  /// No tensors where it is left out.
  std::vector<Tensor> tensors_or_none(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  bool boolean(std::string_view name) const;
  parallel::Mode mode() const;            ///< async_op
  parallel::Reduction reduction() const;  ///< op

  /// The group, that of all ranks where it is left out; it outlives the call. Throws outside of
  /// ranks.
  parallel::RankGroup& group() const;
  /// Whether the running rank is in the group: else a call does nothing, as in PyTorch.
  bool is_member() const { return group().rank() != parallel::RankGroup::kNoMember; }
  /// The rank in the group that the argument `name`, one of the program's, or "group_" + `name`
  /// names; `otherwise` of the program's where both are left out.
  int peer(std::string_view name, std::optional<int> otherwise = std::nullopt) const;

  lua_State* state() const { return state_; }
  std::string_view function() const { return named_.function(); }

 private:
  lua_State* state_;
  NamedArguments named_;
  std::span<const std::string_view> names_;
};

/// Pushes the handle, or returns 0 results where there is none.
int push_work(lua_State* L, parallel::WorkPtr work);

/// Of ohm.distributed.ReduceOp: pushes its name.
bool push_reduction(lua_State* L, std::string_view name);
std::vector<std::string> reduction_names();

}  // namespace ohm::lua
