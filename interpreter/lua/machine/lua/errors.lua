-- Errors as scripts see them: with the line of the script in front, wherever it was that something went wrong.

local machine = ...

local type, error, format, find, sub, getinfo = type, error, string.format, string.find, string.sub, debug.getinfo

local SOURCE = "=<string>" -- what gopher-lua calls a script that was not read from a file

-- The line of the script that is at work, counted from the caller of the caller; 0 when there is none.
local function line(from)
  for level = from, 250 do
    local info = getinfo(level, "Sl")
    if not info then
      return 0
    end
    if info.source == SOURCE then
      return info.currentline
    end
  end
  return 0
end

-- A message with a line in front, where one is known: a tail call leaves no trace of its function.
local function placed(message, number)
  return number == 0 and message or format("<string>:%d: %s", number, message)
end

-- End the function of a library with a message.
local function raise(message)
  error(placed(message, line(3)), 0)
end

-- End it because of an argument, which is nil where there is none.
function machine.raise_argument(position, name, expected, value)
  raise(format("bad argument #%d to %s (%s expected, got %s)", position, name, expected, type(value)))
end

-- A message without the place in a library that it names: that says nothing to the author of a script.
function machine.without_place(problem)
  if type(problem) == "string" then
    local _, last = find(problem, "^%[library%]:%d+: ")
    return last and sub(problem, last + 1) or problem
  end
  return problem
end

machine.SOURCE, machine.line, machine.placed, machine.raise = SOURCE, line, placed, raise
