// The reports of several machines that shared the work, as the one that one machine would have
// made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reports/model/exit_code.h"

namespace ohm::reports {

struct ReportPart {
  std::string name;                   ///< for messages: the file it is from
  std::function<std::string()> json;  ///< asked for once, so that one part is there at a time
  /// Where what one type of cards found is apart from what others did: the folder of its reports.
  std::string folder_of_type = {};
};

struct MergedReport {
  std::string json;
  std::string schema;
  ExitReason exit_reason = ExitReason::passed;  ///< what one machine would have ended with
};

/// `parts` are JSON reports of the shards of one run (ohm.result/1), of one sweep (ohm.sweep/1), of
/// one fit (ohm.fit/1) or of one verification (ohm.verification/1), each shard once, in any order;
/// or one report of all. Verifications of several cards, each in shards or whole, become one report
/// with a table for each card; other reports of several types of cards are none together. Throws
/// std::invalid_argument that says which part is wrong or missing.
MergedReport merged_reports(const std::vector<ReportPart>& parts);

}  // namespace ohm::reports
