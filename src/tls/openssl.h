/* openssl.h - OpenSSL, loaded when its first function is needed. A process that is linked with libssl and libcrypto spends
 * milliseconds on loading them, and most commands of dibs use no TLS. So dibs is not linked with them: openssl_load opens
 * libssl.so.3 and looks up the functions of the list below, and a macro for each of them calls it by its usual name. Only
 * files of this folder include this one. */
#ifndef DIBS_TLS_OPENSSL_H
#define DIBS_TLS_OPENSSL_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

/* clang-format off */
#define OPENSSL_FUNCTIONS(F) \
    F(ASN1_STRING_get0_data) F(ASN1_STRING_length) F(ASN1_TIME_to_tm) F(GENERAL_NAMES_free) F(OPENSSL_sk_num) F(OPENSSL_sk_value) F(OPENSSL_thread_stop) F(SSL_CTX_get0_certificate) F(X509_NAME_get_text_by_NID) F(X509_get0_notAfter) F(X509_get_ext_d2i) F(PKCS5_PBKDF2_HMAC) \
    F(SSL_CTX_get_cert_store) F(SSL_CTX_set_default_passwd_cb) F(X509_OBJECT_get_type) F(X509_STORE_CTX_get_current_cert) F(X509_STORE_CTX_get_error) F(X509_STORE_CTX_get_error_depth) F(X509_STORE_get0_objects) F(X509_STORE_set_flags) F(X509_get0_notBefore) \
    F(ASN1_INTEGER_set) F(BIO_clear_flags) F(BIO_free) F(BIO_get_data) F(BIO_meth_new) \
    F(BIO_meth_set_ctrl) F(BIO_meth_set_read) F(BIO_meth_set_write) F(BIO_new) F(BIO_set_data) F(BIO_set_flags) F(BIO_set_init) F(CRYPTO_memcmp) \
    F(ERR_clear_error) F(ERR_peek_error) F(ERR_reason_error_string) F(EVP_PKEY_free) F(EVP_PKEY_get_id) \
    F(EVP_PKEY_get_raw_public_key) F(EVP_PKEY_new_raw_private_key) F(EVP_sha256) F(HMAC) F(RAND_priv_bytes) \
    F(SSL_CIPHER_find) F(SSL_CTX_callback_ctrl) F(SSL_CTX_ctrl) F(SSL_CTX_free) F(SSL_CTX_get_ex_data) \
    F(SSL_CTX_load_verify_file) F(SSL_CTX_new) F(SSL_CTX_set_cert_verify_callback) F(SSL_CTX_set_ciphersuites) \
    F(SSL_CTX_set_ex_data) F(SSL_CTX_set_max_early_data) F(SSL_CTX_set_num_tickets) F(SSL_CTX_set_options) \
    F(SSL_CTX_set_psk_find_session_callback) F(SSL_CTX_set_psk_use_session_callback) F(SSL_CTX_set_session_id_context) \
    F(SSL_CTX_set_verify) F(SSL_CTX_use_PrivateKey) F(SSL_CTX_use_PrivateKey_file) F(SSL_CTX_use_certificate) \
    F(SSL_CTX_use_certificate_chain_file) F(SSL_SESSION_free) F(SSL_SESSION_new) F(SSL_SESSION_set1_id_context) \
    F(SSL_SESSION_set1_master_key) F(SSL_SESSION_set_cipher) F(SSL_SESSION_set_protocol_version) F(SSL_certs_clear) \
    F(SSL_ctrl) F(SSL_do_handshake) F(SSL_free) F(SSL_get1_peer_certificate) F(SSL_get_SSL_CTX) F(SSL_get_error) \
    F(SSL_get_ex_data) F(SSL_get_ex_data_X509_STORE_CTX_idx) F(SSL_get_servername) F(SSL_get_verify_result) F(SSL_new) \
    F(SSL_read_ex) F(SSL_session_reused) F(SSL_set1_host) F(SSL_set_accept_state) F(SSL_set_bio) \
    F(SSL_set_connect_state) F(SSL_set_ex_data) F(SSL_set_hostflags) F(SSL_shutdown) F(SSL_use_PrivateKey) \
    F(SSL_use_certificate) F(SSL_version) F(SSL_write_ex) F(TLS_method) F(X509_NAME_add_entry_by_txt) \
    F(X509_STORE_CTX_get0_cert) F(X509_STORE_CTX_get_ex_data) F(X509_STORE_CTX_set_error) F(X509_check_host) \
    F(X509_free) F(X509_get0_pubkey) F(X509_get_serialNumber) F(X509_get_subject_name) F(X509_getm_notAfter) \
    F(X509_getm_notBefore) F(X509_gmtime_adj) F(X509_new) F(X509_set_issuer_name) F(X509_set_pubkey) \
    F(X509_set_version) F(X509_sign) F(X509_verify_cert) F(X509_verify_cert_error_string)
/* clang-format on */

/* clang-format off */
extern struct openssl {
#define OPENSSL_POINTER(name) __typeof__(name) *name;
    OPENSSL_FUNCTIONS(OPENSSL_POINTER)
} openssl;
/* clang-format on */

/* Loads OpenSSL, once for the process; any thread may call it. It must have returned true before any function of the list is called.
 * Returns false if OpenSSL 3 is not installed. */
bool openssl_load(void);
/* Returns the version of the installed OpenSSL, such as "3.0.17"; null if there is none. */
const char *openssl_version_text(void);
#define OPENSSL_MISSING "TLS needs OpenSSL 3: install the package libssl3"

#ifndef OPENSSL_KEEP_NAMES
#define ASN1_STRING_get0_data openssl.ASN1_STRING_get0_data
#define ASN1_STRING_length openssl.ASN1_STRING_length
#define ASN1_TIME_to_tm openssl.ASN1_TIME_to_tm
#define GENERAL_NAMES_free openssl.GENERAL_NAMES_free
#define OPENSSL_sk_num openssl.OPENSSL_sk_num
#define OPENSSL_sk_value openssl.OPENSSL_sk_value
#define OPENSSL_thread_stop openssl.OPENSSL_thread_stop
#define SSL_CTX_get0_certificate openssl.SSL_CTX_get0_certificate
#define X509_NAME_get_text_by_NID openssl.X509_NAME_get_text_by_NID
#define X509_get0_notAfter openssl.X509_get0_notAfter
#define X509_get_ext_d2i openssl.X509_get_ext_d2i
#define PKCS5_PBKDF2_HMAC openssl.PKCS5_PBKDF2_HMAC
#define SSL_CTX_get_cert_store openssl.SSL_CTX_get_cert_store
#define SSL_CTX_set_default_passwd_cb openssl.SSL_CTX_set_default_passwd_cb
#define X509_OBJECT_get_type openssl.X509_OBJECT_get_type
#define X509_STORE_CTX_get_current_cert openssl.X509_STORE_CTX_get_current_cert
#define X509_STORE_CTX_get_error openssl.X509_STORE_CTX_get_error
#define X509_STORE_CTX_get_error_depth openssl.X509_STORE_CTX_get_error_depth
#define X509_STORE_get0_objects openssl.X509_STORE_get0_objects
#define X509_STORE_set_flags openssl.X509_STORE_set_flags
#define X509_get0_notBefore openssl.X509_get0_notBefore
#define ASN1_INTEGER_set openssl.ASN1_INTEGER_set
#define BIO_clear_flags openssl.BIO_clear_flags
#define BIO_free openssl.BIO_free
#define BIO_get_data openssl.BIO_get_data
#define BIO_meth_new openssl.BIO_meth_new
#define BIO_meth_set_ctrl openssl.BIO_meth_set_ctrl
#define BIO_meth_set_read openssl.BIO_meth_set_read
#define BIO_meth_set_write openssl.BIO_meth_set_write
#define BIO_new openssl.BIO_new
#define BIO_set_data openssl.BIO_set_data
#define BIO_set_flags openssl.BIO_set_flags
#define BIO_set_init openssl.BIO_set_init
#define CRYPTO_memcmp openssl.CRYPTO_memcmp
#define ERR_clear_error openssl.ERR_clear_error
#define ERR_peek_error openssl.ERR_peek_error
#define ERR_reason_error_string openssl.ERR_reason_error_string
#define EVP_PKEY_free openssl.EVP_PKEY_free
#define EVP_PKEY_get_id openssl.EVP_PKEY_get_id
#define EVP_PKEY_get_raw_public_key openssl.EVP_PKEY_get_raw_public_key
#define EVP_PKEY_new_raw_private_key openssl.EVP_PKEY_new_raw_private_key
#define EVP_sha256 openssl.EVP_sha256
#define HMAC openssl.HMAC
#define RAND_priv_bytes openssl.RAND_priv_bytes
#define SSL_CIPHER_find openssl.SSL_CIPHER_find
#define SSL_CTX_callback_ctrl openssl.SSL_CTX_callback_ctrl
#define SSL_CTX_ctrl openssl.SSL_CTX_ctrl
#define SSL_CTX_free openssl.SSL_CTX_free
#define SSL_CTX_get_ex_data openssl.SSL_CTX_get_ex_data
#define SSL_CTX_load_verify_file openssl.SSL_CTX_load_verify_file
#define SSL_CTX_new openssl.SSL_CTX_new
#define SSL_CTX_set_cert_verify_callback openssl.SSL_CTX_set_cert_verify_callback
#define SSL_CTX_set_ciphersuites openssl.SSL_CTX_set_ciphersuites
#define SSL_CTX_set_ex_data openssl.SSL_CTX_set_ex_data
#define SSL_CTX_set_max_early_data openssl.SSL_CTX_set_max_early_data
#define SSL_CTX_set_num_tickets openssl.SSL_CTX_set_num_tickets
#define SSL_CTX_set_options openssl.SSL_CTX_set_options
#define SSL_CTX_set_psk_find_session_callback openssl.SSL_CTX_set_psk_find_session_callback
#define SSL_CTX_set_psk_use_session_callback openssl.SSL_CTX_set_psk_use_session_callback
#define SSL_CTX_set_session_id_context openssl.SSL_CTX_set_session_id_context
#define SSL_CTX_set_verify openssl.SSL_CTX_set_verify
#define SSL_CTX_use_PrivateKey openssl.SSL_CTX_use_PrivateKey
#define SSL_CTX_use_PrivateKey_file openssl.SSL_CTX_use_PrivateKey_file
#define SSL_CTX_use_certificate openssl.SSL_CTX_use_certificate
#define SSL_CTX_use_certificate_chain_file openssl.SSL_CTX_use_certificate_chain_file
#define SSL_SESSION_free openssl.SSL_SESSION_free
#define SSL_SESSION_new openssl.SSL_SESSION_new
#define SSL_SESSION_set1_id_context openssl.SSL_SESSION_set1_id_context
#define SSL_SESSION_set1_master_key openssl.SSL_SESSION_set1_master_key
#define SSL_SESSION_set_cipher openssl.SSL_SESSION_set_cipher
#define SSL_SESSION_set_protocol_version openssl.SSL_SESSION_set_protocol_version
#define SSL_certs_clear openssl.SSL_certs_clear
#define SSL_ctrl openssl.SSL_ctrl
#define SSL_do_handshake openssl.SSL_do_handshake
#define SSL_free openssl.SSL_free
#define SSL_get1_peer_certificate openssl.SSL_get1_peer_certificate
#define SSL_get_SSL_CTX openssl.SSL_get_SSL_CTX
#define SSL_get_error openssl.SSL_get_error
#define SSL_get_ex_data openssl.SSL_get_ex_data
#define SSL_get_ex_data_X509_STORE_CTX_idx openssl.SSL_get_ex_data_X509_STORE_CTX_idx
#define SSL_get_servername openssl.SSL_get_servername
#define SSL_get_verify_result openssl.SSL_get_verify_result
#define SSL_new openssl.SSL_new
#define SSL_read_ex openssl.SSL_read_ex
#define SSL_session_reused openssl.SSL_session_reused
#define SSL_set1_host openssl.SSL_set1_host
#define SSL_set_accept_state openssl.SSL_set_accept_state
#define SSL_set_bio openssl.SSL_set_bio
#define SSL_set_connect_state openssl.SSL_set_connect_state
#define SSL_set_ex_data openssl.SSL_set_ex_data
#define SSL_set_hostflags openssl.SSL_set_hostflags
#define SSL_shutdown openssl.SSL_shutdown
#define SSL_use_PrivateKey openssl.SSL_use_PrivateKey
#define SSL_use_certificate openssl.SSL_use_certificate
#define SSL_version openssl.SSL_version
#define SSL_write_ex openssl.SSL_write_ex
#define TLS_method openssl.TLS_method
#define X509_NAME_add_entry_by_txt openssl.X509_NAME_add_entry_by_txt
#define X509_STORE_CTX_get0_cert openssl.X509_STORE_CTX_get0_cert
#define X509_STORE_CTX_get_ex_data openssl.X509_STORE_CTX_get_ex_data
#define X509_STORE_CTX_set_error openssl.X509_STORE_CTX_set_error
#define X509_check_host openssl.X509_check_host
#define X509_free openssl.X509_free
#define X509_get0_pubkey openssl.X509_get0_pubkey
#define X509_get_serialNumber openssl.X509_get_serialNumber
#define X509_get_subject_name openssl.X509_get_subject_name
#define X509_getm_notAfter openssl.X509_getm_notAfter
#define X509_getm_notBefore openssl.X509_getm_notBefore
#define X509_gmtime_adj openssl.X509_gmtime_adj
#define X509_new openssl.X509_new
#define X509_set_issuer_name openssl.X509_set_issuer_name
#define X509_set_pubkey openssl.X509_set_pubkey
#define X509_set_version openssl.X509_set_version
#define X509_sign openssl.X509_sign
#define X509_verify_cert openssl.X509_verify_cert
#define X509_verify_cert_error_string openssl.X509_verify_cert_error_string
#endif

#endif
