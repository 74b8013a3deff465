/* passwords.h - AUTH: is this the password of a name in the configuration?
 *
 * A check takes about a millisecond, and every client that reaches the port can ask for one. So the daemon makes at most PASSWORDS_BURST checks
 * at once and PASSWORDS_PER_S in a second, for all clients together; beyond that a client is told to try again later. For a password that was
 * right, the daemon keeps a code that is quick to compute and of no use to others; it recognises the password by that code without a check. So clients
 * that know their password are not kept out by others that guess. */
#ifndef DIBS_SERVE_PASSWORDS_H
#define DIBS_SERVE_PASSWORDS_H

#include "node/node.h"
#include "rights/rights.h"
#include "tls/password.h"

enum { PASSWORDS_BURST = 20, PASSWORDS_PER_S = 10 };

struct passwords {
    bool begun;
    /* The time up to which checks are paid for: each check costs some time, and this is behind the present by a burst at most. */
    uint64_t spent_ms;
    uint8_t key[PASSWORD_MAC];
    struct {
        bool set;
        uint8_t mac[PASSWORD_MAC];
    } known[RIGHTS_LOGINS_MAX]; /* the last right password of each login, by its place */
};

enum node_login passwords_check(struct passwords *p, const struct rights *t, uint64_t now_ms, const char *name,
                                size_t name_len, const char *password, size_t len);

#endif
