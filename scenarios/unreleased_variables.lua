-- Symptom: "training fits, and then the evaluation after it is out of memory."
--
-- A Python variable lives until its function returns, not until its loop ends: `out` and `loss` of
-- the last training step are still there during the evaluation. An argument lives as long as the
-- caller's name for it, whatever the function does with its own. What to do: `del out, loss` (here:
-- = nil) before the evaluation, or put training into a function of its own. Emptying the cache
-- gives back what nothing refers to; it releases nothing that has a name.
--
-- Chapter: leaks
-- PyTorch:
--     del out, loss    # before the evaluation
--     evaluate(model)

local bytes, nets = require("bytes"), require("nets")
local nn, F = ohm.nn, ohm.nn.functional
local empty_cache = ohm.cuda.empty_cache

-- (a) The evaluation may take the net and its gradients, both batches, and what it computes: an
-- output, and the labels found in it. A training step's output is an eighth of its own.
local FEATURES, CLASSES, ROWS, TEST_ROWS = 32, 1024, 256, 2048
local EVALUATION = 2 * bytes.linear(FEATURES, CLASSES) + bytes.float32(ROWS, FEATURES)
  + bytes.int64(ROWS) + bytes.float32(TEST_ROWS, FEATURES) + bytes.int64(TEST_ROWS)
  + bytes.float32(TEST_ROWS, CLASSES) + bytes.int64(TEST_ROWS)

local function evaluate(net, device, classes)
  local x, y = nets.batch(TEST_ROWS, FEATURES, device, classes)
  return {found = ohm.no_grad(function() return net(x):argmax(1):eq(y):sum():item() end),
          gradient = net.weight.grad:cpu()}
end

local function step(net, x, y)
  local out = net(x)
  local loss = F.cross_entropy(out, y)
  loss:backward()
  return out, loss
end

-- `release(out, loss)` returns what is still held during the evaluation.
local function train_and_evaluate(device, classes, release)
  ohm.manual_seed(1)
  local net = nn.Linear(FEATURES, classes):to(device)
  local x, y = nets.batch(ROWS, FEATURES, device, classes)
  local out, loss
  for _ = 1, 3 do
    net:zero_grad()
    out, loss = step(net, x, y)
    ohm.step()
  end
  if release == "del" then out, loss = nil, nil end
  if release == "guard" then -- a guard that drops what it was given, closed at the scope's end
    local _guard <close> = setmetatable({}, {__close = function() out, loss = nil, nil end})
    ohm.step()
  end
  if type(release) == "function" then release() end
  return evaluate(net, device, classes)
end

local function train_in_a_function(device)
  ohm.manual_seed(1)
  local net = nn.Linear(FEATURES, CLASSES):to(device)
  local function train()
    local x, y = nets.batch(ROWS, FEATURES, device, CLASSES)
    local out, loss
    for _ = 1, 3 do
      net:zero_grad()
      out, loss = step(net, x, y)
      ohm.step()
    end
    return out:isfinite():all():item() and loss:item()
  end
  train()
  return evaluate(net, device, CLASSES)
end

local function clear_gpu_guard() -- "with clear_gpu(): …", as it is passed around
  local _guard <close> = setmetatable({}, {__close = empty_cache})
end
local function empty_cache_twice()
  empty_cache()
  empty_cache()
end

-- (b) A large input that a function no longer needs after its first line. Its result is half as
-- large, the next one a quarter: input and result, or result and next, never all three.
local WIDE = 2048
local STAGES = bytes.float32(2048, WIDE) + bytes.float32(2048, WIDE // 2)

local function two_stages(x, advice)
  local half = x:narrow(1, 0, WIDE // 2):clone()
  x = nil -- the caller's name still holds it
  if advice then advice() end
  local quarter = half:narrow(1, 0, WIDE // 4) * 2
  return quarter:sum()
end

local function caller_keeps_it(device)
  local x = ohm.ones(2048, WIDE, {device = device})
  return {sum = two_stages(x)}
end
local function caller_gives_it_away(device)
  return {sum = two_stages(ohm.ones(2048, WIDE, {device = device}))}
end

local function after(release)
  return {
    of = "loop_variables",
    run = function(d) return train_and_evaluate(d, CLASSES, release) end,
  }
end

return ohm.scenario {
  name = "unreleased_variables",
  summary = "Variables of the training loop are still there during the evaluation",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    loop_variables = {
      limits = {bytes.at_most("peak_allocated_bytes", EVALUATION)},
      run = function(d) return train_and_evaluate(d, CLASSES) end,
    },
    callers_argument = {
      limits = {bytes.at_most("peak_allocated_bytes", STAGES)}, run = caller_keeps_it,
    },
  },
  mitigations = {
    del_before_evaluation = after("del"),
    guard_that_drops_them = after("guard"),
    function_scope = {of = "loop_variables", run = train_in_a_function},
    passed_without_a_name = {of = "callers_argument", run = caller_gives_it_away},
  },
  non_fixes = {
    empty_cache = after(empty_cache),
    empty_cache_twice = after(empty_cache_twice),
    guard_that_empties_the_cache = after(clear_gpu_guard),
    collect_garbage = after(ohm.gc.collect),
    empty_cache_for_argument = {
      of = "callers_argument",
      run = function(d)
        local x = ohm.ones(2048, WIDE, {device = d})
        return {sum = two_stages(x, empty_cache)}
      end,
    },
  },
  -- Ten classes: out and loss are 10.5 kB beside an evaluation of megabytes.
  controls = {
    small_outputs = {
      of = "loop_variables", run = function(d) return train_and_evaluate(d, 10) end,
    },
  },
}
