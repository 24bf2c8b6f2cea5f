// What a script can reach, and what it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "tests/harness/lua/script_test.h"
#include "tests/support/temp_folder.h"

namespace ohm::test {
namespace {

using testing::HasSubstr;

class Sandbox : public ScriptTest {};

struct Escape {
  const char* chunk;
  const char* refusal;  ///< a part of the error
};

class SandboxEscape : public ScriptTest, public testing::WithParamInterface<Escape> {};

TEST_P(SandboxEscape, IsRefused) {
  EXPECT_THAT(error_of(GetParam().chunk), HasSubstr(GetParam().refusal));
}

constexpr Escape kEscapes[] = {
    {"os.execute('true')", "undefined global 'os'"},
    {"io.open('/etc/passwd')", "undefined global 'io'"},
    {"package.loadlib('x', 'y')", "undefined global 'package'"},
    {"dofile('/etc/passwd')", "undefined global 'dofile'"},
    {"loadfile('/etc/passwd')", "undefined global 'loadfile'"},
    {"collectgarbage('stop')", "undefined global 'collectgarbage'"},
    {"warn('@on')", "undefined global 'warn'"},
    {"return _G.os", "undefined global 'os'"},
    {"return _ENV['io']", "undefined global 'io'"},
    {"return load('return os')()", "undefined global 'os'"},
    {"return coroutine.wrap(function() return io end)()", "undefined global 'io'"},
    {"setmetatable(_G, {})", "protected metatable"},
    {"debug.getregistry()", "attempt to call a nil value (field 'getregistry')"},
    {"debug.sethook()", "attempt to call a nil value (field 'sethook')"},
    {"debug.getinfo(1)", "attempt to call a nil value (field 'getinfo')"},
    {"debug.setmetatable('', nil)", "attempt to call a nil value (field 'setmetatable')"},
    {"string.dump(function() end)", "attempt to call a nil value (field 'dump')"},
    {"(''):dump()", "attempt to call a nil value (method 'dump')"},
    {"assert(load('\\27Lua'))", "attempt to load a binary chunk"},
    {"assert(load('\\27Lua', 'x', 'b'))", "attempt to load a binary chunk"},
    {"setmetatable({}, {__gc = function() end})", "[setmetatable] scripts cannot have finalizers"},
    {"getmetatable(ohm.ones(1)).__gc(ohm.ones(1))", "attempt to index a boolean value"},
    {"getmetatable(ohm.nn.ReLU()).__gc()", "attempt to index a boolean value"},
    {"math.randomseed()", "[math.randomseed] needs a seed"},
    {"require('../secret')", "[require] '../secret' is not a module name"},
    {"require('..secret')", "is not a module name"},
    {"require('/etc/passwd')", "is not a module name"},
    {"require('a/../../b')", "is not a module name"},
    {"require('')", "is not a module name"},
    {"require('os')", "module 'os' not found"},
};

INSTANTIATE_TEST_SUITE_P(All, SandboxEscape, testing::ValuesIn(kEscapes),
                         [](const testing::TestParamInfo<Escape>& info) {
                           return std::to_string(info.index) + "_" +
                                  std::regex_replace(std::string(info.param.chunk),
                                                     std::regex("[^A-Za-z]+"), "_");
                         });

TEST_F(Sandbox, TextsAreTheSameOnEveryRun) {
  EXPECT_EQ(text("return tostring({}) .. ' ' .. tostring(print) .. ' ' .. tostring(0 / 0)"),
            "table function nan");
  EXPECT_EQ(text("return string.format('%s %q %5.1f %d%%', {}, 'p', -(0 / 0), 3)"),
            "table \"p\"   nan 3%");
  EXPECT_EQ(text("return tostring(setmetatable({}, {__tostring = function() return 'own' end}))"),
            "own");
  EXPECT_EQ(text("return tostring(setmetatable({}, {__name = 'box'}))"), "box");
  EXPECT_EQ(error_of("return string.format('%-20p', {})"),
            "scenarios/test.lua:1: [string.format] %p is an address: it differs from run to run");
  EXPECT_EQ(text("return ('%d %s'):format(3, nil)"), "3 nil");
}

TEST_F(Sandbox, KeepsTheLibrariesThatReachNothing) {
  EXPECT_EQ(text("return table.concat({math.floor(2.5), ('x'):rep(3), utf8.char(955), "
                 "select('#', 1, 2), tostring(rawequal(1, 1))}, ' ')"),
            "2 xxx λ 2 true");
  EXPECT_EQ(number("return coroutine.wrap(function(a) coroutine.yield(a + 1) end)(41)"), 42);
  EXPECT_THAT(text("return debug.traceback('here')"), HasSubstr("here\nstack traceback:"));
}

TEST_F(Sandbox, AnUndefinedGlobalSuggestsTheNearestName) {
  EXPECT_EQ(error_of("\nretrun(1)\nprnit(1)"), "scenarios/test.lua:2: undefined global 'retrun'");
  EXPECT_EQ(error_of("prnit(1)"),
            "scenarios/test.lua:1: undefined global 'prnit' (did you mean \"print\"?)");
  EXPECT_EQ(error_of("local total = 1\nreturn totla"),
            "scenarios/test.lua:2: undefined global 'totla' (did you mean \"total\"?)");
  EXPECT_EQ(error_of("accumulate = 1\nreturn acumulate"),
            "scenarios/test.lua:2: undefined global 'acumulate' (did you mean \"accumulate\"?)");
}

TEST_F(Sandbox, AnUnknownFieldOfALibrarySuggestsTheNearestName) {
  EXPECT_EQ(error_of("ohm.radnn(3)"),
            "scenarios/test.lua:1: ohm has no field 'radnn' (did you mean \"randn\"?)");
  EXPECT_EQ(error_of("ohm.cuda.memory_alocated()"),
            "scenarios/test.lua:1: ohm.cuda has no field 'memory_alocated' (did you mean "
            "\"memory_allocated\"?)");
  EXPECT_EQ(error_of("ohm.nn.functional.reul(1)"),
            "scenarios/test.lua:1: ohm.nn.functional has no field 'reul' (did you mean \"relu\"?)");
}

TEST_F(Sandbox, RandomNumbersComeFromTheSeed) {
  const double first = number("return math.random(1 << 40)");
  interpreter_ =
      std::make_unique<lua::Interpreter>(kPath, engine::ScriptCaps{}, 7, lua::script_bindings());
  EXPECT_EQ(number("return math.random(1 << 40)"), first);
  interpreter_ =
      std::make_unique<lua::Interpreter>(kPath, engine::ScriptCaps{}, 8, lua::script_bindings());
  EXPECT_NE(number("return math.random(1 << 40)"), first);
  EXPECT_EQ(number("math.randomseed(5) local a = math.random() math.randomseed(5) "
                   "return a == math.random()"),
            1);
}

TEST_F(Sandbox, TablesAreTraversedInAFixedOrder) {
  EXPECT_EQ(text("local keys = {} "
                 "for k in pairs({z = 1, [2] = 1, a = 1, [1.5] = 1, [true] = 1, [-3] = 1, "
                 "m = 1, [1] = 1, [false] = 1}) do keys[#keys + 1] = tostring(k) end "
                 "return table.concat(keys, ' ')"),
            "-3 1 1.5 2 a m z false true");
  EXPECT_EQ(text("local keys, k = {}, nil local t = {b = 1, a = 1, 7} repeat k = next(t, k) "
                 "keys[#keys + 1] = tostring(k) until k == nil return table.concat(keys, ' ')"),
            "1 a b nil");
  EXPECT_EQ(error_of("for _ in pairs({[{}] = 1}) do end"),
            "scenarios/test.lua:1: [pairs] a table with a table among its keys has no fixed order: "
            "keep them in a list");
  // Of several such keys the message names the same in every process.
  for (int times = 0; times < 20; ++times) {
    EXPECT_EQ(error_of("local t = {} for _ = 1, 9 do t[{}], t[function() end] = 1, 2 end "
                       "for _ in pairs(t) do end"),
              "scenarios/test.lua:1: [pairs] a table with a function among its keys has no fixed "
              "order: keep them in a list");
  }
}

TEST_F(Sandbox, ATableMayChangeWhileItIsTraversed) {
  EXPECT_EQ(text("local t, seen = {a = 1, b = 2, c = 3}, {} "
                 "for k, v in pairs(t) do seen[#seen + 1] = k .. v t.b = nil t.z = 9 end "
                 "return table.concat(seen, ' ')"),
            "a1 c3");
}

TEST_F(Sandbox, PrintWritesToStandardError) {
  testing::internal::CaptureStderr();
  run("print('a', 1, nil, ohm.tensor({1.5, 2.0}))");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a\t1\tnil\ttensor([1.5, 2], float32 [2] on cpu)\n");
}

TEST_F(Sandbox, LoadCompilesTextInAnEnvironment) {
  EXPECT_EQ(number("return load('return x + 1', 'chunk', 't', {x = 41})()"), 42);
  EXPECT_EQ(number("local n = 0 return load(function() n = n + 1 "
                   "return ({'return ', '6 ', '* 7'})[n] end)()"),
            42);
  EXPECT_THAT(text("local f, message = load('return 1 +') return message"),
              HasSubstr("unexpected symbol near <eof>"));
}

class Require : public testing::Test {
 protected:
  Require() {
    std::filesystem::create_directories(folder_.path() / "scenarios/lib/models");
    folder_.write("scenarios/near.lua", "return {name = 'near'}");
    folder_.write("scenarios/lib/far.lua", "count = (rawget(_G, 'count') or 0) + 1 return count");
    folder_.write("scenarios/lib/models/net.lua", "return require('far') + 10");
    folder_.write("scenarios/lib/loop.lua", "return require('loop')");
    folder_.write("scenarios/lib/broken.lua", "\n\nreturn +");
    folder_.write("scenarios/lib/raising.lua", "\nreturn ohm.radnn(1)");
    folder_.write("secret.lua", "return 'secret'");
    std::filesystem::create_symlink(folder_.path() / "secret.lua",
                                    folder_.path() / "scenarios/link.lua");
    interpreter_ =
        std::make_unique<lua::Interpreter>((folder_.path() / "scenarios/test.lua").string(),
                                           engine::ScriptCaps{}, 7, lua::script_bindings());
  }

  engine::ReturnedValue run(const std::string& source) {
    interpreter_->load(source, interpreter_->script_path());
    interpreter_->call(0, 1);
    auto values = lua::copy_returned_values(interpreter_->state(), -1);
    lua_pop(interpreter_->state(), 1);
    return values.at(0).second;
  }
  std::string error_of(const std::string& source) {
    try {
      run(source);
    } catch (const engine::ScriptError& error) {
      return error.what();
    }
    return "";
  }

  TempFolder folder_;
  TestMachine machine_;
  std::unique_ptr<lua::Interpreter> interpreter_;
};

TEST_F(Require, FindsFilesOfTheScenariosFolderAndItsLib) {
  EXPECT_EQ(run("return require('near').name").text, "near");
  EXPECT_EQ(run("return require('models.net')").values.at(0), 11);
}

TEST_F(Require, RunsAFileOnce) {
  EXPECT_EQ(run("require('far') require('far') return require('far')").values.at(0), 1);
}

TEST_F(Require, NamesTheFileAndLineOfAnError) {
  EXPECT_THAT(error_of("require('broken')"), HasSubstr("scenarios/lib/broken.lua:3: unexpected"));
  EXPECT_THAT(error_of("require('raising')"),
              HasSubstr("scenarios/lib/raising.lua:2: ohm has no field 'radnn'"));
}

TEST_F(Require, RefusesAModuleThatRequiresItself) {
  EXPECT_THAT(error_of("require('loop')"), HasSubstr("module 'loop' requires itself"));
  EXPECT_THAT(error_of("pcall(require, 'loop') require('loop')"),
              HasSubstr("module 'loop' requires itself"));
}

TEST_F(Require, DoesNotFollowALinkOutOfTheFolder) {
  EXPECT_THAT(error_of("require('link')"), HasSubstr("is outside the scenario's folder"));
}

}  // namespace
}  // namespace ohm::test
