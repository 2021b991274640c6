-- The ids of the instances of a component; a single one without a name where it has none.
local function instance_ids(component, obj)
  if not component.ids then return {""} end
  local ids, seen = limited(component.ids(obj)), {}
  for _, id in ipairs(ids) do
    if type(id) ~= "string" or id == "" then
      error(component.name .. ": an instance id is a string that is not empty", 0)
    end
    if seen[id] then error(component.name .. ": two instances have the id " .. id, 0) end
    seen[id] = true
  end
  return ids
end

-- Results and instances are paired by position.
local function aligned(component, values, size, may_lack)
  if #limited(values) == size or (may_lack and #values == 0) then return values end
  error(component.name .. ": gives " .. #values .. " results for " .. size .. " instances", 0)
end

local function check_object(component, value)
  if value ~= nil and not is_object(value) then
    error(component.name .. ": gives a " .. type(value) .. " where an object belongs", 0)
  end
  return value
end

-- The pod template of each instance, nil where its pods do not exist.
local function templates(component, obj, size)
  local found = {}
  local values = aligned(component, component.pods(obj), size, not component.ids)
  local metadata = component.metadata and aligned(component, component.metadata(obj), size, true) or {} -- with metadata
  for i = 1, size do
    local value = check_object(component, present(values[i]))
    local beside = nil
    beside = check_object(component, present(metadata[i])) -- with metadata
    if component.is_spec and value then -- with is_spec
      found[i] = {metadata = beside, spec = value}
    end
    if value and not component.is_spec then
      found[i] = check_object(component, value.spec) and value or nil
    end
  end
  return found
end

-- A number of pods; nil for null.
local function count(component, value)
  if value == nil then return nil end
  local number = value
  if type(value) == "string" then
    local sign, digits = string.match(value, "^([+-]?)(%d+)$")
    number = digits and tonumber(digits) * (sign == "-" and -1 or 1)
  end
  if type(number) ~= "number" or number ~= math.floor(number) or number < 0 or number > 2147483647 then
    error(component.name .. ": gives what is no number of replicas", 0)
  end
  return number
end

local function counts(component, values, size, may_lack)
  local found = {}
  if not values then return found end
  values = aligned(component, values, size, may_lack)
  for i = 1, size do found[i] = count(component, present(values[i])) end
  return found
end

-- Containers that the operator adds come last.
local function with_added(component, obj, template)
  local lists = component.added and check_object(component, component.added(obj))
  if not template or not lists then return template end
  local spec = united_fields(template.spec, {})
  for field, containers in pairs(lists) do
    if field ~= "containers" and field ~= "initContainers" then error(component.name .. ": adds " .. field, 0) end
    spec[field] = joined(spec[field] or {}, list_of(containers))
  end
  return {metadata = template.metadata, spec = spec}
end

-- The pod sets that exist: component, instance, number of replicas and pod template.
local function pod_sets(components, obj)
  local sets = {}
  for _, component in ipairs(components) do
    local ids = {""} -- without ids
    local ids = instance_ids(component, obj) -- with ids
    local found = templates(component, obj, #ids)
    if next(found) ~= nil then
      local replicas = counts(component, component.replicas and component.replicas(obj), #ids, false)
      local minimum = {}
      for i = 1, #ids do -- with minimum
        if not replicas[i] and component.minimum then
          minimum = counts(component, component.minimum(obj), #ids, true)
          break
        end
      end
      for i = 1, #ids do
        if found[i] then
          sets[#sets + 1] = {
            component = component.name,
            instance = ids[i],
            replicas = replicas[i] or minimum[i] or 1,
            template = found[i], -- without added
            template = with_added(component, obj, found[i]), -- with added
          }
        end
      end
    end
  end
  return sets
end

local function amounts_of(container, name)
  local found = get(container, "resources", name)
  for _, amount in pairs(found or {}) do
    if type(amount) == "table" then error("a quantity is needed, not a table", 0) end
  end
  return found
end

-- What counts of containers: their requests and limits.
local function demands(containers)
  local found = {}
  for i, container in ipairs(list_or_none(containers)) do
    found[i] = {
      name = "c" .. i,
      resources = {requests = amounts_of(container, "requests"), limits = amounts_of(container, "limits")},
    }
  end
  return found
end

-- Karmada takes a sidecar for an init container like any other; in a pod it runs on beside the containers.
local function with_sidecars(spec)
  local containers, init, sidecars = demands(spec.containers), {}, {}
  for i, demand in ipairs(demands(spec.initContainers)) do
    demand.name = "i" .. i
    if spec.initContainers[i].restartPolicy == "Always" then
      sidecars[#sidecars + 1] = demand
      containers[#containers + 1] = demand
    elseif #sidecars > 0 then
      local together = kube.accuratePodRequirements({spec = {containers = joined({demand}, sidecars)}}) or {}
      init[#init + 1] = {name = demand.name, resources = {requests = together.resourceRequest}}
    else
      init[#init + 1] = demand
    end
  end
  return containers, init
end

local function is_of_pods(name)
  return name == "cpu" or name == "memory" or string.sub(name, 1, 10) == "hugepages-"
end

-- What a pod states as a whole counts in the place of what its containers add up to.
local function of_the_pod(resources, containers, init)
  local together = kube.accuratePodRequirements({spec = {containers = containers, initContainers = init}}) or {}
  local totals, named, requests = united_fields(together.resourceRequest or {}, {}), {}, get(resources, "requests") or {}
  for _, container in ipairs(joined(containers, init)) do
    for name in pairs(container.resources.requests or {}) do named[name] = true end
    for name in pairs(container.resources.limits or {}) do named[name] = true end
  end
  for name, amount in pairs(requests) do
    if is_of_pods(name) then totals[name] = amount end
  end
  for name, amount in pairs(get(resources, "limits") or {}) do
    local is_huge = string.sub(name, 1, 10) == "hugepages-"
    if is_of_pods(name) and requests[name] == nil and (is_huge or not named[name]) then
      totals[name] = amount
    end
  end
  return {{name = "pod", resources = {requests = totals}}}, {}
end

-- What one pod of a template needs, as kube-scheduler reserves it.
local function requirements(template)
  local spec = get(template, "spec") or {}
  local containers, init = with_sidecars(spec)
  if spec.resources then containers, init = of_the_pod(spec.resources, containers, init) end
  local affinity = get(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
  local found = kube.accuratePodRequirements({
    spec = {
      containers = containers,
      initContainers = init,
      overhead = spec.overhead,
      nodeSelector = spec.nodeSelector,
      tolerations = spec.tolerations,
      affinity = {nodeAffinity = {requiredDuringSchedulingIgnoredDuringExecution = affinity}},
      priorityClassName = spec.priorityClassName,
    },
  })
  return found -- a call of kube in its place would give no result at all for nil
end

-- What is enough for a pod of any of the sets: of each resource the largest amount, and a node claim that all have.
local function largest_requirements(sets)
  local all, claim, agreed = {}, nil, true
  for i, set in ipairs(sets) do
    local own = requirements(set.template) or {}
    all[i] = {name = "c" .. i, resources = {requests = own.resourceRequest}}
    if i == 1 then claim = own.nodeClaim end
    agreed = agreed and equal(claim, own.nodeClaim)
  end
  local found = kube.accuratePodRequirements({spec = {initContainers = all}}) or {}
  if agreed then found.nodeClaim = claim end
  return next(found) ~= nil and found or nil
end

local function replicas_and_requirements(sets)
  if #sets == 1 then return sets[1].replicas, requirements(sets[1].template) end
  local sum, running = 0, {}
  for _, set in ipairs(sets) do -- with many
    sum = sum + set.replicas
    if set.replicas > 0 then running[#running + 1] = set end
  end
  return sum, nil -- without many
  return sum, largest_requirements(#running > 0 and running or sets) -- with many
end
