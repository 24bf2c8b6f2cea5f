// The findings of a record, as a section of a page.
#pragma once

#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// The conclusion from a record: cause, line, remedy; empty: there is none.
std::string html_conclusion(const VariantResult& variant);

/// Each finding in its words, the lines and events that show it, the scenario that explains it;
/// empty without findings.
std::string html_findings(const VariantResult& variant);

}  // namespace ohm::reports
