-- Seeded bugs: what programs do with an error. Of each pair, `X_bad` has the bug and `X_good` does not.

local function data(d) return ohm.ones(64, 64, {device = d}) end
local function step(x)
  local doubled = x * 2
  local shifted = doubled + 1
  return shifted:sum():item()
end

-- What went wrong is forgotten.
local function swallow(handle)
  return function(d)
    local x, total = data(d), 0
    for _ = 1, 3 do
      local ok, result = pcall(step, x)
      if ok then total = total + result else total = handle(result, total) end
      ok, result = nil, nil
    end
    return {total = total}
  end
end

-- A default takes the place of what could not be computed.
local function replaced(default)
  return function(d)
    local x = data(d)
    local ok, y = pcall(function() return x * 2 end)
    if not ok then
      if not default then error(y, 0) end
      y = default(x)
    end
    return {y = y}
  end
end

-- The error becomes another one.
local function translated(raise)
  return function(d)
    local ok, result = pcall(step, data(d))
    if not ok then raise(result) end
    return {result = result}
  end
end

-- A helper returns nothing, and nobody looks.
local function optional(check)
  return function(d)
    local function try(x)
      local ok, y = pcall(function() return x * 3 end)
      if ok then return y end
      if check then error(y, 0) end
      return nil
    end
    return {sum = try(data(d)):sum():item()}
  end
end

-- The host computes it instead.
local function on_host(dtype)
  return function(d)
    local x = data(d) * 0.1
    local ok, y = pcall(function() return x * 3 end)
    if not ok then
      y = nil
      y = (x:cpu():to(dtype) * 3):to("float32")
    end
    return {y = y:cpu()}
  end
end

-- One of the ranks is out of memory.
local function ranks(body)
  return {
    gpu = {count = 2},
    run = function()
      local totals = {}
      ohm.distributed.spawn(2, function(rank)
        local d = "cuda:" .. rank
        local sum = ohm.ones(64, {device = d})
        local ok, err = pcall(function() sum = sum * (rank + 2) end)
        if not ok then body(err, function() ohm.distributed.all_reduce(sum) end) end
        if ok then ohm.distributed.all_reduce(sum) end
        totals[rank + 1] = sum:sum():item()
      end)
      return {first = totals[1], second = totals[2]}
    end,
  }
end

local function rethrow(err) error(err, 0) end

return ohm.scenario {
  name = "errors",
  summary = "What programs do with an error",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"num_ooms == 0"},
  problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    swallowed_step_bad = swallow(function(_, total) return total end),
    swallowed_step_good = swallow(rethrow),
    logged_only_bad = swallow(function(err, total)
      local _ = "step failed: " .. tostring(err)
      return total
    end),
    logged_only_good = swallow(function(err)
      local _ = "step failed: " .. tostring(err)
      error(err, 0)
    end),
    default_value_bad = replaced(function(x) return x end),
    default_value_good = replaced(nil),
    host_fallback_bad = on_host("float16"),
    host_fallback_good = on_host("float32"),

    string_error_bad = translated(function(err) error("the step failed: " .. tostring(err)) end),
    string_error_good = translated(rethrow),
    assertion_bad = translated(function() error("assertion failed: ok") end),
    assertion_good = translated(function(err) error(err) end),
    error_in_handler_bad = translated(function(err) error(err.message .. err.reason) end),
    error_in_handler_good = translated(function(err)
      local _ = err.message .. err.op
      error(err, 0)
    end),
    unchecked_nil_bad = optional(false),
    unchecked_nil_good = optional(true),
    table_error_bad = translated(function(err) error({code = 2, cause = tostring(err)}) end),
    table_error_good = translated(function(err)
      local report = {code = 2, cause = tostring(err)}
      error(report.code == 2 and err or report, 0)
    end),

    rank_stays_away_bad = ranks(function() end),
    rank_stays_away_good = ranks(rethrow),
    rank_brings_nothing_bad = ranks(function(_, join) join() end),
    rank_brings_nothing_good = ranks(rethrow),
  },
}
