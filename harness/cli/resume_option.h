// --resume: the file in which a command keeps what it knows, and goes on from.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harness/checkpoint/checkpoint.h"
#include "harness/cli/option_parser.h"

namespace ohm::cli {

Option add_resume_option(const OptionParser& parser, std::string& path);

/// Null without a path; `work` is asked for where there is one. Says on stderr what was left out of
/// the file. Throws UsageError.
std::unique_ptr<engine::Checkpoint> opened_checkpoint(
    const std::string& path, const std::function<engine::CheckpointedWork()>& work);

/// On stderr, that not everything could be kept; the results are whole all the same.
void tell_lack(const engine::Checkpoint* checkpoint);

}  // namespace ohm::cli
