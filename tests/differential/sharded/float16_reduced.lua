model = nn.Sequential(nn.Linear(1000, 4000), nn.ReLU(), nn.Linear(4000, 4000), nn.ReLU(),
                      nn.Linear(4000, 1000)):cuda()
mark("model")
local mp = {param_dtype = ohm.float16, reduce_dtype = ohm.float16}
for i = 1, 5, 2 do fully_shard(model[i], {mp_policy = mp}) end
fully_shard(model, {mp_policy = mp})
opt = ohm.optim.AdamW(model:parameters(), {lr = 0.01})
mark("wrapped")
for step = 0, 2 do
  x = ohm.randn(64, 1000, {device = "cuda"})
  y = ohm.randint(0, 1000, {64}, {device = "cuda"})
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
