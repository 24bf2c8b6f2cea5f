// Messages of a search of ohm fit, from its worker process.
#pragma once

#include <string>
#include <string_view>

#include "harness/fit/fit_row.h"
#include "harness/run/worker_messages.h"

namespace ohm::engine {

std::string encoded(const FitAnswer& answer);
FitAnswer decoded_fit_answer(std::string_view bytes);

}  // namespace ohm::engine
