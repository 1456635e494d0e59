package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"rankcast/server/access"
	"rankcast/server/client"
)

const (
	// KeyVariable holds the key itself. No flag does: other users of the machine see command lines.
	KeyVariable = "RANKCAST_KEY"
	// maxKey bounds a key file, in bytes: a server takes 16 KiB of header.
	maxKey = 12 << 10
)

// credentials returns the key of --key-file, or else of RANKCAST_KEY; nil for none. It returns an error for a file
// that cannot be read, or that holds no key.
func (s Server) credentials() (func(context.Context) (string, error), error) {
	if s.KeyFile != "" {
		return s.keyOfFile()
	}
	if key := strings.TrimSpace(os.Getenv(KeyVariable)); key != "" {
		if err := checkKey(key); err != nil {
			return nil, fmt.Errorf("%s: %w", KeyVariable, err)
		}
		return client.Key(key), nil
	}
	return nil, nil
}

// Key returns the key of --key-file, or else of RANKCAST_KEY, as it is now; "" for none. It returns an error as Client
// does.
func (s Server) Key(ctx context.Context) (string, error) {
	get, err := s.credentials()
	if err != nil || get == nil {
		return "", err
	}
	return get(ctx)
}

// hasKey reports whether the credentials are a server's key, and not a viewer's token.
func (s Server) hasKey() bool {
	key, err := s.Key(context.Background())
	return err == nil && access.IsKey(key)
}

// keyOfFile returns the credentials that the key file holds at the moment. While the file is missing or empty, because a program
// replaces it, they are the last good key.
func (s Server) keyOfFile() (func(context.Context) (string, error), error) {
	var last atomic.Pointer[string]
	first, err := readKey(s.KeyFile)
	last.Store(&first)
	return func(context.Context) (string, error) {
		if key, err := readKey(s.KeyFile); err == nil {
			last.Store(&key)
		}
		return *last.Load(), nil
	}, err
}

// readKey reads a key file. Its error does not show the content.
func readKey(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxKey+1))
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	key := string(bytes.TrimSpace(b))
	if err := checkKey(key); err != nil {
		return "", fmt.Errorf("--key-file %s: %w", path, err)
	}
	return key, nil
}

// checkKey refuses a text that is not a key. Its error does not show the text.
func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("is empty; want a key")
	case len(key) > maxKey:
		return errors.New("is too large; want one key")
	}
	if err := client.CheckCredentials(key); err != nil {
		return errors.New("holds more than a key; want the key alone")
	}
	return nil
}
