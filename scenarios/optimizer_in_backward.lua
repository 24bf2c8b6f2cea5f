-- Symptom: "all gradients together are as large as the model, and each is used only once."
--
-- backward() makes the gradients of all parameters, then step() uses them one by one. What to do:
-- update each parameter as soon as its gradient is ready, in a hook that runs after accumulation,
-- and drop the gradient: then only the largest one exists at a time. It cannot be combined with
-- accumulating gradients or clipping their norm. Zeroing them earlier does not help: the peak is in
-- backward.
--
-- Chapter: parameters
-- PyTorch:
--     for p in model.parameters():
--         optimizers[p] = torch.optim.Adam([p])
--         p.register_post_accumulate_grad_hook(step_and_clear)

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- 8 layers of width 256, 256 KiB each, and few samples: memory is parameters and gradients.
local DEPTH, WIDTH, BATCH = 8, 256, 16
local P, LAYER = nets.deep_bytes(DEPTH, WIDTH), bytes.linear(WIDTH, WIDTH)
-- In the last layer's backward: parameters, one layer's gradient; the batch, the results of the
-- other layers and two gradients; labels, the loss and the root of backward.
local ROOM = P + LAYER + (1 + DEPTH - 1 + 2) * bytes.float32(BATCH, WIDTH) + bytes.int64(BATCH)
  + 2 * bytes.scalar

local function train(device, prepare, step)
  local net = nets.deep(DEPTH, WIDTH, device)
  local optimizer = prepare(net)
  local x, y = nets.batch(BATCH, WIDTH, device)
  local loss
  for _ = 1, 3 do
    loss = F.cross_entropy(net(x), y)
    loss:backward()
    if step then step(optimizer) end
    ohm.step()
  end
  return {loss = loss, weight = net[#net].weight:detach()}
end

local function one_optimizer(net) return ohm.optim.SGD(net:parameters(), {lr = 0.1}) end
local function step_and_zero(optimizer)
  optimizer:step()
  optimizer:zero_grad()
end

-- An optimizer for each parameter, called when its gradient is there.
local function in_backward(net)
  for _, p in ipairs(net:parameters()) do
    local optimizer = ohm.optim.SGD({p}, {lr = 0.1})
    p:register_post_accumulate_grad_hook(function()
      optimizer:step()
      optimizer:zero_grad()
    end)
  end
end

return ohm.scenario {
  name = "optimizer_in_backward",
  summary = "All gradients at once, where one at a time would do",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {step_after_backward = function(d) return train(d, one_optimizer, step_and_zero) end},
  mitigations = {hook_after_accumulation = function(d) return train(d, in_backward) end},
  non_fixes = {
    an_optimizer_for_each_parameter = function(d)
      return train(d, function(net)
        local optimizers = {}
        for i, p in ipairs(net:parameters()) do
          optimizers[i] = ohm.optim.SGD({p}, {lr = 0.1})
        end
        return optimizers
      end, function(optimizers)
        for _, optimizer in ipairs(optimizers) do step_and_zero(optimizer) end
      end)
    end,
  },
}
