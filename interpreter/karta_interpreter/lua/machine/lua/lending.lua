-- JSON values on their way into Lua, as sequences of tokens.
--
-- An object becomes an empty table with a number that says where its content is to be had; the metatable `Lent` fetches
-- the content when a script first touches the table, and is gone from then on. So nothing is converted that nobody looks
-- at, and what nobody looked at can be handed back as it was. Arrays are filled at once, because the operator `#` of
-- Lua 5.1 asks no metatable.
--
-- A token is a value; or nil and false, which is nil; or nil and a number: n > 0 the object n, 0 an empty table, -n an
-- array of n values.

local machine, host = ...

local select, rawget, setmetatable, getmetatable = select, rawget, setmetatable, getmetatable
local check, stop, excuse, longest = machine.check, machine.stop, machine.excuse, host.longest
local fetch, fetch_more = host.fetch, host.fetch_more

local MANY = 200 -- tokens that Python takes a while to write

local NUMBER = newproxy() -- the key under which an untouched table keeps its number

local Lent = {}
local incomplete = false

-- The key is given twice to make room for two keys. Room for more would make the order of `pairs` depend on the address
-- of the key, so that two processes answered differently: of a table with one or two places it always gets the first.
local function lend(number)
  return setmetatable({ [NUMBER] = number, [NUMBER] = number }, Lent)
end

machine.lend = lend

local function take(tokens, at)
  local value = tokens[at]
  if value ~= nil then
    return value, at + 1
  end
  local number = tokens[at + 1]
  if not number then
    return nil, at + 2
  end
  if number > 0 then
    return lend(number), at + 2
  end
  local array = {}
  at = at + 2
  for index = 1, -number do
    array[index], at = take(tokens, at)
  end
  return array, at
end

local function append(tokens, count, left, ...)
  local piece = { ... }
  for index = 1, select("#", ...) do
    tokens[count + index] = piece[index]
  end
  return left, count + select("#", ...)
end

local function gather(left, ...)
  local tokens, count = { ... }, select("#", ...)
  if count > MANY then
    excuse()
  end
  while left > 0 do
    check()
    left, count = append(tokens, count, fetch_more())
  end
  if left < 0 then
    stop("size")
  end
  return tokens, count
end

local function fill(object)
  incomplete = true
  local tokens, count = gather(fetch(object[NUMBER]))
  object[NUMBER] = nil
  setmetatable(object, nil)
  local at = 1
  while at <= count do
    local key, value = tokens[at], tokens[at + 1]
    if #key > longest then
      stop("size")
    end
    if value ~= nil then
      object[key] = value
      at = at + 2
    else
      object[key], at = take(tokens, at + 1)
    end
  end
  incomplete = false
end

Lent.fill = fill

function Lent.__index(object, key)
  fill(object)
  return object[key]
end

function Lent.__newindex(object, key, value)
  fill(object)
  object[key] = value
end

-- Have the content of a table there, for functions that see more than its keys.
function machine.touch(object)
  local metatable = getmetatable(object)
  if metatable then
    metatable.fill(object)
  end
end

-- Whether a table was left half filled by an error, which only a stack that is too small and Python can do.
function machine.incomplete()
  return incomplete
end

-- Nothing is lent any more.
function machine.return_all()
  incomplete = false
end

-- The values of a sequence of tokens, as an array and its length.
function machine.receive(...)
  local _, value, number = ...
  if value == nil and number and number > 0 and select("#", ...) == 3 then
    return { (lend(number)) }, 1
  end
  local tokens, count = gather(...)
  local values, size, at = {}, 0, 1
  while at <= count do
    size = size + 1
    values[size], at = take(tokens, at)
  end
  return values, size
end

-- The number of an object that is untouched.
function machine.untouched(object)
  return rawget(object, NUMBER)
end
