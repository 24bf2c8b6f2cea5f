// The style sheet and the script of the report, made of the files beside this one by the build.
#pragma once

#include <string_view>

namespace ohm::reports {

extern const std::string_view kReportStyleSheet;
extern const std::string_view kReportScript;

}  // namespace ohm::reports
