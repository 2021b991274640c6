-- The table library as gopher-lua has it (tablelib.go and table.go).

local machine = ...

local type, next, select, format, concat = type, next, select, string.format, table.concat
local floor, max, min = math.floor, math.max, math.min
local raise, raise_argument, number_text = machine.raise, machine.raise_argument, machine.number_text
local integer_argument, table_argument = machine.integer_argument, machine.table_argument

local INSERTED = 12 -- Go's sort.Sort inserts up to so many values one by one

local tables = {}

function tables.getn(array)
  array = table_argument(array, "getn")
  return #array
end

function tables.maxn(array)
  array = table_argument(array, "maxn")
  local highest = 0
  for key in next, array do
    if type(key) == "number" and key > highest and key % 1 == 0 then
      highest = key
    end
  end
  return highest
end

function tables.insert(...)
  local array, position, value = ...
  array = table_argument(array, "insert")
  local count = select("#", ...)
  if count == 1 then
    raise("wrong number of arguments")
  end
  local size = #array
  if count == 2 then
    array[size + 1] = position
    return
  end
  position = integer_argument(position, 2, "insert")
  if position >= 1 and position <= size then
    for index = size, position, -1 do
      array[index + 1] = array[index]
    end
  end
  array[position] = value
end

function tables.remove(...)
  local array, position = ...
  array = table_argument(array, "remove")
  local size = #array
  position = select("#", ...) == 1 and size or integer_argument(position, 2, "remove")
  if position > size or size == 0 then
    return nil
  end
  if position < 1 then
    position = size
  end
  local removed = array[position]
  for index = position, size do
    array[index] = array[index + 1]
  end
  return removed
end

local function word(array, index)
  local value = array[index]
  if type(value) == "number" then
    return number_text(value)
  end
  if type(value) ~= "string" then
    raise(format("invalid value (%s) at index %d in table for concat", type(value), index))
  end
  return value
end

function tables.concat(...)
  local array, separator, first, last = ...
  array = table_argument(array, "concat")
  if separator ~= nil and type(separator) ~= "string" then
    raise_argument(2, "concat", "string", separator)
  end
  local size = #array
  first = integer_argument(first, 3, "concat", 1)
  last = integer_argument(last, 4, "concat", size)
  if select("#", ...) == 3 and (first > size or first < 1) then
    return ""
  end
  first, last = max(min(first, size), 1), min(last, size)
  if first == last then
    word(array, first)
    return array[first] -- which stays a number if it is one
  end
  local words, count = {}, 0
  for index = first, last do
    count = count + 1
    words[count] = word(array, index)
  end
  return concat(words, separator)
end

local function insertion_sort(array, first, last, before)
  for index = first + 1, last do
    local at = index
    while at > first and before(array[at], array[at - 1]) do
      array[at], array[at - 1] = array[at - 1], array[at]
      at = at - 1
    end
  end
end

local function merge(array, first, middle, last, before)
  local left = {}
  for index = first, middle do
    left[index] = array[index]
  end
  local from, to = first, first
  local right = middle + 1
  while from <= middle do
    if right <= last and before(array[right], left[from]) then
      array[to], right = array[right], right + 1
    else
      array[to], from = left[from], from + 1
    end
    to = to + 1
  end
end

local function sort(array, first, last, before)
  if last - first < INSERTED then
    return insertion_sort(array, first, last, before)
  end
  local middle = floor((first + last) / 2)
  sort(array, first, middle, before)
  sort(array, middle + 1, last, before)
  return merge(array, first, middle, last, before)
end

local function less(a, b)
  local kind, other = type(a), type(b)
  if kind ~= other or kind ~= "number" and kind ~= "string" then
    raise("attempt to compare " .. kind .. " with " .. other)
  end
  return a < b
end

function tables.sort(...)
  local array, before = ...
  array = table_argument(array, "sort")
  if select("#", ...) == 1 then
    before = less
  elseif type(before) ~= "function" then
    raise_argument(2, "sort", "function", before)
  end
  sort(array, 1, #array, before)
end

machine.tables = tables
