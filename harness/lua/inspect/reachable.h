// Storages reachable from tensors, modules and optimizers, and the path to each.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/nn/module.h"
#include "runtime/optim/optimizer.h"
#include "runtime/tensor/tensor.h"

namespace ohm::lua {

struct ReachedStorage {
  const Storage* storage = nullptr;
  std::size_t place = 0;  ///< for Reachable::path_to()
  /// As a value of the script, or its gradient: no graph lies between.
  bool is_direct = false;
};

/// Everything reachable from one root, nearest first.
class Reachable {
 public:
  static constexpr std::size_t kRoot = 0;

  Reachable(std::string root, Device device);

  /// A place beneath another one, named as a script would name it: ".x", "[1]".
  std::size_t add_place(std::size_t from, std::string name);
  void add(const Tensor& tensor, std::size_t place);
  void add(const nn::Module& module, std::size_t place);
  void add(const optim::Optimizer& optimizer, std::size_t place);

  /// Follows what was added to its end.
  void follow();

  /// Those of the device, each once, nearest first.
  const std::vector<ReachedStorage>& storages() const { return storages_; }
  /// The steps to it from the root; equal ones that follow each other are one, counted.
  std::vector<std::string> path_to(const ReachedStorage& reached) const;

 private:
  struct Place {
    std::size_t from;
    std::string name;
    bool continues;  ///< the name is a part of the step before, ".weight"
    bool is_direct;  ///< no step lies between the root and this
  };
  struct PendingTensor {
    Tensor tensor;
    std::size_t place;
  };
  struct PendingNode {
    const Node* node;
    std::size_t place;
  };

  std::size_t add_step(std::size_t from, std::string name);
  void enqueue(const Tensor& tensor, std::size_t place);
  bool is_new(const void* object) { return seen_.insert(object).second; }
  void visit(const PendingTensor& pending);
  void visit(const PendingNode& pending);
  void visit_saved(const PendingNode& pending);

  Device device_;
  std::vector<Place> places_;
  std::vector<ReachedStorage> storages_;
  std::unordered_set<const void*> seen_;
  std::vector<Tensor> held_;  ///< so that no address in seen_ is used again
  std::deque<PendingTensor> tensors_;
  std::deque<PendingNode> nodes_;
  std::deque<PendingTensor> bases_;  ///< of views
};

}  // namespace ohm::lua
