-- Written by tests/comparisons/translate_programs.py: do not edit.

--== rules_topk_20000
local x, out
x = ohm.zeros(20000, {device = "cuda"})
mark("inputs")
out = (x:topk(10, 0))
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_topk_5x50000
local x, out
x = ohm.zeros(5, 50000, {device = "cuda"})
mark("inputs")
out = (x:topk(7, 1))
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_topk_50000_float64
local x, out
x = ohm.zeros(50000, {device = "cuda", dtype = ohm.float64})
mark("inputs")
out = (x:topk(7, 0))
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_topk_50000_float16
local x, out
x = ohm.zeros(50000, {device = "cuda", dtype = ohm.float16})
mark("inputs")
out = (x:topk(7, 0))
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_topk_1000000
local x, out
x = ohm.zeros(1000000, {device = "cuda"})
mark("inputs")
out = (x:topk(5, 0))
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_cumsum_float16
local x, out
x = ohm.zeros(20000, {device = "cuda", dtype = ohm.float16})
mark("inputs")
out = x:cumsum(0)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_cumsum_int64
local x, out
x = ohm.zeros(2000000, {device = "cuda", dtype = ohm.int64})
mark("inputs")
out = x:cumsum(0)
mark("forward")
out = nil; sweep()
mark("del out")
mark("end of program (globals alive)")
x = nil; sweep()
mark("globals deleted")

--== rules_clip_grad_norm
local model, x, n
model = nn.Sequential(nn.Linear(300, 300), nn.Linear(300, 7), nn.Linear(7, 900)):cuda()
x = ohm.randn(4, 300, {device = "cuda"})
model(x):sum():backward()
mark("backward")
n = nn.utils.clip_grad_norm_(model:parameters(), 1.0)
mark("clip")
mark("end of program (globals alive)")
model = nil; sweep()
x = nil; sweep()
n = nil; sweep()
mark("globals deleted")
