-- Written by tests/comparisons/translate_programs.py: do not edit.

--== k80 capacity_bytes=12884901888
local tensors
tensors = {}
for i = 0, 9 do
  tensors[#tensors + 1] = ohm.randn(10000000, 10, {device = "cuda"})
  mark("tensor " .. i)
end
say(ohm.cuda.mem_get_info())
tensors = nil
mark("del")
say(ohm.cuda.mem_get_info())
ohm.cuda.empty_cache()
mark("empty_cache")
say(ohm.cuda.mem_get_info())
say(ohm.cuda.memory_summary())
mark("end of program (globals alive)")
mark("globals deleted")
