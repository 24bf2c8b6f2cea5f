-- Causal attention in two ways: the plain formula, which keeps a sequence × sequence matrix for
-- every head, and in chunks of queries under activation checkpointing, which keeps one chunk's.
local F = ohm.nn.functional

local attention = {}

-- 1 where a key lies behind its query: [1, 1, queries, keys].
local function future(queries, keys, offset, device)
  local mask = ohm.ones(queries, keys, {dtype = "bool", device = device})
  return mask:triu(offset + 1):view(1, 1, queries, keys)
end

local function weigh(q, k, v, offset)
  local scores = ohm.matmul(q, k:transpose(-2, -1)) * (1 / math.sqrt(q:size(-1)))
  scores = scores:masked_fill(future(q:size(2), k:size(2), offset, q.device), -math.huge)
  return ohm.matmul(F.softmax(scores, -1), v)
end

-- q, k, v: [batch, heads, sequence, head size].
function attention.math(q, k, v) return weigh(q, k, v, 0) end

-- The same numbers for `size` queries at a time.
function attention.chunked(size)
  return function(q, k, v)
    local outputs = {}
    for i, chunk in ipairs({q:split(size, 2)}) do
      outputs[i] = ohm.utils.checkpoint.checkpoint(function(piece, keys, values)
        return weigh(piece, keys, values, (i - 1) * size)
      end, chunk, k, v, {use_reentrant = false})
    end
    return ohm.cat(outputs, 2)
  end
end

return attention
