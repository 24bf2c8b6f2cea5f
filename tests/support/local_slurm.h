// The Slurm of the distribution on this machine alone: its daemons, started in a folder of their
// own on ports of their own, with one node of two processors.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace ohm::test {

class LocalSlurm {
 public:
  /// What is not installed; empty: all that is needed is there.
  static std::string lack();

  /// Starts the daemons and waits for the node. It has a card of each of these types, up to three,
  /// behind which are devices that every machine has; a task sees its own in CUDA_VISIBLE_DEVICES,
  /// by the place of its type. Throws std::runtime_error with what the daemons logged.
  explicit LocalSlurm(const std::vector<std::string>& card_types = {});
  ~LocalSlurm();
  LocalSlurm(const LocalSlurm&) = delete;
  LocalSlurm& operator=(const LocalSlurm&) = delete;

  /// For SLURM_CONF.
  std::string configuration() const { return folder_.file("slurm.conf"); }
  /// What a command of Slurm's prints, both streams.
  std::string output_of(const std::string& command) const;
  /// Tasks of arrays that run.
  std::size_t running_tasks() const;

  /// Ends the daemon of the node by SIGKILL; its tasks go on. The node is idle again, or busy with
  /// them, when restart_node() returns.
  void kill_node() const;
  void restart_node() const;

 private:
  void write_configuration(const std::vector<std::string>& card_types) const;
  void start(const std::string& command) const;
  void wait_for_node() const;
  void end(const std::string& pid_file, int signal) const;

  TempFolder folder_;
};

}  // namespace ohm::test
