/* command_config.c - settings on which the members agree (node/agreed.h), as an operator asks for them. */
#include "command.h"
#include "permit.h"

#include "node/agreed.h"
#include "node/audit.h"
#include "node/policies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void command_add_text(struct client *c, const char *key, const char *value)
{
    resp_text(&c->out, key);
    resp_text(&c->out, value);
}

/* The part of the answer that is the same for all settings. The caller adds an item for each member. */
static void command_show_setting(struct client *c, uint64_t view, bool file, const char *by, bool under_way)
{
    command_add_text(c, "source", !view ? "file" : file ? "agreed as in the files" : "agreed");
    resp_text(&c->out, "view");
    resp_integer(&c->out, view);
    command_add_text(c, "by", by);
    resp_text(&c->out, "under_way");
    resp_boolean(&c->out, c->protocol, under_way);
    resp_text(&c->out, "files");
    resp_array(&c->out, c->session->node->view.count);
}

static void command_show_file(struct client *c, uint32_t k, const char *value)
{
    resp_map(&c->out, c->protocol, 2);
    command_add_text(c, "member", c->session->node->view.member[k].name);
    command_add_text(c, "value", value);
}

/* The setting in use, where it comes from, and what the configuration of each member says. */
static void command_show_lease(struct client *c)
{
    const struct node *node = c->session->node;
    const struct settings_lease *s = &node->view.lease;
    char value[24];

    resp_map(&c->out, c->protocol, 7);
    snprintf(value, sizeof value, "%" PRIu32, settings_target_ms(s, (uint32_t)node->file_lease_ms));
    command_add_text(c, "key", "lease");
    command_add_text(c, "value", value);
    command_show_setting(c, s->set, s->file, s->by, node->setting.until_ms || settings_is_under_way(s));
    for (uint32_t k = 0; k < node->view.count; k++) {
        uint64_t ms = k == node->place ? node->file_lease_ms : agreed_file_ms(node, k);

        snprintf(value, sizeof value, "%" PRIu64, ms);
        command_show_file(c, k, ms || k == node->place ? value : "");
    }
}

static void command_show_policies(struct client *c)
{
    const struct node *node = c->session->node;
    const struct settings_policies *p = &node->view.policies;
    char value[48];
    size_t len;
    const char *text = policies_text(node, &len);
    uint64_t digest = policies_digest(text, len);

    resp_map(&c->out, c->protocol, 7);
    command_add_text(c, "key", "policies");
    resp_text(&c->out, "value");
    resp_text(&c->out, text);
    command_show_setting(c, p->set, p->file, p->by, node->policing.until_ms);
    for (uint32_t k = 0; k < node->view.count; k++) {
        uint64_t file = policies_file(node, k);

        snprintf(value, sizeof value, file == digest ? "the same" : "others: %016" PRIx64, file);
        command_show_file(c, k, file ? value : "");
    }
}

/* ------------------------------------------------------------------------------------------------------------- changes */

/* The answer only says that the change was requested: CONFIG SHOW tells when it has begun and ended. */
static void command_answer_change(struct client *c, const char *wrong, const char *what)
{
    if (wrong) {
        resp_error(&c->out, "ERR", wrong);
        return;
    }
    audit_tell(&(struct audit){.what = AUDIT_CONFIG, .session = c->session, .name = "", .text = what});
    resp_simple(&c->out, "OK");
}

/* `value` is null: the one of the configurations. */
static void command_change_lease(struct client *c, const struct resp_word *value)
{
    struct settings_wish wish = {.file = !value};
    uint64_t ms = 0;
    char text[64];

    if (value && (!command_number(*value, SETTINGS_LEASE_MS_MAX, &ms) || ms < SETTINGS_LEASE_MS_MIN)) {
        resp_error(&c->out, "ERR", "a lease is a number of milliseconds from 100 to 60000");
        return;
    }
    wish.lease_ms = (uint32_t)ms;
    session_describe(c->session, wish.by);
    snprintf(text, sizeof text, wish.file ? "unset lease" : "set lease %" PRIu32, wish.lease_ms);
    command_answer_change(c, agreed_change(c->session->node, &wish), text);
}

static void command_change_policies(struct client *c, const struct resp_word *value)
{
    struct node *node = c->session->node;
    char by[SETTINGS_BY_MAX + 1], text[64];
    const char *wrong;

    if (value && memchr(value->at, '\0', value->len)) {
        resp_error(&c->out, "ERR", "a policy has no zero byte");
        return;
    }
    session_describe(c->session, by);
    wrong = policies_change(node, value ? value->at : NULL, value ? value->len : 0, by);
    snprintf(text, sizeof text, "%s policies, digest %016" PRIx64, value ? "set" : "unset",
             wrong ? 0 : policies_digest(node->policing.what.text, node->policing.what.len));
    command_answer_change(c, wrong, text);
}

void command_config(struct client *c, const struct resp_request *r)
{
    bool show = resp_is(r->word[1], "SHOW"), set = resp_is(r->word[1], "SET"), unset = resp_is(r->word[1], "UNSET");
    const struct resp_word *value = set ? &r->word[3] : NULL;

    if (r->count != (show ? 2 : set ? 4 : 3) || (!show && !set && !unset))
        resp_error(&c->out, "ERR", "usage: CONFIG SHOW | SET key value | UNSET key");
    else if (show) {
        resp_array(&c->out, 2);
        command_show_lease(c);
        command_show_policies(c);
    } else if (!permit_admin(c, "changing settings"))
        return;
    else if (resp_is(r->word[2], "LEASE"))
        command_change_lease(c, value);
    else if (resp_is(r->word[2], "POLICIES"))
        command_change_policies(c, value);
    else
        resp_error(&c->out, "ERR", "there are two settings on which members agree: lease and policies");
}
