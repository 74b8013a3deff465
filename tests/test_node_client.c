/* Answers to a client of one member, and news: locks, losses, validity, queries, mistakes. Invariants: I19, I20, I22, I35. */
#include "conversation.h"

static void a_lock_is_granted_released_and_handed_over(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOCK x\r\n"), "a: *2 $1 x :100");
    assert_string_equal(say('b', "*2\r\n$4\r\nlock\r\n$1\r\nx\r\n"), "");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: +OK\nb: *2 $1 x :102");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: -NOTHELD this connection does not hold \"x\"");
    assert_string_equal(say('b', "LOCK x\n"), "b: -ERR this connection holds \"x\" already");
    assert_string_equal(say('c', "LOCK x\n"), "");
    assert_string_equal(part('b'), "c: *2 $1 x :104");
}

static void commands_behind_a_waiting_one_wait(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOCK x\n"), "a: *2 $1 x :100");
    assert_string_equal(say('b', "LOCK x\nPING\nUNLOCK x\nLOCK x SHARED\n"), "");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: +OK\nb: *2 $1 x :102 +PONG +OK *2 $1 x :104");
}

/* The connection, and what it holds, stays. */
static void a_wait_is_cancelled(void **state)
{
    (void)state;
    say('a', "LOCK z\n");
    say('b', "HELLO 3\nLOCK y\n");
    assert_string_equal(say('b', "LOCK z AND x\n"), "");
    assert_string_equal(say('c', "LOCK z\n"), "");
    assert_string_equal(say('b', "MEANWHILE CANCEL\n"), "b: >2 $9 meanwhile :1 _");
    assert_string_equal(say('b', "MEANWHILE CANCEL\nLOCK x\n"), "b: >2 $9 meanwhile :0 *2 $1 x :102");
    assert_string_equal(say('a', "UNLOCK z\n"), "a: +OK\nc: *2 $1 z :102");
    assert_string_equal(say('b', "CONFIRM y\n"), "b: :3600000");
    say('a', "LOCK w\n"); /* the first of two is granted, and the client does not go on with the second */
    assert_string_equal(say('b', "LOCK v AND w\nMEANWHILE CANCEL\nPING\n"), "b: >2 $9 meanwhile :1 _ +PONG");
    assert_string_equal(say('c', "LOCK v WAIT 0\n"), "c: *2 $1 v :104");
}

static void a_wait_has_an_end(void **state)
{
    (void)state;
    say('a', "LOCK x\n");
    assert_string_equal(say('b', "LOCK x WAIT 50\n"), "");
    assert_string_equal(say('c', "HELLO 3\n"),
                        "c: %4 $6 server $4 dibs $7 version $5 " DIBS_VERSION " $5 proto :3 $2 id :3");
    assert_string_equal(say('c', "LOCK x WAIT 60\n"), "");
    assert_string_equal(
        say('a', "WAITERS x\n"),
        "a: *2 *14 $6 member $4 solo $6 client :2 $3 who $0  $4 from $0  $4 mode $9 exclusive $8 priority :0 "
        "$6 age_ms :0 *14 $6 member $4 solo $6 client :3 $3 who $0  $4 from $0  $4 mode $9 exclusive "
        "$8 priority :0 $6 age_ms :0");
    cluster_pass(&solo, 50);
    assert_string_equal(settle(), "b: *-1");
    cluster_pass(&solo, 60);
    assert_string_equal(settle(), "c: _");
}

static void a_lease_runs_out_and_is_told(void **state)
{
    (void)state;
    say('a', "HELLO 3\n");
    assert_string_equal(say('a', "LOCK x TTL 10\n"), "a: *2 $1 x :100");
    assert_string_equal(say('a', "RENEW x TTL 20\n"), "a: +OK");
    assert_string_equal(say('b', "LOCK x TTL 10\n"), "");
    cluster_pass(&solo, 20);
    assert_string_equal(settle(), "a: >4 $4 lost $1 x :100 $19 its TTL has run out\nb: *2 $1 x :102");
    cluster_pass(&solo, 30);
    assert_string_equal(settle(), ""); /* version 2 has no news; the holder finds out when it asks */
    assert_string_equal(say('b', "RENEW x TTL 20\n"), "b: -LOST \"x\" (fence 102) is lost: its TTL has run out");
}

/* Version 2 has no news. A client that asks for how long all its locks are held is told of the one that it has lost. */
static void a_confirmation_does_not_pass_over_a_loss(void **state)
{
    (void)state;
    say('a', "LOCK x TTL 10\nLOCK y\nLOCK z\n");
    assert_string_equal(say('a', "CONFIRM\n"), "a: :3600000");
    say('b', "FORCE-UNLOCK z\n");
    cluster_pass(&solo, 10);
    assert_string_equal(say('a', "CONFIRM\n"),
                        "a: -LOST \"z\" (fence 100) is lost: it was taken away by force-unlock (at member solo)");
    assert_string_equal(say('a', "CONFIRM x\n"), "a: -LOST \"x\" (fence 100) is lost: its TTL has run out");
    assert_string_equal(say('a', "CONFIRM y\n"), "a: :3600000");
    assert_string_equal(say('a', "UNLOCK z\n"),
                        "a: -LOST \"z\" (fence 100) is lost: it was taken away by force-unlock (at member solo)");
    assert_string_equal(say('a', "CONFIRM\n"), "a: -LOST \"x\" (fence 100) is lost: its TTL has run out");
    assert_string_equal(say('a', "LOCK x\n"), ""); /* another thread of the client may still believe in it */
    cluster_pass(&solo, 2010);
    assert_string_equal(settle(), "a: *2 $1 x :102");
    assert_string_equal(say('a', "CONFIRM\n"), "a: :3600000");
    assert_string_equal(say('a', "CONFIRM z\n"), "a: -NOTHELD this connection does not hold \"z\"");
    say('b', "FORCE-UNLOCK x\n");
    assert_string_equal(say('a', "LOCK v AND x\n"), ""); /* it knows of the loss, too */
    cluster_pass(&solo, 4010);
    assert_string_equal(settle(), "a: *4 $1 v :102 $1 x :104");
    assert_string_equal(say('a', "CONFIRM\n"), "a: :3600000");
}

static void nobody_makes_us_keep_endless_losses(void **state)
{
    char line[64];

    (void)state;
    for (unsigned k = 0; k <= CLIENT_LOSSES_MAX; k++) {
        snprintf(line, sizeof line, "LOCK x%u TTL 1\n", k);
        say('a', line);
    }
    cluster_pass(&solo, 1);
    settle();
    assert_int_equal(user[0].end->loss_count, CLIENT_LOSSES_MAX);
    for (unsigned k = 0; k <= CLIENT_LOSSES_MAX; k++) {
        snprintf(line, sizeof line, "UNLOCK x%u\n", k);
        say('a', line);
    }
    assert_int_equal(user[0].end->loss_count, 0);
    assert_string_equal(say('a', "CONFIRM\n"),
                        "a: -LOST more locks are lost than this connection is told of; close it");
    say('a', "LOCK y\n");
    assert_string_equal(say('a', "CONFIRM y\n"), "a: :3600000");
}

/* Threads that share a connection: one that is late has the fence of the lock that it held, and touches no other. */
static void a_fence_says_which_lock_is_meant(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOCK x TTL 10\n"), "a: *2 $1 x :100");
    cluster_pass(&solo, 10);
    settle();
    assert_string_equal(say('a', "LOCK x\n"), "a: *2 $1 x :102");
    assert_string_equal(say('a', "UNLOCK x 100\n"), "a: -NOTHELD this connection does not hold \"x\" with fence 100");
    assert_string_equal(say('a', "RENEW x 100 TTL 5\n"),
                        "a: -NOTHELD this connection does not hold \"x\" with fence 100");
    assert_string_equal(say('a', "CONFIRM x 100\n"), "a: -NOTHELD this connection does not hold \"x\" with fence 100");
    assert_string_equal(say('a', "CONFIRM x 102\n"), "a: :3600000");
    assert_string_equal(say('a', "RENEW x 102 TTL 5\n"), "a: +OK");
    assert_string_equal(say('a', "UNLOCK x 0\n"), "a: -ERR a fence is a number, as LOCK has told it");
    assert_string_equal(say('a', "CONFIRM x y\n"), "a: -ERR a fence is a number, as LOCK has told it");
    assert_string_equal(say('a', "RENEW x y TTL 5\n"), "a: -ERR a fence is a number, as LOCK has told it");
    assert_string_equal(say('a', "DOWNGRADE x 100\n"),
                        "a: -NOTHELD this connection does not hold \"x\" with fence 100");
    assert_string_equal(say('a', "UNLOCK x 102\n"), "a: +OK");
    /* Nor does it take note of another loss than that of its own lock. */
    assert_string_equal(say('a', "LOCK x TTL 10\n"), "a: *2 $1 x :104");
    cluster_pass(&solo, 20);
    assert_string_equal(say('a', "UNLOCK x 100\n"), "a: -NOTHELD this connection does not hold \"x\" with fence 100");
    assert_string_equal(say('a', "CONFIRM\n"), "a: -LOST \"x\" (fence 104) is lost: its TTL has run out");
}

/* A client that has been told that it holds a lock for a while to come may believe so until it has heard that it has lost it. */
static void what_is_lost_lingers_until_its_client_knows(void **state)
{
    (void)state;
    say('a', "HELLO 3\n");
    say('a', "LOCK x TTL 8\nLOCK y TTL 9\nLOCK z TTL 10\nCONFIRM\n");
    assert_string_equal(say('b', "LOCK x\n"), "");
    assert_string_equal(say('c', "LOCK y\n"), "");
    cluster_pass(&solo, 10);
    assert_string_equal(settle(),
                        "a: >4 $4 lost $1 x :100 $19 its TTL has run out >4 $4 lost $1 y :100 $19 its TTL has run out "
                        ">4 $4 lost $1 z :100 $19 its TTL has run out");
    assert_int_equal(node.locks.lingering, 3);
    assert_string_equal(say('a', "RENEW x TTL 10\n"), "a: -NOTHELD this connection does not hold \"x\"");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: -NOTHELD this connection does not hold \"x\"\nb: *2 $1 x :102");
    assert_string_equal(say('a', "UNLOCK z\nLOCK z\n"), "a: -NOTHELD this connection does not hold \"z\" *2 $1 z :102");
    assert_int_equal(node.locks.lingering, 1);
    assert_string_equal(part('a'), "c: *2 $1 y :102");
    assert_int_equal(node.locks.lingering, 0);
}

static void what_is_lost_does_not_linger_for_ever(void **state)
{
    (void)state;
    say('a', "LOCK x\nCONFIRM\n");
    assert_string_equal(say('b', "LOCK x\n"), "");
    say('c', "CLIENT SETNAME c\n");
    memcpy(user[2].end->session->from, "user 7", 7);
    say('c', "FORCE-UNLOCK x\n");
    assert_non_null(strstr(say('c', "HOLDERS x\n"), "$5 state $7 lingers")); /* no other client gets it yet */
    cluster_pass(&solo, 1999);
    assert_string_equal(settle(), "");
    cluster_pass(&solo, 2000);
    assert_string_equal(settle(), "b: *2 $1 x :102");
    assert_string_equal(
        say('a', "UNLOCK x\n"),
        "a: -LOST \"x\" (fence 100) is lost: it was taken away by force-unlock (c, user 7, at member solo)");
    /* What it was never told to be held, it does not believe in. */
    say('b', "CONFIRM\n");
    client_input(user[0].end, (const uint8_t *)"LOCK y\n", 7);
    client_run(user[0].end);
    assert_int_equal(session_evict(&node, "y", 1, UINT64_MAX, ""), 1);
    assert_int_equal(node.locks.lingering, 0);
    assert_string_equal(settle(), "a: -LOST it was lost at once: it was taken away by force-unlock");
}

/* A client whose connection has broken may not know: what it was told that it holds, it holds until that time is over. */
static void what_was_vouched_for_lingers_when_a_connection_breaks(void **state)
{
    (void)state;
    say('a', "LOCK x\nLOCK y TTL 1\nCONFIRM\n");
    cluster_pass(&solo, 1); /* y lingers already, and x will */
    assert_string_equal(say('b', "LOCK x\n"), "");
    assert_string_equal(say('c', "LOCK y\n"), "");
    assert_string_equal(sever('a'), "");
    assert_int_equal(node.locks.lingering, 2);
    assert_string_equal(sever('c'), ""); /* a wait is withdrawn at once */
    assert_int_equal(node.stats.waiters, 1);
    assert_string_equal(say('b', "MEANWHILE PING\n"), "");
    cluster_pass(&solo, 2000);
    assert_string_equal(settle(), "");
    cluster_pass(&solo, 2001);
    assert_string_equal(settle(), "b: *2 $1 x :102 -ERR MEANWHILE is answered by news, which version 3 of the protocol "
                                  "has: HELLO 3");
    assert_int_equal(node.locks.lingering, 0);
}

static void what_was_not_vouched_for_is_released_when_a_connection_breaks(void **state)
{
    (void)state;
    say('a', "LOCK x\n");
    assert_string_equal(say('b', "LOCK x\n"), "");
    assert_string_equal(sever('a'), "b: *2 $1 x :102");
    say('b', "CONFIRM\n");
    assert_string_equal(say('c', "LOCK x\n"), "");
    cluster_pass(&solo, 4000000); /* an hour by any clock is over */
    assert_string_equal(sever('b'), "c: *2 $1 x :104");
    say('c', "CONFIRM\n");
    assert_string_equal(sever('c'), ""); /* and the node ends meanwhile */
}

/* A machine may vanish without a word. Over TCP, a client that uses CONFIRM must go on to. */
static void a_remote_client_that_does_not_confirm_loses_its_locks(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        user[k].end->session->remote = true;
    say('a', "HELLO 3\n");
    say('a', "LOCK x\nCONFIRM\n");
    say('c', "LOCK y\nCONFIRM\n");
    assert_string_equal(say('b', "CONFIRM\nLOCK x\n"), "b: :10000");
    cluster_pass(&solo, 5000);
    assert_string_equal(say('a', "CONFIRM x\n"), "a: :10000");
    cluster_pass(&solo, 16053); /* ten seconds by any clock */
    assert_string_equal(settle(), "");
    cluster_pass(&solo, 16054);
    assert_string_equal(settle(), "a: >4 $4 lost $1 x :100 $39 its client has not confirmed it in time\n"
                                  "b: *2 $1 x :102");
    cluster_pass(&solo, node.now_ms + 11053); /* counted from the grant */
    assert_string_equal(settle(), "");
    cluster_pass(&solo, node.now_ms + 1);
    settle();
    assert_string_equal(say('b', "CONFIRM x\n"),
                        "b: -LOST \"x\" (fence 102) is lost: its client has not confirmed it in time");
    assert_string_equal(say('b', "UNLOCK x\nLOCK x\nCONFIRM\n"),
                        "b: -LOST \"x\" (fence 102) is lost: its client has not confirmed it in time *2 $1 x :104 "
                        ":10000");
    assert_string_equal(say('c', "CONFIRM y\n"), "c: :3600000"); /* it is not remote */
    say('a', "LOCK z\nCONFIRM\n");
    sever('a');
    cluster_pass(&solo, node.now_ms + 20000);
    assert_int_equal(node.locks.lingering, 0);
}

static void kinds_do_not_mix(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOCK x SHARED\n"), "a: *2 $1 x :100");
    assert_string_equal(say('b', "LOCK x SHARED\n"), "b: *2 $1 x :101");
    assert_string_equal(say('c', "LOCK x SLOTS 2\n"),
                        "c: -WRONGKIND \"x\" is an exclusive or shared lock; ask for it without SLOTS (--slots)");
    assert_string_equal(say('a', "LOCK jobs SLOTS 2\n"), "a: *2 $4 jobs :100");
    assert_string_equal(say('b', "LOCK jobs SLOTS 3\n"),
                        "b: -WRONGKIND \"jobs\" is a lock with 2 slots; ask for it with SLOTS 2 (dibs lock --slots 2)");
    assert_string_equal(say('c', "LOCK d GROUP red\n"), "c: *2 $1 d :100");
    assert_string_equal(say('a', "LOCK d GROUP red\n"), "a: *2 $1 d :101");
    assert_string_equal(say('b', "LOCK d GROUP blue WAIT 0\n"), "b: *-1");
}

static void what_takes_an_operator_is_refused_to_others(void **state)
{
    static const char *const lines[] = {"FORCE-UNLOCK x", "MEMBER ADD dog 127.0.0.1:1", "MEMBER REMOVE solo"};

    (void)state;
    say('b', "LOCK x\n");
    for (unsigned k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        char line[64];

        snprintf(line, sizeof line, "%s\n", lines[k]);
        assert_memory_equal(say('a', line), "a: -NOPERM ", 11);
    }
    assert_memory_equal(say('a', "MEMBER LIST\n"), "a: *1 ", 6);
    assert_memory_equal(say('c', "MEMBER REMOVE solo\n"), "c: -ERR ", 8); /* for another reason */
    assert_string_equal(say('b', "UNLOCK x\n"), "b: +OK");
}

static void holders_are_shown_and_evicted(void **state)
{
    (void)state;
    say('a', "HELLO 3 SETNAME host:1\n");
    say('a', "LOCK x\n");
    assert_string_equal(
        say('b', "HOLDERS x\n"),
        "b: *1 *20 $6 member $4 solo $6 client :1 $3 who $6 host:1 $4 from $0  $4 mode $9 exclusive $5 fence :100 "
        "$5 state $4 held $5 value $0  $7 left_ms :0 $6 age_ms :0");
    assert_string_equal(
        say('b', "LOCKS x* CURSOR 0\n"),
        "b: *2 :0 *1 *12 $6 member $4 solo $4 name $1 x $9 algorithm $7 central $5 slots :0 $7 holders :1 $7 "
        "waiters :0");
    assert_string_equal(
        say('b', "LOCKS x* USED CURSOR 0\n"),
        "b: *2 :0 *1 *16 $6 member $4 solo $4 name $1 x $9 algorithm $7 central $5 slots :0 $7 holders :1 $7 "
        "waiters :0 $7 wait_ms :0 $7 hold_ms :0");
    assert_string_equal(say('b', "LOCKS y* USED\n"), "b: *2 :0 *0");
    assert_string_equal(say('b', "LOCKS y* ALL\n"), "b: -ERR usage: LOCKS [pattern [USED]] [CURSOR c]");
    assert_string_equal(say('b', "LOCKS y*\n"), "b: *2 :0 *0");
    assert_string_equal(
        say('b', "FORCE-UNLOCK x\n"),
        "a: >4 $4 lost $1 x :100 $50 it was taken away by force-unlock (at member solo)\nb: *1 *20 $6 member $4 solo "
        "$6 client :1 $3 who $6 host:1 $4 from $0  $4 mode $9 exclusive $5 fence :100 $5 state $4 held $5 value $0  $7 "
        "left_ms :0 $6 age_ms :0");
    assert_string_equal(say('b', "FORCE-UNLOCK x\n"), "b: *0");
    assert_string_equal(say('b', "LOCKS\n"), "b: *2 :0 *0");
}

/* Does HOLDERS of this lock show this value? */
static bool shows(const char *lock, const char *value)
{
    char line[64], part[64];

    snprintf(line, sizeof line, "HOLDERS %s\n", lock);
    snprintf(part, sizeof part, "held $5 value $%zu %s $7 left_ms", strlen(value), value);
    return strstr(say('c', line), part);
}

static void values_are_shown_as_plain_text(void **state)
{
    (void)state;
    say('a', "CLIENT SETNAME al\n");
    say('b', "PSUBSCRIBE *\n");
    assert_string_equal(
        say('a', "LOCK x VALUE 10.0.0.1:80 TTL 5000\n"),
        "a: *2 $1 x :100\nb: *4 $8 pmessage $1 * $1 x $43 granted solo 1 100 exclusive al\t10.0.0.1:80");
    assert_true(shows("x", "10.0.0.1:80"));
    cluster_pass(&solo, 1000);
    assert_non_null(strstr(say('c', "HOLDERS x\n"), "$7 left_ms :4000 $6 age_ms :1000"));
    say('c', "LOCK t TOKEN secret TTL 2000\n");
    cluster_pass(&solo, 1500);
    assert_non_null(strstr(say('c', "HOLDERS t\n"), "$5 state $5 token $5 value $0  $7 left_ms :15"));
    say('a', "*4\r\n$4\r\nLOCK\r\n$1\r\ny\r\n$5\r\nVALUE\r\n$6\r\na\tb\\\xc3\xa4\r\n");
    assert_true(shows("y", "a\\x09b\\\\\xc3\xa4"));
    assert_string_equal(say('a', "UNLOCK x\n"),
                        "a: +OK\nb: *4 $8 pmessage $1 * $1 x $44 released solo 1 100 exclusive al\t10.0.0.1:80");
    say('a', "LOCK x\n"); /* the value belongs to the request, not to the lock */
    assert_true(shows("x", ""));
}

static void a_value_may_be_a_word_of_the_command(void **state)
{
    (void)state;
    assert_memory_equal(say('a', "LOCK x VALUE TOKEN\n"), "a: *2", 5);
    assert_true(shows("x", "TOKEN"));
    assert_memory_equal(say('a', "LOCK y GROUP token VALUE and\n"), "a: *2", 5);
    assert_true(shows("y", "and"));
    assert_memory_equal(say('a', "LOCK z SLOTS 2 VALUE 1 WAIT 5 TTL 9000 PRIORITY 3 REENTRANT\n"), "a: *2", 5);
    assert_memory_equal(say('a', "LOCK v SHARED VALUE 1 AND w VALUE AND TTL 5000\n"), "a: *4", 5);
    assert_true(shows("v", "1"));
    assert_true(shows("w", "AND"));
}

/* One client keeps at most SESSION_VALUES_MAX bytes of values. */
static void values_are_bounded(void **state)
{
    static char request[VALUE_MAX + 128];
    char value[VALUE_MAX + 2];
    unsigned granted = 0;

    (void)state;
    memset(value, 'v', sizeof value);
    snprintf(request, sizeof request, "LOCK x VALUE %.*s\n", VALUE_MAX + 1, value);
    assert_string_equal(say('a', request), "a: -ERR VALUE takes at most 4096 bytes");
    assert_string_equal(say('a', "LOCK x VALUE\n"), "a: -ERR VALUE takes at most 4096 bytes");
    for (;; granted++) {
        snprintf(request, sizeof request, "LOCK n%u VALUE %.*s\n", granted, VALUE_MAX, value);
        if (memcmp(say('a', request), "a: *2", 5) != 0)
            break;
    }
    assert_int_equal(granted, SESSION_VALUES_MAX / VALUE_MAX);
    assert_memory_equal(say('a', request), "a: -BUSY too many values", 24);
    assert_memory_equal(say('b', request), "b: *2", 5);
    assert_memory_equal(say('a', "LOCK none\n"), "a: *2", 5);
    assert_int_equal(node.values, SESSION_VALUES_MAX + VALUE_MAX);
    say('b', "QUIT\n");
    say('a', "UNLOCK n7\n");
    assert_memory_equal(say('a', request), "a: *2", 5);
    assert_int_equal(node.values, SESSION_VALUES_MAX);
    part('a');
    assert_int_equal(node.values, 0);
}

static void a_lock_is_held_again_by_those_who_ask_for_it(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOCK x REENTRANT\n"), "a: *2 $1 x :100");
    assert_string_equal(say('b', "LOCK x REENTRANT WAIT 1000\n"), "");
    assert_string_equal(say('a', "LOCK x\n"), "a: -ERR this connection holds \"x\" already");
    assert_string_equal(say('a', "LOCK x REENTRANT WAIT 0\n"), "a: *3 $1 x :100 :2");
    assert_string_equal(say('a', "LOCK x REENTRANT SHARED\n"), "a: *3 $1 x :100 :3");
    assert_string_equal(say('a', "LOCK x REENTRANT SLOTS 2\n"),
                        "a: -ERR \"x\": this connection holds it in another mode");
    assert_string_equal(say('a', "LOCK y AND x REENTRANT\n"), "a: -ERR REENTRANT is possible with one name only");
    assert_string_equal(say('a', "UNLOCK x 99\n"), "a: -NOTHELD this connection does not hold \"x\" with fence 99");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: +OK"); /* none else is granted it */
    assert_string_equal(say('a', "UNLOCK x 100\n"), "a: +OK");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: +OK\nb: *2 $1 x :102");
    assert_string_equal(say('a', "UNLOCK x\n"), "a: -NOTHELD this connection does not hold \"x\"");
    /* A loss ends all of it. */
    assert_string_equal(say('b', "LOCK x REENTRANT\n"), "b: *3 $1 x :102 :2");
    say('b', "FORCE-UNLOCK x\n");
    assert_non_null(strstr(say('a', "LOCK x\n"), "a: *2 $1 x :"));
    assert_non_null(strstr(say('b', "UNLOCK x\n"), "b: -LOST "));
    assert_string_equal(say('b', "UNLOCK x\n"), "b: -NOTHELD this connection does not hold \"x\"");
    /* And so does the end of the connection. */
    assert_non_null(strstr(say('a', "LOCK x REENTRANT TTL 50\n"), " :2"));
    say('b', "LOCK x\n");
    assert_non_null(strstr(say('a', "QUIT\n"), "b: *2 $1 x :"));
    /* A client that gives one of two back does not know of the loss: it may believe in the other (I20). */
    say('c', "LOCK y\nLOCK y REENTRANT\nCONFIRM\n");
    say('b', "FORCE-UNLOCK y\nLOCK y\n");
    assert_non_null(strstr(say('c', "UNLOCK y\n"), "c: -LOST "));
    assert_non_null(strstr(say('c', "UNLOCK y\n"), "b: *2 $1 y :"));
    /* Nor does one that asks for it once more. */
    say('c', "FORCE-UNLOCK y\n");
    assert_non_null(strstr(say('b', "LOCK y REENTRANT\n"), "b: -LOST "));
    assert_non_null(strstr(say('b', "LOCK y REENTRANT\n"), "b: *2 $1 y :"));
    say('c', "LOCK s SLOTS 2\n"); /* A slot is not the whole lock. */
    assert_non_null(strstr(say('c', "LOCK s REENTRANT\n"), "-ERR \"s\": this connection holds it in another mode"));
    assert_non_null(strstr(say('c', "LOCK s REENTRANT SHARED\n"), "in another mode"));
    assert_non_null(strstr(say('c', "LOCK s REENTRANT SLOTS 2\n"), "c: *3 $1 s :"));
}

static void some_things_are_done_while_a_lock_waits(void **state)
{
    (void)state;
    say('b', "LOCK x\n");
    say('a', "HELLO 3\n");
    say('a', "LOCK y TTL 10\n");
    assert_string_equal(say('a', "LOCK x\nMEANWHILE CONFIRM\nMEANWHILE RENEW y TTL 20\nPING\nMEANWHILE UNLOCK y\n"),
                        "a: >2 $9 meanwhile :3600000 >2 $9 meanwhile +OK"); /* PING does not say MEANWHILE */
    cluster_pass(&solo, 10);
    assert_string_equal(settle(), "");
    assert_string_equal(say('b', "UNLOCK x\n"), "a: *2 $1 x :102 +PONG >2 $9 meanwhile +OK\nb: +OK");
    assert_string_equal(
        say('a', "MEANWHILE LOCK z\n"),
        "a: >2 $9 meanwhile -ERR what may be done meanwhile is CANCEL, UNLOCK, RENEW, CONFIRM, SESSION END and PING");
    assert_string_equal(say('b', "MEANWHILE PING\n"),
                        "b: -ERR MEANWHILE is answered by news, which version 3 of the protocol has: HELLO 3");
    assert_string_equal(say('b', "CONFIRM\n"), "b: :3600000");
    /* Bytes that are no request are answered in their turn, too. */
    assert_string_equal(say('a', "UNLOCK x\n"), "a: +OK");
    assert_string_equal(say('b', "LOCK x\n"), "b: *2 $1 x :104");
    assert_string_equal(say('a', "LOCK x\n*2\r\n$9\r\nMEANWHILE\r\n:1\r\n"), "");
    assert_string_equal(say('b', "UNLOCK x\n"), "a: *2 $1 x :106 -ERR a request is an array of strings\nb: +OK");
}

static uint64_t chance(void *user_data)
{
    static uint64_t dice = 1;

    (void)user_data;
    return test_random(&dice);
}

/* Requests that were sent before the client knew are not executed. */
static void a_connection_whose_session_was_resumed_elsewhere_is_heard_no_more(void **state)
{
    char resume[80] = "SESSION RESUME ";

    (void)state;
    node.conf.random = chance;
    say('a', "HELLO 3\n");
    say('b', "LOCK x\n");
    strncat(resume, strchr(say('a', "SESSION KEEP 60000\n"), ' ') + 5, 32); /* "a: $32 .." */
    strcat(resume, "\n");
    assert_string_equal(say('a', "LOCK x\nMEANWHILE SESSION KEEP 5000\nPING\nLOCK y\n"),
                        "a: >2 $9 meanwhile -ERR of SESSION, only END may be said while a command waits");
    say('c', resume);
    assert_non_null(strstr(heard, "a: >2 $7 session $"));
    assert_non_null(strstr(heard, "c: *2 $7 RESUMED *0"));
    assert_null(strstr(heard, "PONG"));
    assert_string_equal(say('b', "UNLOCK x\n"), "b: +OK");
    assert_string_equal(say('b', "LOCK x AND y WAIT 0\n"), "b: *4 $1 x :102 $1 y :102");
}

static const char *short_of_memory(void *user_data)
{
    (void)user_data;
    return "this member is short of memory";
}

static void a_member_without_memory_refuses_what_takes_some(void **state)
{
    (void)state;
    say('a', "LOCK x\n");
    node.conf.is_short = short_of_memory;
    assert_string_equal(say('a', "LOCK y\nCONFIRM x\nUNLOCK x\n"),
                        "a: -BUSY this member is short of memory :3600000 +OK");
}

static void nobody_makes_us_keep_endless_answers(void **state)
{
    (void)state;
    user[0].stuck = true;
    for (unsigned k = 0; k < 1000; k++)
        say('a', "COMMAND\n");
    assert_in_range(bytes_len(&user[0].end->out), CLIENT_OUTPUT_MAX, CLIENT_OUTPUT_MAX + 8192);
}

static void nobody_makes_us_keep_what_comes_behind_the_end(void **state)
{
    (void)state;
    user[0].stuck = true;
    say('a', "QUIT\n");
    say('a', "PING\n");
    assert_non_null(user[0].end);
    assert_int_equal(bytes_len(&user[0].end->in), 0);
}

/* The words behind these are those of an earlier request. */
static void scripts_have_all_their_arguments(void **state)
{
    static const char wrong[] =
        "a: -ERR the arguments of this script are a token and, unless it releases, milliseconds";

    (void)state;
    say('a', "EVALSHA a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf 1 x t 20000\n");
    assert_string_equal(say('a', "EVALSHA a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf 1 x t\n"), wrong);
    assert_string_equal(say('a', "EVALSHA a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf 1 x t 0\n"), wrong);
    assert_string_equal(say('a', "EVALSHA a4e8783852e6b949f9ef3a97212805108459a890 1 x t 20000\n"), wrong);
}

static void subscribers_hear_what_happens(void **state)
{
    (void)state;
    say('b', "CLIENT SETNAME bob\n");
    say('c', "CLIENT SETNAME cy\n");
    assert_string_equal(say('a', "SUBSCRIBE x y\n"), "a: *3 $9 subscribe $1 x :1 *3 $9 subscribe $1 y :2");
    assert_string_equal(say('b', "LOCK x TTL 5\n"),
                        "a: *3 $7 message $1 x $32 granted solo 2 100 exclusive bob\nb: *2 $1 x :100");
    assert_string_equal(say('c', "LOCK x\n"), "a: *3 $7 message $1 x $29 waiting solo 3 0 exclusive cy");
    cluster_pass(&solo, 5);
    assert_string_equal(settle(), "a: *3 $7 message $1 x $29 lost solo 2 100 exclusive bob *3 $7 message $1 x $31 "
                                  "granted solo 3 102 exclusive cy\nc: *2 $1 x :102");
    assert_string_equal(say('c', "UNLOCK x\n"), "a: *3 $7 message $1 x $32 released solo 3 102 exclusive cy\nc: +OK");
    assert_string_equal(say('b', "LOCK z\n"), "b: *2 $1 z :104");
    assert_string_equal(say('a', "LOCK z\n"), "a: -ERR a client that has subscribed may only (P)SUBSCRIBE, "
                                              "(P)UNSUBSCRIBE, PING and QUIT");
    assert_string_equal(say('a', "PING\n"), "a: *2 $4 pong $0");
    assert_string_equal(say('a', "UNSUBSCRIBE x\n"), "a: *3 $11 unsubscribe $1 x :1");
    assert_string_equal(say('a', "UNSUBSCRIBE\n"), "a: *3 $11 unsubscribe $1 y :0");
    assert_string_equal(say('a', "UNSUBSCRIBE\n"), "a: *3 $11 unsubscribe *-1 :0");
    assert_string_equal(say('a', "PING\n"), "a: +PONG");
}

static void patterns_and_news_of_version_3(void **state)
{
    (void)state;
    say('a', "HELLO 3\n");
    assert_string_equal(say('a', "PSUBSCRIBE db-*\n"), "a: >3 $10 psubscribe $4 db-* :1");
    assert_string_equal(say('a', "LOCK db-1\n"), "a: *2 $4 db-1 :100 >4 $8 pmessage $4 db-* $4 db-1 $29 granted solo 1 "
                                                 "100 exclusive");
    assert_string_equal(part('a'), "");
    assert_int_equal(node.admin.watch.count, 0);
    assert_int_equal(node.admin.watch.note_count, 0);
}

static void a_subscriber_that_does_not_read_is_cut_off(void **state)
{
    size_t most = 0;

    (void)state;
    say('a', "PSUBSCRIBE *\n");
    user[0].stuck = true;
    for (unsigned k = 0; k < 20000 && user[0].end; k++) {
        most = bytes_len(&user[0].end->out);
        say('b', "LOCK x\nUNLOCK x\n");
    }
    assert_null(user[0].end);
    assert_in_range(most, CLIENT_NEWS_MAX - 512, CLIENT_NEWS_MAX + 512);
}

static void clients_have_names(void **state)
{
    (void)state;
    assert_string_equal(say('a', "CLIENT SETNAME me\n"), "a: +OK");
    assert_string_equal(say('a', "CLIENT GETNAME\n"), "a: $2 me");
    assert_string_equal(say('a', "CLIENT ID\n"), "a: :1");
    assert_string_equal(
        say('a', "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$3\r\na\rb\r\n"),
        "a: -ERR the name of a client is UTF-8, without control characters and marks that change the direction of "
        "text");
    assert_string_equal(say('a', "CLIENT KILL x\n"), "a: -ERR usage: CLIENT SETNAME name | GETNAME | ID");
    assert_string_equal(say('a', "HELLO 3 AUTH a b\n"),
                        "a: -ERR there are no passwords; use the Unix socket, or TLS with the key or a certificate");
    assert_string_equal(say('a', "HELLO 3 AUTH a\n"),
                        "a: -ERR usage: HELLO [protocol [AUTH name password] [SETNAME name] [UNDER locks]]");
}

static void mistakes_are_named(void **state)
{
    (void)state;
    assert_string_equal(say('a', "LOK x\n"), "a: -ERR unknown command \"LOK\"; COMMAND lists all");
    assert_string_equal(say('a', "UNLOCK\n"), "a: -ERR usage: UNLOCK name [fence | TOKEN t]");
    assert_string_equal(say('a', "LOCK x WAIT\n"), "a: -ERR WAIT takes milliseconds, at most 1000000000");
    assert_string_equal(say('a', "LOCK x WAIT -1\n"), "a: -ERR WAIT takes milliseconds, at most 1000000000");
    assert_string_equal(say('a', "LOCK x TTL 0\n"), "a: -ERR TTL takes milliseconds, from 1 to 1000000000");
    assert_string_equal(say('a', "LOCK x SLOTS 257\n"), "a: -ERR SLOTS takes a number from 1 to 256");
    assert_string_equal(say('a', "LOCK x PRIORITY 10\n"), "a: -ERR PRIORITY takes a number from 0 to 9");
    assert_string_equal(say('a', "LOCK x SHARED SLOTS 2\n"), "a: -ERR only one of SHARED, GROUP and SLOTS is possible");
    assert_string_equal(
        say('a', "LOCK x FOREVER 2\n"),
        "a: -ERR usage: LOCK name [SHARED | GROUP g | SLOTS k | TOKEN t] [VALUE v] [AND name [SHARED | GROUP g | "
        "SLOTS k] [VALUE v]]... [WAIT ms] [TTL ms] [PRIORITY n] [REENTRANT]");
    assert_string_equal(say('a', "HELLO 4\n"), "a: -NOPROTO this server speaks versions 2 and 3 of the protocol");
    assert_string_equal(say('a', "*2\r\n$4\r\nLOCK\r\n$0\r\n\r\n"), "a: -ERR a name has 1 to 255 bytes");
    assert_string_equal(say('a', "PING\n"), "a: +PONG"); /* none of these ends the connection */
    assert_non_null(user[0].end);
    assert_string_equal(say('a', "*1\r\n:4\r\n"), "a: -ERR a request is an array of strings");
    assert_null(user[0].end);
    assert_string_equal(say('b', "*999\r\n"), "b: -ERR a request has at most 256 words");
    assert_null(user[1].end);
}

static void say_with_name(const char *format, const char *name, size_t len)
{
    char text[512];
    int head = snprintf(text, sizeof text, format, len);

    memcpy(text + head, name, len);
    memcpy(text + head + len, "\r\n", 3);
    cluster_tell(&solo, 0,
                 (struct node_input){.type = NODE_CLIENT_BYTES,
                                     .client = user[0].end,
                                     .bytes = (const uint8_t *)text,
                                     .len = (size_t)head + len + 2});
    settle();
}

/* Names are shown on terminals and pages, and compared by people. */
static void names_are_plain_text(void **state)
{
    static const struct {
        const char *name;
        size_t len;
        bool plain;
    } names[] = {
        {"prod", 4, true},
        {"Gr\xc3\xbc\xc3\x9f", 6, true},           /* Gr, u with dots, sharp s */
        {"\xe6\x97\xa5\xf0\x9f\x94\x92", 7, true}, /* day, a padlock */
        {"prod\0x", 6, false},
        {"a\nb", 3, false},
        {"a\x7f", 2, false},
        {"a\xc2\x9b[2J", 6, false}, /* C1: the same to some terminals as ESC [ */
        {"a\xe2\x80\xae"
         "b",
         5, false},                      /* from right to left */
        {"a\xe2\x81\xa6", 4, false},     /* an isolate */
        {"a\xd8\x9c", 3, false},         /* Arabic letter mark */
        {"a\xff", 2, false},             /* no UTF-8 */
        {"a\xc3", 2, false},             /* cut short */
        {"a\xc0\x80", 3, false},         /* too long for what it is */
        {"a\xed\xa0\x80", 4, false},     /* half of a pair */
        {"a\xf4\x90\x80\x80", 5, false}, /* beyond the last */
    };
    static const char *const formats[] = {
        "*2\r\n$4\r\nLOCK\r\n$%zu\r\n",
        "*2\r\n$6\r\nUNLOCK\r\n$%zu\r\n",
        "*2\r\n$7\r\nCONFIRM\r\n$%zu\r\n",
        "*2\r\n$7\r\nHOLDERS\r\n$%zu\r\n",
        "*2\r\n$5\r\nLOCKS\r\n$%zu\r\n",
        "*4\r\n$4\r\nLOCK\r\n$1\r\ng\r\n$5\r\nGROUP\r\n$%zu\r\n",
        "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$%zu\r\n",
        "*2\r\n$10\r\nPSUBSCRIBE\r\n$%zu\r\n",
    };

    (void)state;
    for (unsigned f = 0; f < sizeof formats / sizeof formats[0]; f++)
        for (unsigned k = 0; k < sizeof names / sizeof names[0]; k++) {
            say_with_name(formats[f], names[k].name, names[k].len);
            assert_int_equal(!strstr(heard, " is UTF-8, without control characters"), names[k].plain);
            say('a', "UNLOCK g\n");
        }
}

static void a_long_name_of_a_client_is_cut_between_characters(void **state)
{
    char line[300] = "CLIENT SETNAME ";

    (void)state;
    for (unsigned k = 0; k < 50; k++)
        strcat(line, "\xc3\xbc");
    strcat(line, "\n");
    assert_string_equal(say('a', line), "a: +OK");
    assert_int_equal(strlen(user[0].end->session->who), SESSION_WHO_MAX - 1);
}

/* As Redis does: a page in a browser could otherwise send commands in the body of a form. */
static void a_browser_is_hung_up_on(void **state)
{
    (void)state;
    assert_string_equal(say('a', "POST / HTTP/1.1\r\nX: y\r\n\r\nLOCK x\r\n"), "");
    assert_null(user[0].end);
    assert_string_equal(say('b', "LOCKS\n"), "b: *2 :0 *0");
}

static void nobody_makes_us_keep_an_endless_request(void **state)
{
    char long_text[RESP_REQUEST_MAX + 1];

    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[RESP_REQUEST_MAX] = '\0';
    assert_string_equal(say('a', long_text), "a: -ERR a request has at most 16384 bytes");
    assert_null(user[0].end);
    assert_string_equal(say('b', "*2\r\n$4\r\nPING\r\n$16384\r\n"), "");
    assert_string_equal(say('b', long_text), "b: -ERR a request has at most 16384 bytes");
}

static void nobody_makes_us_keep_endless_requests(void **state)
{
    char many[4096];
    unsigned sent = 0;

    (void)state;
    for (size_t k = 0; k < sizeof many; k++)
        many[k] = "PING\n"[k % 5];
    many[4095] = '\0';
    say('a', "LOCK x\n");
    say('b', "LOCK x\n");
    while (user[1].end && sent++ < 1000)
        say('b', many);
    assert_string_equal(heard, "b: -ERR too much was sent behind a command that waits");
    assert_in_range(sent, CLIENT_INPUT_MAX / 4096, CLIENT_INPUT_MAX / 4096 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lock_is_granted_released_and_handed_over, start, stop),
        cmocka_unit_test_setup_teardown(commands_behind_a_waiting_one_wait, start, stop),
        cmocka_unit_test_setup_teardown(a_wait_is_cancelled, start, stop),
        cmocka_unit_test_setup_teardown(a_wait_has_an_end, start, stop),
        cmocka_unit_test_setup_teardown(a_lease_runs_out_and_is_told, start, stop),
        cmocka_unit_test_setup_teardown(a_confirmation_does_not_pass_over_a_loss, start, stop),
        cmocka_unit_test_setup_teardown(nobody_makes_us_keep_endless_losses, start, stop),
        cmocka_unit_test_setup_teardown(a_fence_says_which_lock_is_meant, start, stop),
        cmocka_unit_test_setup_teardown(what_is_lost_lingers_until_its_client_knows, start, stop),
        cmocka_unit_test_setup_teardown(what_is_lost_does_not_linger_for_ever, start, stop),
        cmocka_unit_test_setup_teardown(what_was_vouched_for_lingers_when_a_connection_breaks, start, stop),
        cmocka_unit_test_setup_teardown(what_was_not_vouched_for_is_released_when_a_connection_breaks, start, stop),
        cmocka_unit_test_setup_teardown(a_remote_client_that_does_not_confirm_loses_its_locks, start, stop),
        cmocka_unit_test_setup_teardown(kinds_do_not_mix, start, stop),
        cmocka_unit_test_setup_teardown(what_takes_an_operator_is_refused_to_others, start, stop),
        cmocka_unit_test_setup_teardown(holders_are_shown_and_evicted, start, stop),
        cmocka_unit_test_setup_teardown(a_lock_is_held_again_by_those_who_ask_for_it, start, stop),
        cmocka_unit_test_setup_teardown(some_things_are_done_while_a_lock_waits, start, stop),
        cmocka_unit_test_setup_teardown(a_connection_whose_session_was_resumed_elsewhere_is_heard_no_more, start, stop),
        cmocka_unit_test_setup_teardown(a_member_without_memory_refuses_what_takes_some, start, stop),
        cmocka_unit_test_setup_teardown(nobody_makes_us_keep_endless_answers, start, stop),
        cmocka_unit_test_setup_teardown(nobody_makes_us_keep_what_comes_behind_the_end, start, stop),
        cmocka_unit_test_setup_teardown(scripts_have_all_their_arguments, start, stop),
        cmocka_unit_test_setup_teardown(values_are_shown_as_plain_text, start, stop),
        cmocka_unit_test_setup_teardown(a_value_may_be_a_word_of_the_command, start, stop),
        cmocka_unit_test_setup_teardown(values_are_bounded, start, stop),
        cmocka_unit_test_setup_teardown(subscribers_hear_what_happens, start, stop),
        cmocka_unit_test_setup_teardown(patterns_and_news_of_version_3, start, stop),
        cmocka_unit_test_setup_teardown(a_subscriber_that_does_not_read_is_cut_off, start, stop),
        cmocka_unit_test_setup_teardown(clients_have_names, start, stop),
        cmocka_unit_test_setup_teardown(mistakes_are_named, start, stop),
        cmocka_unit_test_setup_teardown(names_are_plain_text, start, stop),
        cmocka_unit_test_setup_teardown(a_long_name_of_a_client_is_cut_between_characters, start, stop),
        cmocka_unit_test_setup_teardown(a_browser_is_hung_up_on, start, stop),
        cmocka_unit_test_setup_teardown(nobody_makes_us_keep_an_endless_request, start, stop),
        cmocka_unit_test_setup_teardown(nobody_makes_us_keep_endless_requests, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
