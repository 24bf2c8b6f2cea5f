-- Seeded bugs: what is left behind, and what never ends. Of each pair, `X_bad` has the bug and
-- `X_good` does not.

local mode           -- a guard that outlives its step
local depth = 0      -- of nested steps
local running        -- what the next step uses
local halves = {}
local busy = 0       -- whether a request is under way
local trying = false -- whether a try is
local kept           -- what tells whether one is

local function data(d) return ohm.ones(32, 32, {device = d}) end

local function left_on(enter)
  return function(d)
    local x = data(d)
    mode = enter()
    local sum = (x * 2):sum():item()
    mode = nil
    return {sum = sum}
  end
end
local function closed(enter)
  return function(d)
    local x = data(d)
    local _ <close> = enter()
    return {sum = (x * 2):sum():item()}
  end
end
local function autocast() return ohm.autocast("cuda") end
local function no_grad() return ohm.no_grad() end
local function other_stream() return ohm.cuda.stream(ohm.cuda.Stream()) end

local function counted(restore)
  return function(d)
    if depth > 0 then error("a step within a step") end
    depth = depth + 1
    local ok, err = pcall(function() return (data(d) * 2):sum():item() end)
    if ok or restore then depth = depth - 1 end
    if not ok then error(err, 0) end
  end
end

-- What nothing later depends on is left behind all the same.
local function set_for_a_while(set, resets)
  return function(d)
    local x = data(d)
    set(true)
    local ok, err = pcall(function() return (x * 2):sum():item() end)
    if ok or resets then set(false) end
    if not ok then error(err, 0) end
  end
end
local function limit_memory(on) ohm.cuda.set_per_process_memory_fraction(on and 0.5 or 1.0) end
local function set_gradients_off(off) ohm.set_grad_enabled(not off) end
local function set_benchmark(on) ohm.backends.cudnn.benchmark = on end

-- What is incomplete looks whole.
local function half_made(make)
  return function(d)
    if not halves.a and not halves.b then make(d) end
    return {sum = (halves.a + halves.b):sum():item()}
  end
end

-- The mean of what was seen; `next_step` needs the last one.
local function replacing(replace)
  return {
    run = function(d)
      running = running or {mean = data(d) * 1}
      replace(d)
      return {sum = running.mean:sum():item()}
    end,
    next_step = function()
      if running then running.mean:sum() end
    end,
  }
end

local function retrying(tries)
  return function(d)
    local x = data(d)
    local result
    local try = 0
    repeat
      try = try + 1
      local ok, sum = pcall(function() return (x * 2):sum():item() end)
      if ok then result = sum end
      if not ok and try == tries then error(sum, 0) end
      sum = nil
    until ok
    return {sum = result}
  end
end

local function halving(least)
  return function(d)
    local rows, result, failed = 32, nil, nil
    while not result do
      local ok, sum = pcall(function() return ohm.ones(rows, 32, {device = d}):mean():item() end)
      if ok then result = sum end
      if not ok and rows <= least then failed = true end
      if failed then error(sum, 0) end
      rows, sum = math.max(rows // 2, 1), nil
    end
    return {mean = result}
  end
end

local function waiting(wait)
  return function(d)
    local x = data(d)
    local ok, err = pcall(function() return x * 2 end)
    if not ok then
      wait()
      error(err, 0)
    end
  end
end

-- Where a failure leaves a number depends on which request it was.
local function flagged(resets)
  return function(d)
    if busy > 0 then error("a request is still under way") end
    local ok, err = pcall(function()
      for i = 1, 6 do
        busy = i % 2
        data(d)
      end
    end)
    if ok or resets then busy = 0 end
    if not ok then error(err, 0) end
  end
end

-- The same with something else in the place of a number: what is not told apart from what is fine
-- is not found.
local function keeping(resets, keep, is_busy)
  return function(d)
    if kept and is_busy(kept) then error("a request is still under way") end
    local stage
    local ok, err = pcall(function()
      for i = 1, 6 do
        stage = i
        data(d)
      end
    end)
    if ok then return end
    if not resets then kept = keep(stage % 2 == 1) end
    error(err, 0)
  end
end
local function answer(busy)
  return busy and function() return true end or function() return false end
end
local function nested(value) return {{{{{{value}}}}}} end
local function swapped(busy) return {now = nested(busy), before = nested(not busy)} end
local function calls(f) return f() end
local function looks_into(t) return t.now[1][1][1][1][1][1] end

-- The same with what a program chooses.
local function benchmarking(resets)
  return function(d)
    if ohm.backends.cudnn.benchmark then error("the benchmark is still on") end
    local ok, err = pcall(function()
      for i = 1, 6 do
        ohm.backends.cudnn.benchmark = i % 2 == 1
        data(d)
      end
    end)
    if ok or resets then ohm.backends.cudnn.benchmark = false end
    if not ok then error(err, 0) end
  end
end
-- Nothing on a virtual GPU shows it.
local function with_any_bits(resets)
  return function(d)
    local ok, err = pcall(function()
      for i = 1, 6 do
        ohm.backends.cudnn.deterministic = i % 2 == 0
        data(d)
      end
    end)
    if ok or resets then ohm.backends.cudnn.deterministic = true end
    if not ok then error(err, 0) end
  end
end
local function without_cudnn(resets)
  return function(d)
    if not ohm.backends.cudnn.enabled then error("cuDNN is still off") end
    local ok, err = pcall(function()
      for i = 1, 6 do
        ohm.backends.cudnn.enabled = i % 2 == 0
        data(d)
      end
    end)
    if ok or resets then ohm.backends.cudnn.enabled = true end
    if not ok then error(err, 0) end
  end
end

-- Brings a failure of its own, of the second request, and tries once more.
local function trying_again(resets)
  return {fault = "nth(2)", run = function(d)
    if trying then error("a try is still under way") end
    local x = data(d)
    local function double() return x * 2 end
    trying = true
    local ok, y = pcall(double)
    if not ok then
      y = nil
      ok, y = pcall(double)
    end
    if ok or resets then trying = false end
    if not ok then error(y, 0) end
    return {sum = y:sum():item()}
  end}
end

return ohm.scenario {
  name = "state",
  summary = "What is left behind, and what never ends",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"num_ooms == 0"},
  problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    autocast_left_on_bad = left_on(autocast),
    autocast_left_on_good = closed(autocast),
    gradients_left_off_bad = left_on(no_grad),
    gradients_left_off_good = closed(no_grad),
    gradients_set_off_bad = set_for_a_while(set_gradients_off, false),
    gradients_set_off_good = set_for_a_while(set_gradients_off, true),
    inference_left_on_bad = left_on(ohm.inference_mode),
    inference_left_on_good = closed(ohm.inference_mode),
    memory_left_limited_bad = set_for_a_while(limit_memory, false),
    memory_left_limited_good = set_for_a_while(limit_memory, true),
    benchmark_unread_bad = set_for_a_while(set_benchmark, false),
    benchmark_unread_good = set_for_a_while(set_benchmark, true),
    counter_kept_bad = counted(false),
    counter_kept_good = counted(true),
    half_made_bad = half_made(function(d)
      halves.a = data(d)
      halves.b = data(d)
    end),
    half_made_good = half_made(function(d)
      local a, b = data(d), data(d)
      halves.a, halves.b = a, b
    end),
    nothing_in_its_place_bad = replacing(function(d)
      running.mean = nil
      running.mean = data(d) * 0.5
    end),
    nothing_in_its_place_good = replacing(function(d)
      local mean = data(d) * 0.5
      running.mean = mean
    end),
    flag_left_up_bad = flagged(false),
    flag_left_up_good = flagged(true),
    function_kept_bad = keeping(false, answer, calls),
    function_kept_good = keeping(true, answer, calls),
    nested_kept_bad = keeping(false, swapped, looks_into),
    nested_kept_good = keeping(true, swapped, looks_into),
    benchmark_left_on_bad = benchmarking(false),
    benchmark_left_on_good = benchmarking(true),
    any_bits_left_on_bad = with_any_bits(false),
    any_bits_left_on_good = with_any_bits(true),
    cudnn_left_off_bad = without_cudnn(false),
    cudnn_left_off_good = without_cudnn(true),
    stream_left_current_bad = left_on(other_stream),
    stream_left_current_good = closed(other_stream),
    fault_of_its_own_bad = trying_again(false),
    fault_of_its_own_good = trying_again(true),
    endless_retry_bad = retrying(0),
    endless_retry_good = retrying(3),
    endless_halving_bad = halving(0),
    endless_halving_good = halving(1),
    endless_wait_bad = waiting(function() while true do end end),
    endless_wait_good = waiting(function() for _ = 1, 1000 do end end),
  },
}
