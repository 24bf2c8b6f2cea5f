-- Written by tests/comparisons/translate_programs.py: do not edit.

--== reduce_all_131072
local x, s, m, v, q, h, t
x = ohm.randn(131072, {device = "cuda"})
mark("x")
s = x:sum()
mark("sum()")
m = x:mean()
mark("mean()")
v = x:max()
mark("max()")
q = x:norm()
mark("norm()")
h = x:half()
mark("half")
t = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
s = nil
m = nil
v = nil
q = nil
h = nil
t = nil
mark("globals deleted")

--== reduce_all_131073
local x, s, m, v, q, h, t
x = ohm.randn(131073, {device = "cuda"})
mark("x")
s = x:sum()
mark("sum()")
m = x:mean()
mark("mean()")
v = x:max()
mark("max()")
q = x:norm()
mark("norm()")
h = x:half()
mark("half")
t = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
s = nil
m = nil
v = nil
q = nil
h = nil
t = nil
mark("globals deleted")

--== reduce_all_200000
local x, s, m, v, q, h, t
x = ohm.randn(200000, {device = "cuda"})
mark("x")
s = x:sum()
mark("sum()")
m = x:mean()
mark("mean()")
v = x:max()
mark("max()")
q = x:norm()
mark("norm()")
h = x:half()
mark("half")
t = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
s = nil
m = nil
v = nil
q = nil
h = nil
t = nil
mark("globals deleted")

--== reduce_dim0_1024x10
local x, y, z, s, h, a, b
x = ohm.randn(1024, 10, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_1024x1024
local x, y, z, s, h, a, b
x = ohm.randn(1024, 1024, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_1024x4096
local x, y, z, s, h, a, b
x = ohm.randn(1024, 4096, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_256x10
local x, y, z, s, h, a, b
x = ohm.randn(256, 10, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_256x4096
local x, y, z, s, h, a, b
x = ohm.randn(256, 4096, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_4096x10
local x, y, z, s, h, a, b
x = ohm.randn(4096, 10, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_65536x10
local x, y, z, s, h, a, b
x = ohm.randn(65536, 10, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")

--== reduce_dim0_8192x768
local x, y, z, s, h, a, b
x = ohm.randn(8192, 768, {device = "cuda"})
mark("x")
y = x:sum(0)
mark("sum(0)")
z = x:sum(1)
mark("sum(1)")
s = x:sum()
mark("sum()")
h = x:half()
mark("half")
a = h:sum(0)
mark("half sum(0)")
b = h:sum()
mark("half sum()")
mark("end of program (globals alive)")
x = nil
y = nil
z = nil
s = nil
h = nil
a = nil
b = nil
mark("globals deleted")
