/* Locks of kept sessions change their mode (node/keep_convert.c): what is known where before a client is told, and before others share the
 * lock; and what becomes of it when the owner is lost meanwhile, whichever bytes have come to the others.
 * Invariants: I33, I36, I37. */
#include "keep_cluster.h"

#include "step/invariants.h"

static void begin(void)
{
    options = (struct node_conf){.algorithm = alg_find("ricart-agrawala")};
    start();
}

/* A kept session of client 0, of ant, has x in this mode. */
static uint64_t take(const char *mode)
{
    char words[32];
    uint64_t fence;

    keep(0, "SESSION KEEP 10000");
    snprintf(words, sizeof words, "LOCK x %s", mode);
    say(0, words);
    settle();
    fence = fence_of(said(0));
    assert_true(fence > 0);
    return fence;
}

/* The bars are raised and answered. The letters about the new record are in the pipes. */
static void ask_upgrade(void)
{
    say(0, "UPGRADE x");
    for (unsigned k = 1; k < MEMBERS; k++)
        carry(0, k);
    for (unsigned k = 1; k < MEMBERS; k++)
        carry(k, 0);
    assert_string_equal(said(0), "");
}

/* How many records of x this member has; *fence and *mode become those of the last. */
static uint32_t records(unsigned i, uint64_t *fence, uint32_t *mode)
{
    uint32_t count = 0;

    for (const struct ring *all = node[i].keep.all.next; all != &node[i].keep.all; all = all->next) {
        const struct keep_session *e = RING_OF((struct ring *)all, struct keep_session, in_all);

        for (const struct ring *r = e->records.next; r != &e->records; r = r->next) {
            *fence = RING_OF((struct ring *)r, struct keep_record, in_session)->fence;
            *mode = RING_OF((struct ring *)r, struct keep_record, in_session)->mode;
            count++;
        }
    }
    return count;
}

static void assert_record(unsigned i, uint64_t fence, uint32_t mode)
{
    uint64_t its;
    uint32_t its_mode;

    assert_int_equal(records(i, &its, &its_mode), 1);
    assert_int_equal(its, fence);
    assert_int_equal(its_mode, mode);
}

/* The claim by which a session has x at a member that lives. There is exactly one. */
static const struct claim *holder(void)
{
    const struct claim *found = NULL;

    for (unsigned i = 0; i < MEMBERS; i++) {
        const struct lock *lock = three.dead[i] ? NULL : locks_find(&node[i].locks, "x", 1);

        for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c)) {
            assert_null(found);
            found = c;
        }
    }
    assert_non_null(found);
    return found;
}

static void check_all(void)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_true(three.dead[i] || !node_check(&node[i]));
}

static void an_upgrade_is_told_when_no_member_has_the_former_record(void **state)
{
    uint64_t shared, alone;

    (void)state;
    begin();
    shared = take("SHARED");
    ask_upgrade();
    alone = holder()->fence;
    assert_true(alone > shared);
    assert_record(1, shared, LOCK_SHARED);
    carry(0, 1);
    carry(1, 0);
    assert_record(1, alone, LOCK_ALONE);
    assert_record(2, shared, LOCK_SHARED);
    assert_string_equal(said(0), "");
    while (!bytes_len(&client[0].heard)) { /* cat hears it byte by byte, and acknowledges what it has */
        assert_int_equal(cluster_carry(&three, 0, 2, 1), 1);
        carry(2, 0);
    }
    assert_int_equal(fence_of(said(0)), alone);
    assert_record(2, alone, LOCK_ALONE);
    say(0, "UNLOCK x");
    settle();
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_int_equal(node[i].keep.records, 0);
    check_all();
    stop();
}

/* ant is lost when bee has got `bee` bytes of what it was told, and cat `cat`. Returns false if there are fewer bytes. */
static bool lose_owner(size_t bee, size_t cat)
{
    if (bee > bytes_len(&three.pipe[0][1]) || cat > bytes_len(&three.pipe[0][2]))
        return false;
    if (bee)
        cluster_carry(&three, 0, 1, bee);
    if (cat)
        cluster_carry(&three, 0, 2, cat);
    kill_member(0);
    install();
    settle();
    check_all();
    return true;
}

static void an_owner_that_is_lost_amid_an_upgrade_leaves_one_of_both(void **state)
{
    enum { STEP = 3 };
    unsigned upgraded = 0, shares = 0;
    bool more = true;

    (void)state;
    for (size_t bee = 0; more; bee += STEP) {
        for (size_t cat = 0;; cat += STEP) {
            const struct claim *c;
            uint64_t shared, alone;
            bool is_shared;

            begin();
            shared = take("SHARED");
            ask_upgrade();
            alone = holder()->fence;
            more = bee <= bytes_len(&three.pipe[0][1]);
            if (!lose_owner(bee, cat)) {
                stop();
                break;
            }
            c = holder();
            assert_true(c->fence == shared ? c->mode == LOCK_SHARED : c->fence == alone && c->mode == LOCK_ALONE);
            is_shared = c->mode == LOCK_SHARED;
            shares += is_shared;
            upgraded += !is_shared;
            say(4, "LOCK x SHARED WAIT 0");
            settle();
            assert_int_equal(fence_of(said(4)) > 0, is_shared);
            stop();
        }
    }
    assert_true(shares > 0 && upgraded > 0);
}

/* Both have heard all: the session is exclusive elsewhere, and its client is told so, with the new fence. */
static void an_upgrade_outlives_its_member(void **state)
{
    uint64_t shared, alone;

    (void)state;
    begin();
    shared = take("SHARED");
    ask_upgrade();
    alone = holder()->fence;
    carry(0, 1);
    carry(0, 2); /* its client was not told */
    kill_member(0);
    install();
    settle();
    assert_int_equal(holder()->fence, alone);
    resume(1);
    settle();
    if (!bytes_len(&client[1].heard)) { /* cat has it: in the next view it moves */
        install();
        settle();
    }
    assert_int_equal(fence_of(said(1)), alone);
    assert_true(alone > shared);
    say(5, "LOCK x SHARED WAIT 0");
    settle();
    assert_string_equal(said(5), "*-1 ");
    say(1, "DOWNGRADE x");
    settle();
    assert_string_equal(said(1), "+OK ");
    say(5, "LOCK x SHARED");
    settle();
    assert_true(fence_of(said(5)) > alone);
    check_all();
    stop();
}

static void a_downgraded_lock_is_shared_when_all_members_know_it(void **state)
{
    uint64_t fence;

    (void)state;
    begin();
    fence = take("");
    say(1, "LOCK x SHARED");
    say(3, "LOCK x SHARED");
    settle();
    say(0, "DOWNGRADE x");
    while (carry(0, 1) + carry(1, 0)) /* cat does not know */
        ;
    assert_string_equal(said(0), "");
    assert_string_equal(said(1), "");
    assert_string_equal(said(3), "");
    assert_record(1, fence, LOCK_SHARED);
    assert_record(2, fence, LOCK_ALONE);
    settle();
    assert_string_equal(said(0), "+OK ");
    assert_true(fence_of(said(1)) > fence);
    assert_true(fence_of(said(3)) > fence);
    assert_record(2, fence, LOCK_SHARED);
    check_all();
    stop();
}

/* The lock is exclusive if a member has not heard of the downgrade. */
static void an_owner_that_is_lost_amid_a_downgrade_leaves_one_mode(void **state)
{
    (void)state;
    for (unsigned heard = 0; heard < 4; heard++) {
        uint64_t fence;

        begin();
        fence = take("");
        say(0, "DOWNGRADE x");
        assert_string_equal(said(0), "");
        for (unsigned k = 1; k < MEMBERS; k++)
            if (heard & k)
                carry(0, k);
        kill_member(0);
        install();
        settle();
        check_all();
        assert_int_equal(holder()->fence, fence);
        assert_int_equal(holder()->mode, heard == 3 ? LOCK_SHARED : LOCK_ALONE);
        say(4, "LOCK x SHARED WAIT 0");
        settle();
        assert_int_equal(fence_of(said(4)) > 0, heard == 3);
        stop();
    }
}

/* The connection breaks before all members know: the client is told what it holds when they do, not before. */
static void a_session_whose_mode_changes_is_resumed_when_all_members_know(void **state)
{
    static const char *const first[] = {"SHARED", ""};

    (void)state;
    for (unsigned down = 0; down < 2; down++) {
        uint64_t fence, held;

        begin();
        fence = take(first[down]);
        if (down)
            say(0, "DOWNGRADE x");
        else
            ask_upgrade();
        while (carry(0, 1) + carry(1, 0))
            ;
        fall(0);
        come(0);
        resume(0);
        now_ms += 100;
        cluster_pass(&three, now_ms);
        assert_string_equal(said(0), "");
        pass(100);
        pass(100);
        held = fence_of(said(0));
        assert_true(down ? held == fence : held > fence);
        say(4, "LOCK x SHARED WAIT 0");
        settle();
        assert_int_equal(fence_of(said(4)) > 0, down);
        check_all();
        stop();
    }
}

/* The connection breaks amid a downgrade, while a later letter of the member, about the TTL of another lock, is not acknowledged. All members know the lock as
 * shared when the session is resumed. It is exclusive a little longer at its owner, and the client must not rely on that. */
static void a_session_that_is_resumed_tells_the_mode_that_all_members_know(void **state)
{
    (void)state;
    begin();
    say(0, "HELLO 3");
    said(0);
    take("");
    say(0, "LOCK y TTL 60000");
    settle();
    said(0);
    say(0, "DOWNGRADE x");
    carry(0, 1), carry(0, 2);
    say(0, "MEANWHILE RENEW y TTL 50000");
    say(0, "MEANWHILE RENEW y TTL 40000");
    fall(0);
    carry(1, 0), carry(2, 0);
    resume(3);
    now_ms += 100;
    cluster_pass(&three, now_ms);
    assert_non_null(strstr(said(3), ":1 *2 $6 shared $9 exclusive "));
    say(4, "LOCK x SHARED");
    settle();
    pass(100);
    assert_true(fence_of(said(4)) > 0);
    check_all();
    stop();
}

/* It moves to bee before cat has heard of the change. cat hears of that before it hears that bee is the owner. */
static void a_session_whose_mode_changes_moves(void **state)
{
    static const char *const first[] = {"SHARED", ""};

    (void)state;
    for (unsigned down = 0; down < 2; down++) {
        uint64_t fence, held;

        begin();
        fence = take(first[down]);
        if (down)
            say(0, "DOWNGRADE x");
        else
            ask_upgrade();
        resume(1);
        while (carry(1, 0) + carry(0, 1))
            ;
        assert_true(keep_wants_view(&node[0]));
        install();
        settle();
        held = fence_of(said(1));
        assert_true(down ? held == fence : held > fence);
        assert_int_equal(holder()->mode, down ? LOCK_SHARED : LOCK_ALONE);
        assert_int_equal(holder()->session->node - node, 1);
        check_all();
        stop();
    }
}

/* The lock is lost before its client is told of the upgrade: the loss is that of the fence which the client knows, and both records go. */
static void a_lock_that_is_lost_amid_its_upgrade_leaves_no_record(void **state)
{
    char expected[32];
    const char *told;

    (void)state;
    begin();
    snprintf(expected, sizeof expected, ":%d ", (int)take("SHARED TTL 1000"));
    say(0, "HELLO 3");
    ask_upgrade();
    while (carry(0, 1) + carry(1, 0))
        ;
    say(3, "LOCK x");
    now_ms += 2000;
    cluster_pass(&three, now_ms); /* cat has heard nothing */
    told = said(0);
    assert_non_null(strstr(told, "-LOST "));
    assert_non_null(strstr(told, expected));
    assert_string_equal(said(3), "");
    settle();
    assert_true(fence_of(said(3)) > 0);
    for (unsigned i = 1; i < MEMBERS; i++)
        assert_int_equal(node[i].keep.records, 0);
    check_all();
    stop();
}

static void a_lock_that_is_released_amid_a_change_is_free(void **state)
{
    (void)state;
    for (unsigned down = 0; down < 2; down++) {
        begin();
        take(down ? "" : "SHARED");
        say(0, "HELLO 3");
        if (down)
            say(0, "DOWNGRADE x");
        else
            ask_upgrade();
        say(0, "MEANWHILE UNLOCK x");
        assert_non_null(strstr(said(0), "-NOTHELD "));
        say(4, "LOCK x");
        settle();
        assert_true(fence_of(said(4)) > 0);
        for (unsigned i = 1; i < MEMBERS; i++)
            assert_int_equal(node[i].keep.records, 0);
        check_all();
        stop();
    }
}

/* Clients 0 and 3, of ant, want x alone, and the stay of ant serves both. The first downgrades x, and releases it before others have answered
 * that they bar writers: ant is about to leave, and to come back to share x. So the second does not follow at once. */
static void no_claim_follows_one_that_was_downgraded(void **state)
{
    (void)state;
    begin();
    say(1, "LOCK x");
    settle();
    for (unsigned k = 0; k < 2; k++) {
        keep(3 * k, "SESSION KEEP 10000");
        say(3 * k, "LOCK x");
        settle();
    }
    say(1, "UNLOCK x");
    settle();
    assert_true(fence_of(said(0)) > 0);
    say(0, "DOWNGRADE x");
    for (unsigned k = 1; k < MEMBERS; k++)
        carry(0, k);
    for (unsigned k = 1; k < MEMBERS; k++)
        carry(k, 0);
    assert_string_equal(said(0), "+OK ");
    say(0, "UNLOCK x");
    assert_string_equal(said(0), "+OK ");
    check_all();
    settle();
    check_all();
    assert_true(fence_of(said(3)) > 0);
    stop();
}

static void the_second_of_two_kept_upgrades_is_a_deadlock(void **state)
{
    (void)state;
    begin();
    take("SHARED");
    keep(1, "SESSION KEEP 10000");
    say(1, "LOCK x SHARED");
    settle();
    say(0, "UPGRADE x");
    settle();
    say(1, "UPGRADE x");
    assert_non_null(strstr(said(1), "-DEADLOCK "));
    fall(0); /* it waits no longer */
    settle();
    come(0);
    say(1, "UPGRADE x");
    settle();
    assert_string_equal(said(1), ""); /* the orphaned session shares the lock still */
    pass(12000);
    assert_true(fence_of(said(1)) > 0);
    stop();
}

static void a_member_that_comes_amid_an_upgrade_is_told_of_it(void **state)
{
    uint64_t alone;

    (void)state;
    begin();
    take("SHARED");
    kill_member(2);
    install();
    settle();
    say(0, "UPGRADE x");
    while (holder()->mode == LOCK_SHARED) {
        carry(0, 1);
        carry(1, 0);
    }
    alone = holder()->fence;
    assert_string_equal(said(0), "");
    start_again(2);
    install();
    carry(0, 1);
    carry(1, 0);
    assert_string_equal(said(0), ""); /* cat has yet to acknowledge it, too */
    settle();
    assert_int_equal(fence_of(said(0)), alone);
    assert_record(2, alone, LOCK_ALONE);
    assert_record(1, alone, LOCK_ALONE);
    check_all();
    stop();
}

/* Client 1, of bee, is not told of its upgrade before the next view has opened at bee, the coordinator of x. bee is inside alone then, and lets client 4
 * follow. When bee is lost, cat still has the record of the upgraded lock, and ant has the one that follows it: which names that record, not the fence that
 * client 1 knows. */
static void a_claim_that_follows_an_upgraded_one_names_its_record(void **state)
{
    (void)state;
    options = (struct node_conf){.algorithm = alg_find("central")};
    start();
    say(1, "HELLO 3");
    keep(1, "SESSION KEEP 10000");
    keep(4, "SESSION KEEP 10000");
    say(1, "LOCK x SHARED");
    settle();
    say(1, "UPGRADE x");
    say(4, "LOCK x");
    carry(1, 0);
    carry(1, 2);
    carry(0, 1);
    carry(2, 1);
    assert_int_equal(holder()->mode, LOCK_ALONE);
    install();
    carry(0, 2);
    carry(2, 0);
    carry(1, 0);
    carry(0, 2);
    carry(0, 1);
    carry(1, 2); /* in one turn: cat announces its digest, and acknowledges behind that */
    while (!node[1].locks.open)
        assert_int_equal(cluster_carry(&three, 2, 1, 1), 1);
    assert_string_equal(said(1), "");
    say(1, "MEANWHILE UNLOCK x");
    assert_non_null(strstr(said(1), "-NOTHELD "));
    while (carry(1, 0) + carry(0, 1))
        ;
    assert_int_equal(node[0].keep.records, 1);
    assert_int_equal(node[2].keep.records, 1);
    kill_member(1);
    install();
    settle();
    assert_non_null(holder());
    check_all();
    stop();
}

/* The mode of this lock at a member, which has it or a record of it. */
static uint32_t mode_at(unsigned i, const char *name)
{
    const struct lock *lock = locks_find(&node[i].locks, name, strlen(name));
    const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL;
    const struct keep_session *e = RING_OF(node[i].keep.all.next, struct keep_session, in_all);

    for (const struct ring *r = e->records.next; !c && r != &e->records; r = r->next) {
        const struct keep_record *x = RING_OF((struct ring *)r, struct keep_record, in_session);

        if (x->name_len == strlen(name) && memcmp(x->name, name, x->name_len) == 0)
            return x->mode;
    }
    assert_non_null(c);
    return c->mode;
}

/* A session holds x and y. ant is lost when bee has heard that y is shared, and cat has not. cat passes the barrier of the next view, where y is
 * exclusive. bee does not. In the view behind it, bee hears from cat who owns the session now, with x, and does not hear of y. */
static void a_report_of_one_lock_does_not_hide_the_mode_of_another(void **state)
{
    unsigned partly = 0;

    (void)state;
    for (unsigned skip = 0; skip < 8; skip++) { /* sessions with other ids, and so with other owners */
        uint64_t owner;

        begin();
        for (unsigned k = 0; k < skip; k++)
            chance(NULL);
        keep(0, "SESSION KEEP 10000");
        say(0, "LOCK x");
        settle();
        say(0, "LOCK y");
        settle();
        say(0, "DOWNGRADE y");
        carry(0, 1);
        assert_int_equal(mode_at(1, "y"), LOCK_SHARED);
        assert_int_equal(mode_at(2, "y"), LOCK_ALONE);
        kill_member(0);
        install();
        carry(1, 2);
        assert_int_equal(node[2].keep.passed, now_view.number);
        install();
        owner = RING_OF(node[1].keep.all.next, struct keep_session, in_all)->owner;
        while (RING_OF(node[1].keep.all.next, struct keep_session, in_all)->owner == owner)
            assert_int_equal(cluster_carry(&three, 2, 1, 1), 1);
        partly += mode_at(1, "y") == LOCK_SHARED;
        install();
        settle();
        assert_int_equal(mode_at(1, "x"), LOCK_ALONE);
        assert_int_equal(mode_at(2, "x"), LOCK_ALONE);
        assert_int_equal(mode_at(1, "y"), LOCK_ALONE);
        assert_int_equal(mode_at(2, "y"), LOCK_ALONE);
        check_all();
        stop();
    }
    assert_true(partly > 0);
}

/* What the only session holds, as this member knows it: as a text. */
static const char *known_at(unsigned i)
{
    static char text[MEMBERS][256];
    const struct keep_session *e = RING_OF(node[i].keep.all.next, struct keep_session, in_all);
    size_t len = 0;

    text[i][0] = '\0';
    for (const char *name = "x"; !ring_empty(&node[i].keep.all) && name; name = *name == 'x' ? "y" : NULL) {
        const struct ring *claims = e->session ? &e->session->claims : &e->records;

        for (const struct ring *r = claims->next; r != claims; r = r->next) {
            const struct claim *c = e->session ? RING_OF((struct ring *)r, struct claim, in_session) : NULL;
            const struct keep_record *x = c ? NULL : RING_OF((struct ring *)r, struct keep_record, in_session);

            if ((c ? c->name[0] : x->name[0]) == *name && !(c && !keep_is_recorded(c)))
                len += (size_t)snprintf(text[i] + len, sizeof text[i] - len, "%s %llu mode %u; ", name,
                                        (unsigned long long)(c ? c->fence : x->fence), c ? keep_mode(c) : x->mode);
        }
    }
    return text[i];
}

/* A session of ant holds x and y, and moves to bee. bee hears what ant has done to y before, and cat does not: so bee passes the barrier
 * of this view, and cat does not. ant is lost, and comes back, and the next view begins. `chance` decides on the session's id, and so on owners that are
 * chosen later. */
static void move_behind_cat(uint64_t chance, unsigned deed)
{
    static const char *const first[] = {"LOCK y", "LOCK y", "LOCK y SHARED"}, *const then[] = {"UNLOCK y",
                                                                                               "DOWNGRADE y",
                                                                                               "UPGRADE y"};

    begin();
    dice += chance;
    keep(0, "SESSION KEEP 10000");
    say(0, "LOCK x");
    settle();
    say(0, first[deed]);
    settle();
    say(0, then[deed]);
    if (deed == 2) /* the bars are raised and answered */
        carry(0, 1), carry(0, 2), carry(1, 0), carry(2, 0);
    resume(1);
    while (carry(1, 0) + carry(0, 1))
        ;
    assert_true(keep_wants_view(&node[0]));
    install();
    while (carry(0, 1) + carry(1, 0) + carry(1, 2) + carry(2, 1))
        ;
    assert_int_equal(node[1].keep.passed, now_view.number);
    assert_true(node[2].keep.passed < now_view.number);
    kill_member(0);
    start_again(0);
    while (carry(0, 1) + carry(1, 0) + carry(0, 2) + carry(2, 0))
        ;
    install();
}

/* All have the same locks of the session, then. */
static void end_alike(void)
{
    install();
    settle();
    for (unsigned i = 0; i < MEMBERS; i++)
        if (!three.dead[i]) {
            assert_true(node_is_open(&node[i]));
            assert_string_equal(known_at(i), known_at(1));
        }
    check_all();
    stop();
}

/* cat reports the session as one that has no owner; of that ant hears `ant` bytes, and bee `bee` bytes. cat is lost, too. Returns false if there
 * were fewer bytes. */
static bool lose_a_reporter(uint64_t chance, unsigned deed, bool late, size_t ant, size_t bee)
{
    bool all;

    move_behind_cat(chance, deed);
    all = bytes_len(&three.pipe[2][0]) >= ant && bytes_len(&three.pipe[2][1]) >= bee;
    if (!late)
        carry(1, 0);
    cluster_carry(&three, 2, 0, ant);
    cluster_carry(&three, 2, 1, bee);
    if (late)
        carry(1, 0);
    kill_member(2);
    end_alike();
    return all;
}

/* cat hears by bee's reports that bee owns the session, and the view ends before its barrier. In the next view it names ant, not bee: its records are those of
 * ant, and bee has heard more of them. */
static void a_member_that_passed_no_barrier_names_the_owner_of_before(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 3 * 3; k++) {
        move_behind_cat(k / 3, k % 3);
        carry(1, 2);
        assert_true(node[2].keep.passed < now_view.number);
        end_alike();
    }
}

static void a_report_does_not_count_if_its_view_ends_before_the_barrier(void **state)
{
    enum { STEP = 24 }; /* a third of a report */

    (void)state;
    for (unsigned k = 0; k < 3 * 2 * 3; k++) /* three ids: ant chooses different owners */
        for (size_t ant = 0; lose_a_reporter(k / 6, k % 3, k / 3 % 2, ant, 0); ant += STEP)
            for (size_t bee = STEP; lose_a_reporter(k / 6, k % 3, k / 3 % 2, ant, bee); bee += STEP)
                ;
}

/* A client that ends its session while a command waits awaits two answers. */
static void a_session_that_ends_answers_the_command_that_waits(void **state)
{
    static const struct {
        const char *ask, *answer;
    } row[] = {{"LOCK x", ">2 $9 meanwhile +OK _ "},
               {"LOCK a AND x", ">2 $9 meanwhile +OK _ "},
               {"UPGRADE y", ">2 $9 meanwhile +OK -NOTHELD the session has ended, and the lock was released "}};

    (void)state;
    for (unsigned k = 0; k < sizeof row / sizeof row[0]; k++) {
        begin();
        hold(1);
        say(1, "LOCK y SHARED");
        say(0, "HELLO 3");
        said(0);
        keep(0, "SESSION KEEP 10000");
        settle();
        say(0, "LOCK y SHARED");
        settle();
        assert_true(fence_of(said(0)) > 0);
        say(0, row[k].ask);
        settle();
        assert_string_equal(said(0), "");
        say(0, "MEANWHILE SESSION END");
        assert_string_equal(said(0), row[k].answer);
        say(0, "PING");
        assert_string_equal(said(0), "+PONG ");
        settle();
        assert_string_equal(said(0), "");
        stop();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_that_ends_answers_the_command_that_waits),
        cmocka_unit_test(an_upgrade_is_told_when_no_member_has_the_former_record),
        cmocka_unit_test(an_owner_that_is_lost_amid_an_upgrade_leaves_one_of_both),
        cmocka_unit_test(an_upgrade_outlives_its_member),
        cmocka_unit_test(a_downgraded_lock_is_shared_when_all_members_know_it),
        cmocka_unit_test(an_owner_that_is_lost_amid_a_downgrade_leaves_one_mode),
        cmocka_unit_test(a_session_whose_mode_changes_is_resumed_when_all_members_know),
        cmocka_unit_test(a_session_that_is_resumed_tells_the_mode_that_all_members_know),
        cmocka_unit_test(a_session_whose_mode_changes_moves),
        cmocka_unit_test(a_lock_that_is_lost_amid_its_upgrade_leaves_no_record),
        cmocka_unit_test(a_lock_that_is_released_amid_a_change_is_free),
        cmocka_unit_test(no_claim_follows_one_that_was_downgraded),
        cmocka_unit_test(the_second_of_two_kept_upgrades_is_a_deadlock),
        cmocka_unit_test(a_member_that_comes_amid_an_upgrade_is_told_of_it),
        cmocka_unit_test(a_claim_that_follows_an_upgraded_one_names_its_record),
        cmocka_unit_test(a_report_of_one_lock_does_not_hide_the_mode_of_another),
        cmocka_unit_test(a_report_does_not_count_if_its_view_ends_before_the_barrier),
        cmocka_unit_test(a_member_that_passed_no_barrier_names_the_owner_of_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
