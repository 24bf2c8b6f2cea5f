// What PyTorch's functions in Python hold, and until when: all that ops, modules and optimizers say
// about it.
//
// Note [Lifetimes of Python's variables]
// What is alive at a request decides whether memory is enough. Much of PyTorch is written in
// Python, whose functions let go of tensors at other times than C++ does:
// - A function that returns lets its locals go after the arguments that its caller made for it; in
//   C++ they go first. Such an op gives its locals to outlive_arguments() as its last step.
// - An error keeps the frames that it leaves, with their variables, until it is dropped. A function
//   with such variables ends with `catch (...)`, hold_variables(), `throw`. An optimizer's update
//   has many functions: its lists are TemporaryLists, its variables Variables, and EndedUpdate
//   gathers what they hold.
// - A list lets its elements go from the last to the first; a vector, from the first. That is a
//   TemporaryList.
//
// The order of two lines, or a block that ends early, says the rest: C++ destroys what is declared
// last first, so code declares variables in the reverse of the order in which Python's frame lets
// them go.
//
// None of it allocates memory of a device or changes a value, and where nobody calls functions in
// Python's place (call_frames.h), everything goes as it does in C++. A function of PyTorch in C++
// (`at::…`) needs nothing of it. What variables of a script hold is a matter of the script host
// alone: harness/lua/vm/lifetimes.h.
#pragma once

#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm {

/// For an op that returns: keeps `local` until the arguments of the running call have gone. Drops
/// it at once where no call waits for that.
void outlive_arguments(Tensor local);

/// For a handler `catch (...)` that throws again: an error of memory keeps these variables of the
/// frame that it leaves. They go after those of frames that it has left before, in this order;
/// undefined ones are left out.
void hold_variables(const std::vector<Tensor>& variables);

/// A scope's end, for a destructor to ask about.
class ScopeEnd {
 public:
  bool is_by_error() const { return std::uncaught_exceptions() > exceptions_; }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

/// What variables held of an update that an error ends, for hold_variables(). While one is there,
/// the variables and lists that the error leaves add to it.
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
    if (end_.is_by_error()) EndedUpdate::add(tensor);
  }

 private:
  ScopeEnd end_;
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
    if (end_.is_by_error()) end_by_error();
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
  ScopeEnd end_;
};

}  // namespace ohm
