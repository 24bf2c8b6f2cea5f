// An error that ended something.
#pragma once

#include <string>

#include "reports/model/fields.h"

namespace ohm {

/// An error of a script, or of a process.
struct ErrorResult {
  std::string message;
  std::string file;  ///< empty when unknown
  int line = 0;
  std::string traceback;
  std::string hint;  ///< what to do, one sentence; may be empty

  static constexpr const char* kSchemaName = "error";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ErrorResult;
    visit("message", &T::message);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("traceback", &T::traceback);
    visit("hint", &T::hint);
  }
};

}  // namespace ohm
