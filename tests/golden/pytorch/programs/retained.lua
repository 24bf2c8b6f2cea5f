-- Written by tests/comparisons/translate_programs.py: do not edit.

--== retained_outputs
local model, opt, outs, x, y, out, loss
model = nn.Sequential(nn.Linear(1000, 2000), nn.ReLU(), nn.Linear(2000, 10)):cuda()
opt = ohm.optim.SGD(model:parameters(), {lr = 0.01})
mark("model")
outs = {}
for i = 0, 4 do
  opt:zero_grad()
  x = ohm.randn(32, 1000, {device = "cuda"})
  y = ohm.randint(0, 10, {32}, {device = "cuda"})
  out = model(x)
  loss = F.cross_entropy(out, y)
  loss:backward()
  opt:step()
  outs[#outs + 1] = out
  mark("iteration " .. i)
end
mark("end of program (globals alive)")
model = nil
opt = nil
outs = nil
x = nil
y = nil
out = nil
loss = nil
mark("globals deleted")
