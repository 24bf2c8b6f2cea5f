#include "runtime/lifetimes/call_frames.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/lifetimes/lifetimes.h"

namespace ohm {
namespace {

thread_local LocalsOfCall* innermost_call = nullptr;

/// Variables that an error of the script's keeps. A pointer to the last one alone is of the thread:
/// nothing has to be done when a thread ends.
class KeptVariables {
 public:
  KeptVariables() { last = this; }
  ~KeptVariables() {
    if (last == this) last = nullptr;
  }
  KeptVariables(const KeptVariables&) = delete;
  KeptVariables& operator=(const KeptVariables&) = delete;

  void add(const std::vector<Tensor>& variables) {
    std::copy_if(variables.begin(), variables.end(), std::back_inserter(variables_),
                 [](const Tensor& variable) { return variable.defined(); });
  }

  static thread_local KeptVariables* last;

 private:
  std::vector<Tensor> variables_;
};

thread_local KeptVariables* KeptVariables::last = nullptr;

}  // namespace

LocalsOfCall::LocalsOfCall() : previous_(std::exchange(innermost_call, this)) {}

LocalsOfCall::~LocalsOfCall() { innermost_call = previous_; }

std::vector<Tensor> LocalsOfCall::take() { return std::exchange(locals_, {}); }

void outlive_arguments(Tensor local) {
  if (innermost_call != nullptr) innermost_call->locals_.push_back(std::move(local));
}

void hold_variables(const std::vector<Tensor>& variables) {
  try {
    throw;
  } catch (OutOfMemory& error) {
    for (const Tensor& variable : variables) {
      if (variable.defined()) error.hold(std::make_shared<const Tensor>(variable));
    }
  } catch (const std::exception&) {  // its text is all that a script sees of it
  } catch (...) {                    // what Lua throws
    if (KeptVariables::last != nullptr) KeptVariables::last->add(variables);
  }
}

std::shared_ptr<const void> variables_of_script_error() {
  return std::make_shared<KeptVariables>();
}

}  // namespace ohm
