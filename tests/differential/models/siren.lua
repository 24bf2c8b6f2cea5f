local Sine, SirenLayer, grid, gradient, laplace, model, coords, truth, field, optimizer, x, y, loss, g, lap
Sine = nn.Module:extend("Sine")
function Sine:__init(w0)
  if w0 == nil then w0 = 1.0 end
  self.w0 = w0
end
function Sine:forward(x)
  return ohm.sin(self.w0 * x)
end
SirenLayer = nn.Module:extend("SirenLayer")
function SirenLayer:__init(dim_in, dim_out, w0, is_first)
  local bound
  self.linear = nn.Linear(dim_in, dim_out)
  self.activation = Sine(w0)
  do
    local mode1 <close> = ohm.no_grad()
    bound = (is_first and 1 / dim_in or math.sqrt(6 / dim_in) / w0)
    self.linear.weight:uniform_(-bound, bound)
  end
end
function SirenLayer:forward(x)
  return self.activation(self.linear(x))
end
function grid(n)
  local t, a, b
  t = ohm.linspace(-1, 1, n)
  a, b = ohm.meshgrid({t, t}, {indexing = "ij"})
  return ohm.stack({a, b}, {dim = -1}):reshape(-1, 2)
end
function gradient(y, x)
  return (ohm.autograd.grad(y, x, ohm.ones_like(y), {create_graph = true}))
end
function laplace(y, x)
  local g, along_x, along_y
  g = gradient(y, x)
  along_x = (ohm.autograd.grad(g:select(-1, 0), x, ohm.ones_like(g:select(-1, 0)), {create_graph = true}))
  along_y = (ohm.autograd.grad(g:select(-1, 1), x, ohm.ones_like(g:select(-1, 1)), {create_graph = true}))
  return slice(along_x, -1, 0, 1) + slice(along_y, -1, 1), g
end
model = nn.Sequential(SirenLayer(2, 128, 30.0, true), SirenLayer(128, 128, 30.0, false), SirenLayer(128, 128, 30.0, false), nn.Linear(128, 1)):cuda()
coords = grid(24):cuda()
truth = ohm.rand(576, 1, {device = "cuda"})
field = ohm.rand(576, 2, {device = "cuda"})
optimizer = ohm.optim.Adam(model:parameters(), {lr = 0.0001})
mark("model")
for step = 0, 3 - 1 do
  x = coords:clone():detach():requires_grad_(true)
  y = model(x)
  if step == 0 then
    loss = ((y - truth) ^ 2):mean()
  elseif step == 1 then
    g = gradient(y, x)
    loss = (g - field):pow(2):sum(-1):mean()
  else
    do
      local new1, new2 = laplace(y, x)
      lap = new1; sweep()
      g = new2; sweep()
    end
    loss = ohm.mean((lap - truth) ^ 2)
  end
  mark("forward " .. step)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil; sweep()
coords = nil; sweep()
truth = nil; sweep()
field = nil; sweep()
optimizer = nil; sweep()
x = nil; sweep()
y = nil; sweep()
loss = nil; sweep()
g = nil; sweep()
lap = nil; sweep()
mark("globals deleted")
