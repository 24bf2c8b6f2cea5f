// How errors leave a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/harness/lua/script_test.h"

namespace ohm::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ScriptErrors : public ScriptTest {
 protected:
  engine::ScriptError error(std::string_view source) {
    try {
      run(source);
    } catch (const engine::ScriptError& error) {
      return error;
    }
    return engine::ScriptError("there was no error");
  }
};

TEST_F(ScriptErrors, NameFileLineAndTraceback) {
  const engine::ScriptError raised =
      error("local function inner()\n  error('no good')\nend\nlocal x = 1\ninner()");
  EXPECT_STREQ(raised.what(), "scenarios/test.lua:2: no good");
  EXPECT_EQ(raised.file, "scenarios/test.lua");
  EXPECT_EQ(raised.line, 2);
  EXPECT_THAT(raised.traceback, HasSubstr("scenarios/test.lua:2: in local 'inner'\n"
                                          "scenarios/test.lua:5: in main chunk"));
}

TEST_F(ScriptErrors, ASyntaxErrorNamesItsLine) {
  const engine::ScriptError raised = error("local x =\n\n= 3");
  EXPECT_STREQ(raised.what(), "scenarios/test.lua:3: unexpected symbol near '='");
  EXPECT_EQ(raised.line, 3);
}

TEST_F(ScriptErrors, NativesNameTheLineThatCalledThem) {
  EXPECT_EQ(error_of("local a = ohm.ones(2, 3)\nlocal b = ohm.ones(2, 3)\nreturn a:matmul(b)"),
            "scenarios/test.lua:3: [matmul] inner dims differ: [2, 3] x [2, 3]");
  EXPECT_EQ(error_of("\nreturn pcall(ohm.relu) and 1 or ohm.relu()"),
            "scenarios/test.lua:2: [relu] argument 'input' must be a tensor, got nil");
  EXPECT_EQ(error_of("local a = ohm.ones(2)\n\nreturn a + nil"),
            "scenarios/test.lua:3: [add] argument 'other' must be a tensor or a number, got nil");
}

TEST_F(ScriptErrors, OfNativesCanBeCaught) {
  EXPECT_EQ(text("local ok, message = pcall(ohm.relu, 'x') return message"),
            "scenarios/test.lua:1: [relu] argument 'input' must be a tensor, got \"x\"");
  EXPECT_EQ(text("local ok, message = pcall(function() return ohm.ones(2) + 'x' end) "
                 "return message"),
            "scenarios/test.lua:1: [add] argument 'other' must be a tensor or a number, got \"x\"");
}

TEST_F(ScriptErrors, ValuesThatAreNoStringsAreShownAsText) {
  EXPECT_EQ(error_of("error({})"), "the error object is a table value");
  EXPECT_EQ(error_of("error(setmetatable({}, {__tostring = function() return 'mine' end}))"),
            "mine");
  EXPECT_EQ(error_of("error()"), "the error object is a nil value");
  EXPECT_EQ(error_of("error(42)"), "42");
}

TEST_F(ScriptErrors, AFailingToStringDoesNotHideThatThereWasAnError) {
  EXPECT_NE(error_of("error(setmetatable({}, {__tostring = function() error('x') end}))"), "");
}

TEST_F(ScriptErrors, LongPathsAreNotCut) {
  const std::string path = "/" + std::string(80, 'a') + "/" + std::string(80, 'b') + ".lua";
  interpreter_->load("\nerror('here')", path);
  try {
    interpreter_->call(0, 0);
    FAIL() << "there was no error";
  } catch (const engine::ScriptError& raised) {
    EXPECT_EQ(raised.what(), path + ":2: here");
    EXPECT_EQ(raised.file, path);
    EXPECT_EQ(raised.line, 2);
    EXPECT_THAT(raised.traceback, HasSubstr(path + ":2: in main chunk"));
  }
}

TEST_F(ScriptErrors, LeaveTheInterpreterUsable) {
  EXPECT_NE(error_of("error('x')"), "");
  EXPECT_NE(error_of("ohm.ones(2):matmul(ohm.ones(3))"), "");
  EXPECT_EQ(lua_gettop(interpreter_->state()), 0);
  EXPECT_EQ(number("return 1"), 1);
}

TEST_F(ScriptErrors, AClosedTensorSaysThatItWasClosed) {
  EXPECT_EQ(error_of("local kept do local x <close> = ohm.ones(1) kept = x end return kept + 1"),
            "scenarios/test.lua:1: [add] argument 'input' is a tensor that was closed");
}

class OutOfMemoryErrors : public ScriptTest {
 protected:
  static constexpr std::size_t kCapacity = std::size_t{64} << 20U;
  OutOfMemoryErrors() : ScriptTest({.capacity_bytes = kCapacity}) {}
};

TEST_F(OutOfMemoryErrors, HaveFieldsAndPyTorchsText) {
  const auto values = run(
      "local ok, e = pcall(function()\n"
      "  return ohm.empty(100, 1024, 1024, {device = 'cuda'})\n"
      "end)\n"
      "return {device = e.device, requested = e.requested_bytes, segment = e.segment_bytes,\n"
      "        capacity = e.capacity_bytes, free = e.free_bytes, allocated = e.allocated_bytes,\n"
      "        reserved = e.reserved_bytes, injected = e.injected, line = e.line, file = e.file,\n"
      "        message = tostring(e), category = e.category}");
  std::map<std::string, engine::ReturnedValue> by_name(values.begin(), values.end());
  EXPECT_EQ(by_name["device"].text, "cuda:0");
  EXPECT_THAT(by_name["requested"].values, ElementsAre(400 << 20));
  EXPECT_THAT(by_name["segment"].values, ElementsAre(400 << 20));
  EXPECT_THAT(by_name["capacity"].values, ElementsAre(kCapacity));
  EXPECT_THAT(by_name["free"].values, ElementsAre(kCapacity));
  EXPECT_THAT(by_name["allocated"].values, ElementsAre(0));
  EXPECT_THAT(by_name["injected"].values, ElementsAre(0));
  EXPECT_THAT(by_name["line"].values, ElementsAre(2));
  EXPECT_EQ(by_name["file"].text, kPath);
  EXPECT_EQ(by_name["category"].text, "input");
  EXPECT_THAT(by_name["message"].text,
              StartsWith("CUDA out of memory. Tried to allocate 400.00 MiB. GPU 0 has a total "
                         "capacity of 64.00 MiB"));
}

TEST_F(OutOfMemoryErrors, SuggestTheNearestField) {
  EXPECT_THAT(error_of("local _, e = pcall(ohm.empty, 1 << 30, {device = 'cuda'}) "
                       "return e.request_bytes"),
              HasSubstr("an out-of-memory error has no field 'request_bytes' (did you mean "
                        "\"requested_bytes\"?)"));
}

TEST_F(OutOfMemoryErrors, LeaveTheScriptAsTheTypedError) {
  for (const char* chunk : {
           "\nlocal x = ohm.empty(1 << 30, {device = 'cuda'})",
           "\nlocal ok, e = pcall(ohm.empty, 1 << 30, {device = 'cuda'})\nerror(e)",
           "\nassert(pcall(ohm.empty, 1 << 30, {device = 'cuda'}))",
           "\ncoroutine.wrap(function() ohm.empty(1 << 30, {device = 'cuda'}) end)()",
           "\nohm.no_grad(function() ohm.empty(1 << 30, {device = 'cuda'}) end)",
           "\nohm.distributed.spawn(1, function() ohm.empty(1 << 30, {device = 'cuda'}) end)",
       }) {
    try {
      run(chunk);
      ADD_FAILURE() << "no error: " << chunk;
    } catch (const OutOfMemory& error) {
      EXPECT_EQ(error.report().requested_bytes, std::size_t{4} << 30U) << chunk;
      EXPECT_EQ(machine_.context().sites->at(error.report().site).line, 2) << chunk;
    }
  }
}

TEST_F(OutOfMemoryErrors, HoldTheVariablesOfTheFunctionsThatTheyLeft) {
  const char* step =
      "local function step(x)\n"
      "  local kept = ohm.empty(1024, {device = 'cuda'})\n"
      "  local list = {ohm.empty(1024, {device = 'cuda'})}\n"
      "  return ohm.empty(1 << 30, {device = 'cuda'})\n"
      "end\n";
  EXPECT_EQ(
      number(std::string(step) + "local ok, e = pcall(step, ohm.empty(1024, {device = 'cuda'}))\n"
                                 "local held = ohm.cuda.memory_allocated()\n"
                                 "e = nil\n"
                                 "return held - ohm.cuda.memory_allocated()"),
      3 * 4096);
  EXPECT_EQ(number(std::string(step) + "pcall(step, ohm.empty(1024, {device = 'cuda'}))\n"
                                       "return ohm.cuda.memory_allocated()"),
            0);
}

/// The bytes that an error of `step` holds, with 24 MiB in `x` of 64 MiB on the GPU.
std::string held_by_error_of(const std::string& step) {
  return "local x = ohm.ones(6 << 20, {device = 'cuda', requires_grad = true})\n"
         "local y\n"
         "local ok, e = pcall(function() " +
         step +
         " end)\n"
         "y = nil\n"
         "local held = ohm.cuda.memory_allocated()\n"
         "e = nil\n"
         "return held - ohm.cuda.memory_allocated()";
}

// As PyTorch's frames do: what backward was given, and made itself; the inputs of the inner
// modules.
TEST_F(OutOfMemoryErrors, HoldTheVariablesOfTheLibrarysFunctions) {
  EXPECT_EQ(number(held_by_error_of("y = x:tanh(); y:sum():backward()")), (24 << 20) + 2 * 512);
  EXPECT_EQ(number(held_by_error_of("y = x:tanh(); ohm.autograd.grad(y:sum(), x)")),
            (24 << 20) + 2 * 512);
  EXPECT_EQ(number(held_by_error_of("local mode <close> = ohm.no_grad()\n"
                                    "ohm.nn.Sequential(ohm.nn.Tanh(), ohm.nn.Tanh())(x)")),
            24 << 20);
  EXPECT_EQ(number(held_by_error_of("local mode <close> = ohm.no_grad()\n"
                                    "ohm.nn.functional.relu(x * 2.0)")),
            24 << 20);
  EXPECT_EQ(number(held_by_error_of("local mode <close> = ohm.no_grad()\n"
                                    "ohm.nn.functional.gelu(x * 2.0)")),
            0);  // there in C++ alone
}

}  // namespace
}  // namespace ohm::test
