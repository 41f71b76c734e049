-- The requests of bench/client.ts, for wrk. A file names the traffic, the tokens and the accounts.
local job, tokens = {}, {}
local accounts_per_member = 10
local sent = 0
local pick

function init(args)
  for line in io.lines(args[1]) do
    local name, value = line:match("^(%S+) (.*)$")
    if name == "token" then tokens[#tokens + 1] = "Bearer " .. value else job[name] = value end
  end
  math.randomseed(tonumber(job.seed))
  pick = picker(job.sources, #tokens * accounts_per_member)
end

function picker(sources, count)
  if sources == "hot" then return function() return 0 end end
  if sources == "uniform" then return function() return math.random(count) - 1 end end
  -- Zipf, exponent 1.1. The ranks are spread over all accounts.
  local up_to, sum = {}, 0
  for rank = 1, count do
    sum = sum + rank ^ -1.1
    up_to[rank] = sum
  end
  return function()
    local at, low, high = math.random() * sum, 1, count
    while low < high do
      local middle = math.floor((low + high) / 2)
      if up_to[middle] < at then low = middle + 1 else high = middle end
    end
    return ((low - 1) * 7919) % count
  end
end

function request()
  if job.traffic == "token" then
    return wrk.format("POST", "/auth/v2/token", { ["content-type"] = "application/x-www-form-urlencoded" }, job.body)
  end
  local picked = pick()
  local bearer = math.floor(picked / accounts_per_member)
  local member = bearer * tonumber(job.step)
  local account = member * accounts_per_member + picked % accounts_per_member
  local headers = { authorization = tokens[bearer + 1] }
  if job.traffic == "account" then
    return wrk.format("GET", "/digitalbanking/db-accounts/v1/accounts/bench-" .. account, headers)
  elseif job.traffic == "accounts" then
    return wrk.format("GET", "/digitalbanking/ux-users/v1/customers/bench-" .. member .. "/accounts", headers)
  elseif job.traffic == "page" then
    return wrk.format("GET", "/digitalbanking/db-accounts/v1/accounts/bench-" .. account .. "/transactions?limit=50", headers)
  elseif job.traffic == "profile" then
    return wrk.format("GET", "/digitalbanking/ux-users/v1/customers/bench-" .. member .. "/contact-methods", headers)
  end
  local own = tonumber(job.own)
  local first = account - account % own
  local other = first + (account - first + math.random(own - 1)) % own
  sent = sent + 1
  headers["content-type"] = "application/json"
  return wrk.format("POST", "/digitalbanking/db-transfers/v1/transfers", headers, string.format(
    '{"id":"w%s-%d","fromAccountId":"bench-%d","toAccountId":"bench-%d","amount":0.01}', job.seed, sent, account, other))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %d %d %d\n", summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99), latency.max))
end
