// ohm verify-device: virtual GPUs against real ones, event by event.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_verify_device(const OptionParser& parser,
                                         const Environment& environment);

inline constexpr Command kVerifyDeviceCommand = {
    "verify-device", "Compare virtual GPUs with this computer's own, event by event",
    "ohm verify-device scenarios/*.lua\n"
    "ohm verify-device scenarios/leaked_loss_graph.lua --case problem --limit 48MiB\n"
    "ohm verify-device scenarios/*.lua --write-profile card.json\n"
    "ohm verify-device scenarios/*.lua --launcher slurm --shards 8 --resume night --card-types "
    "a100,h100",
    setup_verify_device};

}  // namespace ohm::cli
