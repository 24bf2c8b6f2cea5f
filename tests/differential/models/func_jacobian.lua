local model, params, x, f, j
model = nn.Sequential(nn.Linear(12, 20), nn.Tanh(), nn.Linear(20, 5)):cuda()
params = {}
for k, v in model:named_parameters() do params[k] = v:detach() end
mark("model")
x = ohm.randn(7, 12, {device = "cuda"})
function f(params, x)
  return ohm.func.functional_call(model, params, {x})
end
j = ohm.func.jacrev(f, {argnums = 1})(params, x:select(0, 0))
mark("jacobian")
j = ohm.func.jacrev(f)(params, x:select(0, 0))
mark("by parameters")
mark("end of program (globals alive)")
model = nil
params = nil
x = nil
j = nil
mark("globals deleted")
