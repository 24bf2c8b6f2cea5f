#include "harness/exec/value_options.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "harness/exec/python_protocol.h"

namespace ohm::engine {

std::string ValueOptions::words() const {
  std::string text;
  if (!assumed_selection.empty()) text += " --assume-selected " + assumed_selection;
  if (!values.empty()) text += " --values " + values;
  return text;
}

void check_assumed_selection(const std::string& text) {
  if (text == "max") return;
  double share = -1;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, share);
  const bool is_share = read.ec == std::errc() && read.ptr == end && share >= 0 && share <= 1;
  if (is_share) return;
  throw std::invalid_argument(fmt::format("must be from 0 to 1, or max, not \"{}\"", text));
}

void add_values(ChildCommand& command, const ValueOptions& options) {
  if (!options.assumed_selection.empty()) {
    command.environment.emplace_back(python::kAssumeSelectedVariable, options.assumed_selection);
  }
  if (!options.values.empty())
    command.environment.emplace_back(python::kValuesVariable, options.values);
}

}  // namespace ohm::engine
