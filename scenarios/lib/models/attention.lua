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

-- q, k, v: [batch, heads, sequence, head size]. With more keys than queries, the queries are the
-- last positions: the keys before them are remembered.
function attention.math(q, k, v) return weigh(q, k, v, k:size(2) - q:size(2)) end

-- The same numbers for `size` queries at a time.
function attention.chunked(size)
  return function(q, k, v)
    local outputs, remembered = {}, k:size(2) - q:size(2)
    for i, chunk in ipairs({q:split(size, 2)}) do
      outputs[i] = ohm.utils.checkpoint.checkpoint(function(piece, keys, values)
        return weigh(piece, keys, values, remembered + (i - 1) * size)
      end, chunk, k, v, {use_reentrant = false})
    end
    return ohm.cat(outputs, 2)
  end
end

-- What one layer remembers of the positions so far: keys and values, [batch, heads, sequence, head
-- size]. Each step makes both anew, one position longer, as torch.cat does in a DynamicCache.
function attention.remember(cache, k, v)
  if cache == nil then return k, v end
  if cache.k ~= nil then
    k, v = ohm.cat({cache.k, k}, 2), ohm.cat({cache.v, v}, 2)
  end
  cache.k, cache.v = k, v
  return k, v
end

-- A cache for a model of so many layers.
function attention.new_cache(layers)
  local cache = {}
  for i = 1, layers do cache[i] = {} end
  return cache
end

-- How many positions a cache remembers.
function attention.length(cache)
  if cache == nil or cache[1].k == nil then return 0 end
  return cache[1].k:size(2)
end

-- Continues tokens [batch, sequence] by `count`, always the likeliest. With a cache (`use_cache`,
-- true unless it is false) every step computes one position; without, all of them again.
function attention.generate(model, tokens, count, options)
  local cache
  if (options or {}).use_cache ~= false then cache = attention.new_cache(model.layer_count) end
  local _no_grad <close> = ohm.no_grad()
  local input, logits, last = tokens, nil, nil
  for _ = 1, count do
    logits = model(input, cache)
    last = logits:select(1, logits:size(1) - 1):argmax(-1):view(-1, 1)
    tokens = ohm.cat({tokens, last}, 1)
    input = cache == nil and tokens or last
    ohm.step()
  end
  return tokens
end

return attention
