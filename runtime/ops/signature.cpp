#include "runtime/ops/signature.h"

namespace ohm::ops {

ParamName::ParamName(const char* text) : name(text) {}
ParamName::ParamName(const char* text, Value value) : name(text), fallback(std::move(value)) {}
ParamName::ParamName(const ParamName& other) = default;
ParamName& ParamName::operator=(const ParamName& other) = default;
ParamName::~ParamName() = default;

ParamName ParamName::constant(const char* text) {
  ParamName param(text);
  param.is_constant = true;
  return param;
}

std::vector<Param> params_of(std::span<const ParamType> types, std::vector<ParamName> names) {
  std::vector<Param> params;
  params.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool has_default = !std::holds_alternative<std::monostate>(names[i].fallback);
    params.push_back({names[i].name, types[i].kind, types[i].is_optional || has_default,
                      std::move(names[i].fallback), names[i].is_constant});
  }
  return params;
}

}  // namespace ohm::ops
