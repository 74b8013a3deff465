// Lock libraries of Node.js, unmodified. Reads commands, one in a line, and answers yes or no, as redis_locks.py does.
"use strict";
const Redis = require("ioredis");
const readline = require("readline");

const locks = {};
const connect = (port) => new Redis(Number(port), "127.0.0.1", { maxRetriesPerRequest: 1 });

// Each function gets a client, and returns what is kept of the lock; it throws if the lock is not acquired, or not owned.
const libraries = {
  "redlock-5": () => {
    const { default: Redlock, Lock } = require("redlock");
    const at = (client) => new Redlock([client], { retryCount: 0 });
    return {
      acquire: (client, name, ms) => at(client).acquire([name, name + "-second"], ms),
      extend: (client, lock, ms) => at(client).extend(lock, ms),
      release: (client, lock) => at(client).release(lock),
      foreign: (client, lock) => at(client).release(new Lock(at(client), lock.resources, "foreign", [], 0)),
    };
  },
  "redlock-4": () => {
    const Redlock = require("redlock4");
    const at = (client) => new Redlock([client], { retryCount: 0 });
    const copy = (client, lock, value) =>
      new Redlock.Lock(at(client), lock.resource, value, lock.expiration, lock.attempts);
    return {
      acquire: (client, name, ms) => at(client).lock([name, name + "-second"], ms),
      extend: (client, lock, ms) => copy(client, lock, lock.value).extend(ms),
      release: (client, lock) => copy(client, lock, lock.value).unlock(),
      foreign: (client, lock) => copy(client, lock, "foreign").unlock(),
    };
  },
  "redis-semaphore": () => {
    const { Mutex } = require("redis-semaphore");
    const { refreshMutex } = require("redis-semaphore/lib/mutex/refresh");
    const { delIfEqualLua } = require("redis-semaphore/lib/mutex/release");
    const must = (fine) => { if (!fine) throw new Error("no"); };
    return {
      acquire: async (client, name, ms) => {
        const mutex = new Mutex(client, name, { lockTimeout: ms, acquireAttemptsLimit: 1, refreshInterval: 0 });
        must(await mutex.tryAcquire());
        return { key: "mutex:" + name, identifier: mutex.identifier };
      },
      extend: async (client, lock, ms) => {
        must(await refreshMutex(client, lock.key, lock.identifier, ms));
        return lock;
      },
      release: async (client, lock) => must(await delIfEqualLua(client, [lock.key, lock.identifier])),
      foreign: async (client, lock) => must(await delIfEqualLua(client, [lock.key, "foreign"])),
    };
  },
};

for (const library in libraries) libraries[library] = libraries[library]();

async function obey([library, command, id, port, ...words]) {
  const doing = libraries[library], who = library + id, client = connect(port);
  client.on("error", () => {});
  try {
    if (command === "acquire") locks[who] = await doing.acquire(client, words[0], Number(words[1]));
    else if (command === "extend") locks[who] = (await doing.extend(client, locks[who], Number(words[0]))) || locks[who];
    else await doing[command](client, locks[who]);
    return "yes";
  } catch (e) {
    return /connect|closed|retries/i.test(String(e)) ? "error " + e : "no";
  } finally {
    client.disconnect();
  }
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) console.log(await obey(line.split(" ")));
  process.exit(0);
})();
