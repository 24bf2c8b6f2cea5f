#include "allocator_shim/base/assumption.h"

#include <iterator>

namespace ohm {
namespace {

constexpr AssumptionInfo kAssumptions[] = {
    {Assumption::cudnn_workspace, "cudnn_workspace", "cuDNN's convolutions take no workspace"},
    {Assumption::cudnn_batch_norm, "cudnn_batch_norm",
     "cuDNN's BatchNorm takes no workspace and keeps no reserve for backward"},
    {Assumption::cudnn_rnn_reserve, "cudnn_rnn_reserve",
     "cuDNN's recurrent layers take no workspace, and keep for backward on every card what they "
     "keep on an H100"},
    {Assumption::cudnn_ctc_workspace, "cudnn_ctc_workspace", "cuDNN's CTC loss takes no workspace"},
    {Assumption::ctc_target_length, "ctc_target_length",
     "without values the longest target of a CTC loss is as long as targets are wide"},
    {Assumption::lbfgs_curvature, "lbfgs_curvature",
     "without values a step of LBFGS keeps every direction and takes all its iterations"},
    {Assumption::cufft_workspace, "cufft_workspace", "plans of cuFFT take no workspace"},
    {Assumption::curand_generator, "curand_generator",
     "generators of cuRAND take no memory of a GPU"},
    {Assumption::cusolver_workspace, "cusolver_workspace", "cuSOLVER takes no workspace"},
    {Assumption::cusparse_workspace, "cusparse_workspace",
     "cuSPARSE and cuSPARSELt take no workspace"},
    {Assumption::cudnn_attention, "cudnn_attention",
     "cuDNN's attention takes what its frontend adds up, and no workspace of cuDNN's own"},
    {Assumption::sorting_scratch, "sorting_scratch",
     "sorts and scans take the scratch that was recorded for compute capability 8.0"},
    {Assumption::kept_lt_workspace, "kept_lt_workspace",
     "with `pytorch-2.10` a handle keeps cuBLASLt's 1 MiB beside its own workspace"},
    {Assumption::process_context, "process_context",
     "a process's context takes 450 MiB of a card, or what was measured before the first kernel: "
     "502 MiB of an RTX 3060, 527 MiB of an H100 or H200"},
    {Assumption::passed_checks, "passed_checks",
     "the parameter and sample checks of `torch.distributions` pass"},
    {Assumption::generated_length, "generated_length",
     "`generate` of transformers makes sequences of the maximum length"},
    {Assumption::unknown_values, "unknown_values",
     "sizes or branches of the program depend on values that were not computed"},
    {Assumption::finite_values, "finite_values", "values that were not computed are finite"},
    {Assumption::assumed_selection, "assumed_selection",
     "a mask of unknown values selects the share of rows that `--assume-selected` states"},
    {Assumption::counted_classes, "counted_classes",
     "without values `bincount` finds no number beyond its `minlength`"},
};
static_assert(std::size(kAssumptions) <= kMostAssumptions);

}  // namespace

std::span<const AssumptionInfo> assumption_table() { return kAssumptions; }

std::vector<std::string> AssumptionSet::names() const {
  std::vector<std::string> names;
  for (const AssumptionInfo& info : kAssumptions) {
    if (contains(info.assumption)) names.emplace_back(info.name);
  }
  return names;
}

}  // namespace ohm
