local Net, model, params, names, buffers, compute_loss, norms_of, per_sample, x, y, grads, norms, factor, g
ohm.backends.cudnn.enabled = true
Net = nn.Module:extend("Net")
function Net:__init()
  self.conv1 = nn.Conv2d(1, 8, 3, {stride = 2, padding = 1})
  self.conv2 = nn.Conv2d(8, 16, 3, {padding = 1})
  self.fc1 = nn.Linear(16 * 7 * 7, 32)
  self.fc2 = nn.Linear(32, 10)
end
function Net:forward(x)
  x = F.relu(self.conv1(x))
  x = F.max_pool2d(F.relu(self.conv2(x)), 2)
  x = F.relu(self.fc1(x:flatten(1)))
  return self.fc2(x)
end
function compute_loss(params, buffers, sample, target)
  local predictions
  predictions = ohm.func.functional_call(model, {params, buffers}, {sample:unsqueeze(0)})
  return F.cross_entropy(predictions, target:unsqueeze(0))
end
function norms_of(grads)
  local norms
  norms = {}
  for _, name in ipairs(names) do norms[#norms + 1] = grads[name]:reshape(6, -1):norm(2, {dim = 1}) end
  return norms
end
model = Net():cuda()
params, names = {}, {}
for k, v in model:named_parameters() do
  params[k] = v:detach()
  names[#names + 1] = k
end
buffers = {}
for k, v in model:named_buffers() do buffers[k] = v:detach() end
per_sample = ohm.func.vmap(ohm.func.grad(compute_loss), {in_dims = {false, false, 0, 0}})
mark("model")
for step = 0, 2 - 1 do
  x = ohm.randn(6, 1, 28, 28, {device = "cuda"})
  y = ohm.randint(0, 10, {6}, {device = "cuda"})
  grads = per_sample(params, buffers, x, y)
  mark("gradients " .. step)
  norms = ohm.stack(norms_of(grads)):norm(2, {dim = 0})
  factor = (1.0 / (norms + 1e-6)):clamp({max = 1.0})
  for _, name in ipairs(names) do
    g = ohm.einsum("i,i...->...", factor, grads[name])
    g = g + ohm.randn_like(g) * 0.5
    params[name] = params[name] - 0.1 * g / 6
  end
  mark("step " .. step)
end
mark("end of program (globals alive)")
model = nil
for _, name in ipairs(names) do params[name] = nil; sweep() end
buffers = nil
x = nil
y = nil
for _, name in ipairs(names) do grads[name] = nil; sweep() end
norms = nil
factor = nil
g = nil
mark("globals deleted")
