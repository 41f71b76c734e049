// golang.org/x/oauth2 with go-oidc, unchanged. Prints a line for each flow; scripts/sign-in-clients.ts reads them.
package main

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

var (
	ctx      = context.Background()
	issuer   = os.Getenv("ISSUER")
	provider *oidc.Provider
	config   oauth2.Config
	metadata struct {
		PAR           string `json:"pushed_authorization_request_endpoint"`
		Introspection string `json:"introspection_endpoint"`
		Revocation    string `json:"revocation_endpoint"`
		EndSession    string `json:"end_session_endpoint"`
		Iss           bool   `json:"authorization_response_iss_parameter_supported"`
	}
)

func report(outcome, flow, remark string) {
	fmt.Printf("%s\t%s\t%s\n", outcome, flow, strings.ReplaceAll(remark, "\n", " "))
}

func flow(name, outcome, remark string, work func() error) {
	if err := work(); err != nil {
		report("FAIL", name, err.Error())
		return
	}
	report(outcome, name, remark)
}

func visit(address string) (*url.URL, error) {
	response, err := http.Get(os.Getenv("BROWSER_URL") + "?url=" + url.QueryEscape(address))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		return nil, fmt.Errorf("the browser: %s %v", text, err)
	}
	return url.Parse(string(text))
}

// post sends a form with the client's secret, for operations that the library has no call for.
func post(address string, form url.Values, into any) (int, error) {
	request, err := http.NewRequest("POST", address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(config.ClientID), url.QueryEscape(config.ClientSecret))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if into != nil {
		err = json.NewDecoder(response.Body).Decode(into)
	}
	return response.StatusCode, err
}

type signedIn struct {
	token *oauth2.Token
	nonce string
}

func signIn() (signedIn, error) {
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	address := config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))
	return exchange(address, state, nonce, verifier)
}

func exchange(address, state, nonce, verifier string) (signedIn, error) {
	back, err := visit(address)
	if err != nil {
		return signedIn{}, err
	}
	query := back.Query()
	if query.Get("state") != state || query.Get("iss") != issuer {
		return signedIn{}, fmt.Errorf("the response is another's: %s", back)
	}
	token, err := config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(verifier))
	return signedIn{token, nonce}, err
}

func verify(in signedIn) (*oidc.IDToken, error) {
	raw, _ := in.token.Extra("id_token").(string)
	token, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if token.Nonce != in.nonce {
		return nil, errors.New("another nonce")
	}
	return token, token.VerifyAccessToken(in.token.AccessToken)
}

func isActive(token string) (bool, error) {
	var found struct{ Active bool }
	_, err := post(metadata.Introspection, url.Values{"token": {token}}, &found)
	return found.Active, err
}

func refresh(token string) (*oauth2.Token, error) {
	return config.TokenSource(ctx, &oauth2.Token{RefreshToken: token}).Token()
}

func isInvalidGrant(err error) bool {
	var refused *oauth2.RetrieveError
	return errors.As(err, &refused) && refused.ErrorCode == "invalid_grant"
}

func main() {
	var in signedIn
	flow("discovery", "ok", "", func() (err error) {
		if provider, err = oidc.NewProvider(ctx, issuer); err != nil {
			return err
		}
		config = oauth2.Config{
			ClientID:     os.Getenv("CLIENT_ID"),
			ClientSecret: os.Getenv("CLIENT_SECRET"),
			Endpoint:     provider.Endpoint(),
			RedirectURL:  os.Getenv("REDIRECT_URI"),
			Scopes:       []string{"openid", "profile", "account:read", "offline_access"},
		}
		return provider.Claims(&metadata)
	})
	flow("code with PKCE", "ok", "", func() (err error) {
		in, err = signIn()
		return err
	})
	flow("ID token", "ok", "with at_hash; the program compares the nonce", func() error {
		token, err := verify(in)
		if err == nil && token.Subject != "u-demo-member" {
			err = errors.New("another member")
		}
		return err
	})
	flow("userinfo", "ok", "", func() error {
		info, err := provider.UserInfo(ctx, config.TokenSource(ctx, in.token))
		if err == nil && info.Subject != "u-demo-member" {
			err = errors.New("another member")
		}
		return err
	})
	flow("refresh", "ok", "rotates; reuse ends the login", func() error {
		first := in.token.RefreshToken
		second, err := refresh(first)
		if err != nil {
			return err
		}
		third, err := refresh(second.RefreshToken)
		if err != nil {
			return err
		}
		if first == second.RefreshToken || second.RefreshToken == third.RefreshToken {
			return errors.New("the refresh token is the same")
		}
		if _, err := refresh(first); !isInvalidGrant(err) {
			return fmt.Errorf("an old refresh token: %v", err)
		}
		if _, err := refresh(third.RefreshToken); !isInvalidGrant(err) {
			return fmt.Errorf("the login goes on after the reuse: %v", err)
		}
		return nil
	})
	flow("introspection", "by hand", "x/oauth2 has no call", func() (err error) {
		if in, err = signIn(); err != nil {
			return err
		}
		active, err := isActive(in.token.AccessToken)
		if err == nil && !active {
			err = errors.New("the token is not active")
		}
		return err
	})
	flow("revocation", "by hand", "x/oauth2 has no call", func() error {
		status, err := post(metadata.Revocation, url.Values{"token": {in.token.AccessToken}}, nil)
		if err != nil || status != 200 {
			return fmt.Errorf("%d %v", status, err)
		}
		active, err := isActive(in.token.AccessToken)
		if err == nil && active {
			err = errors.New("the token is still active")
		}
		return err
	})
	flow("pushed request", "by hand", "x/oauth2 has no call", func() error {
		state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
		address, err := url.Parse(config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
		if err != nil {
			return err
		}
		var pushed struct {
			RequestURI string `json:"request_uri"`
		}
		if status, err := post(metadata.PAR, address.Query(), &pushed); err != nil || status != 201 {
			return fmt.Errorf("%d %v", status, err)
		}
		address.RawQuery = url.Values{"client_id": {config.ClientID}, "request_uri": {pushed.RequestURI}}.Encode()
		in, err := exchange(address.String(), state, nonce, verifier)
		if err != nil {
			return err
		}
		_, err = verify(in)
		return err
	})
	flow("client_credentials", "ok", "go-oidc verifies the access token", func() error {
		application := clientcredentials.Config{
			ClientID: config.ClientID, ClientSecret: config.ClientSecret,
			TokenURL: provider.Endpoint().TokenURL, Scopes: []string{"account:read"},
		}
		token, err := application.Token(ctx)
		if err == nil && token.Extra("scope") != "account:read" {
			err = errors.New("another scope")
		}
		if err != nil {
			return err
		}
		_, err = provider.Verifier(&oidc.Config{ClientID: issuer}).Verify(ctx, token.AccessToken)
		return err
	})
	flow("private_key_jwt", "by hand", "go-jose signs the assertion, x/oauth2 sends it", func() error {
		assertion, err := assertionOf(os.Getenv("KEY_CLIENT_ID"))
		if err != nil {
			return err
		}
		application := clientcredentials.Config{
			ClientID: os.Getenv("KEY_CLIENT_ID"), AuthStyle: oauth2.AuthStyleInParams,
			TokenURL: provider.Endpoint().TokenURL, Scopes: []string{"account:read"},
			EndpointParams: url.Values{
				"client_assertion":      {assertion},
				"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
			},
		}
		_, err = application.Token(ctx)
		return err
	})
	report("none", "DPoP", "x/oauth2 has none")
	report("none", "FAPI 2.0", "it needs DPoP")
	flow("logout", "by hand", "go-oidc has no call", func() error {
		in, err := signIn()
		if err != nil {
			return err
		}
		raw, _ := in.token.Extra("id_token").(string)
		query := url.Values{"id_token_hint": {raw}, "post_logout_redirect_uri": {os.Getenv("LOGOUT_URI")}, "state": {"out"}}
		end, err := visit(metadata.EndSession + "?" + query.Encode())
		if err == nil && end.String() != os.Getenv("LOGOUT_URI")+"?state=out" {
			err = fmt.Errorf("the logout ends at %s", end)
		}
		if err != nil {
			return err
		}
		verifier := oauth2.GenerateVerifier()
		silent := config.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("prompt", "none"))
		back, err := visit(silent)
		if err == nil && back.Query().Get("error") != "login_required" {
			err = fmt.Errorf("the session is still there: %s", back)
		}
		return err
	})
}

func assertionOf(client string) (string, error) {
	block, _ := pem.Decode([]byte(os.Getenv("PRIVATE_KEY")))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		return "", err
	}
	now := time.Now()
	// The audience is a single string: the service refuses a list, which the type jwt.Audience may become.
	claims := map[string]any{
		"iss": client, "sub": client, "aud": issuer, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}
