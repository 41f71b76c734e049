// The header Client-Cert (RFC 9440) for nginx with the module njs: docs/configuration.md#behind-a-reverse-proxy. Empty, so that nginx leaves the header
// out, without a certificate. njs has no parameters that take objects apart.
function header(request) {
  const pem = request.variables.ssl_client_raw_cert;
  return pem ? `:${pem.replace(/-----[A-Z ]+-----|\s/g, '')}:` : '';
}

export default { header };
