local vocab, dim, heads, layers, context, RotaryEmbedding, rotate_half, Attention, Block, Model, model, generate, prompt, out, text
vocab, dim, heads, layers, context = 256, 64, 4, 2, 32
RotaryEmbedding = nn.Module:extend("RotaryEmbedding")
function RotaryEmbedding:__init(dim)
  local inv_freq
  inv_freq = 1.0 / (10000 ^ (ohm.arange(0, dim, 2):float() / dim))
  self:register_buffer("inv_freq", inv_freq, {persistent = false})
end
function RotaryEmbedding:forward(positions)
  local freqs, emb
  freqs = ohm.outer(positions:float(), self.inv_freq)
  emb = ohm.cat({freqs, freqs}, {dim = -1})
  return emb:cos(), emb:sin()
end
function rotate_half(x)
  local x1, x2
  x1, x2 = x:chunk(2, {dim = -1})
  return ohm.cat({-x2, x1}, {dim = -1})
end
Attention = nn.Module:extend("Attention")
function Attention:__init()
  self.qkv = nn.Linear(dim, 3 * dim, {bias = false})
  self.proj = nn.Linear(dim, dim, {bias = false})
  self.rope = RotaryEmbedding(dim // heads)
end
function Attention:forward(x, past, start)
  local b, t, _, q, k, v, positions, cos, sin, y
  b, t, _ = table.unpack(x.shape)
  q, k, v = self.qkv(x):split(dim, {dim = 2})
  q = q:view(b, t, heads, dim // heads):transpose(1, 2)
  k = k:view(b, t, heads, dim // heads):transpose(1, 2)
  v = v:view(b, t, heads, dim // heads):transpose(1, 2)
  positions = ohm.arange(start, start + t, {device = x.device})
  cos, sin = self.rope(positions)
  q = (q * cos) + (rotate_half(q) * sin)
  k = (k * cos) + (rotate_half(k) * sin)
  q = q:to(v.dtype)
  k = k:to(v.dtype)
  if past ~= nil then
    k = ohm.cat({past[1], k}, {dim = 2})
    v = ohm.cat({past[2], v}, {dim = 2})
  end
  y = F.scaled_dot_product_attention(q, k, v, {is_causal = past == nil})
  y = y:transpose(1, 2):contiguous():view(b, t, dim)
  return self.proj(y), {k, v}
end
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(dim)
  self.attn = Attention()
  self.ln2 = nn.LayerNorm(dim)
  self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU({approximate = "tanh"}), nn.Linear(4 * dim, dim))
end
function Block:forward(x, past, start)
  local a, present
  a, present = self.attn(self.ln1(x), past, start)
  x = x + a
  x = x + self.mlp(self.ln2(x))
  return x, present
end
Model = nn.Module:extend("Model")
function Model:__init()
  self.wte = nn.Embedding(vocab, dim)
  self.blocks = nn.ModuleList(collect(layers, function(_) return Block() end))
  self.ln = nn.LayerNorm(dim)
  self.head = nn.Linear(dim, vocab, {bias = false})
  self.head.weight = self.wte.weight
end
function Model:forward(idx, caches, start)
  local x, presents, block, present
  x = self.wte(idx)
  presents = {}
  for number1, item1 in ipairs(self.blocks:children()) do
    local i = number1 - 1
    block = item1
    do
      local new1, new2 = block(x, caches[i + 1], start)
      x = new1
      present = new2
    end
    presents[#presents + 1] = present
  end
  return self.head(self.ln(x)), presents
end
model = Model():half():cuda():eval()
mark("model")
function generate(prompt, new_tokens, temperature, top_k)
  local caches, tokens, idx, start, logits, v, _, probs, sorted_probs, sorted_idx, cumulative, remove, choice
  if top_k == nil then top_k = 20 end
  if temperature == nil then temperature = 0.9 end
  caches = {}
  tokens = prompt
  idx = prompt
  start = 0
  for step = 0, new_tokens - 1 do
    do
      local new1, new2 = model(idx, caches, start)
      logits = new1
      local old = caches
      caches = new2
      for i = #old, 1, -1 do old[i] = clear(old[i]) end
    end
    start = start + idx:size(1)
    logits = slice(slice(logits, 0, 0):select(1, -1), 1, 0):float() / temperature
    do
      local new1, new2 = ohm.topk(logits, top_k)
      v = new1
      _ = new2
    end
    logits:masked_fill_(logits:lt(v:index({ohm.tensor({-1})}, {1})), -math.huge)
    probs = F.softmax(logits, {dim = -1})
    do
      local new1, new2 = ohm.sort(probs, {descending = true})
      sorted_probs = new1
      sorted_idx = new2
    end
    cumulative = ohm.cumsum(sorted_probs, {dim = -1})
    remove = (cumulative - sorted_probs):gt(0.95)
    sorted_probs = sorted_probs:masked_fill(remove, 0.0)
    sorted_probs = sorted_probs / sorted_probs:sum({dim = -1, keepdim = true})
    choice = ohm.multinomial(sorted_probs, {num_samples = 1})
    idx = ohm.gather(sorted_idx, -1, choice)
    tokens = ohm.cat({tokens, idx}, {dim = 1})
    mark("token " .. step)
  end
  return tokens
end
prompt = ohm.randint(0, vocab, {2, 9}, {device = "cuda"})
do
  local mode <close> = ohm.no_grad()
  out = generate(prompt, 6)
end
text = out:tolist()
mark("generated")
mark("end of program (globals alive)")
model = nil
prompt = nil
out = nil
text = nil
mark("globals deleted")
