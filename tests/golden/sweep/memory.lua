-- Seeded bugs: memory that stays on the error path. Of each pair, `X_bad` has the bug and `X_good`
-- does not.

local nn, F = ohm.nn, ohm.nn.functional
local kept = {}      -- what programs keep beyond a step
local last_error     -- for a log
local trained        -- a model that outlives the step
local worker         -- a coroutine

local function data(d) return ohm.ones(64, 64, {device = d}) end

local function outputs(clean)
  return function(d)
    kept = {}
    local x = data(d)
    local ok, err = pcall(function()
      for i = 1, 3 do kept[i] = x * i end
      return kept[3]:sum():item()
    end)
    if not ok then
      if clean then kept = {} end
      error(err, 0)
    end
    kept = {}
  end
end

local function error_kept(keep)
  return function(d)
    local x = data(d)
    local ok, err = pcall(function()
      local doubled = x * 2
      local shifted = doubled + 1
      return shifted:sum():item()
    end)
    if not ok then
      last_error = keep(err)
      error(err, 0)
    end
    last_error = nil
  end
end

local function cache(clean)
  return function(d)
    kept.keys = data(d)
    local ok, err = pcall(function() kept.values = data(d) * 2 end)
    if not ok then
      if clean then kept = {} end
      error(err, 0)
    end
    kept = {}
  end
end

-- A model outlives its training; its gradients must not.
local function gradients(clean)
  return function(d)
    trained = trained or nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)):to(d)
    local ok, err = pcall(function() trained(data(d)):sum():backward() end)
    if not ok then
      if clean then trained:zero_grad() end
      error(err, 0)
    end
    trained:zero_grad()
  end
end

-- The last activations for inspection.
local function inspected(clean)
  return function(d)
    local x = data(d)
    local ok, err = pcall(function()
      kept.hidden = F.relu(x * 2)
      local out = kept.hidden * 3
      return out:sum():item()
    end)
    if not ok and not clean then error(err, 0) end
    kept.hidden = nil
    if not ok then error(err, 0) end
  end
end

local function suspended(close)
  return function(d)
    local x = data(d)
    worker = coroutine.create(function()
      local doubled = x * 2
      coroutine.yield()
      return doubled
    end)
    local first, err = coroutine.resume(worker)
    local ok = first
    if first then ok, err = pcall(function() return (x * 3):sum():item() end) end
    if ok then
      coroutine.resume(worker)
      worker = nil
    else
      if close then worker = nil end
      error(err, 0)
    end
  end
end

-- The same step once more, while the failed one is still referenced.
local function retried(step)
  return function(d)
    local x = data(d)
    local function compute()
      local doubled = x * 2
      local shifted = doubled + 1
      return (shifted * doubled):sum():item()
    end
    return {sum = step(compute)}
  end
end
local function retry_in_handler(compute)
  local ok, result = pcall(compute)
  if not ok then return compute() end  -- `result` is the error, and holds the failed step's tensors
  return result
end
local function retry_after_handler(compute)
  local ok, result = pcall(compute)
  if not ok then
    result = nil
    return compute()
  end
  return result
end
local function retry_with_history(compute)
  local errors = {}
  for try = 1, 2 do
    local ok, result = pcall(compute)
    if ok then return result end
    errors[try] = result
  end
  error(errors[2], 0)
end
local function retry_with_messages(compute)
  local errors = {}
  for try = 1, 2 do
    local ok, result = pcall(compute)
    if ok then return result end
    errors[try] = tostring(result)
    if try == 2 then error(result, 0) end
    result = nil
  end
end

-- A retry with a spare copy: 64 MiB do not hold both.
local function spare(release)
  return function(d)
    local function compute()
      local big = ohm.ones(5, 1024, 1024, {device = d})
      return big:sum():item()
    end
    local ok, result = pcall(compute)
    if not ok then
      result = nil
      local copies = {}
      pcall(function()
        copies[1] = ohm.ones(10, 1024, 1024, {device = d})
        copies[2] = ohm.ones(1024, 1024, {device = d})
      end)
      if release then
        copies = nil
        ohm.cuda.empty_cache()
      end
      result = compute()
    end
    return {sum = result}
  end
end

-- A layer whose output does not fit works in place; the next layer's request is no second try.
local function in_place(keep)
  return function(d)
    kept = {}
    local x, features = data(d), {}
    for i = 1, 3 do
      local hidden = x + i
      local ok, out = pcall(F.relu, hidden)
      if not ok then
        keep(hidden)
        out = nil
        out = F.relu(hidden, {inplace = true})
      end
      features[i] = out
    end
    local sum = 0
    for _, feature in ipairs(features) do sum = sum + feature:sum():item() end
    return {sum = sum}
  end
end

return ohm.scenario {
  name = "memory",
  summary = "Memory that stays on the error path",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"num_ooms == 0"},
  problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    outputs_kept_bad = outputs(false),
    outputs_kept_good = outputs(true),
    error_kept_bad = error_kept(function(err) return err end),
    error_kept_good = error_kept(tostring),
    half_a_cache_bad = cache(false),
    half_a_cache_good = cache(true),
    in_place_bad = in_place(function(hidden) kept[#kept + 1] = hidden end),
    in_place_good = in_place(function() end),
    gradients_kept_bad = gradients(false),
    gradients_kept_good = gradients(true),
    inspected_kept_bad = inspected(false),
    inspected_kept_good = inspected(true),
    suspended_bad = suspended(false),
    suspended_good = suspended(true),
    retry_in_handler_bad = retried(retry_in_handler),
    retry_in_handler_good = retried(retry_after_handler),
    retry_with_history_bad = retried(retry_with_history),
    retry_with_history_good = retried(retry_with_messages),
    no_room_for_retry_bad = spare(false),
    no_room_for_retry_good = spare(true),
  },
}
