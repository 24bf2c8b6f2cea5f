-- Symptom: "the network is deep, its activations fill the card, and checkpointing did not help."
--
-- A checkpoint keeps the input of a piece of the net instead of what the piece keeps, and computes
-- the piece again in backward. It saves where a piece keeps more than its input: blocks with GELU,
-- a wide hidden layer or attention, or segments of several layers. One checkpoint for each
-- Linear-ReLU block, as the guides show it, keeps what the block kept anyway; one around the whole
-- net computes all of it again at once. The price is a second forward pass.
--
-- Chapter: activations
-- PyTorch:
--     x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
-- Keras: block = tf.recompute_grad(block)

local bytes = require("bytes")
local nn, F = ohm.nn, ohm.nn.functional
local checkpoint = ohm.utils.checkpoint

local DEPTH, WIDTH, HIDDEN, BATCH = 8, 64, 256, 512
local A = bytes.float32(BATCH, WIDTH) -- 128 KiB
local INSIDE = bytes.float32(BATCH, HIDDEN)

-- (a) Linear(64, 256), GELU, Linear(256, 64), dropout. A block keeps its input, what GELU read and
-- what it wrote, and dropout's mask.
local GELU_P = DEPTH * (bytes.linear(WIDTH, HIDDEN) + bytes.linear(HIDDEN, WIDTH))
-- Four segments of two. The peak is in the backward of the first one's second block: parameters;
-- the gradients of six blocks, and one of this block's weights; of both blocks what GELU read and
-- wrote, and a gradient inside; the batch, the second block's input, its mask and its result's
-- gradient; the mean and the root of backward.
local FOUR_SEGMENTS = GELU_P + 6 * GELU_P // DEPTH + bytes.float32(HIDDEN, WIDTH)
  + (2 * 2 + 1) * INSIDE + 3 * A + A // 4 + 2 * bytes.scalar
-- (b) Linear(64, 64), ReLU: a block keeps its result, which is the next one's input.
local RELU_P = DEPTH * bytes.linear(WIDTH, WIDTH)
-- The batch, the second segment's input, its four results and two gradients; two scalars.
local RELU_SEGMENTS = RELU_P + (1 + 1 + 4 + 2) * A + 2 * bytes.scalar
-- (c) The same with a batch of 4: 1 KiB of activations a block beside 16 KiB of parameters.
local FEW = 4

local forward_passes = 0
local Block = nn.Module:extend("Block")
function Block:__init(hidden)
  self.hidden = hidden or false
  if hidden then self.up, self.down = nn.Linear(WIDTH, hidden), nn.Linear(hidden, WIDTH) end
  if not hidden then self.up = nn.Linear(WIDTH, WIDTH) end
end
function Block:forward(x)
  forward_passes = forward_passes + 1
  if not self.hidden then return F.relu(self.up(x)) end
  return F.dropout(self.down(F.gelu(self.up(x))), {p = 0.1})
end

local function train(device, hidden, batch, run)
  ohm.manual_seed(1)
  local blocks = {}
  for i = 1, DEPTH do blocks[i] = Block(hidden) end
  local net = nn.Sequential(blocks):to(device)
  ohm.manual_seed(2)
  local x = ohm.randn(batch, WIDTH, {device = device, requires_grad = true})
  run(net, x):mean():backward()
  ohm.step()
  return {gradient = net[DEPTH].up.weight.grad * 1000, input_gradient = x.grad * 1000}
end

local function plain(net, x) return net(x) end
local function each_block(reentrant)
  return function(net, x)
    for _, block in ipairs(net) do
      x = checkpoint.checkpoint(block, x, {use_reentrant = reentrant})
    end
    return x
  end
end
local function whole_net(net, x) return checkpoint.checkpoint(net, x, {use_reentrant = true}) end
local function segments(count)
  return function(net, x)
    return checkpoint.checkpoint_sequential(net, count, x, {use_reentrant = false})
  end
end

local function gelu(run)
  return {of = "gelu_blocks", run = function(d) return train(d, HIDDEN, BATCH, run) end}
end
local function relu(run)
  return {of = "relu_layers", run = function(d) return train(d, nil, BATCH, run) end}
end

return ohm.scenario {
  name = "gradient_checkpointing",
  summary = "Checkpoints help where a piece of the net keeps more than its input",
  gpu = {profile = "tiny-64m", values = true},

  problems = {
    gelu_blocks = {
      limits = {bytes.at_most("peak_allocated_bytes", FOUR_SEGMENTS)},
      run = function(d) return train(d, HIDDEN, BATCH, plain) end,
    },
    relu_layers = {
      limits = {bytes.at_most("peak_allocated_bytes", RELU_SEGMENTS)},
      run = function(d) return train(d, nil, BATCH, plain) end,
    },
    parameters_dominate = {
      limits = {bytes.at_most("peak_allocated_bytes", 2 * RELU_P)},
      run = function(d) return train(d, nil, FEW, plain) end,
    },
  },
  mitigations = {
    gelu_each_block = gelu(each_block(false)),
    gelu_each_block_reentrant = gelu(each_block(true)),
    gelu_sqrt_segments = gelu(segments(4)),
    relu_two_segments = relu(segments(2)),
  },
  non_fixes = {
    relu_each_block = relu(each_block(false)),
    relu_each_block_reentrant = relu(each_block(true)),
    relu_whole_net_reentrant = relu(whole_net),
    relu_one_segment = relu(segments(1)),
    segments_of_parameters = {
      of = "parameters_dominate", run = function(d) return train(d, nil, FEW, segments(3)) end,
    },
  },
  checks = {
    price_is_a_second_forward = {
      returns = {plain = DEPTH, each_block = 2 * DEPTH, four_segments = DEPTH + 6},
      run = function(d)
        local function count(run)
          forward_passes = 0
          train(d, HIDDEN, FEW, run)
          return forward_passes
        end
        return {plain = count(plain), each_block = count(each_block(true)),
                four_segments = count(segments(4))}
      end,
    },
    reentrant_first_block_trains_nothing = {
      returns = {first = false, second = true},
      run = function(d)
        local first, second = Block():to(d), Block():to(d)
        local x = ohm.ones(FEW, WIDTH, {device = d}) -- a batch needs no gradient
        local h = checkpoint.checkpoint(first, x, {use_reentrant = true})
        second(h):mean():backward()
        return {first = first.up.weight.grad ~= nil, second = second.up.weight.grad ~= nil}
      end,
    },
    layer_is_checkpoint_of_layer = {
      raises = "checkpoint",
      run = function(d)
        local layer = nn.Linear(WIDTH, WIDTH):to(d)
        layer = checkpoint.checkpoint(layer) -- calls the layer, without arguments
        return layer(ohm.ones(FEW, WIDTH, {device = d}))
      end,
    },
  },
}
