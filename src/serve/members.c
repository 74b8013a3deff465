/* members.c - the list of members, as a person writes it. */
#include "serve.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without a cluster key nobody can tell a member from an intruder: only this machine may take part. */
static bool members_on_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* "host:port" */
static bool members_read_address(struct serve_member *m, char *text, struct dme_text *why)
{
    char *colon = strrchr(text, ':'), *end;

    if (!colon || colon == text || (size_t)(colon - text) >= sizeof m->host) {
        dme_print(why, "\"%s\" is not an address; write ADDRESS:PORT", text);
        return false;
    }
    *colon = '\0';
    memcpy(m->host, text, (size_t)(colon - text) + 1);
    m->port = (int)strtol(colon + 1, &end, 10);
    if (*end || m->port < 1 || m->port > 65535) {
        dme_print(why, "\"%s\" is not a port; it is a number from 1 to 65535", colon + 1);
        return false;
    }
    if (!members_on_loopback(m->host)) {
        dme_print(why, "%s is not on loopback; links are not encrypted, so use 127.0.0.1 or ::1", m->host);
        return false;
    }
    return true;
}

/* "name=host:port" */
static bool members_read_one(struct serve_member *m, const char *text, size_t len, struct dme_text *why)
{
    char item[160], *equals;

    snprintf(item, sizeof item, "%.*s", (int)len, text);
    equals = strchr(item, '=');
    if (!equals || equals == item || equals - item > LINK_NAME_MAX || len >= sizeof item) {
        dme_print(why, "\"%s\" is not a member; write NAME=ADDRESS:PORT", item);
        return false;
    }
    *equals = '\0';
    memcpy(m->name, item, (size_t)(equals - item) + 1);
    return members_read_address(m, equals + 1, why);
}

bool serve_read_listen(struct serve_conf *conf, const char *text, struct dme_text *why)
{
    char address[160];

    snprintf(address, sizeof address, "%s", text);
    return members_read_address(&conf->listen, address, why);
}

static int members_compare(const void *a, const void *b)
{
    return strcmp(((const struct serve_member *)a)->name, ((const struct serve_member *)b)->name);
}

bool serve_read_members(struct serve_conf *conf, const char *text, const char *name, struct dme_text *why)
{
    bool found = false;

    for (conf->n = 0; *text;) {
        size_t len = strcspn(text, ",");

        if (conf->n == NODE_MEMBERS_MAX) {
            dme_print(why, "there are more than %d members", NODE_MEMBERS_MAX);
            return false;
        }
        if (!members_read_one(&conf->member[conf->n++], text, len, why))
            return false;
        text += len + (text[len] == ',');
    }
    /* Members are numbered by name, so that the order in which they are written does not matter. */
    qsort(conf->member, conf->n, sizeof conf->member[0], members_compare);
    for (uint32_t j = 0; j < conf->n; j++) {
        if (j && strcmp(conf->member[j].name, conf->member[j - 1].name) == 0) {
            dme_print(why, "two members are called %s", conf->member[j].name);
            return false;
        }
        if (strcmp(conf->member[j].name, name) == 0) {
            conf->self = j;
            found = true;
        }
    }
    if (!found)
        dme_print(why, "--name %s is not in the list of --members", name);
    return found;
}

void serve_summarize(struct serve_conf *conf)
{
    struct dme_text text;

    dme_text_init(&text, conf->summary, sizeof conf->summary);
    dme_print(&text, "algorithm %s, slots by %s, members", conf->modes->name, conf->slots->name);
    for (uint32_t j = 0; j < conf->n; j++)
        dme_print(&text, "%s%s=%s:%d", j ? "," : " ", conf->member[j].name, conf->member[j].host, conf->member[j].port);
}
