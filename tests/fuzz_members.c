/* Whatever a peer says of members: heartbeats, views, wishes, agreement. A member of a real cluster of three, of which two run
 * and have elected a leader, hears what is made up in the name of the other one. It does not crash, does not stop agreeing, and
 * a view is followed by later ones only. Lies can make it install a view on which no member agreed; that is not looked at. But
 * the member uses the rights and the policies of the view that it has installed, and no others.
 * Invariants: I16, I19, I34. */
#include "fuzz_messages.h"

#include "alg/list.h"
#include "cluster.h"
#include "node/policies.h"
#include "node/rules.h"
#include "test.h"

#include <string.h>

enum { LEASE_MS = 1000, NOTE = 5 /* the type of the frame (link.c) */ };

static const char *const fuzz_names[] = {"ant", "bee", "cat"};
static struct node node[2];
static struct cluster two = {.n = 2, .node = node, .deaf = true};
static uint64_t fuzz_dice;

static enum disk_status fuzz_written(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return DISK_WRITTEN;
}

static uint64_t fuzz_random(void *user)
{
    (void)user;
    return test_random(&fuzz_dice);
}

static void fuzz_roster(struct view *view)
{
    char address[24];

    view_begin(view);
    for (unsigned k = 0; k < 3; k++) {
        snprintf(address, sizeof address, "10.0.0.%u:1", k);
        view_add(view, fuzz_names[k], address, VIEW_MEMBER);
    }
}

static void fuzz_start(unsigned k)
{
    static const struct disk disk = {NULL, fuzz_written, fuzz_written};
    struct view view;
    char line[256];
    struct dme_text why;

    fuzz_roster(&view);
    dme_text_init(&why, line, sizeof line);
    node_init(&node[k], &(struct node_conf){.name = fuzz_names[k],
                                            .summary = "",
                                            .algorithm = alg_find("central"),
                                            .slots_algorithm = alg_find("central"),
                                            .find_algorithm = alg_find,
                                            .algorithms = 1,
                                            .lease_ms = LEASE_MS,
                                            .random = fuzz_random});
    FUZZ_EXPECT(node_agree(&node[k], &disk, NULL, 0, &view, false, 1, &why), "%s", line);
}

static void fuzz_elect(void)
{
    cluster_connect(&two, 0, 1);
    for (uint64_t ms = 10; ms < 20 * LEASE_MS && !(node_is_open(&node[0]) && node_is_open(&node[1])); ms += 10) {
        cluster_pass(&two, ms);
        cluster_settle(&two);
    }
    FUZZ_EXPECT(node_is_open(&node[0]) && node_is_open(&node[1]), "they do not come together");
}

/* The member in whose name is spoken; null: it is no member any more, or its connection has ended. */
static struct member *fuzz_speaker(unsigned to)
{
    struct member *m = cluster_member(&two, to, 1 - to);

    return m && m->link.state == LINK_UP ? m : NULL;
}

/* Policies or rights of the view, or bytes that are none. */
static void fuzz_setting(struct fuzz_input *in, struct settings_text *p, bool rights, uint64_t number)
{
    static const char *const all[2][5] = {
        {"policy a* algorithm=raymond slots-algorithm=central slots=2\n", "policy x algorithm=lamport slots=none\n",
         "policy [a-c]? algorithm=central slots-algorithm=raymond-k\n", "policy *\n", "policy ? algorithm=none-such\n"},
        {"allow key:ci lock,watch a*\n", "limit any locks=3 connections=2\n", "login web pbkdf2\n",
         "allow auth:web shared *\n", "allow robot:7 lock *\n"}};
    const char *const *lines = all[rights];

    memset(p, 0, sizeof *p);
    p->set = number - fuzz_take(in) % 2;
    for (unsigned k = fuzz_take(in) % 4; k; k--) {
        unsigned which = fuzz_take(in) % 8;
        const char *line = lines[which % 5 < 3 || fuzz_take(in) % 8 == 0 ? which % 5 : 0];

        memcpy(p->text + p->len, line, strlen(line));
        p->len = (uint16_t)(p->len + strlen(line));
    }
    if (p->len && fuzz_take(in) % 8 == 0)
        p->text[fuzz_take(in) % p->len] = (char)fuzz_take(in);
    p->file = rights && (p->len == 0) == (fuzz_take(in) % 16 > 0);
}

/* The view that the member knows, or one after it, changed here and there. */
static void fuzz_view(struct fuzz_input *in, unsigned to, struct bytes *b)
{
    struct view view = node[to].view;

    view.number += fuzz_take(in) % 3;
    for (unsigned k = fuzz_take(in) % 4; k > 0 && view.count; k--) {
        struct view_member *m = &view.member[fuzz_take(in) % view.count];

        switch (fuzz_take(in) % 11) {
        case 0:
            m->incarnation = fuzz_take(in) % 2 ? 0 : m->incarnation + fuzz_take(in) % 4;
            break;
        case 1:
            m->standing = fuzz_take(in) % 3;
            break;
        case 2:
            m->disk = fuzz_take(in);
            break;
        case 3:
            view_remove(&view, (uint32_t)(m - view.member));
            break;
        case 4:
            view_add(&view, "dog", "10.0.0.9:1", (enum view_standing)(fuzz_take(in) % 3));
            break;
        case 5:
            memcpy(m->name, fuzz_names[fuzz_take(in) % 3], 4);
            break;
        case 6:
            view.number = UINT64_MAX - fuzz_take(in) % 2;
            break;
        case 7:
            view.lease = (struct settings_lease){.lease_ms = 100 * (uint32_t)(fuzz_take(in) % 20),
                                                 .promise_ms = 100 * (uint32_t)(fuzz_take(in) % 20),
                                                 .grows = fuzz_take(in) % 2,
                                                 .step = view.number - fuzz_take(in) % 2,
                                                 .set = 1};
            break;
        case 8:
            fuzz_setting(in, &view.policies, false, view.number);
            break;
        case 9:
            fuzz_setting(in, &view.rights, true, view.number);
            break;
        default:
            view.counted_since = fuzz_take(in);
        }
    }
    view_encode(&view, b);
}

/* A request for policies or rights, of bytes as they come or of lines that a member can use. */
static void fuzz_wish(struct fuzz_input *in, struct bytes *note, enum message_type type, uint64_t base)
{
    struct settings_text text;
    uint8_t *at;

    fuzz_setting(in, &text, type == NOTE_RIGHTS, base + fuzz_take(in) % 2);
    at = bytes_add(note, 1 + 1 + 8 + 1 + 3 + 2 + text.len);
    at = pack_number(pack_number(pack_number(at, type, 1), fuzz_take(in) % 3, 1), base, 8);
    pack_long(pack_text(at, "you", 3), text.text, text.len);
}

static void fuzz_note(struct fuzz_input *in, unsigned to)
{
    enum message_type type = fuzz_type(in, PART_MEMBER);
    struct bytes view = {0}, note = {0}, frame = {0};
    struct member *m = fuzz_speaker(to);

    if (type == NOTE_ROSTER)
        fuzz_view(in, to, &view);
    if (type == NOTE_POLICIES && fuzz_take(in) % 4)
        fuzz_wish(in, &note, type, node[to].view.policies.set);
    else if (type == NOTE_RIGHTS && fuzz_take(in) % 4)
        fuzz_wish(in, &note, type, node[to].view.rights.set);
    else
        fuzz_message(in, &note, type, fuzz_names, 3, type == NOTE_ROSTER ? &view : NULL);
    pack_number(pack_number(bytes_add(&frame, 5), 1 + bytes_len(&note), 4), NOTE, 1);
    memcpy(bytes_add(&frame, bytes_len(&note)), note.at + note.start, bytes_len(&note));
    if (m)
        cluster_tell(
            &two, to,
            (struct node_input){
                .type = NODE_PEER_BYTES, .member = m, .bytes = frame.at + frame.start, .len = bytes_len(&frame)});
    bytes_free(&view);
    bytes_free(&note);
    bytes_free(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    unsigned to = fuzz_take(&in) % 2;
    uint64_t number, ms;

    fuzz_dice = fuzz_take(&in);
    fuzz_start(0);
    fuzz_start(1);
    fuzz_elect();
    number = node[to].view.number;
    ms = node[to].now_ms;
    while (in.at < in.end && fuzz_speaker(to) && !*node[to].unfit) {
        if (fuzz_take(&in) % 4 == 0)
            cluster_tell(&two, to, (struct node_input){.type = NODE_TIME, .now_ms = ms += fuzz_take(&in)});
        fuzz_note(&in, to);
        /* If its build cannot use the policies or the rights of a view, it ends, and has not installed the view. */
        FUZZ_EXPECT(!node_broken(&node[to]) || *node[to].unfit, "%s", node_broken(&node[to]));
        FUZZ_EXPECT(node[to].view.number >= number, "an older view");
        FUZZ_EXPECT(!rules_check(&node[to]), "other rights than those of the view");
        FUZZ_EXPECT(!policies_check(&node[to]), "other policies than those of the view");
        number = node[to].view.number;
    }
    cluster_tell(&two, to, (struct node_input){.type = NODE_TIME, .now_ms = ms + 10 * LEASE_MS});
    cluster_end(&two);
    return 0;
}
