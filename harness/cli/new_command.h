// ohm new: a scenario to start from.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_new(const OptionParser& parser, const Environment& environment);

inline constexpr Command kNewCommand = {"new", "Write a scenario to start from, and editor files",
                                        "ohm new my_leak\n"
                                        "ohm run my_leak.lua\n"
                                        "ohm new --folder scenarios my_leak",
                                        setup_new};

}  // namespace ohm::cli
