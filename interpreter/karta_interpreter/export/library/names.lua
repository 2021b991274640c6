-- A name of at most the 32 characters that Karmada allows: a longer name, or one with a `source`, ends with a digest. The
-- digest is what is left of the bytes, read as one number, when a prime is divided out.
local function shortened(name, source)
  local size, last, digest = 0, #name, 0
  for i = 1, #name do
    local byte = string.byte(name, i)
    if byte < 128 or byte >= 192 then
      size = size + 1
      if size == 24 then last = i - 1 end
    end
  end
  if size <= 32 and not source then return name end
  for byte in string.gmatch(source or name, ".") do digest = (digest * 256 + string.byte(byte)) % 4294967291 end
  return string.format("%s-%04x%04x", string.sub(name, 1, last), math.floor(digest / 65536), digest % 65536)
end

-- The names of components: that of the instance, else of the component, or both if one name alone is not unique.
local function names_of(sets)
  local names = {}
  if with.computed_names then
    for round = 1, 3 do
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
  end
  if not with.computed_names then
    for i, set in ipairs(sets) do names[i] = set.component end
  end
  return names
end

local function components_of(sets)
  local names, found = names_of(sets), {}
  for i, set in ipairs(sets) do
    found[i] = {name = names[i], replicas = set.replicas, replicaRequirements = requirements(set.spec)}
  end
  return found
end
