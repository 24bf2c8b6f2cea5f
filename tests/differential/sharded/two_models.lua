local one = nn.Sequential(nn.Linear(1000, 500), nn.ReLU(), nn.Linear(500, 1000)):cuda()
local two = nn.Sequential(nn.Linear(1000, 300), nn.ReLU(), nn.Linear(300, 1000)):cuda()
mark("model")
for _, net in ipairs {one, two} do
  fully_shard(net[1])
  fully_shard(net)
end
model = {one, two}
opt = {ohm.optim.AdamW(one:parameters()), ohm.optim.AdamW(two:parameters())}
mark("wrapped")
for step = 0, 2 do
  x = ohm.randn(64, 1000, {device = "cuda"})
  y = ohm.randint(0, 1000, {64}, {device = "cuda"})
  out = one(x)
  mark("first " .. step)
  loss = F.cross_entropy(two(out:detach()), y)
  mark("second " .. step)
  loss:backward()
  mark("backward " .. step)
  opt[2]:step()
  opt[2]:zero_grad()
  loss = F.cross_entropy(two(out), y)
  mark("third " .. step)
  loss:backward()
  opt[1]:step()
  opt[1]:zero_grad()
  opt[2]:zero_grad()
  mark("step " .. step)
end
