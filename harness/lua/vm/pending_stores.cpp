#include "harness/lua/vm/pending_stores.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "allocator_shim/base/assert.h"

namespace ohm::lua {
namespace {

constexpr std::size_t kMostElements = 256;
constexpr int kMostNestedTables = 3;

lua_Integer number_of(RawValue key) { return std::bit_cast<lua_Integer>(key.content); }

// Whether the keys are the whole numbers from 1 on, without a gap.
template <class Elements>
bool is_list(const Elements& elements) {
  const auto count = static_cast<lua_Integer>(elements.size());
  return std::all_of(elements.begin(), elements.end(), [count](const auto& element) {
    return element.key.tag == raw::integer_value(0).tag && number_of(element.key) >= 1 &&
           number_of(element.key) <= count;
  });
}

}  // namespace

RawValue PendingStores::add(RawValue table, RawValue key, std::optional<RawValue> value) {
  const RawValue old = element(table, key);
  const HandleHead* const before = handle_of(old);
  HandleHead* const added = before != nullptr && value ? handle_of(*value) : nullptr;
  if (added != nullptr) added->place = before->place;
  stores_.push_back({table, key, value.value_or(RawValue{})});
  return old;
}

RawValue PendingStores::element(RawValue table, RawValue key) const {
  const auto store = std::find_if(stores_.rbegin(), stores_.rend(), [&](const Store& known) {
    return known.table == table && known.key == key;
  });
  if (store != stores_.rend()) return store->value;
  OHM_ASSERT(table.tag == raw::kTable, "an element of something that is no table");
  const raw::Untouched untouched(state_);
  raw::push(state_, table);
  raw::push(state_, key);
  lua_rawget(state_, -2);
  return raw::value_at(state_, -1);
}

PendingStores::Handles PendingStores::handles_in(RawValue value) const {
  Handles handles;
  add_handle(value, handles);
  Budget left{kMostElements, kMostNestedTables};
  if (value.tag == raw::kTable) add_table(value, left, handles);
  return handles;
}

// Null where it is none: files of `io` are userdata, too.
HandleHead* PendingStores::handle_of(RawValue value) const {
  if (value.tag != raw::kUserdata) return nullptr;
  const raw::Untouched untouched(state_);
  raw::push(state_, value);
  if (lua_rawlen(state_, -1) < sizeof(HandleHead)) return nullptr;
  return static_cast<HandleHead*>(lua_touserdata(state_, -1));
}

void PendingStores::add_handle(RawValue value, Handles& handles) const {
  if (const HandleHead* handle = handle_of(value)) handles.push_back(handle);
}

void PendingStores::add_table(RawValue table, Budget& left, Handles& handles) const {
  Elements elements = elements_of(table, left);
  if (!is_list(elements)) return add_dictionary(elements, left, handles);
  std::sort(elements.begin(), elements.end(), [](const Element& one, const Element& other) {
    return number_of(one.key) > number_of(other.key);
  });
  for (const Element& element : elements) add_nested(element.value, left, handles);
}

void PendingStores::add_nested(RawValue value, Budget& left, Handles& handles) const {
  add_handle(value, handles);
  if (value.tag != raw::kTable || left.levels == 0) return;
  --left.levels;
  add_table(value, left, handles);
  ++left.levels;
}

// Lua keeps no order of its elements.
void PendingStores::add_dictionary(const Elements& elements, Budget& left, Handles& handles) const {
  Handles found;
  for (const Element& element : elements) add_nested(element.value, left, found);
  const auto place = [](const void* handle) {
    return static_cast<const HandleHead*>(handle)->place;
  };
  std::sort(found.begin(), found.end(),
            [&](const void* one, const void* other) { return place(one) < place(other); });
  for (const void* handle : found) handles.push_back(handle);
}

PendingStores::Elements PendingStores::elements_of(RawValue table, Budget& left) const {
  Elements elements;
  bool is_whole = true;
  {
    const raw::Untouched untouched(state_);
    raw::push(state_, table);
    lua_pushnil(state_);
    while (is_whole && lua_next(state_, -2) != 0) {
      is_whole = elements.size() < left.count;
      if (is_whole) elements.push_back({raw::value_at(state_, -2), raw::value_at(state_, -1)});
      lua_pop(state_, 1);
    }
  }
  left.count -= elements.size();
  if (!is_whole) return is_list(elements) ? elements : Elements();
  for (const Store& store : stores_) {
    if (store.table == table) put(elements, {store.key, store.value});
  }
  return elements;
}

void PendingStores::put(Elements& elements, Element element) {
  const auto place = std::find_if(elements.begin(), elements.end(),
                                  [&](const Element& known) { return known.key == element.key; });
  if (place != elements.end()) elements.erase(place);
  if (!element.value.is_nil()) elements.push_back(element);
}

}  // namespace ohm::lua
