/* version.c - which dibs this is: its version and commit, and the libraries that it runs with. The Makefile gives the
 * commit, and compiles this file again when it changes. */
#include "cli.h"

#ifndef DIBS_LAB_ONLY
#include "serve/http.h"
#include "tls/openssl.h"

#include <uv.h>
#endif

#ifndef DIBS_COMMIT /* a copy without history */
#define DIBS_COMMIT ""
#endif
#ifndef DIBS_DATE
#define DIBS_DATE "1970-01-01"
#endif
#ifndef DIBS_RAFT
#define DIBS_RAFT ""
#endif

const char cli_build[] = DIBS_VERSION DIBS_COMMIT, cli_date[] = DIBS_DATE;

#ifndef DIBS_LAB_ONLY
static void version_library(FILE *to, const char *name, const char *version, const char *without)
{
    if (version && *version)
        fprintf(to, "  %s %s\n", name, version);
    else
        fprintf(to, "  %s: %s\n", name, without);
}
#endif

void cli_version(FILE *to)
{
#ifdef DIBS_LAB_ONLY
    fprintf(to, "dibs %s, the laboratory alone\n", cli_build);
#else
    fprintf(to, "dibs %s\n", cli_build);
    version_library(to, "libuv", uv_version_string(), "");
    version_library(to, "libraft", DIBS_RAFT, "linked; its version is not known");
    version_library(to, "OpenSSL", openssl_version_text(), "not installed: no TLS, no passwords");
    version_library(to, "libmicrohttpd", serve_http_version(), "not installed: no --http");
#endif
}
