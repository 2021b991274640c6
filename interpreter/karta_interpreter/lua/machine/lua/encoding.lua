-- Values of Lua on their way out, as sequences of tokens; what is JSON and what is not is up to gopher-json.
--
-- A token is a value, nil included; or false and a number: 0 the value false, n > 0 the untouched object n, -1 an empty
-- table, -2n an array of n values, -2n-1 an object of n keys and values, 0.5 a function, 0.25 a table that is no JSON for
-- the reason behind it.

local machine, host = ...

local type, error, next, pcall, select, unpack = type, error, next, pcall, select, unpack
local huge, floor = math.huge, math.floor
local char, find, gsub = string.char, string.find, string.gsub
local is_index = machine.is_index
local touch, untouched, text, send = machine.touch, machine.untouched, machine.text, host.send
local check, stop = machine.check, machine.stop

local AT_ONCE = 7000 -- values that the stack of a C function takes
local IN_A_CALL = 200 -- values that are passed to Python in one call without becoming slow
local DEEPEST = 200 -- levels of a result: more than any JSON text that the rest of the server reads

-- Bytes of all strings that go out at once: Python makes each of them anew, even where all are the same to Lua.
local MOST = host.passed

local out, length, visited, may_share = {}, 0, {}, false
local room = 0 -- what is left of MOST

local function kinds(object)
  local array, highest, numbers, others = 0, 0, 0, 0
  for key in next, object do
    if type(key) ~= "number" then
      others = others + 1
    elseif is_index(key) then
      array, highest = array + 1, highest > key and highest or key
    else
      numbers = numbers + 1
    end
  end
  return array, highest, numbers, others
end

-- Why a table is neither an array nor an object; gopher-json meets the keys 1, 2, 3 ... first.
local function complaint(object)
  local array, highest, numbers, others = kinds(object)
  if array < highest or (array > 0 or numbers > 0) and others == 0 then
    return "cannot encode sparse array"
  end
  return "cannot encode mixed or invalid key types"
end

-- What was counted goes out, or nothing does.
local function hold()
  if room < 0 then
    stop("result")
  end
  return out, length
end

local give

local function give_array(object, size, depth)
  length = length + 2
  out[length - 1], out[length] = false, -2 * size
  for index = 1, size do
    local value = object[index]
    if value == nil then
      error(complaint(object), 0)
    end
    give(value, depth)
  end
end

local function give_object(object, depth)
  length = length + 2
  local head, size = length, 0
  out[head - 1] = false
  for key, value in next, object do
    if type(key) ~= "string" then
      error(complaint(object), 0)
    end
    size = size + 1
    length = length + 1
    out[length], room = key, room - #key
    local kind = type(value)
    if kind == "string" then
      length = length + 1
      out[length], room = value, room - #value
    else
      give(value, depth)
    end
  end
  out[head] = -2 * size - 1
end

local function give_content(object, depth)
  local number = untouched(object)
  if number then
    length = length + 2
    out[length - 1], out[length] = false, number
    return
  end
  touch(object)
  local size = #object
  if size == 0 then
    return give_object(object, depth)
  end
  local count = 0
  for _ in next, object do
    count = count + 1
  end
  if count ~= size then
    error(complaint(object), 0)
  end
  return give_array(object, size, depth)
end

-- To gopher-json a table is recursive when it is in a value twice, on whatever way.
local function give_table(object, depth)
  if visited[object] then
    error("cannot encode recursively nested tables to JSON", 0)
  end
  if depth > DEEPEST then
    error("a value is nested deeper than " .. DEEPEST .. " tables", 0)
  end
  visited[object] = true
  give_content(object, depth + 1)
  if may_share then
    visited[object] = nil
  end
end

function give(value, depth)
  local kind = type(value)
  if kind == "table" then
    return give_table(value, depth)
  end
  if kind == "number" then
    if value ~= value or value == huge or value == -huge then
      error("json: unsupported value: " .. text(value), 0)
    end
  elseif kind == "boolean" then
    if not value then
      length = length + 1
      out[length], value = false, 0
    end
  elseif kind == "string" then
    room = room - #value
  elseif kind ~= "nil" then
    error("cannot encode " .. kind .. " to JSON", 0)
  end
  length = length + 1
  out[length] = value
end

-- The tokens of values, as an array and its length. A table may be in a value twice, but not in itself.
function machine.give(count, ...)
  out, length, room, may_share = {}, 0, MOST, true
  for index = 1, count do
    visited = {}
    give((select(index, ...)), 1)
  end
  return hold()
end

-- A value as it is: whether it may be a function or no number is up to who gets it.
local function give_plainly(value)
  local kind = type(value)
  if kind == "table" then
    visited = {}
    return give_table(value, 1)
  end
  if kind == "string" then
    room = room - #value
  elseif kind == "function" then
    length = length + 1
    out[length], value = false, 0.5
  elseif value == false then
    length = length + 1
    out[length], value = false, 0
  end
  length = length + 1
  out[length] = value
end

local function give_argument(value)
  local before = length
  local ok, problem = pcall(give_plainly, value)
  if ok then
    return
  end
  if type(problem) ~= "string" or not (find(problem, "^cannot encode ") or find(problem, "^json: ")) then
    error(problem, 0) -- the run is over, or the machine is at its end
  end
  length = before + 3
  out[length - 2], out[length - 1], out[length] = false, 0.25, problem
end

-- The same of arguments for a function of Karmada's, which may have other complaints about them before that one.
function machine.give_arguments(count, ...)
  out, length, room, may_share = {}, 0, MOST, false
  for index = 1, count do
    visited = {} -- the same table may be in two values, but not twice in one
    give_argument((select(index, ...)))
  end
  return hold()
end

-- Turn the first results of a run, as many as are wanted, into tokens, of which `machine.first` gives the first.
function machine.keep(wanted, ...)
  out, length, room, may_share = {}, 0, MOST, false
  local count = select("#", ...)
  for index = 1, count < wanted and count or wanted do
    give_plainly((select(index, ...)))
  end
  hold()
end

-- Hand tokens to Python before a call that takes the last of them.
function machine.send(tokens, count)
  local from = 1
  while count - from >= IN_A_CALL do
    send(unpack(tokens, from, from + IN_A_CALL - 1))
    from = from + IN_A_CALL
  end
  return unpack(tokens, from, count)
end

-- Tokens as results: how many are left, and as many as can be returned at once; `machine.rest` has those that are left.
local from = 1

function machine.rest()
  local to = from + AT_ONCE - 1
  if to > length then
    to = length
  end
  local first = from
  from = to + 1
  return length - to, unpack(out, first, to)
end

local SPELLED = {}
for code = 128, 255 do
  SPELLED[char(code)] = char(192 + floor(code / 64), 128 + code % 64)
end

-- Text with each byte beyond ASCII as a character of its own: for text that may be no UTF-8.
local function spelled(word)
  if not find(word, "[\128-\255]") then
    return word
  end
  check() -- what follows takes time without being many instructions
  return (gsub(word, "[\128-\255]", SPELLED))
end

machine.spelled = spelled

-- The results again, spelled; nil where that would take long: nothing limits a run that is over.
function machine.first_spelled()
  local known, total = {}, 0
  for index = 1, length do
    local word = out[index]
    if type(word) == "string" then
      if not known[word] then
        total = total + #word
        if total > host.longest then
          return nil
        end
        known[word] = spelled(word)
      end
      out[index] = known[word]
    end
  end
  return machine.first()
end

function machine.first()
  from = 1
  return machine.rest()
end
