/* One member, and two who meet: who may take part, who is served, what is remembered. */
#include "test.h"

#include "alg/list.h"
#include "lock/dormant.h"
#include "members.h"
#include "node/inside.h"
#include "node/session.h"
#include "node/step.h"

#include <string.h>

static const char *const member_names[] = {"ant", "bee", "cat"};

/* -------------------------------------------------------------------------------------------------- who may take part
 */

static struct node_conf conf_of(const char *summary)
{
    return (struct node_conf){
        .summary = summary, .algorithm = alg_find("suzuki-kasami"), .slots_algorithm = alg_find("central")};
}

static void start(struct node *node, uint32_t n, uint32_t self)
{
    members_start(node, conf_of("same"), member_names, n, self);
}

/* What one member has to say to another arrives. How much that was. */
static size_t carry(struct node *from, struct node *to)
{
    struct link *out = &from->member[to->place]->link;
    size_t len;
    const uint8_t *bytes = link_output(out, &len);

    if (len) {
        link_input(&to->member[from->place]->link, bytes, len);
        link_wrote(out, len);
        node_pump(to);
    }
    return len;
}

static void talk(struct node *a, struct node *b)
{
    while (carry(a, b) + carry(b, a))
        ;
}

static void connect_to(struct node *a, struct node *b)
{
    link_connected(&a->member[b->place]->link);
    link_connected(&b->member[a->place]->link);
}

static void meet(struct node *a, struct node *b)
{
    connect_to(a, b);
    talk(a, b);
}

static void members_with_different_configurations_refuse_each_other(void **state)
{
    struct node a, b;

    (void)state;
    members_start(&a, conf_of("port 1"), member_names, 2, 0);
    members_start(&b, conf_of("port 2"), member_names, 2, 1);
    meet(&a, &b);
    assert_int_equal(a.member[1]->link.state, LINK_ENDING);
    assert_int_equal(b.member[0]->link.state, LINK_ENDING);
    assert_non_null(strstr(a.member[1]->link.reason, "configurations differ"));
    assert_non_null(strstr(b.member[0]->link.reason, "configurations differ"));
    assert_false(node_is_open(&a) || node_is_open(&b));
    node_free(&a);
    node_free(&b);
}

/* The view knows the first incarnation of bee. Its second one takes no part: it grants nothing, not even what is at home there. */
static void a_member_that_restarted_grants_nothing(void **state)
{
    struct node a, b;
    struct node_conf second = conf_of("same");
    struct session_wish wish = {.name_len = 1, .wait_ms = SESSION_FOREVER};
    struct node_event e;
    char line[256];
    struct dme_text why;

    (void)state;
    start(&a, 2, 0);
    start(&b, 2, 1);
    meet(&a, &b);
    assert_true(node_is_open(&a) && node_is_open(&b));
    node_free(&b);
    second.incarnation = 3;
    members_start(&b, second, member_names, 2, 1);
    meet(&a, &b);
    assert_false(node_is_open(&b));
    for (unsigned k = 0; k < 26; k++) {
        char name = (char)('a' + k);
        struct session *s = session_open(&b, NULL);

        wish.name = &name;
        dme_text_init(&why, line, sizeof line);
        assert_null(session_lock(s, &wish, &why));
        assert_false(node_next(&b, &e));
        session_close(s);
    }
    node_free(&a);
    node_free(&b);
}

/* A member that has heard of a later incarnation of bee refuses an earlier one. */
static void an_earlier_incarnation_is_refused(void **state)
{
    struct node a, b;
    struct node_conf later = conf_of("same");

    (void)state;
    start(&a, 2, 0);
    later.incarnation = 3;
    members_start(&b, later, member_names, 2, 1);
    meet(&a, &b);
    assert_int_equal(a.member[1]->link.state, LINK_UP);
    node_free(&b);
    start(&b, 2, 1);
    meet(&a, &b);
    assert_int_equal(a.member[1]->link.state, LINK_ENDING);
    assert_non_null(strstr(b.member[0]->link.reason, "a newer incarnation of"));
    node_free(&a);
    node_free(&b);
}

static enum disk_status keep(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len; /* nobody will ask */
    return DISK_WRITTEN;
}

static uint64_t chance(void *user)
{
    return test_random(user);
}

static void start_agreeing(struct node *node, const char *name, const struct view *roster, size_t room, uint64_t *seed)
{
    static const struct disk disk = {NULL, keep, keep};
    struct node_conf conf = conf_of("same");
    char line[256];
    struct dme_text why;

    conf.name = name;
    conf.names_max = room;
    conf.lease_ms = 1000;
    conf.incarnation = 1;
    conf.user = seed;
    conf.random = chance;
    dme_text_init(&why, line, sizeof line);
    node_init(node, &conf);
    assert_true(node_agree(node, &disk, NULL, 0, roster, false, 1000, &why));
}

static void pass(struct node *a, struct node *b, uint64_t ms)
{
    for (; ms; ms -= 10) {
        node_advance(a, a->now_ms + 10);
        node_advance(b, b->now_ms + 10);
        talk(a, b);
    }
}

/* Time passes until the first has installed this view; for some seconds at most. */
static void pass_until_view(struct node *a, struct node *b, uint64_t number)
{
    for (uint32_t k = 0; k < 500 && a->view.number < number; k++)
        pass(a, b, 10);
    assert_int_equal(a->view.number, number);
}

/* Time passes until the session has it; for some seconds at most. */
static void take(struct session *s, const char *name, struct node *a, struct node *b, struct node_event *e)
{
    struct session_wish wish = {.name = name, .name_len = strlen(name), .wait_ms = SESSION_FOREVER};
    char line[256] = "";
    struct dme_text why;
    bool told;

    dme_text_init(&why, line, sizeof line);
    assert_null(session_lock(s, &wish, &why));
    for (uint32_t k = 0; k < 500 && !(told = node_next(s->node, e)); k++)
        pass(a, b, 10);
    assert_true(told);
    assert_int_equal(e->state, CLAIM_HELD);
}

/* Who leads may be somebody whom it does not know, as it was away while that one was added. */
static void who_lags_is_told_the_newest_view_by_any_member(void **state)
{
    struct node a, b;
    struct view view;
    uint64_t seed = 1;

    (void)state;
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:1", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:1", VIEW_MEMBER));
    start_agreeing(&a, "ant", &view, 0, &seed);
    start_agreeing(&b, "bee", &view, 0, &seed);
    connect_to(&a, &b);
    pass_until_view(&a, &b, 1);
    pass_until_view(&b, &a, 1);
    view = b.view;
    view.number = 2;
    assert_null(view_add(&view, "cat", "10.0.0.3:1", VIEW_ADDED));
    node_install(&b, &view);
    pass_until_view(&a, &b, 2);
    assert_int_equal(a.view.count, 3);
    node_free(&a);
    node_free(&b);
}

/* What a client is told that asks for a lock, and for how long it has waited by then; null: it waits still. */
static const char *told_after(struct session *s, uint64_t wait_ms, uint64_t *waited_ms)
{
    struct session_wish wish = {.name = "x", .name_len = 1, .wait_ms = wait_ms};
    struct node *node = s->node;
    uint64_t began_ms = node->now_ms;
    char line[256] = "";
    struct dme_text why;
    struct node_event e;

    dme_text_init(&why, line, sizeof line);
    if (session_lock(s, &wish, &why)) {
        assert_string_equal(line, "locks are not granted just now; no majority can be reached");
        *waited_ms = 0;
        return "NOQUORUM";
    }
    for (*waited_ms = 0; *waited_ms < 20000;) {
        node_advance(node, node->now_ms + 10);
        *waited_ms = node->now_ms - began_ms;
        if (node_next(node, &e))
            return e.state == CLAIM_HELD ? "HELD" : e.no_quorum ? "NOQUORUM" : "TIMEOUT";
    }
    return NULL;
}

/* A client that asks before it is known that no majority is left, and one that asks afterwards: each waits for as long as
 * it has said, and is told the same. */
static void without_a_majority_a_client_waits_as_long_as_it_wants(void **state)
{
    struct node a, b;
    struct view view;
    struct session *s, *patient;
    struct node_event e;
    uint64_t seed = 1, waited_ms;

    (void)state;
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:1", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:1", VIEW_MEMBER));
    start_agreeing(&a, "ant", &view, 0, &seed);
    start_agreeing(&b, "bee", &view, 0, &seed);
    connect_to(&a, &b);
    pass_until_view(&a, &b, 1);
    pass_until_view(&b, &a, 1);
    s = session_open(&a, NULL);
    patient = session_open(&a, NULL);
    take(s, "y", &a, &b, &e);
    link_disconnected(&a.member[b.place]->link);
    link_disconnected(&b.member[a.place]->link);
    while (a.locks.grants)
        node_advance(&a, a.now_ms + 10);
    assert_true(node_next(&a, &e) && e.state == CLAIM_LOST);
    assert_int_equal(node_state(&a), NODE_STARTS);
    assert_string_equal(told_after(s, 0, &waited_ms), "NOQUORUM");
    assert_int_equal(node_state(&a), NODE_NO_QUORUM);
    assert_string_equal(told_after(s, 0, &waited_ms), "NOQUORUM");
    assert_int_equal(waited_ms, 0);
    assert_string_equal(told_after(s, 5000, &waited_ms), "NOQUORUM");
    assert_int_equal(waited_ms, 5000);
    assert_null(told_after(patient, SESSION_FOREVER, &waited_ms));
    /* The majority is back: a client that waits holds nothing, and is served like any other. */
    node_advance(&b, a.now_ms);
    connect_to(&a, &b);
    for (uint32_t k = 0; k < 1000 && !node_next(&a, &e); k++)
        pass(&a, &b, 10);
    assert_ptr_equal(e.session, patient);
    assert_int_equal(e.state, CLAIM_HELD);
    session_close(s);
    session_close(patient);
    node_free(&a);
    node_free(&b);
}

/* Names that were used once, and never again: a member has no room for all of them, and needs none. */
static void names_that_nobody_uses_are_forgotten_in_a_new_view(void **state)
{
    enum { ROOM = 64, NAMES = 1000 };
    struct node a, b;
    struct view view;
    struct session *s, *holder;
    struct node_event e;
    uint64_t seed = 1, fence;
    char name[16];

    (void)state;
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:1", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:1", VIEW_MEMBER));
    start_agreeing(&a, "ant", &view, ROOM, &seed);
    start_agreeing(&b, "bee", &view, ROOM, &seed);
    connect_to(&a, &b);
    pass_until_view(&a, &b, 1);
    pass_until_view(&b, &a, 1);
    s = session_open(&b, NULL);
    holder = session_open(&a, NULL);
    take(holder, "kept", &a, &b, &e);
    fence = e.fence;
    for (unsigned k = 0; k < NAMES; k++) {
        snprintf(name, sizeof name, "job-%u", k);
        take(s, name, &a, &b, &e);
        assert_true(session_unlock(s, name, strlen(name), 0));
        pass(&a, &b, 100);
        assert_in_range(b.locks.count, 0, ROOM);
    }
    assert_in_range(b.view.number, NAMES / ROOM, NAMES / 10); /* one view for many names */
    assert_false(node_next(&a, &e));                          /* who holds a lock has not noticed */
    assert_true(session_unlock(holder, "kept", 4, 0));
    take(s, "kept", &a, &b, &e);
    assert_true(e.fence > fence);
    session_close(s);
    session_close(holder);
    node_free(&a);
    node_free(&b);
}

/* ------------------------------------------------------------------------------------------------ one member, in
 * detail */

static struct node_event lock_now(struct session *s, const char *name, uint32_t mode, uint32_t slots)
{
    struct session_wish wish = {
        .name = name, .name_len = strlen(name), .mode = mode, .slots = slots, .wait_ms = SESSION_FOREVER};
    struct node_event e = {.state = CLAIM_WAITING};
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    assert_null(session_lock(s, &wish, &why));
    node_next(s->node, &e);
    return e;
}

static void start_alone(struct node *node)
{
    struct node_conf conf = conf_of("alone");

    conf.algorithm = alg_find("central");
    members_start(node, conf, member_names, 1, 0);
}

static void one_machine_can_use_all_slots_and_no_more(void **state)
{
    struct node node;
    struct session *s[4];
    struct node_event e;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 4; k++)
        s[k] = session_open(&node, NULL);
    for (unsigned k = 0; k < 3; k++)
        assert_int_equal(lock_now(s[k], "x", 0, 3).state, CLAIM_HELD);
    assert_int_equal(lock_now(s[3], "x", 0, 3).state, CLAIM_WAITING);
    assert_true(session_unlock(s[1], "x", 1, 0));
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[3]);
    for (unsigned k = 0; k < 4; k++)
        session_close(s[k]);
    node_free(&node);
}

/* Why a wish is refused, or "" if it is not. */
static const char *refusal(struct session *s, const char *name, uint32_t mode, uint32_t slots)
{
    static char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    session_lock(s,
                 &(struct session_wish){
                     .name = name, .name_len = strlen(name), .mode = mode, .slots = slots, .wait_ms = SESSION_FOREVER},
                 &why);
    return line;
}

static void a_policy_chooses_algorithms_and_kind_by_name(void **state)
{
    const struct lock_policy policy[] = {{"build*", alg_find("raymond"), alg_find("raymond-k"), 3},
                                         {"*.db", alg_find("raymond"), alg_find("central"), 0},
                                         {"b*", alg_find("lamport"), alg_find("central"), LOCK_ANY_KIND}};
    struct node_conf conf = conf_of("same");
    struct node a, b;
    struct session *s[3];

    (void)state;
    conf.policy = policy;
    conf.policies = 3;
    members_start(&a, conf, member_names, 2, 0);
    members_start(&b, conf, member_names, 2, 1);
    meet(&a, &b);
    for (unsigned k = 0; k < 3; k++)
        s[k] = session_open(&a, NULL);
    assert_string_equal(refusal(s[0], "builds", LOCK_ALONE, 2),
                        "\"builds\" is a lock with 3 slots; ask for it with SLOTS 3 (dibs lock --slots 3)");
    assert_string_equal(refusal(s[0], "builds", LOCK_SHARED, 0),
                        "\"builds\" is a lock with 3 slots; ask for it with SLOTS 3 (dibs lock --slots 3)");
    assert_string_equal(refusal(s[0], "big.db", LOCK_ALONE, 2),
                        "\"big.db\" is an exclusive lock; ask for it without SLOTS (--slots)");
    assert_string_equal(refusal(s[0], "big.db", LOCK_SHARED, 0),
                        "\"big.db\" is run by raymond, which knows no sharing");
    assert_int_equal(a.locks.count, 0);
    assert_string_equal(refusal(s[0], "builds", LOCK_ALONE, 0), ""); /* the policy says how many */
    assert_string_equal(refusal(s[1], "big.db", LOCK_ALONE, 0), "");
    assert_string_equal(refusal(s[2], "bus", LOCK_ALONE, 0), "");
    talk(&a, &b);
    for (unsigned k = 0; k < 3; k++) {
        struct node_event e;

        assert_true(node_next(&a, &e));
        assert_int_equal(e.state, CLAIM_HELD);
    }
    assert_string_equal(lock_policy(&a.locks, locks_find(&a.locks, "builds", 6))->slots_algorithm->name, "raymond-k");
    assert_int_equal(locks_find(&a.locks, "builds", 6)->slots, 3);
    assert_string_equal(lock_policy(&b.locks, locks_find(&b.locks, "bus", 3))->algorithm->name, "lamport");
    for (unsigned k = 0; k < 3; k++)
        session_close(s[k]);
    talk(&a, &b);
    node_free(&a);
    node_free(&b);
}

static void readers_join_readers_but_not_past_a_writer(void **state)
{
    struct node node;
    struct session *s[4];
    struct node_event e;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 4; k++)
        s[k] = session_open(&node, NULL);
    assert_int_equal(lock_now(s[0], "x", LOCK_SHARED, 0).state, CLAIM_HELD);
    assert_int_equal(lock_now(s[1], "x", LOCK_SHARED, 0).state, CLAIM_HELD);
    assert_int_equal(lock_now(s[2], "x", LOCK_ALONE, 0).state, CLAIM_WAITING);
    assert_int_equal(lock_now(s[3], "x", LOCK_SHARED, 0).state, CLAIM_WAITING);
    session_close(s[0]);
    assert_false(node_next(&node, &e));
    session_close(s[1]);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[2]);
    session_close(s[2]);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[3]);
    session_close(s[3]);
    assert_int_equal(node.locks.count, 0);
    node_free(&node);
}

/* The lock is free and forgotten in between, and its number is larger all the same. */
static void fences_grow_through_forgetting(void **state)
{
    struct node node;
    uint64_t last = 0;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 10; k++) {
        struct session *s = session_open(&node, NULL);
        struct node_event e = lock_now(s, "x", LOCK_ALONE, 0);

        assert_int_equal(e.state, CLAIM_HELD);
        assert_true(e.fence > last);
        last = e.fence;
        session_close(s);
        assert_int_equal(node.locks.count, 0);
    }
    node_free(&node);
}

static void a_lease_that_runs_out_is_lost_before_the_next_is_granted(void **state)
{
    struct node node;
    struct session *a, *b;
    struct node_event e;

    (void)state;
    start_alone(&node);
    a = session_open(&node, NULL);
    b = session_open(&node, NULL);
    assert_int_equal(lock_now(a, "x", LOCK_ALONE, 0).state, CLAIM_HELD);
    assert_int_equal(lock_now(b, "x", LOCK_ALONE, 0).state, CLAIM_WAITING);
    assert_true(session_renew(a, "x", 1, 0, 100));
    assert_int_equal(node_due_ms(&node), 100);
    node_advance(&node, 50);
    assert_true(session_renew(a, "x", 1, 0, 100));
    node_advance(&node, 149);
    assert_false(node_next(&node, &e));
    node_advance(&node, 150);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, a);
    assert_int_equal(e.state, CLAIM_LOST);
    assert_false(e.answers);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, b);
    assert_int_equal(e.state, CLAIM_HELD);
    assert_false(session_unlock(a, "x", 1, 0));
    assert_int_equal(session_evict(&node, "x", 1, UINT64_MAX, ""), 1);
    assert_true(node_next(&node, &e));
    assert_int_equal(e.state, CLAIM_LOST);
    session_close(a);
    session_close(b);
    node_free(&node);
}

static void who_may_share_is_let_in_wherever_it_stands(void **state)
{
    struct node node;
    struct session *s[4];
    struct node_event e;

    (void)state;
    start_alone(&node);
    for (unsigned k = 0; k < 4; k++)
        s[k] = session_open(&node, NULL);
    assert_int_equal(lock_now(s[0], "x", LOCK_ALONE, 0).state, CLAIM_HELD);
    lock_now(s[1], "x", LOCK_SHARED, 0);
    lock_now(s[2], "x", LOCK_ALONE, 0);
    lock_now(s[3], "x", LOCK_SHARED, 0);
    session_close(s[0]);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[1]);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, s[3]);
    assert_false(node_next(&node, &e));
    for (unsigned k = 1; k < 4; k++)
        session_close(s[k]);
    node_free(&node);
}

/* The lock becomes free, and only then does the time of who waits for it run out. */
static void who_is_granted_in_time_does_not_lose_it(void **state)
{
    struct node node;
    struct session *a, *b;
    struct node_event e;
    struct session_wish wish = {.name = "x", .name_len = 1, .wait_ms = 10};
    char line[256];
    struct dme_text why;

    (void)state;
    dme_text_init(&why, line, sizeof line);
    start_alone(&node);
    a = session_open(&node, NULL);
    b = session_open(&node, NULL);
    lock_now(a, "x", LOCK_ALONE, 0);
    session_renew(a, "x", 1, 0, 9);
    assert_null(session_lock(b, &wish, &why));
    node_advance(&node, 20);
    assert_true(node_next(&node, &e));
    assert_int_equal(e.state, CLAIM_LOST);
    assert_true(node_next(&node, &e));
    assert_ptr_equal(e.session, b);
    assert_int_equal(e.state, CLAIM_HELD);
    node_advance(&node, 1000);
    assert_false(node_next(&node, &e));
    session_close(a);
    session_close(b);
    node_free(&node);
}

static void a_lock_of_another_kind_ends_the_link(void **state)
{
    static const uint8_t step[] = {3, 1, 'x', 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    struct node a, b;
    struct session *s;

    (void)state;
    start(&a, 2, 0);
    start(&b, 2, 1);
    meet(&a, &b);
    s = session_open(&a, NULL);
    lock_now(s, "x", LOCK_ALONE, 0);
    talk(&a, &b);
    memcpy(link_send(&b.member[0]->link, sizeof step), step, sizeof step);
    talk(&a, &b);
    assert_string_equal(a.member[1]->link.reason, "a lock of the same name and another kind");
    assert_true(a.member[1]->link.banned);
    session_close(s);
    node_free(&a);
    node_free(&b);
}

/* A name that is at home at this member. */
static const char *name_at_home(uint32_t member, uint32_t n)
{
    static char name[2] = "a";
    struct node node;

    start(&node, n, member);
    for (name[0] = 'a'; name[0] <= 'z'; name[0]++) {
        const struct lock *found;

        node.locks.open = true;
        lock_now(session_open(&node, NULL), name, LOCK_ALONE, 0);
        found = locks_find(&node.locks, name, 1);
        if (found->known)
            break;
    }
    while (!ring_empty(&node.sessions))
        session_close(RING_OF(node.sessions.next, struct session, in_node));
    node_free(&node);
    return name;
}

/* ant asks cat before cat has the digest of bee; as soon as it has, ant is answered, without waiting for anything else. */
static void messages_on_hold_are_handled_when_all_have_met(void **state)
{
    const char *name = name_at_home(2, 3);
    struct node a, b, c;
    struct session *s;
    struct node_event e;

    (void)state;
    start(&a, 3, 0);
    start(&b, 3, 1);
    start(&c, 3, 2);
    meet(&a, &b);
    meet(&a, &c);
    connect_to(&b, &c);
    for (unsigned k = 0; k < 8 && b.keep.barrier; k++)
        carry(k % 2 ? &c : &b, k % 2 ? &b : &c);
    talk(&a, &b);
    talk(&a, &c);
    assert_true(node_is_open(&a) && !node_is_open(&c));
    s = session_open(&a, NULL);
    lock_now(s, name, LOCK_ALONE, 0);
    talk(&a, &c);
    talk(&b, &c);
    assert_true(node_is_open(&c));
    talk(&a, &c);
    talk(&a, &b);
    assert_true(node_next(&a, &e));
    assert_int_equal(e.state, CLAIM_HELD);
    session_close(s);
    node_free(&a);
    node_free(&b);
    node_free(&c);
}

/* A lock with many slots has a large state. Of many such locks that nobody uses, few are kept as they are. */
static void large_states_are_put_away_as_well(void **state)
{
    enum { NAMES = 30, SLOTS = 64 };
    struct node_conf conf = conf_of("same");
    struct node a, b;
    struct session *s;
    unsigned kept = 0;
    char name[16];

    (void)state;
    conf.slots_algorithm = alg_find("raymond-k");
    members_start(&a, conf, member_names, 2, 0);
    members_start(&b, conf, member_names, 2, 1);
    meet(&a, &b);
    for (unsigned round = 0; round < 2; round++) /* what was put away is taken out again */
        for (unsigned k = 0; k < NAMES; k++) {
            struct node_event e;

            snprintf(name, sizeof name, "job-%u", k);
            s = session_open(&a, NULL);
            e = lock_now(s, name, LOCK_ALONE, SLOTS);
            talk(&a, &b);
            assert_true(e.state == CLAIM_HELD || (node_next(&a, &e) && e.state == CLAIM_HELD));
            session_close(s);
            talk(&a, &b);
        }
    for (unsigned k = 0; k < NAMES; k++) {
        snprintf(name, sizeof name, "job-%u", k);
        kept += locks_find(&a.locks, name, strlen(name))->site != NULL;
        kept += locks_find(&b.locks, name, strlen(name))->site != NULL;
    }
    assert_in_range(kept, 1, NAMES - 1);
    node_free(&a);
    node_free(&b);
}

static void what_rests_is_taken_out_as_it_was(void **state)
{
    enum { SIZE = 1200 };
    uint8_t first[SIZE], node[SIZE], again[SIZE], packed[2 * SIZE];
    uint64_t seed = 7;

    (void)state;
    for (uint32_t run = 0; run < 2000; run++) {
        size_t size = 24 + 8 * test_below(&seed, (SIZE - 24) / 8 + 1);
        uint32_t rare = 1 + test_below(&seed, 1 + run); /* from all bytes differ to hardly any does */
        uint8_t *end;

        for (size_t k = 0; k < size; k++) {
            first[k] = (uint8_t)test_below(&seed, 256);
            node[k] = (uint8_t)(first[k] ^ (test_below(&seed, rare) ? 0 : 1 + test_below(&seed, 255)));
        }
        end = rest_pack(packed, node, first, size);
        assert_true(end <= packed + rest_room(size));
        memcpy(again, first, size);
        assert_ptr_equal(rest_unpack(packed, again, size), end);
        assert_memory_equal(again, node, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_with_different_configurations_refuse_each_other),
        cmocka_unit_test(a_member_that_restarted_grants_nothing),
        cmocka_unit_test(who_lags_is_told_the_newest_view_by_any_member),
        cmocka_unit_test(without_a_majority_a_client_waits_as_long_as_it_wants),
        cmocka_unit_test(names_that_nobody_uses_are_forgotten_in_a_new_view),
        cmocka_unit_test(an_earlier_incarnation_is_refused),
        cmocka_unit_test(one_machine_can_use_all_slots_and_no_more),
        cmocka_unit_test(a_policy_chooses_algorithms_and_kind_by_name),
        cmocka_unit_test(readers_join_readers_but_not_past_a_writer),
        cmocka_unit_test(fences_grow_through_forgetting),
        cmocka_unit_test(a_lease_that_runs_out_is_lost_before_the_next_is_granted),
        cmocka_unit_test(who_may_share_is_let_in_wherever_it_stands),
        cmocka_unit_test(who_is_granted_in_time_does_not_lose_it),
        cmocka_unit_test(a_lock_of_another_kind_ends_the_link),
        cmocka_unit_test(messages_on_hold_are_handled_when_all_have_met),
        cmocka_unit_test(large_states_are_put_away_as_well),
        cmocka_unit_test(what_rests_is_taken_out_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
