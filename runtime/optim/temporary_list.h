// Temporaries of an update, with the lives that they have in PyTorch's Python code.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::optim {

/// What variables held of an update that an error ends: the error keeps it, as Python's frames do.
/// While one is there, the lists that the error leaves add to it.
class EndedUpdate {
 public:
  EndedUpdate() : outer_(std::exchange(current, this)) {}
  ~EndedUpdate() { current = outer_; }
  EndedUpdate(const EndedUpdate&) = delete;
  EndedUpdate& operator=(const EndedUpdate&) = delete;

  static void add(Tensor variable);
  /// In the order in which they go.
  const std::vector<Tensor>& variables() const { return variables_; }

 private:
  static thread_local EndedUpdate* current;

  EndedUpdate* outer_;
  std::vector<Tensor> variables_;
};

/// A variable of Python's function: an error that ends the function keeps the tensor.
class Variable : public Tensor {
 public:
  Variable() = default;
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  Variable& operator=(Tensor tensor) {
    Tensor::operator=(std::move(tensor));
    return *this;
  }
  ~Variable() {
    const Tensor& tensor = *this;
    if (std::uncaught_exceptions() > exceptions_) EndedUpdate::add(tensor);
  }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

/// A Python list of temporaries: when it goes, its elements go from the last to the first.
class TemporaryList {
 public:
  TemporaryList() = default;
  /// An op fills it with this many elements: until it has, an error lets them go from the first on.
  explicit TemporaryList(std::size_t size) : size_(size) {}
  TemporaryList(const TemporaryList&) = delete;
  TemporaryList& operator=(const TemporaryList&) = delete;
  ~TemporaryList() {
    if (std::uncaught_exceptions() > exceptions_) end_by_error();
    clear();
  }

  void clear() {
    while (!tensors_.empty()) tensors_.pop_back();
  }
  void push_back(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  void swap(TemporaryList& other) { tensors_.swap(other.tensors_); }
  bool empty() const { return tensors_.empty(); }
  std::size_t size() const { return tensors_.size(); }
  const Tensor& operator[](std::size_t i) const { return tensors_[i]; }

 private:
  void end_by_error();

  std::vector<Tensor> tensors_;
  std::size_t size_ = 0;
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace ohm::optim
