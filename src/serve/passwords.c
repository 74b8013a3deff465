/* passwords.c - see passwords.h. */
#include "passwords.h"

#include <string.h>

/* May one more be checked now? */
static bool passwords_afford(struct passwords *p, uint64_t now_ms)
{
    enum { COST_MS = 1000 / PASSWORDS_PER_S };

    if (p->spent_ms + PASSWORDS_BURST * COST_MS < now_ms)
        p->spent_ms = now_ms - PASSWORDS_BURST * COST_MS;
    if (p->spent_ms + COST_MS > now_ms)
        return false;
    p->spent_ms += COST_MS;
    return true;
}

enum node_login passwords_check(struct passwords *p, const struct rights *t, uint64_t now_ms, const char *name,
                                size_t name_len, const char *password, size_t len)
{
    const struct rights_login *l = rights_login(t, name, name_len);
    size_t k = l ? (size_t)(l - t->login) : 0;
    uint8_t mac[PASSWORD_MAC];
    bool has_mac;

    if (!p->begun && !(p->begun = password_random(p->key)))
        return NODE_LOGIN_LATER;
    has_mac = l && password_mac(p->key, l->hash, password, len, mac);
    if (has_mac && p->known[k].set && password_is_same(mac, p->known[k].mac))
        return NODE_LOGIN_RIGHT;
    if (!passwords_afford(p, now_ms))
        return NODE_LOGIN_LATER;
    if (!password_is_right(l ? l->hash : NULL, password, len))
        return NODE_LOGIN_WRONG;
    if (has_mac) {
        p->known[k].set = true;
        memcpy(p->known[k].mac, mac, sizeof mac);
    }
    return NODE_LOGIN_RIGHT;
}
