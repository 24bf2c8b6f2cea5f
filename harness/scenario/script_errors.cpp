#include "harness/scenario/script_errors.h"

#include <fmt/format.h>

#include "allocator_shim/base/cut_text.h"

namespace ohm::engine {

ScriptError script_error_at(const std::string& file, int line, const std::string& why,
                            const std::string& hint) {
  ScriptError error(line > 0 ? fmt::format("{}:{}: {}", file, line, why)
                             : fmt::format("{}: {}", file, why));
  error.file = file;
  error.line = line;
  error.hint = hint;
  return error;
}

ErrorResult error_result(const ScriptError& error) {
  return {cut_text(error.what()), error.file, error.line, cut_text(error.traceback),
          cut_text(error.hint)};
}

}  // namespace ohm::engine
