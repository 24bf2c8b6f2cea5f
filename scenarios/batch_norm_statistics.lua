-- Symptom: "I added BatchNorm, a few numbers for each channel, and activations doubled."
--
-- The parameters and statistics of a BatchNorm are small: weight, bias, running mean and variance,
-- and of each batch the mean and the inverse deviation. But it keeps its input for backward, which
-- ReLU after a convolution does not. What to do: fused or recomputed normalisation and activation,
-- which keep one tensor instead of two. Frozen statistics (`eval`) save the batch's few numbers,
-- not the input. A recomputed BatchNorm updates its running statistics twice.
--
-- Chapter: activations
-- PyTorch:
--     def norm(x): return F.relu(bn(x))
--     x = checkpoint(norm, conv(x), use_reentrant=False)

local bytes = require("bytes")
local nn = ohm.nn

-- 4 times Conv2d(8, 8), BatchNorm, ReLU over 2 x 8 x 48 x 48 numbers: 144 KiB (A) each.
local DEPTH, C = 4, 8
local A = bytes.float32(2, C, 48, 48)
local CONV = bytes.float32(C, C, 3, 3) + bytes.float32(C)
-- Weight, bias, running mean, running variance, the number of batches; then mean and deviation.
local NORM, OF_THE_BATCH = 2 * bytes.float32(C) + 3 * bytes.scalar, 2 * bytes.float32(C)
-- One tensor for each block, as without BatchNorm. The peak is where backward begins: parameters;
-- the batch, the convolutions' results, of the last block what is computed again, with its
-- statistics, and a gradient; the mean and the root of backward.
local ROOM = DEPTH * (CONV + NORM) + OF_THE_BATCH + (1 + DEPTH + 2 + 1) * A + 2 * bytes.scalar

local function new_net(device, with_norm)
  ohm.manual_seed(1)
  local layers = {}
  for _ = 1, DEPTH do
    layers[#layers + 1] = nn.Conv2d(C, C, 3, {padding = 1})
    if with_norm then layers[#layers + 1] = nn.BatchNorm2d(C) end
    layers[#layers + 1] = nn.ReLU()
  end
  return nn.Sequential(layers):to(device)
end

local function train(device, net, forward)
  ohm.manual_seed(3)
  local x = ohm.randn(2, C, 48, 48, {device = device})
  forward(net, x):mean():backward()
  ohm.step()
  return {gradient = net[1].weight.grad * 1000}
end

local function plain(net, x) return net(x) end

-- What a fused kernel does: normalisation, activation and the convolution after them keep the first
-- one's input, and compute the rest again.
local function recomputed(net, x)
  x = net[1](x)
  for i = 2, 3 * DEPTH, 3 do
    x = ohm.utils.checkpoint.checkpoint(function(h)
      h = net[i + 1](net[i](h))
      return i + 2 <= #net and net[i + 2](h) or h
    end, x, {use_reentrant = false})
  end
  return x
end

local function sum_of(tensors)
  local sum = 0
  for _, t in ipairs(tensors) do sum = sum + bytes.float32(t:numel()) end
  return sum
end

return ohm.scenario {
  name = "batch_norm_statistics",
  summary = "A BatchNorm's statistics are small, the input that it keeps is not",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {batch_norm = function(d) return train(d, new_net(d, true), plain) end},
  mitigations = {
    norm_and_activation_recomputed = function(d) return train(d, new_net(d, true), recomputed) end,
  },
  partials = {
    frozen_statistics = {
      trades = "the statistics of the batch", must_agree = {"steps", "shapes", "finite"},
      run = function(d) return train(d, new_net(d, true):eval(), plain) end,
    },
  },
  controls = {without_batch_norm = function(d) return train(d, new_net(d, false), plain) end},
  checks = {
    bytes_of_a_batch_norm = {
      returns = {parameters = 2 * bytes.float32(C), buffers = 3 * bytes.scalar},
      run = function(d)
        local norm = nn.BatchNorm2d(C):to(d)
        return {parameters = sum_of(norm:parameters()), buffers = sum_of(norm:buffers())}
      end,
    },
    recomputing_moves_statistics_twice = {
      returns = {plain = 1, recomputed = 2},
      run = function(d)
        local function batches(forward)
          local net = new_net(d, true)
          train(d, net, forward)
          return net[2].num_batches_tracked:item()
        end
        return {plain = batches(plain), recomputed = batches(recomputed)}
      end,
    },
  },
}
