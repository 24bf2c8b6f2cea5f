// The functors that CUDA devices have kernels of: the only list. nvcc makes kernels of each row,
// the host a twin of the same functor.
#pragma once

#include "runtime/kernels/functors/activation.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/attention.h"
#include "runtime/kernels/functors/attention_tile.h"
#include "runtime/kernels/functors/batch_norm.h"
#include "runtime/kernels/functors/cells.h"
#include "runtime/kernels/functors/digit_sort.h"
#include "runtime/kernels/functors/distance.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/functors/generators.h"
#include "runtime/kernels/functors/group_norm.h"
#include "runtime/kernels/functors/piecewise.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/kernels/functors/reduce_rows.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/resize.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/functors/sorting.h"
#include "runtime/kernels/functors/special.h"
#include "runtime/kernels/functors/update.h"

// ROW(its kKernel, functor, number of elements it reads, parameters to verify it with...)

/// For loops of floating dtypes: functions and arithmetic.
#define OHM_FOR_EACH_MATH_FUNCTOR(ROW)                       \
  ROW(sigmoid, Sigmoid, 1)                                   \
  ROW(tanh, Tanh, 1)                                         \
  ROW(gelu, Gelu, 1)                                         \
  ROW(tanh_gelu, TanhGelu, 1)                                \
  ROW(silu, Silu, 1)                                         \
  ROW(mish, Mish, 1)                                         \
  ROW(logsigmoid, LogSigmoid, 1)                             \
  ROW(softplus, Softplus, 1, 1.5, 4.0)                       \
  ROW(softplus_backward, SoftplusBackward, 2, 1.5, 4.0)      \
  ROW(gated, Gated, 2)                                       \
  ROW(gate_backward, GateBackward, 3)                        \
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
  ROW(relu_backward, ReluBackward, 2)                        \
  ROW(sigmoid_backward, SigmoidBackward, 2)                  \
  ROW(tanh_backward, TanhBackward, 2)                        \
  ROW(gelu_backward, GeluBackward, 2)                        \
  ROW(tanh_gelu_backward, TanhGeluBackward, 2)               \
  ROW(silu_backward, SiluBackward, 2)                        \
  ROW(mish_backward, MishBackward, 2)                        \
  ROW(logsigmoid_backward, LogSigmoidBackward, 2)            \
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
  ROW(pow, Pow, 2)                                           \
  ROW(angle, Angle, 2)                                       \
  ROW(number_over, NumberOver, 1, 1.5)                       \
  ROW(exponential_of_difference, ExponentialOfDifference, 2) \
  ROW(logarithm_plus, LogarithmPlus, 2)                      \
  ROW(x_log_y, XLogY, 2)                                     \
  ROW(x_log_y_backward, XLogYBackward, 2)                    \
  ROW(x_log_y_backward_kept, XLogYBackwardKept, 3)           \
  ROW(nan_to_num, NanToNum, 1, 0.0, 2.0, -2.0)               \
  ROW(lerp_by, LerpBy, 3)

/// The same: special functions, and further ones of two elements.
#define OHM_FOR_EACH_SPECIAL_FUNCTOR(ROW)      \
  ROW(asinh, Asinh, 1)                         \
  ROW(acosh, Acosh, 1)                         \
  ROW(atanh, Atanh, 1)                         \
  ROW(erfc, Erfc, 1)                           \
  ROW(erfinv, Erfinv, 1)                       \
  ROW(lgamma, Lgamma, 1)                       \
  ROW(digamma, Digamma, 1)                     \
  ROW(trigamma, Trigamma, 1)                   \
  ROW(sinc, Sinc, 1)                           \
  ROW(one_minus, OneMinus, 1)                  \
  ROW(trunc, Trunc, 1)                         \
  ROW(frac, Frac, 1)                           \
  ROW(logit, Logit, 1, 0.125)                  \
  ROW(logit_backward, LogitBackward, 2, 0.125) \
  ROW(log_add_exp, LogAddExp, 2)               \
  ROW(log_add_exp_2, LogAddExp2, 2)            \
  ROW(hypot, Hypot, 2)                         \
  ROW(fmod, Fmod, 2)                           \
  ROW(copy_sign, CopySign, 2)                  \
  ROW(larger_number, LargerNumber, 2)          \
  ROW(smaller_number, SmallerNumber, 2)        \
  ROW(heaviside, Heaviside, 2)

/// The same: what is made of pieces, and distances.
#define OHM_FOR_EACH_PIECEWISE_FUNCTOR(ROW)                                                    \
  ROW(leaky_relu, LeakyRelu, 1, 0.25)                                                          \
  ROW(leaky_relu_backward, LeakyReluBackward, 2, 0.25)                                         \
  ROW(exponential_unit, ExponentialUnit, 1, 1.25, 1.05, 0.8)                                   \
  ROW(exponential_unit_backward, ExponentialUnitBackward, 2,                                   \
      ohm::functors::ExponentialUnit{1.25, 1.05, 0.8}, false)                                  \
  ROW(clamped_backward, ClampedBackward, 2, -3.0, 4.0)                                         \
  ROW(hard_sigmoid, HardSigmoid, 1)                                                            \
  ROW(hard_sigmoid_backward, HardSigmoidBackward, 2)                                           \
  ROW(hard_swish, HardSwish, 1)                                                                \
  ROW(hard_swish_backward, HardSwishBackward, 2)                                               \
  ROW(hard_shrunk, HardShrunk, 1, 2.5)                                                         \
  ROW(soft_shrunk, SoftShrunk, 1, 2.5)                                                         \
  ROW(shrunk_backward, ShrunkBackward, 2, 2.5)                                                 \
  ROW(threshold, Threshold, 1, 1.5, -2.0)                                                      \
  ROW(threshold_backward, ThresholdBackward, 2, 1.5)                                           \
  ROW(prelu, Prelu, 2)                                                                         \
  ROW(prelu_backward, PreluBackward, 3)                                                        \
  ROW(prelu_weight_backward, PreluWeightBackward, 2)                                           \
  ROW(squared_error, SquaredErrorValue, 2)                                                     \
  ROW(squared_error_backward, SquaredErrorBackward, 2, ohm::functors::SquaredError{}, 0.5)     \
  ROW(squared_error_weighted_backward, SquaredErrorWeightedBackward, 3,                        \
      ohm::functors::SquaredError{}, 0.5)                                                      \
  ROW(smooth_l1, SmoothL1Value, 2, ohm::functors::SmoothL1{0.75})                              \
  ROW(smooth_l1_backward, SmoothL1Backward, 2, ohm::functors::SmoothL1{0.75}, 0.5)             \
  ROW(smooth_l1_weighted_backward, SmoothL1WeightedBackward, 3, ohm::functors::SmoothL1{0.75}, \
      0.5)                                                                                     \
  ROW(huber, HuberValue, 2, ohm::functors::Huber{0.75})                                        \
  ROW(huber_backward, HuberBackward, 2, ohm::functors::Huber{0.75}, 0.5)                       \
  ROW(huber_weighted_backward, HuberWeightedBackward, 3, ohm::functors::Huber{0.75}, 0.5)      \
  ROW(cross_entropy, CrossEntropyValue, 2)                                                     \
  ROW(cross_entropy_backward, CrossEntropyBackward, 2, ohm::functors::CrossEntropy{}, 0.5)     \
  ROW(cross_entropy_weighted_backward, CrossEntropyWeightedBackward, 3,                        \
      ohm::functors::CrossEntropy{}, 0.5)                                                      \
  ROW(cross_entropy_target_backward, CrossEntropyTargetBackward, 2,                            \
      ohm::functors::CrossEntropyOfTarget{}, 0.5)                                              \
  ROW(cross_entropy_target_weighted_backward, CrossEntropyTargetWeightedBackward, 3,           \
      ohm::functors::CrossEntropyOfTarget{}, 0.5)

/// The same: updates of optimizers.
#define OHM_FOR_EACH_UPDATE_FUNCTOR(ROW)                                                           \
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
  ROW(fused_first_moment, FusedFirstMoment, 3, ohm::functors::UsedGradient{-1.0, 0.1}, 0.1)        \
  ROW(fused_second_moment, FusedSecondMoment, 3, ohm::functors::UsedGradient{-1.0, 0.1}, 0.9)      \
  ROW(fused_adam_step, FusedAdamStep, 3, 0.01, 0.5, 1e-08)                                         \
  ROW(fused_sgd_step, FusedSgdStep, 2, ohm::functors::UsedGradient{1.0, 0.1}, 0.01)                \
  ROW(fused_momentum, FusedMomentum, 3, ohm::functors::UsedGradient{1.0, 0.1}, 0.9, 1.0)           \
  ROW(fused_first_momentum, FusedFirstMomentum, 3, ohm::functors::UsedGradient{1.0, 0.1})          \
  ROW(fused_momentum_step, FusedMomentumStep, 3, ohm::functors::UsedGradient{1.0, 0.1}, 0.01, 0.9, \
      true)

/// All of them; nvcc makes them in several files, side by side.
#define OHM_FOR_EACH_FLOATING_FUNCTOR(ROW) \
  OHM_FOR_EACH_MATH_FUNCTOR(ROW)           \
  OHM_FOR_EACH_SPECIAL_FUNCTOR(ROW)        \
  OHM_FOR_EACH_PIECEWISE_FUNCTOR(ROW)      \
  OHM_FOR_EACH_UPDATE_FUNCTOR(ROW)

/// For loops of every dtype.
#define OHM_FOR_EACH_GENERAL_FUNCTOR(ROW)  \
  ROW(copy, Copy, 1)                       \
  ROW(sum, Sum, 2)                         \
  ROW(relu, Relu, 1)                       \
  ROW(scaled_sum, ScaledSum, 2, 2.0)       \
  ROW(product, Product, 2)                 \
  ROW(maximum, Maximum, 2)                 \
  ROW(minimum, Minimum, 2)                 \
  ROW(floor_quotient, FloorQuotient, 2)    \
  ROW(trunc_quotient, TruncQuotient, 2)    \
  ROW(remainder, Remainder, 2)             \
  ROW(neg, Neg, 1)                         \
  ROW(clamp, Clamp, 1, -3.0, 4.0)          \
  ROW(equal, Equal, 2)                     \
  ROW(same, Same, 2)                       \
  ROW(unequal, Unequal, 2)                 \
  ROW(less, Less, 2)                       \
  ROW(less_or_equal, LessOrEqual, 2)       \
  ROW(greater, Greater, 2)                 \
  ROW(greater_or_equal, GreaterOrEqual, 2) \
  ROW(both, Both, 2)                       \
  ROW(either, Either, 2)                   \
  ROW(either_alone, EitherAlone, 2)        \
  ROW(where, Where, 3)                     \
  ROW(masked_fill, MaskedFill, 2, -2.0)

/// Of an element's number: they count as loops of float32, whatever they write.
#define OHM_FOR_EACH_GENERATOR(ROW)                                                  \
  ROW(constant, Constant, 0, 2.5)                                                    \
  ROW(progression, Progression, 0, -1.0, 0.5)                                        \
  ROW(uniform_draw, UniformDraw, 0, ohm::functors::WordDraw{7, 3}, -1.0, 1.0)        \
  ROW(integer_draw, IntegerDraw, 0, ohm::functors::WordDraw{7, 3}, std::int64_t{-5}, \
      std::uint64_t{11})                                                             \
  ROW(bernoulli_draw, BernoulliDraw, 0, ohm::functors::WordDraw{7, 3}, 0.75F, 1.25)  \
  ROW(normal_draw, NormalDraw, 0, ohm::functors::WordDraw{7, 3}, 0.5, 2.0)

// ROW(its kKernel, functor of rows, the operand that holds indices or -1, parameters...)

/// For floating dtypes.
#define OHM_FOR_EACH_FLOATING_ROW(ROW)                                                     \
  ROW(softmax_row, SoftmaxRow, -1, true)                                                   \
  ROW(softmax_backward_row, SoftmaxBackwardRow, -1, true)                                  \
  ROW(layer_norm_row, LayerNormRow, -1, 1e-5)                                              \
  ROW(layer_norm_backward_row, LayerNormBackwardRow, -1)                                   \
  ROW(layer_norm_column, LayerNormColumn, -1, ohm::functors::kVerifiedSplitReduction)      \
  ROW(chosen_losses, ChosenLosses, 3, ohm::functors::ChosenClass{1, 0, 37}, true)          \
  ROW(reduce_extremum, ReduceExtremum, -1, true, ohm::functors::kVerifiedSplitReduction)   \
  ROW(topk_row, TopkRow, -1, std::int64_t{5}, ohm::functors::Ordering{false})              \
  ROW(reduce_norm, ReduceNorm, -1, true, true, ohm::functors::kVerifiedSplitReduction)     \
  ROW(non_finite, NonFinite, -1, std::int64_t{9583})                                       \
  ROW(scattered_row, ScatteredRow, 1, std::int64_t{37}, std::int64_t{30}, std::int64_t{3}) \
  ROW(chosen_loss, ChosenLoss, 2, ohm::functors::ChosenClass{1, 0, 37})                    \
  ROW(chosen_backward, ChosenBackward, 2, ohm::functors::ChosenClass{1, 0, 37}, false, false)

/// Folds, norms of channels, recurrent cells and images, for floating dtypes.
#define OHM_FOR_EACH_REDUCTION_ROW(ROW)                                                            \
  ROW(reduce_product_backward, ReduceProductBackward, -1, ohm::functors::kVerifiedReducedRows,     \
      ohm::functors::kVerifiedStridedIndex, ohm::functors::kVerifiedReducedRows)                   \
  ROW(reduce_variance, ReduceVariance, -1, ohm::functors::kVerifiedReducedRows, 1.0, true)         \
  ROW(any_all, AnyAll, -1, ohm::functors::kVerifiedReducedRows, true)                              \
  ROW(reduce_maximum, ReduceMaximum, -1, ohm::functors::kVerifiedReducedRows, true, false)         \
  ROW(cleared_row, ClearedRow, -1, ohm::functors::kVerifiedReducedRows)                            \
  ROW(group_norm_row, GroupNormRow, -1, ohm::functors::kVerifiedGroups, 1e-5)                      \
  ROW(group_norm_backward_row, GroupNormBackwardRow, -1, ohm::functors::kVerifiedGroups)           \
  ROW(group_norm_channel, GroupNormChannel, -1, ohm::functors::kVerifiedChannels)                  \
  ROW(channel_moments, ChannelMoments, -1, ohm::functors::kVerifiedReducedRows, 1e-5, 0.1)         \
  ROW(channel_normalised, ChannelNormalised, -1, ohm::functors::kVerifiedReducedRows,              \
      ohm::functors::kVerifiedReducedRows, false, 1e-5)                                            \
  ROW(channel_backward, ChannelBackward, -1, ohm::functors::kVerifiedReducedRows,                  \
      ohm::functors::kVerifiedReducedRows, ohm::functors::kVerifiedReducedRows, false, 1e-5, true) \
  ROW(lstm_cell, LstmCell, -1, ohm::functors::kVerifiedCell)                                       \
  ROW(lstm_cell_backward, LstmCellBackward, -1, std::int64_t{5}, ohm::functors::MatrixSteps{5, 1}, \
      ohm::functors::MatrixSteps{5, 1}, ohm::functors::MatrixSteps{5, 1})                          \
  ROW(gru_cell, GruCell, -1, ohm::functors::kVerifiedCell)                                         \
  ROW(gru_cell_backward, GruCellBackward, -1, std::int64_t{5}, ohm::functors::MatrixSteps{5, 1})   \
  ROW(resized, Resized, -1, ohm::functors::kVerifiedHeight, ohm::functors::kVerifiedWidth,         \
      ohm::functors::kVerifiedResized, ohm::functors::kVerifiedUnresized)                          \
  ROW(resized_backward, ResizedBackward, -1, ohm::functors::kVerifiedHeight,                       \
      ohm::functors::kVerifiedWidth, ohm::functors::kVerifiedUnresized,                            \
      ohm::functors::kVerifiedResized)                                                             \
  ROW(rearranged_backward, RearrangedBackward, -1, ohm::functors::kVerifiedReflection,             \
      ohm::functors::kVerifiedDimSteps)

/// Elements that move, for every dtype.
#define OHM_FOR_EACH_GATHER_SCATTER_ROW(ROW)                                        \
  ROW(rearranged, Rearranged, -1, ohm::functors::kVerifiedArrangement, -2.0)        \
  ROW(scan_sum, ScanSum, -1, ohm::functors::kVerifiedIndexAlongDim)                 \
  ROW(places_outside, PlacesOutside, 1, ohm::functors::StridedIndex{1, {259}, {1}}, \
      std::int64_t{0}, std::int64_t{20}, std::int64_t{30})                          \
  ROW(gathered, Gathered, 1, ohm::functors::kVerifiedStridedIndex,                  \
      ohm::functors::kVerifiedStridedIndex, std::int64_t{37}, std::int64_t{37})     \
  ROW(scattered, Scattered, 1, ohm::functors::kVerifiedIndexAlongDim,               \
      ohm::functors::kVerifiedIndexAlongDim, ohm::functors::kVerifiedIndexAlongDim, \
      std::int64_t{259}, std::int64_t{259}, true, 0.5)                              \
  ROW(gathered_slices, GatheredSlices, 2, ohm::functors::kVerifiedPlaces,           \
      ohm::functors::kVerifiedStridedIndex)                                         \
  ROW(scattered_slices, ScatteredSlices, 2, ohm::functors::kVerifiedPlaces,         \
      ohm::functors::StridedIndex{1, {9583}, {1}}, std::int64_t{37})                \
  ROW(reduce_product, ReduceProduct, -1, ohm::functors::kVerifiedReducedRows)

/// Pooling, for floating dtypes.
#define OHM_FOR_EACH_POOLING_ROW(ROW)                                                      \
  ROW(pooled_maximum, PooledMaximum, -1, ohm::functors::kVerifiedPooling,                  \
      ohm::functors::kVerifiedWindows, ohm::functors::kVerifiedImages)                     \
  ROW(pooled_maximum_backward, PooledMaximumBackward, 2, ohm::functors::kVerifiedPooling,  \
      ohm::functors::kVerifiedImages, ohm::functors::kVerifiedWindows)                     \
  ROW(pooled_average, PooledAverage, -1, ohm::functors::kVerifiedAverage,                  \
      ohm::functors::kVerifiedWindows, ohm::functors::kVerifiedImages)                     \
  ROW(pooled_average_backward, PooledAverageBackward, -1, ohm::functors::kVerifiedAverage, \
      ohm::functors::kVerifiedImages, ohm::functors::kVerifiedWindows)

/// Fused attention, which is computed in float32 whatever its tensors are.
#define OHM_FOR_EACH_ATTENTION_ROW(ROW)                                                        \
  ROW(attention_row, AttentionRow, -1, ohm::functors::kVerifiedAttention)                      \
  ROW(attention_query_backward, AttentionQueryBackward, -1, ohm::functors::kVerifiedOfQueries, \
      ohm::functors::HeadSteps{80, 40, 4, 1}, ohm::functors::HeadSteps{4800, 2400, 240, 1})    \
  ROW(attention_key_backward, AttentionKeyBackward, -1, ohm::functors::kVerifiedOfKeys,        \
      ohm::functors::HeadSteps{80, 40, 4, 1}, ohm::functors::HeadSteps{120, 60, 6, 1})         \
  ROW(attention_weights, AttentionWeights, -1, ohm::functors::kVerifiedAttentionTile)          \
  ROW(attention_slopes, AttentionSlopes, -1, ohm::functors::kVerifiedSlopesTile,               \
      ohm::functors::HeadSteps{0, 4800, 240, 1})

/// Sorts, for floating dtypes: what a block does together, tile by tile or digit by digit, and the
/// rest.
#define OHM_FOR_EACH_SORTED_TILE(ROW)                                  \
  ROW(sorted_tile, SortedTile, -1, std::int64_t{259}, std::int64_t{1}, \
      ohm::functors::Ordering{true})
#define OHM_FOR_EACH_DIGIT_TILE(ROW)                                                               \
  ROW(digit_counts, DigitCounts, -1, ohm::functors::kVerifiedTiles, ohm::functors::kVerifiedDigit) \
  ROW(moved_by_digit, MovedByDigit, 2, ohm::functors::kVerifiedTiles,                              \
      ohm::functors::kVerifiedOneDigit)
#define OHM_FOR_EACH_SORTING_ROW(ROW)                               \
  ROW(counts_before, CountsBefore, -1)                              \
  ROW(merged_run, MergedRun, -1, std::int64_t{12}, std::int64_t{1}, \
      ohm::functors::Ordering{false})                               \
  ROW(picked_order, PickedOrder, -1, std::int64_t{259}, std::int64_t{1}, std::int64_t{5})

/// For every dtype.
#define OHM_FOR_EACH_GENERAL_ROW(ROW) \
  ROW(reduce_sum, ReduceSum, -1, 1.0, ohm::functors::kVerifiedSplitReduction)
