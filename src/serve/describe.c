/* describe.c - a configuration as text: the summary that members compare, and a description for people. See conf.h. */
#include "conf.h"

#include "lock/policy.h"

#define XXH_INLINE_ALL
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

static void describe_policy(const struct lock_policy *p, FILE *to)
{
    struct bytes text = {0};

    policy_print(p, &text);
    fwrite(text.at + text.start, 1, bytes_len(&text), to);
    bytes_free(&text);
}

void conf_summarize(struct serve_conf *conf)
{
    size_t len;
    FILE *to = open_memstream(&conf->summary, &len);

    fprintf(to, "algorithm %s, slots by %s, lease %" PRIu64 " ms", conf->algorithm->name, conf->slots_algorithm->name,
            conf->lease_ms);
    for (uint32_t k = 0; k < conf->policies; k++) {
        fprintf(to, ", policy ");
        describe_policy(&conf->policy[k], to);
    }
    fclose(to);
}

static void describe_address(const struct serve_member *m, FILE *to)
{
    char text[VIEW_ADDRESS_MAX + 1];

    conf_join_address(m, text, sizeof text);
    fputs(text, to);
}

const char *conf_door(const struct serve_conf *conf, bool members)
{
    if (!conf->has_key && !conf->has_cert)
        return members ? "without a key, on loopback only" : "without a key, for every user of this machine";
    if (members)
        return conf->has_key ? "over TLS, with the cluster key" : "over TLS, with certificates";
    return !conf->has_cert ? "over TLS, with a key"
           : conf->has_key ? "over TLS, with a key or a certificate"
                           : "over TLS, with certificates";
}

void conf_print(const struct serve_conf *conf, FILE *to)
{
    const struct serve_member *self = &conf->member[conf->self];

    fprintf(to, "name       %s\n", self->name);
    for (uint32_t j = 0; j < conf->n && conf->n > 1; j++) {
        fprintf(to, "member     %s=", conf->member[j].name);
        describe_address(&conf->member[j], to);
        fprintf(to, "\n");
    }
    if (conf->n > 1) {
        fprintf(to, "listen     ");
        describe_address(conf->listen.port ? &conf->listen : self, to);
        fprintf(to, ", %s\ndata       %s\nlease      %" PRIu64 " ms\n", conf_door(conf, true), conf->data,
                conf->lease_ms);
    }
    for (uint32_t k = 0; k < conf->connects; k++) {
        fprintf(to, "agent of   ");
        describe_address(&conf->connect[k], to);
        fprintf(to, ", with %s\n", conf->has_cert ? "a certificate" : conf->has_key ? "a key" : "no key");
    }
    fprintf(to, "socket     %s, for its owner %s%s\n", conf->socket, conf->socket_group ? "and the group " : "only",
            conf->socket_group ? conf->socket_group : "");
    if (conf->clients.port) {
        fprintf(to, "clients    ");
        describe_address(&conf->clients, to);
        fprintf(to, ", %s\n", conf_door(conf, false));
    }
    if (conf->http.port) {
        fprintf(to, "http       ");
        describe_address(&conf->http, to);
        fprintf(to, ", without authentication\n");
    }
    if (conf->memory_max)
        fprintf(to, "memory     at most %" PRIu64 " bytes\n", conf->memory_max);
    if (conf->expiry_optional)
        fprintf(to, "expiry     optional: a lock of a Redis client without one stays until it is deleted\n");
    if (conf->log_level != RECORD_INFO)
        fprintf(to, "log        records of level %s and above\n", record_level_name[conf->log_level]);
    if (conf->audit)
        fprintf(to, "audit      %s, %s grants and releases\n", conf->audit, conf->audit_locks ? "with" : "without");
    for (uint32_t k = 0; k < conf->policies; k++) {
        fprintf(to, "policy     ");
        describe_policy(&conf->policy[k], to);
        fprintf(to, "\n");
    }
    for (unsigned k = 0; conf->rights && k < conf->rights->rules; k++) {
        char text[RIGHTS_WHY_MAX];

        rights_print_rule(&conf->rights->rule[k], text);
        fprintf(to, "allow      %s\n", text);
    }
    if (!conf->connects)
        fprintf(to, "otherwise  algorithm=%s slots-algorithm=%s\n", conf->algorithm->name, conf->slots_algorithm->name);
    if (conf->n > 1)
        fprintf(to, "digest     %016" PRIx64 ", the same on all members\n",
                XXH3_64bits(conf->summary, strlen(conf->summary)));
}
