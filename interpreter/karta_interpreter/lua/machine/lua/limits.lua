-- What a run may spend, and how it is stopped so that the script cannot go on.
--
-- A hook looks at the clock and at the memory after so many instructions of the virtual machine. What takes long
-- without being many instructions is bounded by the length of strings: in the server's own process none gets longer
-- than `longest`, and a script that needs longer ones is stopped here and runs elsewhere. Large tables are not bounded
-- like that: one whose keys collide takes long for each new key. But it takes as long to get there, so a script is looked
-- after more often there from when its instructions are slow.
--
-- Stopping is an error. Scripts have no pcall but ours (in base.lua), which passes it on, and it is raised again at every
-- look at the clock until the run is over.

local machine, host = ...

local clock, collectgarbage, error, huge = os.clock, collectgarbage, error, math.huge
local sethook = debug.sethook

local STOPPED = newproxy()
local INSTRUCTIONS = 500 -- take 3 microseconds, and about 0.1 s where each of them handles the longest strings
local FEW_INSTRUCTIONS = 50
local SLOW = 0.0005 -- seconds for INSTRUCTIONS
local LONG = 2 ^ 20 -- bytes of a string from which it is not made before there is room for it

local longest = host.longest
local ends, most = huge, huge
local looked, is_slow = 0, longest == huge -- elsewhere nobody waits
local reason

-- Have the run stopped at the next look at the clock, or before.
function machine.abandon(why)
  reason, ends = reason or why, 0
end

local function stop(why)
  machine.abandon(why)
  error(STOPPED, 0)
end

local check

local function slow_down()
  is_slow = true
  sethook(check, "", FEW_INSTRUCTIONS)
end

function check()
  local now = clock()
  if now > ends then
    stop("time")
  end
  if not is_slow and now - looked > SLOW then
    slow_down()
  end
  looked = now
  if collectgarbage("count") > most then
    stop("memory")
  end
end

-- What went on since the last look was not slow because of the script's instructions.
function machine.excuse()
  looked = clock()
end

-- Begin a run that may take `seconds` of processor time and has `kibibytes` of memory.
function machine.limit(seconds, kibibytes)
  looked = clock()
  ends, most, reason = looked + seconds, kibibytes, nil
  if is_slow and longest < huge then
    is_slow = false
    sethook(check, "", INSTRUCTIONS)
  end
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
sethook(check, "", INSTRUCTIONS)
