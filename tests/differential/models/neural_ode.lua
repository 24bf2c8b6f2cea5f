local ODEFunc, rk4_step, odeint, func, optimizer, t, truth, y0, pred, loss, final, error, worst
ODEFunc = nn.Module:extend("ODEFunc")
function ODEFunc:__init(dim)
  self.net = nn.Sequential(nn.Linear(dim + 1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, dim))
end
function ODEFunc:forward(t, y)
  local tt
  tt = ohm.ones_like(slice(slice(y, 0, 0), 1, 0, 1)) * t
  return self.net(ohm.cat({y, tt}, {dim = 1}))
end
function rk4_step(func, t, dt, y)
  local k1, k2, k3, k4
  k1 = func(t, y)
  k2 = func(t + (dt / 2), y + ((dt * k1) / 2))
  k3 = func(t + (dt / 2), y + ((dt * k2) / 2))
  k4 = func(t + dt, y + (dt * k3))
  return y + ((dt * (((k1 + (2 * k2)) + (2 * k3)) + k4)) / 6)
end
function odeint(func, y0, times)
  local ys, y, dt
  ys = {y0}
  y = y0
  for i = 0, times:size(0) - 2 do
    dt = times:select(0, i + 1) - times:select(0, i)
    y = rk4_step(func, times:select(0, i), dt, y)
    ys[#ys + 1] = y
  end
  return ohm.stack(ys)
end
func = ODEFunc(4):cuda()
optimizer = ohm.optim.RMSprop(func:parameters(), {lr = 0.001})
t = ohm.linspace(0.0, 1.0, 6):cuda()
truth = ohm.randn(6, 32, 4, {device = "cuda"})
mark("model")
for step = 0, 3 - 1 do
  y0 = truth:select(0, 0):clone()
  pred = odeint(func, y0, t)
  loss = ohm.mean(ohm.abs(pred - truth))
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
do
  local mode1 <close> = ohm.no_grad()
  pred = odeint(func, y0, t)
  final = pred:select(0, -1):clone()
  error = (pred - truth):abs():mean({dim = {1, 2}})
  worst = error:max():item()
end
mark("evaluated")
mark("end of program (globals alive)")
func = nil
optimizer = nil
t = nil
truth = nil
y0 = nil
pred = nil
loss = nil
final = nil
error = nil
worst = nil
mark("globals deleted")
