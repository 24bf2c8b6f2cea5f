#include "tests/harness/sensitivity/table_patch.h"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>

namespace ohm::test {

std::string with_patched_table(std::string_view source, const std::string& statements) {
  constexpr std::string_view kCall = "return ohm.scenario {";
  const std::size_t at = source.rfind(kCall);
  if (at == std::string_view::npos) {
    throw std::runtime_error(fmt::format("the file does not end in \"{}\"", kCall));
  }
  std::string patched(source);
  return patched.replace(at, kCall.size(),
                         "return (function(t) " + statements + " return ohm.scenario(t) end) {");
}

std::string variants_in_table(Role role) {
  return fmt::format("t.{}", kRoleNames[static_cast<std::size_t>(role)].group);
}

}  // namespace ohm::test
