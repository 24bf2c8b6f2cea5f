// Why a limit broke or a figure grew: what was alive, or what there is more of, by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/fields.h"

namespace ohm {

/// Blocks of one line, summed.
struct CauseLine {
  std::int64_t bytes = 0;                    ///< that it has, or that it has more in each step
  std::optional<std::int64_t> before_bytes;  ///< what it had in the baseline
  std::int64_t count = 0;                    ///< of blocks
  std::string op;                            ///< of the largest part
  std::string file;
  int line = 0;
  std::string text = {};     ///< of that line; empty: not looked up
  std::string library = {};  ///< the library's line behind it, as of a holder

  std::int64_t increase() const { return bytes - before_bytes.value_or(0); }

  static constexpr const char* kSchemaName = "cause_line";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = CauseLine;
    visit("bytes", &T::bytes, "Bytes of this line; for growth, those added by a step.");
    visit("before_bytes", &T::before_bytes, Presence::optional,
          "Bytes of this line in the baseline.");
    visit("count", &T::count, "Number of blocks.");
    visit("op", &T::op);
    visit("file", &T::file);
    visit("line", &T::line);
    visit("text", &T::text, Presence::optional, "Source text of the line.");
    visit("library", &T::library, Presence::optional,
          "The library's line behind it, where several share it.");
  }
};

struct CauseResult {
  std::string figure;  ///< that is too large: "peak_allocated_bytes"
  std::string device;  ///< of it
  std::string what;    ///< one sentence: "1.20 GiB is alive at the peak of cuda:0"
  std::vector<CauseLine>
      lines;  ///< what it is of, the largest (increase) first; at most kMostLines
  std::int64_t other_lines = 0;  ///< how many more there are
  std::int64_t other_bytes = 0;  ///< that those have, or have more

  static constexpr std::size_t kMostLines = 8;
  static constexpr const char* kSchemaName = "cause";
  template <class Visit>
  static void fields(Visit&& visit) {
    using T = CauseResult;
    visit("figure", &T::figure, "The measurement that is too large.");
    visit("device", &T::device);
    visit("what", &T::what);
    visit("lines", &T::lines, "Largest first.");
    visit("other_lines", &T::other_lines);
    visit("other_bytes", &T::other_bytes);
  }
};

}  // namespace ohm
