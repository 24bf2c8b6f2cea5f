-- Written by tests/comparisons/translate_programs.py: do not edit.

--== transformer
local D, H, T, B, V, L, Block, GPT, model, opt, i, y, loss
D, H, T, B, V, L = 256, 4, 128, 4, 1000, 4
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(D)
  self.ln2 = nn.LayerNorm(D)
  self.qkv = nn.Linear(D, 3 * D)
  self.proj = nn.Linear(D, D)
  self.up = nn.Linear(D, 4 * D)
  self.down = nn.Linear(4 * D, D)
  self:register_buffer("mask", ohm.ones(T, T, {dtype = ohm.bool}):triu(1))
end
function Block:forward(x)
  local q, k, v, s, a
  q, k, v = self.qkv(self.ln1(x)):view(B, T, 3, H, D // H):permute(2, 0, 3, 1, 4):unbind(0)
  s = (ohm.matmul(q, k:transpose(-2, -1))) / math.sqrt(D // H)
  s = s:masked_fill(self.mask, -math.huge)
  a = ohm.matmul(s:softmax(-1), v)
  x = x + self.proj(a:transpose(1, 2):reshape(B, T, D))
  return x + self.down(F.gelu(self.up(self.ln2(x))))
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  self.tok = nn.Embedding(V, D)
  self.pos = nn.Embedding(T, D)
  self.blocks = nn.ModuleList(collect(L, function() return Block() end))
  self.ln = nn.LayerNorm(D)
  self.head = nn.Linear(D, V, {bias = false})
  self.head.weight = self.tok.weight
end
function GPT:forward(i, y)
  local x, b, logits
  x = self.tok(i) + self.pos(ohm.arange(T, {device = i.device}))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = b(x)
  end
  logits = self.head(self.ln(x))
  return F.cross_entropy(logits:view(-1, V), y:view(-1))
end
model = GPT():cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  i = ohm.randint(0, V, {B, T}):cuda()
  y = ohm.randint(0, V, {B, T}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = false})
    loss = model(i, y)
  end
  mark("forward " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
i = nil
y = nil
loss = nil
mark("globals deleted")

--== transformer_autocast
local D, H, T, B, V, L, Block, GPT, model, opt, i, y, loss
D, H, T, B, V, L = 256, 4, 128, 4, 1000, 4
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(D)
  self.ln2 = nn.LayerNorm(D)
  self.qkv = nn.Linear(D, 3 * D)
  self.proj = nn.Linear(D, D)
  self.up = nn.Linear(D, 4 * D)
  self.down = nn.Linear(4 * D, D)
  self:register_buffer("mask", ohm.ones(T, T, {dtype = ohm.bool}):triu(1))
end
function Block:forward(x)
  local q, k, v, s, a
  q, k, v = self.qkv(self.ln1(x)):view(B, T, 3, H, D // H):permute(2, 0, 3, 1, 4):unbind(0)
  s = (ohm.matmul(q, k:transpose(-2, -1))) / math.sqrt(D // H)
  s = s:masked_fill(self.mask, -math.huge)
  a = ohm.matmul(s:softmax(-1), v)
  x = x + self.proj(a:transpose(1, 2):reshape(B, T, D))
  return x + self.down(F.gelu(self.up(self.ln2(x))))
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  self.tok = nn.Embedding(V, D)
  self.pos = nn.Embedding(T, D)
  self.blocks = nn.ModuleList(collect(L, function() return Block() end))
  self.ln = nn.LayerNorm(D)
  self.head = nn.Linear(D, V, {bias = false})
  self.head.weight = self.tok.weight
end
function GPT:forward(i, y)
  local x, b, logits
  x = self.tok(i) + self.pos(ohm.arange(T, {device = i.device}))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = b(x)
  end
  logits = self.head(self.ln(x))
  return F.cross_entropy(logits:view(-1, V), y:view(-1))
end
model = GPT():cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  i = ohm.randint(0, V, {B, T}):cuda()
  y = ohm.randint(0, V, {B, T}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = true})
    loss = model(i, y)
  end
  mark("forward " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
i = nil
y = nil
loss = nil
mark("globals deleted")

--== transformer_checkpoint
local D, H, T, B, V, L, Block, GPT, model, opt, i, y, loss
D, H, T, B, V, L = 256, 4, 128, 4, 1000, 4
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(D)
  self.ln2 = nn.LayerNorm(D)
  self.qkv = nn.Linear(D, 3 * D)
  self.proj = nn.Linear(D, D)
  self.up = nn.Linear(D, 4 * D)
  self.down = nn.Linear(4 * D, D)
  self:register_buffer("mask", ohm.ones(T, T, {dtype = ohm.bool}):triu(1))
end
function Block:forward(x)
  local q, k, v, s, a
  q, k, v = self.qkv(self.ln1(x)):view(B, T, 3, H, D // H):permute(2, 0, 3, 1, 4):unbind(0)
  s = (ohm.matmul(q, k:transpose(-2, -1))) / math.sqrt(D // H)
  s = s:masked_fill(self.mask, -math.huge)
  a = ohm.matmul(s:softmax(-1), v)
  x = x + self.proj(a:transpose(1, 2):reshape(B, T, D))
  return x + self.down(F.gelu(self.up(self.ln2(x))))
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  self.tok = nn.Embedding(V, D)
  self.pos = nn.Embedding(T, D)
  self.blocks = nn.ModuleList(collect(L, function() return Block() end))
  self.ln = nn.LayerNorm(D)
  self.head = nn.Linear(D, V, {bias = false})
  self.head.weight = self.tok.weight
end
function GPT:forward(i, y)
  local x, b, logits
  x = self.tok(i) + self.pos(ohm.arange(T, {device = i.device}))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = ohm.utils.checkpoint.checkpoint(b, x, {use_reentrant = false})
  end
  logits = self.head(self.ln(x))
  return F.cross_entropy(logits:view(-1, V), y:view(-1))
end
model = GPT():cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  i = ohm.randint(0, V, {B, T}):cuda()
  y = ohm.randint(0, V, {B, T}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = false})
    loss = model(i, y)
  end
  mark("forward " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
i = nil
y = nil
loss = nil
mark("globals deleted")

--== transformer_checkpoint_reentrant
local D, H, T, B, V, L, Block, GPT, model, opt, i, y, loss
D, H, T, B, V, L = 256, 4, 128, 4, 1000, 4
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(D)
  self.ln2 = nn.LayerNorm(D)
  self.qkv = nn.Linear(D, 3 * D)
  self.proj = nn.Linear(D, D)
  self.up = nn.Linear(D, 4 * D)
  self.down = nn.Linear(4 * D, D)
  self:register_buffer("mask", ohm.ones(T, T, {dtype = ohm.bool}):triu(1))
end
function Block:forward(x)
  local q, k, v, s, a
  q, k, v = self.qkv(self.ln1(x)):view(B, T, 3, H, D // H):permute(2, 0, 3, 1, 4):unbind(0)
  s = (ohm.matmul(q, k:transpose(-2, -1))) / math.sqrt(D // H)
  s = s:masked_fill(self.mask, -math.huge)
  a = ohm.matmul(s:softmax(-1), v)
  x = x + self.proj(a:transpose(1, 2):reshape(B, T, D))
  return x + self.down(F.gelu(self.up(self.ln2(x))))
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  self.tok = nn.Embedding(V, D)
  self.pos = nn.Embedding(T, D)
  self.blocks = nn.ModuleList(collect(L, function() return Block() end))
  self.ln = nn.LayerNorm(D)
  self.head = nn.Linear(D, V, {bias = false})
  self.head.weight = self.tok.weight
end
function GPT:forward(i, y)
  local x, b, logits
  x = self.tok(i) + self.pos(ohm.arange(T, {device = i.device}))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = ohm.utils.checkpoint.checkpoint(b, x, {use_reentrant = true})
  end
  logits = self.head(self.ln(x))
  return F.cross_entropy(logits:view(-1, V), y:view(-1))
end
model = GPT():cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  i = ohm.randint(0, V, {B, T}):cuda()
  y = ohm.randint(0, V, {B, T}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = false})
    loss = model(i, y)
  end
  mark("forward " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
i = nil
y = nil
loss = nil
mark("globals deleted")

--== transformer_encoder_layer
local model, opt, x, out, loss
model = nn.TransformerEncoder(nn.TransformerEncoderLayer(256, 4, 1024, {batch_first = true}), 4):cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  x = ohm.randn(8, 128, 256, {device = "cuda"})
  opt:zero_grad()
  out = model(x)
  mark("forward " .. step)
  loss = out:pow(2):mean()
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
x = nil
out = nil
loss = nil
mark("globals deleted")

--== transformer_expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
local D, H, T, B, V, L, Block, GPT, model, opt, i, y, loss
D, H, T, B, V, L = 256, 4, 128, 4, 1000, 4
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(D)
  self.ln2 = nn.LayerNorm(D)
  self.qkv = nn.Linear(D, 3 * D)
  self.proj = nn.Linear(D, D)
  self.up = nn.Linear(D, 4 * D)
  self.down = nn.Linear(4 * D, D)
  self:register_buffer("mask", ohm.ones(T, T, {dtype = ohm.bool}):triu(1))
end
function Block:forward(x)
  local q, k, v, s, a
  q, k, v = self.qkv(self.ln1(x)):view(B, T, 3, H, D // H):permute(2, 0, 3, 1, 4):unbind(0)
  s = (ohm.matmul(q, k:transpose(-2, -1))) / math.sqrt(D // H)
  s = s:masked_fill(self.mask, -math.huge)
  a = ohm.matmul(s:softmax(-1), v)
  x = x + self.proj(a:transpose(1, 2):reshape(B, T, D))
  return x + self.down(F.gelu(self.up(self.ln2(x))))
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  self.tok = nn.Embedding(V, D)
  self.pos = nn.Embedding(T, D)
  self.blocks = nn.ModuleList(collect(L, function() return Block() end))
  self.ln = nn.LayerNorm(D)
  self.head = nn.Linear(D, V, {bias = false})
  self.head.weight = self.tok.weight
end
function GPT:forward(i, y)
  local x, b, logits
  x = self.tok(i) + self.pos(ohm.arange(T, {device = i.device}))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = b(x)
  end
  logits = self.head(self.ln(x))
  return F.cross_entropy(logits:view(-1, V), y:view(-1))
end
model = GPT():cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  i = ohm.randint(0, V, {B, T}):cuda()
  y = ohm.randint(0, V, {B, T}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = false})
    loss = model(i, y)
  end
  mark("forward " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
i = nil
y = nil
loss = nil
mark("globals deleted")

--== transformer_sdpa_autocast
local D, H, T, B, V, L, Block, GPT, model, opt, i, y, loss
D, H, T, B, V, L = 256, 4, 128, 4, 1000, 4
Block = nn.Module:extend("Block")
function Block:__init()
  self.ln1 = nn.LayerNorm(D)
  self.ln2 = nn.LayerNorm(D)
  self.qkv = nn.Linear(D, 3 * D)
  self.proj = nn.Linear(D, D)
  self.up = nn.Linear(D, 4 * D)
  self.down = nn.Linear(4 * D, D)
  self:register_buffer("mask", ohm.ones(T, T, {dtype = ohm.bool}):triu(1))
end
function Block:forward(x)
  local q, k, v, a
  q, k, v = self.qkv(self.ln1(x)):view(B, T, 3, H, D // H):permute(2, 0, 3, 1, 4):unbind(0)
  a = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
  x = x + self.proj(a:transpose(1, 2):reshape(B, T, D))
  return x + self.down(F.gelu(self.up(self.ln2(x))))
end
GPT = nn.Module:extend("GPT")
function GPT:__init()
  self.tok = nn.Embedding(V, D)
  self.pos = nn.Embedding(T, D)
  self.blocks = nn.ModuleList(collect(L, function() return Block() end))
  self.ln = nn.LayerNorm(D)
  self.head = nn.Linear(D, V, {bias = false})
  self.head.weight = self.tok.weight
end
function GPT:forward(i, y)
  local x, b, logits
  x = self.tok(i) + self.pos(ohm.arange(T, {device = i.device}))
  for _, item1 in ipairs(self.blocks:children()) do
    b = item1
    x = b(x)
  end
  logits = self.head(self.ln(x))
  return F.cross_entropy(logits:view(-1, V), y:view(-1))
end
model = GPT():cuda()
opt = ohm.optim.AdamW(model:parameters())
mark("model")
for step = 0, 2 do
  i = ohm.randint(0, V, {B, T}):cuda()
  y = ohm.randint(0, V, {B, T}):cuda()
  opt:zero_grad()
  mark("batch " .. step)
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16, enabled = true})
    loss = model(i, y)
  end
  mark("forward " .. step)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
opt = nil
i = nil
y = nil
loss = nil
mark("globals deleted")
