// A size-only GPU on which a test runs an op forward and backward and states the events.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/engine.h"
#include "runtime/tensor/context.h"
#include "tests/support/event_text.h"
#include "tests/support/test_machine.h"

namespace ohm::test {

class OpEvents : public testing::Test {
 protected:
  static constexpr std::size_t kWorkspaceBytes = 8'519'680;

  OpEvents() : OpEvents(0) {}
  explicit OpEvents(std::size_t cublas_workspace_bytes)
      : machine_({.cublas_workspace_bytes = cublas_workspace_bytes}), events_(machine_.events()) {}

  Context& context() { return machine_.context(); }

  /// Events since the last call; see EventText.
  std::string events() { return events_.next(); }

  static TensorOptions on_gpu(DType dtype = DType::float32) { return {dtype, Device::cuda(0)}; }

  static Tensor input(const Shape& shape, DType dtype = DType::float32) {
    return randn(shape, on_gpu(dtype));
  }
  /// An input that wants a gradient.
  static Tensor leaf(const Shape& shape, DType dtype = DType::float32) {
    Tensor tensor = input(shape, dtype);
    tensor.set_requires_grad(true);
    return tensor;
  }

  /// The events of backward from `out`, with a gradient of ones that the caller holds, and of
  /// dropping that gradient.
  std::string backward_events(const Tensor& out) {
    Tensor grad = ones_like(out);
    EXPECT_NE(events(), "");
    backward({out}, {grad}, GraphRetention::release);
    std::string text = events();
    grad = Tensor();
    EXPECT_NE(events(), "");
    return text;
  }

  /// The events of `out.backward()`, for a scalar: the root gradient among them.
  std::string scalar_backward_events(const Tensor& out) {
    backward(out);
    return events();
  }

 private:
  TestMachine machine_;
  EventText events_;
};

}  // namespace ohm::test
