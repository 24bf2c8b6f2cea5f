// Collectives of a RankGroup that move pieces of one tensor.
#include <vector>

#include "runtime/parallel/collective_guard.h"
#include "runtime/parallel/collective_pieces.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::parallel {

WorkPtr RankGroup::all_gather_into(const Tensor& output, const Tensor& input, Mode mode) {
  static constexpr std::string_view kName = "all_gather_into_tensor";
  const CollectiveGuard collective(kName);
  require_dense(kName, input);
  Call call{.name = kName,
            .brought = joined(pieces_of(kName, output, world_size()), {input}),
            .inputs = {input},
            .outputs = {output}};
  if (mode == Mode::waits) call.used.emplace();
  const auto combine = [](const Meeting& meeting) {
    const auto& all = meeting.brought;
    for (const TensorsOfRank& of_rank : all) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        move_elements(kName, of_rank[i], all[i][all.size()]);
      }
    }
  };
  return run(call, combine, mode);
}

WorkPtr RankGroup::reduce_scatter_from(const Tensor& output, const Tensor& input,
                                       Reduction reduction, Mode mode) {
  static constexpr std::string_view kName = "reduce_scatter_tensor";
  const CollectiveGuard collective(kName);
  require_dense(kName, output);
  require_reducible(kName, reduction, output.dtype());
  Call call{.name = kName,
            .brought = joined(pieces_of(kName, input, world_size()), {output}),
            .inputs = {input},
            .outputs = {output}};
  if (mode == Mode::waits) call.used.emplace();
  const auto combine = [reduction](const Meeting& meeting) {
    reduce_pieces(kName, meeting.brought, reduction);
  };
  return run(call, combine, mode);
}

WorkPtr RankGroup::all_to_all_single(const Tensor& output, const Tensor& input,
                                     const Splits& splits, Mode mode) {
  static constexpr std::string_view kName = "all_to_all_single";
  require_dtype(kName, {output}, input);
  Tensors brought = split_rows(kName, output, splits.output, world_size());
  const Tensors inputs = split_rows(kName, input, splits.input, world_size());
  brought.insert(brought.end(), inputs.begin(), inputs.end());
  return run(
      {.name = kName, .brought = brought, .inputs = {input}, .outputs = {output}},
      [](const Meeting& meeting) { exchange_pieces(kName, meeting.brought); }, mode);
}

}  // namespace ohm::parallel
