// What is found by watching random programs is what the collector finds.
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <iterator>
#include <random>
#include <string>

#include "tests/harness/lua/vm/script_outcome.h"
#include "tests/support/watched_lifetimes.h"

namespace ohm::test {
namespace {

enum class Also : std::uint8_t {
  nothing,
  objects,
  coroutines,
  weak_tables,
  objects_and_weak_tables
};

/// Programs of a few variables that hold tensors, tables and functions, and something else as well.
class RandomProgram {
 public:
  RandomProgram(std::uint32_t seed, Also also)
      : random_(seed),
        has_objects_(also == Also::objects || also == Also::objects_and_weak_tables),
        has_coroutines_(also == Also::coroutines),
        has_weak_tables_(also == Also::weak_tables || also == Also::objects_and_weak_tables) {}

  std::string make(int statements) {
    std::string text = "local a, b, c, d = {}, {}, T(), {}\nkept = {}\n";
    for (int i = 0; i < statements; ++i) {
      text += below(8) == 0 ? "for _ = 1, 3 do " + statement() + " " + statement() + " end\n"
                            : statement() + "\n";
    }
    return text;
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  std::string variable() {
    constexpr const char* kNames[] = {"a", "b", "c", "d", "kept.x"};
    return kNames[below(std::size(kNames))];
  }
  std::string key() { return std::to_string(below(4) + 1); }

  std::string value() {
    if (has_objects_ && below(3) == 0) return value_of_objects();
    if (has_coroutines_ && below(3) == 0) return value_of_coroutines();
    if (has_weak_tables_ && below(3) == 0) return value_of_weak_tables();
    switch (below(7)) {
      case 0:
        return "T()";
      case 1:
        return "{}";
      case 2:
        return "{T(), " + variable() + ", k = " + variable() + "}";
      case 3:
        return "nil";
      case 4:
        return "at(" + variable() + ", " + key() + ")";
      case 5:
        return "call(" + variable() + ")";
      default:
        return variable();
    }
  }

  std::string value_of_objects() {
    switch (below(4)) {
      case 0:
        return "ohm.object {x = T()}";
      case 1:
        return "ohm.object {" + variable() + ", x = " + variable() + "}";
      case 2:
        return "weak(" + variable() + ")";
      default:
        return "attribute(" + variable() + ")";
    }
  }

  std::string value_of_weak_tables() {
    constexpr const char* kModes[] = {"'k'", "'v'", "'k'", "'kv'"};
    if (below(2) == 0) return "at(" + variable() + ", " + variable() + ")";
    return std::string("setmetatable({}, {__mode = ") + kModes[below(std::size(kModes))] + "})";
  }

  std::string value_of_coroutines() {
    switch (below(5)) {
      case 0:
        return "coroutine.create(" + body_of_coroutine() + ")";
      case 1:
        return "coroutine.wrap(" + body_of_coroutine() + ")";
      case 2:
        return "resume(" + variable() + ")";
      default:
        return "resume(" + variable() + ", " + variable() + ")";
    }
  }

  // Its variables are captured, handed out and written from elsewhere.
  std::string body_of_coroutine() {
    ++level_;
    std::string text = "function(p) local y = " + simple_value() + " ";
    for (std::size_t i = below(3) + 1; i > 0; --i) {
      text += below(2) == 0 ? "event() " : (level_ < 3 ? statement() : "event()") + " ";
      constexpr const char* kGiven[] = {"y", "p", "T()", "{y, p}",
                                        "function(q) local z = y y = q return z end"};
      text += std::string("p = coroutine.yield(") + kGiven[below(std::size(kGiven))] + ") ";
      if (below(2) == 0) text += variable() + " = " + (below(2) == 0 ? "p " : "y ");
    }
    --level_;
    return text + (below(4) == 0 ? "error('e') end" : "return y end");
  }
  std::string simple_value() { return below(2) == 0 ? "T()" : "{T(), " + variable() + "}"; }

  std::string statement_of_coroutines() {
    const std::string v = variable();
    switch (below(5)) {
      case 0:
        return "close(" + v + ")";
      case 1:
        return "do local i = 0 for y in each(" + v + ") do i = i + 1 event() " + variable() +
               " = y if i == 2 then break end end end";
      default:
        return "do local y = resume(" + v + ", " + simple_value() + ") event() end";
    }
  }

  std::string statement_of_objects() {
    const std::string v = variable();
    switch (below(6)) {
      case 0:
        return "do local o <close> = object(" + v + ") event() end";
      case 1:
        return "if is_table(" + v + ") then ohm.gc.collect() end";
      default:
        return "if is_object(" + v + ") then " + v + (below(2) == 0 ? ".x" : "[1]") + " = " +
               value() + " end";
    }
  }

  std::string statement() {
    if (has_objects_ && below(3) == 0) return statement_of_objects();
    if (has_coroutines_ && below(3) == 0) return statement_of_coroutines();
    const std::string v = variable();
    if (has_weak_tables_ && below(3) == 0) {
      constexpr const char* kValues[] = {"true", "T()", "nil"};
      const bool is_plain = below(2) == 0;
      return "put(" + v + ", " + variable() + ", " +
             (is_plain ? kValues[below(std::size(kValues))] : value()) + ")";
    }
    switch (below(14)) {
      case 0:
      case 1:
        return v + " = " + value();
      case 2:
      case 3:
        return "if is_table(" + v + ") then " + v + "[" + key() + "] = " + value() + " end";
      case 4:
        return "if is_table(" + v + ") then table.insert(" + v + ", (" + value() + ")) end";
      case 5:
        return "if is_table(" + v + ") then table.remove(" + v + ") end";
      case 6:
        return "do local y = " + value() + " " + v + " = function() local z = y y = " + variable() +
               " return z end end";
      case 7:
        return "pcall(function() local y = " + value() + " event() " + v + " = y error('e') end)";
      case 8:
        return "do local y = " + value() + " local function h() return y end event() " + v +
               " = h end";
      case 9:
        return "if is_table(" + v + ") and not mode(" + v + ") then setmetatable(" + v + ", {" +
               variable() + "}) end";
      default:
        return "event()";
    }
  }

  std::mt19937 random_;
  bool has_objects_;
  bool has_coroutines_;
  bool has_weak_tables_;
  int level_ = 0;  ///< of coroutines in each other
};

constexpr const char* kHelpers =
    "local function is_table(v) return type(v) == 'table' end\n"
    "local function at(v, k) if is_table(v) then return v[k] end end\n"
    "local function mode(v) local m = getmetatable(v) return m and m.__mode end\n"
    "local function put(v, k, x) if not is_table(v) or k == nil then return end "
    "if mode(v) == 'v' and type(k) ~= 'number' then k = 1 end "
    "v[k] = x end\n"
    "local function call(v) if type(v) == 'function' then local ok, x = pcall(v) "
    "if ok then return x end end end\n"
    "local function resume(v, x) if type(v) == 'thread' then local ok, y = coroutine.resume(v, x) "
    "if ok then return y end elseif type(v) == 'function' then local ok, y = pcall(v, x) "
    "if ok then return y end end end\n"
    "local function close(v) if type(v) == 'thread' and coroutine.status(v) ~= 'running' and "
    "coroutine.status(v) ~= 'normal' then coroutine.close(v) end end\n"
    "local function each(v) return function() return resume(v) end end\n"
    "local function is_object(v) return type(v) == 'userdata' and tostring(v):find('^object') end\n"
    "local function object(v) if is_object(v) then return v end end\n"
    "local function weak(v) if is_object(v) then return ohm.weakref(v) end end\n"
    "local function attribute(v) if is_object(v) then local _, x = pcall(function() return v.x "
    "end) "
    "return x end end\n";

class WatchedLifetimesOfRandomPrograms : public testing::TestWithParam<Also> {};

TEST_P(WatchedLifetimesOfRandomPrograms, AreThoseThatTheCollectorFinds) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const std::string script = kHelpers + RandomProgram(seed, GetParam()).make(60);
    const ScriptOutcome collected = run_script(script);
    const WatchFromTheStart watch;
    try {
      EXPECT_EQ(run_script(script).events, collected.events) << "seed " << seed << "\n" << script;
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\nseed " << seed << "\n" << script;
    }
  }
}

constexpr const char* kNamesOfAlso[] = {"WithoutObjects", "WithObjects", "WithCoroutines",
                                        "WithWeakTables", "WithObjectsAndWeakTables"};

INSTANTIATE_TEST_SUITE_P(Values, WatchedLifetimesOfRandomPrograms,
                         testing::Values(Also::nothing, Also::objects, Also::coroutines,
                                         Also::weak_tables, Also::objects_and_weak_tables),
                         [](const auto& info) {
                           return std::string(kNamesOfAlso[static_cast<std::size_t>(info.param)]);
                         });

// Lua's hashes of strings have one seed: without, every other process had another length here.
TEST(ScriptTables, WithGapsHaveTheSameLengthOnEveryRun) {
  EXPECT_NO_THROW(run_script(
      "local t = {} t.x, t.y = 1, 2 t[1] = 3 t.x = nil t[2] = 4 t[1] = nil assert(#t == 0)"));
}

}  // namespace
}  // namespace ohm::test
