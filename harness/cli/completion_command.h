// ohm completion: the scripts with which shells complete the command line, and what they ask for.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_completion(const OptionParser& parser, const Environment& environment);

inline constexpr Command kCompletionCommand = {
    "completion", "Print the completion script of a shell",
    "source <(ohm completion bash)\n"
    "ohm completion fish > ~/.config/fish/completions/ohm.fish\n"
    "ohm completion -- ohm run --gpu l4   # what a shell offers for the last word",
    setup_completion, StartsProgram::maybe};

}  // namespace ohm::cli
