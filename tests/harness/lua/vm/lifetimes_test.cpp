// What is found by watching a script is what the collector finds, at the same events, in the same
// order.
#include "harness/lua/vm/lifetimes.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/harness/lua/vm/script_outcome.h"
#include "tests/support/watched_lifetimes.h"

namespace ohm::test {
namespace {

struct Pattern {
  const char* name;
  const char* script;
};

constexpr Pattern kPatterns[] = {
    {"WeakKeysThatAreTheirOwnValues",
     "local w, t = setmetatable({}, {__mode = 'k'}), T() w[t] = t event() t = nil event() event() "
     "t = {T()} w[t] = t event() t = nil event() event() t = T() w[t] = t w[t] = nil event() "
     "t = nil event()"},
    // The collector stood still until the native wrote: it does not begin before it would have.
    {"WeakTablesReadBeforeTheCollectorIsAsked",
     "local w = setmetatable({}, {__mode = 'v'}) table.insert(w, 1, (T())) "
     "for i = 1, 200 do local s = {i} end kept = w[1] event()"},
    {"Overwritten", "local t = {} for i = 1, 9 do t[i % 3] = T() + 1 event() end"},
    {"RemovedFromTheMiddle",
     "local t = {} for i = 1, 9 do t[i] = T() end event() t[4] = nil event() table.remove(t, 2) "
     "event() table.remove(t) event() table.insert(t, 1, T()) event() table.insert(t, T()) event() "
     "t = nil event()"},
    {"ListsOfCalls",
     "local function two() return T(), T() + 1 end\n"
     "for _ = 1, 3 do local t = {T() + 1, two()} event() t = {two(), two(), x = T()} event() end"},
    {"LongLists",
     "local function many(n) if n == 0 then return end return T(), many(n - 1) end\n"
     "local t = {many(120)} event() t = nil event() local u = {nil, T(), nil, many(3)} event()"},
    {"Closures",
     "local fs = {}\n"
     "for i = 1, 3 do local x = T() event() fs[i] = function(y) local z = x x = y return z end "
     "end\n"
     "event() local a = fs[1](nil) event() a = nil event() fs[2](T()) event() fs[3] = nil event() "
     "fs = nil event()"},
    {"SharedVariables",
     "local get, set do local x = T() get = function() return x end "
     "set = function(y) x = y end end\n"
     "event() set(T() + 1) event() set({T(), T()}) event() set(get()[1]) event() set(nil) event()"},
    {"Globals", "x = T() event() x = {y = T()} event() x.y = T() event() x = nil event()"},
    {"Environments",
     "local out = {event = event, T = T}\n"
     "do local _ENV = out a = T() event() a = {T()} event() a = nil event() end"},
    {"EnvironmentsThatAreObjects",
     "local event, T, object = event, T, ohm.object{a = T()}\n"
     "local function set() local _ENV = object local function g() a = T() a = T() event() a = "
     "{T()} event() a = nil event() end g() end set() object = nil event()"},
    {"Cycles",
     "for _ = 1, 3 do local a, b = {}, {x = T()} a.b, b.a = b, a event() a = nil event() end "
     "event()"},
    {"ParentsAndChildren",
     "local root = {children = {}} for i = 1, 5 do local child = {parent = root, x = T()} "
     "root.children[i] = child event() end event() root.children[2] = nil event() "
     "root = root.children[3] event() root = nil event()"},
    {"LinkedLists",
     "local first for i = 1, 9 do first = {x = T() + 1, next = first} event() end\n"
     "while first do first = first.next event() end"},
    {"Queues",
     "local head = {} local tail = head for i = 1, 9 do local n = {x = T() + 1} tail.next = n "
     "tail = n event() end for i = 1, 5 do head = head.next event() end head, tail = nil, nil "
     "event()"},
    {"KeysThatAreHandles",
     "local t = {} local x = T() t[x] = T() event() t[x] = nil event() x = nil event()"},
    {"Metatables",
     "local t = setmetatable({}, {__index = {x = T()}}) event() setmetatable(t, {y = T()}) event() "
     "setmetatable(t, nil) event() getmetatable('').__index.kept = T() event() "
     "string.kept = nil event()"},
    {"WritesThatGoElsewhere",
     "local other = {} local t = setmetatable({}, {__newindex = other})\n"
     "local u = setmetatable({}, {__newindex = function(self, k, v) rawset(self, k, {v}) end})\n"
     "for i = 1, 4 do t[i] = T() u[i] = T() event() end other[1] = nil u[1] = nil event() t = nil "
     "event()"},
    {"WritesThatFail",
     "local t, none = {x = T()}, nil event() pcall(function() t[none] = T() end) event() "
     "pcall(function() none.x = T() end) event() pcall(function() t[0 / 0] = T() end) event() "
     "pcall(table.insert, t, 7, T()) event() pcall(table.remove, t, 7) event()"},
    {"Unwound",
     "for i = 1, 3 do pcall(function() local x = T() local f = function() return x end kept = f "
     "event() error('e') end) event() end kept = nil event()"},
    {"Moved",
     "local t = {T(), T(), T()} event() table.move(t, 1, 3, 2) event() t[1] = nil event() "
     "table.sort(t, function() return false end) event() rawset(t, 2, nil) event() "
     "rawset(t, 3, T()) event() local a = table.pack(table.unpack(t)) event()"},
    {"ListsWithElementsBefore",
     "local t = {[3] = T(), T(), T()} event() t[3] = nil event() t = nil event()\n"
     "local u = {[2] = T(), [60] = {T()}, T() + 1, T() + 2} event() u[2] = nil event() u[60] = nil "
     "event() u = nil event()"},
    {"ListsThatAreSorted",
     "local t = {} for i = 1, 6 do t[i] = {x = T(), i} end\n"
     "table.sort(t, function(a, b) event() return a[1] > b[1] end) event() t[1] = nil event()\n"
     "local u = {T(), T(), T()} table.sort(u, function(a, b) u[1], u[2] = nil, nil event() "
     "return true end) event() u[1] = nil event()\n"
     "local v = {{1}, {2}} table.sort(v, function(a, b) v[1] = nil v[2] = {T()} event() return "
     "true end) event() v[1] = nil event() v[2] = nil event() v = nil event()\n"
     "local w = {T(), T()} local ok = pcall(table.sort, w, function() event() w[1] = T() "
     "error('e') "
     "end) event() w[1] = nil event()"},
    {"ListsWithMetamethods",
     "local function list(f) return setmetatable({T(), T(), nil, T()}, {__len = function() return "
     "4 "
     "end, __index = function() event() return T() end, __newindex = function(t, k, v) event() "
     "rawset(t, k, f(v)) event() end}) end\n"
     "for _, f in ipairs({function(v) return v end, function(v) return T() end}) do\n"
     "for _, change in ipairs({function(t) table.insert(t, 1, T()) end, function(t) "
     "table.remove(t, 1) end, function(t) table.move(t, 1, 3, 2) end, function(t) table.sort(t, "
     "function() event() return false end) end}) do\n"
     "local t = list(f) event() change(t) event() for i = 1, 5 do t[i] = nil event() end end end"},
    {"WeakTables",
     "local t = setmetatable({}, {__mode = 'v'}) t.x = T() event() local keep = T() t.y = keep "
     "event() keep = nil event() local m = {} local u = setmetatable({}, m) u.x = T() m.__mode = "
     "'v' "
     "event()"},
    {"Coroutines",
     "local c = coroutine.wrap(function() local x = T() event() coroutine.yield(x) event() end)\n"
     "local x = c() event() x = nil event() c() event()"},
    {"SuspendedCoroutines",
     "local held = {} for i = 1, 4 do held[i] = coroutine.create(function(x) local y = T() "
     "while true do event() x = coroutine.yield(x) end end) coroutine.resume(held[i], T()) end\n"
     "event() coroutine.resume(held[2], nil) event() held[1] = nil event() "
     "coroutine.resume(held[3], T() + 1) event() held = nil event()"},
    {"CoroutinesThatEnd",
     "local c = coroutine.create(function(x) event() local y = T() event() return y end)\n"
     "local _, x = coroutine.resume(c, T()) event() x = nil event() coroutine.resume(c) event()\n"
     "local d = coroutine.create(function() local x = T() error({x}) end) coroutine.resume(d) "
     "event() coroutine.close(d) event() local e = coroutine.wrap(function() local x = T() "
     "error('e') end) pcall(e) event() e = nil event()"},
    {"CoroutinesThatAreClosed",
     "local c = coroutine.create(function() local x = T() local o <close> = ohm.object {x = T()} "
     "coroutine.yield() end) coroutine.resume(c) event() coroutine.close(c) event() c = nil "
     "event()"},
    {"CoroutinesOfNatives",
     "local c = coroutine.create(T) event() local x = select(2, coroutine.resume(c)) event() "
     "x = nil event() local d = coroutine.create(ohm.cat) event() "
     "x = select(2, coroutine.resume(d, {T(), T()})) event() d = nil event() x = nil event()"},
    {"CoroutinesInCoroutines",
     "local function deep(n) local x = T() event() if n > 0 then for y in "
     "coroutine.wrap(function() "
     "deep(n - 1) end) do coroutine.yield(y) end end event() coroutine.yield(x) event() end\n"
     "for x in coroutine.wrap(function() deep(3) end) do local y = x + 1 event() end event()"},
    {"CoroutinesThatLetThemselvesGo",
     "local c c = coroutine.wrap(function(x) c = nil event() x = nil event() local y = T() event() "
     "coroutine.yield() end) c(T()) event()"},
    {"VariablesOfCoroutines",
     "local get, set local c = coroutine.create(function() local x = T() get = function() return x "
     "end set = function(y) x = y end event() coroutine.yield() event() local z = x event() "
     "coroutine.yield() end) coroutine.resume(c) event() set(T()) event() set(nil) event() "
     "set({T()}) event() coroutine.resume(c) event() set(T()) event() c = nil event() get = nil "
     "event() set(T()) event() set = nil event()"},
    {"VariablesOfTheMainProgram",
     "local x, y = T(), {T()} local c = coroutine.wrap(function() for i = 1, 3 do x = T() event() "
     "y[1] = x event() x = nil event() coroutine.yield() end end) for _ = 1, 3 do c() event() end "
     "y = nil event() c = nil event()"},
    {"Generators",
     "local function batches(n) return coroutine.wrap(function() for i = 1, n do "
     "coroutine.yield(i, T(), {T()}) end end) end\n"
     "for i, x, y in batches(3) do local z = x + 1 event() end event()\n"
     "for i, x, y in batches(3) do event() if i == 2 then break end end event()"},
    {"Ranks",
     "local results = ohm.distributed.spawn(2, function(rank) local x = ohm.ones(128, {device = "
     "'cuda:' .. rank}) for _ = 1, 2 do ohm.distributed.all_reduce(x) local y = {x + 1} "
     "ohm.distributed.all_reduce(y[1]) x = y[1] * 2 end return x end) event() results[1] = nil "
     "event() results = nil event()"},
    {"Objects",
     "local o = ohm.object {x = T()} event() o.x = T() event() local p = ohm.object {o = o} o.p = "
     "p "
     "o, p = nil, nil event() ohm.gc.collect() event()"},
    {"ObjectsOneAfterTheOther",
     "for i = 1, 5 do local o = ohm.object {x = T(), inner = ohm.object {y = T()}} event() "
     "o.inner = T() event() o = ohm.object() event() end event()"},
    {"ChainsOfObjects",
     "local first = false for i = 1, 9 do first = ohm.object {x = T(), next = first} event() end "
     "while first do first = first.next event() end"},
    {"WeakReferences",
     "local o = ohm.object {x = T()} local w = ohm.weakref(o) event() if w() then T() event() end "
     "o.x = nil event() o = nil event() if w() then T() event() end\n"
     "local c = ohm.object {} c.me = c w = ohm.weakref(c) c = nil event() if w() then T() event() "
     "end ohm.gc.collect() event() if w() then T() event() end"},
    {"ObjectsThatHoldCycles",
     "local c = ohm.object {x = T()} c.me = c local o = ohm.object {x = T(), c = c} "
     "o.t = {T(), o} o.t = nil event() c = nil event() o = nil event() ohm.gc.collect() event()"},
    {"ObjectsInVariables",
     "local f, g do local o = ohm.object {x = T()} f = function() return o end "
     "g = function(y) o = y end end event() g(ohm.object {x = T()}) event() f().x = T() event() "
     "g(nil) event() kept = {ohm.object {x = T()}} event() kept[1] = nil event()"},
    {"ObjectsClosed",
     "for i = 1, 3 do do local o <close> = ohm.object {x = T()} event() end event() end "
     "pcall(function() local o <close> = ohm.object {x = T()} error('e') end) event()"},
    {"AttributesThatFail",
     "local o, none = ohm.object {x = T()}, nil event() pcall(function() o[none] = T() end) "
     "event() pcall(function() o[0 / 0] = T() end) event() pcall(function() return o.y end) "
     "o.x = T() event()"},
    {"Modules",
     "local Net = ohm.nn.Module:extend('Net')\n"
     "function Net:__init() self.fc = ohm.nn.Linear(4, 4, {device = 'cuda'}) self.kept = {T()} "
     "end\n"
     "function Net:forward(x) self.last = x self.table = {x} return self.fc(x) end\n"
     "local net = Net() for _ = 1, 3 do net(ohm.randn(2, 4, {device = 'cuda'})) event() end\n"
     "net.kept = nil event() net.table = nil event()"},
    {"Hooks",
     "local fc, seen = ohm.nn.Linear(4, 4, {device = 'cuda'}), {}\n"
     "local h = fc:register_forward_hook(function(m, i, o) seen[#seen + 1] = o end)\n"
     "for _ = 1, 3 do fc(ohm.randn(2, 4, {device = 'cuda'})) event() end h:remove() h = nil "
     "event() "
     "seen = nil event()"},
    {"Training",
     "local fc = ohm.nn.Linear(4, 4, {device = 'cuda'}) local opt = "
     "ohm.optim.Adam(fc:parameters())\n"
     "local losses = {} for i = 1, 4 do opt:zero_grad() "
     "local loss = fc(ohm.randn(2, 4, {device = 'cuda'})):sum() loss:backward() opt:step() "
     "losses[i] = loss end event() losses = nil event()"},
    {"Modes",
     "do local m <close> = ohm.no_grad() local x = T() + 1 event() end\n"
     "ohm.no_grad(function() local x = T() + 1 event() end) event()"},
    {"Loops",
     "local t = {a = T(), b = {T()}} for k, v in pairs(t) do t[k] = nil event() end event()\n"
     "for i, v in ipairs({T(), T()}) do v = v + 1 event() end event()\n"
     "do local x <const> = T() goto done end ::done:: event()"},
    {"Checkpoints",
     "local x = ohm.randn(2, 4, {device = 'cuda', requires_grad = true})\n"
     "for _ = 1, 3 do local y = ohm.utils.checkpoint.checkpoint(function(a) local b = a * 2 return "
     "b * b end, x, "
     "{use_reentrant = true}) "
     "event() y:sum():backward() event() end"},
    {"FieldsOfContexts",
     "local Scale = ohm.autograd.Function { "
     "forward = function(ctx, x) event() ctx.kept = x * 2 event() return x * 3 end, "
     "backward = function(ctx, grad) event() return grad * ctx.kept end}\n"
     "local x = ohm.randn(2, 4, {device = 'cuda', requires_grad = true})\n"
     "for _ = 1, 3 do local y = Scale.apply(x) event() y:sum():backward() event() end"},
    {"OutOfMemory",
     "for _ = 1, 3 do local ok, e = pcall(function() local x = T() ohm.empty(1 << 50, {device = "
     "'cuda'}) end) event() e = nil event() end"},
    {"DataLoaders",
     "local set = ohm.utils.data.TensorDataset(ohm.randn(6, 2)) "
     "for x in ohm.utils.data.DataLoader(set, {batch_size = 2}) do local y = x:cuda() event() end "
     "event()"},
    {"WeakValues",
     "local t = setmetatable({}, {__mode = 'v'}) local x = T() t[1] = x t[2] = T() t.y = {T()} "
     "event() if t[2] == nil then T() event() end t[3] = {x} event() t[1] = nil event() x = nil "
     "event() t[4] = t[3] t.x = T() t = nil event()"},
    {"WeakValuesMovedByNatives",
     "local t, keep = setmetatable({}, {__mode = 'v'}), {} for i = 1, 4 do keep[i] = T() "
     "table.insert(t, keep[i]) event() end table.remove(t, 1) event() keep[2] = nil event() "
     "for i = 1, 4 do if t[i] then T() event() end end"},
    {"WeakKeys",
     "local t = setmetatable({}, {__mode = 'k'}) local x, y = T(), {} t[x] = 1 t[y] = T() "
     "t[T()] = T() event() y = nil event() t[x] = T() event() t[x] = T() event() x = nil event() "
     "local z = {} t[z] = {T(), z} event() z = nil event() t = nil event()"},
    {"TablesAndFunctionsUnderWeakKeys",
     "local t = setmetatable({}, {__mode = 'k'}) local x, y = T(), {} t[x] = {T()} t[y] = {T()} "
     "event() t[x] = function() return t end event() y = nil event() local z = {T()} "
     "t[z] = {z, T()} event() t[x] = {T(), z} z = nil event() t[x] = nil event() t[x] = {t, T()} "
     "event() local kept = t[x] t = nil event() kept = nil event() x = nil event()"},
    {"WeakKeysFoundBeforeWhatHoldsThem",
     "do local t, x = setmetatable({}, {__mode = 'k'}), T() t[x] = {T(), x} kept = t end "
     "for i = 1, 3 do event() end kept = nil event()"},
    {"WeakKeysOfTwoTables",
     "local s, t = setmetatable({}, {__mode = 'k'}), setmetatable({}, {__mode = 'k'}) "
     "local x = {T()} s[x] = {t, T()} t[x] = {s, T()} event() s = nil event() "
     "local y = {T()} t[y] = {x, T()} event() x = nil event() t = nil event() y = nil event()"},
    {"ChainsOfWeakKeys",
     "local t, last = setmetatable({}, {__mode = 'k'}), {T()} "
     "for i = 1, 5 do local k = {T()} t[k] = {last, T()} last = k event() end "
     "for i = 1, 5 do last = t[last][1] event() end last = nil event()"},
    {"ObjectsThatHoldTheirWeakTables",
     "local t = setmetatable({}, {__mode = 'k'}) local o = ohm.object {t, x = T()} event() "
     "t[o] = T() event() o = nil event() local v = setmetatable({}, {__mode = 'v'}) "
     "o = ohm.object {v, x = T()} v[1] = o event() o = nil event() event()"},
    {"WeakTablesInCyclesOfObjects",
     "local t = setmetatable({}, {__mode = 'k'}) t[1] = ohm.object {t, x = T()} t[t] = T() event() "
     "t = nil event() event() local key = {} t = setmetatable({}, {__mode = 'k'}) "
     "t[1] = ohm.object {t} t[key] = {T()} event() t = nil event() event() key = nil event() "
     "ohm.gc.collect() event()"},
    {"ObjectsUnderWeakKeys",
     "local t = setmetatable({}, {__mode = 'k'}) "
     "for i = 1, 4 do local o = ohm.object {x = T()} t[o] = {T(), i % 2 == 0 and o} event() end "
     "event() ohm.gc.collect() event() local p = ohm.object {} t[p] = ohm.object {p = p, y = T()} "
     "event() p = nil event() ohm.gc.collect() event()"},
    {"WeakKeysAndValues",
     "local t = setmetatable({}, {__mode = 'kv'}) local x, y = T(), {T()} t[x] = y event() "
     "if t[x] then T() event() end y = nil event() if t[x] then T() event() end t[x] = x event() "
     "x = nil event()"},
    {"TablesThatBecomeWeak",
     "local m, t = {}, {T(), {T()}} setmetatable(t, m) event() m.__mode = 'v' event() t[1] = T() "
     "event() m.__mode = nil t[1] = T() event() setmetatable(t, {__mode = 'v'}) event() "
     "setmetatable(t, nil) t[1] = T() event() t = nil event()"},
    {"WeakTablesInEachOther",
     "local t, keep = setmetatable({}, {__mode = 'v'}), {} "
     "for i = 1, 3 do local u = setmetatable({}, {__mode = 'v'}) u[1] = T() keep[i] = u[1] "
     "t[i] = u event() u[2] = t event() end keep = nil event()"},
    {"DataLoadersLeftEarly",
     "local set = {} for i = 1, 6 do set[i] = T() end\n"
     "local Own = ohm.utils.data.Dataset:extend('Own') function Own:__len() return 6 end "
     "function Own:__getitem(i) event() return set[i + 1] + 1, {x = T()} end\n"
     "local loader, kept = ohm.utils.data.DataLoader(Own(), {batch_size = 2}), nil\n"
     "for x, y in loader do kept = x event() for z in loader do event() if z then break end end "
     "event() break end event() kept = nil event()\n"
     "for i, x, y in loader:enumerate() do kept = y event() end event() loader = nil event()"},
    {"DataLoadersWithOwnCollate",
     "local Own = ohm.utils.data.Dataset:extend('Own') function Own:__len() return 5 end "
     "function Own:__getitem(i) return T() end\n"
     "local kept = {} for x in ohm.utils.data.DataLoader(Own(), {batch_size = 2, collate_fn = "
     "function(items) event() kept[#kept + 1] = items[1] local y = items[1] + 1 event() return "
     "{y, items} end}) do event() end event() kept = nil event()"},
};

class WatchedLifetimes : public testing::TestWithParam<Pattern> {};

TEST_P(WatchedLifetimes, AreThoseThatTheCollectorFinds) {
  const ScriptOutcome collected = run_script(GetParam().script);
  const WatchFromTheStart watch;
  const ScriptOutcome watched = run_script(GetParam().script);
  EXPECT_EQ(watched.events, collected.events);
}

INSTANTIATE_TEST_SUITE_P(Patterns, WatchedLifetimes, testing::ValuesIn(kPatterns),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ohm::test
