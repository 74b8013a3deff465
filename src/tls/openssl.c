/* openssl.c - see openssl.h. */
#define OPENSSL_KEEP_NAMES
#include "openssl.h"

#include <dlfcn.h>
#include <pthread.h>

_Static_assert(OPENSSL_VERSION_MAJOR == 3, "libssl.so.3 is what will be loaded");

struct openssl openssl;
static bool openssl_found;

static void openssl_find(void)
{
    void *library = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);

    openssl_found = library;
#define OPENSSL_FIND(name) openssl_found = openssl_found && (*(void **)&openssl.name = dlsym(library, #name));
    OPENSSL_FUNCTIONS(OPENSSL_FIND)
}

bool openssl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, openssl_find);
    return openssl_found;
}

const char *openssl_version_text(void)
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    __typeof__(OpenSSL_version) *version = NULL;

    if (library)
        *(void **)&version = dlsym(library, "OpenSSL_version");
    return version ? version(OPENSSL_VERSION_STRING) : NULL;
}
