-- Symptom: "by my arithmetic the model takes 8 MB, and training it takes forty."
--
-- Adding up the inputs, the weights and the layers' outputs gives what a forward pass holds at
-- rest. A training step holds the gradients as well (as much as the parameters), the optimizer's
-- state (Adam: twice as much), and temporaries of the optimizer (as much once more). What to do:
-- count all of it, and save where most of it is. Here that is the optimizer, not the batch.
--
-- Chapter: basics
-- PyTorch:
--     print(torch.cuda.memory_summary())
--     print(torch.cuda.max_memory_allocated())

local bytes, nets = require("bytes"), require("nets")
local F = ohm.nn.functional

-- The guides' sum for Linear(1000, 2000), ReLU, Linear(2000, 10) and a batch of 32.
local BATCH = 32
local INPUT, FIRST_OUTPUT = 4 * BATCH * 1000, 4 * BATCH * 2000           -- 128,000 and 256,000
local FIRST_WEIGHT, SECOND_WEIGHT = 4 * 1000 * 2000, 4 * 2000 * 10       -- 8,000,000 and 80,000

-- What the same step with plain SGD takes: parameters and gradients, the batch, the output, two
-- scalars, and the gradient of the first layer's output while its bias gradient is made.
local P = nets.two_layer_bytes
local STEP = 2 * P + INPUT + FIRST_OUTPUT + bytes.int64(BATCH) + bytes.float32(BATCH, 10)
  + 2 * bytes.scalar

local function train(device, new_optimizer, batch)
  ohm.manual_seed(1)
  local net = nets.two_layer(device)
  local optimizer = new_optimizer(net:parameters())
  local x, y = nets.batch(batch or BATCH, 1000, device)
  local first, out, loss
  for _ = 1, 2 do
    optimizer:zero_grad()
    out = net(x)
    loss = F.cross_entropy(out, y)
    first = first or loss:item()
    loss:backward()
    optimizer:step()
    ohm.step()
  end
  return {first_loss = first, second_loss = loss:item()}
end

local function adam(parameters) return ohm.optim.Adam(parameters) end
local function sgd(parameters) return ohm.optim.SGD(parameters, {lr = 1e-3}) end

local function forward(device)
  local net = nets.two_layer(device)
  local x = nets.batch(BATCH, 1000, device)
  return {out = ohm.no_grad(function() return net(x) end)}
end

return ohm.scenario {
  name = "vram_breakdown",
  summary = "Parameters, inputs and outputs are a fifth of what a training step takes",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", STEP)},

  problems = {adam = function(d) return train(d, adam) end},
  mitigations = {
    sgd = {
      trades = "the optimizer", must_agree = {"first_loss", "finite"},
      run = function(d) return train(d, sgd) end,
    },
  },
  -- The batch is a hundredth of this step: measured, a quarter of it saves 1 %.
  partials = {
    smaller_batch = {
      trades = "the size of the batch", must_agree = {"steps", "finite"},
      run = function(d) return train(d, adam, BATCH // 4) end,
    },
  },
  controls = {forward_alone = forward},
  checks = {
    guides_arithmetic = {
      returns = {input = 128000, first_weight = 8000000, first_output = 256000,
                 second_weight = 80000, total = 8464000},
      run = function()
        return {input = INPUT, first_weight = FIRST_WEIGHT, first_output = FIRST_OUTPUT,
                second_weight = SECOND_WEIGHT,
                total = INPUT + FIRST_WEIGHT + FIRST_OUTPUT + SECOND_WEIGHT}
      end,
    },
    -- Where the peak of 40,576,000 bytes is: in the optimizer's first step.
    where_adams_peak_goes = {
      limits = {
        bytes.exactly("peak_parameter_bytes", P), bytes.exactly("peak_gradient_bytes", P),
        bytes.exactly("peak_optimizer_state_bytes", 3 * P),
        bytes.exactly("peak_allocated_bytes", 5 * P + 130560),
      },
      run = function(d) return train(d, adam) end,
    },
  },
}
