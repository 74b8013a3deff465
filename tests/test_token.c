/* Locks that a token owns (node/token.h), among three members in one process: every member knows them
 * before a client is told (I33), and a token owns a lock alone (I16). Views are installed by hand. */
#include "test.h"

#include "alg/list.h"
#include "cluster.h"
#include "member/owner.h"

#include <stdlib.h>

enum { MEMBERS = 3, CLIENTS = 6 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct cluster three = {.n = MEMBERS, .node = node};
static struct cluster_client user[CLIENTS]; /* user k is at member k % MEMBERS */
static struct view now_view;
static uint64_t now_ms;

/* Where the policy gives locks two slots. */
static struct lock_policy pools = {.pattern = "pool*", .kind = 2};

static void start(void)
{
    pools.algorithm = alg_find("suzuki-kasami");
    pools.slots_algorithm = alg_find("central");
    now_ms = 1;
    memset(three.pipe, 0, sizeof three.pipe);
    for (unsigned i = 0; i < MEMBERS; i++)
        members_start(&node[i],
                      (struct node_conf){.summary = "same",
                                         .algorithm = alg_find("suzuki-kasami"),
                                         .slots_algorithm = alg_find("central"),
                                         .policy = &pools,
                                         .policies = 1},
                      names, MEMBERS, i);
    cluster_pass(&three, now_ms);
    now_view = node[0].view;
    cluster_connect_all(&three);
    for (unsigned k = 0; k < CLIENTS; k++)
        cluster_come(&three, &user[k], k % MEMBERS);
    cluster_settle(&three);
}

static void stop(void)
{
    for (unsigned k = 0; k < CLIENTS; k++)
        bytes_free(&user[k].heard);
    cluster_end(&three);
}

static const char *ask(unsigned k, const char *words)
{
    char line[300];

    bytes_free(&user[k].heard);
    snprintf(line, sizeof line, "%s\n", words);
    cluster_say(&three, &user[k], line);
    cluster_settle(&three);
    return cluster_heard(&user[k]);
}

/* All clients ask at once, and each is answered so. */
static void all_ask(const char *words, const char *answer)
{
    for (unsigned k = 0; k < CLIENTS; k++) {
        bytes_free(&user[k].heard);
        cluster_say(&three, &user[k], words);
    }
    cluster_settle(&three);
    for (unsigned k = 0; k < CLIENTS; k++)
        assert_string_equal(cluster_heard(&user[k]), answer);
}

static uint64_t fence_of(const char *answer)
{
    const char *at = strchr(answer, ':');

    return at ? strtoull(at + 1, NULL, 10) : 0;
}

static void pass(uint64_t ms)
{
    now_ms += ms;
    cluster_pass(&three, now_ms);
    cluster_settle(&three);
}

/* The next view, without these members, is installed at these. */
static void install(unsigned without, unsigned at)
{
    now_view.number++;
    for (unsigned i = 0; i < MEMBERS; i++) {
        uint64_t incarnation = without & 1u << i ? 0 : node[i].self.incarnation;

        if (incarnation != now_view.member[i].incarnation)
            now_view.member[i].since = now_view.number;
        now_view.member[i].incarnation = incarnation;
    }
    for (unsigned i = 0; i < MEMBERS; i++)
        if (at & 1u << i) {
            node_install(&node[i], &now_view);
            cluster_tell(&three, i, (struct node_input){.type = NODE_TIME});
        }
}

/* The next view, without these members. */
static void exclude(unsigned set)
{
    install(set, ((1u << MEMBERS) - 1) & ~set);
    cluster_settle(&three);
}

static void a_token_owns_a_lock_at_every_member(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = fence_of(ask(0, "LOCK x TOKEN t TTL 10000"));
    assert_true(fence > 0);
    assert_string_equal(ask(1, "LOCK x TOKEN u TTL 10000 WAIT 0"), "*-1 ");
    assert_string_equal(ask(4, "LOCK x WAIT 0"), "*-1 ");
    assert_string_equal(ask(1, "UNLOCK x TOKEN u"), "-NOTHELD this token does not own \"x\" ");
    assert_string_equal(ask(1, "RENEW x TOKEN u TTL 5"), "-NOTHELD this token does not own \"x\" ");
    assert_string_equal(ask(1, "RENEW x TOKEN t TTL 20000"), "+OK ");
    assert_int_equal(fence_of(ask(2, "LOCK x TOKEN t TTL 1000")), fence); /* it has it */
    assert_string_equal(ask(1, "UNLOCK x"), "-NOTHELD this connection does not hold \"x\" ");
    assert_string_equal(ask(2, "UNLOCK x TOKEN t"), "+OK ");
    assert_string_equal(ask(1, "UNLOCK x TOKEN t"), "-NOTHELD this token does not own \"x\" ");
    assert_true(fence_of(ask(1, "LOCK x TOKEN u TTL 1 WAIT 0")) > fence);
    stop();
}

/* A token owns a lock alone: there is one such session for a name. So it gets none of the slots that a policy gives to those that say nothing (I16),
 * and no second token can get another. */
static void a_token_owns_no_slot(void **state)
{
    static const char refusal[] =
        "-WRONGKIND \"pool\" is a lock with 2 slots; ask for it with SLOTS 2 (dibs lock --slots 2) ";

    (void)state;
    start();
    assert_string_equal(ask(0, "LOCK pool TOKEN t TTL 10000 WAIT 1"), refusal);
    assert_string_equal(ask(1, "SET pool u NX PX 10000"), refusal);
    for (unsigned k = 0; k < 2; k++) { /* two tokens at once, before either member has heard of the other */
        bytes_free(&user[k].heard);
        cluster_say(&three, &user[k], k ? "LOCK pool TOKEN u TTL 10000\n" : "LOCK pool TOKEN t TTL 10000\n");
    }
    cluster_settle(&three);
    assert_true(!fence_of(cluster_heard(&user[0])) || !fence_of(cluster_heard(&user[1])));
    assert_true(fence_of(ask(0, "LOCK pool")) > 0); /* a slot */
    assert_true(fence_of(ask(1, "LOCK pool WAIT 1000")) > 0);
    assert_string_equal(ask(2, "LOCK pool TOKEN t TTL 10000 WAIT 0"), refusal);
    stop();
}

static void a_lock_of_a_token_outlives_its_connection_until_its_ttl(void **state)
{
    (void)state;
    start();
    assert_true(fence_of(ask(0, "LOCK x TOKEN t TTL 1000")) > 0);
    cluster_go(&three, &user[0], true);
    assert_string_equal(ask(1, "LOCK x"), "");
    pass(1000);
    assert_string_equal(cluster_heard(&user[1]), "");
    pass(120); /* clocks may differ */
    assert_true(fence_of(cluster_heard(&user[1])) > 0);
    assert_string_equal(ask(2, "RENEW x TOKEN t TTL 5"), "-NOTHELD this token does not own \"x\" ");
    stop();
}

static void a_lock_of_a_token_outlives_its_member(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = fence_of(ask(0, "LOCK x TOKEN t TTL 1000"));
    pass(900);
    assert_string_equal(ask(1, "RENEW x TOKEN t TTL 5000"), "+OK ");
    assert_string_equal(ask(1, "LOCK x"), "");
    exclude(1);
    pass(5000); /* the new owner knows the new TTL */
    assert_string_equal(cluster_heard(&user[1]), "");
    assert_string_equal(ask(2, "RENEW x TOKEN t TTL 100"), "+OK ");
    assert_string_equal(ask(2, "UNLOCK x TOKEN u"), "-NOTHELD this token does not own \"x\" ");
    assert_string_equal(ask(2, "UNLOCK x TOKEN t"), "+OK ");
    assert_true(fence_of(cluster_heard(&user[1])) > fence);
    stop();
}

/* The token t releases a lock for which u waits at the same member, which dies when one other member has heard of u. Nothing was
 * told to u: the lock is still that of t, at all members. */
static void a_lock_that_was_being_passed_on_stays_with_its_token(void **state)
{
    uint64_t fence;

    (void)state;
    for (unsigned heard = 1; heard < MEMBERS; heard++) {
        start();
        assert_true(fence_of(ask(1, "LOCK x TOKEN s TTL 60000")) > 0);
        ask(0, "LOCK x TOKEN t TTL 60000 WAIT 60000");
        ask(3, "LOCK x TOKEN u TTL 60000 WAIT 60000");
        assert_string_equal(ask(1, "UNLOCK x TOKEN s"), "+OK ");
        fence = fence_of(cluster_heard(&user[0]));
        assert_true(fence > 0);
        bytes_free(&user[0].heard);
        cluster_say(&three, &user[0], "UNLOCK x TOKEN t\n");
        assert_string_equal(cluster_heard(&user[0]), "+OK ");
        cluster_carry(&three, 0, heard, SIZE_MAX);
        assert_string_equal(cluster_heard(&user[3]), "");
        for (unsigned k = 1; k < MEMBERS; k++)
            bytes_free(&three.pipe[0][k]);
        exclude(1);
        for (unsigned k = 1; k < MEMBERS; k++)
            assert_string_equal(ask(k, "RENEW x TOKEN u TTL 5"), "-NOTHELD this token does not own \"x\" ");
        assert_int_equal(fence_of(ask(1, "LOCK x TOKEN t TTL 60000")), fence);
        assert_string_equal(ask(2, "UNLOCK x TOKEN t"), "+OK ");
        assert_true(fence_of(ask(1, "LOCK x TOKEN u TTL 5 WAIT 0")) > 0);
        stop();
    }
}

static void a_lock_of_a_token_ends_with_its_ttl_at_the_next_owner(void **state)
{
    (void)state;
    start();
    assert_true(fence_of(ask(0, "LOCK x TOKEN t TTL 1000")) > 0);
    assert_string_equal(ask(1, "LOCK x"), "");
    exclude(1);
    pass(1000);
    assert_string_equal(cluster_heard(&user[1]), "");
    pass(200);
    assert_true(fence_of(cluster_heard(&user[1])) > 0);
    assert_int_equal(node[1].keep.count + node[2].keep.count, 0);
    stop();
}

/* ant is lost, the next owner has opened the view and gives the lock another token, and the third member knows of neither when ant comes
 * back. It reports to ant what it knows, behind what the owner has told ant. */
static void a_late_report_does_not_bring_a_former_token_back(void **state)
{
    unsigned owner, other;

    (void)state;
    start();
    assert_string_equal(ask(0, "SET x b NX PX 60000"), "+OK ");
    install(1, 7);
    owner = view_find(&now_view, owner_choose(&now_view, token_id("x", 1).high));
    other = MEMBERS - owner;
    cluster_carry(&three, owner, other, SIZE_MAX);
    cluster_carry(&three, other, owner, SIZE_MAX);
    assert_true(node_is_open(&node[owner]) && !node_is_open(&node[other]));
    cluster_say(&three, &user[owner], "SET x a XX KEEPTTL\n");
    for (unsigned k = 1; k < MEMBERS; k++) {
        cluster_connect(&three, 0, k);
        while (cluster_carry(&three, 0, k, SIZE_MAX) + cluster_carry(&three, k, 0, SIZE_MAX))
            ;
    }
    install(0, 7);
    cluster_carry(&three, owner, 0, SIZE_MAX);
    cluster_carry(&three, other, 0, SIZE_MAX);
    cluster_settle(&three);
    assert_string_equal(cluster_heard(&user[owner]), "+OK ");
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_string_equal(ask(i, "GET x"), "$1 a ");
    stop();
}

/* While the view changes, a token asks again for the lock that it has. It does not wait for itself. */
static void a_token_gets_its_lock_again_when_the_view_has_opened(void **state)
{
    uint64_t fence;

    (void)state;
    start();
    fence = fence_of(ask(0, "LOCK x TOKEN t TTL 60000"));
    install(1, 6);
    cluster_say(&three, &user[1], "LOCK x TOKEN t TTL 60000\n");
    cluster_say(&three, &user[2], "LOCK x TOKEN t TTL 60000 WAIT 0\n");
    cluster_settle(&three);
    assert_int_equal(fence_of(cluster_heard(&user[1])), fence);
    assert_int_equal(fence_of(cluster_heard(&user[2])), fence);
    stop();
}

/* The owner is gone before it has answered: the next one is asked. */
static void what_an_owner_has_not_answered_the_next_one_is_asked(void **state)
{
    (void)state;
    start();
    assert_true(fence_of(ask(0, "LOCK x TOKEN t TTL 1000")) > 0);
    cluster_say(&three, &user[1], "UNLOCK x TOKEN t\n");
    assert_string_equal(cluster_heard(&user[1]), "");
    bytes_consume(&three.pipe[1][0], bytes_len(&three.pipe[1][0]));
    exclude(1);
    assert_string_equal(cluster_heard(&user[1]), "+OK ");
    assert_true(fence_of(ask(2, "LOCK x WAIT 0")) > 0);
    stop();
}

static void a_grant_is_told_when_all_members_have_the_token(void **state)
{
    (void)state;
    start();
    ask(0, "LOCK x TOKEN t TTL 1000");
    ask(0, "UNLOCK x TOKEN t");
    cluster_say(&three, &user[0], "LOCK x TOKEN t TTL 1000\n"); /* ant is inside at once */
    while (cluster_carry(&three, 0, 1, SIZE_MAX) + cluster_carry(&three, 1, 0, SIZE_MAX))
        ;
    assert_string_equal(cluster_heard(&user[0]), "");
    cluster_settle(&three);
    assert_true(fence_of(cluster_heard(&user[0])) > 0);
    cluster_say(&three, &user[0], "RENEW x TOKEN t TTL 2000\n");
    while (cluster_carry(&three, 0, 1, SIZE_MAX) + cluster_carry(&three, 1, 0, SIZE_MAX))
        ;
    assert_string_equal(cluster_heard(&user[0]), "");
    cluster_settle(&three);
    assert_string_equal(cluster_heard(&user[0]), "+OK ");
    stop();
}

/* Two clients with the same token extend it, one after the other. The second extension makes nothing longer, but relies on the first, of which
 * no other member knows yet: if the owner is lost now, the next one counts the TTL of before. */
static void an_extension_is_told_when_all_members_know_of_those_before(void **state)
{
    static const char *const second[] = {"RENEW x TOKEN t TTL 60000\n", "RENEW x TOKEN t TTL 50000\n",
                                         "LOCK x TOKEN t TTL 60000\n"};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        start();
        assert_true(fence_of(ask(0, "LOCK x TOKEN t TTL 1000")) > 0);
        bytes_free(&user[0].heard);
        cluster_say(&three, &user[0], "RENEW x TOKEN t TTL 60000\n");
        cluster_say(&three, &user[3], second[k]);
        assert_string_equal(cluster_heard(&user[0]), "");
        assert_string_equal(cluster_heard(&user[3]), "");
        cluster_settle(&three);
        assert_string_equal(cluster_heard(&user[0]), "+OK ");
        assert_true(k == 2 ? fence_of(cluster_heard(&user[3])) > 0 : strcmp(cluster_heard(&user[3]), "+OK ") == 0);
        exclude(1);
        assert_string_equal(ask(1, "LOCK x"), "");
        pass(k == 1 ? 50000 : 60000);
        assert_string_equal(cluster_heard(&user[1]), "");
        stop();
    }
}

/* A record has 32 bits for a TTL. Time that is added again and again does not exceed that: else the next owner would count what is left of it, or for
 * ever. */
static void a_ttl_to_which_time_is_added_has_a_limit(void **state)
{
    static const char adds[] = "EVALSHA a4e8783852e6b949f9ef3a97212805108459a890 1 x t 1000000000 0";

    (void)state;
    start();
    assert_string_equal(ask(0, "SET x t NX PX 294967396"), "+OK ");
    for (unsigned k = 0; k < 4; k++) /* 2^32 ms and 100 in all */
        assert_string_equal(ask(k % MEMBERS, adds), ":0 ");
    assert_string_equal(ask(1, "EVALSHA a4e8783852e6b949f9ef3a97212805108459a890 1 x t 600000000 0"), ":1 ");
    exclude(1);
    pass(2000);
    assert_string_equal(ask(1, "SET x u NX PX 1000"), "$-1 ");
    assert_true(fence_of(ask(2, "PTTL x")) > 800000000);
    stop();
}

/* The same, and another member's client asks. */
static void an_extension_from_elsewhere_waits_for_those_before(void **state)
{
    (void)state;
    start();
    assert_true(fence_of(ask(0, "LOCK x TOKEN t TTL 1000")) > 0);
    bytes_free(&user[0].heard);
    cluster_say(&three, &user[1], "RENEW x TOKEN t TTL 60000\n");
    cluster_say(&three, &user[0], "RENEW x TOKEN t TTL 60000\n");
    cluster_carry(&three, 1, 0, SIZE_MAX);
    while (cluster_carry(&three, 0, 1, SIZE_MAX) + cluster_carry(&three, 1, 0, SIZE_MAX))
        ; /* cat has not heard of it */
    assert_string_equal(cluster_heard(&user[0]), "");
    assert_string_equal(cluster_heard(&user[1]), "");
    cluster_settle(&three);
    assert_string_equal(cluster_heard(&user[0]), "+OK ");
    assert_string_equal(cluster_heard(&user[1]), "+OK ");
    stop();
}

static void a_client_that_goes_takes_its_request_with_it(void **state)
{
    (void)state;
    start();
    ask(0, "LOCK x");
    ask(1, "LOCK x TOKEN t TTL 1000");
    assert_int_equal(node[1].stats.waiters, 1);
    cluster_go(&three, &user[1], false);
    assert_int_equal(node[1].stats.waiters, 0);
    assert_string_equal(ask(0, "UNLOCK x"), "+OK ");
    assert_true(fence_of(ask(2, "LOCK x TOKEN u TTL 5 WAIT 0")) > 0);
    stop();
}

static void an_operator_sees_and_evicts_a_token(void **state)
{
    (void)state;
    start();
    ask(0, "LOCK x TOKEN t TTL 100000");
    assert_non_null(strstr(ask(1, "HOLDERS x"), "$5 token "));
    ask(1, "FORCE-UNLOCK x");
    assert_true(fence_of(ask(2, "LOCK x WAIT 0")) > 0);
    assert_string_equal(ask(2, "UNLOCK x TOKEN t"), "-NOTHELD this token does not own \"x\" ");
    stop();
}

static void nobody_resumes_the_session_of_a_token(void **state)
{
    char words[80];

    (void)state;
    start();
    ask(0, "LOCK x TOKEN t TTL 100000");
    snprintf(words, sizeof words, "SESSION RESUME %016llx%016llx",
             (unsigned long long)RING_OF(node[0].keep.own.next, struct keep_session, in_own)->id.high,
             (unsigned long long)RING_OF(node[0].keep.own.next, struct keep_session, in_own)->id.low);
    assert_int_equal(strncmp(ask(1, words), "-NOSESSION", 10), 0);
    assert_int_equal(strncmp(ask(0, words), "-NOSESSION", 10), 0);
    stop();
}

static void mistakes_are_named(void **state)
{
    (void)state;
    start();
    assert_string_equal(ask(0, "LOCK x TOKEN t"), "-ERR a lock that a token owns needs a TTL: the end of a connection "
                                                  "does not release it ");
    assert_string_equal(ask(0, "LOCK x SHARED TOKEN t TTL 5"),
                        "-ERR usage: LOCK name TOKEN t TTL ms [WAIT ms] | RENEW name TOKEN t TTL ms | UNLOCK name "
                        "TOKEN t ");
    assert_string_equal(ask(0, "UNLOCK x TOKEN"), "-ERR a token has 1 to 254 bytes ");
    ask(0, "HELLO 3");
    ask(1, "LOCK y");
    ask(0, "LOCK y TOKEN t TTL 5");
    assert_non_null(strstr(ask(0, "MEANWHILE UNLOCK x TOKEN t"), "use another connection"));
    stop();
}

static void redis_libraries_make_locks_by_set(void **state)
{
    char fence[64];

    (void)state;
    start();
    assert_string_equal(ask(0, "SET x t NX EX 10"), "+OK ");
    assert_string_equal(ask(1, "SET x u PX 10000 NX"), "$-1 ");
    assert_string_equal(ask(1, "set x t nx ex 10"), "$-1 "); /* as in Redis, even with the same token */
    assert_string_equal(ask(2, "GET x"), "$1 t ");
    assert_string_equal(ask(2, "EXISTS x y"), ":1 ");
    assert_string_equal(ask(2, "PTTL x"), ":10000 ");
    assert_string_equal(ask(2, "TTL y"), ":-2 ");
    assert_string_equal(ask(2, "PEXPIRE x 20000"), ":1 ");
    assert_string_equal(ask(0, "TTL x"), ":20 ");
    assert_string_equal(ask(2, "SET x v XX PX 5000"), "+OK ");
    assert_string_equal(ask(1, "GET x"), "$1 v ");
    assert_string_equal(ask(1, "SET x w XX KEEPTTL"), "+OK ");
    assert_string_equal(ask(1, "PTTL x"), ":5000 ");
    snprintf(fence, sizeof fence, "%s", ask(1, "GET x:fence"));
    assert_true(strncmp(fence, "$", 1) == 0 && strcmp(fence, "$-1 ") != 0);
    assert_string_equal(ask(1, "GET y:fence"), "$-1 ");
    assert_string_equal(ask(0, "SET x:fence u NX PX 60000"), "+OK "); /* a lock may be called so */
    assert_string_equal(ask(1, "GET x:fence"), "$1 u ");
    assert_string_equal(ask(1, "PEXPIRE x:fence 0"), ":1 ");
    assert_string_equal(ask(1, "GET x:fence"), fence);
    exclude(1);
    assert_string_equal(ask(1, "GET x"), "$1 w ");
    assert_string_equal(ask(1, "DEL y x"), ":1 ");
    assert_string_equal(ask(2, "EXISTS x"), ":0 ");
    assert_string_equal(ask(2, "WAIT 1 0"), ":1 ");
    stop();
}

static void redis_commands_know_no_other_locks(void **state)
{
    (void)state;
    start();
    ask(0, "LOCK x TOKEN t TTL 10000");
    assert_string_equal(ask(1, "GET x"), "$-1 ");
    assert_string_equal(ask(1, "EXISTS x"), ":0 ");
    assert_string_equal(ask(1, "DEL x"), ":0 ");
    assert_string_equal(ask(1, "SET x t NX PX 5"), "$-1 ");
    assert_string_equal(ask(1, "SET y t NX PX 5000"), "+OK ");
    assert_string_equal(ask(1, "UNLOCK y TOKEN t"), "-NOTHELD this token does not own \"y\" ");
    ask(0, "LOCK z");
    assert_string_equal(ask(1, "SET z t NX PX 5000"), "$-1 ");
    assert_string_equal(ask(1, "DEL z"), ":0 ");
    stop();
}

/* As redis-py and node-redlock say them; their digests. */
static void scripts_are_known_by_their_digests(void **state)
{
    (void)state;
    start();
    assert_string_equal(ask(0, "SET x t NX PX 10000"), "+OK ");
    assert_string_equal(ask(1, "EVALSHA a4e8783852e6b949f9ef3a97212805108459a890 1 x u 5000 0"), ":0 ");
    assert_string_equal(ask(1, "EVALSHA a4e8783852e6b949f9ef3a97212805108459a890 1 x t 5000 0"), ":1 ");
    assert_string_equal(ask(1, "PTTL x"), ":15000 ");
    assert_string_equal(ask(1, "EVALSHA a4e8783852e6b949f9ef3a97212805108459a890 1 x t 5000 1"), ":1 ");
    assert_string_equal(ask(1, "PTTL x"), ":5000 ");
    assert_string_equal(ask(2, "EVALSHA c3f8721cbb97f72bc19e972846bd7aaf91901658 1 x u"), ":0 ");
    assert_string_equal(ask(2, "EVALSHA c3f8721cbb97f72bc19e972846bd7aaf91901658 1 x t"), ":1 ");
    assert_string_equal(ask(2, "EVALSHA e950836ed1e694540c503ef9972b8de518044d3b 1 x t"), ":-1 ");
    assert_string_equal(ask(0, "EVALSHA 862f31bf38e9b63ce28d6e9e5143551bb34ef981 1 x t 10000"),
                        "+OK "); /* node-redlock 3 */
    assert_string_equal(ask(1, "EVALSHA 862f31bf38e9b63ce28d6e9e5143551bb34ef981 1 x u 10000"), "$-1 ");
    assert_string_equal(ask(1, "EVALSHA a7aba3bc5d6e99b3003da8b9d80a63b9f4092ecf 1 x t 20000"), ":1 ");
    assert_string_equal(ask(2, "EVALSHA cf0e94b2e9ffc7e04395cf88f7583fc309985910 1 x u"), ":0 ");
    assert_string_equal(ask(2, "EVALSHA cf0e94b2e9ffc7e04395cf88f7583fc309985910 1 x t"), ":1 ");
    assert_string_equal(ask(2, "EVALSHA ffffffffffffffffffffffffffffffffffffffff 1 x t"),
                        "-NOSCRIPT No matching script. Please use EVAL. ");
    assert_string_equal(ask(2, "SCRIPT EXISTS ffffffffffffffffffffffffffffffffffffffff "
                               "C3F8721CBB97F72BC19E972846BD7AAF91901658"),
                        "*2 :0 :1 ");
    assert_non_null(strstr(ask(2, "EVAL return(0) 1 x t"), "are known: redis-py"));
    assert_non_null(strstr(ask(2, "SCRIPT LOAD return(0)"), "are known: redis-py"));
    stop();
}

/* node-redlock: all or none. */
static void several_locks_are_acquired_together(void **state)
{
    static const char acquire[] = "EVALSHA 96da70f7716f27d278a5218544df37fd8b0a5e4c 3 c a b t 10000",
                      release[] = "EVALSHA e4612211c9f8f51c257e26e056b0a654b3187242 3 c a b t",
                      extend[] = "EVALSHA aed6f382e410db8ba7926d4e5e9aab410bf2a78a 3 c a b t 20000";

    (void)state;
    start();
    ask(1, "SET b u NX PX 10000");
    assert_string_equal(ask(0, acquire), ":0 ");
    assert_string_equal(ask(1, "EXISTS a b c"), ":1 ");
    assert_string_equal(ask(0, extend), ":0 ");
    assert_string_equal(ask(2, "DEL b"), ":1 ");
    assert_string_equal(ask(0, acquire), ":3 ");
    assert_string_equal(ask(1, extend), ":3 ");
    assert_string_equal(ask(2, "PTTL a"), ":20000 ");
    assert_string_equal(ask(2, release), ":3 ");
    assert_string_equal(ask(2, release), ":0 ");
    stop();
}

/* The one that has polled for longest is next, whenever the others ask; but not if it has stopped polling. */
static void pollers_are_served_in_turn(void **state)
{
    (void)state;
    start();
    assert_string_equal(ask(0, "SET x t NX PX 10000"), "+OK ");
    for (unsigned k = 0; k < 3; k++) {
        assert_string_equal(ask(1, "SET x u NX PX 10000"), "$-1 ");
        assert_string_equal(ask(2, "SET x v NX PX 10000"), "$-1 ");
        pass(100);
    }
    assert_string_equal(ask(0, "DEL x"), ":1 ");
    assert_string_equal(ask(3, "SET x w NX PX 10000"), "$-1 ");
    assert_string_equal(ask(2, "SET x v NX PX 10000"), "$-1 ");
    assert_string_equal(ask(1, "SET x u NX PX 10000"), "+OK ");
    assert_string_equal(ask(0, "PTTL x"), ":10000 ");
    assert_string_equal(ask(0, "DEL x"), ":1 ");
    pass(400); /* v has not asked since */
    assert_string_equal(ask(3, "SET x w NX PX 10000"), "+OK ");
    assert_int_equal(node[0].stats.waiters + node[1].stats.waiters + node[2].stats.waiters, 0);
    stop();
}

/* As Redisson says them, by their digests: lock, unlock, renew. Its lock counts how often its thread has acquired it. */
#define REDISSON_LOCK "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 x "
#define REDISSON_UNLOCK "EVALSHA 6866459238a13a701d42f4971f12d9f3a50e2442 3 x redisson_lock__channel:{x} latch 0 "

static void a_lock_of_redisson_is_counted(void **state)
{
    (void)state;
    start();
    assert_string_equal(ask(0, REDISSON_LOCK "30000 u:1"), "$-1 ");
    assert_string_equal(ask(1, REDISSON_LOCK "30000 u:2"), ":200 ");
    assert_string_equal(ask(1, REDISSON_LOCK "20000 u:1"), "$-1 ");
    assert_string_equal(ask(2, "HGET x u:1"), "$1 2 ");
    assert_string_equal(ask(2, "PTTL x"), ":20000 ");
    assert_string_equal(ask(2, "HEXISTS x u:2"), ":0 ");
    assert_string_equal(ask(2, "HGET x u:2"), "$-1 ");
    assert_string_equal(ask(2, "EXISTS x"), ":1 ");
    assert_non_null(strstr(ask(2, "GET x"), "-WRONGTYPE"));
    assert_non_null(strstr(ask(2, "GET x:fence"), "$"));
    assert_string_equal(ask(2, "SET x t NX PX 1000"), "$-1 ");
    exclude(1); /* the count is known to the next owner */
    assert_string_equal(ask(1, REDISSON_UNLOCK "30000 u:2 publish 100"), "$-1 ");
    assert_string_equal(ask(1, REDISSON_UNLOCK "30000 u:1 publish 100"), ":0 ");
    assert_string_equal(ask(2, "PTTL x"), ":30000 ");
    assert_string_equal(ask(2, REDISSON_LOCK "30000 u:2"), ":200 ");
    assert_string_equal(ask(2, "EVALSHA 8e19a1ddbdee9138df9f32a480c57addab4353d1 1 x 10000 u:1"), ":1 ");
    assert_string_equal(ask(2, "EVALSHA 8e19a1ddbdee9138df9f32a480c57addab4353d1 1 x 10000 u:2"), ":0 ");
    assert_string_equal(ask(1, "PTTL x"), ":10000 ");
    assert_string_equal(ask(1, "HGET x u:1"), "$1 1 ");
    assert_string_equal(ask(2, REDISSON_UNLOCK "30000 u:1 publish 100"), ":1 ");
    assert_string_equal(ask(2, REDISSON_UNLOCK "30000 u:1 publish 100"), "$-1 ");
    assert_string_equal(ask(1, "EXISTS x"), ":0 ");
    stop();
}

/* A program may ask in the name of one thread several times at once (lockAsync). No member may count from what it knew before another one
 * has asked the owner. */
static void what_one_thread_asks_at_several_members_at_once_is_counted(void **state)
{
    (void)state;
    start();
    assert_string_equal(ask(0, REDISSON_LOCK "30000 u:1"), "$-1 ");
    all_ask(REDISSON_LOCK "30000 u:1\n", "$-1 ");
    assert_string_equal(ask(1, "HGET x u:1"), "$1 7 ");
    all_ask(REDISSON_UNLOCK "30000 u:1 publish 100\n", ":0 ");
    assert_string_equal(ask(1, "HGET x u:1"), "$1 1 ");
    cluster_say(&three, &user[1], REDISSON_LOCK "30000 u:1\n"); /* the last is given up meanwhile */
    assert_string_equal(ask(2, REDISSON_UNLOCK "30000 u:1 publish 100"), ":0 ");
    assert_string_equal(ask(0, REDISSON_UNLOCK "30000 u:1 publish 100"), ":1 ");
    stop();
}

/* The view ends when the owner has done what it was asked, and its answer has not come: the same is asked again, and is counted once. */
static void what_is_asked_again_in_the_next_view_is_counted_once(void **state)
{
    (void)state;
    start();
    assert_string_equal(ask(0, REDISSON_LOCK "30000 u:1"), "$-1 ");
    cluster_say(&three, &user[1], REDISSON_LOCK "30000 u:1\n");
    cluster_carry(&three, 1, 0, SIZE_MAX);
    exclude(1 << 2);
    assert_string_equal(cluster_heard(&user[1]), "$-1 ");
    assert_string_equal(ask(1, "HGET x u:1"), "$1 2 ");
    stop();
}

static void locks_of_redisson_are_renewed_together(void **state)
{
    static const char renew[] = "EVALSHA 6a3d31570dc6f4b0bd32bcdc8e75667747c6f635 3 z x y 50000 u:1 u:2 u:3";

    (void)state;
    start();
    ask(0, "EVALSHA dad0f8d619e548e04f21fb48d50be5034df3adae 1 x 30000 u:2");
    ask(1, "EVALSHA 9401052d872adfd0179ef8c8e8c028512707629a 1 y 30000 u:1");
    ask(2, "EVALSHA 149c5a8bf18676fd99e9e6e24923bd64d9b62f94 1 z 30000 u:1");
    assert_string_equal(ask(0, renew), "*3 :1 :1 :0 "); /* y is of another thread */
    assert_string_equal(ask(0, "PTTL x"), ":50000 ");
    assert_string_equal(ask(0, "PTTL y"), ":30000 ");
    assert_string_equal(ask(1, "EVALSHA 605e338249a7a1d40df83b04f7658354f883b41b 2 y channel 0 publish"), ":1 ");
    assert_string_equal(ask(1, "EVALSHA 605e338249a7a1d40df83b04f7658354f883b41b 2 y channel 0 publish"), ":0 ");
    stop();
}

static void redisson_is_told_when_a_lock_is_free(void **state)
{
    static const char message[] = "*3 $7 message $26 redisson_lock__channel:{x} $1 0 ";

    (void)state;
    start();
    ask(0, REDISSON_LOCK "1000 u:1");
    assert_string_equal(ask(1, "SUBSCRIBE redisson_lock__channel:{x}"),
                        "*3 $9 subscribe $26 redisson_lock__channel:{x} :1 ");
    bytes_free(&user[1].heard);
    ask(0, REDISSON_LOCK "1000 u:1");
    ask(2, REDISSON_UNLOCK "1000 u:1 publish 100");
    assert_string_equal(cluster_heard(&user[1]), "");
    ask(2, REDISSON_UNLOCK "1000 u:1 publish 100");
    assert_string_equal(cluster_heard(&user[1]), message);
    bytes_free(&user[1].heard);
    ask(0, REDISSON_LOCK "1000 u:1");
    pass(1200); /* its TTL is over */
    assert_string_equal(cluster_heard(&user[1]), message);
    assert_string_equal(ask(1, "UNSUBSCRIBE"), "*3 $11 unsubscribe $26 redisson_lock__channel:{x} :0 ");
    ask(0, REDISSON_LOCK "1000 u:2");
    ask(0, REDISSON_UNLOCK "1000 u:2 publish 100");
    assert_string_equal(cluster_heard(&user[1]), "");
    assert_string_equal(ask(4, "SUBSCRIBE redisson_lock__channel__{x}"),
                        "*3 $9 subscribe $27 redisson_lock__channel__{x} :1 ");
    stop();
}

static void locks_of_spring_are_obtained_again(void **state)
{
    static const char obtain[] = "EVALSHA 175897a4e379e99e79a54937be09226f76cdcfe5 1 x ";
    char line[128];

    (void)state;
    start();
    for (unsigned k = 0; k < 4; k++) {
        snprintf(line, sizeof line, "%s%s 10000", obtain, k & 1 ? "other" : "me");
        assert_string_equal(ask(k, line), k & 1 ? "$-1 " : ":1 ");
    }
    assert_string_equal(ask(1, "EVALSHA 879e0f7b8d83c3266d4e996627438c05dbda0b89 1 x me 20000"), ":1 ");
    assert_string_equal(ask(1, "EVALSHA 879e0f7b8d83c3266d4e996627438c05dbda0b89 1 x other 20000"), "$-1 ");
    assert_string_equal(ask(1, "PTTL x"), ":20000 ");
    assert_string_equal(ask(1, "EVALSHA f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2 1 x other"), "$-1 ");
    assert_string_equal(ask(1, "EVALSHA f0f9038aa2b6d6c3436c72d147573ea2a58f0ef2 1 x me"), ":1 ");
    assert_string_equal(ask(2, "EVALSHA 356d97191f2b63031781ccc0e8e82f02e1995a90 1 x me"), "$-1 ");
    stop();
}

static void a_member_that_is_drained_serves_the_locks_that_there_are(void **state)
{
    (void)state;
    start();
    ask(1, "LOCK x TOKEN t TTL 10000");
    ask(0, "SET y t NX PX 10000");
    node[0].drainer = user[3].end->session; /* as DRAIN of an operator does */
    assert_string_equal(ask(0, "RENEW x TOKEN t TTL 20000"), "+OK ");
    assert_string_equal(ask(0, "PEXPIRE y 20000"), ":1 ");
    assert_true(fence_of(ask(0, "LOCK x TOKEN t TTL 5000")) > 0);
    assert_non_null(strstr(ask(0, "LOCK z TOKEN t TTL 5000 WAIT 0"), "drained"));
    assert_string_equal(ask(0, "UNLOCK x TOKEN t"), "+OK ");
    assert_string_equal(ask(0, "DEL y"), ":1 ");
    node[0].drainer = NULL;
    stop();
}

static void an_expiry_is_optional_if_the_operator_says_so(void **state)
{
    (void)state;
    start();
    for (unsigned i = 0; i < MEMBERS; i++)
        node[i].conf.expiry_optional = true;
    assert_string_equal(ask(0, "SETNX x t"), ":1 ");
    assert_string_equal(ask(1, "SETNX x t"), ":0 ");
    assert_string_equal(ask(1, "SET y t NX"), "+OK ");
    assert_string_equal(ask(2, "PTTL x"), ":-1 ");
    pass(100000000);
    exclude(1);
    pass(100000000);
    assert_string_equal(ask(1, "GET x"), "$1 t ");
    assert_string_equal(ask(2, "PTTL x"), ":-1 ");
    assert_string_equal(ask(1, "PEXPIRE x 1000"), ":1 ");
    assert_string_equal(ask(1, "SET y u XX"), "+OK ");
    pass(1200);
    assert_string_equal(ask(1, "EXISTS x y"), ":1 ");
    assert_string_equal(ask(2, "DEL y"), ":1 ");
    stop();
}

static void what_is_no_lock_is_refused(void **state)
{
    (void)state;
    start();
    assert_non_null(strstr(ask(0, "SET x t"), "-ERR SET makes locks only"));
    assert_non_null(strstr(ask(0, "SET x t NX"), "-ERR without an expiry"));
    assert_non_null(strstr(ask(0, "SETNX x t"), "-ERR without an expiry"));
    assert_non_null(strstr(ask(0, "SET x t NX PX 0"), "-ERR an expiry is"));
    assert_non_null(strstr(ask(0, "SET x t NX PX"), "-ERR SET makes locks only"));
    assert_non_null(strstr(ask(0, "AUTH secret"), "-ERR there are no passwords"));
    assert_non_null(strstr(ask(0, "SELECT 1"), "-ERR there is one database"));
    assert_string_equal(ask(0, "SELECT 0"), "+OK ");
    assert_string_equal(ask(0, "ECHO a"), "$1 a ");
    assert_non_null(
        strstr(ask(0, "EVALSHA e4612211c9f8f51c257e26e056b0a654b3187242 3 a b"), "-ERR the number of keys"));
    assert_non_null(strstr(ask(0, "EVALSHA e4612211c9f8f51c257e26e056b0a654b3187242 2 a b"), "-ERR the arguments"));
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_owns_a_lock_at_every_member),
        cmocka_unit_test(a_ttl_to_which_time_is_added_has_a_limit),
        cmocka_unit_test(a_token_owns_no_slot),
        cmocka_unit_test(a_lock_of_a_token_outlives_its_connection_until_its_ttl),
        cmocka_unit_test(a_lock_of_a_token_outlives_its_member),
        cmocka_unit_test(a_lock_that_was_being_passed_on_stays_with_its_token),
        cmocka_unit_test(a_lock_of_a_token_ends_with_its_ttl_at_the_next_owner),
        cmocka_unit_test(a_late_report_does_not_bring_a_former_token_back),
        cmocka_unit_test(a_token_gets_its_lock_again_when_the_view_has_opened),
        cmocka_unit_test(what_an_owner_has_not_answered_the_next_one_is_asked),
        cmocka_unit_test(a_grant_is_told_when_all_members_have_the_token),
        cmocka_unit_test(an_extension_is_told_when_all_members_know_of_those_before),
        cmocka_unit_test(an_extension_from_elsewhere_waits_for_those_before),
        cmocka_unit_test(a_client_that_goes_takes_its_request_with_it),
        cmocka_unit_test(an_operator_sees_and_evicts_a_token),
        cmocka_unit_test(nobody_resumes_the_session_of_a_token),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(redis_libraries_make_locks_by_set),
        cmocka_unit_test(redis_commands_know_no_other_locks),
        cmocka_unit_test(scripts_are_known_by_their_digests),
        cmocka_unit_test(several_locks_are_acquired_together),
        cmocka_unit_test(pollers_are_served_in_turn),
        cmocka_unit_test(a_lock_of_redisson_is_counted),
        cmocka_unit_test(what_one_thread_asks_at_several_members_at_once_is_counted),
        cmocka_unit_test(what_is_asked_again_in_the_next_view_is_counted_once),
        cmocka_unit_test(locks_of_redisson_are_renewed_together),
        cmocka_unit_test(redisson_is_told_when_a_lock_is_free),
        cmocka_unit_test(locks_of_spring_are_obtained_again),
        cmocka_unit_test(a_member_that_is_drained_serves_the_locks_that_there_are),
        cmocka_unit_test(an_expiry_is_optional_if_the_operator_says_so),
        cmocka_unit_test(what_is_no_lock_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
