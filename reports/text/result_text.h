// Sentences about a result that several formats print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "reports/model/run_result.h"

namespace ohm::reports {

/// "scenarios/x.lua:31", or that it is unknown.
std::string place_text(const std::string& file, int line);

/// What is behind a line of the program's: "mlp.py:43 forward, ViT.blocks.*.mlp", where both are
/// known.
std::string behind_text(const std::string& library, const std::string& module);

/// Both: "train.py:7 (mlp.py:43 forward, ViT.blocks.*.mlp)".
std::string full_place_text(const std::string& file, int line, const std::string& library,
                            const std::string& module);

/// "mitigation"; empty of the record of another program, which has no role.
std::string_view role_text(const VariantResult& variant);

/// ", in step 3", with what stands before it; empty of step 0, which is none.
std::string in_step_text(std::int64_t step, std::string_view before);

/// "out of memory in step 3 on cuda:0: 20.00 MiB for relu, scenarios/x.lua:31".
std::string oom_sentence(const OomResult& oom);

/// Of a Python program: its variables were looked at when more memory was taken.
bool is_in_growth(const VariantResult& variant);

/// When variables kept what they keep: "at the end", "when memory ran out".
std::string moment_text(const VariantResult& variant);

/// "explained by scenarios/leaked_loss_graph.lua"; empty where no scenario does.
std::string explained_by(const FindingResult& finding);

/// "shard 2/5: ", before a summary; empty where it is of everything.
std::string shard_text(const std::optional<ShardResult>& shard);

/// "4 scenarios, 38 variants: 37 passed, 1 failed".
std::string run_summary(const RunResult& result);

}  // namespace ohm::reports
