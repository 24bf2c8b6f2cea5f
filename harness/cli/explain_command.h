// ohm explain: a pitfall in words and in figures of now; an out-of-memory message read.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_explain(const OptionParser& parser, const Environment& environment);

inline constexpr Command kExplainCommand = {
    "explain", "Explain a pitfall with figures measured now, or an out-of-memory message",
    "ohm explain leaked_loss_graph\n"
    "ohm explain --message < crash.log\n"
    "ohm explain --all --markdown > handout.md",
    setup_explain};

}  // namespace ohm::cli
