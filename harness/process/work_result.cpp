#include "harness/process/work_result.h"

#include <fmt/format.h>

namespace ohm::engine {

std::string why_without_message(const WorkResult& work, double timeout_seconds) {
  if (work.end == WorkEnd::interrupted) return "was interrupted";
  if (work.end != WorkEnd::timeout) return fmt::format("was {}", work.how_it_ended);
  return fmt::format("took longer than {:g} s; --timeout SECONDS allows more", timeout_seconds);
}

ExitReason reason_of(WorkEnd end) {
  switch (end) {
    case WorkEnd::message:
      break;
    case WorkEnd::crashed:
      return ExitReason::internal_error;
    case WorkEnd::timeout:
      return ExitReason::timeout;
    case WorkEnd::interrupted:
      return ExitReason::interrupted;
  }
  return ExitReason::passed;
}

}  // namespace ohm::engine
