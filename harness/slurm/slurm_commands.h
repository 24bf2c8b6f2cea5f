// Slurm's own commands: sbatch, squeue, sacct, scancel.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::engine {

/// Slurm is not there, does not answer, or could not end what it was given.
class SlurmUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A job of Slurm's: its number, as sbatch prints it.
using SlurmJob = std::string;

/// A task of a job array.
struct SlurmTask {
  SlurmJob job;
  std::size_t number = 0;

  bool operator<(const SlurmTask& other) const {
    return job != other.job ? job < other.job : number < other.number;
  }
};

/// Submits a script with its arguments. Throws SlurmUnavailable where there is no sbatch, and
/// std::invalid_argument with Slurm's own words where it refuses the job.
SlurmJob submit_job(const std::vector<std::string>& options, const std::string& script,
                    const std::vector<std::string>& arguments = {});

/// Throws as submit_job() where Slurm would refuse the job; nothing is submitted.
void test_job(const std::vector<std::string>& options, const std::string& script);

/// What waits, runs or has just ended, with Slurm's word for its state: PENDING, RUNNING, … Throws
/// SlurmUnavailable where squeue does not answer.
std::map<SlurmTask, std::string> queued_tasks();

/// How a task ended, in Slurm's word (TIMEOUT, NODE_FAIL, …); empty where Slurm keeps no accounts.
std::string end_of_task(const SlurmTask& task);

/// Ends the jobs; those that have ended already are passed over.
void cancel_jobs(const std::vector<SlurmJob>& jobs);

/// "1-3,7", as sbatch takes the numbers of an array. `numbers` are in ascending order.
std::string array_text(const std::vector<std::size_t>& numbers);

/// The tasks in what squeue prints in the format of queued_tasks(). What is none is passed over.
std::map<SlurmTask, std::string> tasks_of(std::string_view squeue_text);

}  // namespace ohm::engine
