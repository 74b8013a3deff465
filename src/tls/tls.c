/* tls.c - see tls.h. */
#include "tls.h"

#include "buffers.h"
#include "cert.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tls_keys {
    SSL_CTX *context;
    unsigned users; /* the caller of tls_keys_new, until it frees them; and each connection */
    bool has_key, has_cert;
    char identity[32]; /* of the common key; this field and those below are as in tls_conf, copied */
    struct key key;    /* if has_key */
    EVP_PKEY *proof;   /* or null */
    X509 *proof_cert;  /* the certificate that we have made for `proof`, or null */
    uint8_t trusted[TLS_TRUST_MAX][KEY_LEN];
    unsigned trusts;
    bool has_names;
    struct key names;            /* if has_names */
    char name[KEY_NAME_MAX + 1]; /* of our own key, or "" */
    char *cert, *ca;             /* paths, for what a person reads; or null */
};

struct tls {
    SSL *ssl;                    /* OpenSSL's connection; its application data is this struct */
    struct tls_buffers buffers;  /* the bytes between OpenSSL and the network */
    struct tls_keys *keys;       /* this connection is one of their users */
    bool up, ended;              /* see tls_is_up; the peer has sent its closing alert */
    bool drained;                /* no byte has arrived since OpenSSL had nothing more to read */
    int proved;                  /* see tls_proved */
    char name[KEY_NAME_MAX + 1]; /* see tls_key_name */
    bool calls;                  /* made by tls_call */
    char *expected;              /* the name that the peer's certificate must have; or null: any */
    bool misnamed;               /* see tls_is_misnamed */
    char why[512];               /* see tls_why */
};

/* ------------------------------------------------------------------------------------------------------------- keys */

/* OpenSSL resumes a session only in the context in which it was made. */
static const unsigned char tls_context[] = "dibs";

/* To OpenSSL, a common key is a session that both sides resume. The session's cipher suite says which hash belongs to the key:
 * SHA-256, which is the hash of all suites that we allow. */
static SSL_SESSION *tls_session(SSL *ssl)
{
    static const unsigned char aes_128_gcm_sha256[] = {0x13, 0x01};
    const struct tls_keys *keys = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    SSL_SESSION *session = SSL_SESSION_new();

    if (session && SSL_SESSION_set1_master_key(session, keys->key.bytes, KEY_LEN) &&
        SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, aes_128_gcm_sha256)) &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) &&
        SSL_SESSION_set1_id_context(session, tls_context, sizeof tls_context))
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

/* OpenSSL asks the side that calls which key it has. */
static int tls_offer(SSL *ssl, const EVP_MD *hash, const unsigned char **id, size_t *len, SSL_SESSION **session)
{
    const struct tls_keys *keys = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    (void)hash;
    *id = (const unsigned char *)keys->identity;
    *len = strlen(keys->identity);
    *session = tls_session(ssl);
    return *session != NULL;
}

/* OpenSSL asks the side that is called for the key that belongs to the caller's identity. The handshake then shows whether the caller
 * has that key. */
static int tls_find(SSL *ssl, const unsigned char *id, size_t len, SSL_SESSION **session)
{
    const struct tls_keys *keys = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    *session = NULL;
    if (len != strlen(keys->identity) || memcmp(id, keys->identity, len) != 0)
        return 1; /* we have no such key; the caller may have a certificate */
    *session = tls_session(ssl);
    return *session != NULL;
}

/* The name of a server (SNI) by which a caller asks the daemon to prove itself by its key pair, not by a certificate of an
 * authority. */
static const char tls_daemon[] = "daemon.dibs";

/* Makes a certificate for this key pair, signed by itself and valid for a day. The peer looks at its public key and, if the key may be
 * that of a name, at the common name; at nothing else. */
static X509 *tls_certify(EVP_PKEY *pair, const char *common_name)
{
    X509 *cert = X509_new();
    X509_NAME *name = cert ? X509_get_subject_name(cert) : NULL;

    if (cert && X509_set_version(cert, 2) && ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) &&
        X509_gmtime_adj(X509_getm_notBefore(cert), 0) && X509_gmtime_adj(X509_getm_notAfter(cert), 86400) &&
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)common_name, -1, -1, 0) &&
        X509_set_issuer_name(cert, name) && X509_set_pubkey(cert, pair) && X509_sign(cert, pair, NULL) > 0)
        return cert;
    X509_free(cert);
    return NULL;
}

/* The common name of the certificate may be that of a client key. Does the certificate have the public key of that name? */
static bool tls_verify_name(struct tls *t, const X509 *cert, const uint8_t *public_key)
{
    const struct tls_keys *keys = t->keys;
    char name[KEY_NAME_MAX + 1] = "";
    uint8_t expected[KEY_LEN];
    struct key derived;
    bool same;

    if (!keys->has_names ||
        X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof name) <= 0 ||
        !key_is_name(name))
        return false;
    derived = key_of_name(&keys->names, name);
    same = key_public(&derived, expected) && CRYPTO_memcmp(public_key, expected, KEY_LEN) == 0;
    explicit_bzero(&derived, sizeof derived);
    if (same)
        memcpy(t->name, name, sizeof t->name);
    return same;
}

/* OpenSSL asks whether the peer's certificate is to be accepted. It is, if we trust its public key, or that of the name in it, or the
 * authority that has issued it. TLS makes sure that the peer has the private key. */
static int tls_verify(X509_STORE_CTX *context, void *user)
{
    const struct tls_keys *keys = user;
    const SSL *ssl = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls *t = SSL_get_app_data(ssl);
    const X509 *cert = X509_STORE_CTX_get0_cert(context);
    EVP_PKEY *public_key = cert ? X509_get0_pubkey(cert) : NULL;
    uint8_t bytes[KEY_LEN];
    size_t len = KEY_LEN;

    if (public_key && EVP_PKEY_get_id(public_key) == EVP_PKEY_ED25519 &&
        EVP_PKEY_get_raw_public_key(public_key, bytes, &len) == 1 && len == KEY_LEN)
        for (unsigned k = 0; k < keys->trusts; k++)
            if (CRYPTO_memcmp(bytes, keys->trusted[k], KEY_LEN) == 0) {
                t->proved = (int)k;
                X509_STORE_CTX_set_error(context, X509_V_OK);
                return 1;
            }
    if (len == KEY_LEN && public_key && EVP_PKEY_get_id(public_key) == EVP_PKEY_ED25519 &&
        tls_verify_name(t, cert, bytes)) {
        t->proved = TLS_PROVED_NAME;
        X509_STORE_CTX_set_error(context, X509_V_OK);
        return 1;
    }
    if (keys->has_cert) {
        const struct cert_doubt doubt = {
            .context = context, .ca = keys->ca, .expected = t->expected, .of_daemon = t->calls};

        if (X509_verify_cert(context) == 1)
            return 1;
        t->misnamed = cert_explain(&doubt, t->why, sizeof t->why);
        return 0;
    }
    X509_STORE_CTX_set_error(context, X509_V_ERR_CERT_REJECTED);
    return 0;
}

/* We are called, and have two certificates: that of an authority, and the one that we have made for our key pair. Chooses the one that
 * the caller asks for. */
static int tls_choose(SSL *ssl, int *alert, void *user)
{
    const struct tls_keys *keys = user;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

    (void)alert;
    if (!name || strcmp(name, tls_daemon) != 0)
        return SSL_TLSEXT_ERR_OK;
    SSL_certs_clear(ssl);
    if (SSL_use_certificate(ssl, keys->proof_cert) == 1 && SSL_use_PrivateKey(ssl, keys->proof) == 1)
        return SSL_TLSEXT_ERR_OK;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool tls_set_proof(struct tls_keys *keys, const struct tls_conf *conf)
{
    keys->proof = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, conf->proof->bytes, KEY_LEN);
    keys->proof_cert = keys->proof ? tls_certify(keys->proof, keys->name[0] ? keys->name : "dibs") : NULL;
    assert(conf->trusts <= TLS_TRUST_MAX);
    memcpy(keys->trusted, conf->trusted, sizeof keys->trusted);
    keys->trusts = conf->trusts;
    if (!keys->proof_cert)
        return false;
    if (keys->has_cert)
        return SSL_CTX_set_tlsext_servername_callback(keys->context, tls_choose) &&
               SSL_CTX_set_tlsext_servername_arg(keys->context, keys);
    return SSL_CTX_use_certificate(keys->context, keys->proof_cert) == 1 &&
           SSL_CTX_use_PrivateKey(keys->context, keys->proof) == 1;
}

static bool tls_load(struct tls_keys *keys, const struct tls_conf *conf, char *why, size_t size)
{
    keys->cert = strdup(conf->cert);
    keys->ca = strdup(conf->ca);
    return keys->cert && keys->ca && cert_load(keys->context, conf->cert, conf->cert_key, conf->ca, why, size);
}

static bool tls_set_up(struct tls_keys *keys)
{
    SSL_CTX *context = keys->context;

    if (!SSL_CTX_set_app_data(context, keys))
        return false;
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, tls_verify, keys);
    if (keys->has_key) {
        SSL_CTX_set_psk_use_session_callback(context, tls_offer);
        SSL_CTX_set_psk_find_session_callback(context, tls_find);
    }
    return SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 && SSL_CTX_set_num_tickets(context, 0) == 1 &&
           SSL_CTX_set_max_early_data(context, 0) == 1 &&
           SSL_CTX_set_session_id_context(context, tls_context, sizeof tls_context) == 1 &&
           SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1;
}

struct tls_keys *tls_keys_new(const struct tls_conf *conf, char *why, size_t size)
{
    struct tls_keys *keys = calloc(1, sizeof *keys);

    snprintf(why, size, keys && !openssl_load() ? OPENSSL_MISSING : "out of memory");
    if (!keys || !openssl_load()) {
        free(keys);
        return NULL;
    }
    keys->users = 1;
    snprintf(keys->identity, sizeof keys->identity, "%s", conf->identity ? conf->identity : "");
    keys->has_key = conf->key;
    keys->has_cert = conf->cert;
    if (conf->key)
        keys->key = *conf->key;
    keys->has_names = conf->names;
    if (conf->names)
        keys->names = *conf->names;
    if (conf->name)
        strncpy(keys->name, conf->name, KEY_NAME_MAX);
    keys->context = SSL_CTX_new(TLS_method());
    if (keys->context && tls_set_up(keys) && (!conf->proof || tls_set_proof(keys, conf)) &&
        (!conf->cert || tls_load(keys, conf, why, size)))
        return keys;
    tls_keys_free(keys);
    return NULL;
}

void tls_end_thread(void)
{
    if (openssl_load())
        OPENSSL_thread_stop();
}

void tls_keys_free(struct tls_keys *keys)
{
    assert(!keys || keys->users);
    if (!keys || --keys->users)
        return;
    SSL_CTX_free(keys->context);
    X509_free(keys->proof_cert);
    EVP_PKEY_free(keys->proof);
    free(keys->cert);
    free(keys->ca);
    explicit_bzero(keys, sizeof *keys);
    free(keys);
}

/* ------------------------------------------------------------------------------------------------------- connections */

static struct tls *tls_open(struct tls_keys *keys)
{
    struct tls *t = calloc(1, sizeof *t);
    BIO *bio = t ? buffers_bio(&t->buffers) : NULL;

    if (bio && (t->ssl = SSL_new(keys->context)) && SSL_set_app_data(t->ssl, t)) {
        t->keys = keys;
        keys->users++;
        t->proved = -1;
        SSL_set_bio(t->ssl, bio, bio);
        return t;
    }
    SSL_free(t ? t->ssl : NULL);
    BIO_free(bio);
    free(t);
    return NULL;
}

struct tls *tls_call(struct tls_keys *keys, const char *name)
{
    struct tls *t = tls_open(keys);

    if (!t)
        return NULL;
    t->calls = true;
    t->expected = name ? strdup(name) : NULL;
    SSL_set_connect_state(t->ssl);
    SSL_set_hostflags(t->ssl, X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if ((name && (!t->expected || SSL_set1_host(t->ssl, name) != 1)) ||
        (keys->proof && SSL_set_tlsext_host_name(t->ssl, tls_daemon) != 1)) {
        tls_free(t);
        return NULL;
    }
    tls_input(t, NULL, 0); /* the caller sends the first bytes */
    return t;
}

struct tls *tls_answer(struct tls_keys *keys)
{
    struct tls *t = tls_open(keys);

    if (t)
        SSL_set_accept_state(t->ssl);
    return t;
}

void tls_free(struct tls *t)
{
    if (!t)
        return;
    SSL_free(t->ssl);
    buffers_free(&t->buffers);
    tls_keys_free(t->keys);
    free(t->expected);
    free(t);
}

/* Writes OpenSSL's error to t->why, in words for a person, unless there is a reason already. */
static void tls_explain(struct tls *t)
{
    static const struct {
        int reason;
        const char *words;
    } known[] = {
        {SSL_R_BINDER_DOES_NOT_VERIFY, "has another key"},
        {SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER, "says that our key is another one"}, /* by OpenSSL 3.0 */
        {SSL_R_TLSV1_ALERT_DECRYPT_ERROR, "says that our key is another one"},     /* by OpenSSL 3.5 */
        {SSL_R_WRONG_VERSION_NUMBER, "does not speak TLS, perhaps because it has no key"},
        {SSL_R_HTTP_REQUEST, "does not speak TLS, but HTTP"},
        {SSL_R_PACKET_LENGTH_TOO_LONG, "does not speak TLS, perhaps because it has no key"},
        {SSL_R_BAD_RECORD_TYPE, "does not speak TLS, perhaps because it has no key"},
        {SSL_R_UNSUPPORTED_PROTOCOL, "does not speak TLS 1.3"},
        {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, "comes without the key"},
        {SSL_R_NO_SHARED_CIPHER, "comes without the key"},
        {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "comes without a key or certificate"},
        {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "says that our key is another one"},
        {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, "says that we come without the right key"},
        {SSL_R_TLSV1_ALERT_UNKNOWN_CA, "trusts certificates, and we have a key"},
        {SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, "says that we come without a certificate"},
    };
    unsigned long error = ERR_peek_error();
    int reason = ERR_GET_REASON(error);
    long verified = SSL_get_verify_result(t->ssl);

    if (t->why[0])
        return;
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && verified == X509_V_ERR_CERT_REJECTED) {
        snprintf(t->why, sizeof t->why, "has another key");
        return;
    }
    if (t->keys->cert && ERR_GET_LIB(error) == ERR_LIB_SSL &&
        cert_explain_alert(reason, t->keys->cert, t->why, sizeof t->why))
        return;
    for (size_t k = 0; ERR_GET_LIB(error) == ERR_LIB_SSL && k < sizeof known / sizeof known[0]; k++)
        if (known[k].reason == reason) {
            snprintf(t->why, sizeof t->why, "%s", known[k].words);
            return;
        }
    snprintf(t->why, sizeof t->why, "violates TLS: %s", error ? ERR_reason_error_string(error) : "it ended");
}

/* Handles the result of a call of OpenSSL that has not succeeded. Returns true if OpenSSL only needs more bytes. */
static bool tls_goes_on(struct tls *t, int result)
{
    int error = SSL_get_error(t->ssl, result);

    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return true;
    if (error == SSL_ERROR_ZERO_RETURN)
        t->ended = true;
    else
        tls_explain(t);
    ERR_clear_error();
    return false;
}

/* Has the peer authenticated, in a handshake that has ended? OpenSSL has verified that already. It is verified here again, because
 * all of I21 depends on it. */
static bool tls_knows(const struct tls *t)
{
    X509 *cert;
    bool held;

    if (SSL_version(t->ssl) != TLS1_3_VERSION)
        return false;
    if (t->keys->has_key && SSL_session_reused(t->ssl))
        return true;
    if (t->proved >= 0)
        return SSL_get_verify_result(t->ssl) == X509_V_OK;
    cert = SSL_get1_peer_certificate(t->ssl);
    held = t->keys->has_cert && cert && SSL_get_verify_result(t->ssl) == X509_V_OK;
    X509_free(cert);
    return held;
}

bool tls_is_over(const struct tls *t)
{
    return t->ended || t->why[0];
}

bool tls_input(struct tls *t, const uint8_t *bytes, size_t len)
{
    int result;

    if (tls_is_over(t))
        return false;
    t->drained = false;
    if (len && !buffer_add(&t->buffers.in, bytes, len)) {
        snprintf(t->why, sizeof t->why, "sends more than there is memory for");
        return false;
    }
    if (t->up)
        return true;
    ERR_clear_error();
    result = SSL_do_handshake(t->ssl);
    if (result != 1)
        return tls_goes_on(t, result);
    t->up = tls_knows(t);
    if (!t->up)
        snprintf(t->why, sizeof t->why, "has not authenticated");
    return t->up;
}

size_t tls_output(struct tls *t, uint8_t *bytes, size_t room)
{
    return buffer_take(&t->buffers.out, bytes, room);
}

bool tls_is_up(const struct tls *t)
{
    return t->up;
}

size_t tls_read(struct tls *t, uint8_t *bytes, size_t room)
{
    size_t len = 0;

    assert(room);
    if (!t->up || t->drained || tls_is_over(t))
        return 0;
    ERR_clear_error();
    if (SSL_read_ex(t->ssl, bytes, room, &len) != 1) {
        t->drained = tls_goes_on(t, 0);
        return 0;
    }
    assert(len && len <= room);
    /* OpenSSL reads no byte beyond the record that it needs, and gives as much of the record as there is room for. */
    t->drained = len < room && buffer_len(&t->buffers.in) == 0;
    return len;
}

bool tls_write(struct tls *t, const uint8_t *bytes, size_t len)
{
    size_t written;

    if (!t->up || tls_is_over(t))
        return false;
    ERR_clear_error();
    if (len == 0)
        return true;
    if (SSL_write_ex(t->ssl, bytes, len, &written) == 1) {
        assert(written == len); /* nothing asks for partial writes */
        return true;
    }
    tls_explain(t);
    return false;
}

void tls_end(struct tls *t)
{
    if (t->up && !t->why[0])
        SSL_shutdown(t->ssl);
    ERR_clear_error();
}

const char *tls_why(const struct tls *t)
{
    return t->why;
}

bool tls_is_named(const struct tls *t, const char *name)
{
    X509 *cert;
    bool named;

    if (t->proved >= 0) /* the peer has made this certificate itself, and could write any name into it */
        return false;
    if (t->keys->has_key && SSL_session_reused(t->ssl))
        return true;
    cert = SSL_get1_peer_certificate(t->ssl);
    named = cert && X509_check_host(cert, name, strlen(name),
                                    X509_CHECK_FLAG_NO_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
    X509_free(cert);
    return named;
}

int tls_proved(const struct tls *t)
{
    return t->up ? t->proved : -1;
}

const char *tls_key_name(const struct tls *t)
{
    return t->up ? t->name : "";
}

bool tls_cert_names(const struct tls *t, char *names, size_t room)
{
    X509 *cert = t->up && t->proved < 0 ? SSL_get1_peer_certificate(t->ssl) : NULL;
    bool some = cert_names(cert, names, room);

    X509_free(cert);
    return some;
}

bool tls_is_misnamed(const struct tls *t)
{
    return t->misnamed;
}

int64_t tls_ends(const struct tls_keys *keys)
{
    const X509 *cert = keys && keys->has_cert ? SSL_CTX_get0_certificate(keys->context) : NULL;
    struct tm end = {0};

    return cert && ASN1_TIME_to_tm(X509_get0_notAfter(cert), &end) == 1 ? timegm(&end) : 0;
}
