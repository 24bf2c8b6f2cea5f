-- Symptom: "forward and backward fit, and the first optimizer.step() is out of memory."
--
-- Adam keeps two copies of the parameters, made in the first step() and kept from then on, and its
-- default implementation takes a temporary third one in every step. What to do: fused = true needs
-- no temporary; SGD needs no state. `foreach = false` is said to save memory, and raises the peak:
-- it takes two temporaries of the largest parameter, which here is nearly all of them.
--
-- Chapter: parameters
-- PyTorch:
--     optimizer = torch.optim.Adam(model.parameters(), fused=True)

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- Parameters, gradients and two copies of state, what the step itself holds (batch, output, loss,
-- and in backward a scalar and the gradient of the first layer's output), and the counters of
-- four parameters. Adam's temporary P is what does not fit.
local P, BATCH = nets.two_layer_bytes, 32
local STEP = bytes.float32(BATCH, 1000) + bytes.int64(BATCH) + bytes.float32(BATCH, 10)
  + 2 * bytes.scalar + bytes.float32(BATCH, 2000)
local ROOM = 4 * P + STEP + 4 * bytes.scalar

local function train(device, new_optimizer, dtype)
  ohm.manual_seed(1)
  local net = nets.two_layer(device):to(dtype or "float32")
  local optimizer = new_optimizer(net:parameters())
  local x, y = nets.batch(BATCH, 1000, device)
  local input, out, loss = x:to(net[1].weight.dtype), nil, nil
  for _ = 1, 3 do
    optimizer:zero_grad()
    out = net(input)
    loss = F.cross_entropy(out, y)
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {loss = loss}
end

local function adam(options)
  return function(parameters) return ohm.optim.Adam(parameters, options) end
end
local function sgd(momentum)
  return function(parameters)
    return ohm.optim.SGD(parameters, {lr = 1e-3, momentum = momentum})
  end
end

-- Which call of the first step raises on a card that holds parameters and gradients.
local function where_it_dies(device)
  local net = nets.two_layer(device)
  local optimizer = ohm.optim.Adam(net:parameters())
  local x, y = nets.batch(BATCH, 1000, device)
  local at = "forward"
  local fits = pcall(function()
    local loss = F.cross_entropy(net(x), y)
    at = "backward"
    loss:backward()
    at = "step"
    optimizer:step()
  end)
  return {fits = fits, at = at}
end

local function trade(new_optimizer, dtype)
  return {
    trades = dtype and "precision of parameters and state" or "the optimizer",
    must_agree = {"finite", "steps"},
    run = function(d) return train(d, new_optimizer, dtype) end,
  }
end

-- With cuBLAS's workspace the second step's backward holds more than a step with Adam's temporary
-- P: in the product that makes the gradient of the first layer's weight, the state, the workspace
-- and all gradients but that of the layer's bias. The two temporaries of `foreach = false` are
-- still more: no workspace is there in optimizer.step(), and backward has let its tensors go.
local BACKWARD = 4 * P - bytes.float32(2000) + STEP + bytes.a100_workspace
local FOREACH_FALSE = 4 * P + 2 * bytes.float32(1000, 2000)
  + STEP - bytes.float32(BATCH, 2000) - bytes.scalar

local function on_a100(peak, options)
  return {
    gpu = {profile = "golden-sm80", values = true},
    limits = {bytes.exactly("peak_allocated_bytes", peak)},
    run = function(d) return train(d, adam(options)) end,
  }
end

return ohm.scenario {
  name = "optimizer_state",
  summary = "Adam's state comes with the first step, and a temporary third copy with every step",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {adam = function(d) return train(d, adam()) end},
  mitigations = {
    fused_adam = function(d) return train(d, adam {fused = true}) end,
    sgd = trade(sgd(0)),
    sgd_with_momentum = trade(sgd(0.9)),
    state_in_bfloat16 = trade(adam(), "bfloat16"),
  },
  non_fixes = {
    foreach_false = function(d) return train(d, adam {foreach = false}) end,
  },
  checks = {
    first_step_not_first_forward = {
      gpu = {capacity = "32 MiB"},
      returns = {fits = false, at = "step"},
      run = where_it_dies,
    },
    adam_with_workspaces = on_a100(BACKWARD),
    fused_with_workspaces = on_a100(BACKWARD + 4 * bytes.scalar, {fused = true}),
    foreach_false_with_workspaces = on_a100(FOREACH_FALSE, {foreach = false}),
  },
}
