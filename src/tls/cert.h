/* cert.h - certificates: their files, their names, and, for a person, why one is not accepted. Only files of this folder
 * include it.
 *
 * The file of authorities may have revocation lists as well (PEM, "BEGIN X509 CRL"). If it has any, OpenSSL accepts a peer's
 * certificate only if the file has a valid list of the authority that has issued the certificate, and the list does not name the
 * certificate. */
#ifndef DIBS_TLS_CERT_H
#define DIBS_TLS_CERT_H

#include "openssl.h"

#include <stddef.h>

/* Loads our certificate, its private key, and the authorities that we trust, from the files with these paths. Returns false, with a
 * sentence in `why`, if a file is not what it should be. */
bool cert_load(SSL_CTX *context, const char *cert, const char *cert_key, const char *ca, char *why, size_t size);
/* Writes the DNS names of a certificate in the form of tls_cert_names. Returns false if there are none, or `cert` is null. */
bool cert_names(const X509 *cert, char *names, size_t room);

/* The peer's certificate that OpenSSL has not accepted, and what we wanted. The caller owns all of it. */
struct cert_doubt {
    X509_STORE_CTX *context; /* OpenSSL's verification, with its error */
    const char *ca;          /* the path of the file with the authorities that we trust */
    const char *expected;    /* the name that we expect; or null: any */
    bool of_daemon;          /* the peer is a daemon: we have called it */
};
/* Writes to `why` the reason, in words that go on from "it", the peer. Returns true if the certificate has other names than the one
 * that we expect. */
bool cert_explain(const struct cert_doubt *doubt, char *why, size_t size);
/* The peer has sent an alert; `reason` is OpenSSL's number for it. Writes to `why` what the peer does not accept of our certificate, whose
 * path is `cert`, in words that go on from "it", the peer. Returns false if the alert is not about certificates. */
bool cert_explain_alert(int reason, const char *cert, char *why, size_t size);

#endif
