// The formulas that real cards have kernels of: the only list. nvcc makes kernels of each row, the
// host a twin of the same formula.
#pragma once

#include "runtime/kernels/functors/activation.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/attention.h"
#include "runtime/kernels/functors/batch_norm.h"
#include "runtime/kernels/functors/cells.h"
#include "runtime/kernels/functors/distance.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/functors/group_norm.h"
#include "runtime/kernels/functors/piecewise.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/kernels/functors/reduce_rows.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/reduce_split_more.h"
#include "runtime/kernels/functors/resize.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/functors/sorting.h"
#include "runtime/kernels/functors/update.h"

// ROW(its kKernel, formula, number of elements it reads, parameters to verify it with...)

/// For loops of floating dtypes: functions and arithmetic.
#define OHM_FOR_EACH_FUNCTION_FORMULA(ROW)                   \
  ROW(sigmoid, Sigmoid, 1)                                   \
  ROW(tanh, Tanh, 1)                                         \
  ROW(gelu, Gelu, 1)                                         \
  ROW(tanh_gelu, TanhGelu, 1)                                \
  ROW(silu, Silu, 1)                                         \
  ROW(mish, Mish, 1)                                         \
  ROW(logsigmoid, LogSigmoid, 1)                             \
  ROW(softplus, Softplus, 1, 1.5, 4.0)                       \
  ROW(softplus_slope, SoftplusSlope, 2, 1.5, 4.0)            \
  ROW(gated, Gated, 2)                                       \
  ROW(gate_slope, GateSlope, 3)                              \
  ROW(tan, Tan, 1)                                           \
  ROW(erf, Erf, 1)                                           \
  ROW(log2, Log2, 1)                                         \
  ROW(log10, Log10, 1)                                       \
  ROW(log1p, Log1p, 1)                                       \
  ROW(expm1, Expm1, 1)                                       \
  ROW(exp2, Exp2, 1)                                         \
  ROW(floor, Floor, 1)                                       \
  ROW(ceil, Ceil, 1)                                         \
  ROW(round, Round, 1)                                       \
  ROW(reciprocal, Reciprocal, 1)                             \
  ROW(rsqrt, Rsqrt, 1)                                       \
  ROW(cubed, Cubed, 1)                                       \
  ROW(sin, Sin, 1)                                           \
  ROW(cos, Cos, 1)                                           \
  ROW(sinh, Sinh, 1)                                         \
  ROW(cosh, Cosh, 1)                                         \
  ROW(asin, Asin, 1)                                         \
  ROW(acos, Acos, 1)                                         \
  ROW(atan, Atan, 1)                                         \
  ROW(relu_slope, ReluSlope, 2)                              \
  ROW(sigmoid_slope, SigmoidSlope, 2)                        \
  ROW(tanh_slope, TanhSlope, 2)                              \
  ROW(gelu_slope, GeluSlope, 2)                              \
  ROW(tanh_gelu_slope, TanhGeluSlope, 2)                     \
  ROW(silu_slope, SiluSlope, 2)                              \
  ROW(mish_slope, MishSlope, 2)                              \
  ROW(logsigmoid_slope, LogSigmoidSlope, 2)                  \
  ROW(quotient, Quotient, 2)                                 \
  ROW(difference, Difference, 2)                             \
  ROW(weighted_sum, WeightedSum, 2, 1.5, -0.25)              \
  ROW(scaled, Scaled, 1, 1.5)                                \
  ROW(shifted, Shifted, 1, 1.5)                              \
  ROW(divided, Divided, 1, 1.5)                              \
  ROW(pow_scalar, PowScalar, 1, 3.0)                         \
  ROW(square, Square, 1)                                     \
  ROW(exp, Exp, 1)                                           \
  ROW(log, Log, 1)                                           \
  ROW(sqrt, Sqrt, 1)                                         \
  ROW(abs, Abs, 1)                                           \
  ROW(sign, Sign, 1)                                         \
  ROW(kept, Kept, 2, true)                                   \
  ROW(masked_scaled, MaskedScaled, 2, 1.25)                  \
  ROW(logsigmoid_of_negated, LogSigmoidOfNegated, 1)         \
  ROW(pow, Pow, 2)                                           \
  ROW(angle, Angle, 2)                                       \
  ROW(number_over, NumberOver, 1, 1.5)                       \
  ROW(exponential_of_difference, ExponentialOfDifference, 2) \
  ROW(logarithm_plus, LogarithmPlus, 2)                      \
  ROW(x_log_y, XLogY, 2)                                     \
  ROW(x_log_y_slope, XLogYSlope, 2)                          \
  ROW(x_log_y_slope_kept, XLogYSlopeKept, 3)

/// The same: what is made of pieces, and distances.
#define OHM_FOR_EACH_PIECE_FORMULA(ROW)                                                          \
  ROW(leaky_relu, LeakyRelu, 1, 0.25)                                                            \
  ROW(leaky_relu_slope, LeakyReluSlope, 2, 0.25)                                                 \
  ROW(exponential_unit, ExponentialUnit, 1, 1.25, 1.05, 0.8)                                     \
  ROW(exponential_unit_slope, ExponentialUnitSlope, 2,                                           \
      ohm::formulas::ExponentialUnit{1.25, 1.05, 0.8}, false)                                    \
  ROW(clamped_slope, ClampedSlope, 2, -3.0, 4.0)                                                 \
  ROW(hard_sigmoid, HardSigmoid, 1)                                                              \
  ROW(hard_sigmoid_slope, HardSigmoidSlope, 2)                                                   \
  ROW(hard_swish, HardSwish, 1)                                                                  \
  ROW(hard_swish_slope, HardSwishSlope, 2)                                                       \
  ROW(hard_shrunk, HardShrunk, 1, 2.5)                                                           \
  ROW(soft_shrunk, SoftShrunk, 1, 2.5)                                                           \
  ROW(shrunk_slope, ShrunkSlope, 2, 2.5)                                                         \
  ROW(threshold, Threshold, 1, 1.5, -2.0)                                                        \
  ROW(threshold_slope, ThresholdSlope, 2, 1.5)                                                   \
  ROW(prelu, Prelu, 2)                                                                           \
  ROW(prelu_slope, PreluSlope, 3)                                                                \
  ROW(prelu_weight_slope, PreluWeightSlope, 2)                                                   \
  ROW(squared_error, SquaredErrorValue, 2)                                                       \
  ROW(squared_error_slope, SquaredErrorSlope, 2, ohm::formulas::SquaredError{}, 0.5)             \
  ROW(squared_error_weighted_slope, SquaredErrorWeightedSlope, 3, ohm::formulas::SquaredError{}, \
      0.5)                                                                                       \
  ROW(smooth_l1, SmoothL1Value, 2, ohm::formulas::SmoothL1{0.75})                                \
  ROW(smooth_l1_slope, SmoothL1Slope, 2, ohm::formulas::SmoothL1{0.75}, 0.5)                     \
  ROW(smooth_l1_weighted_slope, SmoothL1WeightedSlope, 3, ohm::formulas::SmoothL1{0.75}, 0.5)    \
  ROW(huber, HuberValue, 2, ohm::formulas::Huber{0.75})                                          \
  ROW(huber_slope, HuberSlope, 2, ohm::formulas::Huber{0.75}, 0.5)                               \
  ROW(huber_weighted_slope, HuberWeightedSlope, 3, ohm::formulas::Huber{0.75}, 0.5)              \
  ROW(cross_entropy, CrossEntropyValue, 2)                                                       \
  ROW(cross_entropy_slope, CrossEntropySlope, 2, ohm::formulas::CrossEntropy{}, 0.5)             \
  ROW(cross_entropy_weighted_slope, CrossEntropyWeightedSlope, 3, ohm::formulas::CrossEntropy{}, \
      0.5)                                                                                       \
  ROW(cross_entropy_target_slope, CrossEntropyTargetSlope, 2,                                    \
      ohm::formulas::CrossEntropyOfTarget{}, 0.5)                                                \
  ROW(cross_entropy_target_weighted_slope, CrossEntropyTargetWeightedSlope, 3,                   \
      ohm::formulas::CrossEntropyOfTarget{}, 0.5)

/// The same: updates of optimizers.
#define OHM_FOR_EACH_UPDATE_FORMULA(ROW)                                                           \
  ROW(addcmul, Addcmul, 3, -0.01)                                                                  \
  ROW(replaced, Replaced, 2, -1.5)                                                                 \
  ROW(root_of_shifted, RootOfShifted, 1, 1e-06)                                                    \
  ROW(root_plus, RootPlus, 1, 1e-06)                                                               \
  ROW(deviation_plus, DeviationPlus, 2, 1e-06)                                                     \
  ROW(magnitude_plus, MagnitudePlus, 1, 1e-06)                                                     \
  ROW(quotient_times, QuotientTimes, 3)                                                            \
  ROW(decayed_maximum, DecayedMaximum, 2, 0.9)                                                     \
  ROW(shifted_inverse, ShiftedInverse, 1, 0.5, 1e-08, 0.25)                                        \
  ROW(factor_of_sign, FactorOfSign, 1, 1.25, 0.5)                                                  \
  ROW(clamped_product, ClampedProduct, 2, -3.0, 4.0)                                               \
  ROW(dropped_where, DroppedWhere, 2, 1.0)                                                         \
  ROW(lerp, Lerp, 2, 0.1)                                                                          \
  ROW(blended_squares, BlendedSquares, 2, 0.999, 0.001)                                            \
  ROW(addcdiv, Addcdiv, 3, -0.01)                                                                  \
  ROW(divided_and_shifted, DividedAndShifted, 1, 0.25, 1e-08)                                      \
  ROW(fused_first_moment, FusedFirstMoment, 3, ohm::formulas::UsedGradient{-1.0, 0.1}, 0.1)        \
  ROW(fused_second_moment, FusedSecondMoment, 3, ohm::formulas::UsedGradient{-1.0, 0.1}, 0.9)      \
  ROW(fused_adam_step, FusedAdamStep, 3, 0.01, 0.5, 1e-08)                                         \
  ROW(fused_sgd_step, FusedSgdStep, 2, ohm::formulas::UsedGradient{1.0, 0.1}, 0.01)                \
  ROW(fused_momentum, FusedMomentum, 3, ohm::formulas::UsedGradient{1.0, 0.1}, 0.9, 1.0)           \
  ROW(fused_first_momentum, FusedFirstMomentum, 3, ohm::formulas::UsedGradient{1.0, 0.1})          \
  ROW(fused_momentum_step, FusedMomentumStep, 3, ohm::formulas::UsedGradient{1.0, 0.1}, 0.01, 0.9, \
      true)

/// All of them; nvcc makes them in several files, side by side.
#define OHM_FOR_EACH_FLOATING_FORMULA(ROW) \
  OHM_FOR_EACH_FUNCTION_FORMULA(ROW)       \
  OHM_FOR_EACH_PIECE_FORMULA(ROW)          \
  OHM_FOR_EACH_UPDATE_FORMULA(ROW)

/// For loops of every dtype.
#define OHM_FOR_EACH_GENERAL_FORMULA(ROW)         \
  ROW(copy, Copy, 1)                              \
  ROW(sum, Sum, 2)                                \
  ROW(relu, Relu, 1)                              \
  ROW(scaled_sum, ScaledSum, 2, 2.0)              \
  ROW(reversed_difference, ReversedDifference, 2) \
  ROW(product, Product, 2)                        \
  ROW(maximum, Maximum, 2)                        \
  ROW(minimum, Minimum, 2)                        \
  ROW(neg, Neg, 1)                                \
  ROW(clamp, Clamp, 1, -3.0, 4.0)                 \
  ROW(equal, Equal, 2)                            \
  ROW(same, Same, 2)                              \
  ROW(unequal, Unequal, 2)                        \
  ROW(less, Less, 2)                              \
  ROW(less_or_equal, LessOrEqual, 2)              \
  ROW(greater, Greater, 2)                        \
  ROW(greater_or_equal, GreaterOrEqual, 2)        \
  ROW(both, Both, 2)                              \
  ROW(either, Either, 2)                          \
  ROW(where, Where, 3)                            \
  ROW(masked_fill, MaskedFill, 2, -2.0)

/// Of an element's number: they count as loops of float32, whatever they write.
#define OHM_FOR_EACH_GENERATOR(ROW)                                                  \
  ROW(constant, Constant, 0, 2.5)                                                    \
  ROW(progression, Progression, 0, -1.0, 0.5)                                        \
  ROW(uniform_draw, UniformDraw, 0, ohm::formulas::WordDraw{7, 3}, -1.0, 1.0)        \
  ROW(integer_draw, IntegerDraw, 0, ohm::formulas::WordDraw{7, 3}, std::int64_t{-5}, \
      std::uint64_t{11})                                                             \
  ROW(bernoulli_draw, BernoulliDraw, 0, ohm::formulas::WordDraw{7, 3}, 0.75F, 1.25)  \
  ROW(normal_draw, NormalDraw, 0, ohm::formulas::WordDraw{7, 3}, 0.5, 2.0)

// ROW(its kKernel, formula of lines, the operand that holds indices or -1, parameters...)

/// For floating dtypes.
#define OHM_FOR_EACH_FLOATING_LINE(ROW)                                         \
  ROW(softmax_line, SoftmaxLine, -1, true)                                      \
  ROW(softmax_slope_line, SoftmaxSlopeLine, -1, true)                           \
  ROW(layer_norm_line, LayerNormLine, -1, 1e-5)                                 \
  ROW(layer_norm_slope_line, LayerNormSlopeLine, -1)                            \
  ROW(layer_norm_column, LayerNormColumn, -1)                                   \
  ROW(chosen_losses, ChosenLosses, 3, ohm::formulas::ChosenClass{1, 0}, true)   \
  ROW(folded_extremum, FoldedExtremum, -1, true, ohm::formulas::kVerifiedFold)  \
  ROW(topk_line, TopkLine, -1, std::int64_t{5}, ohm::formulas::Ordering{false}) \
  ROW(folded_norm, FoldedNorm, -1, true, true, ohm::formulas::kVerifiedFold)    \
  ROW(non_finite, NonFinite, -1, std::int64_t{9583})                            \
  ROW(scattered_row, ScatteredRow, 1, std::int64_t{37}, std::int64_t{3})        \
  ROW(classes_outside, ClassesOutside, 1, std::int64_t{0}, std::int64_t{20})    \
  ROW(chosen_loss, ChosenLoss, 2, ohm::formulas::ChosenClass{1, 0})             \
  ROW(chosen_slope, ChosenSlope, 2, ohm::formulas::ChosenClass{1, 0}, false, 4.0)

/// Folds, norms of channels, recurrent cells and images, for floating dtypes.
#define OHM_FOR_EACH_FOLD_LINE(ROW)                                                          \
  ROW(folded_product_slope, FoldedProductSlope, -1, ohm::formulas::kVerifiedFolding,         \
      ohm::formulas::kVerifiedWalk, ohm::formulas::kVerifiedFolding)                         \
  ROW(folded_variance, FoldedVariance, -1, ohm::formulas::kVerifiedFolding, 1.0, true)       \
  ROW(folded_truth, FoldedTruth, -1, ohm::formulas::kVerifiedFolding, true)                  \
  ROW(folded_largest, FoldedLargest, -1, ohm::formulas::kVerifiedFolding, true, false)       \
  ROW(cleared_line, ClearedLine, -1, ohm::formulas::kVerifiedFolding)                        \
  ROW(group_norm_line, GroupNormLine, -1, ohm::formulas::kVerifiedGroups, 1e-5)              \
  ROW(group_norm_slope_line, GroupNormSlopeLine, -1, ohm::formulas::kVerifiedGroups)         \
  ROW(group_norm_channel, GroupNormChannel, -1, ohm::formulas::kVerifiedChannels)            \
  ROW(channel_moments, ChannelMoments, -1, ohm::formulas::kVerifiedFolding, 1e-5, 0.1)       \
  ROW(channel_normalised, ChannelNormalised, -1, ohm::formulas::kVerifiedFolding,            \
      ohm::formulas::kVerifiedFolding, false, 1e-5)                                          \
  ROW(channel_slope, ChannelSlope, -1, ohm::formulas::kVerifiedFolding,                      \
      ohm::formulas::kVerifiedFolding, ohm::formulas::kVerifiedFolding, false, 1e-5, true)   \
  ROW(lstm_cell, LstmCell, -1, ohm::formulas::kVerifiedCell)                                 \
  ROW(lstm_cell_slope, LstmCellSlope, -1, std::int64_t{5}, ohm::formulas::MatrixSteps{5, 1}, \
      ohm::formulas::MatrixSteps{5, 1}, ohm::formulas::MatrixSteps{5, 1})                    \
  ROW(gru_cell, GruCell, -1, ohm::formulas::kVerifiedCell)                                   \
  ROW(gru_cell_slope, GruCellSlope, -1, std::int64_t{5}, ohm::formulas::MatrixSteps{5, 1})   \
  ROW(resized, Resized, -1, ohm::formulas::kVerifiedHeight, ohm::formulas::kVerifiedWidth)   \
  ROW(resized_slope, ResizedSlope, -1, ohm::formulas::kVerifiedHeight,                       \
      ohm::formulas::kVerifiedWidth)

/// Elements that move, for every dtype.
#define OHM_FOR_EACH_MOVE_LINE(ROW)                                                          \
  ROW(rearranged, Rearranged, -1, ohm::formulas::kVerifiedArrangement, -2.0)                 \
  ROW(running_sum, RunningSum, -1, ohm::formulas::kVerifiedAlong)                            \
  ROW(places_outside, PlacesOutside, 1, ohm::formulas::Walk{1, {259}, {1}}, std::int64_t{0}, \
      std::int64_t{20})                                                                      \
  ROW(gathered, Gathered, 1, ohm::formulas::kVerifiedWalk, ohm::formulas::kVerifiedWalk,     \
      std::int64_t{37}, std::int64_t{37})                                                    \
  ROW(scattered, Scattered, 1, ohm::formulas::kVerifiedAlong, ohm::formulas::kVerifiedAlong, \
      ohm::formulas::kVerifiedAlong, std::int64_t{259}, std::int64_t{259}, true, 0.5)        \
  ROW(gathered_slices, GatheredSlices, 2, ohm::formulas::kVerifiedPlaces)                    \
  ROW(scattered_slices, ScatteredSlices, 2, ohm::formulas::kVerifiedPlaces,                  \
      ohm::formulas::Walk{1, {9583}, {1}}, std::int64_t{37})                                 \
  ROW(folded_product, FoldedProduct, -1, ohm::formulas::kVerifiedFolding)

/// Pooling, for floating dtypes.
#define OHM_FOR_EACH_POOLING_LINE(ROW)                                              \
  ROW(pooled_maximum, PooledMaximum, -1, ohm::formulas::kVerifiedPooling)           \
  ROW(pooled_maximum_slope, PooledMaximumSlope, 2, ohm::formulas::kVerifiedPooling) \
  ROW(pooled_average, PooledAverage, -1, ohm::formulas::kVerifiedAverage)           \
  ROW(pooled_average_slope, PooledAverageSlope, -1, ohm::formulas::kVerifiedAverage)

/// Fused attention, which is computed in float32 whatever its tensors are.
#define OHM_FOR_EACH_ATTENTION_LINE(ROW)                                                    \
  ROW(attention_line, AttentionLine, -1, ohm::formulas::kVerifiedAttention)                 \
  ROW(attention_query_slope, AttentionQuerySlope, -1, ohm::formulas::kVerifiedOfQueries,    \
      ohm::formulas::HeadSteps{80, 40, 4, 1}, ohm::formulas::HeadSteps{4800, 2400, 240, 1}) \
  ROW(attention_key_slope, AttentionKeySlope, -1, ohm::formulas::kVerifiedOfKeys,           \
      ohm::formulas::HeadSteps{80, 40, 4, 1}, ohm::formulas::HeadSteps{120, 60, 6, 1})

/// Sorts, for floating dtypes: what a block does together, and the rest.
#define OHM_FOR_EACH_SORTED_TILE(ROW)                                  \
  ROW(sorted_tile, SortedTile, -1, std::int64_t{259}, std::int64_t{1}, \
      ohm::formulas::Ordering{true})
#define OHM_FOR_EACH_SORTING_LINE(ROW)                              \
  ROW(merged_run, MergedRun, -1, std::int64_t{12}, std::int64_t{1}, \
      ohm::formulas::Ordering{false})                               \
  ROW(picked_order, PickedOrder, -1, std::int64_t{259}, std::int64_t{1}, std::int64_t{5})

/// For every dtype.
#define OHM_FOR_EACH_GENERAL_LINE(ROW) \
  ROW(folded_sum, FoldedSum, -1, 1.0, ohm::formulas::kVerifiedFold)
