-- Symptom: "training diverges, and it takes more memory from the second step on."
--
-- backward() adds to existing gradients. Without zero_grad() every step therefore uses
-- the sum of all gradients so far, the gradients stay allocated during the next forward pass, and
-- each new one is a temporary beside the old one. What to do: zero_grad() at the top of the loop.
-- Just before backward() the numbers are right, but the forward pass still carries the gradients.
--
-- Chapter: leaks
-- PyTorch:
--     for x, y in loader:
--         optimizer.zero_grad()
--         loss_fn(model(x), y).backward()
--         optimizer.step()

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- The peak of a step that begins without gradients, in the first layer's backward: parameters and
-- gradients, the batch, the output and the loss, the root of backward, and the gradient of the
-- first layer's output. 16,565,248 bytes; with last step's gradients it is P more.
local P, BATCH = nets.two_layer_bytes, 32
local STEP = 2 * P + bytes.float32(BATCH, 1000) + bytes.int64(BATCH) + bytes.float32(BATCH, 10)
  + 2 * bytes.scalar + bytes.float32(BATCH, 2000)

local function never() end

-- `top` is called at the top of the loop, `before_backward` where its name says.
local function train(device, top, before_backward)
  ohm.manual_seed(1)
  local net = nets.two_layer(device)
  local optimizer = ohm.optim.SGD(net:parameters(), {lr = 0.05})
  local x, y = nets.batch(BATCH, 1000, device)
  local out, loss
  for _ = 1, 3 do
    top(optimizer, net)
    out = net(x)
    loss = F.cross_entropy(out, y)
    if before_backward then before_backward(optimizer) end
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {loss = loss, gradient = net[3].weight.grad}
end

local function zero_grad(optimizer) optimizer:zero_grad() end
local function zero_in_place(optimizer) optimizer:zero_grad {set_to_none = false} end
local function zero_module(_, net) net:zero_grad() end

-- With cuBLAS's workspace the peak is in the product that makes the gradient of the first layer's
-- weight: the workspace beside all of STEP but that layer's bias, whose gradient is still to come.
-- With last step's gradients the bias has one, and the weight's new gradient is a temporary.
local A100 = {profile = "golden-sm80", values = true}
local NEVER = STEP + bytes.float32(1000, 2000) + bytes.a100_workspace
local MITIGATED = STEP - bytes.float32(2000) + bytes.a100_workspace

return ohm.scenario {
  name = "forgotten_zero_grad",
  summary = "Without zero_grad gradients add up, in number and in bytes",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", STEP), "error_vs_reference == 0"},
  reference = "right_numbers",

  problems = {never = function(d) return train(d, never) end},
  mitigations = {
    top_of_the_loop = function(d) return train(d, zero_grad) end,
    module_zero_grad = function(d) return train(d, zero_module) end,
  },
  partials = {
    just_before_backward = function(d) return train(d, never, zero_grad) end,
  },
  non_fixes = {
    set_to_none_false = function(d) return train(d, zero_in_place) end,
    empty_cache = function(d) return train(d, ohm.cuda.empty_cache) end,
  },
  checks = {
    peak_with_workspaces = {
      gpu = A100, limits = {bytes.exactly("peak_allocated_bytes", NEVER)},
      run = function(d) return train(d, never) end,
    },
    mitigated_peak_with_workspaces = {
      gpu = A100, limits = {bytes.exactly("peak_allocated_bytes", MITIGATED)},
      run = function(d) return train(d, zero_grad) end,
    },
  },
  references = {right_numbers = function(d) return train(d, zero_grad) end},
}
