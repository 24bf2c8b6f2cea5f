// The shard that a scheduler or a runner of tests says in the environment: `--shard auto`.
#pragma once

#include <functional>
#include <string>

#include "harness/scenario/shard.h"

namespace ohm::engine {

/// The value of a variable; nullptr: it is not set. As std::getenv().
using Variables = std::function<const char*(const char* name)>;

/// A scheduler that says 1 of 1 beside another that counts more (a task of a job array, say)
/// says nothing. Throws std::invalid_argument when no variable is there, half of a pair is, a value
/// makes no sense, or two schedulers count different shards.
Shard shard_of_variables(const Variables& variables);

/// The names of all of them, for people: "SLURM_ARRAY_TASK_ID of SLURM_ARRAY_TASK_COUNT, …".
std::string shard_variable_names();

}  // namespace ohm::engine
