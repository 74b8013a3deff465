/* agree_wire.c - see agree_wire.h. */
#include "agree_wire.h"

#include "base/pack.h"
#include "link/link.h"

enum {
    ENTRIES_BYTES_MAX = LINK_MESSAGE_MAX - 1024,
    ENTRIES_MAX = 1024,
    ENTRY_HEAD = 8 + 2 + 4,
    SERVERS_MAX = 128,
    CHANGE_FORMAT = 1
};

static uint8_t *wire_numbers(uint8_t *at, const uint64_t *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        at = pack_number(at, x[k], 8);
    return at;
}

/* How many of the entries fit into a message. The others follow when the receiver has acknowledged these: to it, they are entries that
 * the leader does not have yet, and to the leader, a message with them was lost. */
static unsigned wire_count(const struct raft_append_entries *a)
{
    size_t len = 0;
    unsigned k;

    for (k = 0; k < a->n_entries && len <= ENTRIES_BYTES_MAX; k++)
        len += ENTRY_HEAD + a->entries[k].buf.len;
    return len <= ENTRIES_BYTES_MAX || k == 1 ? k : k - 1;
}

static void wire_fixed(const struct raft_message *m, uint64_t x[5])
{
    switch (m->type) {
    case RAFT_IO_REQUEST_VOTE:
        x[0] = m->request_vote.term;
        x[1] = m->request_vote.candidate_id;
        x[2] = m->request_vote.last_log_index;
        x[3] = m->request_vote.last_log_term;
        x[4] = (m->request_vote.disrupt_leader ? 1 : 0) | (m->request_vote.pre_vote ? 2 : 0);
        break;
    case RAFT_IO_REQUEST_VOTE_RESULT:
        x[0] = m->request_vote_result.term;
        x[1] = m->request_vote_result.vote_granted;
        x[2] = m->request_vote_result.pre_vote;
        break;
    case RAFT_IO_APPEND_ENTRIES:
        x[0] = m->append_entries.term;
        x[1] = m->append_entries.prev_log_index;
        x[2] = m->append_entries.prev_log_term;
        x[3] = m->append_entries.leader_commit;
        x[4] = wire_count(&m->append_entries);
        if (x[4] < m->append_entries.n_entries &&
            x[3] > x[1] + x[4]) /* the rest of the receiver's log may be another one */
            x[3] = x[1] + x[4];
        break;
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        x[0] = m->append_entries_result.term;
        x[1] = m->append_entries_result.rejected;
        x[2] = m->append_entries_result.last_log_index;
        break;
    case RAFT_IO_INSTALL_SNAPSHOT:
        x[0] = m->install_snapshot.term;
        x[1] = m->install_snapshot.last_index;
        x[2] = m->install_snapshot.last_term;
        x[3] = m->install_snapshot.conf_index;
        break;
    default:
        x[0] = m->timeout_now.term;
        x[1] = m->timeout_now.last_log_index;
        x[2] = m->timeout_now.last_log_term;
    }
}

static void wire_entries(const struct raft_append_entries *a, unsigned count, struct bytes *to)
{
    for (unsigned k = 0; k < count; k++) {
        const struct raft_entry *e = &a->entries[k];
        uint8_t *at = bytes_add(to, ENTRY_HEAD + e->buf.len);

        at = pack_number(pack_number(pack_number(at, e->term, 8), e->type, 2), e->buf.len, 4);
        memcpy(at, e->buf.base, e->buf.len);
    }
}

static void wire_servers(const struct raft_configuration *conf, struct bytes *to)
{
    pack_number(bytes_add(to, 1), conf->n, 1);
    for (unsigned k = 0; k < conf->n; k++) {
        const struct raft_server *s = &conf->servers[k];
        size_t len = strlen(s->address);
        uint8_t *at = bytes_add(to, 8 + 1 + 1 + len);

        pack_text(pack_number(pack_number(at, s->id, 8), (uint64_t)s->role, 1), s->address, len);
    }
}

void agree_encode(const struct raft_message *m, struct bytes *to)
{
    uint64_t x[5] = {0};

    wire_fixed(m, x);
    wire_numbers(pack_number(bytes_add(to, 1 + sizeof x), m->type, 1), x, 5);
    if (m->type == RAFT_IO_APPEND_ENTRIES)
        wire_entries(&m->append_entries, (unsigned)x[4], to);
    if (m->type == RAFT_IO_INSTALL_SNAPSHOT) {
        const struct raft_buffer *data = &m->install_snapshot.data;

        wire_servers(&m->install_snapshot.conf, to);
        memcpy(bytes_add(to, data->len), data->base, data->len);
    }
}

/* All entries are in one block, as libraft requires. */
static bool unwire_entries(struct raft_append_entries *a, uint64_t count, struct unpack *u)
{
    size_t total = 0;
    char *batch;
    struct unpack look = *u;

    a->n_entries = (unsigned)count;
    a->entries = NULL;
    if (count > ENTRIES_MAX)
        return false;
    for (uint64_t k = 0; k < count; k++) {
        size_t len;

        unpack_number(&look, 8);
        unpack_number(&look, 2);
        len = unpack_number(&look, 4);
        if (look.wrong || len == 0 || len > (size_t)(look.end - look.at))
            return false;
        look.at += len;
        total += (len + 7) / 8 * 8;
    }
    if (look.at != look.end || count == 0)
        return look.at == look.end;
    a->entries = raft_calloc(count, sizeof *a->entries);
    batch = raft_malloc(total);
    for (uint64_t k = 0; k < count; k++) {
        struct raft_entry *e = &a->entries[k];

        e->term = unpack_number(u, 8);
        e->type = (unsigned short)unpack_number(u, 2);
        e->buf.len = unpack_number(u, 4);
        e->buf.base = batch;
        e->batch = a->entries[0].buf.base;
        memcpy(batch, u->at, e->buf.len);
        u->at += e->buf.len;
        batch += (e->buf.len + 7) / 8 * 8;
    }
    return true;
}

static bool unwire_server(struct raft_configuration *conf, uint64_t id, const char *address, uint64_t role)
{
    return id != 0 && role <= RAFT_SPARE && conf->n < SERVERS_MAX &&
           raft_configuration_add(conf, id, address, (int)role) == 0;
}

static bool unwire_servers(struct raft_configuration *conf, struct unpack *u)
{
    uint64_t count = unpack_number(u, 1);

    raft_configuration_init(conf);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t id = unpack_number(u, 8), role = unpack_number(u, 1);
        char address[256] = "";
        size_t len;
        const char *text = unpack_text(u, &len);

        memcpy(address, text, len);
        if (u->wrong || !unwire_server(conf, id, address, role)) {
            raft_configuration_close(conf);
            return false;
        }
    }
    return !u->wrong;
}

static bool unwire_snapshot(struct raft_install_snapshot *s, struct unpack *u)
{
    if (!unwire_servers(&s->conf, u))
        return false;
    s->data.len = (size_t)(u->end - u->at);
    s->data.base = s->data.len ? raft_malloc(s->data.len) : NULL;
    if (!s->data.base) {
        raft_configuration_close(&s->conf);
        return false;
    }
    memcpy(s->data.base, u->at, s->data.len);
    u->at = u->end;
    return true;
}

bool agree_decode(struct raft_message *m, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    uint64_t x[5];

    m->type = (unsigned short)unpack_number(&u, 1);
    for (unsigned k = 0; k < 5; k++)
        x[k] = unpack_number(&u, 8);
    if (u.wrong)
        return false;
    switch (m->type) {
    case RAFT_IO_REQUEST_VOTE:
        m->request_vote = (struct raft_request_vote){x[0], x[1], x[2], x[3], (x[4] & 1) != 0, (x[4] & 2) != 0};
        break;
    case RAFT_IO_REQUEST_VOTE_RESULT:
        if (x[2] > raft_tribool_false)
            return false;
        m->request_vote_result = (struct raft_request_vote_result){x[0], x[1] != 0, (raft_tribool)x[2]};
        break;
    case RAFT_IO_APPEND_ENTRIES:
        m->append_entries = (struct raft_append_entries){
            .term = x[0], .prev_log_index = x[1], .prev_log_term = x[2], .leader_commit = x[3]};
        return unwire_entries(&m->append_entries, x[4], &u);
    case RAFT_IO_APPEND_ENTRIES_RESULT:
        m->append_entries_result = (struct raft_append_entries_result){x[0], x[1], x[2]};
        break;
    case RAFT_IO_INSTALL_SNAPSHOT:
        m->install_snapshot =
            (struct raft_install_snapshot){.term = x[0], .last_index = x[1], .last_term = x[2], .conf_index = x[3]};
        return unwire_snapshot(&m->install_snapshot, &u);
    case RAFT_IO_TIMEOUT_NOW:
        m->timeout_now = (struct raft_timeout_now){x[0], x[1], x[2]};
        break;
    default:
        return false;
    }
    return u.at == u.end;
}

void agree_discard(struct raft_message *m)
{
    if (m->type == RAFT_IO_APPEND_ENTRIES && m->append_entries.n_entries) {
        raft_free(m->append_entries.entries[0].batch);
        raft_free(m->append_entries.entries);
    }
    if (m->type == RAFT_IO_INSTALL_SNAPSHOT) {
        raft_configuration_close(&m->install_snapshot.conf);
        raft_free(m->install_snapshot.data.base);
    }
}

void agree_encode_servers(const struct raft_configuration *conf, struct bytes *to)
{
    wire_servers(conf, to);
}

bool agree_decode_servers(struct raft_configuration *conf, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes, .end = bytes + len};

    return unwire_servers(conf, &u);
}

/* libraft's encoding: its format, the number of servers, and for each server its id, its address as a C string and its
 * role; then zeros, up to a multiple of eight bytes. */
bool agree_decode_change(struct raft_configuration *conf, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes, .end = bytes + len};
    bool known = unpack_number(&u, 1) == CHANGE_FORMAT, voters = false;
    uint64_t count = unpack_number(&u, 8);

    raft_configuration_init(conf);
    for (uint64_t k = 0; known && k < count; k++) {
        uint64_t id = unpack_number(&u, 8), role;
        const char *address = (const char *)u.at;
        const uint8_t *end = memchr(u.at, '\0', (size_t)(u.end - u.at));

        u.at = end ? end + 1 : u.end;
        role = unpack_number(&u, 1);
        known = end && !u.wrong && unwire_server(conf, id, address, role);
        voters = voters || role == RAFT_VOTER;
    }
    if (!known || u.wrong || !voters || u.end - u.at >= 8) {
        raft_configuration_close(conf);
        return false;
    }
    return true;
}
