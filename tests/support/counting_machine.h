// A card of the stand-in driver that counts, by op, what came from it to the host.
#pragma once

#include <memory>
#include <string>

#include "tests/support/cuda_machine.h"

namespace ohm::test {

class CountingMachine {
 public:
  CountingMachine() : counting_(*machine_.context().gpus[0].backend) {
    counting_.traffic = std::make_shared<CudaTraffic>();
    machine_.context().gpus[0].backend = &counting_;
  }

  /// A line for each op or node.
  std::string moved() const {
    std::string moved;
    for (const auto& [name, values] : counting_.traffic->to_host) {
      moved.append(name).append(": ").append(std::to_string(values.times)).append(" times\n");
    }
    return moved;
  }

  void forget_moved() const { counting_.traffic->to_host.clear(); }

 private:
  CudaMachine machine_;
  CudaBackend counting_;
};

}  // namespace ohm::test
