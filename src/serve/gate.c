/* gate.c - see gate.h. */
#include "gate.h"

#include "conf.h"

#include <string.h>
#include <strings.h>

/* Is it "localhost", "127.0.0.1" or "[::1]", with or without a port? */
static bool gate_is_local(const char *host)
{
    bool bracket = *host == '[';
    size_t len = bracket ? strcspn(host, "]") : strcspn(host, ":");
    const char *rest = host + len + (bracket && host[len]);
    char name[64];

    if (len >= sizeof name || (bracket && host[len] != ']'))
        return false;
    memcpy(name, host + bracket, len - bracket);
    name[len - bracket] = '\0';
    if (*rest == ':')
        rest += 1 + strspn(rest + 1, "0123456789");
    return !*rest && ((!bracket && strcasecmp(name, "localhost") == 0) ||
                      (bracket == !!strchr(name, ':') && conf_is_on_loopback(name)));
}

const char *gate_objects_to_host(const char *host)
{
    return !host || gate_is_local(host) ? NULL
                                        : "this is at 127.0.0.1, localhost or [::1] only: open it by such an address\n";
}

const char *gate_objects(const struct gate_head *head)
{
    static const char scheme[] = "http://";

    if (!head->host)
        return "this is for browsers, which say by which name they call this machine\n";
    if (gate_objects_to_host(head->host))
        return gate_objects_to_host(head->host);
    if (head->origin && (strncmp(head->origin, scheme, sizeof scheme - 1) != 0 ||
                         strcasecmp(head->origin + sizeof scheme - 1, head->host) != 0))
        return "a page of another origin may not ask this\n";
    if (head->site && strcmp(head->site, "same-origin") != 0)
        return "only the daemon's own page may ask this\n";
    return NULL;
}
