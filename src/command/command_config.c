/* command_config.c - settings on which the members agree (node/agreed.h), as an operator asks for them. */
#include "command.h"
#include "permit.h"

#include "node/agreed.h"
#include "node/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void command_add_text(struct client *c, const char *key, const char *value)
{
    resp_text(&c->out, key);
    resp_text(&c->out, value);
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
    command_add_text(c, "source", !s->lease_ms ? "file" : s->file ? "agreed as in the files" : "agreed");
    resp_text(&c->out, "view");
    resp_integer(&c->out, s->set);
    command_add_text(c, "by", s->by);
    resp_text(&c->out, "under_way");
    resp_boolean(&c->out, c->protocol, node->setting.until_ms || settings_is_under_way(s));
    resp_text(&c->out, "files");
    resp_array(&c->out, node->view.count);
    for (uint32_t k = 0; k < node->view.count; k++) {
        uint64_t ms = k == node->place ? node->file_lease_ms : agreed_file_ms(node, k);

        snprintf(value, sizeof value, "%" PRIu64, ms);
        resp_map(&c->out, c->protocol, 2);
        command_add_text(c, "member", node->view.member[k].name);
        command_add_text(c, "value", ms || k == node->place ? value : "");
    }
}

/* The answer only says that the change was requested: CONFIG SHOW tells when it has begun and ended. */
static void command_set_config(struct client *c, const struct settings_wish *wish)
{
    const char *wrong = agreed_change(c->session->node, wish);
    char text[64];

    if (wrong) {
        resp_error(&c->out, "ERR", wrong);
        return;
    }
    snprintf(text, sizeof text, wish->file ? "unset lease" : "set lease %" PRIu32, wish->lease_ms);
    audit_tell(&(struct audit){.what = AUDIT_CONFIG, .session = c->session, .name = "", .text = text});
    resp_simple(&c->out, "OK");
}

void command_config(struct client *c, const struct resp_request *r)
{
    bool show = resp_is(r->word[1], "SHOW"), set = resp_is(r->word[1], "SET"), unset = resp_is(r->word[1], "UNSET");
    struct settings_wish wish = {.file = unset};
    uint64_t ms = 0;

    if (r->count != (show ? 2 : set ? 4 : 3) || (!show && !set && !unset)) {
        resp_error(&c->out, "ERR", "usage: CONFIG SHOW | SET key value | UNSET key");
        return;
    }
    if (show) {
        resp_array(&c->out, 1);
        command_show_lease(c);
        return;
    }
    if (!permit_admin(c, "changing settings"))
        return;
    if (!resp_is(r->word[2], "LEASE")) {
        resp_error(&c->out, "ERR", "there is one setting on which members agree: lease");
        return;
    }
    if (set && (!command_number(r->word[3], SETTINGS_LEASE_MS_MAX, &ms) || ms < SETTINGS_LEASE_MS_MIN)) {
        resp_error(&c->out, "ERR", "a lease is a number of milliseconds from 100 to 60000");
        return;
    }
    wish.lease_ms = (uint32_t)ms;
    session_describe(c->session, wish.by);
    command_set_config(c, &wish);
}
