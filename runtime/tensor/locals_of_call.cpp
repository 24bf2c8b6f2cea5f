#include "runtime/tensor/locals_of_call.h"

#include <utility>

namespace ohm {
namespace {

thread_local LocalsOfCall* innermost_call = nullptr;

}  // namespace

LocalsOfCall::LocalsOfCall() : previous_(std::exchange(innermost_call, this)) {}

LocalsOfCall::~LocalsOfCall() { innermost_call = previous_; }

std::vector<Tensor> LocalsOfCall::take() { return std::exchange(locals_, {}); }

void outlive_arguments(Tensor local) {
  if (innermost_call != nullptr) innermost_call->locals_.push_back(std::move(local));
}

}  // namespace ohm
