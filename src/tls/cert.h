/* cert.h - certificates: their files, their names, and why one is not accepted, for a person. Used by the files of this directory
 * alone.
 *
 * The file of authorities may have revocation lists as well (PEM, "BEGIN X509 CRL"). If it has any, a certificate counts only if
 * there is a valid list of the authority that has issued it, and the list does not name it. */
#ifndef DIBS_TLS_CERT_H
#define DIBS_TLS_CERT_H

#include "openssl.h"

#include <stddef.h>

/* Loads our certificate, its private key, and the authorities that we trust. Returns false, with a sentence in `why`, if a file
 * is not what it should be. */
bool cert_load(SSL_CTX *context, const char *cert, const char *cert_key, const char *ca, char *why, size_t size);
/* The names (DNS) of a certificate, as tls_cert_names has them. */
bool cert_names(const X509 *cert, char *names, size_t room);

/* The other side's certificate was not accepted. */
struct cert_doubt {
    X509_STORE_CTX *context;
    const char *ca;       /* the file with the authorities that we trust */
    const char *expected; /* the name that we expect; or null: any */
    bool of_daemon;       /* we have called it */
};
/* Says why, in words that go on from "it". Returns true if the certificate has another name than the one that is expected. */
bool cert_explain(const struct cert_doubt *doubt, char *why, size_t size);
/* The other side has sent an alert: OpenSSL's reason. Says which mistake our certificate, in the file `cert`, has, in words that go on
 * from "it". Returns false if the alert is not about certificates. */
bool cert_explain_alert(int reason, const char *cert, char *why, size_t size);

#endif
