local Block = nn.Module:extend("Block")
function Block:__init(d, h)
  self.n1 = nn.LayerNorm(d)
  self.attn = nn.MultiheadAttention(d, h, {batch_first = true})
  self.n2 = nn.LayerNorm(d)
  self.up = nn.Linear(d, 4 * d)
  self.down = nn.Linear(4 * d, d)
end
function Block:forward(x)
  local h = self.n1(x)
  x = x + self.attn(h, h, h, {need_weights = false})
  return x + self.down(F.gelu(self.up(self.n2(x))))
end
local Net = nn.Module:extend("Net")
function Net:__init(v, d, h, n)
  self.emb = nn.Embedding(v, d)
  self.blocks = nn.ModuleList(collect(n, function() return Block(d, h) end))
  self.norm = nn.LayerNorm(d)
  self.head = nn.Linear(d, v, {bias = false})
end
function Net:forward(i)
  local x = self.emb(i)
  for k = 1, #self.blocks do x = checkpoint(self.blocks[k], x, {use_reentrant = true}) end
  return self.head(self.norm(x))
end
model = Net(1003, 256, 4, 2):cuda()
mark("model")
for k = 1, #model.blocks do fully_shard(model.blocks[k]) end
fully_shard(model)
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
mark("wrapped")
for step = 0, 1 do
  x = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
  y = ohm.randint(0, 1003, {8, 64}, {device = "cuda"})
  opt:zero_grad()
  mark("batch " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = F.cross_entropy(out:flatten(0, 1), y:flatten())
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
