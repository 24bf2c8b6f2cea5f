-- Written by tests/comparisons/translate_programs.py: do not edit.

--== bias_grad_batch_1024
local lin, x, out
lin = nn.Linear(1024, 1024, {device = "cuda"})
x = ohm.randn(1024, 1024, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
out:backward(ohm.ones_like(out))
mark("backward")
mark("end of program (globals alive)")
lin = nil
x = nil
out = nil
mark("globals deleted")

--== bias_grad_batch_2048
local lin, x, out
lin = nn.Linear(1024, 1024, {device = "cuda"})
x = ohm.randn(2048, 1024, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
out:backward(ohm.ones_like(out))
mark("backward")
mark("end of program (globals alive)")
lin = nil
x = nil
out = nil
mark("globals deleted")

--== bias_grad_batch_257
local lin, x, out
lin = nn.Linear(1024, 1024, {device = "cuda"})
x = ohm.randn(257, 1024, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
out:backward(ohm.ones_like(out))
mark("backward")
mark("end of program (globals alive)")
lin = nil
x = nil
out = nil
mark("globals deleted")

--== bias_grad_batch_511
local lin, x, out
lin = nn.Linear(1024, 1024, {device = "cuda"})
x = ohm.randn(511, 1024, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
out:backward(ohm.ones_like(out))
mark("backward")
mark("end of program (globals alive)")
lin = nil
x = nil
out = nil
mark("globals deleted")

--== bias_grad_batch_513
local lin, x, out
lin = nn.Linear(1024, 1024, {device = "cuda"})
x = ohm.randn(513, 1024, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
out:backward(ohm.ones_like(out))
mark("backward")
mark("end of program (globals alive)")
lin = nil
x = nil
out = nil
mark("globals deleted")

--== bias_grad_batch_768
local lin, x, out
lin = nn.Linear(1024, 1024, {device = "cuda"})
x = ohm.randn(768, 1024, {device = "cuda"})
mark("inputs")
out = lin(x)
mark("forward")
out:backward(ohm.ones_like(out))
mark("backward")
mark("end of program (globals alive)")
lin = nil
x = nil
out = nil
mark("globals deleted")
