/* command_config.c - settings on which the members agree (node/agreed.h), as an operator sees and changes them. */
#include "command.h"
#include "permit.h"

#include "node/agreed.h"
#include "node/audit.h"
#include "node/policies.h"
#include "node/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char command_no_setting[] = "there are three settings on which members agree: lease, policies and rights";

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

/* For each member, whether its configuration has the text with this digest. */
static void command_show_files(struct client *c, uint64_t digest,
                               uint64_t (*of_file)(const struct node *node, uint32_t k))
{
    const struct node *node = c->session->node;
    char value[48];

    for (uint32_t k = 0; k < node->view.count; k++) {
        uint64_t file = of_file(node, k);

        snprintf(value, sizeof value, file == digest ? "the same" : "others: %016" PRIx64, file);
        command_show_file(c, k, file ? value : "");
    }
}

static void command_show_policies(struct client *c)
{
    const struct node *node = c->session->node;
    const struct settings_text *p = &node->view.policies;
    size_t len;
    const char *text = policies_text(node, &len);

    resp_map(&c->out, c->protocol, 7);
    command_add_text(c, "key", "policies");
    resp_text(&c->out, "value");
    resp_text(&c->out, text);
    command_show_setting(c, p->set, p->file, p->by, node->policing.until_ms);
    command_show_files(c, policies_digest(text, len), policies_file);
}

/* The text has the hashes of passwords, and the rules say what others may do. So it is shown only to a client with the right admin that asks for
 * it (`whole`). All others see the numbers of lines. */
static void command_show_rights(struct client *c, bool whole)
{
    const struct node *node = c->session->node;
    const struct settings_text *p = &node->view.rights;
    char counts[RIGHTS_COUNTS_MAX];
    size_t len;
    const char *text = rules_text(node, &len);

    rights_count(rules_in_use(node), counts);
    resp_map(&c->out, c->protocol, 7);
    command_add_text(c, "key", "rights");
    command_add_text(c, "value", whole ? text : counts);
    command_show_setting(c, p->set, p->file, p->by, rules_are_changing(node));
    command_show_files(c, rules_digest(text, len), rules_file);
}

/* CONFIG SHOW [key]: an array of settings. */
static void command_show(struct client *c, const struct resp_word *key)
{
    bool rights = key && resp_is(*key, "RIGHTS"), lease = key && resp_is(*key, "LEASE"),
         policies = key && resp_is(*key, "POLICIES");

    if (key && !rights && !lease && !policies) {
        resp_error(&c->out, "ERR", command_no_setting);
        return;
    }
    if (rights && !permit_admin(c, "seeing the rights of clients"))
        return;
    resp_array(&c->out, key ? 1 : 3);
    if (!key || lease)
        command_show_lease(c);
    if (!key || policies)
        command_show_policies(c);
    if (!key || rights)
        command_show_rights(c, rights);
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

/* Null `value`: the lease of the members' configurations. */
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

/* Does the client itself still have the right admin under these rights? An operator always has it. If not, the client is told. */
static bool command_keeps_admin(struct client *c, const struct rights *rights)
{
    const struct session *s = c->session;
    struct rights_verdict v = rights_decide(rights, s->proved, RIGHT_ADMIN, "", 0);
    char why[RIGHTS_WHY_MAX], line[RIGHTS_WHY_MAX];

    if (s->operates || v.allowed)
        return true;
    rights_explain(rights, s->proved, RIGHT_ADMIN, "", 0, v, why);
    snprintf(line, sizeof line, "you could not take it back: %.1800s. Use --force (FORCE) to do it all the same", why);
    resp_error(&c->out, "ERR", line);
    return false;
}

/* Null `value`: each member uses the rights of its own configuration. */
static void command_change_rights(struct client *c, const struct resp_word *value, bool force)
{
    struct node *node = c->session->node;
    char by[SETTINGS_BY_MAX + 1], text[RIGHTS_COUNTS_MAX + 80], counts[RIGHTS_COUNTS_MAX], why[RIGHTS_WHY_MAX];
    struct rights *rights = value ? rules_read(node, value->at, value->len, why) : NULL;
    const char *wrong = NULL;

    if (value && !rights) {
        resp_error(&c->out, "ERR", why);
        return;
    }
    if (force || command_keeps_admin(c, value ? rights : node->conf.rights)) {
        session_describe(c->session, by);
        wrong = rules_change(node, rights, by);
        rights_count(rights, counts);
        if (value)
            snprintf(text, sizeof text, "set rights, %s, digest %016" PRIx64 "%s", counts,
                     wrong ? 0 : rules_digest(node->ruling.what.text, node->ruling.what.len), force ? ", forced" : "");
        else
            snprintf(text, sizeof text, "unset rights%s", force ? ", forced" : "");
        command_answer_change(c, wrong, text);
    }
    free(rights);
}

void command_config(struct client *c, const struct resp_request *r)
{
    bool show = resp_is(r->word[1], "SHOW"), set = resp_is(r->word[1], "SET"), unset = resp_is(r->word[1], "UNSET");
    size_t least = show ? 2 : set ? 4 : 3;
    bool more = r->count == least + 1, force = more && !show && resp_is(r->word[least], "FORCE");
    const struct resp_word *value = set ? &r->word[3] : NULL;

    if ((!show && !set && !unset) || r->count < least || r->count > least + 1 || (more && !show && !force))
        resp_error(&c->out, "ERR", "usage: CONFIG SHOW [key] | SET key value [FORCE] | UNSET key [FORCE]");
    else if (show)
        command_show(c, more ? &r->word[2] : NULL);
    else if (!permit_admin(c, "changing settings"))
        return;
    else if (resp_is(r->word[2], "RIGHTS"))
        command_change_rights(c, value, force);
    else if (force)
        resp_error(&c->out, "ERR", "FORCE is for rights only");
    else if (resp_is(r->word[2], "LEASE"))
        command_change_lease(c, value);
    else if (resp_is(r->word[2], "POLICIES"))
        command_change_policies(c, value);
    else
        resp_error(&c->out, "ERR", command_no_setting);
}
