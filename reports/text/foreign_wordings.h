// The wordings of messages about memory that other programs than PyTorch's allocator print.
#pragma once

#include <vector>

#include "reports/text/foreign_wording.h"

namespace ohm::reports {

/// The most telling first: a log has several of them.
const std::vector<ForeignWording>& foreign_wordings();

/// What helps whoever calls XLA.
extern const char* const kSmallerJax;
extern const char* const kSmallerTensorFlow;

}  // namespace ohm::reports
