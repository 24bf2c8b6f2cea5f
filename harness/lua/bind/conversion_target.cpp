#include "harness/lua/bind/conversion_target.h"

#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {
namespace {

bool names_device(std::string_view text) {
  return text.substr(0, 3) == "cpu" || text.substr(0, 4) == "cuda";
}

void add_argument(lua_State* L, int index, std::string_view function, ConversionTarget& target) {
  if (test_handle<Tensor>(L, index) != nullptr) {
    const Tensor& like = tensor_argument(L, index, {function, "other"});
    target.device = like.device();
    target.dtype = like.dtype();
    return;
  }
  const int type = lua_type(L, index);
  if (type != LUA_TSTRING && type != LUA_TNUMBER) {
    refuse_argument(L, index, {function, "other"}, "a device, a dtype or a tensor");
  }
  if (type == LUA_TNUMBER || names_device(lua_tostring(L, index))) {
    target.device = device_argument(L, index, {function, "device"});
  } else {
    target.dtype = dtype_argument(L, index, {function, "dtype"});
  }
}

}  // namespace

ConversionTarget conversion_arguments(lua_State* L, std::string_view function) {
  const NamedArguments named(L, function);
  constexpr std::string_view kNames[] = {"device", "dtype", "non_blocking", "copy",
                                         "memory_format"};
  named.check_names(kNames);
  ConversionTarget target;
  for (int index = 2; index <= named.positional_count(); ++index) {
    add_argument(L, index, function, target);
  }
  if (named.push("device")) target.device = device_argument(L, -1, {function, "device"});
  if (named.push("dtype")) target.dtype = dtype_argument(L, -1, {function, "dtype"});
  if (named.boolean("non_blocking", false)) target.transfer = ops::Transfer::non_blocking;
  if (named.push("memory_format")) {
    const ArgumentName name{function, "memory_format"};
    target.format = parse_memory_format(string_argument(L, -1, name));
  }
  target.copies = named.boolean("copy", false);
  return target;
}

}  // namespace ohm::lua
