-- Seeded bugs: what a failure leaves of a model that outlives it. Of each pair, `X_bad` has the bug
-- and `X_good` does not.

local nn, optim = ohm.nn, ohm.optim

local function build(d)
  return nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5), nn.Linear(16, 4)):to(d)
end
local function batch(d) return ohm.ones(8, 16, {device = d}) end

-- Looks at the model with something switched, and switches it back. The next step does not look.
local function switched(switch, always)
  local model
  return {
    run = function(d)
      model = model or build(d)
      local back = switch(model)
      local ok, result = pcall(function()
        local _ <close> = ohm.no_grad()
        return model(batch(d)):sum():item()
      end)
      if ok or always then back() end
      if not ok then error(result, 0) end
    end,
    next_step = function(d)
      if model then model(batch(d)) end
    end,
  }
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

-- Steps of training of a model that lives on; `update` makes the update.
local function trained(make, update)
  local model, opt
  local function step(d)
    opt = opt or make(model)
    model:zero_grad()
    model(batch(d)):sum():backward()
    local ok, err = update(model, opt)
    if ok == nil then model, opt = nil, nil end
    if not ok then error(err, 0) end
  end
  return {
    run = function(d)
      model = model or build(d)
      step(d)
    end,
    next_step = function(d)
      if model then step(d) end
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
local function once_more(_, opt)
  if pcall(opt.step, opt) then return true end
  return pcall(opt.step, opt)
end

-- The same with a new optimizer each time, whose failed step can be taken back.
local function restarted(takes_back)
  return trained(function() return false end, function(model)
    local before = {}
    for i, p in ipairs(model:parameters()) do before[i] = p:detach():cpu() end
    local opt = optim.Adam(model:parameters(), {lr = 0.125, foreach = false})
    local ok, err = pcall(opt.step, opt)
    if not ok and takes_back then
      local _ <close> = ohm.no_grad()
      for i, p in ipairs(model:parameters()) do p:copy_(before[i]) end
    end
    return ok, err
  end)
end

local momentum = with("SGD", {lr = 0.125, momentum = 0.5, foreach = false})

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
    half_step_kept_bad = trained(momentum, as_it_comes),
    half_step_kept_good = trained(momentum, thrown_away),
    stepped_once_more_bad = trained(momentum, once_more),
    stepped_once_more_good = trained(with("SGD", {lr = 0.125}), once_more),
    half_step_of_weights_bad = restarted(false),
    half_step_of_weights_good = restarted(true),
  },
}
