-- Llama-style decoders: RMSNorm, rotary embedding, SwiGLU, grouped key/value heads. The 7 B one has
-- 6,738,415,616 parameters.
local attention = require("models.attention")
local nn, F = ohm.nn, ohm.nn.functional

local SIZES = {
  ["7b"] = {width = 4096, layers = 32, heads = 32, kv_heads = 32, hidden = 11008},
  ["13b"] = {width = 5120, layers = 40, heads = 40, kv_heads = 40, hidden = 13824},
  ["70b"] = {width = 8192, layers = 80, heads = 64, kv_heads = 8, hidden = 28672},
}

local RMSNorm = nn.Module:extend("RMSNorm")

function RMSNorm:__init(width, place)
  self.weight = nn.Parameter(ohm.ones(width, place))
end

function RMSNorm:forward(x)
  local wide = x:float()
  local scale = wide:pow(2):mean(-1, true):add(1e-5):rsqrt()
  return self.weight * (wide * scale):to(x.dtype)
end

-- cos and sin of the angles of the positions from `first` on: [sequence, head size] each.
local function rotation(first, length, size, device)
  local steps = ohm.arange(0, size, 2, {device = device}):float()
  local frequencies = (steps * (-math.log(10000) / size)):exp()
  local positions = ohm.arange(first, first + length, {device = device}):float()
  local angles = positions:view(length, 1) * frequencies:view(1, size // 2)
  angles = ohm.cat({angles, angles}, 1)
  return angles:cos(), angles:sin()
end

local function rotated(x, cos, sin)
  local first, second = x:chunk(2, -1)
  return x * cos + ohm.cat({-second, first}, -1) * sin
end

local Attention = nn.Module:extend("Attention")

function Attention:__init(config, place)
  local size = config.width // config.heads
  local bare = {bias = false, device = place.device, dtype = place.dtype}
  self.heads, self.kv_heads, self.attend = config.heads, config.kv_heads, config.attention
  self.q_proj = nn.Linear(config.width, config.heads * size, bare)
  self.k_proj = nn.Linear(config.width, config.kv_heads * size, bare)
  self.v_proj = nn.Linear(config.width, config.kv_heads * size, bare)
  self.o_proj = nn.Linear(config.heads * size, config.width, bare)
end

-- Every key/value head serves heads / kv_heads queries' heads.
local function repeated(t, times)
  if times == 1 then return t end
  local batch, heads, length, size = t:size(0), t:size(1), t:size(2), t:size(3)
  return t:view(batch, heads, 1, length, size):expand(batch, heads, times, length, size)
    :reshape(batch, heads * times, length, size)
end

function Attention:forward(x, cos, sin, cache)
  local batch, length, width = x:size(0), x:size(1), x:size(2)
  local function by_head(t, heads)
    return t:view(batch, length, heads, width // self.heads):transpose(1, 2)
  end
  local q = rotated(by_head(self.q_proj(x), self.heads), cos, sin)
  local k = rotated(by_head(self.k_proj(x), self.kv_heads), cos, sin)
  local v = by_head(self.v_proj(x), self.kv_heads)
  k, v = attention.remember(cache, k, v)
  local times = self.heads // self.kv_heads
  local y = self.attend(q, repeated(k, times), repeated(v, times))
  return self.o_proj(y:transpose(1, 2):reshape(batch, length, width))
end

local MLP = nn.Module:extend("MLP")

function MLP:__init(config, place)
  local bare = {bias = false, device = place.device, dtype = place.dtype}
  self.gate_proj = nn.Linear(config.width, config.hidden, bare)
  self.up_proj = nn.Linear(config.width, config.hidden, bare)
  self.down_proj = nn.Linear(config.hidden, config.width, bare)
end

function MLP:forward(x)
  return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
end

local Block = nn.Module:extend("Block")

function Block:__init(config, place)
  self.input_norm, self.attn = RMSNorm(config.width, place), Attention(config, place)
  self.post_norm, self.mlp = RMSNorm(config.width, place), MLP(config, place)
end

function Block:forward(x, cos, sin, cache)
  x = x + self.attn(self.input_norm(x), cos, sin, cache)
  return x + self.mlp(self.post_norm(x))
end

local Llama = nn.Module:extend("Llama")

function Llama:__init(config, place)
  self.head_size, self.run_block = config.width // config.heads, config.run_block
  self.layer_count = config.layers
  self.embed_tokens = nn.Embedding(config.vocabulary, config.width, place)
  local blocks = {}
  for i = 1, config.layers do blocks[i] = Block(config, place) end
  self.layers = nn.ModuleList(blocks)
  self.norm = RMSNorm(config.width, place)
  self.lm_head = nn.Linear(config.width, config.vocabulary,
                           {bias = false, device = place.device, dtype = place.dtype})
end

-- Tokens [batch, sequence] to logits [batch, sequence, vocabulary]. With a cache of
-- models.attention these are the next positions behind what it remembers.
function Llama:forward(tokens, cache)
  local x = self.embed_tokens(tokens)
  local first = attention.length(cache)
  local cos, sin = rotation(first, tokens:size(1), self.head_size, tokens.device)
  cos, sin = cos:to(x.dtype), sin:to(x.dtype)
  for i, block in ipairs(self.layers) do
    x = self.run_block(block, x, cos, sin, cache and cache[i])
  end
  return self.lm_head(self.norm(x))
end

-- Tokens [batch, sequence], and `count` more. options: use_cache (true).
function Llama:generate(tokens, count, options)
  return attention.generate(self, tokens, count, options)
end

-- options: size ("7b", "13b", "70b") or width, layers, heads, kv_heads and hidden; vocabulary
-- (32000); attention (models.attention's math); run_block (function(block, x, cos, sin, cache), to
-- checkpoint for example); device, dtype.
return function(options)
  options = options or {}
  local size = SIZES[options.size or "7b"]
  local config = {
    width = options.width or size.width,
    layers = options.layers or size.layers,
    heads = options.heads or size.heads,
    kv_heads = options.kv_heads or options.heads or size.kv_heads,
    hidden = options.hidden or size.hidden,
    vocabulary = options.vocabulary or 32000,
    attention = options.attention or attention.math,
    run_block = options.run_block or function(block, x, cos, sin, cache)
      return block(x, cos, sin, cache)
    end,
  }
  return Llama(config, {device = options.device, dtype = options.dtype})
end
