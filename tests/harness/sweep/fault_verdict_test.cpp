#include "harness/sweep/command/fault_verdict.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "harness/sweep/command/call_sites.h"
#include "harness/sweep/command/rank_faults.h"

namespace ohm::engine {
namespace {

using interpose::CallKind;
using testing::ElementsAre;
using testing::HasSubstr;

CommandOutcome ended(int status, const std::string& printed) {
  CommandOutcome outcome;
  outcome.status = status;
  outcome.printed = printed;
  outcome.fault.emplace();
  outcome.fault->cause = "an error";
  outcome.fault->process = 7;
  outcome.fault->shown = 1;
  outcome.fault->is_sticky = true;
  return outcome;
}

const CommandOutcome kFaultFree = ended(0, "step 0\nstep 1\nsum 3.5\n");

ExpectedEnd expected() { return {kFaultFree, {"step 0", "step 1", "sum 3.5"}}; }

FaultVerdict verdict_of(const CommandOutcome& outcome) {
  return call_fault_verdict(expected(), outcome).verdict;
}

std::shared_ptr<const CommandOutcome> again(int status, const std::string& printed) {
  return std::make_shared<CommandOutcome>(ended(status, printed));
}

TEST(CallFaultVerdict, IsCleanWhereTheProgramFails) {
  EXPECT_EQ(verdict_of(ended(1, "step 0\n")), FaultVerdict::clean_error);
}

TEST(CallFaultVerdict, IsSwallowedWhereTheGpuIsUsedOn) {
  CommandOutcome outcome = ended(0, *kFaultFree.printed);
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::recovered_same);
  outcome.fault->later_work = 2;
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::swallowed);
  outcome.fault->successors = 1;  // that did the work
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::recovered_same);
}

TEST(CallFaultVerdict, IsSwallowedWhereALineIsMissing) {
  EXPECT_EQ(verdict_of(ended(0, "step 0\nsum 3.5\n")), FaultVerdict::swallowed);
}

TEST(CallFaultVerdict, IsRetriedWhereACallIsMadeAgainInVain) {
  CommandOutcome outcome = ended(1, "step 0\n");
  outcome.fault->again = 2;
  const TrialVerdict found = call_fault_verdict(expected(), outcome);
  EXPECT_EQ(found.verdict, FaultVerdict::retried);
  EXPECT_THAT(found.what, HasSubstr("again 2 times"));
  outcome.fault->is_sticky = false;  // out of memory, say
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error);
}

TEST(CallFaultVerdict, AnAbortIsNoCrashWhereItSaysWhy) {
  CommandOutcome outcome = ended(134, "");
  outcome.signal = 6;
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error);
  outcome.signal = 11;
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::crash);
}

TEST(CallFaultVerdict, HoldsARestartToTheWholeOutput) {
  CommandOutcome outcome = ended(1, "step 0\n");
  outcome.fault->restarted = again(0, "resumed\nstep 1\nsum 3.5\n");
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error);
  outcome.fault->restarted = again(0, "resumed\nsum 3.5\n");
  EXPECT_TRUE(needs_kill(expected(), outcome));
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error) << "it may resume so after any end";
  outcome.fault->printed_before_kill = "step 0\n";
  outcome.fault->restarted_after_kill = again(0, "resumed\nsum 3.5\n");
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error) << "it does";
  outcome.fault->restarted_after_kill = again(0, "resumed\nstep 1\nsum 3.5\n");
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::lost_work);
  outcome.fault->restarted = again(2, "");
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::corrupt);
}

TEST(CallFaultVerdict, FindsALockThatIsLeftWhicheverWayItEnds) {
  CommandOutcome outcome = ended(1, "step 0\n");
  outcome.fault->restarted = again(1, "another run is active\n");
  outcome.fault->restarted_after_kill = again(1, "another run is active\n");
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error) << "it may never run twice in a folder";
  outcome.fault->restarts_after_success = true;
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::corrupt);
  EXPECT_THAT(call_fault_verdict(expected(), outcome).what, HasSubstr("a run without faults"));
  outcome.fault->restarted = again(0, "step 0\nstep 1\nsum 3.5\n");
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::clean_error);
}

TEST(CallFaultVerdict, IsNotReachedWhereNoCallFailed) {
  CommandOutcome outcome = kFaultFree;
  outcome.fault->process = 0;
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::not_reached);
  outcome.is_overdue = true;
  EXPECT_EQ(verdict_of(outcome), FaultVerdict::not_reached);
}

TEST(CallFaultVerdict, DoesNotCompareTimesAndRates) {
  for (const char* line : {"done in # s", "took #", "12# it/s", "[00:#0] done", "5.# tokens/sec",
                           "elapsed: 0.#", "train time = 0.#"}) {
    const auto with = [&](const std::string& figure) {
      std::string text = line;
      return text.replace(text.find('#'), 1, figure);
    };
    const ExpectedEnd end = {kFaultFree, {with("1")}};
    const CommandOutcome outcome = ended(0, with("4") + "\n");
    EXPECT_EQ(call_fault_verdict(end, outcome).verdict, FaultVerdict::recovered_same) << line;
    EXPECT_EQ(call_fault_verdict(end, ended(0, "")).verdict, FaultVerdict::swallowed) << line;
  }
  for (const char* line : {"loss 1", "step 1", "1 steps", "accuracy 0.1"}) {
    std::string other = line;
    other.replace(other.find('1'), 1, "4");
    const ExpectedEnd end = {kFaultFree, {line}};
    EXPECT_EQ(call_fault_verdict(end, ended(0, other)).verdict, FaultVerdict::swallowed) << line;
  }
}

TEST(CallFaultVerdict, HoldsARestartToDeclaredValues) {
  CommandOutcome fault_free = kFaultFree;
  fault_free.checked = "sum = 3.5";
  CommandOutcome outcome = ended(1, "");
  CommandOutcome other = ended(0, "");
  other.checked = "sum = 3.0";
  outcome.fault->restarted = std::make_shared<CommandOutcome>(other);
  const TrialVerdict found = call_fault_verdict({fault_free, {}}, outcome);
  EXPECT_EQ(found.verdict, FaultVerdict::lost_work);
  EXPECT_THAT(found.what, HasSubstr("sum = 3.0 instead of sum = 3.5"));
}

/// A run without faults makes 4 steps.
TrialVerdict after_steps(CommandOutcome outcome, int steps) {
  outcome.fault->optimizer_steps = steps;
  return call_fault_verdict({kFaultFree, {}, 4}, outcome);
}

TEST(CallFaultVerdict, IsSwallowedWhereStepsAreMissing) {
  const TrialVerdict found = after_steps(ended(0, ""), 3);
  EXPECT_EQ(found.verdict, FaultVerdict::swallowed);
  EXPECT_EQ(found.what, "it ends with status 0 after 3 of 4 optimizer steps");
  EXPECT_EQ(after_steps(ended(0, ""), 4).verdict, FaultVerdict::recovered_same);
  EXPECT_EQ(after_steps(ended(1, ""), 3).verdict, FaultVerdict::clean_error);
}

TEST(CallFaultVerdict, LeavesABatchOutThatMemoryDoesNotSufficeForIfItIsSaid) {
  CommandOutcome outcome = ended(0, "");
  outcome.fault->is_sticky = false;
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::swallowed);
  outcome.fault->errors = "ohm: an error was injected\n";
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::swallowed) << "that is not its own";
  outcome.fault->errors = "batch 2 is left out: CUDA out of memory\n";
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::recovered_same);
  outcome.fault->is_sticky = true;
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::swallowed) << "none can follow";
  outcome.fault->is_sticky = false;
  outcome.fault->errors = "Exception in thread Thread-1:\nRuntimeError: CUDA error\n";
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::swallowed);
}

TEST(CallFaultVerdict, CountsTheStepsOfProcessesThatFollow) {
  CommandOutcome outcome = ended(0, "");
  outcome.fault->successors = 1;
  EXPECT_EQ(after_steps(outcome, 5).verdict, FaultVerdict::recovered_same) << "one of them again";
  const TrialVerdict found = after_steps(outcome, 3);
  EXPECT_EQ(found.verdict, FaultVerdict::lost_work);
  EXPECT_EQ(found.what,
            "it ends with status 0, and all its processes have made 3 of 4 optimizer steps");
}

TEST(CallFaultVerdict, CountsTheStepsOfARestart) {
  CommandOutcome outcome = ended(1, "");
  CommandOutcome restarted = ended(0, "");
  restarted.fault->optimizer_steps = 1;
  outcome.fault->restarted = std::make_shared<CommandOutcome>(restarted);
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::clean_error);
  const TrialVerdict found = after_steps(outcome, 2);
  EXPECT_EQ(found.verdict, FaultVerdict::lost_work);
  EXPECT_THAT(found.what, HasSubstr("with its restart it has made 3 of 4 optimizer steps"));
}

TEST(CallFaultVerdict, MayGoOnWithoutTheGpu) {
  CommandOutcome outcome = ended(0, "");
  outcome.fault->later_work = 2;  // that showed it that the GPU is lost
  EXPECT_EQ(after_steps(outcome, 4).verdict, FaultVerdict::swallowed);
  outcome.fault->continues_without_failures = true;
  EXPECT_EQ(after_steps(outcome, 4).verdict, FaultVerdict::recovered_same);
  EXPECT_EQ(after_steps(outcome, 3).verdict, FaultVerdict::swallowed);
}

CommandOutcome job(int status, const std::string& printed, const std::vector<int>& steps) {
  CommandOutcome outcome = ended(status, printed);
  outcome.fault->steps = steps;
  outcome.fault->step_kind = "step";
  outcome.fault->is_lost = true;
  return outcome;
}

TrialVerdict lost(const CommandOutcome& outcome) {
  const CommandOutcome fault_free = job(0, "loss 0.5\n6 steps\n", {6});
  return lost_rank_verdict({fault_free, {"loss 0.5", "6 steps"}}, outcome);
}

TEST(LostRankVerdict, CountsStepsOfAllStarts) {
  const TrialVerdict found = lost(job(0, "loss 0.5\n6 steps\n", {4, 3}));
  EXPECT_EQ(found.verdict, FaultVerdict::recovered_same);
  EXPECT_EQ(found.repeated_calls, 1);
  EXPECT_EQ(lost(job(0, "loss 0.5\n", {3, 2})).verdict, FaultVerdict::lost_work);
}

TEST(LostRankVerdict, ComparesFractionsAndNotCountsOfOneStart) {
  EXPECT_EQ(lost(job(0, "loss 0.5\n3 steps\n", {3, 3})).verdict, FaultVerdict::recovered_same);
  const TrialVerdict found = lost(job(0, "loss 0.75\n3 steps\n", {3, 3}));
  EXPECT_EQ(found.verdict, FaultVerdict::recovered_different);
  EXPECT_THAT(found.what, HasSubstr("\"loss 0.75\" instead of \"loss 0.5\""));
}

TEST(LostRankVerdict, TellsARestartThatFailsFromAJobThatEnds) {
  CommandOutcome outcome = job(1, "", {3});
  EXPECT_EQ(lost(outcome).verdict, FaultVerdict::clean_error);
  outcome.fault->failed_restarts = 2;
  EXPECT_EQ(lost(outcome).verdict, FaultVerdict::corrupt);
  outcome.is_overdue = true;
  EXPECT_EQ(lost(outcome).verdict, FaultVerdict::hang);
}

TEST(LostRankVerdict, IsNotReachedWhereNoRankWasLost) {
  CommandOutcome outcome = job(0, "loss 0.5\n6 steps\n", {6});
  outcome.fault->is_lost = false;
  EXPECT_EQ(lost(outcome).verdict, FaultVerdict::not_reached);
}

/// What a job that ended prints, and makes, after it is started again.
TrialVerdict started_again(const CommandOutcome& restarted) {
  CommandOutcome outcome = job(1, "", {3});
  outcome.fault->restarted = std::make_shared<CommandOutcome>(restarted);
  return lost(outcome);
}

TEST(LostRankVerdict, HoldsARestartToTheWholeJob) {
  EXPECT_EQ(started_again(job(0, "loss 0.5\n3 steps\n", {3})).verdict, FaultVerdict::clean_error);
  const TrialVerdict failed = started_again(job(1, "", {}));
  EXPECT_EQ(failed.verdict, FaultVerdict::corrupt);
  EXPECT_THAT(failed.what, HasSubstr("a restart after the rank was lost fails"));
  CommandOutcome endless = job(0, "", {});
  endless.is_overdue = true;
  EXPECT_EQ(started_again(endless).verdict, FaultVerdict::hang);
  EXPECT_EQ(started_again(job(0, "loss 0.5\n2 steps\n", {2})).verdict, FaultVerdict::lost_work);
  EXPECT_EQ(started_again(job(0, "loss 0.7\n3 steps\n", {3})).verdict,
            FaultVerdict::recovered_different);
  EXPECT_EQ(started_again(job(0, "3 steps\n", {3})).verdict, FaultVerdict::lost_work);
  EXPECT_EQ(started_again(job(0, "rank 1: loss 0.53 steps\n\n3 steps\n", {3})).verdict,
            FaultVerdict::clean_error)
      << "two ranks print at the same time";
}

TEST(LostRank, IsReadAndWritten) {
  const LostRank lost = parse_lost_rank("1@3c");
  EXPECT_EQ(lost.rank, 1);
  EXPECT_EQ(lost.step, 2);
  EXPECT_EQ(lost.kind, "collective");
  EXPECT_EQ(text_of(lost), "1@3c");
  for (const char* text : {"", "1", "@3", "1@", "1@0", "-1@2", "1@3x", "1@3cc"}) {
    EXPECT_THROW(parse_lost_rank(text), std::invalid_argument) << text;
  }
}

TEST(CallSites, HaveTheErrorsOfTheirKindAndTheMiddleCall) {
  const std::vector<CallSite> sites = {{"cudaMalloc", CallKind::allocation, 1, {1}},
                                       {"cudaMemcpy", CallKind::copy, 2, {1, 3, 5}}};
  const ChosenCallFaults all = chosen_call_faults(sites, {PointChoice::Kind::spread, 0}, 60);
  EXPECT_EQ(all.left_out, 10) << "the first and the last cudaMemcpy";
  EXPECT_EQ(chosen_call_faults(sites, {PointChoice::Kind::all, 0}, 60).faults.size(), 17);
  std::vector<std::string> plans;
  for (const CallFault& fault : all.faults) plans.push_back(plan_text(sites[fault.site], fault));
  EXPECT_THAT(plans, ElementsAre("call(cudaMalloc) & nth(1) -> error(memory)",
                                 "call(cudaMalloc) & nth(1) -> error(device_lost)",
                                 "call(cudaMemcpy) & nth(3) -> error(illegal_address)",
                                 "call(cudaMemcpy) & nth(3) -> error(launch_failure)",
                                 "call(cudaMemcpy) & nth(3) -> error(launch_timeout)",
                                 "call(cudaMemcpy) & nth(3) -> error(ecc_uncorrectable)",
                                 "call(cudaMemcpy) & nth(3) -> error(device_lost)"));
  const ChosenCallFaults two = chosen_call_faults(sites, {PointChoice::Kind::sample, 2}, 2);
  EXPECT_EQ(two.left_out, 15);
  ASSERT_EQ(two.faults.size(), 2);
  EXPECT_EQ(two.faults[0].site, 0) << "each site comes before a second error at one";
  EXPECT_EQ(two.faults[1].site, 1);
}

TEST(CallKinds, AreToldByNames) {
  EXPECT_EQ(interpose::kind_of_call("cudaLaunchKernel"), CallKind::launch);
  EXPECT_EQ(interpose::kind_of_call("cudaMemcpyAsync"), CallKind::copy);
  EXPECT_EQ(interpose::kind_of_call("cuMemsetD8Async"), CallKind::copy);
  EXPECT_EQ(interpose::kind_of_call("cudaStreamSynchronize"), CallKind::wait);
  EXPECT_EQ(interpose::kind_of_call("cudaMallocAsync"), CallKind::allocation);
  EXPECT_EQ(interpose::kind_of_call("cudaEventQuery"), CallKind::query);
  EXPECT_EQ(interpose::kind_of_call("ncclAllReduce"), CallKind::collective);
  EXPECT_EQ(interpose::kind_of_call("cublasSgemm_v2"), CallKind::computation);
  EXPECT_EQ(interpose::kind_of_call("cublasCreate_v2"), CallKind::creation);
  for (const char* name : {"cudaFree", "cudaFreeAsync", "cudaEventDestroy", "cublasSetStream_v2",
                           "cudaMemcpyNodeParams", "cudaGraphAddMemcpyNode", "ncclCommAbort"}) {
    EXPECT_EQ(interpose::kind_of_call(name), CallKind::other) << name;
  }
}

}  // namespace
}  // namespace ohm::engine
