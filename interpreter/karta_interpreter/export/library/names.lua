-- A bitwise operation of two numbers of 32 bits: xor, or and.
local function bitwise(a, b, is_and)
  local found, place = 0, 1
  while a > 0 or b > 0 do
    local x, y = a % 2, b % 2
    if is_and and x + y == 2 or not is_and and x ~= y then found = found + place end
    a, b, place = (a - x) / 2, (b - y) / 2, place * 2
  end
  return found
end

local function rotated(value, bits)
  local low = value % 2 ^ bits
  return (value - low) / 2 ^ bits + low * 2 ^ (32 - bits)
end

-- The first bits of the fractions of roots of the first primes.
local function root_bits(amount, power)
  local found, candidate = {}, 2
  while #found < amount do
    local is_prime = true
    for divisor = 2, math.floor(math.sqrt(candidate)) do
      is_prime = is_prime and candidate % divisor ~= 0
    end
    if is_prime then
      local root = candidate ^ power
      found[#found + 1] = math.floor((root - math.floor(root)) * 2 ^ 32)
    end
    candidate = candidate + 1
  end
  return found
end

local function shifted(value, bits)
  return math.floor(value / 2 ^ bits)
end

local function xor(a, b, c)
  local found = bitwise(a, b, false)
  return c and bitwise(found, c, false) or found
end

-- The first eight digits of the SHA-256 of a text.
local function digest(text)
  local state, constants = root_bits(8, 1 / 2), root_bits(64, 1 / 3)
  local bytes = {string.byte(text, 1, #text)}
  local bits = #text * 8
  bytes[#bytes + 1] = 128
  while #bytes % 64 ~= 56 do bytes[#bytes + 1] = 0 end
  for i = 7, 0, -1 do bytes[#bytes + 1] = math.floor(bits / 256 ^ i) % 256 end
  for start = 0, #bytes - 1, 64 do
    local w = {}
    for i = 1, 16 do
      local at = start + 4 * i - 3
      w[i] = ((bytes[at] * 256 + bytes[at + 1]) * 256 + bytes[at + 2]) * 256 + bytes[at + 3]
    end
    for i = 17, 64 do
      local x, y = w[i - 15], w[i - 2]
      local first = xor(rotated(x, 7), rotated(x, 18), shifted(x, 3))
      local second = xor(rotated(y, 17), rotated(y, 19), shifted(y, 10))
      w[i] = (w[i - 16] + first + w[i - 7] + second) % 2 ^ 32
    end
    local a, b, c, d, e, f, g, h =
      state[1], state[2], state[3], state[4], state[5], state[6], state[7], state[8]
    for i = 1, 64 do
      local chosen = xor(bitwise(e, f, true), bitwise(2 ^ 32 - 1 - e, g, true))
      local one = h + xor(rotated(e, 6), rotated(e, 11), rotated(e, 25)) + chosen + constants[i] + w[i]
      local majority = xor(bitwise(a, b, true), bitwise(a, c, true), bitwise(b, c, true))
      local two = xor(rotated(a, 2), rotated(a, 13), rotated(a, 22)) + majority
      a, b, c, d, e, f, g, h = (one + two) % 2 ^ 32, a, b, c, (d + one) % 2 ^ 32, e, f, g
    end
    for i, value in ipairs({a, b, c, d, e, f, g, h}) do state[i] = (state[i] + value) % 2 ^ 32 end
  end
  return string.format("%04x%04x", shifted(state[1], 16), state[1] % 65536)
end

local function prefix(text, size)
  return table.concat(slice(characters(text), 0, size))
end

-- Karmada allows 32 characters.
local function shortened(name)
  if #characters(name) <= 32 then return name end
  return prefix(name, 23) .. "-" .. digest(name)
end

local function counted(names)
  local found = {}
  for _, name in ipairs(names) do found[name] = (found[name] or 0) + 1 end
  return found
end

-- A name for each pod set: its instance, else its component; both where that alone is not unique.
local function unique_names(sets)
  local names = {}
  for i, set in ipairs(sets) do names[i] = shortened(set.instance ~= "" and set.instance or set.component) end
  local times = counted(names)
  for i, set in ipairs(sets) do
    local whole = set.component
    if set.instance ~= "" then whole = whole .. "-" .. set.instance end
    if times[names[i]] > 1 then names[i] = shortened(whole) end
  end
  times = counted(names)
  for i, set in ipairs(sets) do
    if times[names[i]] > 1 then
      names[i] = prefix(names[i], 23) .. "-" .. digest(set.component .. "\0" .. set.instance)
    end
  end
  return names
end

local function components_of(sets)
  local found = {}
  local names = unique_names(sets) -- with computed_names
  for i, set in ipairs(sets) do
    local name = set.component
    name = names[i] -- with computed_names
    found[i] = {name = name, replicas = set.replicas, replicaRequirements = requirements(set.template)}
  end
  return found
end
