-- Written by tests/comparisons/translate_programs.py: do not edit.

--== rules_let_go_cross_entropy
local x, y, out
x = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
y = ohm.zeros(32, {device = "cuda", dtype = ohm.int64})
mark("inputs")
out = F.cross_entropy(x * 2, y)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rules_let_go_products
local x, y, out
x = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
y = ohm.randn(64, 32, 100, {device = "cuda", requires_grad = true})
mark("inputs")
out = (x * 2) * (y * 3)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rules_let_go_mse
local x, y, out
x = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
y = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.mse_loss(x * 2, y * 3)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rules_let_go_layer_norm
local x, w, b, out
x = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
w = ohm.randn(100, {device = "cuda", requires_grad = true})
b = ohm.randn(100, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.layer_norm(x * 2, {100}, w * 2, b * 2)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
b = nil; sweep()
mark("globals deleted")

--== rules_let_go_linear
local x, w, b, out
x = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
w = ohm.randn(50, 100, {device = "cuda", requires_grad = true})
b = ohm.randn(50, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.linear(x * 2, w * 2, b * 2)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
w = nil; sweep()
b = nil; sweep()
mark("globals deleted")

--== rules_let_go_bmm
local x, y, out
x = ohm.randn(3, 30, 100, {device = "cuda", requires_grad = true})
y = ohm.randn(3, 100, 50, {device = "cuda", requires_grad = true})
mark("inputs")
out = ohm.bmm(x * 2, y * 2)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")

--== rules_let_go_max_pool
local x, out
x = ohm.randn(2, 3, 20, 20, {device = "cuda", requires_grad = true})
mark("inputs")
out = F.max_pool2d(x * 2, 2)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_let_go_chain
local x, y, out
x = ohm.randn(32, 100, {device = "cuda", requires_grad = true})
y = ohm.randn(64, 32, 100, {device = "cuda", requires_grad = true})
mark("inputs")
out = ((x * 2):exp() * (y * 2)):softmax(-1):log():sum()
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
y = nil; sweep()
mark("globals deleted")
