-- The instance ids of a component; an empty one for a component without instances.
local function instance_ids(component, obj)
  if not component.ids then return {""} end
  local ids, seen = component.ids(obj), {}
  if #ids > 999 then error("more than 999 results") end
  for _, id in ipairs(ids) do
    if type(id) ~= "string" or id == "" or seen[id] then
      error(component.name .. ": an instance id must be a string that is not empty and that no other instance has", 0)
    end
    seen[id] = true
  end
  return ids
end

-- The result for each instance, by position; nil in the place of null.
local function aligned(component, values, size, may_lack)
  if #values ~= size and not (may_lack and #values == 0) then
    error(component.name .. ": " .. #values .. " results for " .. size .. " instances", 0)
  end
  local found = {}
  for i, value in ipairs(values) do
    if value ~= null then found[i] = value end
  end
  return found
end

local function check_object(component, value)
  if value ~= nil and (type(value) ~= "table" or value[1] ~= nil) then
    error(component .. ": an object is needed, not a " .. type(value), 0)
  end
  return value
end

-- The types of the pieces of a pod that are no objects.
local types_of_pieces = {
  image = "string", schedulerName = "string", priorityClassName = "string", containers = "list", resourceClaims = "list",
}

-- The pod spec that pieces make up: the listed containers, and the single one with the resources.
local function assembled(pieces)
  local containers, single = pieces.containers or {}, pieces.container
  local is_listed = single == nil and containers[1] ~= nil
  for _, container in ipairs(containers) do is_listed = is_listed or equal(container, single) end
  if not is_listed then
    containers = joined(containers, {merged_fields({resources = pieces.resources}, single or {})})
  end
  local claims, node = pieces.resourceClaims, pieces.nodeAffinity
  local affinity = node and next(node) ~= nil and {nodeAffinity = node} or nil
  local priority = pieces.priorityClassName
  return {containers = containers, affinity = affinity, priorityClassName = priority, resourceClaims = claims}
end

-- The assembled pod spec of each instance; nil for an instance without pods.
local function assembled_specs(component, obj, size)
  local pieces, found = {}, {}
  for name, values_of in pairs(component.pieces) do
    local wanted = types_of_pieces[name]
    for i, value in pairs(aligned(component, values_of(obj), size, true)) do
      local is_right = is_object(value)
      if wanted == "string" then is_right = type(value) == "string" end
      if wanted == "list" then is_right = is_list(value) end
      if not is_right then error(component.name .. ": the piece " .. name .. " has a wrong type", 0) end
      pieces[i] = pieces[i] or {}
      pieces[i][name] = value
    end
  end
  for i = 1, size do
    if pieces[i] or component.needs_no_piece then found[i] = assembled(pieces[i] or {}) end
  end
  return found
end

-- The pod spec of each instance; nil for an instance without pods.
local function pod_specs(component, obj, size)
  if with.pieces and component.pieces then return assembled_specs(component, obj, size) end
  local found = aligned(component, component.pods(obj), size, not component.ids)
  local metadata = with.metadata and (component.metadata and aligned(component, component.metadata(obj), size, true) or {})
  for i = 1, size do
    local value = check_object(component.name, found[i])
    if with.metadata then check_object(component.name, metadata[i]) end
    if with.is_spec and value and not component.is_spec then found[i] = check_object(component.name, value.spec) end
    if not with.is_spec then found[i] = value and check_object(component.name, value.spec) end
  end
  return found
end

-- A number of pods, also from a text of digits; nil for null.
local function count(component, value)
  local number = type(value) == "string" and tonumber(string.match(value, "^[+-]?%d+$") or "") or value
  if number ~= nil and (type(number) ~= "number" or number % 1 ~= 0 or number < 0 or number > 2147483647) then
    error(component .. ": the replicas must be an integer from 0 to 2147483647", 0)
  end
  return number
end

-- The containers of a list, and behind each the ones that it stands for.
local function with_members(containers, levels)
  local whole = {}
  for _, container in ipairs(containers) do
    whole[#whole + 1] = container
    local members = type(container) == "table" and container.containers
    if levels > 0 and is_list(members) then whole = joined(whole, with_members(members, levels - 1)) end
  end
  return whole
end

-- The pod spec with the containers that the operator adds: firstInitContainers at the front, others at the end.
local function with_added(component, spec, lists)
  if not check_object(component, lists) then return spec end
  local whole = merged_fields(spec, {})
  for name, containers in pairs(lists) do
    local first = name == "firstInitContainers"
    local field = first and "initContainers" or name
    if field ~= "containers" and field ~= "initContainers" then error(component .. ": cannot add " .. name, 0) end
    if containers[1] == nil and next(containers) ~= nil then error(component .. ": " .. name .. " must be a list", 0) end
    local own, more = whole[field], with_members(containers, 2) -- what is not a list is rejected by its reader
    if own == nil then own = {} end
    if is_list(own) then whole[field] = first and joined(more, own) or joined(own, more) end
  end
  return whole
end

-- The containers that the operator adds to each of `size` instances; one value without `adds_each` is for all of them.
local function added_lists(component, obj, size)
  local each = component.adds_each and size or 1
  local found = aligned(component, component.added(obj), each, true)
  for i = each + 1, size do found[i] = found[1] end
  return found
end

-- Appends a pod set for each instance of a component that has pods.
local function add_pod_sets(sets, component, obj)
  local name, ids = component.name, with.ids and instance_ids(component, obj) or {""}
  local specs, replicas = pod_specs(component, obj, #ids), {}
  if next(specs) == nil then return end
  if component.replicas then replicas = aligned(component, component.replicas(obj), #ids) end
  local minimum = with.minimum and nil
  local added = with.added and (component.added and added_lists(component, obj, #ids) or {})
  for i = 1, #ids do
    replicas[i] = count(name, replicas[i])
    if with.minimum and not replicas[i] and component.minimum then
      minimum = minimum or aligned(component, component.minimum(obj), #ids, true)
    end
  end
  for i, id in ipairs(ids) do
    local spec = specs[i]
    local least = with.minimum and minimum and count(name, minimum[i])
    if spec then
      if with.added then spec = with_added(name, spec, added[i]) end
      local number = with.minimum and (replicas[i] or least or 1) or replicas[i] or 1
      sets[#sets + 1] = {component = name, instance = id, replicas = number, spec = spec}
    end
  end
end

-- What each container requires; names of resources go to `named`.
local function demands_of(containers, named)
  local found = {}
  for i, container in pairs(containers == nil and {} or containers) do
    if is_list(get(container, "containers")) then error("a script cannot add containers together", 0) end
    local resources = get(container, "resources") or {}
    for _, field in ipairs({"requests", "limits"}) do
      for name, amount in pairs(get(resources, field) or {}) do
        if type(amount) == "table" or (tonumber(amount) or 0) >= 2 ^ 53 then error("no exact quantity: " .. name, 0) end
        named[name] = true
      end
    end
    found[i] = {name = "c", resources = resources}
  end
  return found
end

-- What one pod requires, as kube-scheduler reserves it.
local function requirements(spec)
  local sidecars, named = {}, {}
  local containers, init = demands_of(get(spec, "containers"), named), demands_of(spec.initContainers, named)
  for i, demand in ipairs(init) do
    -- To Karmada a sidecar is an init container like any other; in a pod it keeps running next to the containers and the
    -- init containers after it.
    if spec.initContainers[i].restartPolicy == "Always" then
      containers[#containers + 1], sidecars[#sidecars + 1], init[i] = demand, demand, {name = "c"}
    elseif sidecars[1] then
      local sum = kube.accuratePodRequirements({spec = {containers = {demand, unpack(sidecars)}}}) or {}
      init[i] = {name = "c", resources = {requests = sum.resourceRequest}}
    end
  end
  if spec.resources then
    -- Those of the pod replace the sum of those of its containers.
    local sum = kube.accuratePodRequirements({spec = {containers = containers, initContainers = init}}) or {}
    local totals = sum.resourceRequest or {}
    for _, field in ipairs({"limits", "requests"}) do
      for name, amount in pairs(get(spec, "resources", field) or {}) do
        local counts_always = string.find(name, "^hugepages%-")
        if counts_always or (name == "cpu" or name == "memory") and (field == "requests" or not named[name]) then
          totals[name] = amount
        end
      end
    end
    containers, init = {{name = "c", resources = {requests = totals}}}, {}
  end
  -- The parentheses keep a nil result: a tail call of a kube function would drop it.
  return (kube.accuratePodRequirements({
    spec = {
      containers = containers,
      initContainers = init,
      overhead = spec.overhead,
      nodeSelector = spec.nodeSelector,
      tolerations = spec.tolerations,
      affinity = spec.affinity,
      priorityClassName = spec.priorityClassName,
    },
  }))
end

-- A sum with so many times an amount more.
local function with_times(sum, amount, number)
  while number > 0 do
    if number % 2 == 1 then sum = sum and kube.resourceAdd(sum, amount) or amount end
    number = math.floor(number / 2)
    amount = kube.resourceAdd(amount, amount)
  end
  return sum
end

-- The number of units and what one of them requires: the sum over its pods, and the node claim if it is the same for all.
local function units_and_requirements(sets, units)
  local total, claim, agreed, is_first = {}, nil, true, true
  for _, set in ipairs(sets) do
    local number = set.replicas / math.max(units, 1)
    if number % 1 ~= 0 then error(set.component .. ": the units do not divide its " .. set.replicas .. " pods", 0) end
    local own = requirements(set.spec) or {}
    if number > 0 then
      if is_first then claim, is_first = own.nodeClaim, false end
      agreed = agreed and equal(claim, own.nodeClaim)
    end
    for name, amount in pairs(own.resourceRequest or {}) do total[name] = with_times(total[name], amount, number) end
  end
  local found = {resourceRequest = next(total) ~= nil and total or nil, nodeClaim = agreed and claim or nil}
  return sets[1] and units or 0, next(found) ~= nil and found or nil
end

-- The sum of the replicas and the requirements that fit a pod of any set: the largest amount of each resource, and the
-- node claim if it is the same for all.
local function replicas_and_requirements(sets)
  if #sets == 1 then return sets[1].replicas, requirements(sets[1].spec) end
  local sum, running, all, claim, agreed = 0, {}, {}, nil, true
  for _, set in ipairs(sets) do
    sum = sum + set.replicas
    if set.replicas > 0 then running[#running + 1] = set end
  end
  if sum > 2147483647 then error("the replicas add up to more than 2147483647", 0) end
  for i, set in ipairs(running[1] and running or sets) do
    local own = requirements(set.spec) or {}
    all[i] = {name = "c", resources = {requests = own.resourceRequest}}
    if i == 1 then claim = own.nodeClaim end
    agreed = agreed and equal(claim, own.nodeClaim)
  end
  local found = kube.accuratePodRequirements({spec = {initContainers = all}}) or {}
  if agreed then found.nodeClaim = claim end
  return sum, next(found) ~= nil and found or nil
end
