// A row of ohm fit on its way from a worker process.
#pragma once

#include <string>
#include <string_view>

#include "harness/engine/worker_messages.h"
#include "reports/fit_result.h"

namespace ohm::engine {

std::string encoded(const FitRow& row);
FitRow decoded_fit_row(std::string_view bytes);

}  // namespace ohm::engine
