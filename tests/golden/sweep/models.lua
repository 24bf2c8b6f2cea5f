-- Seeded bugs: what a failure leaves of a model that outlives it. Of each pair, `X_bad` has the bug
-- and `X_good` does not.

local nn, optim = ohm.nn, ohm.optim

local function build(d)
  return nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5), nn.Linear(16, 4)):to(d)
end
local function batch(d) return ohm.ones(8, 16, {device = d}) end

-- Looks at the model with something switched, and switches it back.
local function switched(switch, always)
  local model
  return function(d)
    model = model or build(d)
    local back = switch(model)
    local ok, result = pcall(function()
      local _ <close> = ohm.no_grad()
      return model(batch(d)):sum():item()
    end)
    if ok or always then back() end
    if not ok then error(result, 0) end
  end
end
local function evaluation(model)
  model:eval()
  return function() model:train() end
end
local function hook(model)
  local registered = model[1]:register_forward_hook(function() end)
  return function() registered:remove() end
end
local function frozen(model)
  model:requires_grad_(false)
  return function() model:requires_grad_(true) end
end

-- A step of training whose model, and its optimizer unless `make` makes another one each time, live
-- on. `careful` makes the update.
local function trained(make, careful, keeps_optimizer)
  local model, opt
  return {
    run = function(d)
      model = model or build(d)
      opt = opt or make(model)
      model:zero_grad()
      model(batch(d)):sum():backward()
      local ok, err = careful(model, opt)
      if not keeps_optimizer then opt = nil end
      if ok == nil then model, opt = nil, nil end
      if not ok then error(err, 0) end
    end,
    next_step = function(d)
      if model then model(batch(d)):sum():backward() end
    end,
  }
end
local function with(name, options)
  return function(model) return optim[name](model:parameters(), options) end
end

local function as_it_comes(_, opt) return pcall(opt.step, opt) end
local function thrown_away(_, opt)
  local ok, err = pcall(opt.step, opt)
  if not ok then return nil, err end
  return true
end
local function taken_back(model, opt)
  local before = {}
  for i, p in ipairs(model:parameters()) do before[i] = p:detach():cpu() end
  local ok, err = pcall(opt.step, opt)
  if not ok then
    local _ <close> = ohm.no_grad()
    for i, p in ipairs(model:parameters()) do p:copy_(before[i]) end
  end
  return ok, err
end

local adam = with("Adam", {lr = 0.125, foreach = false})
local momentum = with("SGD", {lr = 0.125, momentum = 0.5})

return ohm.scenario {
  name = "models",
  summary = "What a failure leaves of a model",
  gpu = {profile = "tiny-64m", count = 1, values = true},
  limits = {"num_ooms == 0"},
  problems = {too_large = function(d) ohm.zeros(128, 1024, 1024, {device = d}) end},
  controls = {
    left_in_evaluation_bad = switched(evaluation, false),
    left_in_evaluation_good = switched(evaluation, true),
    hook_left_bad = switched(hook, false),
    hook_left_good = switched(hook, true),
    left_frozen_bad = switched(frozen, false),
    left_frozen_good = switched(frozen, true),
    half_step_left_bad = trained(momentum, as_it_comes, true),
    half_step_left_good = trained(momentum, thrown_away, true),
    half_step_of_weights_bad = trained(adam, as_it_comes, false),
    half_step_of_weights_good = trained(adam, taken_back, false),
  },
}
