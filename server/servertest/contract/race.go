//go:build race

package contract

import (
	"net/http"
	"testing"

	"go.uber.org/goleak"
)

// Under the race detector nothing is checked: that sees nothing of a contract, and the library takes long to compile.

func CheckHTTP(testing.TB, *http.Request, []byte, *http.Response, []byte) {}

func CheckOpened(testing.TB, string, int) {}

func CheckWebhook([]byte) error { return nil }

func SeeProblem([]byte) {}

func CheckFromServer(testing.TB, []byte) {}

func CheckFromClient(testing.TB, []byte) {}

func HTTP(m *testing.M) goleak.TestingM { return m }

func Live(m *testing.M) goleak.TestingM { return m }
