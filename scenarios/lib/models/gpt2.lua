-- GPT-2, from 124,439,808 parameters (the embedding and the output share a matrix) to 1.5 billion.
local attention = require("models.attention")
local nn, F = ohm.nn, ohm.nn.functional

local SIZES = {
  small = {width = 768, layers = 12, heads = 12},
  medium = {width = 1024, layers = 24, heads = 16},
  large = {width = 1280, layers = 36, heads = 20},
  xl = {width = 1600, layers = 48, heads = 25},
}
local VOCABULARY, POSITIONS = 50257, 1024

local Attention = nn.Module:extend("Attention")

function Attention:__init(config, place)
  self.heads, self.attend = config.heads, config.attention
  self.c_attn = nn.Linear(config.width, 3 * config.width, place)
  self.c_proj = nn.Linear(config.width, config.width, place)
  self.resid_dropout = nn.Dropout(config.dropout)
end

function Attention:forward(x, cache)
  local batch, length, width = x:size(0), x:size(1), x:size(2)
  local function by_head(t)
    return t:view(batch, length, self.heads, width // self.heads):transpose(1, 2)
  end
  local q, k, v = self.c_attn(x):split(width, 2)
  local keys, values = attention.remember(cache, by_head(k), by_head(v))
  local y = self.attend(by_head(q), keys, values)
  y = y:transpose(1, 2):contiguous():view(batch, length, width)
  return self.resid_dropout(self.c_proj(y))
end

local MLP = nn.Module:extend("MLP")

function MLP:__init(config, place)
  self.c_fc = nn.Linear(config.width, 4 * config.width, place)
  self.c_proj = nn.Linear(4 * config.width, config.width, place)
  self.dropout = nn.Dropout(config.dropout)
end

function MLP:forward(x)
  return self.dropout(self.c_proj(F.gelu(self.c_fc(x), {approximate = "tanh"})))
end

local Block = nn.Module:extend("Block")

function Block:__init(config, place)
  self.ln_1, self.attn = nn.LayerNorm(config.width, place), Attention(config, place)
  self.ln_2, self.mlp = nn.LayerNorm(config.width, place), MLP(config, place)
end

function Block:forward(x, cache)
  x = x + self.attn(self.ln_1(x), cache)
  return x + self.mlp(self.ln_2(x))
end

local GPT2 = nn.Module:extend("GPT2")

function GPT2:__init(config, place)
  self.wte = nn.Embedding(config.vocabulary, config.width, place)
  self.wpe = nn.Embedding(config.positions, config.width, place)
  self.drop = nn.Dropout(config.dropout)
  local blocks = {}
  for i = 1, config.layers do blocks[i] = Block(config, place) end
  self.h = nn.ModuleList(blocks)
  self.ln_f = nn.LayerNorm(config.width, place)
  self.run_block, self.layer_count = config.run_block, config.layers
end

-- Tokens [batch, sequence] to logits [batch, sequence, vocabulary]. With a cache of
-- models.attention these are the next positions behind what it remembers.
function GPT2:forward(tokens, cache)
  local first = attention.length(cache)
  local positions = ohm.arange(first, first + tokens:size(1), {device = tokens.device})
  local x = self.drop(self.wte(tokens) + self.wpe(positions))
  for i, block in ipairs(self.h) do x = self.run_block(block, x, cache and cache[i]) end
  return F.linear(self.ln_f(x), self.wte.weight)
end

-- Tokens [batch, sequence], and `count` more. options: use_cache (true).
function GPT2:generate(tokens, count, options)
  return attention.generate(self, tokens, count, options)
end

-- options: size ("small", "medium", "large", "xl") or width, layers and heads; vocabulary,
-- positions; dropout (0); attention (models.attention's math); run_block (a function of block, x
-- and cache, to checkpoint for example); device, dtype.
return function(options)
  options = options or {}
  local size = SIZES[options.size or "small"]
  local config = {
    width = options.width or size.width,
    layers = options.layers or size.layers,
    heads = options.heads or size.heads,
    vocabulary = options.vocabulary or VOCABULARY,
    positions = options.positions or POSITIONS,
    dropout = options.dropout or 0,
    attention = options.attention or attention.math,
    run_block = options.run_block or function(block, x, cache) return block(x, cache) end,
  }
  return GPT2(config, {device = options.device, dtype = options.dtype})
end
