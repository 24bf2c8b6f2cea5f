// That the fields of a result name all of its members, each once.
#include "reports/model/fields.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "reports/model/fit_result.h"
#include "reports/model/minimum_result.h"
#include "reports/model/replay_result.h"
#include "reports/model/run_result.h"
#include "reports/model/sweep_result.h"
#include "reports/model/verification_result.h"
#include "tests/reports/filled.h"

namespace ohm {
namespace {

template <class Struct>
class FieldsOf : public testing::Test {};

using Structs = testing::Types<
    HolderResult, PeakResult, DeviceResult, HostResult, LimitResult, OomResult, ErrorResult,
    RetainedResult, RetentionResult, FindingEvidence, FindingResult, VariantResult, ParameterResult,
    HeatMapRow, HeatMapResult, ScenarioResult, RunResult, ShardInput, ShardResult, HistorySite,
    HistoryLine, HistoryCall, HistoryBlock, HistorySegment, HistoryRange, HistoryRun, HistoryFrame,
    DeviceMemoryHistory, MemoryHistory, FitPoint, FitLine, FitStop, FitMargin, FitBound,
    FitRecording, FitHolder, FitBasis, FitRow, FitResult, ReplayedFigure, ReplayMismatch,
    ReplayStart, ReplayedDevice, ReplayedTrace, UnservedRequest, WhatIfRow, MinCapacityRow,
    ReplayResult, BriefError, SweepPoint, FailedFault, SweptVariant, SweptScenario, SweepResult,
    BriefOom, MinimumCapacity, VariantMinimum, ScenarioMinimum, MinimumResult, EventDifference,
    LibraryWorkspace, ConvolutionWorkspace, HostTraffic, VerifiedVariant, CardDevice, CardLibrary,
    VerifiedCard, CardVerification, VerificationWork, VerificationResult>;
TYPED_TEST_SUITE(FieldsOf, Structs);

TYPED_TEST(FieldsOf, AStructNameEveryMemberOnce) {
  EXPECT_EQ(test::member_count<TypeParam>(), test::stored_field_count<TypeParam>());
  std::set<std::string> names;
  each_field<TypeParam>([&names](const auto& field) {
    using Shape = typename std::remove_cvref_t<decltype(field)>::Shape;
    if constexpr (!std::is_same_v<Shape, UnwrittenShape>) {
      EXPECT_TRUE(names.insert(field.name).second) << field.name;
    }
  });
}

template <class Result>
class FilledResult : public testing::Test {};

using Results = testing::Types<RunResult, SweepResult, FitResult, ReplayResult, MinimumResult,
                               VerificationResult>;
TYPED_TEST_SUITE(FilledResult, Results);

TYPED_TEST(FilledResult, HasNoMemberAsANewOne) {
  test::Differences differences;
  differences.compare(test::filled<TypeParam>(), TypeParam());
  for (const std::string& name : differences.seen()) {
    EXPECT_TRUE(differences.names().contains(name)) << name;
  }
}

}  // namespace
}  // namespace ohm
