-- Symptom: "twice the context length, and attention needs four times the memory."
--
-- Plain attention makes a matrix sequence x sequence for every head: scores, masked scores and
-- probabilities, and keeps them for backward. What to do: compute it for a chunk of queries at a
-- time and let a checkpoint compute the chunk again in backward (flash attention does that inside
-- one kernel). Fewer heads of the same width do not change the width, but they do change this.
--
-- Chapter: activations
-- PyTorch:
--     F.scaled_dot_product_attention(q, k, v)

local bytes = require("bytes")
local attention = require("models.attention")

-- 2 heads of size 16. Scores of 512 x 512 for both: 2 MiB.
local HEADS, SIZE, LENGTH, CHUNK = 2, 16, 512, 64
local QKV = bytes.float32(HEADS, LENGTH, SIZE)
local function scores(queries) return bytes.float32(HEADS, queries, LENGTH) end
-- Queries, keys and values, two gradients of such (the third is being made), the result and its
-- own; of one chunk what softmax wrote and three gradients of scores, one of them a temporary of
-- softmax's backward, the mask, and six pieces as large as its queries; the mean and the root of
-- backward.
local ROOM = (3 + 2 + 2) * QKV + (1 + 3) * scores(CHUNK) + bytes.uint8(CHUNK, LENGTH)
  + 6 * bytes.float32(HEADS, CHUNK, SIZE) + 2 * bytes.scalar

local function run(device, attend, length)
  ohm.manual_seed(1)
  local function leaf()
    return ohm.randn(1, HEADS, length, SIZE, {device = device, requires_grad = true})
  end
  local q, k, v = leaf(), leaf(), leaf()
  local out = attend(q, k, v)
  out:mean():backward()
  ohm.step()
  return {out = out, query_gradient = q.grad, key_gradient = k.grad}
end

local function peak(device, attend, length)
  ohm.cuda.reset_peak_memory_stats()
  run(device, attend, length)
  return ohm.cuda.max_memory_allocated()
end

return ohm.scenario {
  name = "sequence_length",
  summary = "Attention's scores grow with the square of the sequence",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {plain = function(d) return run(d, attention.math, LENGTH) end},
  mitigations = {
    chunked = function(d) return run(d, attention.chunked(CHUNK), LENGTH) end,
    half_the_sequence = {
      trades = "the length of the sequence", must_agree = {"steps", "finite"},
      run = function(d) return run(d, attention.chunked(CHUNK), LENGTH // 2) end,
    },
  },
  partials = {
    three_quarters_plain = {
      trades = "the length of the sequence", must_agree = {"steps", "finite"},
      run = function(d) return run(d, attention.math, LENGTH * 3 // 4) end,
    },
  },
  checks = {
    -- Scores are all but a few per cent of the peak: twice the length is nearly four times.
    plain_is_quadratic = {
      returns = {grows = true},
      run = function(d)
        local ratio = peak(d, attention.math, LENGTH) / peak(d, attention.math, LENGTH // 2)
        return {grows = ratio > 3.5 and ratio <= 4}
      end,
    },
    chunked_is_linear = {
      returns = {grows = true},
      run = function(d)
        local attend = attention.chunked(CHUNK)
        local ratio = peak(d, attend, LENGTH) / peak(d, attend, LENGTH // 2)
        return {grows = ratio > 1.5 and ratio <= 2.1}
      end,
    },
  },
}
