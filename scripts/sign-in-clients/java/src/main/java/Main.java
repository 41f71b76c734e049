// Nimbus OAuth 2.0 SDK with OpenID Connect extensions, unchanged. Prints a line for each flow; scripts/sign-in-clients.ts reads them.
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.oauth2.sdk.*;
import com.nimbusds.oauth2.sdk.as.AuthorizationServerMetadata;
import com.nimbusds.oauth2.sdk.auth.*;
import com.nimbusds.oauth2.sdk.dpop.DPoPProofFactory;
import com.nimbusds.oauth2.sdk.dpop.DefaultDPoPProofFactory;
import com.nimbusds.oauth2.sdk.http.HTTPRequest;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.*;
import com.nimbusds.oauth2.sdk.pkce.*;
import com.nimbusds.oauth2.sdk.token.*;
import com.nimbusds.openid.connect.sdk.*;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.AccessTokenValidator;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

public class Main {
  static final Issuer issuer = new Issuer(env("ISSUER"));
  static final URI callback = URI.create(env("REDIRECT_URI"));
  static final Scope scope = new Scope("openid", "profile", "account:read", "offline_access");
  static final ClientID client = new ClientID(env("CLIENT_ID"));
  static final ClientAuthentication secret = new ClientSecretBasic(client, new Secret(env("CLIENT_SECRET")));
  static OIDCProviderMetadata metadata;

  interface Work {
    void run() throws Exception;
  }

  /** Makes the authentication of a request, since an assertion is good for one. */
  interface Authentication {
    ClientAuthentication make() throws Exception;
  }

  record Request(AuthorizationRequest toSend, State state, Nonce nonce, CodeVerifier verifier) {}

  record SignedIn(OIDCTokens tokens, Nonce nonce) {}

  static SignedIn in;

  public static void main(String[] arguments) {
    flow("discovery", "RFC 8414 and OpenID Connect", () -> {
      metadata = OIDCProviderMetadata.resolve(issuer);
      var server = AuthorizationServerMetadata.resolve(issuer);
      must(server.getTokenEndpointURI().equals(metadata.getTokenEndpointURI()), "the two documents differ");
    });
    flow("code with PKCE", "", () -> in = signIn());
    flow("ID token", "with at_hash; another nonce is refused", () -> {
      must(subjectOf(in, client).equals("u-demo-member"), "another member");
      try {
        subjectOf(new SignedIn(in.tokens, new Nonce()), client);
      } catch (Exception refused) {
        return;
      }
      throw new Exception("another nonce is accepted");
    });
    flow("userinfo", "", () -> {
      var sent = new UserInfoRequest(metadata.getUserInfoEndpointURI(), in.tokens.getAccessToken()).toHTTPRequest().send();
      var info = UserInfoResponse.parse(sent).toSuccessResponse().getUserInfo();
      must(info.getSubject().getValue().equals("u-demo-member"), "another member");
    });
    flow("refresh", "rotates; reuse ends the login", () -> {
      var first = in.tokens.getRefreshToken();
      var second = refresh(first).toSuccessResponse().getTokens().getRefreshToken();
      var third = refresh(second).toSuccessResponse().getTokens().getRefreshToken();
      must(!first.equals(second) && !second.equals(third), "the refresh token is the same");
      must(isInvalidGrant(refresh(first)), "an old refresh token is accepted");
      must(isInvalidGrant(refresh(third)), "the login goes on after the reuse");
    });
    flow("introspection", "", () -> {
      in = signIn();
      must(isActive(in.tokens.getAccessToken()), "the token is not active");
    });
    flow("revocation", "", () -> {
      var token = in.tokens.getAccessToken();
      var sent = new TokenRevocationRequest(metadata.getRevocationEndpointURI(), secret, token).toHTTPRequest().send();
      must(sent.indicatesSuccess(), "status " + sent.getStatusCode());
      must(!isActive(token), "the token is still active");
    });
    flow("pushed request", "", () -> {
      var request = newRequest(client);
      subjectOf(exchange(pushed(request, secret, null), () -> secret, null), client);
    });
    flow("client_credentials", "", () -> clientCredentials(() -> secret));
    flow("private_key_jwt", "", () -> clientCredentials(() -> assertion("KEY_CLIENT_ID")));
    flow("DPoP", "a bound token as Bearer is refused", () -> {
      var key = new Proofs();
      var signedIn = exchange(newRequest(client), () -> secret, key);
      boundRead(signedIn, key);
    });
    flow("FAPI 2.0", "pushed, private_key_jwt, DPoP; the refresh token stays", () -> {
      var key = new Proofs();
      var id = new ClientID(env("FAPI_CLIENT_ID"));
      Authentication keyed = () -> assertion("FAPI_CLIENT_ID");
      var unpushed = visit(newRequest(id).toSend.toURI());
      must(unpushed.toString().contains("error=invalid_request"), "a request that is not pushed: " + unpushed);
      var signedIn = exchange(pushed(newRequest(id), keyed.make(), key), keyed, key);
      must(subjectOf(signedIn, id).equals("u-demo-member"), "another member");
      boundRead(signedIn, key);
      var grant = new RefreshTokenGrant(signedIn.tokens.getRefreshToken());
      var renewed = OIDCTokenResponse.parse(token(grant, keyed, key)).toSuccessResponse().getTokens();
      must(renewed.getRefreshToken() == null || renewed.getRefreshToken().equals(signedIn.tokens.getRefreshToken()), "the refresh token changes");
    });
    flow("logout", "", () -> {
      var signedIn = signIn();
      var logout = new LogoutRequest(metadata.getEndSessionEndpointURI(), signedIn.tokens.getIDToken(), URI.create(env("LOGOUT_URI")), new State("out"));
      must(visit(logout.toURI()).toString().equals(env("LOGOUT_URI") + "?state=out"), "the logout ends elsewhere");
      var silent = new AuthenticationRequest.Builder((AuthenticationRequest) newRequest(client).toSend).prompt(Prompt.Type.NONE).build();
      var refused = AuthenticationResponseParser.parse(visit(silent.toURI())).toErrorResponse().getErrorObject();
      must(refused.equals(OIDCError.LOGIN_REQUIRED), "the session is still there");
    });
  }

  static Request newRequest(ClientID id) {
    var state = new State();
    var nonce = new Nonce();
    var verifier = new CodeVerifier();
    var request = new AuthenticationRequest.Builder(ResponseType.CODE, scope, id, callback)
        .endpointURI(metadata.getAuthorizationEndpointURI()).state(state).nonce(nonce)
        .codeChallenge(verifier, CodeChallengeMethod.S256).build();
    return new Request(request, state, nonce, verifier);
  }

  static Request pushed(Request request, ClientAuthentication authentication, Proofs key) throws Exception {
    var push = new PushedAuthorizationRequest(metadata.getPushedAuthorizationRequestEndpointURI(), authentication, request.toSend).toHTTPRequest();
    if (key != null) push.setDPoP(key.proof(push, null));
    var sent = push.send();
    // The first proof of a key has no nonce, and the assertion counts once.
    if (key != null && key.wantsNonce(sent)) return pushed(request, assertion("FAPI_CLIENT_ID"), key);
    var uri = PushedAuthorizationResponse.parse(sent).toSuccessResponse().getRequestURI();
    var byReference = new AuthenticationRequest.Builder(uri, request.toSend.getClientID()).endpointURI(metadata.getAuthorizationEndpointURI()).build();
    return new Request(byReference, request.state, request.nonce, request.verifier);
  }

  static SignedIn signIn() throws Exception {
    return exchange(newRequest(client), () -> secret, null);
  }

  static SignedIn exchange(Request request, Authentication authentication, Proofs key) throws Exception {
    var back = AuthenticationResponseParser.parse(visit(request.toSend.toURI())).toSuccessResponse();
    must(request.state.equals(back.getState()) && issuer.equals(back.getIssuer()), "the response is another's");
    var grant = new AuthorizationCodeGrant(back.getAuthorizationCode(), callback, request.verifier);
    var response = OIDCTokenResponseParser.parse(token(grant, authentication, key));
    if (!response.indicatesSuccess()) throw new Exception(response.toErrorResponse().getErrorObject().toString());
    return new SignedIn(((OIDCTokenResponse) response).getOIDCTokens(), request.nonce);
  }

  static HTTPResponse token(AuthorizationGrant grant, Authentication authentication, Proofs key) throws Exception {
    var request = new TokenRequest.Builder(metadata.getTokenEndpointURI(), authentication.make(), grant).build().toHTTPRequest();
    if (key != null) request.setDPoP(key.proof(request, null));
    var sent = request.send();
    return key != null && key.wantsNonce(sent) ? token(grant, authentication, key) : sent;
  }

  static TokenResponse refresh(RefreshToken token) throws Exception {
    return OIDCTokenResponseParser.parse(token(new RefreshTokenGrant(token), () -> secret, null));
  }

  static boolean isInvalidGrant(TokenResponse response) {
    return !response.indicatesSuccess() && response.toErrorResponse().getErrorObject().equals(OAuth2Error.INVALID_GRANT);
  }

  static String subjectOf(SignedIn in, ClientID id) throws Exception {
    var validator = new IDTokenValidator(issuer, id, JWSAlgorithm.ES256, metadata.getJWKSetURI().toURL());
    var claims = validator.validate(in.tokens.getIDToken(), in.nonce);
    AccessTokenValidator.validate(in.tokens.getAccessToken(), JWSAlgorithm.ES256, claims.getAccessTokenHash());
    return claims.getSubject().getValue();
  }

  static boolean isActive(AccessToken token) throws Exception {
    var sent = new TokenIntrospectionRequest(metadata.getIntrospectionEndpointURI(), secret, token).toHTTPRequest().send();
    return TokenIntrospectionResponse.parse(sent).toSuccessResponse().isActive();
  }

  static void clientCredentials(Authentication authentication) throws Exception {
    var request = new TokenRequest.Builder(metadata.getTokenEndpointURI(), authentication.make(), new ClientCredentialsGrant()).scope(new Scope("account:read")).build();
    var tokens = TokenResponse.parse(request.toHTTPRequest().send()).toSuccessResponse().getTokens();
    must(tokens.getAccessToken().getScope().equals(new Scope("account:read")), "another scope");
  }

  /** The audience is the issuer. */
  static ClientAuthentication assertion(String clientVariable) throws Exception {
    var pem = env("PRIVATE_KEY").replaceAll("-----[A-Z ]+-----|\\s", "");
    PrivateKey key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(pem)));
    return new PrivateKeyJWT(new ClientID(env(clientVariable)), URI.create(issuer.getValue()), JWSAlgorithm.ES256, key, null, null);
  }

  static void boundRead(SignedIn in, Proofs key) throws Exception {
    must(in.tokens.getAccessToken() instanceof DPoPAccessToken, "the token is not bound");
    var request = new UserInfoRequest(metadata.getUserInfoEndpointURI(), in.tokens.getAccessToken()).toHTTPRequest();
    request.setDPoP(key.proof(request, in.tokens.getAccessToken()));
    must(UserInfoResponse.parse(request.send()).indicatesSuccess(), "the bound token does not read");
    var asBearer = new BearerAccessToken(in.tokens.getAccessToken().getValue());
    var refused = new UserInfoRequest(metadata.getUserInfoEndpointURI(), asBearer).toHTTPRequest().send();
    must(refused.getStatusCode() == 401, "a bound token works as Bearer");
  }

  /** Proofs of one key, with the nonce of the last response. */
  static class Proofs {
    final DPoPProofFactory factory;
    Nonce nonce;

    Proofs() throws Exception {
      factory = new DefaultDPoPProofFactory(new ECKeyGenerator(Curve.P_256).generate(), JWSAlgorithm.ES256);
    }

    com.nimbusds.jwt.SignedJWT proof(HTTPRequest request, AccessToken token) throws Exception {
      return factory.createDPoPJWT(request.getMethod().name(), request.getURI(), token, nonce);
    }

    boolean wantsNonce(HTTPResponse response) throws Exception {
      nonce = response.getDPoPNonce() == null ? nonce : response.getDPoPNonce();
      return !response.indicatesSuccess() && TokenErrorResponse.parse(response).getErrorObject().getCode().equals("use_dpop_nonce");
    }
  }

  static URI visit(URI address) throws Exception {
    var url = env("BROWSER_URL") + "?url=" + URLEncoder.encode(address.toString(), StandardCharsets.UTF_8);
    var response = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(url)).build(), java.net.http.HttpResponse.BodyHandlers.ofString());
    must(response.statusCode() == 200, response.body());
    return URI.create(response.body().replace(" ", "%20"));
  }

  static void flow(String name, String remark, Work work) {
    try {
      work.run();
      report("ok", name, remark);
    } catch (Exception failure) {
      failure.printStackTrace();
      report("FAIL", name, String.valueOf(failure).replaceAll("\\s+", " "));
    }
  }

  static void report(String outcome, String flow, String remark) {
    System.out.println(outcome + "\t" + flow + "\t" + remark);
  }

  static void must(boolean condition, String sentence) throws Exception {
    if (!condition) throw new Exception(sentence);
  }

  static String env(String name) {
    return System.getenv(name);
  }
}
