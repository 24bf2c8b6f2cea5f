local Net = nn.Module:extend("Net")
function Net:__init()
  self.a = nn.Linear(1000, 512)
  self.b = nn.Linear(512, 512)
  self.c = nn.Linear(512, 1000)
  self.last = nn.Parameter(ohm.zeros(1001))
  self.uses_b = false
end
function Net:forward(x)
  local h = self.a(x):relu()
  if self.uses_b then h = self.b(h):relu() end
  return self.c(h) * self.last:narrow(0, 0, 1000)
end
model = Net():cuda()
mark("model")
for _, part in ipairs {model.a, model.b, model.c} do fully_shard(part) end
fully_shard(model)
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
mark("wrapped")
for step = 0, 2 do
  x = ohm.randn(64, 1000, {device = "cuda"})
  y = ohm.randint(0, 1000, {64}, {device = "cuda"})
  model.uses_b = step == 1
  opt:zero_grad()
  mark("batch " .. step)
  out = model(x)
  mark("forward " .. step)
  loss = F.cross_entropy(out, y)
  loss:backward()
  mark("backward " .. step)
  opt:step()
  mark("step " .. step)
end
