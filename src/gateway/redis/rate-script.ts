import { redisScript } from './redis-connection.ts';

/**
 * Counts use and grants leases, for many rates at once. All keys begin with the one that is passed.
 *
 * - `:epoch` is random. If it changes, the server has lost its data, so it grants nothing for a minute (`:warm`),
 *   in which the gateways report their use. In the last second of it, no gateway counts alone any more.
 * - `:replicas` are the gateways with the times of their last calls, `:wanted` the rates of which one needs more.
 * - `:held:<replica>` has the leases of a gateway. They end with it.
 * - `:used:<rate>` has the use, in slots of a quarter of a second with their sum; `:slots:<rate>` lists the slots.
 *   A slot is counted while a part of it is younger than a minute.
 *
 * The length of a minute in milliseconds is passed.
 */
export const RATE_SCRIPT = redisScript(`
local prefix, replica, known, fresh = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local minute = tonumber(ARGV[5])
local kept, lease = minute + 2000, minute + 15000
local questions = cjson.decode(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local slot = math.floor(now / 250)

local epoch = redis.call('GET', prefix .. ':epoch')
if not epoch then
  epoch = fresh
  redis.call('SET', prefix .. ':epoch', epoch)
end
redis.call('ZADD', prefix .. ':replicas', now, replica)
redis.call('ZREMRANGEBYSCORE', prefix .. ':replicas', '-inf', now - lease)
local count = redis.call('ZCOUNT', prefix .. ':replicas', now - 10000, '+inf')
if known ~= '' and known ~= epoch then
  redis.call('SET', prefix .. ':warm', '1', 'PX', kept)
  return {epoch, 1, count, {}, {}}
end
local quiet = redis.call('PTTL', prefix .. ':warm')
local warm = 0
if quiet > 1000 then warm = 1 end
local replicas = redis.call('ZRANGE', prefix .. ':replicas', 0, -1)
local mine = prefix .. ':held:' .. replica
redis.call('PEXPIRE', mine, lease)
redis.call('ZREMRANGEBYSCORE', prefix .. ':wanted', '-inf', now - 3000)

local function sum_used(rate, amount)
  local used, slots = prefix .. ':used:' .. rate, prefix .. ':slots:' .. rate
  local oldest = redis.call('LINDEX', slots, 0)
  while oldest and tonumber(oldest) < slot - minute / 250 do
    redis.call('HINCRBY', used, 'total', -tonumber(redis.call('HGET', used, oldest) or 0))
    redis.call('HDEL', used, oldest)
    redis.call('LPOP', slots)
    oldest = redis.call('LINDEX', slots, 0)
  end
  if amount ~= 0 then
    local last = tonumber(redis.call('LINDEX', slots, -1) or -1)
    local current = math.max(slot, last)
    if current > last then redis.call('RPUSH', slots, current) end
    redis.call('HINCRBY', used, current, amount)
    redis.call('HINCRBY', used, 'total', amount)
    redis.call('PEXPIRE', used, kept)
    redis.call('PEXPIRE', slots, kept)
  end
  return tonumber(redis.call('HGET', used, 'total') or 0), tonumber(oldest or slot) * 250 + minute + 250 - now
end

local function sum_others(rate)
  local sum = 0
  for _, other in ipairs(replicas) do
    if other ~= replica then sum = sum + tonumber(redis.call('HGET', prefix .. ':held:' .. other, rate) or 0) end
  end
  return sum
end

local answers = {}
for index, question in ipairs(questions) do
  local rate, limit, used, held, left, needed = unpack(question)
  local total, wait = sum_used(rate, used)
  local others = sum_others(rate)
  local free = math.max(0, limit - total - others - held)
  local extra = 0
  if needed >= 0 and quiet < 0 then
    local share = math.ceil((free + left) / count)
    extra = math.min(free, math.max(needed, share - left))
  end
  if held + extra > 0 then
    redis.call('HSET', mine, rate, held + extra)
    redis.call('PEXPIRE', mine, lease)
  else
    redis.call('HDEL', mine, rate)
  end
  if needed > extra and others > 0 then
    redis.call('ZADD', prefix .. ':wanted', now, replica .. ' ' .. rate)
  else
    redis.call('ZREM', prefix .. ':wanted', replica .. ' ' .. rate)
  end
  answers[index] = {extra, free - extra, wait, others}
end
return {epoch, warm, count, redis.call('ZRANGE', prefix .. ':wanted', 0, -1), answers}
`);

/** The leases of a gateway that ends are free at once. */
export const RELEASE_SCRIPT = redisScript(`
redis.call('DEL', KEYS[1] .. ':held:' .. ARGV[1])
return redis.call('ZREM', KEYS[1] .. ':replicas', ARGV[1])
`);
