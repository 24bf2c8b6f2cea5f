-- Seeded bugs: training that goes on after a failure. Of each pair, `X_bad` has the bug and `X_good`
-- does not.

local nn = ohm.nn

local function build(d)
  ohm.manual_seed(7)
  return nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)):to(d)
end
local function weights(model)
  local sum = 0
  for _, p in ipairs(model:parameters()) do sum = sum + p:double():sum():item() end
  return sum
end
local function try(fn, ...)
  local ok, err = pcall(fn, ...)
  if ok then return true end
  err = nil
  return false
end

-- A step is made of forward, backward and update; `retry` does what is left of it.
local function train(retry, momentum)
  return function(d)
    local model = build(d)
    local options = {lr = 0.125, momentum = momentum or 0, foreach = false}
    local opt = ohm.optim.SGD(model:parameters(), options)
    local x = ohm.ones(8, 16, {device = d})
    local function forward() return model(x):sum() end
    for _ = 1, 2 do
      model:zero_grad()
      retry(model, opt, forward)
    end
    return {weights = weights(model)}
  end
end
local function step_once(model, opt, forward)
  forward():backward()
  opt:step()
end

local function accumulated(model, opt, forward)
  if not try(function() forward():backward() end) then forward():backward() end
  opt:step()
end
local function accumulated_afresh(model, opt, forward)
  if not try(function() forward():backward() end) then
    model:zero_grad()
    forward():backward()
  end
  opt:step()
end

-- The whole of it, from the seed on.
local function from_scratch(momentum)
  return function(d)
    local run = train(step_once, momentum)
    local ok, result = pcall(run, d)
    if ok then return result end
    result = nil
    return run(d)
  end
end

local function stepped_again(model, opt, forward)
  forward():backward()
  if not try(function() opt:step() end) then opt:step() end
end

local function random_batch(seeded)
  return function(d)
    local function step()
      if seeded then ohm.manual_seed(3) end
      local x = ohm.randn(16, 16, {device = d})
      local y = x * 2
      return y:sum():item()
    end
    ohm.manual_seed(3)
    local ok, result = pcall(step)
    if not ok then
      result = nil
      result = step()
    end
    return {sum = result}
  end
end

local function skipping(keep)
  return function(d)
    local model = build(d)
    local opt = ohm.optim.SGD(model:parameters(), {lr = 0.125})
    for i = 1, 3 do
      local function step()
        model:zero_grad()
        local x = ohm.full({8, 16}, i + 0.5, {device = d})
        model(x):sum():backward()
        opt:step()
      end
      local ok, err = pcall(step)
      if not ok and keep then error(err, 0) end
      err = nil
    end
    return {weights = weights(model)}
  end
end

-- Half the batch, twice.
local function halved(scale)
  return function(d)
    local x = ohm.ones(8, 16, {device = d})
    local function mean(rows) return (rows * 2):mean():item() end
    local ok, result = pcall(mean, x)
    if not ok then
      result = nil
      result = (mean(x:narrow(0, 0, 4)) + mean(x:narrow(0, 4, 4))) * scale
    end
    return {mean = result}
  end
end

local function slower(factor)
  return function(d)
    local model = build(d)
    local x, lr = ohm.ones(8, 16, {device = d}), 0.125
    for _ = 1, 2 do
      model:zero_grad()
      if not try(function() model(x):sum():backward() end) then
        lr = lr * factor
        model:zero_grad()
        model(x):sum():backward()
      end
      ohm.optim.SGD(model:parameters(), {lr = lr}):step()
    end
    return {weights = weights(model)}
  end
end

-- Momentum is state: a new optimizer has none.
local function new_optimizer(replace)
  return function(d)
    local model = build(d)
    local function make() return ohm.optim.SGD(model:parameters(), {lr = 0.125, momentum = 0.5}) end
    local opt, x = make(), ohm.ones(8, 16, {device = d})
    for i = 1, 3 do
      model:zero_grad()
      if i < 3 then
        model(x):sum():backward()
      elseif not try(function() model(x):sum():backward() end) then
        if replace then opt = make() end
        model:zero_grad()
        model(x):sum():backward()
      end
      opt:step()
    end
    return {weights = weights(model)}
  end
end

-- Dropout in the second try draws other numbers.
local function dropout(seeded)
  return function(d)
    local x = ohm.ones(32, 32, {device = d})
    local function forward()
      if seeded then ohm.manual_seed(5) end
      local y = ohm.nn.functional.dropout(x, {p = 0.5})
      return (y * 2):sum():item()
    end
    ohm.manual_seed(5)
    local ok, result = pcall(forward)
    if not ok then
      result = nil
      result = forward()
    end
    return {sum = result}
  end
end

return ohm.scenario {
  name = "training",
  summary = "Training that goes on after a failure",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"num_ooms == 0"},
  problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    gradient_accumulated_bad = train(accumulated),
    gradient_accumulated_good = train(accumulated_afresh),
    half_applied_step_bad = train(stepped_again, 0.5),
    half_applied_step_good = from_scratch(0.5),
    other_batch_bad = random_batch(false),
    other_batch_good = random_batch(true),
    skipped_batch_bad = skipping(false),
    skipped_batch_good = skipping(true),
    unscaled_halves_bad = halved(1),
    unscaled_halves_good = halved(0.5),
    learning_rate_lowered_bad = slower(0.5),
    learning_rate_lowered_good = slower(1),
    momentum_lost_bad = new_optimizer(true),
    momentum_lost_good = new_optimizer(false),
    other_dropout_bad = dropout(false),
    other_dropout_good = dropout(true),
  },
}
