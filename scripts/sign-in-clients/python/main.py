# Authlib with requests, unchanged. Prints a line for each flow; scripts/sign-in-clients.ts reads them.
import os
import time
import traceback
from urllib.parse import parse_qs, urlencode, urlsplit

# Authlib's own switch: the demo speaks http on the loopback address.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2 import rfc8414 as oauth
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

issuer = os.environ["ISSUER"]
client_id = os.environ["CLIENT_ID"]
secret = os.environ["CLIENT_SECRET"]
redirect_uri = os.environ["REDIRECT_URI"]
scope = "openid profile account:read offline_access"


def report(outcome, flow, remark=""):
    print(outcome, flow, remark, sep="\t", flush=True)


def flow(name, outcome="ok", remark=""):
    def run(work):
        try:
            work()
            report(outcome, name, remark)
        except Exception as error:
            traceback.print_exc()
            report("FAIL", name, f"{type(error).__name__}: {error}".replace("\n", " "))

    return run


def visit(url):
    response = requests.get(os.environ["BROWSER_URL"], params={"url": url})
    must(response.ok, response.text)
    return response.text


def must(condition, sentence):
    if not condition:
        raise AssertionError(sentence)


def new_session(**options):
    return OAuth2Session(
        client_id, secret, scope=scope, redirect_uri=redirect_uri, code_challenge_method="S256", **options
    )


def claims_of(token, nonce, audience):
    keys = KeySet.import_key_set(requests.get(metadata["jwks_uri"]).json())
    signed = jwt.decode(token["id_token"], keys, algorithms=metadata["id_token_signing_alg_values_supported"])
    options = {"iss": {"value": issuer}, "aud": {"value": audience}}
    expected = {"nonce": nonce, "client_id": audience, "access_token": token["access_token"]}
    claims = CodeIDToken(signed.claims, signed.header, options, expected)
    claims.validate()
    return claims


metadata = {}
session = new_session()
state = {}


@flow("discovery", remark="RFC 8414; of OpenID Connect all rules but RS256 for ID tokens")
def _():
    found = requests.get(oauth.get_well_known_url(issuer, external=True)).json()
    oauth.AuthorizationServerMetadata(found).validate()
    metadata.update(requests.get(get_well_known_url(issuer, external=True)).json())
    must(metadata == found, "the two documents differ")
    # OpenID Connect Discovery section 3 demands RS256, which the service does not sign with.
    also = {**found, "id_token_signing_alg_values_supported": ["ES256", "RS256"]}
    OpenIDProviderMetadata(also).validate()


def sign_in(session):
    verifier, nonce = generate_token(48), generate_token(20)
    url, expected = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
    )
    back = visit(url)
    must(parse_qs(urlsplit(back).query)["iss"] == [issuer], "the response has no iss")
    token = session.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=expected, code_verifier=verifier
    )
    return token, nonce


@flow("code with PKCE")
def _():
    state["token"], state["nonce"] = sign_in(session)
    must(session.token["token_type"] == "Bearer", "another type of token")


@flow("ID token", remark="with at_hash; another nonce is refused")
def _():
    claims = claims_of(state["token"], state["nonce"], client_id)
    must(claims["sub"] == "u-demo-member", "another member")
    try:
        claims_of(state["token"], "another", client_id)
    except Exception:
        return
    raise AssertionError("another nonce is accepted")


@flow("userinfo")
def _():
    info = session.get(metadata["userinfo_endpoint"])
    info.raise_for_status()
    must(info.json()["sub"] == "u-demo-member", "another member")


def refused(session, refresh_token):
    try:
        session.refresh_token(metadata["token_endpoint"], refresh_token=refresh_token)
    except OAuthError as error:
        return error.error == "invalid_grant"
    return False


@flow("refresh", remark="rotates; reuse ends the login")
def _():
    seen = [session.token["refresh_token"]]
    for _ in range(2):
        session.refresh_token(metadata["token_endpoint"])
        must(session.token["refresh_token"] not in seen, "the refresh token is the same")
        seen.append(session.token["refresh_token"])
    # The first one is two steps old: beyond the repeat of a lost response.
    must(refused(new_session(), seen[0]), "an old refresh token is accepted")
    must(refused(session, seen[2]), "the login goes on after the reuse")


@flow("introspection")
def _():
    state["token"], _ = sign_in(session)
    found = session.introspect_token(metadata["introspection_endpoint"], token=session.token["access_token"])
    must(found.json()["active"] is True, "the token is not active")


@flow("revocation")
def _():
    access = session.token["access_token"]
    session.revoke_token(metadata["revocation_endpoint"], token=access, token_type_hint="access_token").raise_for_status()
    found = session.introspect_token(metadata["introspection_endpoint"], token=access)
    must(found.json() == {"active": False}, "the token is still active")


@flow("pushed request", "by hand", "Authlib has no call; its session authenticates the request")
def _():
    pushing = new_session()
    verifier, nonce = generate_token(48), generate_token(20)
    url, expected = pushing.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
    )
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    pushed = pushing.post(
        metadata["pushed_authorization_request_endpoint"],
        data=parameters,
        auth=pushing.client_auth("client_secret_basic"),
        withhold_token=True,
    )
    must(pushed.status_code == 201, pushed.text)
    query = urlencode({"client_id": client_id, "request_uri": pushed.json()["request_uri"]})
    back = visit(f"{metadata['authorization_endpoint']}?{query}")
    token = pushing.fetch_token(
        metadata["token_endpoint"], authorization_response=back, state=expected, code_verifier=verifier
    )
    claims_of(token, nonce, client_id)


@flow("client_credentials")
def _():
    application = OAuth2Session(client_id, secret, scope="account:read")
    token = application.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    must(token["scope"] == "account:read", "another scope")


class Assertion(PrivateKeyJWT):
    """The audience is the issuer, and the assertion is valid for a minute."""

    def sign(self, auth, token_endpoint):
        self.claims = {"exp": int(time.time()) + 60}
        return super().sign(auth, issuer)


@flow("private_key_jwt", remark="a subclass sets audience and expiry")
def _():
    key = ECKey.import_key(os.environ["PRIVATE_KEY"])
    method = Assertion(alg="ES256")
    keyed = OAuth2Session(os.environ["KEY_CLIENT_ID"], key, scope="account:read", token_endpoint_auth_method=method)
    token = keyed.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    must(token["scope"] == "account:read", "another scope")


report("none", "DPoP", "Authlib has none")
report("none", "FAPI 2.0", "it needs DPoP")


@flow("logout", "by hand", "Authlib's session has no call")
def _():
    token, _ = sign_in(session)
    query = urlencode(
        {"id_token_hint": token["id_token"], "post_logout_redirect_uri": os.environ["LOGOUT_URI"], "state": "out"}
    )
    end = visit(f"{metadata['end_session_endpoint']}?{query}")
    must(end == f"{os.environ['LOGOUT_URI']}?state=out", end)
    verifier = generate_token(48)
    url, _ = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, prompt="none"
    )
    must("error=login_required" in visit(url), "the session is still there")
