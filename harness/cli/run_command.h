// ohm run: scenarios in, verdicts out.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_run(const OptionParser& parser, const Environment& environment);

inline constexpr Command kRunCommand = {
    "run", "Run scenarios and judge what they prove",
    "ohm run scenarios/*.lua\n"
    "ohm run scenarios/missing_no_grad.lua --case problem\n"
    "ohm run scenarios/*.lua --report json=out.json --report junit=out.xml\n"
    "ohm run scenarios/batch_size.lua --gpu a100-40g,count=2\n"
    "ohm run scenarios/oom_recovery.lua --fault 'nth(7)'",
    setup_run};

}  // namespace ohm::cli
