#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "harness/cli/application.h"
#include "harness/lua/inspect/editor_definitions.h"
#include "harness/lua/scenario_loader.h"
#include "harness/process/host_heap.h"
#include "reports/model/exit_code.h"
#include "reports/text/report_file.h"

namespace {

// Files that are opened later must not take the places of the standard ones. What is written where
// there is no standard output is an error: a report would be lost.
void open_missing_standard_files() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor >= 0) close(descriptor);
}

// Libraries allocate where nothing may be thrown: the JSON library in its destructors.
[[noreturn]] void end_out_of_memory() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kText = "ohm: no memory is left on this machine\n";
    const auto written = ::write(STDERR_FILENO, kText.data(), kText.size());
    ohm::reports::ReportFile::remove_unfinished();
    ::_exit(written < 0 ? EXIT_FAILURE : ohm::exit_code(ohm::ExitReason::unavailable).code);
  } catch (...) {
    std::abort();
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_out_of_memory);
  open_missing_standard_files();
  ohm::engine::keep_freed_memory();
  return ohm::cli::run_application(argc, argv,
                                   {ohm::lua::load_scenario, ohm::lua::editor_definitions});
}
