/* Kept sessions of a member that is alone, from one process to the next (node/handover.h, I33). */
#include "test.h"

#include "alg/list.h"
#include "node/handover.h"
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

enum { KEEP_MS = 5000, START_MS = 1000000 };

static struct node node;
static struct bytes left; /* what the last process has left */
static uint64_t now_ms, dice;
static uint32_t piece; /* of work; 0: large */
static const char *const boot = "a boot";

static uint64_t chance(void *user)
{
    (void)user;
    return test_random(&dice);
}

/* A process begins, and takes over what the last one has left. Returns the number of sessions. */
static uint32_t begin(const char *its_boot, const char **wrong)
{
    struct view view;
    uint32_t sessions = 0;

    node_init(&node, &(struct node_conf){.name = "ant",
                                         .summary = "same",
                                         .algorithm = alg_find("ricart-agrawala"),
                                         .slots_algorithm = alg_find("central"),
                                         .incarnation = 1,
                                         .fence = 100, /* it does not know the time of day */
                                         .piece = piece,
                                         .random = chance});
    *wrong = NULL;
    if (bytes_len(&left))
        sessions = handover_read(&node, its_boot, now_ms, left.at + left.start, bytes_len(&left), wrong);
    view_begin(&view);
    view_add(&view, "ant", "-", VIEW_MEMBER);
    view.number = view.member[0].incarnation = 1;
    node_install(&node, &view);
    return sessions;
}

static void step(struct node_input in)
{
    struct node_output out;

    in.now_ms = now_ms;
    node_step(&node, &in);
    while (node_next_output(&node, &out)) {
        out.taken = out.type == NODE_TO_CLIENT ? 0 : out.len; /* what clients are told stays, to be looked at */
        out.blocked = out.type == NODE_TO_CLIENT;
        node_did(&node, &out);
    }
}

static struct client *come(void)
{
    return client_open(&node, NULL);
}

static void say(struct client *c, const char *line)
{
    bytes_consume(&c->out, bytes_len(&c->out));
    step((struct node_input){
        .type = NODE_CLIENT_BYTES, .client = c, .bytes = (const uint8_t *)line, .len = strlen(line)});
}

static const char *said(struct client *c)
{
    static char text[512];

    snprintf(text, sizeof text, "%.*s", (int)bytes_len(&c->out), (const char *)c->out.at + c->out.start);
    return text;
}

/* The number that an answer ends with. */
static uint64_t fence_of(const char *answer)
{
    const char *colon = strrchr(answer, ':');

    assert_non_null(colon);
    return strtoull(colon + 1, NULL, 10);
}

/* The process ends in order. If `parts`, its clients say goodbye when they are told to. */
static void end(struct client *c, bool parts)
{
    step((struct node_input){.type = NODE_LEAVE});
    if (parts) {
        assert_non_null(strstr(said(c), "session"));
        step((struct node_input){.type = NODE_CLIENT_CLOSED, .client = c});
        assert_true(node_has_left(&node));
    }
    bytes_free(&left);
    handover_write(&node, boot, &left);
    node_free(&node);
}

/* A client of a first process has a kept session and, by it, a lock. */
static struct client *hold(char id[33])
{
    const char *wrong;
    struct client *c;

    bytes_free(&left);
    now_ms = START_MS;
    assert_int_equal(begin(boot, &wrong), 0);
    c = come();
    say(c, "HELLO 3\n");
    say(c, "SESSION KEEP 5000\n");
    memcpy(id, strchr(said(c), '\n') + 1, 32);
    id[32] = '\0';
    say(c, "LOCK x\n");
    assert_string_equal(said(c), "*2\r\n$1\r\nx\r\n:101\r\n");
    say(c, "CONFIRM\n");
    return c;
}

static const char *resume(struct client *c, const char *id)
{
    char line[64];

    snprintf(line, sizeof line, "SESSION RESUME %s\n", id);
    say(c, line);
    return said(c);
}

static void a_session_goes_on_in_the_next_process_with_its_fence(void **state)
{
    static const char resumed[] = "*4\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:101\r\n*1\r\n$9\r\nexclusive\r\n";
    const char *wrong;
    struct client *c;
    uint64_t fence;
    char id[33];

    (void)state;
    end(hold(id), true);
    now_ms += 200;
    assert_int_equal(begin(boot, &wrong), 1);
    c = come();
    say(c, "LOCK x WAIT 0\n");
    assert_string_equal(said(c), "*-1\r\n"); /* no other client is granted it */
    assert_string_equal(resume(c, id), resumed);
    say(c, "UNLOCK x\n");
    say(c, "LOCK x\n");
    fence = fence_of(said(c));
    assert_in_range(fence, 102, 200); /* larger than all before */
    say(c, "HELLO 3\n");
    end(c, true); /* and so on */
    assert_int_equal(begin(boot, &wrong), 1);
    assert_int_equal(fence_of(resume(come(), id)), fence);
    node_free(&node);
}

static void keep_times_go_on_while_no_process_runs(void **state)
{
    const char *wrong;
    struct client *c;
    char id[33];

    (void)state;
    end(hold(id), true);
    now_ms += KEEP_MS - 100;
    assert_int_equal(begin(boot, &wrong), 1);
    c = come();
    say(c, "LOCK x WAIT 0\n");
    assert_string_equal(said(c), "*-1\r\n");
    now_ms += KEEP_MS / 5;
    step((struct node_input){.type = NODE_TIME});
    say(c, "LOCK x WAIT 0\n");
    assert_in_range(fence_of(said(c)), 102, 200);
    node_free(&node);

    end(hold(id), true);
    now_ms += 2 * KEEP_MS;
    assert_int_equal(begin(boot, &wrong), 0);
    assert_null(wrong);
    c = come();
    assert_non_null(strstr(resume(c, id), "NOSESSION"));
    say(c, "LOCK x WAIT 0\n");
    assert_in_range(fence_of(said(c)), 102, 200); /* its fences are larger all the same */
    node_free(&node);
}

/* Else a client that was stopped while the process was replaced could not resume its session for all of its keep time. */
static void a_daemon_alone_vouches_shortly_for_a_kept_session(void **state)
{
    const char *wrong;
    struct client *c;

    (void)state;
    now_ms = START_MS;
    bytes_free(&left);
    assert_int_equal(begin(boot, &wrong), 0);
    c = come();
    say(c, "LOCK y\n");
    say(c, "CONFIRM\n");
    assert_string_equal(said(c), ":3600000\r\n");
    c = come();
    say(c, "HELLO 3\n");
    say(c, "SESSION KEEP 60000\n");
    say(c, "LOCK x\n");
    say(c, "CONFIRM\n");
    assert_string_equal(said(c), ":10000\r\n");
    node_free(&node);
}

static void a_client_that_has_not_said_goodbye_may_believe(void **state)
{
    const char *wrong;
    struct client *c;
    char id[33];

    (void)state;
    end(hold(id), false);
    assert_int_equal(begin(boot, &wrong), 1);
    c = come();
    assert_string_equal(resume(c, id), "");
    now_ms += 9000;
    step((struct node_input){.type = NODE_TIME});
    assert_string_equal(said(c), "");
    now_ms += 3000; /* it was vouched for for ten seconds */
    step((struct node_input){.type = NODE_TIME});
    assert_string_equal(said(c), "*4\r\n$7\r\nRESUMED\r\n$1\r\nx\r\n:101\r\n*1\r\n$9\r\nexclusive\r\n");
    node_free(&node);
}

static void what_is_not_whole_is_not_used(void **state)
{
    const char *wrong;
    struct bytes all;
    char id[33];

    (void)state;
    end(hold(id), true);
    all = left;
    for (size_t k = 0; k < bytes_len(&all); k++) { /* torn, and damaged */
        left = (struct bytes){0};
        if (k)
            memcpy(bytes_add(&left, k), all.at + all.start, k);
        assert_int_equal(begin(boot, &wrong), 0);
        assert_true(k == 0 || wrong);
        node_free(&node);
        bytes_free(&left);
        memcpy(bytes_add(&left, bytes_len(&all)), all.at + all.start, bytes_len(&all));
        left.at[left.start + k] ^= 1;
        assert_int_equal(begin(boot, &wrong), 0);
        assert_non_null(wrong);
        node_free(&node);
        bytes_free(&left);
    }
    left = all;
    assert_int_equal(begin("another boot", &wrong), 0);
    assert_string_equal(wrong, "the machine has been started again since");
    node_free(&node);
    now_ms = START_MS - 1;
    assert_int_equal(begin(boot, &wrong), 0);
    assert_string_equal(wrong, "it was written later than now");
    node_free(&node);
    bytes_free(&left);
}

static void a_lock_of_a_token_goes_on(void **state)
{
    const char *wrong;
    struct client *c;
    char id[33];

    (void)state;
    c = hold(id);
    say(c, "LOCK t TOKEN mine TTL 60000\n");
    assert_int_equal(fence_of(said(c)), 101);
    say(c, "UNLOCK x\n");
    bytes_consume(&c->out, bytes_len(&c->out));
    step((struct node_input){.type = NODE_CLIENT_CLOSED, .client = c});
    end(NULL, false);
    now_ms += 200;
    assert_int_equal(begin(boot, &wrong), 1);
    c = come();
    say(c, "UNLOCK t TOKEN yours\n");
    assert_int_equal(said(c)[0], '-');
    say(c, "UNLOCK t TOKEN mine\n");
    assert_string_equal(said(c), "+OK\r\n");
    node_free(&node);
}

/* It is told to end a second time, or its time is over, before it has told all of its clients: it looks at one session in a turn. */
static void a_process_that_ends_early_leaves_the_sessions_of_all_its_clients(void **state)
{
    enum { CLIENTS = 4 };
    const char *wrong;
    char id[33], line[32];

    (void)state;
    piece = 1;
    hold(id);
    for (unsigned k = 1; k < CLIENTS; k++) {
        struct client *c = come();

        say(c, "SESSION KEEP 5000\n");
        snprintf(line, sizeof line, "LOCK y%u\n", k);
        say(c, line);
    }
    now_ms += 2000;
    step((struct node_input){.type = NODE_LEAVE});
    assert_false(node_has_left(&node));
    bytes_free(&left);
    assert_int_equal(handover_write(&node, boot, &left), CLIENTS);
    node_free(&node);
    now_ms += KEEP_MS - 100;
    assert_int_equal(begin(boot, &wrong), CLIENTS);
    assert_null(wrong);
    node_free(&node);
    piece = 0;
}

/* So does one whose client has resumed its session once before: the time of the session ran when it had no client. */
static void a_session_that_was_resumed_before_does_not_end_at_its_former_time(void **state)
{
    const char *wrong;
    struct client *c;
    char id[33];

    (void)state;
    c = hold(id);
    bytes_consume(&c->out, bytes_len(&c->out));
    step((struct node_input){.type = NODE_CLIENT_CLOSED, .client = c});
    assert_int_equal(*resume(come(), id), '*');
    now_ms += 2 * KEEP_MS;
    step((struct node_input){.type = NODE_TIME});
    bytes_free(&left);
    assert_int_equal(handover_write(&node, boot, &left), 1);
    node_free(&node);
    assert_int_equal(begin(boot, &wrong), 1);
    node_free(&node);
}

static void nothing_is_left_of_sessions_without_locks(void **state)
{
    struct client *c;
    char id[33];

    (void)state;
    c = hold(id);
    say(c, "UNLOCK x\n");
    end(c, true);
    assert_int_equal(bytes_len(&left), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_goes_on_in_the_next_process_with_its_fence),
        cmocka_unit_test(keep_times_go_on_while_no_process_runs),
        cmocka_unit_test(a_daemon_alone_vouches_shortly_for_a_kept_session),
        cmocka_unit_test(a_client_that_has_not_said_goodbye_may_believe),
        cmocka_unit_test(what_is_not_whole_is_not_used),
        cmocka_unit_test(a_lock_of_a_token_goes_on),
        cmocka_unit_test(a_process_that_ends_early_leaves_the_sessions_of_all_its_clients),
        cmocka_unit_test(a_session_that_was_resumed_before_does_not_end_at_its_former_time),
        cmocka_unit_test(nothing_is_left_of_sessions_without_locks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
