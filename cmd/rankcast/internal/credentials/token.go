package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"rankcast/server/access"
)

// Token is rankcast token: it signs a viewer's token.
type Token struct {
	Sub            string        `required:"" placeholder:"MEMBER" help:"Member whom the token is for."`
	Board          []string      `sep:"none" placeholder:"PATTERN" help:"Boards that the viewer may read and watch, with their periods: stars, or 'fans:*'. Repeatable."`
	Event          []string      `sep:"none" placeholder:"PATTERN" help:"Events that the viewer may send, and whose feed the viewer may read. Repeatable."`
	For            time.Duration `default:"1h" placeholder:"DURATION" help:"Time until the token expires. Default: ${default}."`
	Access         string        `placeholder:"FILE" env:"RANKCAST_ACCESS" help:"Access file of the server. Its tokens section gives the secret, the audience and the issuer."`
	SecretFile     string        `placeholder:"FILE" help:"Sign with the secret in this file, in place of an access file's."`
	PrivateKeyFile string        `placeholder:"FILE" help:"Sign with this private key (PEM: RSA, EC P-256 or Ed25519), for an access file with key_file or jwks."`
	KeyID          string        `name:"kid" placeholder:"ID" help:"ID of the private key in the key set (jwks)."`
}

// Help is the text below the usage line of token --help.
func (*Token) Help() string {
	return `Prints the token alone. It is for trying things out: the service that knows your viewers signs their tokens itself, as JWTs.

Examples:
  rankcast token --access access.yaml --sub u4 --board 'fans:*' --event gift --for 1h
      Sign with the secret of an access file
  rankcast token --access access.yaml --private-key-file token.key --kid 2026-01 --sub u4 --board stars
      Sign with a private key`
}

// Validate checks the flags.
func (t *Token) Validate() error {
	switch {
	case t.SecretFile != "" && t.PrivateKeyFile != "":
		return errors.New("--secret-file and --private-key-file cannot be used together")
	case t.Access == "" && t.SecretFile == "" && t.PrivateKeyFile == "":
		return errors.New("give --access=FILE, the access file of the server, or --secret-file=FILE")
	case t.KeyID != "" && t.PrivateKeyFile == "":
		return errors.New("--kid needs --private-key-file")
	case t.For < time.Second:
		return errors.New("--for: want 1s at least")
	}
	return nil
}

// Run prints the token.
func (t *Token) Run() error {
	var settings access.TokenSettings
	if t.Access != "" {
		var err error
		if settings, err = access.ReadTokenSettings(t.Access); err != nil {
			return err
		}
	}
	signer, err := t.signer(settings)
	if err != nil {
		return err
	}
	token, err := signer.Sign(t.content(settings))
	if err != nil {
		return err
	}
	_, err = fmt.Println(token)
	return err
}

func (t *Token) content(settings access.TokenSettings) access.TokenContent {
	return access.TokenContent{
		Sub: t.Sub, Boards: t.Board, Events: t.Event,
		Audience: settings.Audience, Issuer: settings.Issuer, Expires: time.Now().Add(t.For),
	}
}

// signer is the signer that the flags and the access file name.
func (t *Token) signer(settings access.TokenSettings) (*access.Signer, error) {
	switch {
	case t.PrivateKeyFile != "":
		if settings.SecretFile != "" {
			return nil, fmt.Errorf("--private-key-file: %s has tokens.secret_file, so its server accepts tokens of that secret only", t.Access)
		}
		return t.privateKeySigner(settings.KeyFile)
	case t.SecretFile != "" && t.Access != "" && settings.SecretFile == "":
		return nil, fmt.Errorf("--secret-file: %s has no tokens.secret_file, so its server accepts no tokens of a secret", t.Access)
	case t.SecretFile == "" && settings.SecretFile == "":
		return nil, fmt.Errorf("%s has a public key of tokens, or a key set; give its private key: --private-key-file=FILE", t.Access)
	}
	secret, err := os.ReadFile(cmp.Or(t.SecretFile, settings.SecretFile))
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	return access.NewSecretSigner(secret)
}

// privateKeySigner also checks that the private key belongs to the server's public key, if that is in a file.
func (t *Token) privateKeySigner(publicFile string) (*access.Signer, error) {
	private, err := os.ReadFile(t.PrivateKeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	signer, err := access.NewPrivateKeySigner(private, t.KeyID)
	if err != nil {
		return nil, fmt.Errorf("--private-key-file: %s %w", t.PrivateKeyFile, err)
	}
	if publicFile == "" {
		return signer, nil
	}
	public, err := os.ReadFile(publicFile)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	return signer, signer.CheckKeyFile(public)
}
