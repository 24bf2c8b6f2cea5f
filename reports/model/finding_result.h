// Findings: what a record of another program shows, in the words of the catalogue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/model/fields.h"

namespace ohm {

/// Blocks of one line that show a finding.
struct FindingEvidence {
  std::int64_t event = 0;  ///< the first one that shows it
  std::int64_t bytes = 0;
  std::int64_t count = 0;  ///< of blocks
  std::string op;
  std::string file;
  int line = 0;
  std::string library = {};  ///< the library's line behind it, as of a holder
  std::string module = {};   ///< path of the module that was running; "*" where several did

  static constexpr const char* kSchemaName = "evidence";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FindingEvidence;
    visit("event", &T::event, "First event that shows it.");
    visit("bytes", &T::bytes);
    visit("count", &T::count, "Number of blocks.");
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("library", &T::library, Presence::optional,
          "The library's line behind it, where several share it.");
    visit("module", &T::module, Presence::optional,
          "Path of the module that was running; * where it was several.");
  }
};

/// Something that a record of memory shows, in the words of the catalogue.
struct FindingResult {
  std::string pitfall;   ///< "growth per step"
  std::string scenario;  ///< whose name explains it: "leaked_loss_graph"
  std::string device;
  std::string what;                       ///< one sentence, with figures
  std::vector<FindingEvidence> evidence;  ///< largest first
  std::string summary = {};  ///< `what` in a few words, for a line; empty: it is not a cause

  static constexpr const char* kSchemaName = "finding";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = FindingResult;
    visit("pitfall", &T::pitfall);
    visit("scenario", &T::scenario, "Name of the scenario that explains it.");
    visit("device", &T::device);
    visit("what", &T::what);
    visit("evidence", &T::evidence);
    visit("summary", &T::summary, Presence::optional, "In a few words; absent: it is no cause.");
  }
};

}  // namespace ohm
