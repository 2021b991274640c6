-- What a run may spend, and how it is stopped so that the script cannot go on.
--
-- A hook looks at the clock and at the memory after so many instructions of the virtual machine. What takes long
-- without being many instructions is bounded by the length of strings: in the server's own process none gets longer
-- than `longest`, and a script that needs longer ones is stopped here and runs elsewhere.
--
-- Stopping is an error. Scripts have no pcall but ours (in base.lua), which passes it on, and it is raised again at every
-- look at the clock until the run is over.

local machine, host = ...

local clock, collectgarbage, error, huge = os.clock, collectgarbage, error, math.huge

local STOPPED = newproxy()
local INSTRUCTIONS = 500 -- take about 20 ms where each of them handles the longest strings or tables that there are
local LONG = 2 ^ 20 -- bytes of a string from which it is not made before there is room for it

local longest = host.longest
local ends, most = huge, huge
local reason

-- Have the run stopped at the next look at the clock, or before.
function machine.abandon(why)
  reason, ends = reason or why, 0
end

local function stop(why)
  machine.abandon(why)
  error(STOPPED, 0)
end

local function check()
  if clock() > ends then
    stop("time")
  end
  if collectgarbage("count") > most then
    stop("memory")
  end
end

-- Begin a run that may take `seconds` of processor time and has `kibibytes` of memory.
function machine.limit(seconds, kibibytes)
  ends, most, reason = clock() + seconds, kibibytes, nil
end

-- The run is over: what the host does next is its own affair.
function machine.unlimit()
  ends, most = huge, huge
end

-- Why the run is being stopped, nil when it is not.
function machine.stopped()
  return reason
end

-- Hold a string that was just made to the longest that there may be.
function machine.hold(text)
  if #text > longest then
    stop("size")
  end
  return text
end

-- Hold a string that Python works through character by character, which it does slowly.
function machine.hold_work(text)
  if #text > longest / 16 then
    stop("size")
  end
  return text
end

-- Have room for a long string and for the buffer in which it is put together, or stop: to fill all the memory with it
-- first takes longer than to see that it would.
local function make_room(length)
  local needed = 2 * length / 1024
  if collectgarbage("count") + needed > most then
    collectgarbage()
    if collectgarbage("count") + needed > most then
      stop("memory")
    end
  end
end

-- Hold a string that is about to be made.
function machine.hold_length(length)
  if length > longest then
    stop("size")
  end
  if length > LONG then
    make_room(length)
  end
end

machine.stop, machine.check = stop, check
debug.sethook(check, "", INSTRUCTIONS)
