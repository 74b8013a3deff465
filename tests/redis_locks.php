<?php
// Laravel's lock (Illuminate\Cache, as Debian has it, with the extension redis), unmodified. Reads commands and answers yes or no, as redis_locks.py does.
// It cannot extend a lock; there it is asked whether it is the owner.
require_once '/usr/share/php/Illuminate/Redis/autoload.php';
require_once '/usr/share/php/Illuminate/Cache/autoload.php';

$owners = [];

function lock_at($port, $name, $seconds, $owner = null)
{
    $client = new Redis();
    $client->connect('127.0.0.1', (int) $port, 20);
    $connection = new Illuminate\Redis\Connections\PhpRedisConnection($client);
    return new Illuminate\Cache\PhpRedisLock($connection, $name, $seconds, $owner);
}

function obey($library, $command, $who, $port, ...$words)
{
    global $owners;
    if ($command == 'acquire') {
        $lock = lock_at($port, $words[0], max(1, intdiv((int) $words[1], 1000)));
        if (!$lock->acquire())
            return false;
        $owners[$who] = [$words[0], $lock->owner()];
        return true;
    }
    [$name, $owner] = $owners[$who];
    if ($command == 'extend')
        return (fn () => $this->isOwnedByCurrentProcess())->call(lock_at($port, $name, 1, $owner));
    return lock_at($port, $name, 1, $command == 'foreign' ? 'foreign' : $owner)->release();
}

while (($line = fgets(STDIN)) !== false) {
    try {
        echo obey(...explode(' ', trim($line))) ? "yes\n" : "no\n";
    } catch (RedisException $e) {
        echo 'error ' . $e->getMessage() . "\n";
    }
}
