// The result of a sweep, as far as a report of scenarios shows it.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"

namespace ohm::reports {

/// Adds the heat maps of a sweep (ohm.sweep/1) to the scenarios of the same name; a scenario that
/// the result does not have is added. Throws ResultError that names the place.
void add_heat_maps(std::string_view json, RunResult& result);

/// The same of a file; its path stands before the message.
void add_heat_maps_of_file(const std::string& path, RunResult& result);

/// A page with the heat maps of a sweep alone.
std::string sweep_html(const SweepResult& result);

}  // namespace ohm::reports
