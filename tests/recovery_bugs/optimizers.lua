-- Programs with and without seeded bugs: what a failure leaves of optimizers, gradients, schedulers
-- and scalers. The line above each says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local optim = ohm.optim
local programs = {}

-- Three steps of training; `step(parts, i)` is one of them.
local function training(make, step)
  return function(d)
    local net = p.net(d)
    local parts = {net = net, opt = make(net), d = d}
    for i = 1, 3 do step(parts, i) end
    return {weights = p.sum_of(net), lr = parts.opt.lr}
  end
end
-- Moves one parameter after the other; the lists of the others all have their momentum first.
local function momentum(net)
  return optim.SGD(net:parameters(), {lr = 0.125, momentum = 0.5, foreach = false})
end
local function plain(net) return optim.SGD(net:parameters(), {lr = 0.125}) end
-- Asks for memory in its first step alone, for the state.
local function fused(net) return optim.AdamW(net:parameters(), {lr = 0.125, fused = true}) end
local function adam(net) return optim.Adam(net:parameters(), {lr = 0.125, foreach = false}) end

local function backward(t, i)
  t.opt:zero_grad()
  t.net(p.batch(i, t.d)):sum():backward()
end

-- recovered_different: a step that failed halfway is made once more, momentum and all
programs.momentum_step_repeated = training(momentum, function(t, i)
  backward(t, i)
  p.again(t.opt.step, t.opt)
end)

-- recovered_different: the same with Adam, one parameter after the other
programs.adam_step_repeated = training(adam, function(t, i)
  backward(t, i)
  p.again(t.opt.step, t.opt)
end)

-- recovered_different: weights are brought back before the step is repeated, Adam's state is not
programs.state_not_restored = training(adam, function(t, i)
  backward(t, i)
  local before = p.copies(t.net:parameters())
  if p.try(t.opt.step, t.opt) then return end
  p.restore(t.net:parameters(), before)
  t.opt:step()
end)

-- recovered_different: gradients of the failed pass stay, and the second pass adds to them
programs.gradients_doubled = training(plain, function(t, i)
  t.opt:zero_grad()
  p.again(function() t.net(p.batch(i, t.d)):sum():backward() end)
  t.opt:step()
end)

-- recovered_different: the last batch of an accumulation is repeated with half of it added
programs.accumulation_repeated = function(d)
  local net = p.net(d)
  local opt = plain(net)
  for micro = 1, 4 do
    p.again(function() (net(p.batch(micro, d)):sum() / 4):backward() end)
  end
  opt:step()
  return {weights = p.sum_of(net)}
end

-- recovered_different: from the second step on a failure brings a new optimizer without momentum
programs.momentum_lost = training(momentum, function(t, i)
  if not p.try(backward, t, i) then
    if i > 1 then t.opt = momentum(t.net) end
    backward(t, i)
  end
  t.opt:step()
end)

-- recovered_different: the learning rate is halved for a second try, and stays so
programs.rate_stays_low = training(plain, function(t, i)
  if not p.try(backward, t, i) then
    t.opt.lr = t.opt.lr / 2
    backward(t, i)
  end
  t.opt:step()
end)

-- recovered_different: the scheduler steps in the part that is repeated
programs.scheduler_steps_twice = function(d)
  local net = p.net(d)
  local opt = plain(net)
  local scheduler = optim.lr_scheduler.LambdaLR(opt, function(epoch) return 0.5 ^ epoch end)
  for i = 1, 3 do
    p.again(function()
      scheduler:step()
      backward({net = net, opt = opt, d = d}, i)
    end)
    opt:step()
  end
  return {weights = p.sum_of(net)}
end

-- recovered_different: a second try forgets the scheduler
programs.scheduler_forgotten = function(d)
  local net = p.net(d)
  local opt = plain(net)
  local scheduler = optim.lr_scheduler.LambdaLR(opt, function(epoch) return 0.5 ^ epoch end)
  for i = 1, 3 do
    local t = {net = net, opt = opt, d = d}
    if p.try(backward, t, i) then
      opt:step()
      scheduler:step()
    else
      backward(t, i)
      opt:step()
    end
  end
  return {weights = p.sum_of(net)}
end

-- recovered_different: gradients are scaled down once more in a second try
programs.gradients_scaled_twice = training(plain, function(t, i)
  backward(t, i)
  local scaled = 0
  local function scale()
    for n, weight in ipairs(t.net:parameters()) do
      weight.grad:copy_(weight.grad * 0.5)
      scaled = n
    end
  end
  p.again(scale)
  t.opt:step()
  t.scaled = scaled
end)

-- recovered_different: the moving average of the weights moves twice
programs.average_moves_twice = function(d)
  local net = p.net(d)
  local t = {net = net, opt = plain(net), d = d}
  local average = p.sum_of(net)
  for i = 1, 3 do
    p.again(function()
      average = 0.5 * average + 0.5 * p.sum_of(net)
      backward(t, i)
    end)
    t.opt:step()
  end
  return {average = average}
end

-- recovered_different: the weights of a failed step are put back from the start of the training
programs.old_checkpoint = function(d)
  local net = p.net(d)
  local t = {net = net, opt = plain(net), d = d}
  local saved = p.copies(net:parameters())
  for i = 1, 3 do
    if not p.try(backward, t, i) then
      p.restore(net:parameters(), saved)
      backward(t, i)
    end
    t.opt:step()
  end
  return {weights = p.sum_of(net)}
end

-- swallowed: a step that failed is not made, from the second one on
programs.step_skipped = training(plain, function(t, i)
  if i == 1 then
    backward(t, i)
    return t.opt:step()
  end
  if p.try(backward, t, i) then t.opt:step() end
end)

-- wrong_error: gradients that a failure kept from being made are read
programs.gradient_missing = function(d)
  local net = p.net(d)
  p.try(function() net(p.batch(1, d)):sum():backward() end)
  return {grad = net[1].weight.grad:cpu():sum():item()}
end

-- wrong_error: unscaling is repeated, which the scaler refuses
programs.unscaled_twice = function(d)
  local net = p.net(d)
  local opt = plain(net)
  local scaler = ohm.amp.GradScaler({init_scale = 8})
  scaler:scale(net(p.batch(1, d)):sum()):backward()
  p.again(function()
    scaler:unscale_(opt)
    local total = net[1].weight.grad * net[1].weight.grad
    return total:sum():item()
  end)
  scaler:step(opt)
  scaler:update()
  return {weights = p.sum_of(net)}
end

-- wrong_error: a first step that is tried again finds the state incomplete
programs.state_half_made = training(fused, function(t, i)
  p.again(function()
    backward(t, i)
    t.opt:step()
  end)
end)

-- corrupt: a new training takes up the weights that a stopped step left half updated
do
  local net
  programs.half_updated = {
    run = function(d)
      net = net or p.net(d)
      local opt = adam(net)
      backward({net = net, opt = opt, d = d}, 1)
      opt:step()
    end,
  }
end

-- good: a second try begins with zero_grad
programs.gradients_cleared = training(plain, function(t, i)
  p.again(backward, t, i)
  t.opt:step()
end)

-- good: weights and state are brought back together, by beginning anew
programs.from_scratch = function(d)
  local run = training(momentum, function(t, i)
    backward(t, i)
    t.opt:step()
  end)
  local ok, result = pcall(run, d)
  if ok then return result end
  result = nil
  return run(d)
end

-- good: what the first step has made of the state goes before it is tried again
programs.half_made_state_cleared = training(fused, function(t, i)
  local function step()
    backward(t, i)
    t.opt:step()
  end
  if p.try(step) then return end
  if i == 1 then t.opt.state = {} end
  step()
end)

-- good: a learning rate that is lowered for a try, and put back when that is made
programs.rate_put_back = training(plain, function(t, i)
  if not p.try(backward, t, i) then
    local rate = t.opt.lr
    t.opt.lr = 0
    backward(t, i)
    t.opt.lr = rate
  end
  t.opt:step()
end)

-- good: an optimizer without state may repeat a step that no request is part of
programs.plain_step_repeated = training(plain, function(t, i)
  backward(t, i)
  p.again(t.opt.step, t.opt)
end)

return p.scenario("optimizers", "Optimizers after a failure", programs)
