local models, params, buffers, base, forward, x, y, out, loss_fn, grads, losses, names
models = {}
for i = 1, 3 do
  models[i] = nn.Sequential(nn.Linear(30, 50), nn.ReLU(), nn.Linear(50, 50), nn.GELU(), nn.Linear(50, 4)):cuda()
end
mark("models")
params, buffers = ohm.func.stack_module_state(models)
base = models[1]
mark("stacked")
function forward(params, buffers, x)
  return ohm.func.functional_call(base, {params, buffers}, {x})
end
x = ohm.randn(8, 30, {device = "cuda"})
y = ohm.randn(8, 4, {device = "cuda"})
do
  local mode1 <close> = ohm.no_grad()
  out = ohm.func.vmap(forward, {in_dims = {0, 0, false}})(params, buffers, x)
end
mark("forward")
function loss_fn(params, buffers, x, y)
  return F.mse_loss(forward(params, buffers, x), y)
end
names = {"0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"}
do
  local mode1 <close> = ohm.no_grad()
  for i = 1, 2 do
    do
      local new1, new2 = ohm.func.vmap(ohm.func.grad_and_value(loss_fn), {in_dims = {0, 0, false, false}})(params, buffers, x, y)
      grads = new1
      losses = new2
    end
    mark("gradients")
    for _, name in ipairs(names) do
      params[name]:sub_(0.1 * grads[name])
    end
    mark("step")
  end
end
mark("end of program (globals alive)")
models = nil
params = nil
buffers = nil
base = nil
x = nil
y = nil
out = nil
grads = nil
losses = nil
mark("globals deleted")
