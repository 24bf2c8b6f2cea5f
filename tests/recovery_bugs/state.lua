-- Programs with and without seeded bugs: counters, flags, random numbers and caches. The line above
-- each says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local programs = {}

local function work(i, d) return (ohm.full({16}, i, {device = d}) * 2):sum():item() end

-- corrupt: a counter of nested steps is not lowered
do
  local depth = 0
  programs.depth_not_lowered = function(d)
    if depth > 0 then error("a step within a step") end
    depth = depth + 1
    work(1, d)
    depth = depth - 1
  end
end

-- corrupt: the same, but only while the last batch is worked on
do
  local is_last = false
  programs.last_batch_flag = function(d)
    if is_last then error("the last batch again") end
    for i = 1, 3 do
      is_last = i == 3
      work(i, d)
    end
    is_last = false
  end
end

-- corrupt: the same with the batch in the middle
do
  local is_second = false
  programs.middle_batch_flag = function(d)
    if is_second then error("the second batch again") end
    for i = 1, 3 do
      is_second = i == 2
      work(i, d)
    end
  end
end

-- corrupt: a lock that nobody opens
do
  local locked = false
  programs.lock_kept = function(d)
    assert(not locked, "locked")
    locked = true
    work(1, d)
    locked = false
  end
end

-- corrupt: what is incomplete looks whole
do
  local halves = {}
  programs.half_made = function(d)
    if not halves.a then
      halves.a = ohm.ones(16, {device = d})
      halves.b = ohm.ones(16, {device = d})
    end
    return {sum = (halves.a + halves.b):sum():item()}
  end
end

-- corrupt: the running mean is taken away before the new one is there
do
  local running
  programs.mean_taken_away = {
    run = function(d)
      running = running or {mean = ohm.ones(4, {device = d})}
      for i = 1, 3 do
        if i == 3 then running.mean = nil end
        running.mean = (running.mean or 0) + ohm.full({4}, i, {device = d})
      end
    end,
    next_step = function()
      if running then running.mean:sum() end
    end,
  }
end

-- corrupt: a list of layers that is built in place is taken up half full
do
  local layers = {}
  programs.half_a_list = function(d)
    if #layers == 0 then
      for i = 1, 3 do layers[i] = ohm.full({4}, i, {device = d}) end
    end
    return {sum = layers[3]:sum():item()}
  end
end

-- corrupt: the index of the next batch has moved on before the batch is done
do
  local nexts = {1, 2, 3}
  programs.batches_used_up = function(d)
    local all = {table.unpack(nexts)}
    assert(#all == 3, "batches are missing")
    while #nexts > 0 do work(table.remove(nexts, 1), d) end
    nexts = {1, 2, 3}
  end
end

-- recovered_different: the random numbers of a second try are others
programs.other_numbers = function(d)
  ohm.manual_seed(3)
  local sum
  p.again(function() sum = (ohm.randn(16, {device = d}) * 2):sum():item() end)
  return {sum = sum}
end

-- recovered_different: the same from the second batch on: the first one is seeded
programs.other_numbers_later = function(d)
  local sum = 0
  ohm.manual_seed(3)
  for i = 1, 3 do
    p.again(function()
      if i == 1 then ohm.manual_seed(3) end
      sum = sum + (ohm.randn(16, {device = d}) * 2):sum():item()
    end)
  end
  return {sum = sum}
end

-- recovered_different: a second try begins with the seed of the first batch
programs.seed_repeated = function(d)
  local sum = 0
  ohm.manual_seed(3)
  for _ = 1, 3 do
    if not p.try(function() sum = sum + (ohm.randn(16, {device = d}) * 2):sum():item() end) then
      ohm.manual_seed(3)
      sum = sum + (ohm.randn(16, {device = d}) * 2):sum():item()
    end
  end
  return {sum = sum}
end

-- recovered_different: dropout of a second try drops others
programs.other_dropout = function(d)
  ohm.manual_seed(5)
  local x = ohm.ones(64, {device = d})
  local sum
  p.again(function()
    local dropped = ohm.nn.functional.dropout(x, {p = 0.5})
    local place = ohm.arange(64, {device = d}):float()
    sum = (dropped * place):sum():item()
  end)
  return {sum = sum}
end

-- recovered_different: the steps that are counted are tries
programs.tries_counted = function(d)
  local steps, sum = 0, 0
  for i = 1, 3 do
    p.again(function()
      steps = steps + 1
      sum = sum + work(i, d)
    end)
  end
  return {steps = steps, sum = sum}
end

-- swallowed: a cache answers with what a failed try has put in
programs.stale_cache = function(d)
  local cache, sum = {}, 0
  local function squares(i)
    if not cache[i] then
      cache[i] = i
      cache[i] = work(i, d) * i
    end
    return cache[i]
  end
  for i = 1, 3 do
    p.again(function() sum = sum + squares(i) end)
  end
  return {sum = sum}
end

-- swallowed: an empty cache is what a failure leaves, and it is used
programs.empty_cache_used = function(d)
  local cache, sum = {}, 0
  for i = 1, 3 do
    p.try(function() cache[i] = work(i, d) end)
    sum = sum + (cache[i] or 0)
  end
  return {sum = sum}
end

-- swallowed: the failure of an evaluation in between is not told
programs.evaluation_skipped = function(d)
  local best, sum = -1, 0
  for i = 1, 3 do
    sum = sum + work(i, d)
    p.try(function() best = math.max(best, work(10 - i, d)) end)
  end
  return {sum = sum, best = best}
end

-- swallowed: the previous value stands for the one that could not be computed
programs.previous_value = function(d)
  local value, sum = 0, 0
  for i = 1, 3 do
    p.try(function() value = work(i, d) end)
    sum = sum + value
  end
  return {sum = sum}
end

-- good: the state moves on after the work
do
  local done = 0
  programs.counted_after_the_work = function(d)
    local sum = work(1, d)
    done = done + 1
    return {sum = sum}
  end
end

-- good: every try of a batch is seeded with the batch
programs.seeded_by_batch = function(d)
  local sum = 0
  for i = 1, 3 do
    p.again(function()
      ohm.manual_seed(i)
      local x = ohm.randn(16, {device = d})
      local result = (x * 2):sum():item()
      sum = sum + result
    end)
  end
  return {sum = sum}
end

-- good: a flag that is lowered by a block's end
do
  local busy = false
  programs.flag_lowered = function(d)
    assert(not busy, "busy")
    local _ <close> = setmetatable({}, {__close = function() busy = false end})
    busy = true
    for i = 1, 3 do work(i, d) end
  end
end

-- good: failures are counted, and the count changes nothing
do
  local failures = 0
  programs.failures_counted = function(d)
    local sum = 0
    for i = 1, 3 do
      if not p.try(function() sum = sum + work(i, d) end) then
        failures = failures + 1
        sum = sum + work(i, d)
      end
    end
    return {sum = sum}
  end
end

return p.scenario("state", "Counters, random numbers and caches after a failure", programs)
