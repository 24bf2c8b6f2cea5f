-- Programs with and without seeded bugs: modules, hooks, checkpoints and accumulations. The line
-- above each says the verdict that a sweep has to come to, and the bug.

local p = require("programs")
local nn, F = ohm.nn, ohm.nn.functional
local programs = {}

local function forward(net, i, d) return net(p.batch(i, d)):sum():item() end

-- A model that lives on; the next step looks at it.
local function living(run)
  local net
  return {
    run = function(d)
      net = net or p.net(d)
      return run(net, d)
    end,
    next_step = function(d)
      if net then forward(net, 1, d) end
    end,
  }
end

-- corrupt: a hook for one pass stays
programs.hook_stays = living(function(net, d)
  local hook = net[1]:register_forward_hook(function() end)
  forward(net, 1, d)
  hook:remove()
end)

-- corrupt: the same, in the last of three passes only
programs.hook_of_the_last_pass = living(function(net, d)
  for i = 1, 3 do
    local hook = i == 3 and net[1]:register_forward_hook(function() end)
    forward(net, i, d)
    if hook then hook:remove() end
  end
end)

-- corrupt: every try registers one more
programs.hook_of_each_try = living(function(net, d)
  local hook
  p.again(function()
    hook = net[1]:register_forward_pre_hook(function() end)
    forward(net, 1, d)
  end)
  hook:remove()
end)

-- corrupt: layers are frozen for a second try, which helps, and stay so
programs.frozen_for_a_retry = living(function(net, d)
  local sum
  if not p.try(function() sum = forward(net, 1, d) end) then
    net[1]:requires_grad_(false)
    sum = forward(net, 1, d)
  end
  return {sum = sum}
end)

-- corrupt: evaluation mode, for a try with less memory
programs.evaluation_for_a_retry = living(function(net, d)
  local sum
  if not p.try(function() sum = forward(net, 1, d) end) then
    net:eval()
    sum = forward(net, 1, d)
  end
  return {sum = sum}
end)

-- swallowed: a micro-batch that fails is missing from the accumulated gradient
programs.micro_batch_missing = function(d)
  local net = p.net(d)
  for i = 1, 4 do
    local loss
    if p.try(function() loss = net(p.batch(i, d)):sum() / 4 end) then loss:backward() end
  end
  return {grad = net[1].weight.grad:cpu()}
end

-- recovered_different: the mean is taken over the micro-batches that were tried, not made
programs.mean_over_tries = function(d)
  local net = p.net(d)
  local sum, tries = 0, 0
  for i = 1, 3 do
    p.again(function()
      tries = tries + 1
      sum = sum + forward(net, i, d)
    end)
  end
  return {mean = sum / tries}
end

-- recovered_different: running statistics are updated by both tries
programs.statistics_twice = function(d)
  local norm = nn.BatchNorm1d(8):to(d)
  for i = 1, 2 do
    p.again(function()
      local x = norm(p.batch(i, d))
      return (x * 2):sum():item()
    end)
  end
  return {mean = norm.running_mean:cpu()}
end

-- recovered_different: the layer that does not fit is left out
programs.layer_left_out = function(d)
  local net = p.net(d)
  local x = p.batch(1, d)
  local hidden
  if not p.try(function() hidden = F.relu(net[1](x)) end) then hidden = net[1](x) + 1 end
  return {sum = net[3](hidden):sum():item()}
end

-- swallowed: a second try goes without the last layer's bias
programs.bias_left_out = function(d)
  local net = p.net(d)
  local sum = 0
  for i = 1, 3 do
    local hidden = F.relu(net[1](p.batch(i, d)))
    local out
    if not p.try(function() out = net[3](hidden) end) then
      out = ohm.matmul(hidden, net[3].weight:t())
    end
    sum = sum + out:sum():item()
  end
  return {sum = sum}
end

-- recovered_different: a checkpoint's second try draws other numbers
programs.checkpoint_draws_again = function(d)
  local net = p.net(d)
  ohm.manual_seed(3)
  local function body(x) return F.dropout(net(x), {p = 0.5}) end
  local x = p.batch(1, d):requires_grad_()
  p.again(function()
    ohm.utils.checkpoint.checkpoint(body, x, {use_reentrant = false}):sum():backward()
  end)
  return {grad = x.grad:cpu(), weight = net[1].weight.grad:cpu()}
end

-- wrong_error: the graph of the first try is used once more
programs.graph_used_twice = function(d)
  local net = p.net(d)
  local loss = net(p.batch(1, d)):sum()
  p.again(function() loss:backward() end)
  return {grad = net[1].weight.grad:cpu()}
end

-- wrong_error: the output of a pass that failed is nil
programs.output_missing = function(d)
  local net = p.net(d)
  local out
  for i = 1, 2 do
    if i == 2 then out = nil end
    p.try(function() out = net(p.batch(i, d)) end)
  end
  return {sum = out:sum():item()}
end

-- good: a hook that is removed whatever happens
programs.hook_removed = living(function(net, d)
  local hook = net[1]:register_forward_hook(function() end)
  local ok, err = pcall(forward, net, 1, d)
  hook:remove()
  if not ok then error(err, 0) end
end)

-- good: micro-batches are made again from a gradient that was put aside
-- Wrong without values: what it takes to put the gradient back are requests of their own
programs.gradient_put_aside = function(d)
  local net = p.net(d)
  for i = 1, 3 do
    local before = i > 1 and net[1].weight.grad:cpu() or nil
    local others = i > 1 and p.copies({net[1].bias.grad, net[3].weight.grad, net[3].bias.grad})
    if not p.try(function() net(p.batch(i, d)):sum():backward() end) then
      net:zero_grad()
      net(p.batch(i, d)):sum():backward()
      if before then
        local grads = {net[1].weight.grad, net[1].bias.grad, net[3].weight.grad, net[3].bias.grad}
        local saved = {before, table.unpack(others)}
        for n, grad in ipairs(grads) do grad:add_(saved[n]:to(d)) end
      end
    end
  end
  return {grad = net[1].weight.grad:cpu()}
end

-- good: evaluation mode for as long as a function runs
programs.evaluation_for_a_while = living(function(net, d)
  net:eval()
  local ok, result = pcall(forward, net, 1, d)
  net:train()
  if not ok then error(result, 0) end
  return {sum = result}
end)

-- good: the model is built anew when it could not be built whole
programs.built_anew = function(d)
  local net
  p.again(function() net = p.net(d) end)
  return {sum = forward(net, 1, d)}
end

return p.scenario("models", "Models after a failure", programs)
