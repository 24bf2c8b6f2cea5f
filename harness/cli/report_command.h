// ohm report: another look at a result.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_report(const OptionParser& parser, const Environment& environment);

inline constexpr Command kReportCommand = {
    "report", "Print a result of ohm run, or write a report of it or of a memory snapshot",
    "ohm report result.json\n"
    "ohm report result.json -o out.html\n"
    "ohm report result.json --sweep sweep.json -o out.html\n"
    "ohm report snapshot.pickle -o out.html\n"
    "ohm run --history --report json=result.json scenarios/*.lua   # with memory over time",
    setup_report};

}  // namespace ohm::cli
