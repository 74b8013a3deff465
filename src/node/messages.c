/* messages.c - see messages.h. */
#include "messages.h"

#include "agreed.h"
#include "base/pack.h"
#include "base/plain.h"
#include "lease.h"
#include "link/registry.h"
#include "policies.h"
#include "roster.h"
#include "rules.h"

#include <assert.h>

enum { BEAT_SIZE = 1 + 8 * 8 + 1, LATE_MAX = 1 << 28 };
/* The flag of a NOTE_WISH that is not a wish. It says that the sender knows of agreed settings, and `id` is the lease of its configuration. It is a
 * flag because members of earlier builds refuse a note of an unknown type, and ignore a wish with unknown flags. If the sender knows of agreed
 * policies, `name` has two numbers of 8 bytes: the digest of the policies in its configuration, and a hash of its algorithms. If the sender also knows
 * of agreed rights, a third number follows: the digest of the rights in its configuration. */
enum { ABILITY = 4 };
_Static_assert(VIEW_MEMBERS_MAX <= 64, "a heartbeat has one bit for each member in a number of 8 bytes");

/* ------------------------------------------------------------------------------------------------------------ letters */

static void message_say(struct member *m, unsigned type, uint64_t number, unsigned bytes)
{
    pack_number(pack_number(link_send(&m->link, 1 + bytes), type, 1), number, bytes);
}

void message_send_view(struct member *m, uint64_t number)
{
    message_say(m, LETTER_VIEW, number, 8);
}

void message_send_announced(struct member *m, uint64_t highest_fence)
{
    message_say(m, LETTER_ANNOUNCED, highest_fence, 8);
}

/* All letters that follow belong to the view `number`. Returns false if that view is not installed here yet. */
static bool message_hear_view(const struct node *node, struct member *m, uint64_t number)
{
    if (number > node->view.number)
        return false;
    m->letters_view = number;
    return true;
}

/* The member at place `k` has sent its whole digest. Returns null, or what is wrong. */
static const char *message_hear_announced(struct node *node, uint32_t k, uint64_t highest_fence)
{
    if (!locks_has_digest(&node->locks, node->part[k]) || node->member[k]->announced)
        return "an announcement before the whole digest, or a second one";
    locks_hear_fence(&node->locks, highest_fence);
    node->member[k]->announced = true;
    node_try_open(node);
    return NULL;
}

/* Receives a letter, the form of which has been checked. Returns false if it must wait. A wrong letter ends the
 * connection. */
static bool message_take_letter(struct node *node, uint32_t k, const uint8_t *bytes, size_t len)
{
    struct member *m = node->member[k];
    struct unpack u = {.at = bytes, .end = bytes + len};
    enum message_type type = (enum message_type)unpack_number(&u, 1);
    const char *wrong = NULL;
    bool taken = true;

    assert(registry[type].sort == LINK_LETTER);
    if (type == LETTER_VIEW)
        taken = message_hear_view(node, m, unpack_number(&u, 8));
    else if (registry[type].part == PART_KEEP)
        taken = keep_hear(node, k, bytes, len, &wrong);
    else if (m->letters_view != node->view.number || !node->takes_part || !node->view.member[k].incarnation)
        return true; /* a letter of an earlier view is discarded */
    else if (type == LETTER_ANNOUNCED)
        wrong = message_hear_announced(node, k, unpack_number(&u, 8));
    else if (type == LETTER_DIGEST && m->announced)
        wrong = "a digest after its end was announced";
    else if (type == LETTER_DIGEST)
        wrong = locks_hear_digest(&node->locks, node->part[k], bytes, len);
    else if (!node->locks.open)
        taken = false; /* it is about a lock or a token, and waits until the view has opened */
    else if (registry[type].part == PART_TOKEN)
        wrong = token_hear(node, k, bytes, len);
    else
        wrong = locks_receive(&node->locks, node->part[k], bytes, len);
    if (wrong) {
        link_refuse(&m->link, wrong);
        m->link.banned = true;
    }
    return taken;
}

void message_take_late(struct node *node, uint32_t k)
{
    struct member *m = node->member[k];

    while (bytes_len(&m->late) && node->late_left) {
        struct unpack u = {.at = m->late.at + m->late.start, .end = m->late.at + m->late.end};
        size_t len = unpack_number(&u, 4);

        if (!message_take_letter(node, k, u.at, len))
            return;
        bytes_consume(&m->late, 4 + len);
        node->late_left--;
    }
    node->late_again |= bytes_len(&m->late) > 0;
}

/* Returns false, and refuses the connection, if the message has no known form, or if the sender must not send it on this link. A
 * sender that does not keep to the version of the link is refused for good. */
static bool message_check(struct member *m, enum link_sort sort, const uint8_t *bytes, size_t len)
{
    const char *wrong = NULL;
    const struct registry_entry *entry = registry_check(sort, bytes, len, &wrong);

    if (entry && entry->since > m->link.version && !link_speaks(&m->link, entry->since)) {
        wrong = "a message of a later version of the protocol than the one of this link";
        m->link.banned = true;
    }
    if (wrong)
        link_refuse(&m->link, wrong);
    return !wrong;
}

void message_letter(struct node *node, uint32_t k, const uint8_t *bytes, size_t len)
{
    struct member *m = node->member[k];

    if (m->letters_incarnation != m->link.peer_incarnation) {
        bytes_free(&m->late);
        m->letters_view = 0;
        m->letters_incarnation = m->link.peer_incarnation;
    }
    if (!message_check(m, LINK_LETTER, bytes, len)) {
        m->link.banned = true;
        return;
    }
    if (bytes_len(&m->late))
        message_take_late(node, k);
    if (bytes_len(&m->late) == 0 && message_take_letter(node, k, bytes, len))
        return;
    if (bytes_len(&m->late) > LATE_MAX) {
        link_refuse(&m->link, "too many letters of a view that is not installed here");
        m->link.banned = true;
        return;
    }
    memcpy(pack_number(bytes_add(&m->late, 4 + len), len, 4), bytes, len);
}

/* -------------------------------------------------------------------------------------------------------------- notes */

void message_send_agreement(struct member *m, const uint8_t *bytes, size_t len)
{
    struct bytes b = {0};

    memcpy(pack_number(pack_number(bytes_add(&b, 1 + 8 + len), NOTE_AGREEMENT, 1), m->id, 8), bytes, len);
    link_note(&m->link, b.at + b.start, bytes_len(&b));
    bytes_free(&b);
}

void message_send_beat(struct member *m, const struct beat *beat)
{
    uint8_t note[BEAT_SIZE], *at = pack_number(note, NOTE_BEAT, 1);

    at = pack_number(pack_number(pack_number(at, beat->view, 8), beat->sent_ms, 8), beat->echo_ms, 8);
    at = pack_number(pack_number(at, beat->hears, 8), beat->dropped, 8);
    at = pack_number(pack_number(at, beat->owes_nothing, 8), beat->drops, 8);
    at = pack_number(at, beat->id, 8);
    pack_number(at, (beat->leads ? 1 : 0) | (beat->leaves ? 2 : 0) | (beat->stray ? 4 : 0) | (beat->wants_view ? 8 : 0),
                1);
    link_note(&m->link, note, sizeof note);
    if (m->link.self->newest > LINK_VERSION) { /* in tests only: see NOTE_NEXT */
        const uint8_t next[] = {NOTE_NEXT, m->link.self->newest};

        link_note(&m->link, next, sizeof next);
    }
}

static bool message_read_beat(struct unpack *u, struct beat *beat)
{
    uint64_t flags;

    beat->view = unpack_number(u, 8);
    beat->sent_ms = unpack_number(u, 8);
    beat->echo_ms = unpack_number(u, 8);
    beat->hears = unpack_number(u, 8);
    beat->dropped = unpack_number(u, 8);
    beat->owes_nothing = unpack_number(u, 8);
    beat->drops = unpack_number(u, 8);
    beat->id = unpack_number(u, 8);
    flags = unpack_number(u, 1);
    beat->leads = flags & 1;
    beat->leaves = flags & 2;
    beat->stray = flags & 4;
    beat->wants_view = flags & 8;
    return flags < 16;
}

void message_send_roster(const struct node *node, uint32_t k)
{
    struct bytes b = {0};

    pack_number(bytes_add(&b, 1), NOTE_ROSTER, 1);
    view_encode(&node->view, &b);
    link_note(&node->member[k]->link, b.at + b.start, bytes_len(&b));
    bytes_free(&b);
}

/* A view that another member has installed is agreed. The leader may not be able to send it to us: it may have been
 * added to the roster while we were away, so that we do not know it, or we may have been removed. */
static void message_hear_news(struct node *node, const struct view *view)
{
    uint32_t place = view_find(view, agree_journal(node->agree)->member);

    if (view->number <= node->view.number || view->cluster != node->view.cluster)
        return;
    if (place != VIEW_MEMBERS_MAX && strcmp(view->member[place].name, node->conf.name) == 0)
        node_install(node, view);
    else if (place == VIEW_MEMBERS_MAX && !node->takes_part && !node->replaced) {
        node->replaced = node->news = true;
        locks_send_away(&node->locks);
    }
}

static void message_hear_roster(struct node *node, const struct unpack *u)
{
    struct view view;
    uint32_t place;
    char line[256];
    struct dme_text why;

    if (!node->agree || !view_decode(&view, u->at, (size_t)(u->end - u->at)))
        return;
    if (agree_knows_itself(node->agree)) {
        message_hear_news(node, &view);
        return;
    }
    place = view_find_name(&view, node->conf.name, strlen(node->conf.name));
    if (place == VIEW_MEMBERS_MAX || view.member[place].disk) /* not added yet; or another process has this name */
        return;
    dme_text_init(&why, line, sizeof line);
    if (agree_join(node->agree, &view, view.member[place].id, &why) && agree_begin(node->agree, node->now_ms, &why)) {
        node->self.disk = agree_journal(node->agree)->disk_id;
        node_install(node, &view);
        node_begin_incarnation(node); /* so that all get to know the data directory */
    }
}

void message_send_wish(const struct node *node, const struct node_wish *wish)
{
    uint64_t leader = node->agree ? agree_leader(node->agree) : 0;
    uint32_t k = view_find(&node->view, leader);
    size_t name = strlen(wish->name), address = strlen(wish->address);
    uint8_t note[1 + 1 + 8 + 2 + LINK_NAME_MAX + VIEW_ADDRESS_MAX], *at = note;

    if (k == VIEW_MEMBERS_MAX || k == node->place)
        return;
    at = pack_number(pack_number(at, NOTE_WISH, 1), (wish->add ? 1 : 0) | (wish->force ? 2 : 0), 1);
    at = pack_number(at, wish->id, 8);
    at = pack_text(pack_text(at, wish->name, name), wish->address, address);
    link_note(&node->member[k]->link, note, (size_t)(at - note));
}

static bool message_read_text(struct unpack *u, char *text, size_t max)
{
    size_t len;
    const char *at = unpack_text(u, &len);

    if (u->wrong || len > max || memchr(at, '\0', len))
        return false;
    memcpy(text, at, len);
    text[len] = '\0';
    return true;
}

static void message_hear_wish(struct node *node, uint32_t k, struct unpack *u)
{
    uint64_t flags = unpack_number(u, 1);
    struct node_wish wish = {.add = flags & 1, .force = flags & 2, .id = unpack_number(u, 8)};

    if (flags == ABILITY) {
        struct member *m = node->member[k];
        size_t len;
        struct unpack more = {.at = (const uint8_t *)unpack_text(u, &len)};

        m->able = m->link.peer_incarnation;
        m->file_lease_ms = wish.id;
        more.end = more.at + len;
        m->file_policies = unpack_number(&more, 8);
        m->algorithms = unpack_number(&more, 8);
        m->able_policies = more.wrong ? 0 : m->able;
        m->file_rights = unpack_number(&more, 8);
        m->able_rights = more.wrong ? 0 : m->able;
    }
    if (flags < ABILITY && message_read_text(u, wish.name, LINK_NAME_MAX) &&
        message_read_text(u, wish.address, VIEW_ADDRESS_MAX) && u->at == u->end && roster_suits(&wish, &node->view))
        node_change_roster(node, &wish);
}

void message_send_ability(const struct node *node, struct member *m)
{
    uint8_t note[1 + 1 + 8 + 1 + 8 + 8 + 8 + 1], *at = note;
    bool rules = !node->conf.without_rights;

    if (!node->agree || node->conf.without_settings)
        return;
    at = pack_number(pack_number(pack_number(at, NOTE_WISH, 1), ABILITY, 1), node->file_lease_ms, 8);
    if (node->conf.find_algorithm && !node->conf.without_policies) {
        at = pack_number(pack_number(at, rules ? 24 : 16, 1), policies_file(node, node->place), 8);
        at = pack_number(at, node->conf.algorithms, 8);
        if (rules)
            at = pack_number(at, rules_file(node, node->place), 8);
    } else {
        at = pack_number(at, 0, 1);
    }
    at = pack_number(at, 0, 1);
    link_note(&m->link, note, (size_t)(at - note));
}

void message_send_setting(const struct node *node, const struct settings_wish *wish)
{
    uint64_t leader = node->agree ? agree_leader(node->agree) : 0;
    uint32_t k = view_find(&node->view, leader);
    size_t by = strlen(wish->by);
    uint8_t note[1 + 1 + 4 + 8 + 1 + SETTINGS_BY_MAX], *at = note;

    if (k == VIEW_MEMBERS_MAX || k == node->place || !agreed_is_able(node, k))
        return;
    at = pack_number(pack_number(at, NOTE_SETTING, 1), wish->file, 1);
    at = pack_number(pack_number(at, wish->lease_ms, 4), wish->base, 8);
    at = pack_text(at, wish->by, by);
    link_note(&node->member[k]->link, note, (size_t)(at - note));
}

static void message_hear_setting(struct node *node, struct unpack *u)
{
    uint64_t flags = unpack_number(u, 1);
    struct settings_wish wish = {.file = flags & 1, .lease_ms = (uint32_t)unpack_number(u, 4)};

    wish.base = unpack_number(u, 8);
    if (flags < 2 && message_read_text(u, wish.by, SETTINGS_BY_MAX) && plain_text(wish.by, strlen(wish.by)))
        agreed_hear_wish(node, &wish);
}

static void message_send_text(const struct node *node, enum message_type type, uint32_t k,
                              const struct settings_text *wish)
{
    size_t by = strlen(wish->by);
    struct bytes b = {0};
    uint8_t *at;

    at = bytes_add(&b, 1 + 1 + 8 + 1 + by + 2 + wish->len);
    at = pack_number(pack_number(pack_number(at, type, 1), wish->file, 1), wish->set, 8);
    pack_long(pack_text(at, wish->by, by), wish->text, wish->len);
    link_note(&node->member[k]->link, b.at + b.start, bytes_len(&b));
    bytes_free(&b);
}

/* The place of the leader, if it is another member; or VIEW_MEMBERS_MAX. */
static uint32_t message_leader(const struct node *node)
{
    uint32_t k = view_find(&node->view, node->agree ? agree_leader(node->agree) : 0);

    return k == node->place ? VIEW_MEMBERS_MAX : k;
}

void message_send_policies(const struct node *node, const struct settings_text *wish)
{
    uint32_t k = message_leader(node);

    if (k != VIEW_MEMBERS_MAX && policies_is_able(node, k))
        message_send_text(node, NOTE_POLICIES, k, wish);
}

void message_send_rights(const struct node *node, const struct settings_text *wish)
{
    uint32_t k = message_leader(node);

    if (k != VIEW_MEMBERS_MAX && rules_is_able(node, k))
        message_send_text(node, NOTE_RIGHTS, k, wish);
}

static void message_hear_text(struct node *node, struct unpack *u,
                              void (*hear)(struct node *node, const struct settings_text *wish))
{
    uint64_t flags = unpack_number(u, 1);
    struct settings_text wish = {.file = flags & 1, .set = unpack_number(u, 8)};
    bool good = flags < 2 && message_read_text(u, wish.by, SETTINGS_BY_MAX) && plain_text(wish.by, strlen(wish.by));
    size_t len;
    const char *text = unpack_long(u, &len);

    if (!good || u->wrong || !settings_is_text(text, len))
        return;
    memcpy(wish.text, text, len);
    wish.len = (uint16_t)len;
    hear(node, &wish);
}

/* Should this member send the roster to the sender of the heartbeat? A sender that does not know its own id gets the
 * roster only from a member with a valid lease: an outdated roster may list it under the id that it had before it was
 * removed and added again. A sender with an outdated view should hear of the newest one from the leader first. */
static bool message_should_tell(const struct node *node, const struct beat *beat)
{
    if (beat->stray)
        return node->agree && node->locks.grants;
    return node->agree && beat->view < node->view.number && node->now_ms - node->installed_ms > node->conf.lease_ms;
}

static void message_hear_beat(struct node *node, uint32_t k, struct unpack *u)
{
    struct beat beat;

    if (!message_read_beat(u, &beat)) {
        link_refuse(&node->member[k]->link, "an invalid heartbeat");
        return;
    }
    if (!beat.stray &&
        beat.id == node->member[k]->id) /* else the sender was removed, and another member has its name */
        lease_hear(node, k, &beat);
    if (message_should_tell(node, &beat))
        message_send_roster(node, k);
}

void message_note(struct node *node, uint32_t k, const uint8_t *bytes, size_t len)
{
    struct unpack u = {.at = bytes + 1, .end = bytes + len};
    const char *wrong = NULL;

    if (!message_check(node->member[k], LINK_NOTE, bytes, len))
        return;
    switch (bytes[0]) {
    case NOTE_BEAT:
        message_hear_beat(node, k, &u);
        break;
    case NOTE_AGREEMENT:
        if (node->agree && unpack_number(&u, 8) == agree_journal(node->agree)->member)
            agree_receive(node->agree, node->member[k]->id, u.at, (size_t)(u.end - u.at));
        break;
    case NOTE_ROSTER:
        message_hear_roster(node, &u);
        break;
    case NOTE_WISH:
        message_hear_wish(node, k, &u);
        break;
    case NOTE_SETTING:
        message_hear_setting(node, &u);
        break;
    case NOTE_POLICIES:
        message_hear_text(node, &u, policies_hear_wish);
        break;
    case NOTE_RIGHTS:
        message_hear_text(node, &u, rules_hear_wish);
        break;
    case NOTE_NEXT:
        break;
    case DEADLOCK_PROBE:
    case DEADLOCK_CONFIRM:
        wrong = deadlock_hear(node, bytes[0] == DEADLOCK_CONFIRM, &u);
        break;
    default:
        wrong = admin_receive(node, k, bytes, len);
    }
    if (wrong)
        link_refuse(&node->member[k]->link, wrong);
}
