-- A bit of a number of 32 bits.
local function bit(value, place)
  return math.floor(value / 2 ^ (place % 32)) % 2
end

-- The first eight digits of the SHA-256 of a text.
local function digest(text)
  local state, constants, candidate = {}, {}, 2
  while #constants < 64 do
    local is_prime = true
    for divisor = 2, math.floor(math.sqrt(candidate)) do is_prime = is_prime and candidate % divisor ~= 0 end
    if is_prime then
      constants[#constants + 1] = math.floor(candidate ^ (1 / 3) % 1 * 2 ^ 32)
      if #state < 8 then state[#state + 1] = math.floor(candidate ^ (1 / 2) % 1 * 2 ^ 32) end
    end
    candidate = candidate + 1
  end
  local bytes = {string.byte(text, 1, #text)}
  bytes[#bytes + 1] = 128
  while #bytes % 64 ~= 56 do bytes[#bytes + 1] = 0 end
  for i = 7, 0, -1 do bytes[#bytes + 1] = math.floor(#text * 8 / 256 ^ i) % 256 end
  for start = 0, #bytes - 1, 64 do
    local w, a, b, c, d, e, f, g, h = {}, unpack(state)
    for i = 1, 64 do
      local at, x, y = start + 4 * i - 3, w[i - 15], w[i - 2]
      if i <= 16 then
        w[i] = ((bytes[at] * 256 + bytes[at + 1]) * 256 + bytes[at + 2]) * 256 + bytes[at + 3]
      else
        w[i] = w[i - 16] + w[i - 7]
        for n = 0, 31 do
          local first = bit(x, n + 7) + bit(x, n + 18) + (n < 29 and bit(x, n + 3) or 0)
          local second = bit(y, n + 17) + bit(y, n + 19) + (n < 22 and bit(y, n + 10) or 0)
          w[i] = w[i] + (first % 2 + second % 2) * 2 ^ n
        end
      end
      local one, two = h + constants[i] + w[i], 0
      for n = 0, 31 do
        local chosen, majority = bit(e, n) == 1 and f or g, bit(a, n) + bit(b, n) + bit(c, n) > 1 and 1 or 0
        one = one + ((bit(e, n + 6) + bit(e, n + 11) + bit(e, n + 25)) % 2 + bit(chosen, n)) * 2 ^ n
        two = two + ((bit(a, n + 2) + bit(a, n + 13) + bit(a, n + 22)) % 2 + majority) * 2 ^ n
      end
      a, b, c, d, e, f, g, h = (one + two) % 2 ^ 32, a, b, c, (d + one) % 2 ^ 32, e, f, g
    end
    for i, value in ipairs({a, b, c, d, e, f, g, h}) do state[i] = (state[i] + value) % 2 ^ 32 end
  end
  return string.format("%04x%04x", math.floor(state[1] / 65536), state[1] % 65536)
end

-- A name of at most the 32 characters that Karmada allows: a longer name, or one with a `source`, ends with a digest.
local function shortened(name, source)
  local size, last = 0, #name
  for i = 1, #name do
    local byte = string.byte(name, i)
    if byte < 128 or byte >= 192 then
      size = size + 1
      if size == 24 then last = i - 1 end
    end
  end
  if size <= 32 and not source then return name end
  return string.sub(name, 1, last) .. "-" .. digest(source or name)
end

-- The components: the name is that of the instance, else of the component, or both if one name alone is not unique.
local function components_of(sets)
  local names, found = {}, {}
  for round = 1, 3 do -- with computed_names
    local times = {}
    for _, name in ipairs(names) do times[name] = (times[name] or 0) + 1 end
    for i, set in ipairs(sets) do
      local component, instance = set.component, set.instance
      if round == 1 then
        names[i] = shortened(instance ~= "" and instance or component)
      elseif times[names[i]] > 1 and round == 2 then
        names[i] = shortened(instance ~= "" and component .. "-" .. instance or component)
      elseif times[names[i]] > 1 then
        names[i] = shortened(names[i], component .. "\0" .. instance)
      end
    end
  end
  for i, set in ipairs(sets) do
    found[i] = {name = names[i] or set.component, replicas = set.replicas, replicaRequirements = requirements(set.spec)}
  end
  return found
end
