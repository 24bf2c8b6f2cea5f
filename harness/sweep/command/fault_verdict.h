// The verdict on a command in which a call of CUDA failed, or a rank was lost.
//
// Note [Restarts]
// A program that gives up is started again, in the folder as it left it: it then has to end as
// without faults. Values that the program declares are held to that.
// So are steps of an optimizer: together both have to make as many.
// Lines that it prints may be of this run alone ("trained 5 steps"): where they are other than
// without faults, the same is tried once more with the process killed at the call. Only if the
// program resumes well after that has its handling of the error lost work. A restart that fails in
// both is a bug where one in the folder of a run without faults does not: a lock is left, or a part
// of a checkpoint. A program that does not overwrite its results refuses all three. A lost rank was
// killed: a restart of its job that fails is the job's.
#pragma once

#include "harness/sweep/command/compared_end.h"
#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/trial.h"

namespace ohm::engine {

/// Whether what the restarted program printed leaves it open if it resumed well.
bool needs_kill(const ExpectedEnd& expected, const CommandOutcome& outcome);

TrialVerdict call_fault_verdict(const ExpectedEnd& expected, const CommandOutcome& outcome);
TrialVerdict lost_rank_verdict(const ExpectedEnd& expected, const CommandOutcome& outcome);

}  // namespace ohm::engine
