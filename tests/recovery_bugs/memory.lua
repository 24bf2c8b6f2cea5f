-- Programs with and without seeded bugs: memory that the way of an error keeps. The line above each
-- says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local programs = {}
local kept = {} -- what outlives a program
local last      -- what a logger keeps

local function ones(d) return ohm.ones(16, 16, {device = d}) end
local function work(x) return ((x * 2) + 1):sum():item() end

-- leak: the outputs so far stay in a list
programs.outputs_kept = function(d)
  kept = {}
  for i = 1, 4 do kept[i] = ones(d) * i end
  kept = {}
end

-- leak: the error stays, and with it the frames that it came through
programs.error_kept = function(d)
  last = nil
  for _ = 1, 3 do
    local ok, err = pcall(work, ones(d))
    if not ok then
      last = err
      error(err, 0)
    end
  end
end

-- leak: errors are kept in a list while the work is done again
programs.errors_listed = function(d)
  local errors, sum = {}, nil
  for try = 1, 3 do
    local ok, result = pcall(function()
      local a = ones(d) * 2
      local b = a + 1
      return (a * b):sum():item()
    end)
    if ok then
      sum = result
      break
    end
    errors[try] = result
    if try == 3 then error(result, 0) end
    result = nil
  end
  return {sum = sum}
end

-- leak: a second try inside of the handler
programs.handler_tries = function(d)
  local x = ones(d)
  local function compute()
    local a = x * 2
    local b = a + 1
    return (a * b):sum():item()
  end
  local ok, result = pcall(compute)
  if not ok then return {sum = compute(result)} end
  return {sum = result}
end

-- leak: a cache of which the keys are filled and the values are not
programs.half_a_cache = function(d)
  kept = {}
  kept.keys = ones(d)
  kept.values = ones(d) * 2
  kept = {}
end

-- leak: from the second batch on the last output is kept when the next one fails
programs.previous_output_kept = function(d)
  kept = {}
  for i = 1, 3 do
    local ok, out = pcall(function() return ones(d) * i end)
    if not ok then error(out, 0) end
    kept.previous = out
  end
  kept.previous = nil
end

-- leak: gradients of a model that lives on
do
  local net
  programs.gradients_kept = function(d)
    net = net or p.net(d)
    net(p.batch(1, d)):sum():backward()
    net:zero_grad()
  end
end

-- leak: a coroutine that waits holds what it has computed
programs.coroutine_kept = function(d)
  kept = {}
  local x = ones(d)
  kept.worker = coroutine.create(function()
    local a = x * 2
    coroutine.yield()
    return a
  end)
  coroutine.resume(kept.worker)
  local b = x * 3
  coroutine.resume(kept.worker)
  kept = {}
  return {sum = b:sum():item()}
end

-- leak: a closure for later holds the activations
programs.closure_kept = function(d)
  kept = {}
  local x = ones(d)
  for i = 1, 3 do
    local y = x * i
    kept[i] = function() return y end
    work(y)
  end
  kept = {}
end

-- leak: the graph of a loss that is summed up is kept from the first failure on
programs.loss_graph_kept = function(d)
  kept = {}
  local net = p.net(d)
  for i = 1, 3 do
    kept.total = (kept.total or 0) + net(p.batch(i, d)):sum()
  end
  local total = kept.total:item()
  kept = {}
  return {total = total}
end

-- leak: a queue is left with what was not taken out of it
programs.queue_left = function(d)
  kept = {}
  for i = 1, 3 do kept[#kept + 1] = ohm.full({16}, i, {device = d}) end
  local sum = 0
  while #kept > 0 do sum = sum + (table.remove(kept) * 2):sum():item() end
  return {sum = sum}
end

-- leak: the buffer for a second try is allocated once for each failure
programs.spare_buffers = function(d)
  kept = kept.spares and kept or {spares = {}}
  for i = 1, 3 do
    p.again(function()
      kept.spares[#kept.spares + 1] = i > 1 and ones(d) or nil
      work(ones(d))
      kept.spares = {}
    end)
  end
end

-- leak: saved activations wait in a table for a backward pass that does not come
programs.activations_saved = function(d)
  kept = {}
  local x = ones(d)
  for i = 1, 3 do
    kept.saved = x * i
    local ok, err = pcall(work, kept.saved)
    if not ok and i < 3 then error(err, 0) end
    kept.saved = nil
    if not ok then error(err, 0) end
  end
end

-- wrong_error: a spare copy is too large to be made beside the first try
programs.no_room_for_spare = function(d)
  local function compute()
    return ohm.ones(5, 1024, 1024, {device = d}):sum():item()
  end
  local sum
  if not p.try(function() sum = compute() end) then
    local spare = ohm.ones(12, 1024, 1024, {device = d})
    sum = compute() + spare:sum():item() * 0
  end
  return {sum = sum}
end

-- good: the list is emptied before the error goes on
programs.outputs_dropped = function(d)
  kept = {}
  local ok, err = pcall(function()
    for i = 1, 4 do kept[i] = ones(d) * i end
  end)
  kept = {}
  if not ok then error(err, 0) end
end

-- good: a cache that is filled whole, or not at all
programs.whole_cache = function(d)
  kept = {}
  local keys, values = ones(d), ones(d) * 2
  kept.keys, kept.values = keys, values
  kept = {}
end

-- good: a cache that lives on, of what every run makes
do
  local cache
  programs.cache_of_every_run = function(d)
    cache = cache or ones(d)
    return {sum = (cache * 2):sum():item()}
  end
end

-- good: what is kept of an error is its message
programs.message_kept = function(d)
  last = nil
  local ok, err = pcall(work, ones(d))
  if not ok then
    last = tostring(err)
    error(err, 0)
  end
end

-- good: leaves the handler before it tries again
programs.tries_outside = function(d)
  local x = ones(d)
  local sum
  p.again(function()
    local a = x * 2
    local b = a + 1
    sum = (a * b):sum():item()
  end)
  return {sum = sum}
end

-- good: a weak table forgets by itself
programs.weak_table = function(d)
  kept = setmetatable({}, {__mode = "v"})
  for i = 1, 3 do kept[i] = ones(d) * i end
end

return p.scenario("memory", "Memory after a failure", programs)
