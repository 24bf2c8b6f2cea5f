#include "harness/cli/resume_option.h"

#include <fmt/format.h>

#include "harness/cli/option_values.h"
#include "harness/cli/terminal.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

Option add_resume_option(const OptionParser& parser, std::string& path) {
  return parser
      .add_option("--resume", path,
                  "Save progress in this file and resume from it: a command that was killed or "
                  "interrupted repeats no work")
      .type_name("PATH");
}

std::unique_ptr<engine::Checkpoint> opened_checkpoint(
    const std::string& path, const std::function<engine::CheckpointedWork()>& work) {
  if (path.empty()) return nullptr;
  auto checkpoint =
      parsed("--resume", [&] { return std::make_unique<engine::Checkpoint>(path, work()); });
  const std::size_t damaged = checkpoint->damaged_lines();
  if (damaged > 0) {
    write_stderr(
        reports::printable(fmt::format("ohm: {}: {} damaged {} skipped; the work is repeated", path,
                                       damaged, damaged == 1 ? "line is" : "lines are")) +
        "\n");
  }
  return checkpoint;
}

void tell_lack(const engine::Checkpoint* checkpoint) {
  const std::string lack = checkpoint == nullptr ? "" : checkpoint->lack();
  if (!lack.empty()) print_error(reports::printable(lack) + "; later progress is not saved");
}

}  // namespace ohm::cli
