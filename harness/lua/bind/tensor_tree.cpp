#include "harness/lua/bind/tensor_tree.h"

#include <algorithm>
#include <stdexcept>

#include "harness/lua/bind/table_order.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "harness/lua/vm/table_key.h"

namespace ohm::lua {
namespace {

constexpr int kMostTreeLevels = 16;

// When the first tensor in the value at `index` got its handle; nothing is older than none.
std::uint64_t age_of(lua_State* L, int index) {
  const std::vector<std::uint64_t> ages = ages_of_tensors(L, index, kMostTreeLevels);
  return ages.empty() ? HandleHead::kYoungest : ages.front();
}

bool is_name_or_number(lua_State* L, int key) {
  return lua_isinteger(L, key) != 0 || lua_type(L, key) == LUA_TSTRING;
}

struct AgedKey {
  TableKey key;
  std::uint64_t age;
};

// Numbers in their order, then names by age.
std::vector<TableKey> keys_of(lua_State* L, int table) {
  if (refused_key_type(L, table, &is_name_or_number)) {
    throw std::invalid_argument(
        "[func] a table among the arguments or results may have numbers and names as keys");
  }
  std::vector<AgedKey> keys;
  for (const TableKey& key : ordered_keys(L, table)) {
    std::uint64_t age = 0;
    if (key.kind == TableKey::Kind::string) {
      key.push(L);
      lua_rawget(L, table);
      age = age_of(L, -1);
      lua_pop(L, 1);
    }
    keys.push_back({key, age});
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const AgedKey& a, const AgedKey& b) { return a.age < b.age; });
  std::vector<TableKey> ordered;
  for (const AgedKey& each : keys) ordered.push_back(each.key);
  return ordered;
}

}  // namespace

TensorTree::TensorTree(lua_State* L, int index) : root_(read(L, lua_absindex(L, index), 0)) {}

TensorTree::Node TensorTree::read(lua_State* L, int index, int level) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  Node node;
  if (const Tensor* tensor = test_handle<Tensor>(L, index)) {
    node.kind = Kind::tensor;
    node.tensor = tensors_.size();
    tensors_.push_back(*tensor);
    return node;
  }
  if (lua_type(L, index) != LUA_TTABLE) {
    lua_pushvalue(L, index);
    node.value = std::make_shared<Reference>(L);
    return node;
  }
  if (level == kMostTreeLevels) throw std::invalid_argument("[func] tables are nested too deep");
  node.kind = Kind::table;
  for (const TableKey& key : keys_of(L, index)) {
    Field field;
    const bool has_name = key.kind == TableKey::Kind::string;
    if (has_name) field.name = key.text;
    field.number = has_name ? 0 : key.integer;
    key.push(L);
    lua_rawget(L, index);
    field.node = read(L, lua_gettop(L), level + 1);
    lua_pop(L, 1);
    node.fields.push_back(std::move(field));
  }
  return node;
}

void TensorTree::push(lua_State* L, const std::vector<Tensor>& tensors) const {
  push_node(L, root_, tensors);
}

// The handles in a list are made from its end on: Python's lists and tuples, too, let go their last
// element first.
void TensorTree::push_node(lua_State* L, const Node& node,
                           const std::vector<Tensor>& tensors) const {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  if (node.kind == Kind::tensor) return push_tensor(L, tensors[node.tensor]);
  if (node.kind == Kind::other) return node.value->push(L);
  lua_createtable(L, 0, 0);
  const auto set = [&](const Field& field) {
    push_node(L, field.node, tensors);
    if (field.name.empty()) {
      lua_rawseti(L, -2, field.number);
    } else {
      lua_setfield(L, -2, field.name.c_str());
    }
  };
  const auto first_named = std::find_if(node.fields.begin(), node.fields.end(),
                                        [](const Field& field) { return !field.name.empty(); });
  std::for_each(std::make_reverse_iterator(first_named), node.fields.rend(), set);
  std::for_each(first_named, node.fields.end(), set);
}

void TensorTree::push_field(lua_State* L, int table, const Field& field) {
  if (field.name.empty()) {
    lua_rawgeti(L, table, field.number);
  } else {
    lua_getfield(L, table, field.name.c_str());
  }
}

void TensorTree::zip(lua_State* L, int other, const Visit& visit) const {
  zip_node(L, root_, lua_absindex(L, other), visit);
}

void TensorTree::zip_node(lua_State* L, const Node& node, int other, const Visit& visit) const {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  if (node.kind == Kind::tensor) return visit(node.tensor, other);
  for (const Field& field : node.fields) {
    if (lua_type(L, other) != LUA_TTABLE) {
      zip_node(L, field.node, other, visit);
      continue;
    }
    push_field(L, other, field);
    zip_node(L, field.node, lua_gettop(L), visit);
    lua_pop(L, 1);
  }
}

}  // namespace ohm::lua
