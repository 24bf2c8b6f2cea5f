-- Written by tests/comparisons/translate_programs.py: do not edit.

--== cache_growing_16
local t
for i = 0, 19 do
  t = ohm.empty((16 << 20) + (i * (1 << 20)), {dtype = ohm.uint8, device = "cuda"})
  mark("size " .. i)
end
mark("end of program (globals alive)")
t = nil
mark("globals deleted")

--== cache_growing_8_expandable PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
local t
for i = 0, 19 do
  t = ohm.empty((8 << 20) + (i * (1 << 20)), {dtype = ohm.uint8, device = "cuda"})
  mark("size " .. i)
end
mark("end of program (globals alive)")
t = nil
mark("globals deleted")

--== cache_max_split PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128
local a, b, c
a = ohm.empty(600 << 20, {dtype = ohm.uint8, device = "cuda"})
mark("600")
a = nil
b = ohm.empty(100 << 20, {dtype = ohm.uint8, device = "cuda"})
mark("100")
c = ohm.empty(100 << 20, {dtype = ohm.uint8, device = "cuda"})
mark("100 again")
mark("end of program (globals alive)")
b = nil
c = nil
mark("globals deleted")

--== cache_roundup PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:4
local keep, n
keep = {}
for _, item1 in ipairs({100, 1100, 5000, 100000, 1300000, 5300000, 21000001}) do
  n = item1
  keep[#keep + 1] = ohm.empty(n, {dtype = ohm.uint8, device = "cuda"})
  mark(tostring(n))
end
mark("end of program (globals alive)")
keep = nil
n = nil
mark("globals deleted")

--== cache_streams
local s, a, b, c, d
s = ohm.cuda.Stream()
a = ohm.empty(30 << 20, {dtype = ohm.uint8, device = "cuda"})
mark("a")
do
  local mode1 <close> = ohm.cuda.stream(s)
  b = ohm.empty(30 << 20, {dtype = ohm.uint8, device = "cuda"})
  mark("b on side stream")
end
a:record_stream(s)
a = nil
mark("del a recorded on side stream")
c = ohm.empty(30 << 20, {dtype = ohm.uint8, device = "cuda"})
mark("c")
b = nil
d = ohm.empty(30 << 20, {dtype = ohm.uint8, device = "cuda"})
mark("d (b's block belongs to the side stream)")
mark("end of program (globals alive)")
s = nil
c = nil
d = nil
mark("globals deleted")
