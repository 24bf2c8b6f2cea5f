-- Symptom: "everybody says nn.ReLU(inplace=True) saves memory, and my training peak is the same."
--
-- An out-of-place ReLU makes a second tensor beside its input. In a forward pass without graph that
-- second one is the peak, and in-place saves it. A training step keeps ReLU's result and never its
-- input, so there is nothing to save: the same bytes stay, and the peak is in backward. In-place
-- dropout even costs memory: it keeps four bytes of noise per element instead of a mask of one
-- byte. Overwriting what backward needs raises an error.
--
-- Chapter: activations
-- PyTorch:
--     nn.ReLU(inplace=True)    # where no graph is kept

local bytes = require("bytes")
local nn = ohm.nn

-- (a) Convolutions that widen: 4, 8, 16 and 32 channels of 64 x 64 pixels, 64 KiB for four channels
-- (A). The last one reads 4 A and writes 8; its ReLU makes 8 more.
local A = bytes.float32(4, 64, 64)
local WIDENING_P = bytes.float32(4, 4, 3, 3) + bytes.float32(8, 4, 3, 3)
  + bytes.float32(16, 8, 3, 3) + bytes.float32(32, 16, 3, 3) + 4 * bytes.scalar
local FORWARD = WIDENING_P + A + 4 * A + 8 * A -- with the batch, which has a name

-- (b), (c) Four convolutions of 4 channels: each layer's result is A.
local DEPTH = 4
local P = DEPTH * (bytes.float32(4, 4, 3, 3) + bytes.scalar)

local function new_net(device, options)
  ohm.manual_seed(1)
  local layers, width = {}, 4
  for i = 1, DEPTH do
    local out = options.widening and i > 1 and 2 * width or width
    layers[#layers + 1] = nn.Conv2d(width, out, 3, {padding = 1})
    layers[#layers + 1] = options.activation or nn.ReLU({inplace = options.inplace})
    if options.dropout then layers[#layers + 1] = options.dropout end
    width = out
  end
  return nn.Sequential(layers):to(device)
end

local function input(device)
  ohm.manual_seed(2)
  return ohm.randn(1, 4, 64, 64, {device = device})
end

local function infer(device, inplace)
  local net = new_net(device, {inplace = inplace, widening = true})
  local x = input(device)
  return {out = ohm.no_grad(function() return net(x):mean({2, 3}) end)}
end

local function train(device, options)
  local net, x = new_net(device, options), input(device)
  net(x):mean():backward()
  ohm.step()
  return {gradient = net[1].weight.grad * 1000}
end

local function with_dropout(inplace)
  return function(d)
    return train(d, {activation = nn.GELU(), dropout = nn.Dropout(0.5, {inplace = inplace})})
  end
end

return ohm.scenario {
  name = "inplace_operations",
  summary = "In-place ReLU saves a temporary of inference, and nothing of training",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    forward = {
      limits = {bytes.at_most("peak_allocated_bytes", FORWARD)},
      run = function(d) return infer(d, false) end,
    },
    training = {
      -- If in-place saved one: the batch, the results of four layers, and one gradient of A.
      limits = {bytes.at_most("peak_allocated_bytes", 2 * P + (1 + DEPTH + 1) * A)},
      run = function(d) return train(d, {inplace = false}) end,
    },
    -- GELU keeps what it reads, the next convolution what dropout wrote, and dropout a mask of a
    -- byte for each number; in place its noise is a float. The batch and two gradients, before any
    -- of a parameter; the mean and the root of backward.
    inplace_dropout = {
      limits = {bytes.at_most("peak_allocated_bytes",
                              P + (1 + 2 * DEPTH - 1 + 2) * A + DEPTH * A // 4 + 2 * bytes.scalar)},
      run = with_dropout(true),
    },
  },
  mitigations = {
    inplace_relu = {of = "forward", run = function(d) return infer(d, true) end},
    dropout_out_of_place = {of = "inplace_dropout", run = with_dropout(false)},
  },
  non_fixes = {
    inplace_relu_in_training = {
      of = "training", limits = {"peak_allocated_bytes == problem"},
      run = function(d) return train(d, {inplace = true}) end,
    },
  },
  checks = {
    overwriting_what_backward_needs = {
      raises = "modified by an inplace operation",
      run = function(d)
        local w = ohm.ones(4, {device = d, requires_grad = true})
        local y = w:exp() -- keeps its result
        y:add_(1)
        y:sum():backward()
      end,
    },
  },
}
