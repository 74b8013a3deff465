/* no_names.c - loaded before a program (LD_PRELOAD), looks up no name of a host while there is a file NO_NAMES: as if no name
 * server answered. */
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    const char *file = getenv("NO_NAMES");

    memcpy(&real, &symbol, sizeof real);
    while (file && access(file, F_OK) == 0)
        usleep(10000);
    return real(host, service, hints, found);
}
