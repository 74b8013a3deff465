/* Agreement alone, with a network and disks that the test holds in its hands: a cluster of one grows to two, and its leader
 * dies on the way, at any moment. Whoever is needed for a majority votes, so the cluster goes on. And nobody votes twice. */
#include "test.h"

#include "node/agree.h"
#include "node/agree_wire.h"

#include <stdlib.h>
#include <string.h>

enum { ELECTION_MS = 100, STEP_MS = 5, PATIENCE_STEPS = 2000, MOMENTS = 60 };

struct letter {
    struct letter *next;
    uint64_t to;
    size_t len;
    uint8_t bytes[];
};

struct server {
    struct agree *agree;
    struct bytes journal;
    struct disk disk;
    uint64_t random;
    unsigned replaced; /* so often the journal was written anew */
};

static struct server server[2]; /* ids 1 and 2 */
static struct letter *first, **last;
static uint64_t now_ms;
static unsigned carried, carries; /* letters, so far and at most */

static bool disk_append(void *user, const uint8_t *bytes, size_t len)
{
    struct server *s = user;

    memcpy(bytes_add(&s->journal, len), bytes, len);
    return true;
}

static bool disk_replace(void *user, const uint8_t *bytes, size_t len)
{
    struct server *s = user;
    struct bytes next = {0}; /* what is written may be what it is read from */

    memcpy(bytes_add(&next, len), bytes, len);
    bytes_free(&s->journal);
    s->journal = next;
    s->replaced++;
    return true;
}

static uint64_t chance(void *user)
{
    struct server *s = user;

    return test_random(&s->random);
}

static void post(void *user, uint64_t to, const uint8_t *bytes, size_t len)
{
    struct letter *m = malloc(sizeof *m + len);

    (void)user;
    *m = (struct letter){.to = to, .len = len};
    memcpy(m->bytes, bytes, len);
    *last = m;
    last = &m->next;
}

static void forget_letters(void)
{
    while (first) {
        struct letter *m = first;

        first = m->next;
        free(m);
    }
    last = &first;
}

/* From what its disk has, or new. */
static void start(uint64_t id)
{
    struct server *s = &server[id - 1];
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    s->disk = (struct disk){s, disk_append, disk_replace};
    s->agree = agree_new(
        &(struct agree_conf){.disk = &s->disk, .election_ms = ELECTION_MS, .user = s, .random = chance, .send = post},
        s->journal.at + s->journal.start, bytes_len(&s->journal), &why);
    assert_non_null(s->agree);
}

static void restart(uint64_t id)
{
    struct server *s = &server[id - 1];
    struct bytes kept = {0};
    char line[256];
    struct dme_text why;

    memcpy(bytes_add(&kept, bytes_len(&s->journal)), s->journal.at + s->journal.start, bytes_len(&s->journal));
    agree_free(s->agree);
    bytes_free(&s->journal);
    s->journal = kept;
    start(id);
    dme_text_init(&why, line, sizeof line);
    assert_true(agree_begin(s->agree, now_ms, &why));
}

static void step(void)
{
    now_ms += STEP_MS;
    for (uint64_t id = 1; id <= 2; id++)
        if (server[id - 1].agree)
            agree_advance(server[id - 1].agree, now_ms);
    while (first) {
        struct letter *m = first;

        first = m->next;
        if (!first)
            last = &first;
        if (carried < carries && server[m->to - 1].agree) {
            carried++;
            agree_receive(server[m->to - 1].agree, 3 - m->to, m->bytes, m->len);
        }
        free(m);
    }
}

/* bee is a server as ant is, and one of them leads. */
static bool both_agree(void)
{
    for (unsigned k = 0; k < 2; k++)
        if (agree_leads(server[k].agree) && agree_has_caught_up(server[k].agree, 2))
            return true;
    return false;
}

static void found_and_grow(void)
{
    struct view view;
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:7400", VIEW_MEMBER));
    start(1);
    assert_true(agree_found(server[0].agree, &view, 1, &why) && agree_begin(server[0].agree, now_ms, &why));
    for (unsigned k = 0; k < 100 && !agree_leads(server[0].agree); k++)
        step();
    view.number++;
    assert_null(view_add(&view, "bee", "10.0.0.2:7400", VIEW_ADDED));
    agree_propose(server[0].agree, &view);
    step();
    assert_int_equal(agree_view(server[0].agree)->count, 2);
    start(2);
    assert_true(agree_join(server[1].agree, &view, 2, &why) && agree_begin(server[1].agree, now_ms, &why));
}

/* So many letters arrive, then none; ant dies and comes back, and perhaps bee, too; then all letters arrive. */
static void grow(unsigned moment, bool bee_dies_too)
{
    unsigned steps = 0;

    server[0] = (struct server){.random = 1 + moment};
    server[1] = (struct server){.random = 1000 + moment};
    now_ms = 1000;
    carried = 0;
    carries = moment;
    last = &first;
    found_and_grow();
    for (unsigned k = 0; k < 100; k++)
        step();
    forget_letters();
    restart(1);
    if (bee_dies_too)
        restart(2);
    carries = UINT32_MAX;
    while (!both_agree() && steps++ < PATIENCE_STEPS)
        step();
    assert_true(both_agree());
    for (unsigned k = 0; k < 2; k++) {
        agree_free(server[k].agree);
        bytes_free(&server[k].journal);
    }
    forget_letters();
}

static void one_grows_to_two_whenever_the_leader_dies(void **state)
{
    (void)state;
    for (unsigned moment = 0; moment < MOMENTS; moment++)
        grow(moment, false);
}

static void one_grows_to_two_whenever_both_die(void **state)
{
    (void)state;
    for (unsigned moment = 0; moment < MOMENTS; moment++)
        grow(moment, true);
}

/* Member 1 is asked for its vote by one whose log is so long. Does it give it; and what term is it in, by what it says? */
static bool votes(uint64_t candidate, raft_term term, raft_index log, raft_term *answered)
{
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE};
    struct bytes b = {0};

    m.request_vote =
        (struct raft_request_vote){.term = term, .candidate_id = candidate, .last_log_index = log, .last_log_term = 1};
    agree_encode(&m, &b);
    forget_letters();
    agree_receive(server[0].agree, candidate, b.at + b.start, bytes_len(&b));
    bytes_free(&b);
    assert_true(first && first->to == candidate);
    assert_true(agree_decode(&m, first->bytes, first->len) && m.type == RAFT_IO_REQUEST_VOTE_RESULT);
    *answered = m.request_vote_result.term;
    return m.request_vote_result.vote_granted;
}

static void a_vote_outlives_a_restart(void **state)
{
    struct view view;
    char line[256];
    struct dme_text why;
    raft_term term;

    (void)state;
    server[0] = (struct server){.random = 1};
    now_ms = 1000;
    last = &first;
    dme_text_init(&why, line, sizeof line);
    view_begin(&view);
    assert_null(view_add(&view, "ant", "10.0.0.1:7400", VIEW_MEMBER));
    assert_null(view_add(&view, "bee", "10.0.0.2:7400", VIEW_MEMBER));
    assert_null(view_add(&view, "cat", "10.0.0.3:7400", VIEW_MEMBER));
    start(1);
    assert_true(agree_found(server[0].agree, &view, 1, &why) && agree_begin(server[0].agree, now_ms, &why));
    assert_true(votes(2, 5, 1, &term));
    server[0].replaced = 0;
    restart(1);
    assert_int_equal(server[0].replaced, 1); /* what it has read may never have reached the disk */
    assert_false(votes(3, 5, 1, &term));
    assert_int_equal(term, 5);
    assert_false(votes(3, 4, 1, &term));
    assert_int_equal(term, 5);
    assert_true(votes(2, 5, 1, &term));
    restart(1);
    assert_false(votes(3, 7, 0, &term)); /* the log is too short, but the term is what it is */
    restart(1);
    assert_false(votes(2, 6, 1, &term));
    assert_int_equal(term, 7);
    assert_true(votes(3, 7, 1, &term));
    agree_free(server[0].agree);
    bytes_free(&server[0].journal);
    forget_letters();
}

static void a_journal_does_not_grow_without_end(void **state)
{
    struct server *s = &server[0];
    struct journal j;
    size_t most = 0;

    (void)state;
    *s = (struct server){0};
    s->disk = (struct disk){s, disk_append, disk_replace};
    assert_null(journal_open(&j, &s->disk, NULL, 0));
    journal_identify(&j, 7, 1, (const uint8_t *)"view", 4);
    assert_true(journal_found(&j, "servers", 7) && journal_live(&j, 9));
    for (raft_term term = 2; term < 40000; term++) {
        assert_true(journal_vote(&j, term, 3));
        most = most < bytes_len(&s->journal) ? bytes_len(&s->journal) : most;
    }
    assert_in_range(most, 1, 1 << 19);
    journal_close(&j);
    assert_null(journal_open(&j, &s->disk, s->journal.at + s->journal.start, bytes_len(&s->journal)));
    assert_true(j.term == 39999 && j.vote == 3 && j.life == 9 && j.disk_id == 7 && j.member == 1 && j.count == 1);
    journal_close(&j);
    bytes_free(&s->journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_grows_to_two_whenever_the_leader_dies),
        cmocka_unit_test(one_grows_to_two_whenever_both_die),
        cmocka_unit_test(a_vote_outlives_a_restart),
        cmocka_unit_test(a_journal_does_not_grow_without_end),
    };

    return cmocka_run_group_tests_name("agree", tests, NULL, NULL);
}
