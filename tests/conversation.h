/* conversation.h - conversations with one member in the words of Redis. A client is a letter; "a: ..." is a line that it types, and
 * what follows up to the next is all that the clients hear, each line behind the letter of the client that hears it. */
#ifndef DIBS_TESTS_CONVERSATION_H
#define DIBS_TESTS_CONVERSATION_H

#include "test.h"

#include "alg/list.h"
#include "cluster.h"

#include <stdio.h>
#include <string.h>

static struct node node;
static struct cluster solo = {.n = 1, .node = &node};
static struct cluster_client user[3];
static char heard[8192];
static size_t heard_len;

static inline int start(void **state)
{
    static const char *const names[] = {"solo"};
    const struct dme_alg *alg = alg_find("central");

    (void)state;
    members_start(&node, (struct node_conf){.summary = "", .algorithm = alg, .slots_algorithm = alg, .fence = 99},
                  names, 1, 0);
    for (unsigned k = 0; k < 3; k++)
        cluster_come(&solo, &user[k], 0);
    user[0].end->session->operates = false;
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    cluster_end(&solo);
    for (unsigned k = 0; k < 3; k++)
        bytes_free(&user[k].heard);
    return 0;
}

/* Everything that can happen happens; then what the clients got is collected, \r\n as ' '. */
static inline const char *settle(void)
{
    cluster_tell(&solo, 0, (struct node_input){.type = NODE_TIME});
    heard_len = 0;
    for (unsigned k = 0; k < 3; k++)
        if (bytes_len(&user[k].heard)) {
            struct bytes *out = &user[k].heard;

            heard_len += (size_t)snprintf(heard + heard_len, sizeof heard - heard_len, "%s%c: %.*s",
                                          heard_len ? "\n" : "", 'a' + k, (int)bytes_len(out), out->at + out->start);
            bytes_consume(out, bytes_len(out));
        }
    heard[heard_len] = '\0';
    for (size_t k = 0; k < heard_len; k++)
        if (heard[k] == '\r')
            memmove(heard + k, heard + k + 1, heard_len-- - k);
    for (size_t k = 0; k < heard_len; k++)
        if (heard[k] == '\n' && !(k + 2 < heard_len && heard[k + 2] == ':' && heard[k + 1] >= 'a'))
            heard[k] = ' ';
    while (heard_len && heard[heard_len - 1] == ' ')
        heard[--heard_len] = '\0';
    for (char *c = heard; (c = strstr(c, " \n"));)
        memmove(c, c + 1, strlen(c));
    return heard;
}

static inline const char *say(char who, const char *text)
{
    cluster_say(&solo, &user[who - 'a'], text);
    return settle();
}

static inline const char *part(char who)
{
    cluster_go(&solo, &user[who - 'a'], true);
    return settle();
}

/* Its connection breaks. */
static inline const char *sever(char who)
{
    cluster_go(&solo, &user[who - 'a'], false);
    return settle();
}

#endif
