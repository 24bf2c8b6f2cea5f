// Messages of a search of ohm fit: from its worker process, and to one that goes on with it.
#pragma once

#include <string>
#include <string_view>

#include "harness/fit/fit_row.h"
#include "harness/run/worker_messages.h"
#include "reports/model/fit_result.h"

namespace ohm::engine {

std::string encoded(const FitAnswer& answer);
FitAnswer decoded_fit_answer(std::string_view bytes);

}  // namespace ohm::engine
