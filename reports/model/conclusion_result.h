// The conclusion from a record: one cause, the line that it is about, and what to do.
#pragma once

#include <string>

#include "reports/model/fields.h"

namespace ohm {

struct ConclusionResult {
  std::string cause;  ///< its kind: "growth", "kept", "without no_grad", "twice", "fragmented", …
  std::string what;   ///< one sentence, with figures of the record
  std::string file;   ///< empty: no line is known
  int line = 0;
  std::string text;        ///< of that line; empty: not looked up
  std::string remedy;      ///< one sentence; empty: none is known
  bool is_proved = false;  ///< a replay with the remedy serves the request that failed
  std::string scenario;    ///< whose name explains it; empty: none

  static constexpr const char* kSchemaName = "conclusion";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = ConclusionResult;
    visit("cause", &T::cause, "Kind of the cause, in a word or two.");
    visit("what", &T::what, "One sentence, with figures of the record.");
    visit("file", &T::file);
    visit("line", &T::line);
    visit("text", &T::text, Presence::optional, "Source text of the line.");
    visit("remedy", &T::remedy);
    visit("is_proved", &T::is_proved, Presence::optional,
          "A replay with the remedy serves the request that failed.");
    visit("scenario", &T::scenario, Presence::optional, "Name of the scenario that explains it.");
  }
};

}  // namespace ohm
