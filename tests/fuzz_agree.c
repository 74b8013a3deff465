/* Whatever a peer says of agreement: a member takes it or drops it. It does not crash, does not stop agreeing, never takes back
 * a view, and its journal can be read again. It is one of three that follows, asks for votes, leads, or has yet to join; or
 * there are three of them, and what is made up comes between what they say.
 *
 * Messages are bytes as they are, or made of numbers near those that the member knows: else little would be reached.
 * Invariant: I19. */
#include "agreement.h"
#include "fuzz.h"

enum { FOLLOWER, CANDIDATE, LEADER, JOINING, CLUSTER, ROLES };

static uint64_t newest[AGREEMENT_MAX]; /* the number of the newest view of each */

/* A number near another one, now and then far from all. */
static uint64_t fuzz_near(struct fuzz_input *in, uint64_t here)
{
    uint8_t how = fuzz_take(in);

    if (how == 255)
        return UINT64_MAX - fuzz_take(in) % 4;
    if (how == 254)
        return (uint64_t)fuzz_take(in) << 8 * (fuzz_take(in) % 8);
    return here + how % 8 - 3;
}

static void fuzz_add_view(struct raft_entry *e, struct fuzz_input *in, uint64_t number)
{
    struct bytes b = {0};
    struct view view;

    agreement_roster(&view, 1 + fuzz_take(in) % 5);
    view.number = number;
    if (number && fuzz_take(in) % 8 == 0) { /* with policies, sometimes very long ones, or none that can be read */
        view.policies.set = number - fuzz_take(in) % 2;
        view.policies.len = (uint16_t)(fuzz_take(in) % 4 * (SETTINGS_TEXT_MAX / 3));
        memset(view.policies.text, fuzz_take(in) % 16 ? 'x' : '\n', view.policies.len);
        if (view.policies.len && fuzz_take(in) % 8)
            view.policies.text[view.policies.len - 1] = '\n';
    }
    if (number && fuzz_take(in) % 8 == 0) { /* and rights */
        view.rights = view.policies;
        view.rights.set = number;
        view.rights.file = fuzz_take(in) % 2;
    }
    view_encode(&view, &b);
    e->buf = (struct raft_buffer){b.at, bytes_len(&b)}; /* nothing has been consumed of it */
}

static void fuzz_servers(struct raft_configuration *servers, struct fuzz_input *in)
{
    char address[8];

    raft_configuration_init(servers);
    for (unsigned k = 1 + fuzz_take(in) % 2; k <= 5u && fuzz_take(in) % 8; k++) {
        snprintf(address, sizeof address, "%u", k);
        raft_configuration_add(servers, k, address, fuzz_take(in) % 3);
    }
    if (!servers->n)
        raft_configuration_add(servers, 1, "1", RAFT_VOTER);
}

static void fuzz_entry(struct raft_entry *e, struct fuzz_input *in, raft_term term, uint64_t number)
{
    struct raft_configuration servers;

    *e = (struct raft_entry){.term = fuzz_take(in) % 4 ? term : fuzz_near(in, term), .type = RAFT_COMMAND};
    switch (fuzz_take(in) % 6) {
    case 0:
        fuzz_servers(&servers, in);
        e->type = RAFT_CHANGE;
        raft_configuration_encode(&servers, &e->buf);
        raft_configuration_close(&servers);
        break;
    case 1:
        e->type = fuzz_take(in) % 5;
        e->buf.len = 1 + fuzz_take(in) % 16;
        e->buf.base = malloc(e->buf.len);
        for (size_t k = 0; k < e->buf.len; k++)
            ((uint8_t *)e->buf.base)[k] = fuzz_take(in);
        break;
    default:
        fuzz_add_view(e, in, number);
    }
}

/* Some member, or none. */
static uint64_t fuzz_somebody(struct fuzz_input *in)
{
    return fuzz_take(in) % 6;
}

static void fuzz_append(uint64_t to, uint64_t from, struct fuzz_input *in, const struct journal *j)
{
    struct raft_message m = {.type = RAFT_IO_APPEND_ENTRIES};
    struct raft_append_entries *a = &m.append_entries;
    struct raft_entry entry[4];
    raft_index last = j->start + j->count - 1;

    a->term = fuzz_near(in, j->term);
    a->prev_log_index = fuzz_take(in) % 4 ? last : fuzz_near(in, fuzz_take(in) % 2 ? last : j->snapshot.index);
    a->prev_log_term = fuzz_take(in) % 8 ? journal_term(j, a->prev_log_index) : fuzz_near(in, j->term);
    a->leader_commit = fuzz_near(in, last + 2);
    a->n_entries = fuzz_take(in) % 5;
    a->entries = entry;
    for (unsigned k = 0; k < a->n_entries; k++)
        fuzz_entry(&entry[k], in, a->term, newest[to - 1] + 1 + k);
    agreement_say(to, from, &m);
    if (fuzz_take(in) % 4 == 0) /* twice */
        agreement_say(to, from, &m);
    for (unsigned k = 0; k < a->n_entries; k++)
        free(entry[k].buf.base);
}

static void fuzz_snapshot(uint64_t to, uint64_t from, struct fuzz_input *in, const struct journal *j)
{
    struct raft_message m = {.type = RAFT_IO_INSTALL_SNAPSHOT};
    struct raft_install_snapshot *s = &m.install_snapshot;
    struct raft_entry view = {0};

    s->term = fuzz_near(in, j->term);
    s->last_index = fuzz_near(in, j->start + j->count + 2);
    s->last_term = fuzz_take(in) % 2 ? s->term : fuzz_near(in, j->term);
    s->conf_index = fuzz_take(in) % 8 ? 1 : fuzz_near(in, s->last_index);
    fuzz_servers(&s->conf, in);
    fuzz_add_view(&view, in, newest[to - 1] + fuzz_take(in) % 8);
    s->data = view.buf;
    agreement_say(to, from, &m);
    raft_configuration_close(&s->conf);
    free(view.buf.base);
}

/* All that is of one size: votes, answers, TimeoutNow. */
static void fuzz_short(uint64_t to, uint64_t from, struct fuzz_input *in, const struct journal *j)
{
    struct raft_message m = {0};
    raft_term term = fuzz_near(in, j->term);
    raft_index last = j->start + j->count - 1;

    switch (fuzz_take(in) % 4) {
    case 0:
        m.type = RAFT_IO_REQUEST_VOTE;
        m.request_vote = (struct raft_request_vote){term,
                                                    fuzz_take(in) % 8 ? from : fuzz_somebody(in),
                                                    fuzz_near(in, last),
                                                    fuzz_near(in, j->term),
                                                    fuzz_take(in) % 2,
                                                    fuzz_take(in) % 8 == 0};
        break;
    case 1:
        m.type = RAFT_IO_REQUEST_VOTE_RESULT;
        m.request_vote_result =
            (struct raft_request_vote_result){term, fuzz_take(in) % 2, (raft_tribool)(fuzz_take(in) % 3)};
        break;
    case 2:
        m.type = RAFT_IO_APPEND_ENTRIES_RESULT;
        m.append_entries_result =
            (struct raft_append_entries_result){term, fuzz_take(in) % 2 ? 0 : fuzz_near(in, last), fuzz_near(in, last)};
        break;
    default:
        m.type = RAFT_IO_TIMEOUT_NOW;
        m.timeout_now = (struct raft_timeout_now){term, last, journal_term(j, last)};
    }
    agreement_say(to, from, &m);
}

static void fuzz_bytes(uint64_t to, uint64_t from, struct fuzz_input *in)
{
    uint8_t bytes[80];
    size_t len = fuzz_take(in) % sizeof bytes;

    for (size_t k = 0; k < len; k++)
        bytes[k] = fuzz_take(in);
    agree_receive(server_of(to)->agree, from, bytes, len);
}

/* A member that leads proposes what comes next, or hands over. */
static void fuzz_propose(uint64_t id, struct fuzz_input *in)
{
    struct view view;

    agreement_roster(&view, 1 + fuzz_take(in) % 5);
    view.number = agree_view(server_of(id)->agree)->number + 1;
    if (fuzz_take(in) % 4)
        agree_propose(server_of(id)->agree, &view);
    else
        agree_hand_over(server_of(id)->agree);
}

static void fuzz_look(uint64_t id)
{
    const struct agree *a = server_of(id)->agree;

    FUZZ_EXPECT(!agree_is_broken(a), "server %u: %s", (unsigned)id, agree_why_broken(a));
    FUZZ_EXPECT(agree_view(a)->number >= newest[id - 1], "server %u has taken back a view", (unsigned)id);
    newest[id - 1] = agree_view(a)->number;
}

static void fuzz_happen(uint64_t to, struct fuzz_input *in)
{
    const struct journal *j = agree_journal(server_of(to)->agree);
    uint64_t from = fuzz_take(in) % 8 ? 1 + (to + fuzz_take(in) % 2) % 3 : fuzz_somebody(in);

    switch (fuzz_take(in) % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        fuzz_append(to, from, in, j);
        break;
    case 6:
        fuzz_snapshot(to, from, in, j);
        break;
    case 7:
    case 8:
    case 9:
        fuzz_short(to, from, in, j);
        break;
    case 10:
        fuzz_bytes(to, from, in);
        break;
    case 11:
        fuzz_propose(to, in);
        break;
    case 12:
        if (fuzz_take(in) % 4 == 0)
            agreement_restart(to);
        break;
    default:
        for (unsigned k = fuzz_take(in) % 32; k > 0; k--)
            agreement_step();
    }
    fuzz_look(to);
}

/* Member 1 in this role, or all three. */
static void fuzz_begin(unsigned role)
{
    struct raft_message m = {.type = RAFT_IO_REQUEST_VOTE_RESULT};

    agreement_begin(1, 3, role == JOINING);
    if (role == CLUSTER) {
        agreement_begin(2, 3, false);
        agreement_begin(3, 3, false);
        FUZZ_EXPECT(agreement_elect(), "no member leads");
    }
    if (role == CANDIDATE || role == LEADER)
        for (unsigned k = 0; k < 2 * ELECTION_MS / STEP_MS + 20; k++)
            agreement_step();
    if (role == LEADER) {
        m.request_vote_result =
            (struct raft_request_vote_result){agree_journal(server[0].agree)->term, true, raft_tribool_false};
        agreement_say(1, 2, &m);
        FUZZ_EXPECT(agree_leads(server[0].agree), "a majority has voted for it");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    unsigned role = fuzz_take(&in) % ROLES;

    agreement_clear(fuzz_take(&in));
    memset(newest, 0, sizeof newest);
    fuzz_begin(role);
    while (in.at < in.end)
        fuzz_happen(role == CLUSTER ? 1 + fuzz_take(&in) % 3 : 1, &in);
    for (unsigned k = 0; k < 100; k++)
        agreement_step();
    for (uint64_t id = 1; id <= 3; id++)
        if (server_of(id)->agree) {
            fuzz_look(id);
            agreement_restart(id);
            fuzz_look(id);
        }
    agreement_end();
    return 0;
}
