local FeedForward, Block, Model, model, optimizer, schedule, tokens, x, y, logits, loss, peak, ppl
FeedForward = nn.Module:extend("FeedForward")
function FeedForward:__init(dim, hidden)
  self.w1 = nn.Linear(dim, hidden, {bias = false})
  self.w2 = nn.Linear(hidden, dim, {bias = false})
  self.w3 = nn.Linear(dim, hidden, {bias = false})
end
function FeedForward:forward(x)
  return self.w2(F.silu(self.w1(x)) * self.w3(x))
end
Block = nn.Module:extend("Block")
function Block:__init(dim, heads)
  self.heads = heads
  self.norm1 = nn.LayerNorm(dim)
  self.qkv = nn.Linear(dim, 3 * dim, {bias = false})
  self.proj = nn.Linear(dim, dim, {bias = false})
  self.norm2 = nn.LayerNorm(dim)
  self.ff = FeedForward(dim, 3 * dim)
end
function Block:forward(x)
  local b, t, d, qkv, q, k, v, y
  b, t, d = table.unpack(x.shape)
  qkv = self.qkv(self.norm1(x)):view(b, t, 3, self.heads, d // self.heads):permute(2, 0, 3, 1, 4)
  q, k, v = qkv:unbind(0)
  y = F.scaled_dot_product_attention(q, k, v, {is_causal = true})
  x = x + self.proj(y:transpose(1, 2):reshape(b, t, d))
  return x + self.ff(self.norm2(x))
end
Model = nn.Module:extend("Model")
function Model:__init(vocab, dim, layers)
  self.emb = nn.Embedding(vocab, dim)
  self.blocks = nn.ModuleList(collect(layers, function(_) return Block(dim, 4) end))
  self.norm = nn.LayerNorm(dim)
  self.head = nn.Linear(dim, vocab, {bias = false})
end
function Model:forward(x, use_reentrant)
  local h, block
  h = self.emb(x)
  for _, item1 in ipairs(self.blocks:children()) do
    block = item1
    h = ohm.utils.checkpoint.checkpoint(block, h, {use_reentrant = use_reentrant})
  end
  return self.head(self.norm(h))
end
model = Model(200, 64, 3):cuda()
optimizer = ohm.optim.AdamW(model:parameters(), {lr = 0.0003, betas = {0.9, 0.95}, fused = true})
schedule = ohm.optim.lr_scheduler.LambdaLR(optimizer, function(step) return math.min(1.0, (step + 1) / 2) end)
mark("model")
for step = 0, 3 - 1 do
  tokens = ohm.randint(0, 200, {4, 33}, {device = "cuda"})
  do
    local new1, new2 = slice(slice(tokens, 0, 0), 1, 0, -1), slice(slice(tokens, 0, 0), 1, 1)
    x = new1
    y = new2
  end
  do
    local mode2 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(x, step == 1)
    loss = F.cross_entropy(logits:reshape(-1, 200), y:reshape(-1))
  end
  mark("forward " .. step)
  optimizer:zero_grad({set_to_none = true})
  loss:backward()
  nn.utils.clip_grad_norm_(model:parameters(), 1.0)
  optimizer:step()
  schedule:step()
  mark("step " .. step)
end
peak = ohm.cuda.max_memory_allocated()
ohm.cuda.reset_peak_memory_stats()
model:eval()
do
  local mode3 <close> = ohm.inference_mode()
  do
    local mode4 <close> = ohm.autocast("cuda", {dtype = ohm.bfloat16})
    logits = model(x, false)
    ppl = F.cross_entropy(logits:float():reshape(-1, 200), y:reshape(-1)):exp():item()
  end
end
mark("evaluated")
mark("end of program (globals alive)")
model = nil
optimizer = nil
schedule = nil
tokens = nil
x = nil
y = nil
logits = nil
loss = nil
peak = nil
ppl = nil
mark("globals deleted")
