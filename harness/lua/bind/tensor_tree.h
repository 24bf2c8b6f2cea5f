// Values of the script with the tensors in them, in tables too, as PyTorch's pytrees: what a
// function is given or returns, with other tensors in the same places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <lua.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/lua/bind/reference.h"
#include "runtime/tensor/tensor.h"

namespace ohm::lua {

class TensorTree {
 public:
  /// Of the value at `index`. A list comes in its order, then what has names, the oldest tensor
  /// first: as Python's dictionaries do that are made once and written over.
  /// Throws std::invalid_argument for tables that are nested too deep or have other keys.
  TensorTree(lua_State* L, int index);

  /// Those in it, in order.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// The same, which the tree then has no longer: their places stay.
  std::vector<Tensor> take_tensors() { return std::exchange(tensors_, {}); }

  /// Pushes the same with these tensors in their places.
  void push(lua_State* L, const std::vector<Tensor>& tensors) const;

  /// Calls visit(number of a tensor, stack index of a value) for each tensor, with what stands in
  /// its place in the value at `other`: a value that is not a table stands for all below it.
  using Visit = std::function<void(std::size_t tensor, int index)>;
  void zip(lua_State* L, int other, const Visit& visit) const;

 private:
  enum class Kind : std::uint8_t { tensor, table, other };
  struct Field;
  struct Node {
    Kind kind = Kind::other;
    std::size_t tensor = 0;  ///< its place among the tensors
    ReferencePtr value;      ///< of another kind
    std::vector<Field> fields;
  };
  /// With a name, or a number from 1 on.
  struct Field {
    lua_Integer number = 0;
    std::string name;
    Node node;
  };

  Node read(lua_State* L, int index, int level);
  void push_node(lua_State* L, const Node& node, const std::vector<Tensor>& tensors) const;
  void zip_node(lua_State* L, const Node& node, int other, const Visit& visit) const;
  static void push_field(lua_State* L, int table, const Field& field);

  std::vector<Tensor> tensors_;
  Node root_;
};

}  // namespace ohm::lua
