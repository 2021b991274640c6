-- One run: a script in its own environment, and then one function of it.

local machine = ...

local type, select, unpack, xpcall, setfenv, load, clock = type, select, unpack, xpcall, setfenv, load, os.clock
local line, collectgarbage = machine.line, collectgarbage
local limit, unlimit, stopped = machine.limit, machine.unlimit, machine.stopped
local receive, keep, first = machine.receive, machine.keep, machine.first
local text, concat, ordered = machine.text, machine.concat, machine.ordered
local string_metatable = getmetatable("")
local sub = string.sub

local LONGEST_MESSAGE = 8192 -- bytes: nobody reads more of it, and it may be of any length

local PIECE = 128 -- bytes of a script, which take some 10 ms in the worst of all places

local place = 0

-- The error handler of a run: it notes the line while the stack is still there.
local function note(problem)
  unlimit()
  place = stopped() and 0 or line(2)
  return problem
end

local function message(problem)
  if type(problem) == "string" or type(problem) == "number" then
    local seen = machine.as_seen(text(problem))
    return #seen > LONGEST_MESSAGE and sub(seen, 1, LONGEST_MESSAGE) .. " ..." or seen
  end
  return "(error object is a " .. type(problem) .. " value)"
end

local failed

-- The message of an error and its line, nil when there was none: for a message that is not UTF-8.
function machine.failed()
  return failed and machine.spelled(failed), place
end

-- Whatever went wrong, as Python wants it.
local function failure(problem)
  if problem == "not enough memory" then
    return "stopped", "memory"
  end
  if stopped() then
    return "stopped", stopped()
  end
  if type(problem) == "userdata" then
    return "python", problem
  end
  failed = message(problem)
  return "error", failed, place
end

-- Compile a script within so many seconds: its function, or nil and the problem, spelled, for it may name a string that is
-- not UTF-8; or nil alone when it takes longer.
--
-- It is compiled piece by piece: what the compiler does with long chains of `and` grows with their square, and no hook
-- looks after it.
function machine.load(source, seconds)
  local from, ends, late = 1, clock() + seconds, false
  local chunk, problem = load(function()
    if clock() > ends then
      late = true
      return nil
    end
    from = from + PIECE
    return sub(source, from - PIECE, from - 1)
  end, machine.SOURCE)
  if late then
    return nil, nil
  end
  return chunk, problem and machine.spelled(problem)
end

-- Run a compiled script and call one of its functions with arguments that are given as tokens, for its first results.
--
-- Gives "results" with tokens, "error" with message and line, "stopped" with the reason, "missing" with what is there
-- instead of the function, or "python" with what Python raised.
function machine.run(chunk, name, wanted, seconds, kibibytes, has_karta, seed, ...)
  local environment = machine.environment(seed, has_karta)
  failed = nil
  machine.return_all()
  local tokens, given = { ... }, select("#", ...)
  local missing
  setfenv(chunk, environment)
  local ok, problem = xpcall(function()
    limit(seconds, kibibytes)
    chunk(concat, ordered, select)()
    local arguments, count = receive(unpack(tokens, 1, given))
    local call = environment[name]
    if type(call) == "function" then
      keep(wanted, call(unpack(arguments, 1, count)))
    else
      missing = type(call)
    end
    unlimit()
  end, note)
  string_metatable.__index = nil
  if not ok then
    return failure(problem)
  end
  if missing then
    return "missing", missing
  end
  return "results", first()
end

function machine.memory()
  return collectgarbage("count")
end
