-- The order of keys in tables that a script makes: gopher-lua's `pairs` goes through an array first and then through the
-- keys in the order in which they first got a value, and there are scripts whose results depend on it.
--
-- Scripts are rewritten so that each `{...}` is passed to `machine.ordered`. Such a table has a metatable for its new
-- keys: `Fresh` as long as there are none next to those of its array, then one of its own that has them in order.

local machine = ...

local type, next, getmetatable, setmetatable, rawset = type, next, getmetatable, setmetatable, rawset
local sort = table.sort

local FIRST_NO_INDEX = 67108864 -- gopher-lua's MaxArrayIndex

local function is_index(key)
  return type(key) == "number" and key >= 1 and key < FIRST_NO_INDEX and key % 1 == 0
end

local function note(order, key)
  if not order.places[key] then
    order.count = order.count + 1
    order[order.count], order.places[key] = key, order.count
  end
end

local function set(object, key, value)
  rawset(object, key, value)
  if value ~= nil and not is_index(key) then
    note(getmetatable(object), key)
  end
end

local function nothing()
end

local following

-- Give a table an order of its own: an array of keys, with where each of them stands in it.
local function own(object)
  local order = { count = 0, places = {}, __newindex = set, fill = nothing }
  setmetatable(object, order)
  return order
end

local Fresh = { fill = nothing }

function Fresh.__newindex(object, key, value)
  if value ~= nil and not is_index(key) then
    own(object)
    set(object, key, value)
  else
    rawset(object, key, value)
  end
end

-- All keys of a table that are neither noted nor of its array: text in its order, so that it does not change from run to
-- run, and then whatever else a constructor computed.
local function note_others(object, order)
  local words, others = {}, {}
  for key in next, object do
    if not is_index(key) and not order.places[key] then
      local keys = type(key) == "string" and words or others
      keys[#keys + 1] = key
    end
  end
  sort(words)
  for index = 1, #words do
    note(order, words[index])
  end
  for index = 1, #others do
    note(order, others[index])
  end
end

local function largest_index(object)
  local largest = 0
  for key in next, object do
    if is_index(key) and key > largest then
      largest = key
    end
  end
  return largest
end

-- The key and the value behind a key; the indices of an array come first, whatever part of the table they are in.
function following(object, key)
  local order = getmetatable(object)
  if not order or not order.places then
    if order then
      order.fill(object)
    end
    if next(object) == nil then
      return nil
    end
    order = own(object)
  end
  if key == nil or not order.last then
    note_others(object, order)
    order.last = largest_index(object)
  end
  local place = 1
  if key == nil or is_index(key) then
    for index = (key or 0) + 1, order.last do
      if object[index] ~= nil then
        return index, object[index]
      end
    end
  else
    place = (order.places[key] or order.count) + 1
  end
  for behind = place, order.count do
    local value = object[order[behind]]
    if value ~= nil then
      return order[behind], value
    end
  end
  return nil
end

-- A table whose keys keep their order, those of its constructor included.
function machine.ordered(object, names)
  if not names then
    return setmetatable(object, Fresh)
  end
  local order = own(object)
  for index = 1, #names do
    if object[names[index]] ~= nil then
      note(order, names[index])
    end
  end
  return object
end

machine.is_index, machine.following = is_index, following
