// Measured figures as text.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// "1,610,612,736".
std::string grouped(std::int64_t value);

/// A figure in its unit where room is short: "24.00 MiB", "-1.00 KiB", "50", "1.497".
std::string short_figure(double value, Unit unit);
std::string short_bytes(std::int64_t bytes);

/// The same without loss: "24.00 MiB (25,165,824 bytes)", "512 bytes", "50", "1.49702".
std::string exact_figure(double value, Unit unit);

/// Bytes as another program has written them, whatever they are: "24.00 MiB", "more than 16 EiB";
/// "0 B" where they are below 0.
std::string bytes_text(double bytes);

/// "growth_bytes_per_step == 0: measured 1.00 KiB (1,024 bytes), breaks".
std::string limit_sentence(const LimitResult& limit);

/// "modelled, not exact: cudnn_workspace, process_context": the assumptions that the figures of
/// some variant rest on; empty where all are exact.
std::string modelled_text(const ScenarioResult& scenario);

/// "on NVIDIA H200, driver for CUDA 13.0"; empty on virtual GPUs.
std::string card_text(const ScenarioResult& scenario);

}  // namespace ohm::reports
