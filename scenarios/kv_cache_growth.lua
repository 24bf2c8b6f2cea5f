-- Symptom: "generation starts well, and is out of memory after some thousand tokens."
--
-- A decoder keeps keys and values of all tokens, for every layer: the cache grows with each token.
-- Grown with cat, it is copied for each token, so old and new exist side by side, and the freed
-- ones are of every size. What to do: allocate the cache once for the longest text and write into
-- it; or bound it, with a window of the last tokens (another result). Emptying the PyTorch cache
-- every token has nothing to do with this cache.
--
-- Chapter: leaks
-- PyTorch:
--     cache = torch.empty(layers, 2, batch, heads, longest, size, device=device)
--     cache[layer, 0, :, :, position] = key

local bytes = require("bytes")
local F = ohm.nn.functional

-- 2 layers, 4 heads of size 32: 1 KiB of keys and values a token and layer.
local LAYERS, HEADS, SIZE, TOKENS, WINDOW = 2, 4, 32, 64, 16
local function cache(tokens) return LAYERS * 2 * bytes.float32(HEADS, tokens, SIZE) end
-- The whole cache once, and what one token needs beside it: query, key and value as scaled; scores
-- as scaled and weighed; the result and the one before.
local TOKEN = bytes.float32(3, HEADS, SIZE) + 2 * bytes.float32(HEADS, TOKENS)
  + 2 * bytes.float32(HEADS, SIZE)
local ROOM = cache(TOKENS) + TOKEN

local function attend(q, keys, values)
  local scores = ohm.matmul(q, keys:transpose(-2, -1)) * SIZE ^ -0.5
  return ohm.matmul(F.softmax(scores, -1), values)
end

-- Projections are left out: a token's query, key and value are drawn.
local function generate(device, dtype, new_cache, update)
  ohm.manual_seed(1)
  return ohm.no_grad(function()
    local layers, out = {}, nil
    for i = 1, LAYERS do layers[i] = new_cache(device, dtype) end
    for token = 0, TOKENS - 1 do
      for i = 1, LAYERS do
        local qkv = (ohm.randn(3, HEADS, 1, SIZE, {device = device}) * 2):to(dtype)
        local q, k, v = qkv:select(0, 0), qkv:select(0, 1), qkv:select(0, 2)
        local keys, values = update(layers[i], k, v, token)
        out = attend(q, keys, values)
      end
      ohm.step()
    end
    return {last = out:float()}
  end)
end

local function empty() return {} end
local function append(layer, k, v)
  layer.k = layer.k and ohm.cat({layer.k, k}, 1) or k:clone()
  layer.v = layer.v and ohm.cat({layer.v, v}, 1) or v:clone()
  return layer.k, layer.v
end
local function append_and_empty_cache(layer, k, v)
  local keys, values = append(layer, k, v)
  ohm.cuda.empty_cache()
  return keys, values
end
local function append_to_window(layer, k, v)
  local keys, values = append(layer, k, v)
  local extra = keys:size(1) - WINDOW
  if extra > 0 then
    layer.k = keys:narrow(1, extra, WINDOW):clone()
    layer.v = values:narrow(1, extra, WINDOW):clone()
  end
  return layer.k, layer.v
end

local function allocated_once(device, dtype)
  local options = {device = device, dtype = dtype}
  return {k = ohm.zeros(HEADS, TOKENS, SIZE, options), v = ohm.zeros(HEADS, TOKENS, SIZE, options)}
end
local function write(layer, k, v, token)
  layer.k:narrow(1, token, 1):copy_(k)
  layer.v:narrow(1, token, 1):copy_(v)
  return layer.k:narrow(1, 0, token + 1), layer.v:narrow(1, 0, token + 1)
end

return ohm.scenario {
  name = "kv_cache_growth",
  summary = "The cache of keys and values grows with every token",
  gpu = {profile = "tiny-64m", values = true},
  limits = {bytes.at_most("peak_allocated_bytes", ROOM)},

  problems = {grown_with_cat = function(d) return generate(d, "float32", empty, append) end},
  mitigations = {
    allocated_once = function(d) return generate(d, "float32", allocated_once, write) end,
    window_of_16_tokens = {
      trades = "all tokens before the last 16", must_agree = {"steps", "shapes", "finite"},
      run = function(d) return generate(d, "float32", empty, append_to_window) end,
    },
    -- Until the text is twice as long.
    half_precision = {
      compare_as = "float16",
      run = function(d) return generate(d, "float16", empty, append) end,
    },
  },
  non_fixes = {
    empty_cache = function(d) return generate(d, "float32", empty, append_and_empty_cache) end,
  },
}
