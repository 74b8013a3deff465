/* cert.c - see cert.h. */
#include "cert.h"

#include "tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ files */

/* Looks at the file without opening it: if it is a pipe, opening it would wait for a writer. */
static bool cert_can_read(const char *path, char *why, size_t size)
{
    struct stat file;

    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 || stat(path, &file) != 0)
        snprintf(why, size, "cannot read %s: %s", path, strerror(errno));
    else if (S_ISDIR(file.st_mode))
        snprintf(why, size, "%s is a directory", path);
    else
        return true;
    return false;
}

bool tls_cert_key_is_secret(const char *path, char *why, size_t size)
{
    struct stat file;

    if (stat(path, &file) != 0 || !(file.st_mode & 07)) /* cert_load finds out if there is no file */
        return true;
    snprintf(why, size,
             "every user can read %s; change that with chmod 600, and get a new key and certificate if they did", path);
    return false;
}

/* Gives OpenSSL no password for a private key. Without this function, OpenSSL would ask for one at the terminal. */
static int cert_no_password(char *text, int size, int writes, void *user)
{
    (void)text;
    (void)size;
    (void)writes;
    (void)user;
    return -1;
}

/* Makes OpenSSL look certificates up in revocation lists, if the file of authorities had any. */
static void cert_use_lists(SSL_CTX *context)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    const OPENSSL_STACK *all = (const OPENSSL_STACK *)X509_STORE_get0_objects(store);

    for (int k = 0; k < OPENSSL_sk_num(all); k++)
        if (X509_OBJECT_get_type(OPENSSL_sk_value(all, k)) == X509_LU_CRL)
            X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
}

bool cert_load(SSL_CTX *context, const char *cert, const char *cert_key, const char *ca, char *why, size_t size)
{
    const char *wrong = NULL, *file = NULL, *reason;

    if (!cert_can_read(cert, why, size) || !cert_can_read(cert_key, why, size) || !cert_can_read(ca, why, size))
        return false;
    SSL_CTX_set_default_passwd_cb(context, cert_no_password);
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1) {
        wrong = "is not a certificate in PEM form";
        file = cert;
    } else if (SSL_CTX_use_PrivateKey_file(context, cert_key, SSL_FILETYPE_PEM) != 1) {
        wrong = "is not the private key of the certificate, in PEM form and without a password";
        file = cert_key;
    } else if (SSL_CTX_load_verify_file(context, ca) != 1) {
        wrong = "has no certificates of authorities in PEM form";
        file = ca;
    } else {
        cert_use_lists(context);
    }
    reason = ERR_reason_error_string(ERR_peek_error());
    if (wrong)
        snprintf(why, size, "%s %s%s%s%s", file, wrong, reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
    ERR_clear_error();
    return !wrong;
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* X.509 says that a DNS name is an IA5String, that is, ASCII. OpenSSL does not check it. */
static bool cert_is_ascii(const unsigned char *text, size_t len)
{
    for (size_t k = 0; k < len; k++)
        if (text[k] <= ' ' || text[k] > '~')
            return false;
    return true;
}

bool cert_names(const X509 *cert, char *names, size_t room)
{
    GENERAL_NAMES *all = cert ? X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL) : NULL;
    int count = all ? OPENSSL_sk_num((const OPENSSL_STACK *)all) : 0;
    char *at = names;

    for (int k = 0; k < count; k++) {
        const GENERAL_NAME *one = OPENSSL_sk_value((const OPENSSL_STACK *)all, k);
        const unsigned char *text = one->type == GEN_DNS ? ASN1_STRING_get0_data(one->d.dNSName) : NULL;
        size_t len = text ? (size_t)ASN1_STRING_length(one->d.dNSName) : 0;

        if (len == 0 || !cert_is_ascii(text, len) || len + 2 > room - (size_t)(at - names))
            continue;
        memcpy(at, text, len);
        at[len] = '\0';
        at += len + 1;
    }
    *at = '\0';
    GENERAL_NAMES_free(all);
    return at > names;
}

/* Writes the names for a person: "ant, ant.example". The certificate may come from an attacker, so each character that no name
 * has is shown as "?". */
static void cert_print_names(const X509 *cert, char *text, size_t size)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-*";
    char names[128];
    size_t len = 0;

    cert_names(cert, names, sizeof names);
    for (char *name = names; *name && len < size; name += strlen(name) + 1) {
        for (char *bad = name; *(bad += strspn(bad, allowed)); bad++)
            *bad = '?';
        len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "", name);
    }
    if (!len)
        snprintf(text, size, "it has no DNS names");
}

/* ------------------------------------------------------------------------------------------------------ explanations */

static const char *cert_time(const ASN1_TIME *time, char *text, size_t size)
{
    struct tm parts = {0};

    if (!time || ASN1_TIME_to_tm(time, &parts) != 1 || !strftime(text, size, "%Y-%m-%d %H:%M:%S UTC", &parts))
        snprintf(text, size, "an unknown time");
    return text;
}

static void cert_explain_validity(const struct cert_doubt *doubt, int error, char *why, size_t size)
{
    const X509 *cert = X509_STORE_CTX_get_current_cert(doubt->context);
    const char *whose = X509_STORE_CTX_get_error_depth(doubt->context) > 0 ? "that of its authority" : "it";
    char when[48];

    if (error == X509_V_ERR_CERT_HAS_EXPIRED)
        snprintf(why, size, "%s has expired, at %s; it has to be renewed", whose,
                 cert_time(cert ? X509_get0_notAfter(cert) : NULL, when, sizeof when));
    else
        snprintf(why, size, "%s is valid only from %s on; compare the clocks", whose,
                 cert_time(cert ? X509_get0_notBefore(cert) : NULL, when, sizeof when));
}

bool cert_explain(const struct cert_doubt *doubt, char *why, size_t size)
{
    int error = X509_STORE_CTX_get_error(doubt->context);
    char text[300];

    if (error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH) {
        cert_print_names(X509_STORE_CTX_get0_cert(doubt->context), text, sizeof text);
        snprintf(why, size, "has a certificate for other names (%s) than \"%s\"", text,
                 doubt->expected ? doubt->expected : "");
        return true;
    }
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        cert_explain_validity(doubt, error, text, sizeof text);
        break;
    case X509_V_ERR_CERT_REVOKED:
        snprintf(text, sizeof text, "its authority has revoked it; get a new one");
        break;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
        snprintf(text, sizeof text,
                 "it is signed by itself, not by an authority in %.200s; is a key used there instead?", doubt->ca);
        break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        snprintf(text, sizeof text, "no authority in %.200s has issued it; compare --ca on both sides", doubt->ca);
        break;
    case X509_V_ERR_INVALID_PURPOSE:
        snprintf(text, sizeof text, "it is not for a %s; its extendedKeyUsage has no %s",
                 doubt->of_daemon ? "daemon" : "client", doubt->of_daemon ? "serverAuth" : "clientAuth");
        break;
    case X509_V_ERR_UNABLE_TO_GET_CRL:
        snprintf(text, sizeof text, "%.200s has revocation lists, but none of its authority", doubt->ca);
        break;
    case X509_V_ERR_CRL_HAS_EXPIRED:
        snprintf(text, sizeof text, "the revocation list of its authority in %.200s has expired; put a new one there",
                 doubt->ca);
        break;
    default:
        snprintf(text, sizeof text, "%s", X509_verify_cert_error_string(error));
    }
    snprintf(why, size, "has a certificate that is not accepted: %s", text);
    return false;
}

bool cert_explain_alert(int reason, const char *cert, char *why, size_t size)
{
    static const struct {
        int reason;
        const char *before, *behind; /* the text before the path of the certificate's file, and the text after it */
    } known[] = {
        {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "says that our certificate, ",
         ", has expired (or its own revocation list); renew it"},
        {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, "says that our certificate, ",
         ", was revoked; ask its authority for another one"},
        {SSL_R_TLSV1_ALERT_UNKNOWN_CA, "does not trust the authority of our certificate, ",
         "; compare its --ca with that authority"},
        {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, "says that our certificate, ",
         ", is not for this; its extendedKeyUsage needs clientAuth for a client, and serverAuth for a daemon"},
        {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "does not accept our certificate, ", "; its log says why"},
        {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "does not accept our certificate, ", "; its log says why"},
    };

    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (known[k].reason == reason) {
            snprintf(why, size, "%s%s%s", known[k].before, cert, known[k].behind);
            return true;
        }
    return false;
}
